"""The suite of call costs runs, each figure beside its C twin. No figure is judged."""

import os
import subprocess
import sys
from pathlib import Path

CALLS = Path(__file__).parents[2] / "bench/calls"
WITH_TWIN = ("empty call", "argument checks", "plan.run", "32 layers, one synchronize", "idle synchronize")


def test_every_figure_and_its_twin(tmp_path):
    inherit = ["--inherit-environ", "PAGEDRT_BENCH_BUILD,PYTHONPATH"]
    command = [sys.executable, "-P", CALLS, "--debug-single-value", *inherit]
    environment = os.environ | {"PAGEDRT_BENCH_BUILD": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    for name in WITH_TWIN:
        assert f"\n{name}: " in f"\n{done.stdout}"
        assert f"\n{name}, C: " in done.stdout
        assert f"Python adds to {name}: " in done.stdout
    for name in ("one-shot", "one-shot, out made", "one-shot, foreign arrays"):
        assert f"\n{name}: " in done.stdout
