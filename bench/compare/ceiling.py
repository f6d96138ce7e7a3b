"""The limits that cells are measured against: reading the very same pages, and multiply-adds, in this process."""

import ctypes
import os
import subprocess
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("ceiling.c")
MOST_RUNS = 100_000
FMA_ROUNDS = 100_000


class Pages(ctypes.Structure):
    _fields_ = [
        ("pools", ctypes.c_void_p * 2),
        ("table", ctypes.c_void_p),
        *((name, ctypes.c_size_t) for name in ("heads", "capacity", "page_bytes", "length")),
    ]


class Ceiling:
    def __init__(self, folder, threads):
        module = Path(folder) / "ceiling.so"
        command = [os.environ.get("CC", "cc"), "-O3", "-fPIC", "-shared", "-pthread", str(SOURCE), "-o", str(module)]
        subprocess.run(command, check=True)
        self.reader = ctypes.CDLL(str(module))
        self.reader.ceiling_read.restype = self.reader.ceiling_multiply.restype = ctypes.c_size_t
        self.reader.ceiling_multiplications.restype = ctypes.c_uint64
        self.reader.ceiling_multiplications.argtypes = [ctypes.c_uint64]
        self.reader.ceiling_instruction_set.restype = ctypes.c_char_p
        self.instruction_set = self.reader.ceiling_instruction_set().decode()
        self.threads = threads
        self.times = (ctypes.c_uint64 * MOST_RUNS)()

    def read_seconds(self, problem, caches, seconds):
        """A list of times of one read of one cache, caches 0 to `caches` in turn."""
        pages = (Pages * caches)()
        for each, (keys, values) in zip(pages, problem.caches, strict=False):
            each.pools[:] = [keys.ctypes.data, values.ctypes.data]
            each.table = problem.table.ctypes.data
            each.heads, each.capacity = keys.shape[:2]
            each.page_bytes = keys[0, 0].nbytes
            each.length = problem.table.size
        count, most = ctypes.c_size_t(caches), ctypes.c_size_t(MOST_RUNS)
        runs = self.reader.ceiling_read(pages, count, self.threads, ctypes.c_double(seconds), self.times, most)
        return self.taken(runs)

    def multiplications_per_second(self, seconds):
        """All threads together; the median of runs."""
        runs = self.reader.ceiling_multiply(
            ctypes.c_uint64(FMA_ROUNDS), self.threads, ctypes.c_double(seconds), self.times, ctypes.c_size_t(MOST_RUNS)
        )
        one = self.reader.ceiling_multiplications(FMA_ROUNDS)
        return one * self.threads / float(np.median(self.taken(runs)))

    def taken(self, runs):
        if runs == 0:
            raise RuntimeError(f"ceiling: could not start {self.threads} threads")
        return [nanoseconds * 1e-9 for nanoseconds in self.times[:runs]]
