"""Plants one bug that the sanitizer is for in a copy of the runtime, and demands its report.

usage: planted.py asan|ubsan|tsan BUILD SCRATCH_FOLDER   (called by tools/sanitize.sh)
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutation.rebuild import rebuild_library  # noqa: E402

# sanitizer: (source, what stands there once, what is planted, what the report says)
PLANTED = {
    "asan": (
        "native/runtime/memory_map.m",
        "map->ranges[at] = (memory_range){",
        "map->ranges[map->capacity] = (memory_range){",
        "heap-buffer-overflow",
    ),
    "ubsan": (
        "native/runtime/check.m",
        "  if (geometry->page_size == 0) return",
        "  int heads = 0x7FFFFFFF;\n  heads += (int)geometry->kv_heads;\n"
        "  if (heads == 0 || geometry->page_size == 0) return",
        "signed integer overflow",
    ),
    "tsan": (
        "native/runtime/stream.m",
        "  count_up(&stream->device->counters.command_buffers, 1);",
        "  stream->device->counters.command_buffers++;",
        "data race",
    ),
}


def main(kind, build, folder):
    source, old, new, report = PLANTED[kind]
    text = (ROOT / source).read_text()
    assert text.count(old) == 1, f"{source}: {old!r} stands {text.count(old)} times, expected once"
    rebuild_library(Path(build), source, text.replace(old, new), Path(folder))
    program = Path(build, "threads")
    environment = os.environ | {"LD_LIBRARY_PATH": folder}
    for planted in (False, True):
        run = subprocess.run(
            [*sys.argv[4:], program, "4"],
            env=environment if planted else os.environ,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert (report in run.stderr) == planted, f"planted {planted}: {run.stderr}"
        assert (run.returncode != 0) == planted, f"planted {planted}: exit {run.returncode}, {run.stderr}"
    print(f"{kind}: the planted bug in {source} is reported as {report!r}, without it nothing is")


if __name__ == "__main__":
    main(*sys.argv[1:4])
