"""No kernel may take over 5 % more instructions than bench/instructions/counts.json says, unless that is rewritten."""

import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "bench/instructions"
RECORD = json.loads((FOLDER / "counts.json").read_text())
GCC = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()


def compare(folder):
    return subprocess.run([sys.executable, "-P", folder], capture_output=True, text=True, timeout=300)


def test_ten_cells():
    assert len(RECORD["cells"]) == 10
    assert RECORD["schema"] == 1


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the counts are of AVX2 kernels")
@pytest.mark.skipif(RECORD["compiler"] != f"g++ {GCC}", reason=f"counted with {RECORD['compiler']}, this is g++ {GCC}")
def test_counts_have_not_grown(tmp_path):
    """One count is set to what cannot be, to show that the guard can fail."""
    copy = tmp_path / "instructions"
    shutil.copytree(FOLDER, copy)
    name = next(iter(RECORD["cells"]))
    stricter = RECORD | {"cells": RECORD["cells"] | {name: 1}}
    (copy / "counts.json").write_text(json.dumps(stricter))
    done = compare(copy)
    lines = done.stderr.splitlines()
    assert [line for line in lines if name not in line] == [], "if that is meant: make instructions"
    assert len(lines) == 1
    assert done.returncode == 1
