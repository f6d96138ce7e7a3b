"""pagedrt beside every peer that is installed, on the CPU: each cell checked, then timed in turn, with its ceiling.

usage: python -P bench/compare [--minutes N] [--only TEXT ...] [--peers NAME ...] [--out FOLDER]
Cells that FOLDER already holds from a quiet machine are not measured again. --report only writes table and plots.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import store
from cells import all_cells
from quiet import ALLOWED_CORES
from report import write_report

THREADS = 2
SPARE_FACTOR = 8  # copies of K and V that a cell may need, peers' own included


def available_bytes():
    """Memory that is free to use; everything where the system does not tell."""
    info = Path("/proc/meminfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return sys.maxsize


def fits(cell):
    needed = SPARE_FACTOR * cell.bytes + 2 * cell.cold_caches * cell.bytes
    return needed < available_bytes(), needed


def parse():
    parser = argparse.ArgumentParser(prog="compare", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10, help="time budget; cells left over are for the next run")
    parser.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="cells whose name holds all of these")
    parser.add_argument("--peers", nargs="+", default=[], metavar="NAME", help=f"of {', '.join(store.NAMES[1:])}")
    parser.add_argument("--chunks", type=int, default=3, help="quiet chunks of 0.15 s a peer, cell and mode")
    parser.add_argument("--patience", type=float, default=30, help="seconds that a cell may wait for a quiet machine")
    parser.add_argument("--allow", type=float, default=ALLOWED_CORES, help="cores that others may use meanwhile")
    parser.add_argument("--threads", type=int, default=THREADS, help="of every peer")
    parser.add_argument("--again", action="store_true", help="measure cells anew that are there already")
    parser.add_argument("--report", action="store_true", help="measure nothing: write table and plots")
    parser.add_argument("--out", type=Path, default=Path("build/bench"), help="folder of what is written")
    options = parser.parse_args()
    if unknown := store.unknown(options.peers):
        parser.error(f"--peers: {', '.join(unknown)}: no such peer; expected some of {', '.join(store.NAMES[1:])}")
    if options.threads < 1 or options.chunks < 1 or options.minutes <= 0 or options.patience <= 0:
        parser.error("--threads, --chunks, --minutes and --patience must be positive")
    return parser, options


def select(only):
    return [cell for cell in all_cells() if all(text in f" {cell.name} " for text in only)]


def run(cells, options, path):
    """Measures what is not there yet, cell by cell, until the time is up."""
    os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))  # before any peer is loaded
    import peers
    from ceiling import Ceiling
    from measure import measure

    import pagedrt

    adapters = peers.modules(options.peers)
    limits = {"chunks": options.chunks, "patience": options.patience, "allowed": options.allow}
    until = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder, pagedrt.Device("cpu", threads=options.threads) as device:
        ceiling = Ceiling(folder, options.threads)
        host = store.machine() | {
            "threads": options.threads,
            "instruction_set": device.info["instruction_set"],
            "pagedrt": pagedrt.__version__,
            "others_allowed": f"{options.allow} cores",
        }
        done = store.read(path)
        asked = [adapter.NAME for adapter in adapters] if options.peers else []
        for number, cell in enumerate(cells, 1):
            if not options.again and store.complete(done.get(cell.name), asked):
                continue
            enough, needed = fits(cell)
            if not enough:
                print(f"[{number}/{len(cells)}] {cell.name}: left out, needs {needed >> 20} MiB of memory", flush=True)
                continue
            now = time.monotonic()
            if now > until:
                print(f"time is up at cell {number} of {len(cells)}: run it again to go on")
                break
            print(f"[{number}/{len(cells)}] {cell.name} ...", end="", flush=True)
            record = measure(cell, adapters, device, ceiling, **limits)
            store.append(path, record | {"host": host, "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
            print(f" {time.monotonic() - now:.0f} s; {record['gate']}", flush=True)


def main():
    parser, options = parse()
    cells = select(options.only)
    if not cells:
        parser.error(f"--only: no cell's name holds all of {options.only}; names are such as {all_cells()[0].name!r}")
    path = options.out / "cells.jsonl"
    if not options.report:
        run(cells, options, path)
    try:
        records = [record for record in store.read(path).values() if record["cell"] in {cell.name for cell in cells}]
    except ValueError as error:
        sys.exit(f"compare: {error}")
    if not records:
        sys.exit(f"compare: {path} holds none of these cells; run without --report")
    write_report(records, options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
