"""The cells whose instructions are counted, and one process that runs them under callgrind.

usage: valgrind --tool=callgrind ... python cells.py COUNTING_LIBRARY
"""

import ctypes
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pagedrt
from pagedrt import heuristics

INSTRUCTION_SET = "avx2"  # the best that valgrind knows
PAGE_SIZE = 16
CORES = 2  # the split of a machine of so many, wherever it runs
RUNS = 7  # the caller does its work itself, but for a run now and then that a worker takes


class Cell(NamedTuple):
    query_heads: int
    kv_heads: int
    head_dim: int
    tokens: int
    dtype: str

    @property
    def name(self):
        return f"{self.query_heads}/{self.kv_heads}/{self.head_dim} {self.tokens} {self.dtype}"


CELLS = (
    Cell(8, 1, 64, 1, "float32"),  # the call alone
    Cell(32, 8, 128, 128, "float32"),
    Cell(32, 8, 128, 1024, "float32"),
    Cell(32, 8, 128, 1024, "float16"),
    Cell(32, 8, 128, 1024, "bfloat16"),
    Cell(32, 32, 128, 128, "float16"),
    Cell(16, 2, 64, 8192, "float32"),
    Cell(16, 2, 64, 1024, "bfloat16"),
    Cell(8, 1, 256, 1024, "float16"),
    Cell(9, 3, 80, 500, "float32"),  # a head_dim without an instance of its own
)


def run(device, cell, counting):
    """plan.run, each run counted by itself, after one that builds what is built once."""
    random = np.random.default_rng(0)
    pages = -(-cell.tokens // PAGE_SIZE)
    queries = device.empty((1, cell.query_heads, 1, cell.head_dim), cell.dtype)
    queries[...] = random.standard_normal(queries.shape, np.float32)
    cache = [device.empty((cell.kv_heads, pages, PAGE_SIZE, cell.head_dim), cell.dtype) for _ in range(2)]
    for pool in cache:
        pool[...] = random.standard_normal(pool.shape, np.float32)
    table = device.asarray(random.permutation(pages).astype(np.uint32), copy=True)
    dependency = device.asarray(np.array([cell.tokens], np.uint32), copy=True)
    out = device.empty(queries.shape, queries.dtype)
    group_factor = cell.query_heads // cell.kv_heads
    shape = (device.family, cell.dtype, cell.head_dim, group_factor, cell.kv_heads)
    plan = pagedrt.PagedAttention(
        device,
        query_heads=cell.query_heads,
        kv_heads=cell.kv_heads,
        head_dim=cell.head_dim,
        page_size=PAGE_SIZE,
        max_context_tokens=cell.tokens,
        scale=cell.head_dim**-0.5,
        dtype=cell.dtype,
        splits=heuristics.splits(*shape, cell.tokens, CORES),
    )
    arguments = (queries, *cache, table, dependency, cell.tokens, out)
    plan.run(*arguments)
    for _ in range(RUNS):
        counting.counting_start()
        plan.run(*arguments)
        counting.counting_stop(cell.name.encode())


def main():
    counting = ctypes.CDLL(sys.argv[1])
    library = ctypes.CDLL(str(Path(pagedrt.get_library_dir()) / "libpagedrt.so"))
    library.softmetal_testing_set_instruction_set(INSTRUCTION_SET.encode())
    with pagedrt.Device("cpu", threads=1, tuning=False) as device:
        for cell in CELLS:
            run(device, cell, counting)


if __name__ == "__main__":
    main()
