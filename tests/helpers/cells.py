"""One cell of a differential test: its inputs, made from a seed, and its comparison with the oracle."""

import zlib
from dataclasses import astuple, dataclass

import numpy as np

import pagedrt
from helpers import oracle


@dataclass(frozen=True)
class Cell:
    dtype: str
    head_dim: int
    kv_heads: int
    group_factor: int
    context_tokens: int
    page_size: int
    dependency: int | None = None  # tokens valid when the kernel runs; None: all of the context
    repeated: bool = False  # the table names some pages more than once

    @property
    def tokens(self):
        return self.context_tokens if self.dependency is None else self.dependency

    @property
    def two_pass(self):
        return (
            self.context_tokens >= 1024
            and self.head_dim <= 256
            and self.head_dim % 32 == 0
            and self.group_factor <= 32
        )


@dataclass
class Inputs:
    queries: np.ndarray
    key_pages: np.ndarray
    value_pages: np.ndarray
    page_table: np.ndarray
    dependency: np.ndarray
    scale: float

    @property
    def arrays(self):
        return self.queries, self.key_pages, self.value_pages, self.page_table, self.dependency


def make(cell):
    """Normal inputs; every slot that no valid token lies in holds NaN, so that one stray read shows."""
    rng = np.random.default_rng(zlib.crc32(repr(astuple(cell)).encode()))
    dtype = oracle.DTYPES[cell.dtype]
    used = -(-cell.context_tokens // cell.page_size)
    capacity = used + 3
    page_table = rng.permutation(capacity)[:used].astype(np.uint32)
    if cell.repeated:
        page_table = rng.choice(page_table, used).astype(np.uint32)
    shape = (cell.kv_heads, capacity, cell.page_size, cell.head_dim)
    tokens = np.arange(cell.tokens)
    stray = np.ones(shape[1:3], bool)
    stray[page_table[tokens // cell.page_size], tokens % cell.page_size] = False

    def pages():
        filled = rng.standard_normal(shape, dtype=np.float32).astype(dtype)
        filled[:, stray] = np.nan
        return filled

    queries = rng.standard_normal((1, cell.kv_heads * cell.group_factor, 1, cell.head_dim), dtype=np.float32)
    return Inputs(
        queries.astype(dtype),
        pages(),
        pages(),
        page_table,
        np.array([cell.tokens], np.uint32),
        float(cell.head_dim) ** -0.5,
    )


def run(device, cell, inputs, **more):
    return pagedrt.paged_attention(
        *inputs.arrays,
        page_size=cell.page_size,
        context_tokens=cell.context_tokens,
        scale=inputs.scale,
        device=device,
        **more,
    )


def expected(cell, inputs):
    return oracle.attend(
        inputs.queries, inputs.key_pages, inputs.value_pages, inputs.page_table, cell.tokens, inputs.scale
    )


def check(device, cell):
    """Runs a cell on its right path and compares; returns (share correctly rounded, elements)."""
    inputs = make(cell)
    before = device.stats
    out = run(device, cell, inputs)
    after = device.stats
    path = "two_pass" if cell.two_pass else "one_pass"
    assert after[path] == before[path] + 1, f"{cell} did not take {path}"
    return oracle.check(out, expected(cell, inputs), str(cell)), out.size
