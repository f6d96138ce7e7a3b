"""A command buffer that fails on one stream, and the streams that wait for it."""

import fault_walk
import pytest

import pagedrt
from helpers import child
from helpers.cells import Cell
from helpers.device_arrays import SENTINEL, Call

TWO_PASS = Cell("float32", 32, 1, 2, 1030, 16)


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        *((code, pagedrt.DeviceError) for code in (1, 2, 3, 4, 7, 9, 10, 11, 12)),
        (fault_walk.OUT_OF_MEMORY, pagedrt.OutOfMemoryError),
    ],
)
def test_the_code_chooses_the_exception(code, raised):
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        with call.plan() as plan, device.stream() as stream:
            plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
            with fault_walk.failing(1, code), pytest.raises(raised, match="command buffer failed: .*for a test") as caught:
                stream.synchronize()
            assert type(caught.value) is raised
            assert call.untouched()
            stream.synchronize()  # once
            plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
        call.check()


def test_the_first_of_two_failures_is_told():
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        with call.plan() as plan, device.stream() as stream:
            call.arrays[4][0] = TWO_PASS.context_tokens + 1
            plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
            for _ in range(63):  # fills the command buffer, so that the next run commits it
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
            with fault_walk.failing(3):  # after a command buffer and an encoder comes the first commit
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
                with pytest.raises(pagedrt.Error) as caught:
                    stream.synchronize()
            stream.synchronize()
            assert isinstance(caught.value, pagedrt.InvalidInputError | pagedrt.DeviceError)


def test_a_call_on_a_failed_command_buffer_leaves_others_alone():
    """Calls of the failed command buffer are lost together; those before and after are not."""
    with pagedrt.Device("cpu") as device:
        calls = [Call(device, TWO_PASS) for _ in range(3)]
        with calls[0].plan() as plan, device.stream() as stream:
            for number, call in enumerate(calls):
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
                if number == 1:
                    with fault_walk.failing(1), pytest.raises(pagedrt.DeviceError):
                        stream.synchronize()
                else:
                    stream.synchronize()
        calls[0].check()
        assert calls[1].untouched()
        calls[2].check()


SHARING = """
import itertools
import fault_walk
import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import SENTINEL, Call

cell = Cell("float32", 32, 1, 2, 1030, 16)


def attempt(device, calls, streams, run):
    failures = 0
    for stream, call in zip(itertools.cycle(streams), calls):
        call.out[...] = SENTINEL
        try:
            run(call, stream)
        except (pagedrt.DeviceError, pagedrt.OutOfMemoryError):
            failures += 1
    for stream in reversed(streams):
        try:
            stream.synchronize()
        except (pagedrt.DeviceError, pagedrt.OutOfMemoryError):
            failures += 1
    return failures


def walk(device, calls, streams, run):
    for number in range(1, 100):
        with fault_walk.failing(number):
            failures = attempt(device, calls, streams, run)
            made = fault_walk.softmetal.library.softmetal_testing_calls_made()
        lost = [call for call in calls if call.untouched()]
        for call in calls:
            if call not in lost:
                call.check()
        if made < number:
            assert failures == 0 and not lost
            return number
        assert failures == 1 and lost, (number, failures, lost)
        assert attempt(device, calls, streams, run) == 0
        for call in calls:
            call.check()
    raise AssertionError


with pagedrt.Device("cpu") as device:
    calls = [Call(device, cell) for _ in range(7)]
    streams = [device.stream() for _ in range(2)]
    scratch = pagedrt.PagedAttentionScratch(device)

    def with_scratch(call, stream):
        pagedrt.paged_attention(*call.arrays, **call.keywords, scratch=scratch, stream=stream, out=call.out)

    attempt(device, calls, streams, with_scratch)
    print(walk(device, calls, streams, with_scratch) > 10)
    plan = calls[0].plan()

    def with_plan(call, stream):
        plan.run(*call.arrays, cell.context_tokens, call.out, stream)

    print(walk(device, calls, streams, with_plan) > 10)
"""


def test_streams_that_share_a_scratch_or_a_plan_do_not_hang():
    """A failed command buffer signals no event: who waits for it must still be let go."""
    program = "import sys; sys.path.insert(0, %r)\n" % str(child.TESTS / "faults") + SHARING
    assert child.run(program, timeout=60) == "True\nTrue\n"


@pytest.mark.parametrize("end", ["close", "delete", "device"])
def test_ends_after_a_failure(end):
    """A stream whose command buffer failed is closed, dropped or ended with its device, another waiting for it."""
    program = f"""
        import sys; sys.path.insert(0, {str(child.TESTS / "faults")!r})
        import gc, fault_walk, pagedrt
        from helpers.cells import Cell
        from helpers.device_arrays import Call

        cell = Cell("float32", 32, 1, 2, 1030, 16)
        device = pagedrt.Device("cpu")
        first, second = Call(device, cell), Call(device, cell)
        plan = first.plan()
        streams = [device.stream() for _ in range(2)]
        plan.run(*first.arrays, 1030, first.out, streams[0])
        with fault_walk.failing(1):
            plan.run(*second.arrays, 1030, second.out, streams[1])  # commits the first stream's, which fails
        assert fault_walk.softmetal.library.softmetal_testing_calls_made() >= 1
        end = {end!r}
        if end == "close":
            streams[1].close()
            try:
                streams[0].close()
                print("no error")
            except pagedrt.DeviceError as error:
                print("for a test" in str(error))
        elif end == "delete":
            streams.clear()
            gc.collect()
            print(True)
        else:
            try:
                device.close()
                print("no error")
            except pagedrt.DeviceError as error:
                print("for a test" in str(error))
        assert first.untouched()
        second.check()
    """
    assert child.run(program) == "True\n"


def test_a_failed_output_is_not_delivered_to_foreign_memory():
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        out = call.inputs.queries.copy()
        out[...] = SENTINEL
        stream = device.stream()
        pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, stream=stream, out=out)
        with fault_walk.failing(1), pytest.raises(pagedrt.DeviceError):
            stream.synchronize()
        assert call.untouched(out)
