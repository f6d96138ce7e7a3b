"""The matrix in shards: values, and the same bits whatever lies in unused memory.

`make test` runs the first axes.QUICK cells, `make test-full` (PAGEDRT_MATRIX=full) all of them.
"""

import contextlib
import os

import numpy as np
import pytest

import pagedrt
from helpers import cells, oracle, softmetal

from . import axes

SHARDS = 40
COUNT = axes.CELLS if os.environ.get("PAGEDRT_MATRIX") == "full" else axes.QUICK


def open_device(family, seed):
    return softmetal.simulator(seed=seed) if family == "simulator" else softmetal.cpu_device(family)


def same_bits(a, b):
    return np.array_equal(np.ascontiguousarray(a).view(np.uint8), np.ascontiguousarray(b).view(np.uint8))


def check(device, cell, scratch, poison_scratch):
    inputs = cells.make(cell)
    if poison_scratch:
        spoiled = cells.make(cell)
        spoiled.value_pages[...] = np.nan
        cells.run(device, cell, spoiled, scratch=scratch)
    before = device.stats
    out = cells.run(device, cell, inputs, scratch=scratch)
    path = "two_pass" if cell.two_pass else "one_pass"
    assert device.stats[path] == before[path] + 1, f"{cell} did not take {path}"
    oracle.check(out, cells.expected(cell, inputs), f"{device.info['instruction_set']} {cell}")
    padded = inputs.cleaned()
    padded.page_table = np.concatenate([inputs.page_table, np.full(3, 0xFFFFFFFF, np.uint32)])
    assert same_bits(out, cells.run(device, cell, padded)), f"{cell}: unused memory reached the output"


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
            check(devices[family][0], cell, devices[family][1], poison_scratch=i // SHARDS % 4 == 0)
