"""One cell's inputs: queries, paged caches whose pages lie in shuffled order, and what attention gives."""

import sys
from functools import cached_property
from pathlib import Path

import numpy as np
from cells import PAGE_SIZE

sys.path.append(str(Path(__file__).parents[2] / "tests"))
from helpers import oracle

TOLERANCE = {"float32": 1e-4, "float16": 5e-3, "bfloat16": 4e-2}  # of the largest output; peers round more than once


class Problem:
    """queries [1, QH, 1, D]; caches of (key_pages, value_pages), [KVH, pages, PAGE_SIZE, D], with one table.

    All caches hold the same numbers in memory of their own, the device's.
    """

    def __init__(self, cell, caches, device):
        random = np.random.default_rng(0)
        self.cell, self.device = cell, device
        dtype = oracle.DTYPES[cell.dtype]
        pages = cell.tokens // PAGE_SIZE
        self.table = random.permutation(pages).astype(np.uint32)
        self.queries = random.standard_normal((1, cell.query_heads, 1, cell.head_dim), np.float32).astype(dtype)
        shape = (cell.kv_heads, pages, PAGE_SIZE, cell.head_dim)
        self.caches = [tuple(device.empty(shape, dtype) for _ in range(2)) for _ in range(caches)]
        for pool in self.caches[0]:
            for head in pool:
                head[...] = random.standard_normal(shape[1:], np.float32)
        for cache in self.caches[1:]:
            for pool, first in zip(cache, self.caches[0], strict=True):
                pool[...] = first

    @cached_property
    def contiguous(self):
        """(keys, values) in token order, [KVH, tokens, D]: what peers without pages are given for free."""
        shape = (self.cell.kv_heads, self.cell.tokens, self.cell.head_dim)
        return tuple(pool[:, self.table].reshape(shape) for pool in self.caches[0])

    @cached_property
    def expected(self):
        """float64 [QH, D], head by head to spare memory."""
        cell = self.cell
        found = []
        for head, (keys, values) in enumerate(zip(*self.caches[0], strict=True)):
            queries = self.queries[:, head * cell.group : (head + 1) * cell.group]
            found.append(oracle.attend(queries, keys[None], values[None], self.table, cell.tokens, cell.scale).out)
        return np.concatenate(found)

    def error(self, out):
        """How far an output is from the oracle's, as a part of what is allowed."""
        got = np.asarray(out, np.float64).reshape(self.expected.shape)
        return float(np.abs(got - self.expected).max() / (TOLERANCE[self.cell.dtype] * np.abs(self.expected).max()))
