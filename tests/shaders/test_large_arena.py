"""Arenas past 2^31 and 2^32 elements: 32-bit offsets would wrap to another page."""

import mmap
import tempfile

import numpy as np
import pytest

import pagedrt
from helpers import oracle

KV_HEADS, PAGE_SIZE, HEAD_DIM = 2, 16, 64
PAGE_ELEMENTS = PAGE_SIZE * HEAD_DIM


def sparse(capacity):
    """float16 pages, a mapped file full of holes: only what is written takes memory."""
    shape = (KV_HEADS, capacity, PAGE_SIZE, HEAD_DIM)
    size = 2 * int(np.prod(shape))
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        return np.frombuffer(mmap.mmap(file.fileno(), size), np.float16).reshape(shape)


@pytest.mark.parametrize("elements", [2**31, 2**32])
@pytest.mark.parametrize("tokens", [70, 1100], ids=["one-pass", "two-pass"])
def test_both_ends_of_a_large_arena(elements, tokens):
    capacity = elements // (KV_HEADS * PAGE_ELEMENTS) + 64
    rng = np.random.default_rng(elements + tokens)
    used = -(-tokens // PAGE_SIZE)
    # half of the pages at the start, half at the end, so that offsets reach both
    ends = np.concatenate([np.arange(used // 2), capacity - 1 - np.arange(used - used // 2)])
    page_table = rng.permutation(ends).astype(np.uint32)
    key_pages, value_pages = sparse(capacity), sparse(capacity)
    assert key_pages.size > elements
    for pages in (key_pages, value_pages):
        pages[:, page_table] = rng.standard_normal((KV_HEADS, used, PAGE_SIZE, HEAD_DIM))
    queries = rng.standard_normal((1, 8, 1, HEAD_DIM)).astype(np.float16)
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
