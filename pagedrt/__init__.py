"""Paged-attention decode on Metal devices, from NumPy arrays, without copies.

One step of decoding, over a cache of `capacity` pages:

    device = pagedrt.Device()
    keys = device.empty((kv_heads, capacity, page_size, head_dim), "float16")
    out = pagedrt.paged_attention(queries, keys, values, page_table, dependency,
                                  page_size=16, context_tokens=100, scale=head_dim ** -0.5, device=device)
"""

# _native holds the compiled modules that the other imports name, so it comes first.
try:
    from pagedrt import _native  # isort: skip

    _native.load_modules()  # at each import, as all may have been dropped from sys.modules since the last
except ImportError:
    from importlib.util import find_spec

    if find_spec("pagedrt._native") is not None:
        raise
    raise ImportError(
        f"pagedrt: {__path__[0]} holds its sources, not what is built from them; "
        "run python -P, or in another folder than the checkout"
    ) from None
from pagedrt import heuristics
from pagedrt.call import paged_attention
from pagedrt.config import get_include, get_library_dir
from pagedrt.device import Device, devices
from pagedrt.dlpack import to_dlpack
from pagedrt.errors import DeviceError, Error, InvalidInputError, OutOfMemoryError
from pagedrt.plan import PagedAttention
from pagedrt.scratch import PagedAttentionScratch
from pagedrt.stream import Stream

__version__ = _native.version

__all__ = [
    "Device",
    "DeviceError",
    "Error",
    "InvalidInputError",
    "OutOfMemoryError",
    "PagedAttention",
    "PagedAttentionScratch",
    "Stream",
    "devices",
    "get_include",
    "get_library_dir",
    "heuristics",
    "paged_attention",
    "to_dlpack",
]
