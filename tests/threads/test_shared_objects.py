"""Eight threads on one device: what they share does not show in any bit of their results."""

import crowd
import numpy as np
import pytest

import pagedrt
from helpers import cells
from helpers.cells import Cell
from helpers.device_arrays import SENTINEL, Call, resident

CELLS = {
    "cpu": [
        Cell("float32", 64, 2, 2, 50, 16),
        Cell("float16", 128, 2, 4, 2000, 16),
        Cell("bfloat16", 96, 1, 3, 1030, 8),
        Cell("float32", 32, 8, 1, 3000, 16),
        Cell("float32", 100, 3, 5, 200, 16),
    ],
    "simulator": [Cell("float32", 64, 2, 2, 20, 16), Cell("float16", 32, 1, 4, 33, 8)],
}
ROUNDS = {"cpu": 40, "simulator": 3}
PLAN_CELLS = {"cpu": Cell("float32", 64, 2, 4, 2000, 16), "simulator": Cell("float32", 64, 2, 2, 20, 16)}


@pytest.fixture(params=["cpu", "simulator"])
def device(request):
    with pagedrt.Device(request.param) as opened:
        yield opened


class Work:
    """Calls of several geometries, what each gives when alone, and a thread's comparison with that."""

    def __init__(self, device):
        self.device = device
        self.calls = [Call(device, cell) for cell in CELLS[device.family]]
        self.alone = []
        for call in self.calls:
            pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, out=call.out)
            call.check()
            self.alone.append(call.out.copy())

    def pick(self, thread, step):
        return (thread + step) % len(self.calls)

    def outs(self):
        return [resident(self.device, np.full_like(out, SENTINEL)) for out in self.alone]

    def same(self, index, out):
        assert np.array_equal(out.view(np.uint8), self.alone[index].view(np.uint8))
        out[...] = SENTINEL

    def steps(self, thread):
        outs = self.outs()
        for step in range(ROUNDS[self.device.family]):
            index = self.pick(thread, step)
            yield index, self.calls[index], outs[index]


def test_calls_that_wait(device):
    work = Work(device)

    def body(thread):
        for index, call, out in work.steps(thread):
            pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, out=out)
            work.same(index, out)

    crowd.run(body)


def test_a_stream_each(device):
    work = Work(device)

    def body(thread):
        with device.stream() as stream:
            for index, call, out in work.steps(thread):
                pagedrt.paged_attention(*call.arrays, **call.keywords, stream=stream, out=out)
                stream.synchronize()
                work.same(index, out)

    crowd.run(body)


def test_one_stream(device):
    work = Work(device)
    stream = device.stream()

    def body(thread):
        for index, call, out in work.steps(thread):
            pagedrt.paged_attention(*call.arrays, **call.keywords, stream=stream, out=out)
            stream.synchronize()
            work.same(index, out)

    crowd.run(body)


@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_one_scratch(device, streamed):
    """Threads of other geometries prepare it anew all the time."""
    work = Work(device)
    scratch = pagedrt.PagedAttentionScratch(device)

    def body(thread):
        place = {"stream": device.stream()} if streamed else {"device": device}
        for index, call, out in work.steps(thread):
            pagedrt.paged_attention(*call.arrays, **call.keywords, **place, scratch=scratch, out=out)
            if streamed:
                place["stream"].synchronize()
            work.same(index, out)

    crowd.run(body)


@pytest.mark.parametrize("streams", ["none", "each", "one"])
def test_one_plan(device, streams):
    cell = PLAN_CELLS[device.family]
    call = Call(device, cell)
    expected = cells.run(device, cell, call.inputs)
    call.check(expected)
    shared = device.stream()
    with call.plan() as plan:

        def body(thread):
            stream = {"none": None, "each": device.stream(), "one": shared}[streams]
            out = resident(device, np.full_like(expected, SENTINEL))
            for _ in range(ROUNDS[device.family]):
                plan.run(*call.arrays, cell.context_tokens, out, stream)
                if stream is not None:
                    stream.synchronize()
                assert np.array_equal(out.view(np.uint8), expected.view(np.uint8))
                out[...] = SENTINEL

        crowd.run(body)


def test_one_plan_at_many_lengths(device):
    """Each thread grows its own context, through one-pass and every split."""
    cell = PLAN_CELLS[device.family]
    call = Call(device, cell)
    lengths = np.linspace(1, cell.context_tokens, ROUNDS[device.family]).astype(int)

    def run(plan, tokens, out):
        dependency = resident(device, np.array([tokens], np.uint32))
        plan.run(*call.arrays[:4], dependency, int(tokens), out)
        return out.copy()

    with call.plan() as plan:
        alone = [run(plan, tokens, call.out) for tokens in lengths]

        def body(thread):
            out = resident(device, call.out)
            order = np.random.default_rng(thread).permutation(len(lengths))
            for index in order:
                assert np.array_equal(run(plan, lengths[index], out), alone[index])

        crowd.run(body)


def test_a_failure_stays_with_its_stream(device):
    """Half of the threads make calls that the device refuses; the others never hear of it."""
    cell = PLAN_CELLS[device.family]
    good, bad = Call(device, cell), Call(device, cell)
    bad.arrays[4][0] = cell.context_tokens + 1

    with good.plan() as plan:

        def body(thread):
            stream = device.stream()
            call = bad if thread % 2 else good
            out = resident(device, call.out)
            for _ in range(ROUNDS[device.family]):
                plan.run(*call.arrays, cell.context_tokens, out, stream)
                if thread % 2:
                    with pytest.raises(pagedrt.InvalidInputError, match=r"dependency\[0\]"):
                        stream.synchronize()
                    assert call.untouched(out)
                else:
                    stream.synchronize()
                    call.check(out)

        crowd.run(body)
