"""Breaks the sources on purpose, one small mutation at a time, and shows that the tests notice.

usage: python -P tools/mutation [--smoke | --sample COUNT [--seed SEED] | --only TEXT]

Without a choice: all mutants chosen by hand. Needs `make setup`. Exits with 1 if one survives that is not
listed as equivalent, or if one chosen by hand does not build or no longer applies.
"""

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
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
TEST_SECONDS, SECONDS = 180, 1800  # a hang is noticed too
JOBS = 2
HANGS_END = ("-o", f"faulthandler_timeout={TEST_SECONDS}", "-o", "faulthandler_exit_on_timeout=true")
SURVIVED, UNBUILT = "SURVIVED", "does not build"


def run_tests(site, tests):
    """What noticed; None if nothing did."""
    environment = os.environ | {
        "PYTHONPATH": str(site),
        "PAGEDRT_BUILD": str(BUILD),
        "PAGEDRT_TEST_PROGRAMS": str(BUILD / "tests" / "softmetal"),
    }
    command = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *HANGS_END, *tests]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            return f"hung for {SECONDS} s"
        finally:
            with contextlib.suppress(ProcessLookupError):  # with the processes that its tests left
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        return killer(status, output.read())


def killer(status, output):
    if status == 0:
        return None
    if status < 0:
        return f"crash by {signal.Signals(-status).name}"
    if re.search(r"^Timeout \(", output, re.MULTILINE):
        return f"a test hung for {TEST_SECONDS} s"
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    if failed is None:
        raise SystemExit(f"pytest ended with {status}, which says nothing of the mutant:\n{output[-3000:]}")
    return failed.group(1)


class Trial:
    """One mutant at a time, in a folder of this thread's own."""

    def __init__(self, level):
        self.level = level
        self.package = Path(pagedrt.__file__).parent
        self.own = threading.local()
        self.folders = iter(ROOT / "build" / "mutation" / str(number) for number in range(JOBS))
        self.sound = set()  # tests that are known to pass without a mutant

    def __call__(self, mutant):
        if not hasattr(self.own, "folder"):
            self.own.folder = next(self.folders)
        start = time.monotonic()
        try:
            site = rebuild(BUILD, self.package, mutant.source, mutant.text, self.own.folder, self.level)
            fate = next(filter(None, (run_tests(site, tests) for tests in mutant.tests)), SURVIVED)
        except RebuildError as error:
            fate = f"{UNBUILT}: {str(error).strip().splitlines()[-1][:80]}"
        if fate == SURVIVED and mutant.key in EQUIVALENT:
            fate = "equivalent"
        self.check(fate)
        place = f"{mutant.source}:{mutant.line}"
        print(f"{time.monotonic() - start:6.1f} s  {place}: {mutant.name}\n          {fate}", flush=True)
        return fate

    def check(self, test):
        """A test that fails without a mutant too has noticed nothing."""
        if "::" in test and test not in self.sound:
            noticed = run_tests(self.package.parent, [test])
            if noticed is not None:
                raise SystemExit(f"{test} fails without a mutant too")
            self.sound.add(test)


def choose(arguments):
    if arguments.sample:
        chosen, total = mechanical.sample(arguments.sample, arguments.seed)
        print(f"{len(chosen)} of {total} mechanical mutants, seed {arguments.seed}")
        return chosen
    return [mutant for mutant in named(arguments.smoke) if arguments.only in mutant.key]


def main():
    parser = argparse.ArgumentParser(prog="mutation")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--smoke", action="store_true", help="a few that fall quickly")
    kind.add_argument("--sample", type=int, metavar="COUNT", help="mechanical ones, drawn by --seed")
    kind.add_argument("--only", default="", metavar="TEXT", help="those whose source and name hold it")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    mutants = choose(arguments)
    with pagedrt.Device("cpu") as device:
        level = device.info["instruction_set"]
    with ThreadPoolExecutor(JOBS) as pool:
        fates = list(pool.map(Trial(level), mutants))
    survivors = fates.count(SURVIVED)
    equivalent, unbuilt = fates.count("equivalent"), sum(fate.startswith(UNBUILT) for fate in fates)
    killed = len(fates) - survivors - equivalent - unbuilt
    print(
        f"{len(fates)} mutants: {killed} killed, {unbuilt} did not build, {equivalent} equivalent, {survivors} survived"
    )
    return survivors > 0 or (unbuilt > 0 and not arguments.sample)  # one chosen by hand must build


if __name__ == "__main__":
    sys.exit(main())
