"""Runs matrix cells through tests/consumers/decode.c, cross-built for arm64, under qemu-user.

usage: check_arm64.py PROGRAM LIBRARY_DIR [CELLS]   (run with the .venv's python; see tools/aarch64-linux.ini)
"""

import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "consumers")]

import numpy as np  # noqa: E402
import test_consumers  # noqa: E402
from matrix import axes  # noqa: E402

from helpers import cells, oracle  # noqa: E402
from pagedrt import heuristics  # noqa: E402


def main(program, library_dir, count=300):
    qemu = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-E", f"LD_LIBRARY_PATH={library_dir}"]
    two_pass = 0
    with tempfile.TemporaryDirectory() as folder:
        problem, result = pathlib.Path(folder, "problem"), pathlib.Path(folder, "result")
        for number, (_, cell) in enumerate(axes.cells(int(count)), start=1):
            inputs = cells.make(cell)
            choice = heuristics.baseline("cpu", cell.head_dim, cell.group_factor, cell.kv_heads, cell.context_tokens)
            blocks = choice.blocks
            two_pass += blocks > 0
            test_consumers.write_problem(problem, cell, inputs, blocks)
            subprocess.run([*qemu, program, problem, result], check=True)
            outs = np.fromfile(result, inputs.queries.dtype).reshape(2, *inputs.queries.shape)
            oracle.check(outs[0], cells.expected(cell, inputs), str(cell))
            assert outs[0].tobytes() == outs[1].tobytes(), cell
            print(f"\r{number} cells, {two_pass} in two passes", end="", flush=True)
    print(": all right on arm64")


if __name__ == "__main__":
    main(*sys.argv[1:])
