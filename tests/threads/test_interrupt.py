"""KeyboardInterrupt while a call waits: raised when the wait is over, with nothing lost or half done."""

import pytest

from helpers import child

COMMON = """
import os, signal, sys, threading, time
import numpy as np
import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to it
cell = Cell("float32", 64, 4, 4, {tokens}, 16)
device = pagedrt.Device({family!r})
call = Call(device, cell)
plan, stream = call.plan(), device.stream()
plan.run(*call.arrays, cell.context_tokens, call.out)  # right also where the signal comes before the first call
call.check()


def interrupt_soon(delay):
    # From a thread, so that the signal comes while the main thread waits without the GIL.
    def send():
        time.sleep(delay)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=send).start()


def check_all():
    stream.synchronize()
    for out in (call.out, pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device)):
        call.check(out)
        out[...] = 7
    plan.run(*call.arrays, cell.context_tokens, call.out)
    call.check()
    plan.run(*call.arrays, cell.context_tokens, call.out, stream)
    stream.synchronize()
    call.check()
"""

WAITS = {
    "synchronize": """
for _ in range({calls}):
    plan.run(*call.arrays, cell.context_tokens, call.out, stream)
try:
    interrupt_soon(delay)
    while True:
        stream.synchronize()
except KeyboardInterrupt:
    pass
""",
    "with": """
try:
    with stream:
        for _ in range({calls}):
            plan.run(*call.arrays, cell.context_tokens, call.out, stream)
        interrupt_soon(delay)
    while True:
        pass
except KeyboardInterrupt:
    pass
""",
    "plan": """
try:
    interrupt_soon(delay)
    while True:
        plan.run(*call.arrays, cell.context_tokens, call.out)
except KeyboardInterrupt:
    pass
""",
    "plan on a stream": """
try:
    interrupt_soon(delay)
    while True:
        plan.run(*call.arrays, cell.context_tokens, call.out, stream)
except KeyboardInterrupt:
    pass
""",
    "call": """
try:
    interrupt_soon(delay)
    while True:
        out = pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device)
except KeyboardInterrupt:
    pass
plan.run(*call.arrays, cell.context_tokens, call.out)
""",
    "call on a stream": """
try:
    interrupt_soon(delay)
    while True:
        pagedrt.paged_attention(*(array.copy() for array in call.inputs.arrays), **call.keywords, stream=stream)
except KeyboardInterrupt:
    pass
plan.run(*call.arrays, cell.context_tokens, call.out, stream)
""",
    "close": """
for _ in range({calls}):
    plan.run(*call.arrays, cell.context_tokens, call.out, stream)
try:
    interrupt_soon(delay)
    stream.close()
    while True:
        pass
except KeyboardInterrupt:
    pass
stream.close()  # where the signal came before the call
call.check()
stream = device.stream()
""",
}


@pytest.mark.parametrize("wait", WAITS)
def test_interrupted(wait):
    once = WAITS[wait].format(calls=200)
    rounds = "for delay in (0, 0.001, 0.005, 0.02):\n" + "".join(f"    {line}\n" for line in once.splitlines())
    program = COMMON.format(family="cpu", tokens=4000) + rounds + "    check_all()\nprint('well')\n"
    assert child.run(program) == "well\n"


@pytest.mark.parametrize("wait", ["synchronize", "plan", "call on a stream"])
def test_interrupted_on_the_simulator(wait):
    """The signal comes while a fiber runs on a stack of its own."""
    once = WAITS[wait].format(calls=10)
    program = COMMON.format(family="simulator", tokens=20) + "delay = 0.02\n" + once + "check_all()\nprint('well')\n"
    assert child.run(program) == "well\n"


def test_a_handler_that_raises_something_else():
    """And one that uses the device itself, between two bytecodes of the call it interrupts."""
    code = """
class Stop(Exception):
    pass


def handler(number, frame):
    plan.run(*call.arrays, cell.context_tokens, other)
    stream.synchronize()
    raise Stop


other = device.empty(call.out.shape, "float32")
signal.signal(signal.SIGINT, handler)
for delay in (0, 0.002, 0.01):
    try:
        interrupt_soon(delay)
        while True:
            plan.run(*call.arrays, cell.context_tokens, call.out, stream)
            stream.synchronize()
    except Stop:
        pass
    call.check(other)
    check_all()
print("well")
"""
    assert child.run(COMMON.format(family="cpu", tokens=4000) + code) == "well\n"
