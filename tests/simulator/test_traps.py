"""Every rule that the simulator enforces while a kernel runs: a wrong kernel is caught, its right twin is not."""

import os
import pathlib
import subprocess


def test_every_trap_fires_and_its_twin_does_not():
    build = os.environ.get("PAGEDRT_BUILD")
    assert build, "PAGEDRT_BUILD: not set, expected the build folder"
    program = pathlib.Path(build) / "tests" / "simulator" / "simulator_traps"
    assert program.is_file(), f"{program} is not built: configure with the meson option tests=true"
    done = subprocess.run([program], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("ok kernel ") == 16, done.stdout
