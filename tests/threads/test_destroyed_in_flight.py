"""Arrays, buffers, plans, scratches, streams and devices dropped in any order with their work in flight."""

import pytest

import pagedrt
from helpers import child, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call

PROGRAM = """
import gc, mmap, random, sys
import numpy as np
import pagedrt
from helpers import cells, oracle
from helpers.cells import Cell
from helpers.device_arrays import Call

family, tokens, rounds, calls = {family!r}, {tokens}, {rounds}, {calls}
cell = Cell("float32", 32, 2, 2, tokens, 16)
inputs = cells.make(cell)
expected = cells.expected(cell, inputs)


def mapped(array):
    # Memory that is unmapped with its last view: a late read or write of it ends the process.
    memory = mmap.mmap(-1, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)
    view = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
    view[...] = array
    return view


def whole_pages(shape):
    # A foreign output that the device writes in place.
    return np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), np.uint8)


for seed in range(rounds):
    rng = random.Random(seed)
    device = pagedrt.Device(family)
    call = Call(device, cell)
    things = {{
        "device": device,
        "stream": device.stream(),
        "plan": call.plan(),
        "scratch": pagedrt.PagedAttentionScratch(device),
    }}
    outs = []
    for number in range(calls):
        foreign = [mapped(array) for array in inputs.arrays]
        kind = rng.randrange(4)
        stream = things["stream"]
        if kind == 0:  # the call adopts it, for itself
            out = call.inputs.queries.copy()
            pagedrt.paged_attention(*foreign, **call.keywords, stream=stream, out=out)
        elif kind == 1:  # adopted by an array that is gone with the call
            out = device.empty(call.out.shape, "float32")
            things["plan"].run(*[device.asarray(array) for array in foreign], tokens, out, stream)
        elif kind == 2:
            memory = device.asarray(whole_pages(call.out.shape), copy=False)
            out = memory[: call.out.nbytes].view(np.float32).reshape(call.out.shape)
            pagedrt.paged_attention(
                *foreign, **call.keywords, stream=stream, scratch=things["scratch"], out=out
            )
        else:
            out = pagedrt.paged_attention(
                *[device.asarray(array, copy=True) for array in foreign],
                **call.keywords, stream=stream, scratch=things["scratch"],
            )
        outs.append(out if rng.random() < 0.5 else None)
        del foreign, out, stream
    if "memory" in globals():
        del memory
    del device, call
    order = list(things)
    rng.shuffle(order)
    for name in order:
        del things[name]
        if rng.random() < 0.5:
            gc.collect()
    # The stream is gone, so its work is done.
    for out in outs:
        if out is not None:
            oracle.check(out, expected)
print("well")
"""


@pytest.mark.parametrize(
    ("family", "tokens", "rounds", "calls"),
    [("cpu", 300, 60, 12), ("cpu", 1100, 40, 12), ("simulator", 20, 5, 6)],
    ids=["one-pass", "two-pass", "simulator"],
)
def test_any_order(family, tokens, rounds, calls):
    program = PROGRAM.format(family=family, tokens=tokens, rounds=rounds, calls=calls)
    assert child.run(program, timeout=100) == "well\n"


def test_a_device_closed_with_arrays_in_flight():
    """close() finishes the work; memory that was in use may go at once, wherever it was."""
    program = """
        import mmap
        import numpy as np
        import pagedrt
        from helpers import cells
        from helpers.cells import Cell
        from helpers.device_arrays import Call

        cell = Cell("float32", 32, 2, 2, 1100, 16)
        for _ in range(30):
            device = pagedrt.Device("cpu")
            call = Call(device, cell)
            stream = device.stream()
            pages = [np.frombuffer(mmap.mmap(-1, array.nbytes), array.dtype) for array in call.inputs.arrays[1:3]]
            for view, array in zip(pages, call.inputs.arrays[1:3]):
                view[...] = array.ravel()
            arrays = [call.arrays[0], *(view.reshape(call.arrays[1].shape) for view in pages), *call.arrays[3:]]
            for _ in range(10):
                pagedrt.paged_attention(*arrays, **call.keywords, stream=stream, out=call.out)
            device.close()
            del pages, view, arrays, stream
            call.check()
        print("well")
    """
    assert child.run(program) == "well\n"


def test_a_stream_in_a_reference_cycle():
    """The garbage collector finds the stream: what its calls use must not go before it."""
    program = """
        import gc
        import numpy as np
        import pagedrt
        from helpers.cells import Cell
        from helpers.device_arrays import Call

        device = pagedrt.Device("cpu")
        call = Call(device, Cell("float32", 64, 4, 4, 3000, 16))
        for _ in range(5):
            stream = device.stream()
            outs = [device.empty(call.out.shape, "float32") for _ in range(10)]
            for out in outs:
                foreign = [array.copy() for array in call.inputs.arrays]
                pagedrt.paged_attention(*foreign, **call.keywords, stream=stream, out=out)
            cycle = [stream]
            cycle.append(cycle)
            del cycle, stream, foreign
            gc.collect()
            for out in outs:
                call.check(out)
        print("well")
    """
    assert child.run(program) == "well\n"


def test_a_closed_plans_memory_goes_back():
    """Its buffer, alone of what is alive: pipelines are the device's."""
    cell = Cell("float32", 32, 1, 2, 1100, 16)
    with pagedrt.Device("cpu") as device:
        call = Call(device, cell)
        plan = call.plan()
        plan.run(*call.arrays, cell.context_tokens, call.out)
        before = softmetal.live_objects()
        plan.close()
        assert softmetal.live_objects(before - 1) == before - 1


def test_a_plan_closed_with_runs_in_flight():
    cell = Cell("float32", 32, 1, 2, 1100, 16)
    with pagedrt.Device("cpu") as device, device.stream() as stream:
        call = Call(device, cell)
        outs = [device.empty(call.out.shape, "float32") for _ in range(100)]
        with call.plan() as plan:
            for out in outs:
                plan.run(*call.arrays, cell.context_tokens, out, stream)
        with call.plan():  # takes memory like that just given back
            stream.synchronize()
        for out in outs:
            call.check(out)
