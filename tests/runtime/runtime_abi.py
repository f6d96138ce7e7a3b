"""pagedrt.h and pagedrt_micro.h through ctypes: the tests here see what a C program sees."""

import ctypes
import importlib.util
import os
from ctypes import (
    POINTER,
    Structure,
    byref,
    c_bool,
    c_char,
    c_char_p,
    c_float,
    c_int,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path

OK, INVALID_INPUT, DEVICE_ERROR, OUT_OF_MEMORY = range(4)
FLOAT32, FLOAT16, BFLOAT16 = range(3)


def library_path() -> Path:
    """PAGEDRT_LIBRARY, else the library installed beside the package."""
    named = os.environ.get("PAGEDRT_LIBRARY")
    if named:
        return Path(named)
    spec = importlib.util.find_spec("pagedrt")
    for folder in spec.submodule_search_locations if spec else ():
        for library in Path(folder).glob("libpagedrt.*"):
            return library
    raise RuntimeError("libpagedrt is not built: run `make setup`, or name it in PAGEDRT_LIBRARY")


class Info(Structure):
    _fields_ = [
        ("family", c_char * 16),
        ("name", c_char * 64),
        ("instruction_set", c_char * 16),
        ("simd_width", c_uint32),
        ("max_threads", c_uint32),
        ("worker_threads", c_uint32),
        ("max_buffer_length", c_uint64),
        ("working_set", c_uint64),
        ("memory_page", c_uint64),
    ]


class Stats(Structure):
    _fields_ = [
        (name, c_uint64)
        for name in (
            "one_pass",
            "two_pass",
            "dispatches",
            "command_buffers",
            "waits",
            "copies",
            "copied_bytes",
            "pipelines_built",
            "scratch_prepares",
            "gpu_nanoseconds",
            "libraries_loaded",
            "libraries_compiled",
            "archive_hits",
            "archive_added",
            "archive_refused",
            "archive_unsaved",
        )
    ]


class DeviceOptions(Structure):
    _fields_ = [("family", c_char_p), ("threads", c_uint32), ("pipeline_archive", c_char_p)]


class Geometry(Structure):
    _fields_ = [
        ("query_heads", c_uint32),
        ("kv_heads", c_uint32),
        ("head_dim", c_uint32),
        ("page_size", c_uint32),
        ("dtype", c_int),
        ("scale", c_float),
    ]


class Call(Structure):
    _fields_ = [
        ("queries", c_void_p),
        ("key_pages", c_void_p),
        ("value_pages", c_void_p),
        ("page_table", c_void_p),
        ("dependency", c_void_p),
        ("out", c_void_p),
        ("page_capacity", c_uint32),
        ("page_table_length", c_uint32),
        ("context_tokens", c_uint32),
    ]


class Layout(Structure):
    _fields_ = [("blocks", c_uint32), ("heads", c_uint32), ("simdgroups", c_uint32)]


class Split(Structure):
    _fields_ = [("context_tokens", c_uint32), ("layout", Layout)]

    def __init__(self, context_tokens, *layout):
        super().__init__(context_tokens, Layout(*layout))


class Spec(Structure):
    _fields_ = [
        ("query_heads", c_uint32),
        ("kv_heads", c_uint32),
        ("blocks", c_uint32),
        ("head_dim", c_uint32),
        ("page_size", c_uint32),
        ("scale_bits", c_uint32),
        ("dtype", c_int),
        ("heads", c_uint32),
        ("simdgroups", c_uint32),
    ]


class Slice(Structure):
    _fields_ = [("buffer", c_void_p), ("offset", c_size_t)]


class OutputSpec(Structure):
    _fields_ = [("shape", c_uint32 * 4), ("dtype", c_int)]


class MicroLaunch(Structure):
    _fields_ = [
        ("threadgroups", c_uint32),
        ("simdgroups", c_uint32),
        ("rounds", c_uint32),
        ("dispatches", c_uint32),
        ("command_buffers", c_uint32),
        ("memory", c_void_p),
        ("page_table", c_void_p),
        ("out", c_void_p),
        ("page_capacity", c_uint32),
        ("pages", c_uint32),
        ("out_length", c_uint32),
        ("page_bytes", c_uint32),
    ]


HANDLE = c_void_p
SIGNATURES = {
    "last_error": (c_char_p,),
    "version": (c_char_p,),
    "families": (POINTER(c_char_p),),
    "device_create": (c_int, c_char_p, c_uint32, POINTER(HANDLE)),
    "device_open": (c_int, POINTER(DeviceOptions), POINTER(HANDLE)),
    "device_close": (c_int, HANDLE),
    "device_destroy": (None, HANDLE),
    "device_get_info": (c_int, HANDLE, POINTER(Info)),
    "device_get_stats": (c_int, HANDLE, POINTER(Stats)),
    "device_library": (c_int, HANDLE, c_char_p, POINTER(HANDLE)),
    "device_count_copy": (None, HANDLE, c_size_t),
    "device_owns": (c_bool, HANDLE, c_void_p, c_size_t, c_bool),
    "buffer_create": (c_int, HANDLE, c_size_t, POINTER(HANDLE)),
    "buffer_wrap": (c_int, HANDLE, c_void_p, c_size_t, c_bool, POINTER(HANDLE)),
    "buffer_contents": (c_void_p, HANDLE),
    "buffer_length": (c_size_t, HANDLE),
    "buffer_destroy": (None, HANDLE),
    "stream_create": (c_int, HANDLE, POINTER(HANDLE)),
    "stream_synchronize": (c_int, HANDLE),
    "stream_drain": (c_int, HANDLE),
    "stream_close": (c_int, HANDLE),
    "stream_destroy": (None, HANDLE),
    "paged_attention": (c_int, HANDLE, POINTER(Geometry), POINTER(Layout), POINTER(Call), HANDLE, HANDLE),
    "plan_create": (c_int, HANDLE, POINTER(Geometry), POINTER(Split), c_uint32, POINTER(HANDLE)),
    "plan_run": (c_int, HANDLE, POINTER(Call), HANDLE),
    "plan_close": (c_int, HANDLE),
    "plan_destroy": (None, HANDLE),
    "scratch_create": (c_int, HANDLE, POINTER(HANDLE)),
    "scratch_destroy": (None, HANDLE),
    "scratch_lock": (c_int, HANDLE),
    "scratch_unlock": (c_int, HANDLE),
    "scratch_prepare": (c_int, HANDLE, POINTER(Spec), HANDLE, HANDLE, c_char_p),
    "scratch_partial": (c_int, HANDLE, Slice, POINTER(c_void_p), POINTER(Slice)),
    "scratch_reduce": (c_int, HANDLE, POINTER(c_void_p), POINTER(OutputSpec)),
    "scratch_update": (c_int, HANDLE, POINTER(Slice), Slice),
    "micro_run": (c_int, HANDLE, c_char_p, POINTER(MicroLaunch)),
    "micro_most_simdgroups": (c_int, HANDLE, c_char_p, POINTER(c_uint32)),
    "partial_function": (c_int, c_uint32, c_int, POINTER(c_char_p)),
}


class Library:
    """The C functions under their names less "pagedrt_"."""

    def __init__(self, path: Path):
        self.shared = ctypes.CDLL(str(path))
        for name, (result, *arguments) in SIGNATURES.items():
            function = getattr(self.shared, f"pagedrt_{name}")
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def error(self) -> str:
        return self.last_error().decode()

    def check(self, status: int) -> None:
        assert status == OK, f"status {status}: {self.error()}"

    def make(self, kind: str, *arguments) -> HANDLE:
        """A handle from pagedrt_<kind>."""
        handle = HANDLE()
        self.check(getattr(self, kind)(*arguments, byref(handle)))
        return handle

    def stats(self, device: HANDLE) -> Stats:
        stats = Stats()
        self.check(self.device_get_stats(device, byref(stats)))
        return stats

    def info(self, device: HANDLE) -> Info:
        info = Info()
        self.check(self.device_get_info(device, byref(info)))
        return info


pagedrt = Library(library_path())
