"""pagedrt against its peers on this machine: interleaved, medians of quiet samples, ratios first.

usage: python bench/compare.py [--seconds S] [--threads N] [--dtypes ...] [--tokens ...] [--shapes ...] [--out FILE]

Each cell runs warm (one set of arrays) and cold (sets that take turns, 512 MiB in all).
"""

import argparse
import json
import platform
import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import peers
from ceiling import Ceiling
from problem import Cell, Problem
from quiet import Watch

import pagedrt

SHAPES = ["32/8/128", "32/32/128", "16/2/64", "8/1/256"]
TOKENS = [128, 1024, 8192, 32768]
COLD_BYTES = 512 << 20
CHUNK = 0.15  # seconds; /proc/stat counts hundredths
TOLERANCE = {"float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}  # wrong results show, rounding does not


def checked(cell, problem, kinds):
    """The peers that can do this cell, each set up and seen to be right."""
    expected = problem.expected()
    made = {}
    for kind in kinds:
        try:
            peer = kind(problem)
        except (ImportError, peers.Unsupported):
            continue
        peer.run()
        error = float(np.max(np.abs(peer.result() - expected)))
        if error > TOLERANCE[cell.dtype]:
            sys.exit(f"{cell}: {peer.name} is off by {error:.2g}, expected at most {TOLERANCE[cell.dtype]}")
        made[peer.name] = peer
    made[Ceiling.name] = Ceiling(problem, made["pagedrt"])
    return made


def chunk(runners, allowed):
    """Median seconds a call over CHUNK, and whether nobody else used the cores."""
    watch, times, start = Watch(), [], time.perf_counter()
    now = start
    turn = 0
    while now - start < CHUNK or len(times) < 3:
        runners[turn].run()
        turn = (turn + 1) % len(runners)
        then, now = now, time.perf_counter()
        times.append(now - then)
    return statistics.median(times), watch.others(now - start) <= allowed


def measure(sets, seconds, allowed):
    """{peer: median microseconds}, and samples kept and dropped."""
    names = list(sets[0])
    samples, dropped = {name: [] for name in names}, 0
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or min(map(len, samples.values())) < 3:
        random.shuffle(names)
        for name in names:
            median, quiet = chunk([made[name] for made in sets], allowed)
            if quiet:
                samples[name].append(median)
            else:
                dropped += 1
        if dropped > 200 and min(map(len, samples.values())) == 0:
            sys.exit("compare.py: other processes use the cores all the time: 200 samples dropped, expected quiet ones")
    kept = sum(map(len, samples.values()))
    return {name: 1e6 * statistics.median(values) for name, values in samples.items()}, kept, dropped


def report(cell, state, row):
    ours, ceiling = row["us"]["pagedrt"], row["us"][Ceiling.name]
    ratios = "  ".join(
        f"{name} {us / ours:.2f}x" for name, us in row["us"].items() if name not in ("pagedrt", Ceiling.name)
    )
    gbs = cell.kv_bytes / ours / 1e3
    print(
        f"{cell!s:28} {state:4} {ratios} | {ours:.1f} us, {gbs:.1f} GB/s, {ceiling / ours:.0%} of the read", flush=True
    )


def summary(rows):
    print("\ngeometric means of a peer's time over pagedrt's:")
    keys = sorted({(row["dtype"], row["state"]) for row in rows})
    for dtype, state in keys:
        chosen = [row["us"] for row in rows if (row["dtype"], row["state"]) == (dtype, state)]
        for name in sorted(set().union(*chosen) - {"pagedrt", Ceiling.name}):
            ratios = [us[name] / us["pagedrt"] for us in chosen if name in us]
            print(
                f"  {dtype:9} {state:4} {name:28} {statistics.geometric_mean(ratios):5.2f}x"
                f"  least {min(ratios):.2f}x  ({len(ratios)} cells)"
            )


def main():
    parser = argparse.ArgumentParser(prog="compare.py")
    parser.add_argument("--seconds", type=float, default=2.0, help="a cell and state")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16", "float16"])
    parser.add_argument("--tokens", nargs="+", type=int, default=TOKENS)
    parser.add_argument("--shapes", nargs="+", default=SHAPES, help="query heads/KV heads/head_dim")
    parser.add_argument("--states", nargs="+", default=["warm", "cold"], choices=["warm", "cold"])
    parser.add_argument("--others", type=float, default=0.16, help="cores that others may use in a sample that counts")
    parser.add_argument("--out", type=Path, default=Path("build/bench/compare.json"))
    options = parser.parse_args()
    kinds = [module.Peer for module in peers.modules()]
    with pagedrt.Device("cpu") as device:
        level = device.info["instruction_set"]
    machine = {"processor": platform.processor() or platform.machine(), "instruction_set": level}
    rows = []
    for shape in options.shapes:
        for tokens in options.tokens:
            for dtype in options.dtypes:
                cell = Cell(*map(int, shape.split("/")), tokens, dtype)
                for state in options.states:
                    count = max(1, min(64, COLD_BYTES // cell.kv_bytes)) if state == "cold" else 1
                    sets = [checked(cell, Problem(cell, options.threads, seed), kinds) for seed in range(count)]
                    us, kept, dropped = measure(sets, options.seconds, options.others)
                    rows.append(cell.__dict__ | {"state": state, "us": us, "kept": kept, "dropped": dropped})
                    report(cell, state, rows[-1])
                    result = {"schema": 1, "version": pagedrt.__version__, "threads": options.threads} | machine
                    options.out.parent.mkdir(parents=True, exist_ok=True)
                    options.out.write_text(json.dumps(result | {"cells": rows}, indent=1))
    summary(rows)


if __name__ == "__main__":
    main()
