"""Each fallible Metal call of a job fails once: a typed exception, nothing leaked, and the next try works."""

import contextlib

import fault_walk
import numpy as np
import pytest

import pagedrt
from helpers import cells, softmetal
from helpers.cells import Cell
from helpers.device_arrays import SENTINEL, Call
from pagedrt import micro

ONE_PASS = Cell("float32", 64, 2, 2, 50, 16)
TWO_PASS = Cell("float16", 32, 1, 2, 1030, 16)
CELLS = pytest.mark.parametrize("cell", [ONE_PASS, TWO_PASS], ids=["one-pass", "two-pass"])
CODES = pytest.mark.parametrize("code", [softmetal.INTERNAL, softmetal.OUT_OF_MEMORY], ids=["internal", "memory"])


@pytest.fixture(params=["cpu", "simulator"])
def family(request):
    return request.param


def stays_or_is_right(call):
    """A check for outputs: what failed left out alone, or had made it right before."""

    def check(failed):
        if not (failed and call.untouched()):
            call.check()
        call.out[...] = SENTINEL

    return check


def test_device(family):
    @contextlib.contextmanager
    def job():
        def attempt():
            with pagedrt.Device(family) as device:
                assert device.info["simd_width"] >= 1

        yield attempt, lambda failed: None

    seen = fault_walk.walk(job)
    seen.reached("library sdpa_reduce", "function pagedrt_sdpa_reduce", "pipeline pagedrt_sdpa_reduce")


def test_stream():
    @contextlib.contextmanager
    def job():
        with pagedrt.Device("cpu") as device:
            yield lambda: device.stream().close(), lambda failed: None

    seen = fault_walk.walk(job)
    assert seen.calls == 10  # queue, event, 8 status buffers
    assert len(seen.messages) == 10
    seen.reached("no queue, event or status buffer")


def test_arrays():
    @contextlib.contextmanager
    def job():
        foreign = np.arange(1000, dtype=np.float32)
        with pagedrt.Device("cpu") as device:

            def attempt():
                assert device.asarray(foreign)[999] == 999
                assert (device.zeros((3, 5), "float16") == 0).all()
                assert device.asarray(foreign, copy=True)[1] == 1

            yield attempt, lambda failed: None

    seen = fault_walk.walk(job)
    seen.reached("no 30 bytes for a buffer")


@CODES
@CELLS
@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_plan(family, cell, streamed, code):
    """From the plan's creation to the result."""
    if family == "simulator" and (cell is TWO_PASS or code != softmetal.INTERNAL):
        cell = Cell("float16", 32, 1, 2, 20, 16)

    @contextlib.contextmanager
    def job():
        with pagedrt.Device(family) as device:
            call = Call(device, cell)

            def attempt():
                with call.plan() as plan:
                    if not streamed:
                        plan.run(*call.arrays, cell.context_tokens, call.out)
                        return
                    with device.stream() as stream:
                        plan.run(*call.arrays, cell.context_tokens, call.out, stream)

            yield attempt, stays_or_is_right(call)

    seen = fault_walk.walk(job, code)
    seen.reached("library", "function", "pipeline", "queue", "no command buffer", "no command encoder", "for a test")
    if cell is TWO_PASS:
        seen.reached("sdpa_one_pass", "sdpa_partial", "for a buffer")


@CODES
@CELLS
def test_plan_that_exists(cell, code):
    """The plan and the stream that a failure struck go on."""

    @contextlib.contextmanager
    def job():
        with pagedrt.Device("cpu") as device:
            call = Call(device, cell)
            with call.plan() as plan, device.stream() as stream:

                def attempt():
                    plan.run(*call.arrays, cell.context_tokens, call.out, stream)
                    stream.synchronize()

                yield attempt, stays_or_is_right(call)

    seen = fault_walk.walk(job, code)
    assert seen.calls == 3
    seen.reached("no command buffer", "no command encoder", "for a test")


OUTPUTS = {
    "owned": lambda call: call.out,
    "bounced": lambda call: np.full_like(call.inputs.queries, SENTINEL),
}


@CODES
@CELLS
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("foreign", [False, True], ids=["owned", "foreign"])
@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_one_call(cell, streamed, foreign, output, code):
    """Where memory cannot be used in place it is copied, so that some failures cost a copy and no more."""
    one_shot(cell, streamed, foreign, output, code, scratch=False)


@CODES
@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_one_call_with_a_scratch(streamed, code):
    one_shot(TWO_PASS, streamed, False, "owned", code, scratch=True)


def one_shot(cell, streamed, foreign, output, code, scratch):
    @contextlib.contextmanager
    def job():
        with pagedrt.Device("cpu") as device:
            call = Call(device, cell)
            call.out = OUTPUTS[output](call)
            arrays = call.inputs.arrays if foreign else call.arrays
            more = {"scratch": pagedrt.PagedAttentionScratch(device)} if scratch else {}

            def attempt():
                if not streamed:
                    pagedrt.paged_attention(*arrays, **call.keywords, **more, device=device, out=call.out)
                    return
                with device.stream() as stream:
                    pagedrt.paged_attention(*arrays, **call.keywords, **more, stream=stream, out=call.out)

            yield attempt, stays_or_is_right(call)

    seen = fault_walk.walk(job, code)
    seen.reached("function", "pipeline", "queue", "no command buffer", "no command encoder", "for a test")
    if cell is TWO_PASS:
        seen.reached("sdpa_partial", "for a buffer")


def test_one_call_that_makes_its_output():
    @contextlib.contextmanager
    def job():
        with pagedrt.Device("cpu") as device:
            call = Call(device, ONE_PASS)

            def attempt():
                call.out = pagedrt.paged_attention(*call.arrays, **call.keywords, device=device)

            def check(failed):
                assert not failed or call.untouched()
                if not failed:
                    call.check()

            yield attempt, check

    fault_walk.walk(job)


@CODES
def test_microbenchmark(family, code):
    @contextlib.contextmanager
    def job():
        with pagedrt.Device(family) as device:
            width = device.info["simd_width"]
            memory, table, out = device.zeros(512, "uint32"), device.zeros(1, "uint32"), device.zeros(width, "uint32")

            def attempt():
                more = {"page_bytes": 2048, "threadgroups": 1, "rounds": 7, "command_buffers": 3}
                micro.run(device, "barrier", memory, table, out, **more)

            def check(failed):
                assert np.all(out == 7) or (failed and np.all(out == 0))
                out[...] = 0

            yield attempt, check

    seen = fault_walk.walk(job, code)
    seen.reached("library micro", "pipeline pagedrt_micro_barrier", "queue", "no command buffer", "for a test")


def test_values_survive_every_failure_together():
    """One device, one scratch and one stream through all failures of a call, without a fresh start between."""
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        scratch, stream = pagedrt.PagedAttentionScratch(device), device.stream()
        inputs = cells.make(TWO_PASS)
        for number in range(1, 40):
            with softmetal.failing(number):
                try:
                    cells.run(device, TWO_PASS, inputs, scratch=scratch, stream=stream)
                    stream.synchronize()
                except (pagedrt.DeviceError, pagedrt.OutOfMemoryError):
                    pass
            call.check(cells.run(device, TWO_PASS, inputs, scratch=scratch))
            out = cells.run(device, TWO_PASS, inputs, scratch=scratch, stream=stream)
            stream.synchronize()
            call.check(out)
