"""The libraries that a build for a Mac makes ahead of time, by a stand-in for Xcode's tools that copies its input."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from objc_source import ROOT

BIN = Path(sys.executable).parent
LIBRARIES = {"sdpa_one_pass", "sdpa_partial", "sdpa_reduce", "micro"}
WHEEL = runpy.run_path(str(ROOT / "tools/macos/wheel.py"))
XCRUN = """#!/bin/sh
echo "$@" >>{log}
while [ $# -gt 0 ]; do
  case "$1" in
    -o) out=$2; shift ;;
    *.metal|*.air) in=$1 ;;
  esac
  shift
done
[ "$out" != /dev/null ] || exit {status}
cp "$in" "$out"
"""


def run(command, environment):
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=ROOT).stdout


@pytest.fixture
def configured(macos_build, tmp_path):
    """A function: the build folder and environment where Xcode's compiler ends with a status, and what it was told."""

    def configure(status):
        xcrun, log, folder = tmp_path / "bin/xcrun", tmp_path / "log", tmp_path / "build"
        xcrun.parent.mkdir()
        xcrun.write_text(XCRUN.format(log=log, status=status))
        xcrun.chmod(0o755)
        environment = WHEEL["environment"](macos_build, WHEEL["zig"]())
        environment["PATH"] = f"{xcrun.parent}:{environment['PATH']}"
        cross = f"--cross-file={macos_build / 'macos.ini'}"
        run([BIN / "meson", "setup", folder, cross, "-Dpython=false"], environment)
        return folder, environment, log

    return configure


def installed(folder, environment):
    """{file name: its path once installed} of the metallibs."""
    plan = json.loads(run([BIN / "meson", "introspect", "--installed", folder], environment))
    return {Path(path).stem: Path(path) for path in plan.values() if path.endswith(".metallib")}


def test_every_library_is_compiled_and_installed_beside_libpagedrt(configured):
    folder, environment, log = configured(0)
    assert installed(folder, environment).keys() == LIBRARIES
    assert {path.parent.name for path in installed(folder, environment).values()} == {"lib"}
    log.unlink()
    run([BIN / "ninja", "-C", folder, *(f"shaders/{name}.metallib" for name in LIBRARIES)], environment)
    told = log.read_text().splitlines()
    assert len(told) == 2 * len(LIBRARIES)
    compiles = [words.split() for words in told if words.startswith("-sdk macosx metal ")]
    assert len(compiles) == len(LIBRARIES)
    for words in compiles:  # safe math, as where the text is compiled at run time
        assert {"-std=metal3.1", "-mmacosx-version-min=14.0", "-fno-fast-math", "-c"} <= set(words)
    for name in LIBRARIES:
        assert (folder / f"shaders/{name}.metallib").read_bytes() == (ROOT / f"shaders/{name}.metal").read_bytes()


def test_without_the_compiler_none_is_made(configured):
    """Xcode 26 has the driver, and the compiler is a download of its own."""
    folder, environment, _ = configured(1)
    assert installed(folder, environment) == {}
