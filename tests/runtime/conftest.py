import ctypes

import pytest
from runtime_abi import pagedrt
from runtime_case import Case


@pytest.fixture
def device():
    handle = pagedrt.make("device_create", None, 0)
    yield handle
    pagedrt.device_destroy(handle)


@pytest.fixture
def stream(device):
    handle = pagedrt.make("stream_create", device)
    yield handle
    pagedrt.stream_destroy(handle)


@pytest.fixture
def scratch(device):
    handle = pagedrt.make("scratch_create", device)
    yield handle
    pagedrt.scratch_destroy(handle)


@pytest.fixture
def make_case(device):
    cases = []

    def make(**options) -> Case:
        cases.append(Case(device, **options))
        return cases[-1]

    yield make
    for case in cases:
        case.release()


@pytest.fixture
def pages(device):
    """Page-aligned foreign memory: pages(count) is a writable ctypes array of whole pages."""
    size = pagedrt.info(device).memory_page
    kept = []

    def allocate(count: int):
        raw = ctypes.create_string_buffer((count + 1) * size)
        start = -(-ctypes.addressof(raw) // size) * size
        kept.append(raw)
        return (ctypes.c_char * (count * size)).from_address(start)

    return allocate
