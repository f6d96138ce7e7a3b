"""The microbenchmark kernels give what they must, and refuse what does not fit: nothing here is timed."""

import numpy as np
import pytest

import pagedrt
from helpers import softmetal
from pagedrt import micro

PAGE_BYTES = 2048
PAGE_WORDS = PAGE_BYTES // 4


class Launch:
    """Arrays of a launch on a device."""

    def __init__(self, device, pages=5, table=None, threadgroups=3):
        self.device, self.threadgroups = device, threadgroups
        self.width = device.info["simd_width"]
        self.memory = device.empty(pages * PAGE_WORDS, "uint32")
        self.memory[...] = np.random.default_rng(0).integers(0, 2**32, self.memory.size, np.uint32)
        self.table = device.asarray(np.array(table if table is not None else range(pages), np.uint32), copy=True)
        self.out = device.empty(threadgroups * self.width, "uint32")

    def run(self, kernel, **options):
        """The words of every threadgroup."""
        self.out[...] = 0xDEADBEEF
        options = {"page_bytes": PAGE_BYTES, "threadgroups": self.threadgroups} | options
        micro.run(self.device, kernel, self.memory, self.table, self.out, **options)
        return self.out.reshape(self.threadgroups, self.width)


@pytest.fixture(params=["cpu", "simulator"])
def device(request):
    with pagedrt.Device(request.param) as opened:
        yield opened


@pytest.mark.parametrize(
    ("family", "simdgroups"), [("cpu", 1), ("simulator", 1), ("simulator", 2), ("simulator", 5), ("simulator", 32)]
)
@pytest.mark.parametrize("table", [[0, 1, 2, 3, 4], [4], [3, 3, 0, 1, 3, 3, 2]], ids=["all", "one", "repeated"])
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_read_sums_the_words_of_its_pages(family, simdgroups, table, rounds):
    with pagedrt.Device(family) as device:
        launch = Launch(device, table=table)
        found = launch.run("read", simdgroups=simdgroups, rounds=rounds)
    pages = launch.memory.reshape(-1, PAGE_WORDS)[launch.table]
    lanes = pages.reshape(-1, launch.width, 4).sum(axis=(0, 2), dtype=np.uint32)
    assert found.sum(axis=0, dtype=np.uint32).tolist() == (lanes * np.uint32(rounds)).tolist()


def test_each_threadgroup_reads_its_share():
    """SIMD-group s of threadgroup g takes pages s + g * simdgroups, then one step of all of them further."""
    with pagedrt.Device("simulator") as device:
        launch = Launch(device, pages=7)
        found = launch.run("read", simdgroups=2)
        pages = launch.memory.reshape(7, -1, launch.width, 4).sum(axis=(1, 3), dtype=np.uint32)
        for group, share in enumerate([[0, 1, 6], [2, 3], [4, 5]]):
            assert found[group].tolist() == pages[share].sum(axis=0, dtype=np.uint32).tolist()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("simdgroups", [1, 2, 3, 32])
@pytest.mark.parametrize("rounds", [0, 1, 2, 7])
def test_barrier_counts_right(simdgroups, rounds, seed):
    """Each count has come through every SIMD-group; the simulator stops at a race."""
    with softmetal.simulator(seed=seed) as device:
        assert np.all(Launch(device).run("barrier", simdgroups=simdgroups, rounds=rounds) == simdgroups * rounds)


@pytest.mark.parametrize("simdgroups", [1, 2, 32])
@pytest.mark.parametrize("rounds", [0, 1, 2, 50])
def test_simd_sum_is_right(simdgroups, rounds):
    with pagedrt.Device("simulator") as device:
        found = Launch(device).run("simd_sum", simdgroups=simdgroups, rounds=rounds)
        assert np.all(found == simdgroups * (31 * rounds + 2 * np.arange(32)))


def test_width_1_has_nobody_to_wait_for_or_to_add():
    with pagedrt.Device("cpu") as device:
        launch = Launch(device)
        assert micro.most_simdgroups(device, "barrier") == 1
        assert np.all(launch.run("barrier", rounds=9) == 9)
        assert np.all(launch.run("simd_sum", rounds=9) == 0)


def test_the_pipeline_limits_simdgroups():
    with softmetal.simulator(max_threads=640) as device:
        assert micro.most_simdgroups(device, "read") == 20
        assert np.all(Launch(device).run("barrier", simdgroups=20, rounds=2) == 40)
        with pytest.raises(pagedrt.InvalidInputError, match="simdgroups: 21, expected 1 to 20"):
            Launch(device).run("barrier", simdgroups=21)


@pytest.mark.parametrize("command_buffers", [1, 8])
def test_dispatches_of_command_buffers(device, command_buffers):
    launch = Launch(device)
    before = device.stats
    assert np.all(launch.run("barrier", dispatches=20, command_buffers=command_buffers, rounds=3) == 3)
    counted = {name: count - before[name] for name, count in device.stats.items()}
    assert (counted["dispatches"], counted["command_buffers"]) == (20 * command_buffers, command_buffers)
    assert counted["gpu_nanoseconds"] > 0


@pytest.mark.parametrize(
    ("kernel", "options", "message"),
    [
        ("write", {}, 'kernel: "pagedrt_micro_write", expected "pagedrt_micro_read"'),
        ("read", {"threadgroups": 0}, "threadgroups: got 0"),
        ("read", {"threadgroups": 2}, "out: 3 words, expected threadgroups \\* SIMD width = 2"),
        ("read", {"simdgroups": 2}, "simdgroups: 2, expected 1 to 1"),
        ("read", {"rounds": -1}, "rounds: got -1"),
        ("read", {"rounds": 2**31}, "rounds: 2147483648 of 5 pages"),
        ("read", {"dispatches": 4097}, "dispatches: 4097, expected 1 to 4096"),
        ("read", {"page_bytes": 100}, "page_bytes: 100, expected a multiple of 64"),
        ("read", {"page_bytes": 2**31}, "memory's pages: got 0"),
    ],
)
def test_counts_that_do_not_fit(kernel, options, message):
    with pagedrt.Device("cpu") as device, pytest.raises(pagedrt.InvalidInputError, match=message):
        Launch(device).run(kernel, **options)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("memory", np.zeros(PAGE_WORDS, np.uint32), "memory: 0x.* live buffer"),
        ("memory", np.zeros(PAGE_WORDS, np.float32), "memory: got float32 of shape"),
        ("table", np.zeros((1, 1), np.uint32), "page_table: got uint32 of shape \\(1, 1\\)"),
        ("table", np.zeros(1, np.uint32), "page_table: 0x.* live buffer"),
        ("out", [0, 0, 0], "out: got list"),
        ("out", np.zeros(3, np.uint32), "out: 0x.* live writable buffer"),
    ],
)
def test_arrays_that_do_not_fit(name, array, message):
    with pagedrt.Device("cpu") as device, pytest.raises(pagedrt.InvalidInputError, match=message):
        launch = Launch(device)
        setattr(launch, name, array)
        micro.run(device, "read", launch.memory, launch.table, launch.out, page_bytes=PAGE_BYTES, threadgroups=3)


def test_memory_that_lanes_cannot_load(device):
    launch = Launch(device)
    launch.memory = launch.memory[1 : 1 + PAGE_WORDS]
    launch.table = device.zeros(1, "uint32")
    with pytest.raises(pagedrt.InvalidInputError, match=r"memory: .* aligned to 16"):
        launch.run("read")


def test_a_bad_page_is_refused_and_the_device_goes_on(device):
    launch = Launch(device, table=[0, 5])
    with pytest.raises(pagedrt.InvalidInputError, match=r"page_table\[1\] = 5: expected a page below"):
        launch.run("read")
    assert np.all(launch.out == 0xDEADBEEF)
    launch.table[1] = 4
    assert np.all(launch.run("barrier", rounds=1) == 1)


def test_a_read_only_output(device):
    launch = Launch(device)
    launch.out.flags.writeable = False
    with pytest.raises(pagedrt.InvalidInputError, match="out: got a read-only array"):
        micro.run(device, "read", launch.memory, launch.table, launch.out, page_bytes=PAGE_BYTES, threadgroups=3)


def test_a_closed_device():
    device = pagedrt.Device("cpu")
    launch = Launch(device)
    device.close()
    for use in (lambda: launch.run("read"), lambda: micro.most_simdgroups(device, "read")):
        with pytest.raises(pagedrt.InvalidInputError, match="device: got a closed one"):
            use()
