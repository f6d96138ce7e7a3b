"""What -inf and NaN come to where a compiler assumes what Metal's fast math does. The kernels are never built so for
use; that their special values survive it all the same is what docs/numerics.md says, and this checks.

g++ compiles the cpu family's kernels, clang, from which Metal's compiler derives, those of SIMD width 32.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest
from swapped_kernels import HERE, ROOT, clang, swap

from helpers import oracle

# Metal's mathMode: Relaxed keeps infinities and NaN, Fast does not. Neither has signed zeros; both reorder sums.
MODES = {"relaxed": ["-ffast-math", "-fno-finite-math-only"], "fast": ["-ffast-math"]}
GCC, CLANG = "baseline", "simulator"  # the level whose kernels each makes


def judged(folder, level, mode, dtypes, **changes):
    """What fast_math_cells.py finds with kernels compiled in a mode."""
    finite = [] if changes else ["-Werror=nan-infinity-disabled"]  # no infinite constant in the text
    compiler = ["g++"] if level == GCC else [*clang(), "-O2", *finite]
    swap(folder, level, compiler, MODES[mode], **changes)
    path = os.pathsep.join([str(folder), str(ROOT / "tests")])
    done = subprocess.run(
        [sys.executable, "-P", str(HERE / "fast_math_cells.py"), level, *dtypes],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("level", [GCC, CLANG], ids=["g++", "clang"])
def test_special_values_survive_and_others_keep_their_bound(tmp_path, level, mode):
    dtypes = ["float32"] if (level, mode) == (CLANG, "relaxed") else oracle.DTYPES
    found = judged(tmp_path, level, mode, dtypes)
    assert found["cells"] >= 4 * 15 * len(dtypes)
    assert found["wrong"] == {}
    if level == GCC:  # sums are no longer compensated: one reason never to compile so
        assert found["drift"] > 10


def changed(folder, library, old, new):
    """One shader library to swap, in which one line of state.h reads another way."""
    shutil.copytree(ROOT / "shaders", folder)
    text = (folder / "state.h").read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times, expected once"
    (folder / "state.h").write_text(text.replace(old, new))
    return {"shaders": folder, "libraries": (library,)}


BROKEN = {
    "an infinite start": (
        *(CLANG, "sdpa_partial", "plain, 1030"),
        *("NOTHING_SEEN -3.4028233e38f", "NOTHING_SEEN -__builtin_inff()"),
    ),
    "a sum compared as a float": (
        *(GCC, "sdpa_reduce", "NaN key, 1100"),
        *("as_type<uint>(sum) == 0u", "sum == 0.0f"),
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_survives_by_these_lines_alone(tmp_path, case):
    level, library, cell, old, new = BROKEN[case]
    changes = changed(tmp_path / "shaders", library, old, new)
    found = judged(tmp_path / "made", level, "fast", ["float32"], **changes)
    assert any(name.startswith(cell) for name in found["wrong"]), sorted(found["wrong"])
