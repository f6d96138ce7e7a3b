"""One paged-attention call with its arrays, and what it must give."""

import ctypes

import numpy as np
from runtime_abi import FLOAT16, FLOAT32, Call, Geometry, Layout, pagedrt

DTYPES = {FLOAT32: np.dtype(np.float32), FLOAT16: np.dtype(np.float16)}


class Case:
    """Arrays lie in the device's buffers, or in NumPy's memory where owned is false."""

    def __init__(
        self,
        device,
        *,
        query_heads=4,
        kv_heads=2,
        head_dim=64,
        page_size=16,
        tokens=40,
        capacity=None,
        dtype=FLOAT32,
        owned=True,
        seed=0,
    ):
        self.device, self.owned, self.handles = device, owned, []
        random = np.random.default_rng(seed)
        pages = -(-tokens // page_size)
        capacity = capacity or pages + 3
        kind = DTYPES[dtype]
        self.geometry = Geometry(query_heads, kv_heads, head_dim, page_size, dtype, head_dim**-0.5)
        self.queries = self.place(random.standard_normal((1, query_heads, 1, head_dim)).astype(kind))
        shape = (kv_heads, capacity, page_size, head_dim)
        self.key_pages = self.place(random.standard_normal(shape).astype(kind))
        self.value_pages = self.place(random.standard_normal(shape).astype(kind))
        self.page_table = self.place(random.permutation(capacity)[:pages].astype(np.uint32))
        self.dependency = self.place(np.array([tokens], np.uint32))
        self.out = self.place(np.full((1, query_heads, 1, head_dim), np.nan, kind))
        self.tokens = tokens

    def place(self, values):
        if not self.owned:
            return values
        array, handle = device_array(self.device, values.shape, values.dtype)
        array[...] = values
        self.handles.append(handle)
        return array

    def call(self, **changed) -> Call:
        arrays = ("queries", "key_pages", "value_pages", "page_table", "dependency", "out")
        values = {name: getattr(self, name).ctypes.data for name in arrays}
        values |= {
            "page_capacity": self.key_pages.shape[1],
            "page_table_length": self.page_table.size,
            "context_tokens": self.tokens,
        }
        return Call(**(values | changed))

    def expected(self):
        """float64 attention over the tokens that dependency names."""
        tokens = int(self.dependency[0])
        rows = np.arange(tokens)
        pages = self.page_table[rows // self.geometry.page_size]
        slots = rows % self.geometry.page_size
        keys = self.key_pages[:, pages, slots].astype(np.float64)
        values = self.value_pages[:, pages, slots].astype(np.float64)
        queries = self.queries[0, :, 0].astype(np.float64)
        group = self.geometry.query_heads // self.geometry.kv_heads
        result = np.zeros_like(queries)
        for head, query in enumerate(queries):
            scores = keys[head // group] @ query * self.geometry.scale
            weights = np.exp(scores - scores.max(initial=-np.inf))
            result[head] = weights @ values[head // group] / weights.sum() if tokens else 0
        return result.reshape(self.out.shape)

    def assert_right(self):
        tolerance = 1e-5 if self.out.dtype == np.float32 else 2e-3
        np.testing.assert_allclose(self.out.astype(np.float64), self.expected(), rtol=tolerance, atol=tolerance)

    def assert_untouched(self):
        assert np.isnan(self.out).all()

    def run(self, *layout, scratch=None, stream=None, **changed) -> int:
        call = self.call(**changed)
        return pagedrt.paged_attention(
            self.device, ctypes.byref(self.geometry), ctypes.byref(Layout(*layout)), ctypes.byref(call), scratch, stream
        )

    def release(self):
        for handle in self.handles:
            pagedrt.buffer_destroy(handle)


def device_array(device, shape, dtype):
    """An array over a new device buffer, and the buffer."""
    dtype = np.dtype(dtype)
    length = int(np.prod(shape)) * dtype.itemsize
    handle = pagedrt.make("buffer_create", device, length)
    memory = (ctypes.c_char * length).from_address(pagedrt.buffer_contents(handle))
    return np.frombuffer(memory, dtype).reshape(shape), handle
