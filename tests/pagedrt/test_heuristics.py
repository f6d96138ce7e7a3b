from bisect import bisect_left
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagedrt import heuristics
from pagedrt.heuristics import Choice


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
    ("context_tokens", "kv_heads", "cores", "blocks"),
    [
        (1024, 8, 2, 1),
        (1 << 20, 8, 2, 1),
        (1024, 3, 2, 3),
        (1024, 1, 2, 8),
        (1 << 20, 1, 2, 8),
        (1024, 8, 3, 2),
        (1024, 40, 1, 1),
        (1024, 1, 16, 8),  # of 128 tokens
        (8191, 1, 16, 63),
        (8192, 1, 16, 64),
        (1 << 20, 1, 1024, 1024),
    ],
)
def test_cpu_blocks(context_tokens, kv_heads, cores, blocks):
    assert heuristics.cpu_blocks(context_tokens, kv_heads, cores) == blocks


def test_families_differ():
    shape = {"dtype": "float16", "head_dim": 128, "group_factor": 4, "kv_heads": 8, "cores": 8}
    assert heuristics.pick("cpu", context_tokens=4096, **shape) == Choice("two_pass", 4)
    for family in ("metal", "simulator"):
        assert heuristics.pick(family, context_tokens=4096, **shape) == Choice("two_pass", 64)
    assert heuristics.pick("cpu", context_tokens=1023, **shape) == Choice("one_pass", 0)


SHAPE = ("float16", 128, 4, 8)  # dtype, head_dim, group_factor, kv_heads
TUNED = [(100, Choice("one_pass", 0, 4, 1)), (2000, Choice("two_pass", 3, 2, 1)), (3000, Choice("two_pass", 5, 1, 1))]
TABLE = {("cpu", *SHAPE, 8): TUNED}


@pytest.mark.parametrize(
    ("context_tokens", "expected"),
    [
        (1, TUNED[0][1]),
        (100, TUNED[0][1]),
        (101, TUNED[1][1]),
        (2000, TUNED[1][1]),
        (2001, TUNED[2][1]),
        (3000, TUNED[2][1]),
        (3001, Choice("two_pass", 4)),
    ],
)
def test_a_table_covers_contexts_up_to_its_last(context_tokens, expected):
    assert heuristics.pick("cpu", *SHAPE, context_tokens, 8, TABLE) == expected


@pytest.mark.parametrize(
    "other",
    [
        ("metal", "float16", 128, 4, 8, 8),
        ("cpu", "float32", 128, 4, 8, 8),
        ("cpu", "float16", 64, 4, 8, 8),
        ("cpu", "float16", 128, 8, 8, 8),
        ("cpu", "float16", 128, 4, 4, 8),
        ("cpu", "float16", 128, 4, 8, 4),
    ],
)
def test_a_table_covers_its_shapes_alone(other):
    family, dtype, head_dim, group_factor, kv_heads, cores = other
    given = heuristics.pick(family, dtype, head_dim, group_factor, kv_heads, 1500, cores, TABLE)
    assert given == heuristics.baseline(family, head_dim, group_factor, kv_heads, 1500, cores)


@given(
    family=st.sampled_from(["metal", "cpu", "simulator"]),
    limit=st.integers(1, 1 << 20),
    kv_heads=st.integers(1, 40),
    group_factor=st.integers(1, 40),
    head_dim=st.sampled_from([32, 64, 100, 128, 256, 288]),
    ends=st.sets(st.integers(1, 1 << 20), max_size=4),
    data=st.data(),
)
def test_splits_say_what_pick_says(family, limit, kv_heads, group_factor, head_dim, ends, data):
    shape = ("float32", head_dim, group_factor, kv_heads)
    choices = st.sampled_from([heuristics.ONE_PASS, Choice("two_pass", 7), Choice("two_pass", 9, 1, 1)])
    table = {(family, *shape, 8): [(end, data.draw(choices)) for end in sorted(ends)]}
    splits = heuristics.splits(family, *shape, limit, 8, table)
    ends = [end for end, _ in splits]
    assert ends == sorted(set(ends))
    assert ends[-1] == limit
    assert all(before[1] != after[1] for before, after in pairwise(splits))
    for context_tokens in {1, limit, *ends, *(end + 1 for end in ends[:-1]), data.draw(st.integers(1, limit))}:
        _, choice = splits[bisect_left(ends, context_tokens)]
        assert choice == heuristics.pick(family, *shape, context_tokens, 8, table)


LEGAL = {"simd_width": 32, "max_threads": 1024, "dtype": "float32", "head_dim": 128, "group_factor": 4}


@pytest.mark.parametrize(
    ("choice", "changed", "legal"),
    [
        (Choice("two_pass", 4, 4, 4), {}, True),
        (Choice("two_pass", 1024), {}, True),
        (Choice("two_pass", 1025), {}, False),
        (Choice("two_pass", 0), {}, False),
        (Choice("one_pass", 1), {}, False),
        (Choice("three_pass", 0), {}, False),
        (Choice("two_pass", 4), {"group_factor": 33}, False),
        (Choice("two_pass", 4), {"head_dim": 100}, False),
        (Choice("two_pass", 4), {"head_dim": 288}, False),
        (Choice("two_pass", 2, 1, 2), {"context_tokens": 4096}, True),
        (Choice("two_pass", 2, 1, 2), {"context_tokens": 4097}, False),  # a lane would add up too many rows
        (Choice("two_pass", 2, 1, 1), {"context_tokens": 1 << 20, "simd_width": 1, "max_threads": 1}, True),
        (Choice("one_pass", 0, 1, 0), {}, False),  # half a choice
        (Choice("one_pass", 0, 0, 1), {}, False),
    ],
)
def test_legal(choice, changed, legal):
    """What the runtime takes by itself is held to legal() in tests/simulator/test_layouts.py."""
    assert heuristics.legal(choice, **{"context_tokens": 1024} | LEGAL | changed) is legal
