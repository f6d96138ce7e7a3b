"""The interpreter ends with work in flight: the process ends too, at once and with the status it asked for."""

import subprocess

import pytest

from helpers import child

COMMON = """
import atexit, gc, os, sys, threading, time
import numpy as np
import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call

cell = Cell("float32", 64, 4, 4, 4000, 16)
device = pagedrt.Device({family!r})
call = Call(device, cell)
plan, stream, scratch = call.plan(), device.stream(), pagedrt.PagedAttentionScratch(device)


def submit(count=40):
    for _ in range(count):
        plan.run(*call.arrays, cell.context_tokens, call.out, stream)
        foreign = [array.copy() for array in call.inputs.arrays]
        pagedrt.paged_attention(*foreign, **call.keywords, stream=stream, scratch=scratch)


def loop():
    while True:
        plan.run(*call.arrays, cell.context_tokens, call.out)
        pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device)
        own = device.stream()
        pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, stream=own)
        own.synchronize()
"""

ENDINGS = {
    "end of program": ("submit()", 0),
    "exit": ("submit(); sys.exit(3)", 3),
    "os._exit": ("submit(); os._exit(4)", 4),
    "exception": ("submit(); raise SystemExit(5)", 5),
    "daemon threads": (
        "[threading.Thread(target=loop, daemon=True).start() for _ in range(4)]; time.sleep(0.05); submit()",
        0,
    ),
    "cycles": ("submit(); cycle = [device, plan, stream, scratch, call]; cycle.append(cycle); del cycle, stream", 0),
    "devices of their own": ("submit(); others = [pagedrt.Device('cpu') for _ in range(5)]; submit()", 0),
    "closed device": ("submit(); device.close()", 0),
    "atexit": ("submit(); atexit.register(lambda: (stream.synchronize(), call.check()))", 0),
    "atexit closes": ("atexit.register(device.close); submit()", 0),
    "a thread that ends later": (
        "submit(); threading.Thread(target=lambda: (time.sleep(0.1), submit(), stream.synchronize())).start()",
        0,
    ),
}


def ends(code, family="cpu", expected=0):
    process = child.start(COMMON.format(family=family) + code + "\n")
    try:
        out, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"hung: {process.communicate()}") from None
    assert process.returncode == expected, (process.returncode, out, errors)
    assert (out, errors) == ("", "")


@pytest.mark.parametrize("ending", ENDINGS)
def test_ending(ending):
    code, expected = ENDINGS[ending]
    for _ in range(2):
        ends(code, expected=expected)


def test_the_simulator_ends_too():
    ends(
        "submit = None; call = Call(device, Cell('float32', 32, 1, 1, 20, 16)); plan = call.plan()\n"
        "for _ in range(20): plan.run(*call.arrays, 20, call.out, stream)",
        family="simulator",
    )
