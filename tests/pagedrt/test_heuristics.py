from bisect import bisect_left
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedrt import heuristics


def test_increases_partial_parallelism_for_few_kv_heads():
    """The three unit tests of the original."""
    assert heuristics.partial_blocks(8192, 8, 8) == 128
    assert heuristics.partial_blocks(8192, 8, 2) == 512
    assert heuristics.partial_blocks(32768, 8, 2) == 1024


@pytest.mark.parametrize(
    ("context_tokens", "group_factor", "blocks"),
    [
        (1024, 8, 64),
        (1025, 8, 128),
        (1 << 20, 4, 64),
        (8192, 5, 128),
        (8193, 5, 256),
        (32768, 5, 256),
        (32769, 5, 512),
        (65536, 5, 512),
        (65537, 5, 1024),
    ],
)
def test_partial_blocks_table(context_tokens, group_factor, blocks):
    assert heuristics.partial_blocks(context_tokens, group_factor, 8) == blocks


@pytest.mark.parametrize(("kv_heads", "factor"), [(1, 8), (2, 4), (3, 3), (5, 2), (7, 2), (8, 1), (9, 1), (64, 1)])
def test_partial_blocks_kv_heads(kv_heads, factor):
    assert heuristics.partial_blocks(2048, 1, kv_heads) == 64 * factor


@pytest.mark.parametrize("kv_heads", [1, 2, 7, 8])
def test_partial_blocks_are_at_most_1024(kv_heads):
    assert heuristics.partial_blocks(1 << 20, 8, kv_heads) == 1024


@pytest.mark.parametrize(
    ("context_tokens", "head_dim", "group_factor", "two_pass"),
    [
        (1023, 64, 1, False),
        (1024, 64, 1, True),
        (1024, 256, 32, True),
        (1024, 256, 33, False),
        (4096, 288, 1, False),
        (4096, 100, 1, False),
        (4096, 512, 1, False),
        (4096, 32, 1, True),
        (4096, 16, 1, False),
    ],
)
def test_use_two_pass(context_tokens, head_dim, group_factor, two_pass):
    assert heuristics.use_two_pass(context_tokens, head_dim=head_dim, group_factor=group_factor) is two_pass


@pytest.mark.parametrize(
    ("context_tokens", "kv_heads", "blocks"),
    [
        (1024, 8, 2),
        (1025, 8, 3),
        (1024, 1, 8),
        (1024, 3, 3),
        (4096, 1, 8),
        (4097, 1, 9),
        (32768, 8, 64),
        (1 << 20, 8, 64),
    ],
)
def test_cpu_blocks(context_tokens, kv_heads, blocks):
    assert heuristics.cpu_blocks(context_tokens, kv_heads) == blocks


def test_families_differ():
    shape = {"query_heads": 32, "kv_heads": 8, "head_dim": 128}
    assert heuristics.blocks("cpu", 4096, **shape) == 8
    for family in ("metal", "simulator"):
        assert heuristics.blocks(family, 4096, **shape) == 64
    assert heuristics.blocks("cpu", 1023, **shape) == 0


@given(
    family=st.sampled_from(["metal", "cpu", "simulator"]),
    limit=st.integers(1, 1 << 20),
    kv_heads=st.integers(1, 40),
    group_factor=st.integers(1, 40),
    head_dim=st.sampled_from([32, 64, 100, 128, 256, 288]),
    data=st.data(),
)
def test_splits_say_what_blocks_says(family, limit, kv_heads, group_factor, head_dim, data):
    shape = {"query_heads": kv_heads * group_factor, "kv_heads": kv_heads, "head_dim": head_dim}
    splits = heuristics.splits(family, limit, **shape)
    ends = [end for end, _ in splits]
    assert ends == sorted(set(ends))
    assert ends[-1] == limit
    assert all(before[1] != after[1] for before, after in pairwise(splits))
    for context_tokens in {1, limit, *ends, *(end + 1 for end in ends[:-1]), data.draw(st.integers(1, limit))}:
        _, blocks = splits[bisect_left(ends, context_tokens)]
        assert blocks == heuristics.blocks(family, context_tokens, **shape)
