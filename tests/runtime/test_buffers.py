"""Buffers: owned and wrapped memory, and the map of live ranges."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from runtime_abi import INVALID_INPUT, OK, pagedrt


def address(memory) -> int:
    return ctypes.addressof(memory)


@pytest.mark.parametrize("length", [1, 100, 4096, 100_000])
def test_owned_memory_is_page_aligned_and_as_long_as_asked(device, length):
    buffer = pagedrt.make("buffer_create", device, length)
    contents = pagedrt.buffer_contents(buffer)
    assert contents % pagedrt.info(device).memory_page == 0
    assert pagedrt.buffer_length(buffer) == length
    ctypes.memset(contents, 255, length)
    pagedrt.buffer_destroy(buffer)


def test_lengths_the_device_does_not_allow(device):
    handle = ctypes.c_void_p()
    for length in (0, pagedrt.info(device).max_buffer_length + 1, 2**64 - 1):
        assert pagedrt.buffer_create(device, length, byref(handle)) == INVALID_INPUT
        assert pagedrt.error().startswith(f"length: {length}")
        assert "expected" in pagedrt.error()


def test_writable_memory_must_be_whole_pages(device, pages):
    page = pagedrt.info(device).memory_page
    memory, handle = pages(2), ctypes.c_void_p()
    for offset, length in [(4, page), (0, page - 4), (4, page - 4)]:
        assert pagedrt.buffer_wrap(device, address(memory) + offset, length, True, byref(handle)) == INVALID_INPUT
        assert f"expected multiples of {page}" in pagedrt.error()
        assert pagedrt.buffer_wrap(device, address(memory) + offset, length, False, byref(handle)) == OK
        assert pagedrt.buffer_contents(handle) == address(memory) + offset
        assert pagedrt.buffer_length(handle) == length
        pagedrt.buffer_destroy(handle)


def test_wrapping_nothing(device):
    handle = ctypes.c_void_p()
    assert pagedrt.buffer_wrap(device, None, 16, False, byref(handle)) == INVALID_INPUT
    assert pagedrt.buffer_wrap(device, 4096, 0, False, byref(handle)) == INVALID_INPUT
    assert pagedrt.buffer_wrap(device, 2**64 - 4096, 4096, False, byref(handle)) == INVALID_INPUT


def test_owns_only_what_lies_in_one_live_buffer(device, pages):
    buffer = pagedrt.make("buffer_create", device, 1000)
    start = pagedrt.buffer_contents(buffer)
    assert pagedrt.device_owns(device, start, 1000, True)
    assert pagedrt.device_owns(device, start + 999, 1, True)
    assert not pagedrt.device_owns(device, start, 1001, False)
    assert not pagedrt.device_owns(device, start + 1000, 1, False)
    assert not pagedrt.device_owns(device, start - 1, 2, False)
    assert not pagedrt.device_owns(device, start, 2**64 - 1, False)
    pagedrt.buffer_destroy(buffer)
    assert not pagedrt.device_owns(device, start, 1, False)


def test_read_only_memory_is_not_owned_for_writing(device, pages):
    memory = pages(1)
    buffer = pagedrt.make("buffer_wrap", device, address(memory), 64, False)
    assert pagedrt.device_owns(device, address(memory), 64, False)
    assert not pagedrt.device_owns(device, address(memory), 64, True)
    assert not pagedrt.device_owns(device, address(memory), 65, False)
    pagedrt.buffer_destroy(buffer)


def test_overlapping_ranges(device, pages):
    """Random overlapping read-only and writable ranges, against a list searched in full."""
    page = pagedrt.info(device).memory_page
    memory = pages(16)
    random = np.random.default_rng(0)
    live = {}
    for _ in range(400):
        if live and random.random() < 0.45:
            handle = list(live)[random.integers(len(live))]
            del live[handle]
            pagedrt.buffer_destroy(handle)
        else:
            writable = bool(random.random() < 0.5)
            unit = page if writable else 1
            start = int(random.integers(16 * page // unit)) * unit
            length = int(random.integers(1, (16 * page - start) // unit + 1)) * unit
            handle = pagedrt.make("buffer_wrap", device, address(memory) + start, length, writable)
            live[handle.value] = (start, start + length, writable)
        for _ in range(20):
            start = int(random.integers(16 * page))
            end = start + int(random.integers(1, 4 * page))
            for writable in (False, True):
                expected = any(a <= start and end <= b and (w or not writable) for a, b, w in live.values())
                assert pagedrt.device_owns(device, address(memory) + start, end - start, writable) == expected
    for handle in live:
        pagedrt.buffer_destroy(handle)


def test_wrapped_memory_is_used_in_place(device, make_case, pages):
    page = pagedrt.info(device).memory_page
    case = make_case(owned=False)
    memory = pages(1)
    case.out = np.frombuffer(memory, np.float32)[: case.out.size].reshape(case.out.shape)
    handles = [pagedrt.make("buffer_wrap", device, address(memory), page, True)]
    for name in ("queries", "key_pages", "value_pages", "page_table", "dependency"):
        array = getattr(case, name)
        handles.append(pagedrt.make("buffer_wrap", device, array.ctypes.data, array.nbytes, False))
    for blocks in (0, 4):
        case.out[...] = np.nan
        assert case.run(blocks) == OK, pagedrt.error()
        case.assert_right()
    assert pagedrt.stats(device).copies == 0
    for handle in handles:
        pagedrt.buffer_destroy(handle)


def test_destroying_wrapped_memory_waits_for_the_device(device, make_case, stream, pages):
    page = pagedrt.info(device).memory_page
    case = make_case(tokens=2000)
    memory = pages(1)
    case.out = np.frombuffer(memory, np.float32)[: case.out.size].reshape(case.out.shape)
    case.out[...] = np.nan
    buffer = pagedrt.make("buffer_wrap", device, address(memory), page, True)
    assert case.run(stream=stream) == OK
    pagedrt.buffer_destroy(buffer)
    case.assert_right()


def test_owned_memory_may_be_destroyed_while_in_use(device, make_case, stream):
    case = make_case(tokens=2000)
    expected = case.expected()
    assert case.run(stream=stream) == OK
    out = case.handles.pop()
    case.release()
    case.handles.clear()
    pagedrt.check(pagedrt.stream_synchronize(stream))
    np.testing.assert_allclose(case.out, expected, rtol=1e-5, atol=1e-5)
    pagedrt.buffer_destroy(out)


def test_count_copy(device):
    pagedrt.device_count_copy(device, 123)
    stats = pagedrt.stats(device)
    assert (stats.copies, stats.copied_bytes) == (1, 123)
