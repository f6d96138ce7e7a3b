"""Arenas past 2^31 and 2^32 elements: 32-bit offsets would wrap to another page."""

import mmap
import tempfile

import numpy as np
import pytest

import pagedrt
from helpers import oracle

PAGE_SIZE = 16


def sparse(shape):
    """float16 pages, a mapped file full of holes: only what is written takes memory."""
    size = 2 * int(np.prod(shape))
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), np.float16).reshape(shape)


# Past 2^32 elements a KV head's own offsets wrap, and the next head's start; with head_dim 1 a row's number too.
@pytest.mark.parametrize(
    ("kv_heads", "head_dim", "head_elements"),
    [(2, 64, 2**30), (2, 64, 2**32), (1, 1, 2**32)],
    ids=["2^31", "2^33", "2^32 rows"],
)
@pytest.mark.parametrize("tokens", [70, 1100])
def test_both_ends_of_a_large_arena(kv_heads, head_dim, head_elements, tokens):
    capacity = head_elements // (PAGE_SIZE * head_dim) + 64
    rng = np.random.default_rng(head_elements + tokens)
    used = -(-tokens // PAGE_SIZE)
    # half of the pages at the start, half at the end, so that offsets reach both
    ends = np.concatenate([np.arange(used // 2), capacity - 1 - np.arange(used - used // 2)])
    page_table = rng.permutation(ends).astype(np.uint32)
    shape = (kv_heads, capacity, PAGE_SIZE, head_dim)
    key_pages, value_pages = sparse(shape), sparse(shape)
    for pages in (key_pages, value_pages):
        pages[:, page_table] = rng.standard_normal((kv_heads, used, PAGE_SIZE, head_dim))
    queries = rng.standard_normal((1, 4 * kv_heads, 1, head_dim)).astype(np.float16)
    with pagedrt.Device("cpu") as device:
        out = pagedrt.paged_attention(
            queries,
            key_pages,
            value_pages,
            page_table,
            np.array([tokens], np.uint32),
            page_size=PAGE_SIZE,
            context_tokens=tokens,
            scale=0.125,
            device=device,
        )
        assert device.stats["copies"] <= 1, "an arena was copied"
    oracle.check(out, oracle.attend(queries, key_pages, value_pages, page_table, tokens, 0.125))
