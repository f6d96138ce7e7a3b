"""python -m pagedrt bench --micro: what a device's memory, dispatches and command buffers cost."""

import statistics
import time

import numpy as np

import pagedrt
from pagedrt.bench import PAGE_SIZE, Decode, Progress, finish, gpu_seconds, head, repeat

KV_HEADS, HEAD_DIM = 8, 128  # as many query heads: the least arithmetic a byte
TOKEN_BYTES = 2 * KV_HEADS * HEAD_DIM * 4
WORKING_SETS = tuple(2**power for power in range(17, 29, 1))  # 128 KiB to 256 MiB of K and V
SIMULATOR_WORKING_SETS = (2**17,)
ORDERS = {
    "ascending": lambda pages: np.arange(pages),
    "descending": lambda pages: np.arange(pages)[::-1],
    "shuffled": lambda pages: np.random.default_rng(0).permutation(pages),
}
CALLS = 32  # beyond the first, of the command buffer whose dispatches are counted


def run(family, seconds, path):
    """Measures for about `seconds` in all, prints rows, writes `path` where it is given; 0."""
    with pagedrt.Device(family) as device:
        report = head(device, "micro")
        sizes = SIMULATOR_WORKING_SETS if device.family == "simulator" else WORKING_SETS
        share = seconds / (len(sizes) * len(ORDERS) + 4)
        progress = Progress(len(sizes) + 1)
        for size in sizes:
            report["rows"] += read_rows(device, size, share)
            progress.step(f"{size >> 10} KiB")
        report["rows"] += latency_rows(device, share)
        progress.step("latency")
        progress.end()
        report["notes"] += not_measured(device.info["simd_width"])
    print_rows(report["rows"])
    finish(report, path)
    return 0


def read_rows(device, size, seconds):
    """Bytes of K and V a second, of a working set and for each order of its pages."""
    rows = []
    decode = Decode(device, KV_HEADS, KV_HEADS, HEAD_DIM, size // TOKEN_BYTES, "float32")
    for order, arrange in ORDERS.items():
        decode.table[...] = arrange(size // TOKEN_BYTES // PAGE_SIZE)
        taken = statistics.median(gpu_seconds(device, decode.run, seconds))
        if taken > 0:
            rows.append(row("read", size / taken, "bytes/s", working_set=size, page_order=order))
    decode.plan.close()
    return rows


def latency_rows(device, seconds):
    """Of a call with nearly no work: 1 token, 1 head."""
    decode = Decode(device, 1, 1, 64, 1, "float32")
    encoding = []
    with device.stream() as stream:

        def once():
            decode.run(stream)
            stream.synchronize()

        def many():
            start = time.perf_counter()
            for _ in range(CALLS + 1):
                decode.run(stream)
            encoding.append((time.perf_counter() - start) / (CALLS + 1))
            stream.synchronize()

        one = statistics.median(repeat(once, seconds))
        several = statistics.median(repeat(many, seconds))
        rows = [
            row("command buffer, commit to result", one, "s"),
            row("dispatch in a command buffer", max(several - one, 0) / CALLS, "s", dispatches=CALLS),
            row("encode", statistics.median(encoding), "s"),
            row("device time of one dispatch", statistics.median(gpu_seconds(device, once, seconds)), "s"),
            row("synchronize, nothing in flight", statistics.median(repeat(stream.synchronize, seconds)), "s"),
        ]
    decode.plan.close()
    return rows


def row(name, value, unit, **parameters):
    return {"name": name, "value": value, "unit": unit, "parameters": parameters}


def not_measured(simd_width):
    what = "barrier, simd_sum, SIMD-groups a threadgroup"
    if simd_width == 1:
        return [f"{what}: do not apply: a threadgroup of this family is one thread"]
    return [f"{what}: not measured: they need kernels that this release does not have"]


def print_rows(rows):
    for one in rows:
        parameters = ", ".join(f"{name} {value}" for name, value in one["parameters"].items())
        value = f"{one['value'] / 1e9:>9.2f} GB/s" if one["unit"] == "bytes/s" else f"{one['value'] * 1e6:>9.2f} us"
        print(f"{one['name']:<33} {value:<15} {parameters}")
