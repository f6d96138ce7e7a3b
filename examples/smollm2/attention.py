"""Attention of every layer, through pagedrt."""

from time import perf_counter

import numpy as np

import pagedrt
from smollm2 import dense


class PagedAttention:
    """Attends each row of a batch of new tokens over all tokens up to it, one prepared call a row."""

    def __init__(self, device, config, cache, *, rows):
        self.scale = config.head_dim**-0.5
        self.keys, self.values = cache.keys, cache.values
        dtype = self.keys[0].dtype
        self.plan = pagedrt.PagedAttention(
            device,
            query_heads=config.query_heads,
            kv_heads=config.kv_heads,
            head_dim=config.head_dim,
            page_size=cache.page_size,
            max_context_tokens=config.context_tokens,
            scale=self.scale,
            dtype=dtype,
        )
        self.stream = device.stream()
        self.queries = device.empty((rows, 1, config.query_heads, 1, config.head_dim), dtype)
        self.out = device.empty(self.queries.shape, dtype)
        # dependency of a call is one of these: token counts never change, so neither does this array.
        self.counts = device.empty((config.context_tokens, 1), "uint32")
        self.counts[:, 0] = np.arange(1, config.context_tokens + 1)
        # Views cost more to make than a call does.
        self.calls = list(zip(self.queries, self.out, strict=True))
        self.seconds = 0.0
        self.check = None

    def __call__(self, layer, sequence, start, queries):
        """queries and the result are [tokens, query_heads, head_dim]; the first token is at position start."""
        begin = perf_counter()
        tokens = len(queries)
        self.queries[:tokens, 0, :, 0] = queries
        keys, values = self.keys[layer], self.values[layer]
        counts = range(start + 1, start + tokens + 1)
        for (query, out), dependency, count in zip(self.calls[:tokens], self.counts[start:], counts, strict=False):
            self.plan.run(query, keys, values, sequence.table, dependency, count, out, self.stream)
        self.stream.synchronize()
        result = self.out[:tokens, 0, :, 0].astype(np.float32)
        self.seconds += perf_counter() - begin
        if self.check is not None:
            last = tokens - 1
            self.check.compare(self.out[last], self.queries[last], *sequence.gather(layer, start + tokens), self.scale)
        return result


class DenseCheck:
    """The largest difference between paged attention and dense float64 attention on the same inputs."""

    def __init__(self):
        self.calls = 0
        self.difference = 0.0
        self.largest_output = 0.0
        self.seconds = 0.0

    def compare(self, out, query, keys, values, scale):
        begin = perf_counter()
        expected = dense.attention(query[0, :, 0], keys, values, scale)
        difference = np.abs(out[0, :, 0].astype(np.float64) - expected).max()
        self.difference = float(np.maximum(self.difference, difference))  # NaN stays NaN, unlike with max()
        self.largest_output = max(self.largest_output, float(np.abs(expected).max()))
        self.calls += 1
        self.seconds += perf_counter() - begin
