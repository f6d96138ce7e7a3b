"""softmetal's test hooks (native/softmetal/testing.h) and the devices they make."""

import contextlib
import ctypes
import gc
import pathlib
import time

import pagedrt

library = ctypes.CDLL(str(pathlib.Path(pagedrt.__file__).parent / "libpagedrt.so"))
library.softmetal_testing_set_instruction_set.argtypes = [ctypes.c_char_p]
library.softmetal_testing_set_max_buffer_length.argtypes = [ctypes.c_uint64]
library.softmetal_testing_set_max_threads.argtypes = [ctypes.c_uint32]
library.softmetal_testing_set_max_command_buffers.argtypes = [ctypes.c_uint32]
library.softmetal_testing_command_buffer_waits.restype = ctypes.c_uint64
library.softmetal_testing_set_no_copy_refused.argtypes = [ctypes.c_bool]
library.softmetal_testing_set_seed.argtypes = [ctypes.c_uint64]
library.softmetal_testing_fail_call.argtypes = [ctypes.c_uint64]
library.softmetal_testing_calls_made.restype = ctypes.c_uint64
library.softmetal_testing_live_objects.restype = ctypes.c_int64
library.softmetal_testing_set_failure_code.argtypes = [ctypes.c_int64]
library.softmetal_testing_set_macos.argtypes = [ctypes.c_uint32]
library.softmetal_testing_set_compile_log.argtypes = [ctypes.c_char_p]
library.softmetal_testing_set_metallibs.argtypes = [ctypes.c_char_p]
library.softmetal_testing_set_archives_refused.argtypes = [ctypes.c_bool]
library.softmetal_testing_pipelines_compiled.restype = ctypes.c_uint64
library.softmetal_testing_set_device_name.argtypes = [ctypes.c_char_p]

INTERNAL, TIMEOUT, OUT_OF_MEMORY = 1, 2, 8  # MTLCommandBufferError


@contextlib.contextmanager
def failing(call, code=INTERNAL):
    """The call-th fallible Metal call from here fails; a command buffer with this code."""
    library.softmetal_testing_set_failure_code(code)
    library.softmetal_testing_fail_call(call)
    try:
        yield
    finally:
        library.softmetal_testing_fail_call(0)
        library.softmetal_testing_set_failure_code(INTERNAL)


@contextlib.contextmanager
def macos(version):
    """Objects answer to the selectors that this major version of macOS has."""
    library.softmetal_testing_set_macos(version)
    try:
        yield
    finally:
        library.softmetal_testing_set_macos(0)


@contextlib.contextmanager
def compile_log(text):
    """What the compiler says where compiling a library is the call that fails."""
    kept = text.encode()
    library.softmetal_testing_set_compile_log(kept)
    try:
        yield
    finally:
        library.softmetal_testing_set_compile_log(None)


@contextlib.contextmanager
def max_command_buffers(count):
    """Queues made inside hold so many uncompleted command buffers; the next one is waited for."""
    library.softmetal_testing_set_max_command_buffers(count)
    try:
        yield
    finally:
        library.softmetal_testing_set_max_command_buffers(0)


def command_buffer_waits():
    """How often making a command buffer had to wait, in this process."""
    return library.softmetal_testing_command_buffer_waits()


@contextlib.contextmanager
def no_copy_refused():
    """Metal wraps no memory, as it may do with what malloc or a memory map gave."""
    library.softmetal_testing_set_no_copy_refused(True)
    try:
        yield
    finally:
        library.softmetal_testing_set_no_copy_refused(False)


@contextlib.contextmanager
def metallibs(folder):
    """Libraries are looked for in this folder before their text is compiled."""
    kept = str(folder).encode()
    library.softmetal_testing_set_metallibs(kept)
    try:
        yield
    finally:
        library.softmetal_testing_set_metallibs(None)


@contextlib.contextmanager
def archives_refused():
    """Metal makes and loads no binary archive."""
    library.softmetal_testing_set_archives_refused(True)
    try:
        yield
    finally:
        library.softmetal_testing_set_archives_refused(False)


@contextlib.contextmanager
def device_name(name):
    """Devices made inside are called so."""
    kept = name.encode()
    library.softmetal_testing_set_device_name(kept)
    try:
        yield kept
    finally:
        library.softmetal_testing_set_device_name(None)


def pipelines_compiled():
    """Pipelines made that no binary archive held, in this process."""
    return library.softmetal_testing_pipelines_compiled()


def calls_made():
    """Fallible Metal calls since `failing` began."""
    return library.softmetal_testing_calls_made()


def live_objects(expected=None):
    """Objects alive in softmetal; waits a little for `expected`, as workers let go a moment after a result."""
    gc.collect()
    until = time.monotonic() + 5
    while True:
        count = library.softmetal_testing_live_objects()
        if expected is None or count == expected or time.monotonic() > until:
            return count
        time.sleep(0.001)


@contextlib.contextmanager
def limited_device(max_buffer_length):
    """A cpu device that allows buffers of so many bytes."""
    library.softmetal_testing_set_max_buffer_length(max_buffer_length)
    try:
        device = pagedrt.Device("cpu")
    finally:
        library.softmetal_testing_set_max_buffer_length(0)
    with device:
        yield device


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
    order = ["avx512_bf16", "avx512", "avx2", "baseline"]
    with pagedrt.Device("cpu") as device:
        return order[order.index(device.info["instruction_set"]) :]
