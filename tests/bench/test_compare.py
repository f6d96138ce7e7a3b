"""The comparison's parts that decide what a figure means, and one cell of it whole."""

import json
import subprocess
import sys
from pathlib import Path

from helpers import child

COMPARE = Path(__file__).parents[2] / "bench/compare"


def run(code):
    """In a process of its own, as its modules have plain names."""
    return child.run(f"import sys\nsys.path.insert(0, {str(COMPARE)!r})\n" + code)


def compare(*arguments):
    return subprocess.run([sys.executable, "-P", COMPARE, *arguments], capture_output=True, text=True, timeout=300)


def test_gate():
    """Of 0.5 s in which the cores were busy for 0.6 s, 0.5 s were this process's, then 0.3 s."""
    code = """
import quiet
text = "cpu  100 0 0 500 0 0 0 0 0 0\\ncpu0 1"
assert quiet.busy_seconds(text) == 100 / quiet.TICK
assert quiet.busy_seconds("cpu  10 20 30 999 999 4 5 6 0 0") == 75 / quiet.TICK
for own, kept in ((0.55, True), (0.3, False)):
    gate = quiet.Gate()
    clock = iter((0.0, 0.5))
    used = iter((1.0, 1.0 + own))
    busy = iter((7.0, 7.6))
    quiet.time.perf_counter = lambda: next(clock)
    quiet.own_seconds = lambda: next(used)
    quiet.busy_seconds = lambda text: next(busy)
    quiet.STAT = type("File", (), {"read_text": staticmethod(lambda: ""), "exists": staticmethod(lambda: True)})
    gate.start()
    assert gate.stop() is kept
    assert (gate.kept, gate.discarded) == (kept, not kept)
print(gate.summary())
"""
    assert run(code) == ("1 of 1 samples discarded: other processes used more than 0.16 of a core (mean 0.60)\n")


def test_ratios_and_limit():
    code = """
import report
def times(**seconds):
    return {name: {"seconds": value} for name, value in seconds.items()}
record = {"modes": {"warm": times(pagedrt=2.0, peer=3.0, ceiling=1.0)}, "multiplications": 8,
          "multiplications_per_second": 5.0}
print(report.ratio(record, "warm", "peer"), report.ratio(record, "cold", "peer"), report.geometric_mean([2, 8]))
print(report.share_of_roof(record, "warm"), report.share_of_roof(record | {"multiplications": 1}, "warm"))
print(report.peers_of([record]))
"""
    assert run(code).splitlines() == ["1.5 None 4.0", "(0.8, 'multiply') (0.5, 'read')", "['peer']"]


def test_a_wrong_peer_is_not_timed():
    code = """
import types, numpy as np, pagedrt, measure
from cells import Cell
from peers import numpy_gather, pagedrt_plan
from problem import Problem
def prepare(problem, threads):
    run = numpy_gather.prepare(problem, threads)
    return lambda cache: run(cache) * np.float32(1.01)
def missing(problem, threads):
    raise ImportError("no module")
wrong = types.SimpleNamespace(NAME="wrong", DTYPES=("float32",), PAGED=True, prepare=prepare)
absent = types.SimpleNamespace(NAME="absent", DTYPES=("float32",), PAGED=True, prepare=missing)
halves = types.SimpleNamespace(NAME="halves", DTYPES=("float16",), PAGED=True, prepare=prepare)
with pagedrt.Device("cpu") as device:
    problem = Problem(Cell(8, 2, 64, 128, "float32"), 2, device)
    runs, left_out = measure.prepare([pagedrt_plan, numpy_gather, wrong, absent, halves], problem, 1)
print(list(runs))
print({name: why.split(":")[1 if name == "wrong" else 0].strip() for name, why in left_out.items()})
"""
    kept, left_out = run(code).splitlines()
    assert kept == "['pagedrt', 'NumPy']"
    assert left_out == "{'wrong': 'WRONG', 'absent': 'not installed (no module)', 'halves': 'no float32'}"


def test_one_cell_and_its_resumption(tmp_path):
    """Whatever else this machine does: --allow lets every sample through."""
    options = ["--only", "16/2/64", " 128 float32", "--peers", "numpy_gather", "--chunks", "1", "--allow", "999"]
    first = compare(*options, "--out", str(tmp_path))
    assert first.returncode == 0, first.stderr
    assert "[1/1] 16/2/64 128 float32" in first.stdout
    (line,) = (tmp_path / "cells.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert (record["schema"], record["quiet"], record["discarded"]) == (1, True, 0)
    assert record["peers"] == ["pagedrt", "NumPy"]
    for mode in ("warm", "cold"):
        assert set(record["modes"][mode]) == {"pagedrt", "NumPy", "ceiling"}
        assert all(times["least"] > 0 for times in record["modes"][mode].values())
    again = compare(*options, "--out", str(tmp_path))
    assert "[1/1]" not in again.stdout
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 1
    assert "| NumPy |" in (tmp_path / "table.md").read_text()


def test_bad_options(tmp_path):
    for options, message in (
        (["--peers", "tensorflow"], "--peers: tensorflow: no such peer"),
        (["--only", "7/7/7"], "--only: no cell's name holds all of"),
        (["--chunks", "0"], "must be positive"),
        (["--report", "--out", str(tmp_path)], "holds none of these cells"),
    ):
        done = compare(*options)
        assert done.returncode != 0
        assert message in done.stderr
        assert "Traceback" not in done.stderr
