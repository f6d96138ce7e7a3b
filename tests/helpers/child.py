"""Python programs in processes of their own, for what may end or hang a process."""

import os
import pathlib
import subprocess
import sys
import textwrap

TESTS = pathlib.Path(__file__).parents[1]


def start(code, **options):
    """Starts the program; pagedrt and helpers are on its path, the repository is not."""
    return subprocess.Popen(
        [sys.executable, "-P", "-X", "faulthandler", "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))},
        **options,
    )


def finish(process, timeout=60):
    """What the program printed; it must end by itself, in time and well."""
    try:
        out, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
        raise AssertionError(f"hung; printed {out!r}, {errors}") from None
    assert process.returncode == 0, f"ended by {process.returncode}; printed {out!r}, {errors}"
    return out


def run(code, timeout=60, **options):
    return finish(start(code, **options), timeout)
