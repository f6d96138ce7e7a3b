"""One adapter a peer. Each has NAME, DTYPES, PAGED and prepare(problem, threads).

prepare returns run(cache), which computes attention over one of the problem's caches and returns the output, or raises
ImportError where the peer is not installed and Unsupported where it cannot do this cell. PAGED peers read pages
through a table and are also measured cold; the others get the first cache's tokens in order for free. to_numpy, where
an adapter has it, makes an array of what run returns.
"""

import importlib

NAMES = (
    "pagedrt_plan",
    "vllm_cpu",
    "torch_sdpa",
    "torch_flex",
    "openvino_paged",
    "onnxruntime_gqa",
    "ggml_flash",
    "mlx_sdpa",
    "numpy_gather",
)


class Unsupported(Exception):
    """The peer is installed and cannot do this cell; the message says why."""


def modules(wanted):
    """The adapters, pagedrt's always among them and first."""
    return [importlib.import_module(f"peers.{name}") for name in NAMES if not wanted or name in (NAMES[0], *wanted)]
