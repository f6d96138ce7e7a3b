"""Lanes that share rows load 16 bytes at a time: arrays that start elsewhere still give right results."""

import numpy as np
import pytest

import pagedrt
from helpers import oracle, softmetal
from helpers.cells import Cell, expected
from helpers.device_arrays import Call

VECTORS = ["queries", "key_pages", "value_pages"]


def shifted(array):
    """The same contents one element past a 16-byte boundary."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 16 + array.itemsize
    moved = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


@pytest.mark.parametrize("index", range(3), ids=VECTORS)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("context", [40, 1100])
def test_a_foreign_array_between_vectors_is_copied_once(dtype, index, context):
    with softmetal.simulator() as device:
        call = Call(device, Cell(dtype, 64, 1, 2, context, 16))
        arrays = list(call.inputs.arrays)
        arrays[index] = shifted(arrays[index])
        before = device.stats["copies"]
        out = pagedrt.paged_attention(*arrays, device=device, **call.keywords)
        oracle.check(out, expected(call.cell, call.inputs), str(call.cell))
        copied = device.stats["copies"] - before
        aligned = list(call.inputs.arrays)
        pagedrt.paged_attention(*aligned, device=device, **call.keywords)
        assert copied == device.stats["copies"] - before - copied + 1


@pytest.mark.parametrize("index", range(3), ids=VECTORS)
def test_a_plan_refuses_an_array_between_vectors(index):
    with softmetal.simulator() as device:
        call = Call(device, Cell("float16", 64, 1, 2, 1100, 16))
        arrays = list(call.arrays)
        room = device.zeros(arrays[index].size + 1, "float16")
        arrays[index] = room[1:].reshape(arrays[index].shape)
        with call.plan() as plan, pytest.raises(pagedrt.InvalidInputError, match=f"{VECTORS[index]}.*16 bytes"):
            plan.run(*arrays, call.cell.context_tokens, call.out)
        assert call.untouched()


def test_a_thread_that_owns_rows_reads_them_in_place():
    with pagedrt.Device("cpu") as device:
        call = Call(device, Cell("float16", 64, 1, 2, 1100, 16))
        arrays = list(call.arrays)
        room = device.zeros(arrays[1].size + 1, "float16")
        keys = room[1:].reshape(arrays[1].shape)
        keys[...] = arrays[1]
        arrays[1] = keys
        before = device.stats["copies"]
        with call.plan() as plan:
            plan.run(*arrays, call.cell.context_tokens, call.out)
        call.check()
        assert device.stats["copies"] == before
