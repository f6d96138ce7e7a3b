"""Runs softmetal's test programs; they are built with the meson option `tests`."""

import os
import pathlib
import subprocess

import pytest

NOUNS = [
    "allocation",
    "archive",
    "buffer",
    "command_buffer",
    "device",
    "encoder",
    "event",
    "execution",
    "failures",
    "fork",
    "foundation",
    "leaks",
    "library",
    "queue",
    "threads",
]


@pytest.fixture(scope="session")
def programs():
    directory = os.environ.get("PAGEDRT_TEST_PROGRAMS")
    assert directory, "PAGEDRT_TEST_PROGRAMS: not set, expected the folder of the built test programs"
    return pathlib.Path(directory)


@pytest.mark.parametrize("noun", NOUNS)
def test_program(programs, noun):
    program = programs / f"softmetal_{noun}"
    assert program.is_file(), f"{program} is not built: configure with the meson option tests=true"
    done = subprocess.run([program], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{program} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    assert "ok " in done.stdout, f"{program} checked nothing"


def test_every_program_is_run():
    here = pathlib.Path(__file__).parent
    assert sorted(path.stem for path in here.glob("*.m") if path.stem != "support") == NOUNS
