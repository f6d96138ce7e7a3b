"""What a mutant is, where mutants may be, and which tests must notice; those most likely to come first."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutation.rebuild import ROOT

KERNELS = ("tests/matrix", "tests/shaders/test_bad_contents.py", "tests/simulator", "tests/shaders")
RUNTIME = ("tests/runtime", "tests/faults", "tests/threads", "tests/pagedrt", "tests/field_failures")
PYTHON = ("tests/pagedrt", "tests/field_failures")

TARGETS = {
    "shaders/*.h": KERNELS,
    "shaders/*.metal": KERNELS,
    "shaders/width1/*.h": KERNELS,
    "native/runtime/*.m": RUNTIME,
    "pagedrt/validation.py": PYTHON,
    "pagedrt/heuristics.py": PYTHON,
}


@dataclass(frozen=True)
class Mutant:
    name: str
    source: str  # in the repository
    text: str  # the source's, mutated

    @property
    def tests(self):
        return next(tests for pattern, tests in TARGETS.items() if Path(self.source).match(pattern))


def named(smoke=False):
    """Those of named.toml."""
    for entry in tomllib.loads((Path(__file__).parent / "named.toml").read_text())["mutant"]:
        if smoke and not entry.get("smoke"):
            continue
        text = (ROOT / entry["source"]).read_text()
        found = text.count(entry["old"])
        if found != 1:
            raise SystemExit(f"{entry['name']}: `old` stands {found} times in {entry['source']}, expected once")
        yield Mutant(entry["name"], entry["source"], text.replace(entry["old"], entry["new"]))
