"""Objects made and closed while other threads use them: typed errors, no crash, no hang, nothing lost."""

import time

import crowd
import pytest

import pagedrt
from helpers import child, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call


def test_making_everything_at_once():
    before = softmetal.live_objects()
    cell = Cell("float32", 32, 1, 2, 1100, 16)

    def body(thread):
        for step in range(10):
            with pagedrt.Device("cpu", threads=1 + (thread + step) % 3) as device:
                call = Call(device, cell)
                with device.stream() as stream, call.plan() as plan:
                    plan.run(*call.arrays, cell.context_tokens, call.out, stream)
                call.check()

    crowd.run(body)
    assert softmetal.live_objects(before) == before


def test_making_on_one_device():
    """Pipelines are built once, whoever asks first."""
    cell = Cell("float32", 32, 1, 2, 1100, 16)
    for _ in range(10):
        with pagedrt.Device("cpu") as device:
            call = Call(device, cell)

            def body(thread, device=device, call=call):
                with device.stream() as stream, call.plan() as plan:
                    out = device.empty(call.out.shape, "float32")
                    plan.run(*call.arrays, cell.context_tokens, out, stream)
                    stream.synchronize()
                    call.check(out)

            crowd.run(body)
            assert device.stats["pipelines_built"] == 3  # one-pass, partial, and reduce, which opening the device built


def test_the_default_device_is_one():
    program = """
        import sys; sys.path.insert(0, {path!r})
        import crowd, pagedrt
        from helpers import cells
        from helpers.cells import Cell

        cell = Cell("float32", 32, 1, 2, 20, 16)
        inputs = cells.make(cell)
        outs = crowd.run(lambda thread: cells.run(None, cell, inputs))
        print(len({{id(out.base.device) for out in [*outs, cells.run(None, cell, inputs)]}}) <= crowd.THREADS + 1)
        again = crowd.run(lambda thread: cells.run(None, cell, inputs))
        print(len({{id(out.base.device) for out in again}}))
    """
    assert child.run(program.format(path=str(child.TESTS / "threads"))) == "True\n1\n"


CLOSING = """
import gc, sys, threading, time
sys.path.insert(0, {path!r})
import numpy as np
import crowd, pagedrt
from helpers import cells
from helpers.cells import Cell
from helpers.device_arrays import SENTINEL, Call, resident

what, rounds = {what!r}, {rounds}
cell = Cell("float32", 32, 2, 2, {tokens}, 16)
errors = set()
finished = 0


def use(world, thread):
    # Endless use, until what it needs is closed.
    device, plan, stream, scratch, call = world
    outs = []
    try:
        while True:
            out = resident(device, call.out) if thread % 2 else np.full_like(call.inputs.queries, SENTINEL)
            arrays = call.arrays if thread % 2 else [array.copy() for array in call.inputs.arrays]
            kind = thread % 4
            if kind == 0:
                pagedrt.paged_attention(*arrays, **call.keywords, stream=stream, out=out)
            elif kind == 1:
                plan.run(*arrays, cell.context_tokens, out, stream)
            elif kind == 2:
                pagedrt.paged_attention(*arrays, **call.keywords, scratch=scratch, device=device, out=out)
            else:
                plan.run(*arrays, cell.context_tokens, out)
            outs.append(out)
            if thread >= 6:
                made = [device.stream(), call.plan(), pagedrt.PagedAttentionScratch(device)]
                made[0].close()
            if thread >= 4 and kind < 2:
                stream.synchronize()
    except (pagedrt.InvalidInputError, pagedrt.DeviceError) as error:
        assert "closed" in str(error), repr(error)
        errors.add(type(error).__name__)
    return outs


for round in range(rounds):
    device = pagedrt.Device("cpu")
    call = Call(device, cell)
    world = [device, call.plan(), device.stream(), pagedrt.PagedAttentionScratch(device), call]

    def body(thread):
        if thread < crowd.THREADS:
            return use(world, thread)
        time.sleep(0.002 * (round % 8))
        for name in what.split():
            {{"device": world[0], "plan": world[1], "stream": world[2]}}[name].close()

    outs = crowd.run(body, crowd.THREADS + 1)
    # Every call that was taken was carried out.
    for thread in range(crowd.THREADS):
        for out in outs[thread]:
            assert not call.untouched(out), (round, thread)
            call.check(out)
            finished += 1
    device.close()
print(finished > rounds, sorted(errors) != [])
"""


@pytest.mark.parametrize("tokens", [50, 1100], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("what", ["stream plan device", "plan stream device", "device"])
def test_closing_what_others_use(what, tokens):
    program = CLOSING.format(path=str(child.TESTS / "threads"), what=what, rounds=25, tokens=tokens)
    assert child.run(program, timeout=100) == "True True\n"


def test_closing_one_thing_from_many_threads():
    cell = Cell("float32", 32, 1, 2, 1100, 16)
    for _ in range(20):
        device = pagedrt.Device("cpu")
        call = Call(device, cell)
        plan, stream = call.plan(), device.stream()
        for _ in range(5):
            plan.run(*call.arrays, cell.context_tokens, call.out, stream)

        def body(thread, things=(plan, stream, device)):
            for step in range(3):
                things[(thread + step) % 3].close()

        crowd.run(body)
        assert plan.closed
        assert stream.closed
        assert device.closed
        until = time.monotonic() + 10
        while call.untouched() and time.monotonic() < until:
            pass
        call.check()
