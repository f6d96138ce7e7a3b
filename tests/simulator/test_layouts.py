"""Layouts that callers choose: the runtime takes just those that heuristics.legal does, and their results are right."""

import itertools

import pytest

import pagedrt
from helpers import cells, oracle, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call
from pagedrt import heuristics
from pagedrt.heuristics import HEADS, Choice

SIMDGROUPS = (1, 2, 3, 4, 5, 8, 16, 20, 21, 28, 29, 32, 33)


def judge(device, choice, dtype, head_dim, group_factor, context_tokens):
    info = device.info
    limits = {"simd_width": info["simd_width"], "max_threads": info["max_threads"]}
    return heuristics.legal(
        choice, dtype=dtype, head_dim=head_dim, group_factor=group_factor, context_tokens=context_tokens, **limits
    )


def taken(device, choice, dtype, head_dim, group_factor):
    """Whether the runtime makes a plan of it; why not must be the caller's fault, and be named."""
    options = {"query_heads": group_factor, "kv_heads": 1, "head_dim": head_dim, "page_size": 16, "scale": 1.0}
    try:
        pagedrt.PagedAttention(device, **options, max_context_tokens=64, dtype=dtype, splits=[(64, choice)]).close()
    except pagedrt.InvalidInputError as error:
        assert str(error).startswith(("heads: ", "simdgroups: ")), error
        return False
    return True


@pytest.mark.parametrize("max_threads", [1024, 896, 640, "cpu"])
def test_the_runtime_takes_what_is_legal(max_threads):
    opened = pagedrt.Device("cpu") if max_threads == "cpu" else softmetal.simulator(max_threads)
    with opened as device:
        judged = set()
        for dtype, head_dim, group_factor in itertools.product(
            ("float32", "float16"), (32, 96, 128, 256, 8, 512), (1, 2, 3, 8)
        ):
            paths = [("one_pass", 0)] + [("two_pass", 4)] * heuristics.can_two_pass(head_dim, group_factor)
            for path, heads, simdgroups in itertools.product(paths, HEADS, SIMDGROUPS):
                choice = Choice(*path, heads, simdgroups)
                legal = judge(device, choice, dtype, head_dim, group_factor, 64)
                assert taken(device, choice, dtype, head_dim, group_factor) is legal, (choice, dtype, head_dim)
                judged.add(legal)
    assert judged == {True, False}


@pytest.mark.parametrize(("dtype", "head_dim"), [("float32", 128), ("float16", 64), ("bfloat16", 96), ("float32", 40)])
@pytest.mark.parametrize("family", ["cpu", "simulator"])
def test_every_legal_choice_keeps_the_bound(family, dtype, head_dim):
    cell = Cell(dtype, head_dim, 1, 5, 150, 16)
    grid = itertools.product([("one_pass", 0), ("two_pass", 1), ("two_pass", 7)], HEADS, (1, 2, 5, 16))
    ran = 0
    with pagedrt.Device(family) as device:
        call = Call(device, cell)
        expected = cells.expected(cell, call.inputs)
        for path, heads, simdgroups in grid:
            choice = Choice(*path, heads, simdgroups)
            if not judge(device, choice, dtype, head_dim, cell.group_factor, cell.context_tokens):
                continue
            with call.plan(splits=[(cell.context_tokens, choice)]) as plan:
                plan.run(*call.arrays, cell.context_tokens, call.out)
            oracle.check(call.out, expected, str(choice))
            ran += 1
    assert ran >= 4


def test_many_rows_a_lane_keep_the_bound():
    """The most tokens a block that legal() allows to one SIMD-group of the kernel without compensation."""
    cell = Cell("float32", 128, 1, 1, 2 * heuristics.LANE_ROWS, 16, fill="normal")
    choice = Choice("two_pass", 2, 1, 1)
    with pagedrt.Device("simulator") as device:
        assert judge(device, choice, "float32", 128, 1, cell.context_tokens)
        assert not judge(device, choice, "float32", 128, 1, cell.context_tokens + 1)
        call = Call(device, cell)
        with call.plan(splits=[(cell.context_tokens, choice)]) as plan:
            plan.run(*call.arrays, cell.context_tokens, call.out)
        call.check()


def test_every_choice_gives_the_same_bits_each_time():
    cell = Cell("float32", 64, 2, 4, 200, 16)
    bits = {}
    for threads in (1, 2):
        with pagedrt.Device("cpu", threads=threads) as device:
            call = Call(device, cell)
            for choice in (Choice("one_pass", 0, 2, 1), Choice("two_pass", 3, 4, 1), Choice("two_pass", 3, 1, 1)):
                with call.plan(splits=[(cell.context_tokens, choice)]) as plan:
                    plan.run(*call.arrays, cell.context_tokens, call.out)
                bits.setdefault(choice, set()).add(call.out.tobytes())
    assert {len(found) for found in bits.values()} == {1}
