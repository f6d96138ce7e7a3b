"""pagedrt_micro.h: a launch from C, and every number of it that does not fit."""

from ctypes import byref, c_uint32

import numpy as np
import pytest
from runtime_abi import INVALID_INPUT, MicroLaunch, pagedrt
from runtime_case import device_array

PAGES, WORDS = 6, 512


@pytest.fixture
def arrays(device):
    """memory, page_table, out."""
    made = [device_array(device, shape, np.uint32) for shape in (PAGES * WORDS, 4, 64)]
    memory, table, out = (array for array, _ in made)
    memory[...] = np.arange(memory.size)
    table[...] = [5, 0, 2, 3]
    out[...] = 77
    yield memory, table, out
    for _, handle in made:
        pagedrt.buffer_destroy(handle)


def run(device, arrays, kernel=b"pagedrt_micro_read", **changed):
    memory, table, out = arrays
    width = pagedrt.info(device).simd_width
    values = {
        "threadgroups": 2,
        "simdgroups": 1,
        "rounds": 3,
        "dispatches": 1,
        "command_buffers": 1,
        "memory": memory.ctypes.data,
        "page_table": table.ctypes.data,
        "out": out.ctypes.data,
        "page_capacity": PAGES,
        "pages": table.size,
        "out_length": 2 * width,
        "page_bytes": 4 * WORDS,
    }
    return pagedrt.micro_run(device, kernel, byref(MicroLaunch(**(values | changed))))


def test_a_launch(device, arrays):
    memory, table, out = arrays
    pagedrt.check(run(device, arrays, dispatches=3))
    written = 2 * pagedrt.info(device).simd_width
    assert out[:written].sum(dtype=np.uint32) == 3 * memory.reshape(PAGES, WORDS)[table].sum(dtype=np.uint32)
    assert np.all(out[written:] == 77)
    most = c_uint32()
    pagedrt.check(pagedrt.micro_most_simdgroups(device, b"pagedrt_micro_read", byref(most)))
    assert most.value >= 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kernel": b"pagedrt_sdpa_reduce_hd0_f32"}, 'kernel: "pagedrt_sdpa_reduce_hd0_f32"'),
        ({"threadgroups": 0}, "threadgroups: 0, expected 1"),
        ({"threadgroups": 3}, "out: "),
        ({"threadgroups": 2**31, "out_length": 0}, "out: 0 words"),
        ({"simdgroups": 0}, "simdgroups: 0, expected 1"),
        ({"simdgroups": 2**31}, "simdgroups: 2147483648, expected 1"),
        ({"dispatches": 0}, "dispatches: 0, expected 1 to 4096"),
        ({"dispatches": 4097}, "dispatches: 4097, expected 1 to 4096"),
        ({"command_buffers": 0}, "command_buffers: 0, expected 1 to 8"),
        ({"command_buffers": 9}, "command_buffers: 9, expected 1 to 8"),
        ({"page_capacity": 0}, "page_capacity: 0, expected 1"),
        ({"page_capacity": PAGES + 2**20}, "memory: "),
        ({"page_capacity": 5}, "page_table[0] = 5: expected a page below page_capacity = 5"),
        ({"pages": 0}, "pages: 0, expected 1"),
        ({"pages": 2**30, "rounds": 1}, "page_table: "),
        ({"rounds": 2**30}, "rounds: 1073741824 of 4 pages"),
        ({"page_bytes": 0}, "page_bytes: 0, expected a multiple of"),
        ({"page_bytes": 4 * WORDS + 32}, "page_bytes: 2080, expected a multiple of"),
        ({"memory": None}, "memory: "),
        ({"page_table": None}, "page_table: "),
        ({"out": None}, "out: "),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_does_not_fit(device, arrays, changed, message):
    assert run(device, arrays, **changed) == INVALID_INPUT
    assert pagedrt.error().startswith(message)
    assert np.all(arrays[2] == 77)
    pagedrt.check(run(device, arrays))
