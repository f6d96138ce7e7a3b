"""The instruction sets this machine can run the cpu family's kernels with."""

import contextlib
import ctypes
import pathlib

import pagedrt

_library = ctypes.CDLL(str(pathlib.Path(pagedrt.__file__).parent / "libpagedrt.so"))
_library.softmetal_testing_set_instruction_set.argtypes = [ctypes.c_char_p]


@contextlib.contextmanager
def device_of(instruction_set, **options):
    """A cpu device whose kernels are those of one instruction set."""
    _library.softmetal_testing_set_instruction_set(instruction_set.encode())
    try:
        device = pagedrt.Device("cpu", **options)
    finally:
        _library.softmetal_testing_set_instruction_set(None)
    with device:
        assert device.info["instruction_set"] == instruction_set
        yield device


def available():
    """Best first: what a plain device takes, and every lesser one."""
    order = ["avx512", "avx2", "baseline"]
    with pagedrt.Device("cpu") as device:
        return order[order.index(device.info["instruction_set"]) :]
