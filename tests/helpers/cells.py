"""One cell of a differential test: its inputs, made from a seed, and its comparison with the oracle."""

import zlib
from dataclasses import astuple, dataclass, replace

import numpy as np

import pagedrt
from helpers import fills, oracle


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
    fill: str = "normal"  # one of fills.FILLS

    @property
    def tokens(self):
        return self.context_tokens if self.dependency is None else self.dependency

    @property
    def two_pass(self):
        return (
            self.context_tokens >= 1024 and self.head_dim <= 256 and self.head_dim % 32 == 0 and self.group_factor <= 32
        )


@dataclass
class Inputs:
    queries: np.ndarray
    key_pages: np.ndarray
    value_pages: np.ndarray
    page_table: np.ndarray
    dependency: np.ndarray
    scale: float
    used: np.ndarray  # bool [capacity, page_size]: the slots that hold valid tokens

    def cleaned(self):
        """The same with zeros in unused slots and no table entries to spare."""
        clean = replace(self, key_pages=self.key_pages.copy(), value_pages=self.value_pages.copy())
        for pages in (clean.key_pages, clean.value_pages):
            pages[:, ~self.used] = 0
        return clean

    @property
    def arrays(self):
        return self.queries, self.key_pages, self.value_pages, self.page_table, self.dependency


def make(cell):
    """Every slot that no valid token lies in holds NaN, so that one stray read shows."""
    rng = np.random.default_rng(zlib.crc32(repr(astuple(cell)).encode()))
    dtype = oracle.DTYPES[cell.dtype]
    pages = -(-cell.context_tokens // cell.page_size)
    capacity = pages + 3
    page_table = rng.permutation(capacity)[:pages].astype(np.uint32)
    if cell.repeated:
        page_table = rng.choice(page_table, pages).astype(np.uint32)
    shape = (cell.kv_heads, capacity, cell.page_size, cell.head_dim)
    query_heads = cell.kv_heads * cell.group_factor
    tokens = np.arange(cell.tokens)
    at = page_table[tokens // cell.page_size], tokens % cell.page_size
    used = np.zeros(shape[1:3], bool)
    used[at] = True
    filled = fills.FILLS[cell.fill](rng, query_heads, shape, at, dtype)
    for pages in (filled.key_pages, filled.value_pages):
        pages[:, ~used] = np.nan
    return Inputs(
        filled.queries.reshape(1, query_heads, 1, cell.head_dim),
        filled.key_pages,
        filled.value_pages,
        page_table,
        np.array([cell.tokens], np.uint32),
        filled.scale,
        used,
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
