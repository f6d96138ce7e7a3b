"""softmetal's test hooks (native/softmetal/testing.h) and the devices they make."""

import contextlib
import ctypes
import pathlib

import pagedrt

library = ctypes.CDLL(str(pathlib.Path(pagedrt.__file__).parent / "libpagedrt.so"))
library.softmetal_testing_set_instruction_set.argtypes = [ctypes.c_char_p]
library.softmetal_testing_set_max_threads.argtypes = [ctypes.c_uint32]
library.softmetal_testing_set_seed.argtypes = [ctypes.c_uint64]
library.softmetal_testing_fail_call.argtypes = [ctypes.c_uint64]
library.softmetal_testing_calls_made.restype = ctypes.c_uint64
library.softmetal_testing_live_objects.restype = ctypes.c_int64
library.softmetal_testing_set_failure_code.argtypes = [ctypes.c_int64]


@contextlib.contextmanager
def cpu_device(instruction_set, **options):
    """A cpu device whose kernels are those of one instruction set."""
    library.softmetal_testing_set_instruction_set(instruction_set.encode())
    try:
        device = pagedrt.Device("cpu", **options)
    finally:
        library.softmetal_testing_set_instruction_set(None)
    with device:
        assert device.info["instruction_set"] == instruction_set
        yield device


@contextlib.contextmanager
def simulator(max_threads=0, seed=0):
    """A simulator whose pipelines allow max_threads a threadgroup and whose schedule is the seed's."""
    library.softmetal_testing_set_max_threads(max_threads)
    try:
        device = pagedrt.Device("simulator")
    finally:
        library.softmetal_testing_set_max_threads(0)
    with device:
        library.softmetal_testing_set_seed(seed)
        try:
            yield device
        finally:
            library.softmetal_testing_set_seed(0)


def instruction_sets():
    """Best first: what a plain cpu device takes, and every lesser one."""
    order = ["avx512", "avx2", "baseline"]
    with pagedrt.Device("cpu") as device:
        return order[order.index(device.info["instruction_set"]) :]
