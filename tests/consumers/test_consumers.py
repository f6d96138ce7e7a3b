"""A C program and a Cython module, built against the installed header and library, give what the oracle gives."""

import os
import pickle
import struct
import subprocess

import compiler
import numpy as np
import pytest

from helpers import cells, child, oracle
from helpers.cells import Cell

DTYPES = {"float32": 0, "float16": 1, "bfloat16": 2}
CELLS = {
    "one_pass": (Cell("float32", 80, 2, 3, 77, 16), 0),
    "one_pass_16_bit": (Cell("bfloat16", 64, 1, 8, 33, 8, dependency=20), 0),
    "two_pass": (Cell("float16", 128, 2, 4, 1100, 16, repeated=True), 5),
}
WITHOUT_PACKAGE = """
import pickle, sys
sys.path.insert(0, ".")
import consumer
assert "pagedrt" not in sys.modules
attention = consumer.Attention()
with open("problems", "rb") as file:
    problems = pickle.load(file)
for arrays, options in problems.values():
    attention.run(*arrays, **options)
with open("results", "wb") as file:
    pickle.dump({name: arrays[-1] for name, (arrays, _) in problems.items()}, file)
arrays, options = problems["one_pass"]
arrays[4][0] = options["context_tokens"] + 1
try:
    attention.run(*arrays, **options)
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return compiler.build_program(tmp_path_factory.mktemp("program"))


def write_problem(path, cell, inputs, blocks):
    head = struct.pack(
        "9If",
        *(inputs.queries.shape[1], cell.kv_heads, cell.head_dim, cell.page_size, DTYPES[cell.dtype]),
        *(inputs.key_pages.shape[1], inputs.page_table.size, cell.context_tokens, blocks, inputs.scale),
    )
    path.write_bytes(head + b"".join(array.tobytes() for array in inputs.arrays))


def run_program(program, problem, result):
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    command = [program, problem, result]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)


@pytest.mark.parametrize("name", CELLS)
def test_c_program(name, program, tmp_path):
    cell, blocks = CELLS[name]
    inputs = cells.make(cell)
    write_problem(tmp_path / "problem", cell, inputs, blocks)
    done = run_program(program, tmp_path / "problem", tmp_path / "result")
    assert (done.returncode, done.stderr) == (0, "")
    call, planned = np.fromfile(tmp_path / "result", inputs.queries.dtype).reshape(2, *inputs.queries.shape)
    oracle.check(call, cells.expected(cell, inputs), name)
    assert call.tobytes() == planned.tobytes()


def test_c_program_is_told_what_is_wrong(program, tmp_path):
    cell, blocks = CELLS["one_pass"]
    inputs = cells.make(cell)
    inputs.page_table[1] = 4321
    write_problem(tmp_path / "problem", cell, inputs, blocks)
    done = run_program(program, tmp_path / "problem", tmp_path / "result")
    assert done.returncode == 1
    assert "page_table[1]" in done.stderr
    assert "4321" in done.stderr


def test_cython_module(tmp_path):
    """In a process that never imports the package."""
    compiler.build_module(tmp_path)
    made = {name: cells.make(cell) for name, (cell, _) in CELLS.items()}
    problems = {}
    for name, (cell, blocks) in CELLS.items():
        options = {"dtype": DTYPES[cell.dtype], "context_tokens": cell.context_tokens, "scale": made[name].scale}
        arrays = (*made[name].arrays, np.zeros_like(made[name].queries))
        problems[name] = arrays, options | {"blocks": blocks}
    (tmp_path / "problems").write_bytes(pickle.dumps(problems))
    printed = child.run(WITHOUT_PACKAGE, cwd=tmp_path)
    results = pickle.loads((tmp_path / "results").read_bytes())
    for name, (cell, _) in CELLS.items():
        oracle.check(results[name], cells.expected(cell, made[name]), name)
    assert "dependency" in printed
    assert "78" in printed
