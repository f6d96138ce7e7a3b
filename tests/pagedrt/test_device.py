import subprocess
import sys
import time

import numpy as np
import pytest

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call
from pagedrt.device import FAMILIES

STATS = {
    "one_pass",
    "two_pass",
    "dispatches",
    "command_buffers",
    "waits",
    "copies",
    "copied_bytes",
    "pipelines_built",
    "scratch_prepares",
    "gpu_nanoseconds",
    "libraries_loaded",
    "libraries_compiled",
    "archive_hits",
    "archive_added",
    "archive_refused",
    "archive_unsaved",
}


def test_devices_are_those_that_open():
    working = pagedrt.devices()
    assert working == [family for family in FAMILIES if family in working]
    for family in FAMILIES:
        if family in working:
            with pagedrt.Device(family) as device:
                assert device.family == family
        else:
            with pytest.raises(pagedrt.DeviceError) as caught:
                pagedrt.Device(family)
            assert family in str(caught.value).lower()


def test_default_is_best():
    with pagedrt.Device() as device:
        assert device.family == pagedrt.devices()[0]


@pytest.mark.parametrize("family", ["CPU", "", "gpu", 3, b"cpu", np.array(["cpu", "simulator"])], ids=repr)
def test_unknown_family(family):
    with pytest.raises(pagedrt.InvalidInputError, match=r"family: got .* expected one of .*cpu"):
        pagedrt.Device(family)


def test_threads():
    with pagedrt.Device("cpu", threads=3) as device:
        assert device.info["worker_threads"] == 3


@pytest.mark.parametrize("threads", [0, -1, 1.5, "two", 1025, 2**32 - 1, 2**32])
def test_bad_threads(threads):
    with pytest.raises(pagedrt.InvalidInputError, match="threads: "):
        pagedrt.Device("cpu", threads=threads)


def test_info(device):
    info = device.info
    assert info["family"] == device.family
    assert info["max_buffer_length"] == device.max_buffer_length > 0
    assert info["simd_width"] >= 1
    page = info["memory_page"]
    assert page >= 4096
    assert page & (page - 1) == 0


def test_stats_are_a_snapshot(device):
    before = device.stats
    assert set(before) == STATS
    call = Call(device, Cell("float32", 8, 1, 1, 4, 4))
    pagedrt.paged_attention(*call.arrays, **call.keywords, device=device)
    after = device.stats
    assert before["one_pass"] == 0
    assert (after["one_pass"], after["two_pass"], after["dispatches"]) == (1, 0, 1)


def test_gpu_time_is_of_what_was_waited_for(device):
    call = Call(device, Cell("float32", 64, 2, 1, 2000, 16))
    start = time.perf_counter_ns()
    with device.stream() as stream:
        pagedrt.paged_attention(*call.arrays, **call.keywords, out=call.out, device=device, stream=stream)
        assert device.stats["gpu_nanoseconds"] == 0
        stream.synchronize()
    first = device.stats["gpu_nanoseconds"]
    pagedrt.paged_attention(*call.arrays, **call.keywords, out=call.out, device=device)
    both = device.stats["gpu_nanoseconds"]
    assert 0 < first < both < time.perf_counter_ns() - start


def test_close_is_idempotent():
    device = pagedrt.Device()
    array = device.zeros((2, 3), "float32")
    device.close()
    device.close()
    assert device.closed
    assert "closed" in repr(device)
    assert (array == 0).all()
    assert set(device.stats) == STATS
    for use in (
        lambda: device.empty(1, "float32"),
        lambda: device.zeros(1, "float32"),
        lambda: device.asarray(np.zeros(1)),
        lambda: device.stream(),
        lambda: device.info,
        lambda: pagedrt.PagedAttentionScratch(device),
        lambda: device.__enter__(),
    ):
        with pytest.raises(pagedrt.InvalidInputError, match="device: got a closed one"):
            use()


def test_a_forked_child_gets_an_error():
    """An error at once, never a hang; the parent's device goes on."""
    code = """
import os, sys, numpy as np, pagedrt
device = pagedrt.Device()
stream = device.stream()
child = os.fork()
if child == 0:
    for use in (lambda: device.empty(1, "float32"), stream.synchronize, pagedrt.Device, device.close):
        try:
            use()
            sys.exit(1)
        except pagedrt.DeviceError as error:
            if "fork" not in str(error):
                sys.exit(2)
    sys.exit(0)
_, status = os.waitpid(child, 0)
stream.synchronize()
print(os.waitstatus_to_exitcode(status), device.zeros(1, "float32"))
"""
    result = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout == "0 [0.]\n", result.stderr


def test_repr(device):
    assert repr(device) == f"<pagedrt.Device {device.family}>"


def test_error_family():
    assert issubclass(pagedrt.InvalidInputError, pagedrt.Error)
    assert issubclass(pagedrt.InvalidInputError, ValueError)
    assert issubclass(pagedrt.DeviceError, pagedrt.Error)
    assert issubclass(pagedrt.DeviceError, RuntimeError)
    assert issubclass(pagedrt.OutOfMemoryError, pagedrt.Error)
    assert issubclass(pagedrt.OutOfMemoryError, MemoryError)
