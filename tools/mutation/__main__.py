"""Breaks the sources on purpose, one small mutation at a time, and shows that the tests notice.

usage: python -P tools/mutation [--smoke | --sample COUNT [--seed SEED] | --only TEXT]

Without a choice: all mutants chosen by hand. Needs `make setup`. Exits with 1 if one survives that is not
listed as equivalent.
"""

import argparse
import os
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pagedrt
from mutation import mechanical
from mutation.equivalent import EQUIVALENT
from mutation.mutant import named
from mutation.rebuild import ROOT, RebuildError, rebuild

BUILD = ROOT / "build" / "package"
SECONDS = 600  # a hang is noticed too
JOBS = 2


def run_tests(site, tests):
    """What noticed; None if nothing did."""
    environment = os.environ | {
        "PYTHONPATH": str(site),
        "PAGEDRT_BUILD": str(BUILD),
        "PAGEDRT_TEST_PROGRAMS": str(BUILD / "tests" / "softmetal"),
    }
    command = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"hung for {SECONDS} s"
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed.group(1) if failed else f"pytest ended with {done.returncode}"


class Trial:
    """One mutant at a time, in a folder of this thread's own."""

    def __init__(self, level):
        self.level = level
        self.package = Path(pagedrt.__file__).parent
        self.own = threading.local()
        self.folders = iter(ROOT / "build" / "mutation" / str(number) for number in range(JOBS))

    def __call__(self, mutant):
        if not hasattr(self.own, "folder"):
            self.own.folder = next(self.folders)
        start = time.monotonic()
        try:
            site = rebuild(BUILD, self.package, mutant.source, mutant.text, self.own.folder, self.level)
            noticed = run_tests(site, mutant.tests)
        except RebuildError as error:
            noticed = f"does not build: {str(error).strip().splitlines()[-1][:80]}"
        fate = noticed or ("equivalent" if mutant.name in EQUIVALENT else "SURVIVED")
        print(f"{time.monotonic() - start:6.1f} s  {mutant.source}: {mutant.name}\n          {fate}", flush=True)
        return fate


def choose(arguments):
    if arguments.sample:
        chosen, total = mechanical.sample(arguments.sample, arguments.seed)
        print(f"{len(chosen)} of {total} mechanical mutants, seed {arguments.seed}")
        return chosen
    return [mutant for mutant in named(arguments.smoke) if arguments.only in mutant.name]


def main():
    parser = argparse.ArgumentParser(prog="mutation")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--smoke", action="store_true", help="a few that fall quickly")
    kind.add_argument("--sample", type=int, metavar="COUNT", help="mechanical ones, drawn by --seed")
    kind.add_argument("--only", default="", metavar="TEXT", help="those whose name holds it")
    parser.add_argument("--seed", type=int, default=1)
    mutants = choose(parser.parse_args())
    with pagedrt.Device("cpu") as device:
        level = device.info["instruction_set"]
    with ThreadPoolExecutor(JOBS) as pool:
        fates = list(pool.map(Trial(level), mutants))
    survivors = fates.count("SURVIVED")
    equivalent, unbuilt = fates.count("equivalent"), sum(fate.startswith("does not build") for fate in fates)
    killed = len(fates) - survivors - equivalent - unbuilt
    print(
        f"{len(fates)} mutants: {killed} killed, {unbuilt} did not build, {equivalent} equivalent, {survivors} survived"
    )
    return survivors > 0


if __name__ == "__main__":
    sys.exit(main())
