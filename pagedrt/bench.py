"""python -m pagedrt bench: how fast a device decodes, as a table and a JSON file to share."""

import json
import statistics
import sys
import time

import numpy as np

import pagedrt
from pagedrt.info import versions
from pagedrt.selftest import checked_dtypes

SCHEMA = "pagedrt-bench/2"  # docs/bench.schema.json
PAGE_SIZE = 16
SHAPES = ((32, 8, 128), (32, 32, 128), (16, 2, 64), (8, 1, 256))  # query heads, KV heads, head_dim
CONTEXTS = (128, 1024, 8192)
SIMULATOR_CONTEXTS = (128,)  # it takes seconds a call
CALLS = 16  # to a command buffer, as an engine's layers come
LEAST_RUNS = 3


class Progress:
    """A bar on stderr, where that is a terminal."""

    def __init__(self, total):
        self.total, self.done = total, 0
        self.shown = sys.stderr.isatty()

    def step(self, what):
        self.done += 1
        if self.shown:
            filled = 30 * self.done // self.total
            bar = "#" * filled + "." * (30 - filled)
            print(f"\r[{bar}] {self.done}/{self.total} {what:<32}", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown:
            print(f"\r{'':<80}\r", end="", file=sys.stderr, flush=True)


def cells(family, dtypes):
    contexts = SIMULATOR_CONTEXTS if family == "simulator" else CONTEXTS
    return [(*shape, tokens, dtype) for shape in SHAPES for tokens in contexts for dtype in dtypes]


def run(family, seconds, path):
    """Measures every cell for about `seconds` in all, prints a table, writes `path` where it is given; 0."""
    dtypes, notes = checked_dtypes()
    with pagedrt.Device(family) as device:
        report = head(device, "decode")
        wanted = cells(device.family, dtypes)
        progress = Progress(len(wanted))
        for cell in wanted:
            report["rows"].append(measure(device, cell, seconds / len(wanted)))
            progress.step(report["rows"][-1]["cell"])
        progress.end()
    report["notes"] += notes
    print_rows(report["rows"])
    finish(report, path)
    return 0


def head(device, kind):
    return {
        "schema": SCHEMA,
        "kind": kind,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": versions(),
        "device": device.info,
        "notes": [],
        "rows": [],
    }


def finish(report, path):
    for note in report["notes"]:
        print(note)
    if path:
        with open(path, "w") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
        print(f"written: {path}")


class Decode:
    """One layer's arrays on a device and its plan."""

    def __init__(self, device, query_heads, kv_heads, head_dim, tokens, dtype):
        random = np.random.default_rng(0)
        pages = -(-tokens // PAGE_SIZE)
        self.device, self.tokens = device, tokens
        self.queries = device.empty((1, query_heads, 1, head_dim), dtype)
        self.queries[...] = random.standard_normal(self.queries.shape, np.float32)
        self.pools = [device.empty((kv_heads, pages, PAGE_SIZE, head_dim), dtype) for _ in range(2)]
        for pool in self.pools:
            pool[...] = random.standard_normal(pool.shape, np.float32)
        self.table = device.asarray(random.permutation(pages).astype(np.uint32), copy=True)
        self.dependency = device.asarray(np.array([tokens], np.uint32), copy=True)
        self.out = device.empty(self.queries.shape, self.queries.dtype)
        self.plan = self.plan_of()

    def plan_of(self, splits=None):
        kv_heads, _, _, head_dim = self.pools[0].shape
        return pagedrt.PagedAttention(
            self.device,
            query_heads=self.queries.shape[1],
            kv_heads=kv_heads,
            head_dim=head_dim,
            page_size=PAGE_SIZE,
            max_context_tokens=self.tokens,
            scale=head_dim**-0.5,
            dtype=self.queries.dtype,
            splits=splits,
        )

    @property
    def bytes(self):
        """Of K and V, as far as they hold tokens."""
        kv_heads, _, _, head_dim = self.pools[0].shape
        return 2 * kv_heads * self.tokens * head_dim * self.queries.itemsize

    def run(self, stream=None):
        self.plan.run(self.queries, *self.pools, self.table, self.dependency, self.tokens, self.out, stream)


def repeat(once, seconds):
    """Seconds of each of as many runs as fit, LEAST_RUNS at least; the first, which warms up, is left out."""
    once()
    times = []
    until = time.perf_counter() + seconds
    while len(times) < LEAST_RUNS or time.perf_counter() < until:
        start = time.perf_counter()
        once()
        times.append(time.perf_counter() - start)
    return times


def gpu_seconds(device, once, seconds):
    """As repeat, but the device's own time, from its command buffers' start and end."""

    def read():
        return device.stats["gpu_nanoseconds"] * 1e-9

    once()
    times = []
    until = time.perf_counter() + seconds
    while len(times) < LEAST_RUNS or time.perf_counter() < until:
        before = read()
        once()
        times.append(read() - before)
    return times


def measure(device, cell, seconds):
    """A row: one call waited for, and calls of a command buffer, on the wall clock and on the device's."""
    decode = Decode(device, *cell)
    with device.stream() as stream:

        def batch():
            for _ in range(CALLS):
                decode.run(stream)
            stream.synchronize()

        waited = statistics.median(repeat(decode.run, seconds / 3))
        batched = statistics.median(repeat(batch, seconds / 3)) / CALLS
        on_device = statistics.median(gpu_seconds(device, batch, seconds / 3)) / CALLS
    decode.plan.close()
    query_heads, kv_heads, head_dim, tokens, dtype = cell
    return {
        "cell": f"{query_heads}/{kv_heads}/{head_dim} {tokens} {dtype}",
        "bytes": decode.bytes,
        "waited_seconds": waited,
        "batched_seconds": batched,
        "device_seconds": on_device,
        "device_bytes_per_second": decode.bytes / on_device if on_device > 0 else None,
    }


def print_rows(rows):
    print(f"{'heads/KV/dim tokens dtype':<28} {'one call':>11} {'of 16':>11} {'on device':>11} {'K and V':>11}")
    for row in rows:
        times = " ".join(f"{row[f'{kind}_seconds'] * 1e6:>8.1f} us" for kind in ("waited", "batched", "device"))
        rate = row["device_bytes_per_second"]
        print(f"{row['cell']:<28} {times} " + (f"{rate / 1e9:>6.1f} GB/s" if rate else f"{'-':>11}"))
