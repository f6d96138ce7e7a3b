"""What a mutant is, where mutants may be, and which tests must notice; those most likely to come first."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from mutation.rebuild import ROOT

# Files, not folders, where the order matters.
KERNELS = (
    "tests/shaders/test_rare_branches.py",
    "tests/shaders/test_bad_contents.py",
    "tests/simulator/test_simulated_contents.py",
    "tests/shaders/test_large_arena.py",
    "tests/simulator/test_simulator.py",
    "tests/matrix",
    "tests/shaders/test_same_bits.py",
    "tests/shaders/test_differential.py",
)
LANES = ("tests/simulator/test_simulated_contents.py", "tests/simulator/test_simulator.py", *KERNELS)
RUNTIME = (
    *(f"tests/runtime/test_{noun}.py" for noun in ("status", "scratch", "bad_input", "buffers", "calls", "order")),
    "tests/runtime/test_lifetimes.py",
    *("tests/faults", "tests/pagedrt", "tests/field_failures", "tests/simulator/test_alignment.py"),
    *("tests/simulator/test_simulator.py", "tests/threads", "tests/runtime/test_programs.py"),
)
PYTHON = (
    *(f"tests/pagedrt/test_{noun}.py" for noun in ("heuristics", "validation", "plan", "memory", "device", "dlpack")),
    *("tests/pagedrt/test_stream.py", "tests/pagedrt/test_paged_attention.py", "tests/field_failures"),
)
MICRO = (
    *("tests/pagedrt/test_micro.py", "tests/runtime/test_micro_abi.py", "tests/pagedrt/test_microbench.py"),
    "tests/faults/test_every_call_fails.py",
)

# The first pattern that matches counts. What only many lanes run goes to the simulator first.
TARGETS = {
    **{f"shaders/{noun}.h": LANES for noun in ("online_softmax_lanes", "rounds", "settled", "tile_lanes", "transpose")},
    "shaders/micro/*.h": MICRO,
    "shaders/micro.metal": MICRO,
    "native/runtime/micro.m": MICRO,
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
    line: int
    first: tuple[str, ...] = ()  # tests ahead of the source's own

    @property
    def key(self):
        """What tells it from all others, wherever its line moves."""
        return f"{self.source}: {self.name}"

    @property
    def tests(self):
        """Runs of tests, one after the other."""
        own = next(tests for pattern, tests in TARGETS.items() if Path(self.source).match(pattern))
        return [self.first, own] if self.first else [own]


def named(smoke=False):
    """Those of named/."""
    for table in sorted((Path(__file__).parent / "named").glob("*.toml")):
        for entry in tomllib.loads(table.read_text())["mutant"]:
            made = made_of(entry)
            if entry.get("smoke") or not smoke:
                yield made


def made_of(entry):
    """An error where the source has changed under it, also for those that are not asked for."""
    text, old, new = (ROOT / entry["source"]).read_text(), entry["old"], entry["new"]
    found = text.count(old)
    if found != 1:
        raise SystemExit(f"{entry['name']}: `old` stands {found} times in {entry['source']}, expected once")
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), 0)
    line = text.count("\n", 0, text.index(old) + same) + 1
    return Mutant(
        entry["name"], entry["source"], text.replace(old, new), line, tuple(filter(None, [entry.get("first")]))
    )
