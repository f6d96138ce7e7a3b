"""python -m pagedrt bench --micro: what a device's memory, dispatches, barriers and SIMD-groups cost.

A row's clock is "gpu", the command buffer's own start and end, where the device is a GPU, and "wall", the host's, where
it is software. Every figure is a median of launches, each of which is waited for.
"""

import statistics
import time
from typing import NamedTuple

import numpy as np

import pagedrt
from pagedrt import micro
from pagedrt.bench import Decode, Progress, finish, gpu_seconds, head, repeat

PAGE_BYTES = 4096  # 16 tokens of head_dim 128 in 16 bits
ORDERS = {
    "sequential": lambda pages: np.arange(pages),
    "descending": lambda pages: np.arange(pages)[::-1],
    "shuffled": lambda pages: np.random.default_rng(0).permutation(pages),
}
SWEEP_ORDER = "shuffled"  # as a cache's pages lie
BUFFERS = 8  # command buffers in flight, as a stream has them
CALLS = 32  # to a command buffer, whose encoding is timed


class Size(NamedTuple):
    """How much of each kind of work tells itself from the clock on a family."""

    working_sets: tuple[int, ...]  # bytes
    launch_bytes: int  # that a launch reads at least
    sweep_set: int  # bytes, of the sweep over SIMD-groups
    all_simdgroups: int  # of a launch that fills the device
    rounds: int
    dispatches: int  # beyond the first


SIZES = {
    # 24 SIMD-groups keep a core busy (philipturner/metal-benchmarks), and the largest GPU has 80 cores
    "metal": Size(tuple(2**power for power in range(17, 30)), 2**28, 2**26, 2048, 4096, 256),
    "cpu": Size(tuple(2**power for power in range(17, 29)), 2**26, 2**26, 64, 0, 256),
    "simulator": Size((2**17,), 2**17, 2**17, 32, 16, 4),
}
USUAL_SIMDGROUPS = 4  # a threadgroup, as the partial kernel has


def run(family, seconds, path):
    """Measures for about `seconds` in all, prints rows, writes `path` where it is given; 0."""
    with pagedrt.Device(family) as device:
        report = head(device, "micro")
        bench = Microbench(device)
        bench.check_values()
        parts = bench.parts()
        progress = Progress(len(parts))
        for what, measure, share in parts:
            report["rows"] += measure(seconds * share / sum(part.share for part in parts))
            progress.step(what)
        progress.end()
        report["notes"] += bench.notes()
    print_rows(report["rows"])
    finish(report, path)
    return 0


class Part(NamedTuple):
    what: str
    measure: object  # seconds -> rows
    share: int  # of the time: how many medians it takes


class Microbench:
    """The microbenchmarks of a device, and the arrays they run on."""

    def __init__(self, device):
        self.device = device
        self.size = SIZES[device.family]
        self.width = device.info["simd_width"]
        self.clock, self.seconds_of = ("gpu", self.on_gpu) if device.family == "metal" else ("wall", repeat)
        most = max(*self.size.working_sets, self.size.sweep_set)
        self.memory = device.empty(most // 4, "uint32")
        self.memory[...] = np.arange(most // 4, dtype=np.uint32)
        self.out = device.empty(self.size.all_simdgroups * self.width, "uint32")

    def on_gpu(self, once, seconds):
        return gpu_seconds(self.device, once, seconds)

    def parts(self):
        size = self.size
        parts = [
            Part(f"{bytes_ >> 10} KiB", lambda seconds, bytes_=bytes_: self.read(bytes_, seconds), len(ORDERS))
            for bytes_ in size.working_sets
        ]
        parts.append(Part("latency", self.latency, 6))
        if self.width > 1:
            parts.append(Part("barrier", self.barrier, 2 * len(self.simdgroups("barrier"))))
            parts.append(Part("simd_sum", self.simd_sum, 4))
            parts.append(Part("SIMD-groups", self.sweep, len(self.simdgroups("read"))))
        return parts

    def simdgroups(self, kernel):
        """Powers of two that the kernel's pipeline and a launch that fills the device allow."""
        most = min(micro.most_simdgroups(self.device, kernel), self.size.all_simdgroups)
        return [2**power for power in range(most.bit_length())]

    def usual_simdgroups(self):
        return min(USUAL_SIMDGROUPS, micro.most_simdgroups(self.device, "read"))

    def launch(self, kernel, table, threadgroups, simdgroups, rounds, **more):
        """A function that launches; what it leaves is in self.out."""
        out = self.out[: threadgroups * self.width]

        def once():
            micro.run(
                self.device,
                kernel,
                self.memory,
                table,
                out,
                page_bytes=PAGE_BYTES,
                threadgroups=threadgroups,
                simdgroups=simdgroups,
                rounds=rounds,
                **more,
            )
            return out

        return once

    def table(self, pages=1, order="sequential"):
        table = self.device.empty(pages, "uint32")
        table[...] = ORDERS[order](pages)
        return table

    def check_values(self):
        """DeviceError where a kernel gives what it should not: its time would mean nothing."""
        simdgroups, pages, rounds = self.usual_simdgroups(), 7, 3
        lanes = np.arange(self.width, dtype=np.uint32)
        words = self.memory[: pages * PAGE_BYTES // 4].reshape(-1, self.width, 4)
        # A lane reads each width-th 16 bytes; which threadgroup reads a page is not judged.
        expected = {
            "read": rounds * words.sum(axis=(0, 2), dtype=np.uint32),
            "barrier": np.full(self.width, 2 * simdgroups * rounds, np.uint32),
            "simd_sum": 2 * simdgroups * (rounds * np.uint32(self.width - 1) + 2 * lanes),
        }
        for kernel, wanted in expected.items():
            out = self.launch(kernel, self.table(pages, "shuffled"), 2, simdgroups, rounds)()
            found = out.reshape(2, self.width).sum(axis=0, dtype=np.uint32)
            if not np.array_equal(found, wanted):
                raise pagedrt.DeviceError(
                    f"pagedrt_micro_{kernel}: lanes give {found.tolist()}, expected {wanted.tolist()}"
                )

    def rate(self, bytes_, order, simdgroups, seconds):
        """Bytes read a second: bytes of a launch / its time. It reads the working set over and over.

        None where the clock has no time for it.
        """
        pages = bytes_ // PAGE_BYTES
        rounds = -(-self.size.launch_bytes // bytes_)
        threadgroups = self.size.all_simdgroups // simdgroups
        once = self.launch("read", self.table(pages, order), threadgroups, simdgroups, rounds)
        taken = statistics.median(self.seconds_of(once, seconds))
        return rounds * bytes_ / taken if taken > 0 else None

    def read(self, bytes_, seconds):
        """Read bandwidth of a working set, for each order of its pages."""
        return [
            row(
                "read",
                self.rate(bytes_, order, self.usual_simdgroups(), seconds / len(ORDERS)),
                "bytes/s",
                self.clock,
                working_set=bytes_,
                page_order=order,
                page_bytes=PAGE_BYTES,
            )
            for order in ORDERS
        ]

    def sweep(self, seconds):
        """Read bandwidth by SIMD-groups a threadgroup: as many SIMD-groups in all, which meet at one barrier."""
        counts = self.simdgroups("read")
        return [
            row(
                "read by SIMD-groups a threadgroup",
                self.rate(self.size.sweep_set, SWEEP_ORDER, simdgroups, seconds / len(counts)),
                "bytes/s",
                self.clock,
                simdgroups=simdgroups,
                threadgroups=self.size.all_simdgroups // simdgroups,
                working_set=self.size.sweep_set,
            )
            for simdgroups in counts
        ]

    def seconds_a_round(self, kernel, threadgroups, simdgroups, seconds):
        """(time of a launch of n rounds - time of one of none) / n; None where the clock does not tell them apart."""
        table = self.table()
        none, several = (
            statistics.median(
                self.seconds_of(self.launch(kernel, table, threadgroups, simdgroups, rounds), seconds / 2)
            )
            for rounds in (0, self.size.rounds)
        )
        return slope(none, several, self.size.rounds)

    def barrier(self, seconds):
        """A round: store to threadgroup memory, barrier, load. One threadgroup, so nothing hides its latency.

        Compilers may drop a barrier that nothing needs, so it cannot be timed without what it orders.
        """
        counts = self.simdgroups("barrier")
        return [
            row(
                "barrier",
                self.seconds_a_round("barrier", 1, simdgroups, seconds / len(counts)),
                "s",
                self.clock,
                simdgroups=simdgroups,
                rounds=self.size.rounds,
            )
            for simdgroups in counts
        ]

    def simd_sum(self, seconds):
        """A round: simd_sum, multiply and add, on what the round before gave.

        Of one SIMD-group alone latency, of a full device the inverse of throughput: the two that
        philipturner/metal-benchmarks tells of each instruction.
        """
        simdgroups = self.usual_simdgroups()
        threadgroups = self.size.all_simdgroups // simdgroups
        rows = []
        for name, groups, a_group in (("simd_sum, alone", 1, 1), ("simd_sum, device full", threadgroups, simdgroups)):
            in_all = groups * a_group
            taken = self.seconds_a_round("simd_sum", groups, a_group, seconds / 2)
            each = taken / in_all if taken is not None else None
            rows.append(row(name, each, "s", self.clock, simdgroups_in_all=in_all, rounds=self.size.rounds))
        return rows

    def latency(self, seconds):
        """Of launches without work: one threadgroup of one SIMD-group, no round.

        Waited for, in flight and within a command buffer, as JuliaGPU/Metal.jl#783 and ml-explore/mlx#4521 tell them
        apart.
        """
        table, dispatches, share = self.table(), self.size.dispatches, seconds / 6
        one = self.launch("barrier", table, 1, 1, 0)
        several = self.launch("barrier", table, 1, 1, 0, dispatches=dispatches + 1)
        buffers = self.launch("barrier", table, 1, 1, 0, command_buffers=BUFFERS)
        one_device = statistics.median(self.seconds_of(one, share))
        several_device = statistics.median(self.seconds_of(several, share))
        waited = statistics.median(repeat(one, share))
        # (time of n + 1 dispatches - time of one) / n, and of command buffers likewise
        dispatch = slope(one_device, several_device, dispatches)
        buffer = slope(waited, statistics.median(repeat(buffers, share)), BUFFERS - 1)
        rows = [
            row("command buffer, commit to result", waited, "s", "wall"),
            row("command buffer, one more in flight", buffer, "s", "wall", command_buffers=BUFFERS),
            row("dispatch in a command buffer", dispatch, "s", self.clock, dispatches=dispatches),
            *self.call_rows(share),
        ]
        if self.clock == "gpu":
            rows.append(row("command buffer on the device", one_device, "s", self.clock))
        return rows

    def call_rows(self, seconds):
        """Of the host alone: encoding a prepared call, and a wait for nothing."""
        decode = Decode(self.device, 1, 1, 64, 1, "float32")
        encoding = []
        with self.device.stream() as stream:

            def calls():
                start = time.perf_counter()
                for _ in range(CALLS):
                    decode.run(stream)
                encoding.append((time.perf_counter() - start) / CALLS)
                stream.synchronize()

            repeat(calls, seconds)
            idle = statistics.median(repeat(stream.synchronize, seconds))
        decode.plan.close()
        return [
            row("encode", statistics.median(encoding), "s", "wall"),
            row("synchronize, nothing in flight", idle, "s", "wall"),
        ]

    def notes(self):
        notes = []
        if self.width == 1:
            notes.append(
                "barrier, simd_sum, SIMD-groups a threadgroup: do not apply: a threadgroup of this family is one thread"
            )
        if self.device.family == "simulator":
            notes.append("times of the simulator are those of software that checks every access, and of no GPU")
        return notes


def slope(less, more, count):
    """Seconds of one of the `count` things that `more` has beyond `less`; None where the clock tells no difference."""
    return (more - less) / count if more > less else None


def row(name, value, unit, clock, **parameters):
    return {"name": name, "value": value, "unit": unit, "clock": clock, "parameters": parameters}


def shown(value, unit):
    if value is None:
        return f"{'-':>9}"
    if unit == "bytes/s":
        return f"{value / 1e9:>9.2f} GB/s"
    return f"{value * 1e6:>9.2f} us" if value >= 1e-6 else f"{value * 1e9:>9.2f} ns"


def print_rows(rows):
    for one in rows:
        parameters = ", ".join(f"{name} {value}" for name, value in one["parameters"].items())
        print(f"{one['name']:<33} {shown(one['value'], one['unit']):<15} {one['clock']:<5} {parameters}".rstrip())
