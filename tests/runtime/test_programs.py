"""C programs over the installed header and library."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runtime_abi import library_path

HERE = Path(__file__).parent
INCLUDE = HERE.parents[1] / "native" / "include"


def run(folder: Path, name: str) -> str:
    library, program = library_path().resolve(), folder / name
    compiler = os.environ.get("CC", "cc")
    source = HERE / f"{name}.c"
    options = ["-std=gnu11", "-Wall", "-Wextra", "-O1", "-pthread", "-rdynamic", f"-I{INCLUDE}", f"-I{HERE}"]
    link = [str(library), f"-Wl,-rpath,{library.parent}", "-lm"]
    subprocess.run([compiler, *options, str(source), "-o", str(program), *link], check=True)
    done = subprocess.run([str(program)], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="counts through glibc's allocator")
def test_plan_run_makes_no_heap_allocation(tmp_path):
    run(tmp_path, "allocations")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_resident_memory_stays_flat(tmp_path):
    run(tmp_path, "leaks")


def test_threads_share_everything(tmp_path):
    run(tmp_path, "threads")


def test_the_header_is_c99_and_cpp(tmp_path):
    for compiler, flags, suffix in [("cc", ["-std=c99"], "c"), ("c++", ["-std=c++11"], "cpp")]:
        source = tmp_path / f"header.{suffix}"
        source.write_text('#include "pagedrt.h"\nint main(void) { return PAGEDRT_OK; }\n')
        subprocess.run(
            [
                compiler,
                *flags,
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-fsyntax-only",
                f"-I{INCLUDE}",
                str(source),
            ],
            check=True,
        )
