"""One decode step: random queries, keys and values, pages in random order."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


@dataclass(frozen=True)
class Cell:
    query_heads: int
    kv_heads: int
    head_dim: int
    tokens: int
    dtype: str

    def __str__(self):
        return f"{self.query_heads}/{self.kv_heads}/{self.head_dim} {self.tokens} {self.dtype}"

    @property
    def kv_bytes(self):
        return 2 * self.kv_heads * self.tokens * self.head_dim * np.dtype(DTYPES[self.dtype]).itemsize


class Problem:
    page_size = 16

    def __init__(self, cell, threads, seed):
        self.__dict__.update(cell.__dict__)
        self.threads = threads
        random = np.random.default_rng(seed)
        pages = -(-cell.tokens // self.page_size)
        shape = (cell.kv_heads, pages, self.page_size, cell.head_dim)
        kind = DTYPES[cell.dtype]
        self.scale = cell.head_dim**-0.5
        self.queries = random.standard_normal((1, cell.query_heads, 1, cell.head_dim), np.float32).astype(kind)
        self.key_pages = random.standard_normal(shape, np.float32).astype(kind)
        self.value_pages = random.standard_normal(shape, np.float32).astype(kind)
        self.page_table = random.permutation(pages).astype(np.uint32)
        self.dependency = np.array([cell.tokens], np.uint32)

    @property
    def float_queries(self):
        return self.queries.astype(np.float32)

    def token_major(self):
        """float32 keys and values, [tokens, kv_heads, head_dim]."""
        for pages in (self.key_pages, self.value_pages):
            rows = pages[:, self.page_table].reshape(self.kv_heads, -1, self.head_dim)[:, : self.tokens]
            yield np.ascontiguousarray(rows.transpose(1, 0, 2).astype(np.float32))

    def expected(self):
        """float64 [query_heads, head_dim]."""
        keys, values = (a.transpose(1, 0, 2).astype(np.float64) for a in self.token_major())
        queries = self.queries[0, :, 0].astype(np.float64).reshape(self.kv_heads, -1, self.head_dim)
        scores = np.float64(np.float32(self.scale)) * (queries @ keys.transpose(0, 2, 1))
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return ((weights / weights.sum(axis=-1, keepdims=True)) @ values).reshape(-1, self.head_dim)
