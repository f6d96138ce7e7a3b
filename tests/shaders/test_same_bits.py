"""Results depend on the inputs alone: not on workers, runs, scratch history, streams or unused memory."""

import numpy as np
import pytest

import pagedrt
from helpers import cells
from helpers.cells import Cell

CELLS = [
    Cell("float32", 128, 4, 4, 3000, 16),
    Cell("float16", 64, 2, 8, 4097, 17),
    Cell("bfloat16", 256, 1, 8, 2048, 16),
    Cell("float32", 100, 3, 5, 1500, 8),
    Cell("bfloat16", 96, 5, 1, 700, 64),
]


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8).copy()


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_workers_and_repeats(cell):
    inputs = cells.make(cell)
    seen = None
    for threads in (1, 2, 8):
        with pagedrt.Device("cpu", threads=threads) as device:
            for _ in range(50):
                got = bits(cells.run(device, cell, inputs))
                seen = got if seen is None else seen
                assert np.array_equal(got, seen), f"{threads} workers"


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_scratch_history_and_streams(cell):
    inputs = cells.make(cell)
    with pagedrt.Device("cpu") as device:
        alone = bits(cells.run(device, cell, inputs))
        scratch = pagedrt.PagedAttentionScratch(device)
        for other in CELLS:
            cells.run(device, other, cells.make(other), scratch=scratch)
            assert np.array_equal(bits(cells.run(device, cell, inputs, scratch=scratch)), alone)
        with device.stream() as stream:
            outs = [cells.run(device, cell, inputs, scratch=scratch, stream=stream) for _ in range(10)]
        for out in outs:
            assert np.array_equal(bits(out), alone)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_unused_memory(cell):
    """Slots past the length, unused pages and table entries past the end hold anything."""
    poisoned = cells.make(cell)
    clean = poisoned.cleaned()
    padded = np.concatenate([poisoned.page_table, np.full(9, 0xFFFFFFFF, np.uint32)])
    poisoned.page_table = padded
    with pagedrt.Device("cpu") as device:
        assert np.array_equal(bits(cells.run(device, cell, poisoned)), bits(cells.run(device, cell, clean)))


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_plan_and_one_shot_agree(cell):
    inputs = cells.make(cell)
    query_heads = cell.kv_heads * cell.group_factor
    with pagedrt.Device("cpu") as device:
        plan = pagedrt.PagedAttention(
            device,
            query_heads=query_heads,
            kv_heads=cell.kv_heads,
            head_dim=cell.head_dim,
            page_size=cell.page_size,
            max_context_tokens=3 * cell.context_tokens,
            scale=inputs.scale,
            dtype=cell.dtype,
        )
        owned = [device.asarray(a, copy=True) for a in inputs.arrays]
        out = device.empty(inputs.queries.shape, cell.dtype)
        plan.run(*owned, cell.context_tokens, out)
        assert np.array_equal(bits(out), bits(cells.run(device, cell, inputs)))
