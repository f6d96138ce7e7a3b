"""fork() in the middle: the child gets DeviceError at once, whatever it tries, and the parent goes on."""

import pytest

from helpers import child

COMMON = """
import gc, os, signal, sys, threading, time
import numpy as np
import pagedrt
from helpers import cells
from helpers.cells import Cell
from helpers.device_arrays import Call

cell = Cell("float32", 32, 1, 2, {tokens}, 16)
device = pagedrt.Device({family!r})
call = Call(device, cell)
plan, stream, scratch = call.plan(), device.stream(), pagedrt.PagedAttentionScratch(device)


def submit():
    for _ in range({calls}):
        plan.run(*call.arrays, cell.context_tokens, call.out, stream)
        pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, stream=stream, scratch=scratch)


USES = {{
    "plan": lambda: plan.run(*call.arrays, cell.context_tokens, call.out),
    "plan on a stream": lambda: plan.run(*call.arrays, cell.context_tokens, call.out, stream),
    "call": lambda: pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device),
    "call on a stream": lambda: pagedrt.paged_attention(*call.arrays, **call.keywords, stream=stream),
    "call with a scratch": lambda: pagedrt.paged_attention(*call.arrays, **call.keywords, scratch=scratch),
    "call on the default device": lambda: pagedrt.paged_attention(*call.arrays, **call.keywords),
    "new device": pagedrt.Device,
    "new stream": device.stream,
    "new plan": call.plan,
    "new scratch": lambda: pagedrt.PagedAttentionScratch(device),
    "empty": lambda: device.empty(3, "float32"),
    "asarray": lambda: device.asarray(np.ones(3, np.float32)),
    "info": lambda: device.info,
    "stats": lambda: device.stats,
    "synchronize": stream.synchronize,
    "close plan": plan.close,
    "close stream": stream.close,
    "close device": device.close,
}}


def in_child():
    for name, use in USES.items():
        try:
            use()
        except pagedrt.DeviceError as error:
            assert "fork" in str(error), (name, str(error))
        else:
            raise AssertionError(name + " raised nothing")
    assert pagedrt.devices() == []


def fork(end=os._exit):
    # The child's exit status: 0 where all was as it should be, an alarm's where it hung.
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            in_child()
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(9)
        end(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def go_on():
    stream.synchronize()
    call.check()
    call.out[...] = 7
    plan.run(*call.arrays, cell.context_tokens, call.out)
    call.check()
    call.check(pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device))
"""


def run(code, family="cpu", tokens=1100, calls=60):
    return child.run(COMMON.format(family=family, tokens=tokens, calls=calls) + code)


@pytest.mark.parametrize(("family", "tokens", "calls"), [("cpu", 1100, 60), ("simulator", 20, 10)])
def test_from_the_main_thread(family, tokens, calls):
    code = """
for _ in range(5):
    submit()
    assert fork() == 0
go_on()
print("well")
"""
    assert run(code, family, tokens, calls) == "well\n"


def test_from_another_thread():
    code = """
codes = []
for _ in range(5):
    submit()
    thread = threading.Thread(target=lambda: codes.append(fork()))
    thread.start()
    thread.join()
assert codes == [0] * 5, codes
go_on()
print("well")
"""
    assert run(code) == "well\n"


def test_while_every_thread_is_busy():
    """Whatever native lock another thread holds at that moment stays locked in the child for ever."""
    code = """
done = False


def work(thread):
    out = device.empty(call.out.shape, "float32")
    own = device.stream()
    while not done:
        plan.run(*call.arrays, cell.context_tokens, out)
        pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, stream=own, scratch=scratch)
        device.zeros(1000, "float32")
        with pagedrt.Device("cpu") as other:
            other.stream().close()
        if thread % 2:
            own.synchronize()
    own.synchronize()


threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
for thread in threads:
    thread.start()
codes = []
for _ in range(20):
    submit()
    codes.append(fork())
done = True
for thread in threads:
    thread.join()
assert codes == [0] * 20, codes
go_on()
print("well")
"""
    assert run(code, calls=3) == "well\n"


def test_a_child_that_ends_like_any_program():
    """Interpreter shutdown in the child drops every object, with the parent's work in flight."""
    code = """
submit()
code = fork(end=sys.exit)
if code == 0:
    go_on()
    print("well")
"""
    assert run(code) == "well\n"


def test_multiprocessing():
    code = """
import multiprocessing


def work(queue):
    try:
        plan.run(*call.arrays, cell.context_tokens, call.out)
    except pagedrt.DeviceError as error:
        queue.put("fork" in str(error) and "spawn" in str(error))


context = multiprocessing.get_context("fork")
submit()
queue = context.Queue()
process = context.Process(target=work, args=(queue,))
process.start()
print(queue.get(timeout=20))
process.join(20)
print(process.exitcode)
go_on()
"""
    assert run(code) == "True\n0\n"


@pytest.mark.parametrize("delay", [0, 0.0005, 0.001, 0.002])
def test_while_another_thread_makes_the_default_device(delay):
    program = f"""
        import os, signal, sys, threading, time
        import pagedrt
        from helpers import cells
        from helpers.cells import Cell

        cell = Cell("float32", 32, 1, 2, 20, 16)
        inputs = cells.make(cell)
        thread = threading.Thread(target=lambda: cells.run(None, cell, inputs))
        thread.start()
        time.sleep({delay})
        pid = os.fork()
        if pid == 0:
            signal.alarm(20)
            try:
                cells.run(None, cell, inputs)
            except pagedrt.DeviceError:
                pass  # a fork before the first device leaves a child that may open its own
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        thread.join()
        cells.run(None, cell, inputs)
    """
    assert child.run(program) == "0\n"
