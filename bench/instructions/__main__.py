"""Instructions that fixed cells take, counted by callgrind: what counts.json holds and CI guards.

usage: python -P bench/instructions [--write]. Without --write it compares, and fails where a count grew.
Counts are of pagedrt_plan_run on one thread with AVX2 kernels, and hold for one compiler.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cells import CELLS, INSTRUCTION_SET

HERE = Path(__file__).parent
COUNTS = HERE / "counts.json"
GROWTH = 0.05


def compiler():
    """What the kernels are built with: counts are this compiler's."""
    command = os.environ.get("CXX", "g++")
    return subprocess.run([command, "-dumpfullversion"], check=True, capture_output=True, text=True).stdout.strip()


def count():
    """{cell: instructions}"""
    if shutil.which("valgrind") is None:
        sys.exit("instructions: no valgrind here; install the package valgrind")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "counting.so"
        build = [os.environ.get("CC", "cc"), "-O1", "-fPIC", "-shared", str(HERE / "counting.c"), "-o", str(library)]
        subprocess.run(build, check=True)
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--toggle-collect=pagedrt_plan_run"]
        valgrind.append(f"--callgrind-out-file={folder}/out")
        program = [sys.executable, "-P", str(HERE / "cells.py"), str(library)]
        done = subprocess.run([*valgrind, *program], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"instructions: the cells failed under valgrind: {done.stderr.strip()}")
        return read(Path(folder))


def read(folder):
    """{cell: instructions} of the parts that callgrind wrote."""
    runs = {cell.name: [] for cell in CELLS}
    for part in folder.glob("out.*"):
        text = part.read_text()
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
        if name:
            runs[name.group(1)].append(int(re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE).group(1)))
    return {name: max(counts) for name, counts in runs.items()}  # a run that a worker took counts next to nothing


def grown(before, now):
    """Lines that name each cell whose count grew too far, or that one file lacks."""
    lines = [f"{name}: not in counts.json" for name in now if name not in before]
    for name, instructions in before.items():
        if name not in now:
            lines.append(f"{name}: no longer counted")
        elif now[name] > instructions * (1 + GROWTH):
            lines.append(f"{name}: {now[name]:,} instructions, {now[name] / instructions - 1:+.1%} of {instructions:,}")
    return lines


def main():
    parser = argparse.ArgumentParser(prog="instructions", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write counts.json anew")
    options = parser.parse_args()
    now = count()
    before = json.loads(COUNTS.read_text()) if COUNTS.exists() else {"cells": {}}
    for name, instructions in now.items():
        former = before["cells"].get(name)
        change = f"{instructions / former - 1:+.2%}" if former else "new"
        print(f"{name:<28} {instructions:>12,} {change:>8}")
    if options.write:
        record = {"schema": 1, "compiler": f"g++ {compiler()}", "instruction_set": INSTRUCTION_SET, "cells": now}
        COUNTS.write_text(json.dumps(record, indent=2) + "\n")
        return 0
    lines = grown(before["cells"], now)
    for line in lines:
        print(f"instructions: {line}", file=sys.stderr)
    if lines and before.get("compiler") != f"g++ {compiler()}":
        print(f"instructions: counted with {before.get('compiler')}, this is g++ {compiler()}", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
