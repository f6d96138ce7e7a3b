"""The read of a problem's K/V pages and nothing else, in the form of a peer."""

import ctypes
import subprocess
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@cache
def library(threads):
    made = HERE.parent / "build" / "bench"
    made.mkdir(parents=True, exist_ok=True)
    target = made / "ceiling.so"
    subprocess.run(["gcc", "-O3", "-shared", "-fPIC", "-pthread", HERE / "ceiling.c", "-o", target], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.ceiling_read.argtypes = [*[ctypes.c_void_p] * 3, *[ctypes.c_uint64] * 4, ctypes.c_int]
    loaded.ceiling_read.restype = ctypes.c_float
    loaded.ceiling_start(threads)
    return loaded


class Ceiling:
    name = "ceiling: the read alone"

    def __init__(self, problem, ours):
        """ours: pagedrt's peer, whose very pages are read."""
        _, keys, values, table, _ = self.arrays = ours.arrays
        self.read = library(problem.threads).ceiling_read
        kv_heads, capacity, page_size, head_dim = keys.shape
        page_bytes = page_size * head_dim * keys.itemsize
        addresses = [array.ctypes.data for array in (keys, values, table)]
        self.arguments = (*addresses, kv_heads, capacity, len(table), page_bytes, problem.threads)

    def run(self):
        self.read(*self.arguments)
