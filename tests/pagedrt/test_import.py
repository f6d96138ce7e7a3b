"""What importing the package does and does not do, in an interpreter of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pagedrt

NAMES = {
    "Device",
    "DeviceError",
    "Error",
    "InvalidInputError",
    "OutOfMemoryError",
    "PagedAttention",
    "PagedAttentionScratch",
    "Stream",
    "devices",
    "get_include",
    "get_library_dir",
    "heuristics",
    "paged_attention",
    "to_dlpack",
}


def run(code):
    return subprocess.run(
        [sys.executable, "-P", "-c", code], check=True, capture_output=True, text=True, timeout=60
    ).stdout.split()


def test_names():
    assert set(pagedrt.__all__) == NAMES
    assert all(hasattr(pagedrt, name) for name in NAMES)
    assert pagedrt.__version__.count(".") == 2


def test_the_folder_of_sources_says_what_it_is(tmp_path):
    """Who starts Python in the checkout after make setup finds it before the installed package."""
    sources = tmp_path / "pagedrt"
    sources.mkdir()
    for path in Path(pagedrt.__file__).parent.glob("*.py"):
        shutil.copy(path, sources)
    done = subprocess.run(
        [sys.executable, "-m", "pagedrt", "info"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert f"{sources} holds its sources" in done.stderr
    assert "python -P" in done.stderr


def test_a_library_that_cannot_be_loaded_is_named(tmp_path):
    """As where GCC's Objective-C runtime is missing."""
    package = shutil.copytree(Path(pagedrt.__file__).parent, tmp_path / "pagedrt")
    for library in package.glob("libpagedrt.*"):
        library.unlink()
    done = subprocess.run([sys.executable, "-m", "pagedrt"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "libpagedrt" in done.stderr


def test_import_is_light():
    """No module is imported that only some calls need, and no device is opened."""
    loaded = run("import pagedrt, sys; print(*sys.modules)")
    assert not {"ml_dtypes", "pagedrt.selftest", "pagedrt.info", "ctypes.util", "argparse"} & set(loaded)


def test_every_compiled_module_is_one_file():
    files = run(
        "import os, pagedrt, sys; print(*{os.path.basename(m.__file__) for n, m in sys.modules.items()"
        " if n.startswith('pagedrt.') and not m.__file__.endswith('.py')})"
    )
    assert len(files) == 1
    assert files[0].startswith("_native.")


def test_compiled_modules_import_by_name():
    assert run(
        "import pagedrt.plan, pagedrt.errors; from pagedrt.stream import Stream;"
        "print(pagedrt.plan.PagedAttention is pagedrt.PagedAttention, pagedrt.plan.__spec__.name, Stream.__module__)"
    ) == ["True", "pagedrt.plan", "pagedrt.stream"]


def test_import_after_all_was_dropped():
    """As tools do that reload what they run."""
    assert run(
        "import sys, pagedrt\n"
        "first = pagedrt\n"
        "for name in [name for name in sys.modules if name.partition('.')[0] == 'pagedrt']: del sys.modules[name]\n"
        "import importlib, pagedrt\n"
        "try: pagedrt.Device().empty(1, 'half precision')\n"
        "except pagedrt.InvalidInputError: print(pagedrt is first, pagedrt.Device is first.Device)\n"
        "importlib.reload(pagedrt)"
    ) == ["False", "True"]


def test_bfloat16_without_ml_dtypes():
    output = run(
        "import sys; sys.modules['ml_dtypes'] = None; import pagedrt\n"
        "try: pagedrt.Device().empty(1, 'bfloat16')\n"
        "except pagedrt.InvalidInputError as error: print(error)"
    )
    assert "ml_dtypes" in output


def test_exit_with_work_in_flight():
    """Nothing is closed: the interpreter ends while a stream still has calls."""
    run(
        "import numpy as np, pagedrt\n"
        "stream = pagedrt.Device().stream()\n"
        "q = np.zeros((1, 2, 1, 64), np.float32); k = np.zeros((1, 200, 16, 64), np.float32)\n"
        "for _ in range(20):\n"
        "    pagedrt.paged_attention(q, k, k, np.arange(200, dtype=np.uint32), np.array([3200], np.uint32),"
        " page_size=16, context_tokens=3200, scale=1.0, stream=stream)\n"
    )
