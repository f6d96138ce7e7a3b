"""Paged attention on an NVIDIA GPU: the shaders at width 32, launched as the runtime launches them on Metal."""

import ctypes

import torch
from nvrtc import TYPES, Kernel

SHARED_LIMIT = 32768  # Metal's, which the geometry must respect


class Arguments(ctypes.Structure):
    """pagedrt_arguments of shaders/arguments.h."""

    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("query_heads", "kv_heads", "head_dim", "page_size", "blocks")),
        ("scale", ctypes.c_float),
        *((name, ctypes.c_uint32) for name in ("page_capacity", "context_tokens", "status")),
    )


class Attention:
    """One geometry, prepared: out = attention(queries, key_pages, value_pages, page_table, dependency)."""

    def __init__(
        self, dtype, query_heads, kv_heads, head_dim, page_size, capacity, context, scale, *, blocks, heads, simdgroups
    ):
        self.blocks, self.heads = blocks, heads
        group = query_heads // kv_heads
        self.grid = kv_heads * -(-group // heads), max(blocks, 1), 1
        self.query_heads, self.head_dim = query_heads, head_dim
        name = TYPES[dtype]
        if blocks:
            self.kernel = Kernel.get("sdpa_partial", f"partial<{name}, {head_dim}>", (heads,))
            self.reduce = Kernel.get("sdpa_reduce", f"reduce<{name}>")
            floats = {"dtype": torch.float32, "device": "cuda"}
            self.partials = torch.empty((query_heads, blocks, head_dim), **floats)
            self.sums = torch.empty((query_heads, blocks), **floats)
            self.maximums = torch.empty((query_heads, blocks), **floats)
        else:
            compiled = head_dim if head_dim % 32 == 0 and head_dim <= 256 else 0
            self.kernel = Kernel.get("sdpa_one_pass", f"one_pass<{name}, {compiled}>", (heads,))
        size = 4 if dtype == "float32" else 2
        lanes = 16 if head_dim & (head_dim - 1) else min(max(head_dim * size // 16, 1), 32)
        elements = head_dim // lanes if blocks or (head_dim % 32 == 0 and head_dim <= 256) else 16
        floats = heads * max(32 * elements * (1 if blocks else 2), head_dim + 2) + 1
        self.simdgroups = min(simdgroups, self.kernel.max_threads // 32, SHARED_LIMIT // (4 * floats))
        self.shared = -(-self.simdgroups * floats * 4 // 16) * 16
        self.status = torch.full((2,), -1, dtype=torch.int32, device="cuda")
        self.arguments = Arguments(
            query_heads, kv_heads, head_dim, page_size, max(blocks, 1), scale, capacity, context, 0
        )

    def resident(self):
        """Threadgroups that a multiprocessor holds at once."""
        return self.kernel.resident(32 * self.simdgroups, self.shared)

    def __call__(self, queries, key_pages, value_pages, page_table, dependency, out):
        stream = torch.cuda.current_stream().cuda_stream
        inputs = [t.data_ptr() for t in (queries, key_pages, value_pages, page_table, dependency)]
        last = self.status.data_ptr(), self.arguments
        threads = 32 * self.simdgroups
        if not self.blocks:
            self.kernel.launch(self.grid, threads, self.shared, stream, [*inputs, out.data_ptr(), *last])
            return
        scratch = [t.data_ptr() for t in (self.partials, self.sums, self.maximums)]
        self.kernel.launch(self.grid, threads, self.shared, stream, [*inputs, *scratch, dependency.data_ptr(), *last])
        self.reduce.launch(
            (self.query_heads, -(-self.head_dim // 32), 1), 256, 8 * 34 * 4, stream, [*scratch, out.data_ptr(), *last]
        )
