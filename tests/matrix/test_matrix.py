"""The matrix in shards: values, and the same bits whatever lies in unused memory.

`make test` runs the first axes.QUICK cells, `make test-full` (PAGEDRT_MATRIX=full) all of them.
"""

import contextlib
import os

import numpy as np
import pytest

import pagedrt
from helpers import cells, oracle, softmetal
from helpers.device_arrays import Call
from pagedrt.heuristics import Choice

from . import axes

SHARDS = 40
BLOCKS = (1, 2, 5, 16, 17, 40, 64)  # cores choose few where there are few; the kernels take any number
COUNT = axes.CELLS if os.environ.get("PAGEDRT_MATRIX") == "full" else axes.QUICK


def open_device(family, seed):
    return softmetal.simulator(seed=seed) if family == "simulator" else softmetal.cpu_device(family)


def same_bits(a, b):
    return np.array_equal(np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8))


def check(device, cell, scratch, poison_scratch, blocks):
    inputs = cells.make(cell)
    if poison_scratch:
        spoiled = cells.make(cell)
        spoiled.value_pages[...] = np.nan
        cells.run(device, cell, spoiled, scratch=scratch)
    before = device.stats
    out = cells.run(device, cell, inputs, scratch=scratch)
    path = "two_pass" if cell.two_pass else "one_pass"
    assert device.stats[path] == before[path] + 1, f"{cell} did not take {path}"
    expected, name = cells.expected(cell, inputs), f"{device.info['instruction_set']} {cell}"
    oracle.check(out, expected, name)
    if cell.two_pass and device.family == "cpu":
        check_split(Call(device, cell), blocks, expected, name)
    padded = inputs.cleaned()
    padded.page_table = np.concatenate([inputs.page_table, np.full(3, 0xFFFFFFFF, np.uint32)])
    assert same_bits(out, cells.run(device, cell, padded)), f"{cell}: unused memory reached the output"


def check_split(call, blocks, expected, name):
    with call.plan(splits=[(call.cell.context_tokens, Choice("two_pass", blocks))]) as plan:
        plan.run(*call.arrays, call.cell.context_tokens, call.out)
    oracle.check(call.out, expected, f"{name} in {blocks} blocks")


@pytest.mark.parametrize("shard", range(SHARDS))
def test_shard(shard):
    known = [*softmetal.instruction_sets(), "simulator"]
    with contextlib.ExitStack() as stack:
        devices = {}
        for i, (family, cell) in enumerate(axes.cells(COUNT)):
            if i % SHARDS != shard or family not in known:
                continue
            if family not in devices:
                device = stack.enter_context(open_device(family, shard))
                devices[family] = device, pagedrt.PagedAttentionScratch(device)
            check(devices[family][0], cell, devices[family][1], i // SHARDS % 4 == 0, BLOCKS[i % len(BLOCKS)])
