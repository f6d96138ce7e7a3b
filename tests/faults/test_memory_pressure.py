"""Memory that the device will not or cannot give."""

import numpy as np
import pytest

import pagedrt
from helpers import cells, child, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call

TWO_PASS = Cell("float32", 32, 4, 2, 1100, 16)


@pytest.fixture
def limited():
    """A device whose buffers may hold 1 MiB."""
    with softmetal.limited_device(1 << 20) as device:
        yield device


@pytest.fixture
def boastful():
    """A device that allows longer buffers than any address space holds."""
    with softmetal.limited_device(1 << 60) as device:
        yield device


def test_workers_without_memory():
    """Address space for part of the threads, ever more: a device or an exception."""
    printed = child.run("""
        import resource, pagedrt
        kept = pagedrt.Device("cpu", threads=1)
        with open("/proc/self/statm") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        for more in range(0, 12 << 20, 64 << 10):
            resource.setrlimit(resource.RLIMIT_AS, (now + more, resource.RLIM_INFINITY))
            try:
                pagedrt.Device("cpu", threads=8).close()
                print("opened")
            except (pagedrt.DeviceError, MemoryError) as error:
                print(type(error).__name__)
    """).split()
    assert printed[0] != "opened"
    assert printed[-1] == "opened"
    assert "DeviceError" in printed


def test_an_array_at_the_limit_and_one_beyond(limited):
    assert (limited.zeros(1 << 20, "int8") == 0).all()
    with pytest.raises(pagedrt.InvalidInputError, match=r"1048577 bytes.*1048576"):
        limited.empty((1 << 20) + 1, "int8")
    with pytest.raises(pagedrt.InvalidInputError, match="1048576"):
        limited.asarray(np.zeros((1 << 20) + 1, np.int8))


def test_pages_beyond_the_limit(limited):
    cell = Cell("float32", 64, 2, 1, 5000, 16)
    inputs = cells.make(cell)
    assert inputs.key_pages.nbytes > 1 << 20
    out = np.full_like(inputs.queries, 7)
    with pytest.raises(pagedrt.InvalidInputError, match=r"key_pages.*1048576"):
        cells.run(limited, cell, inputs, out=out)
    assert (out == 7).all()
    cells.check(limited, Cell("float32", 32, 2, 1, 1100, 16))


def test_a_plan_whose_scratch_is_beyond_the_limit(limited):
    with pytest.raises(pagedrt.InvalidInputError, match="1048576"):
        pagedrt.PagedAttention(
            limited,
            query_heads=2048,
            kv_heads=64,
            head_dim=256,
            page_size=16,
            max_context_tokens=1 << 20,
            scale=1,
            dtype="float32",
        )
    call = Call(limited, TWO_PASS)
    with call.plan() as plan:
        plan.run(*call.arrays, TWO_PASS.context_tokens, call.out)
    call.check()


def test_no_memory_for_an_array(boastful):
    with pytest.raises(pagedrt.OutOfMemoryError, match=f"{1 << 55} bytes"):
        boastful.empty(1 << 55, "int8")
    assert (boastful.zeros(100, "float32") == 0).all()


def test_no_memory_for_a_plan(boastful):
    """2^31 query heads x 64 blocks x 258 floats."""
    with pytest.raises(pagedrt.OutOfMemoryError, match="bytes for a buffer"):
        pagedrt.PagedAttention(
            boastful,
            query_heads=1 << 31,
            kv_heads=1 << 31,
            head_dim=256,
            page_size=16,
            max_context_tokens=1 << 20,
            scale=1,
            dtype="float32",
        )
    cells.check(boastful, TWO_PASS)


def test_memory_errors_are_caught_as_pythons_own(boastful):
    with pytest.raises(MemoryError):
        boastful.empty(1 << 55, "int8")
