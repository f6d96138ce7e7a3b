"""A command buffer that fails on one stream, and the streams that wait for it."""

import pytest

import pagedrt
from helpers import child, softmetal
from helpers.cells import Cell
from helpers.device_arrays import SENTINEL, Call

TWO_PASS = Cell("float32", 32, 1, 2, 1030, 16)


@pytest.mark.parametrize(
    ("code", "raised"),
    [
        *((code, pagedrt.DeviceError) for code in (1, 2, 3, 4, 7, 9, 10, 11, 12)),
        (softmetal.OUT_OF_MEMORY, pagedrt.OutOfMemoryError),
    ],
)
def test_the_code_chooses_the_exception(code, raised):
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        with call.plan() as plan, device.stream() as stream:
            plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
            with (
                softmetal.failing(1, code),
                pytest.raises(raised, match=r"command buffer failed: .*for a test") as caught,
            ):
                stream.synchronize()
            assert type(caught.value) is raised
            assert call.untouched()
            stream.synchronize()  # once
            plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
        call.check()


def test_the_first_of_two_failures_is_told():
    """What a good command buffer saw, before what failed the next one."""
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        with call.plan() as plan, device.stream() as stream:
            call.arrays[4][0] = TWO_PASS.context_tokens + 1
            for _ in range(64):  # a command buffer full
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
            with softmetal.failing(4):  # its commit, the next command buffer and encoder, and that one's commit
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
                with pytest.raises(pagedrt.InvalidInputError, match="dependency"):
                    stream.synchronize()
                assert softmetal.calls_made() == 4
            stream.synchronize()
            assert call.untouched()


def test_a_call_on_a_failed_command_buffer_leaves_others_alone():
    """Calls of the failed command buffer are lost together; those before and after are not."""
    with pagedrt.Device("cpu") as device:
        calls = [Call(device, TWO_PASS) for _ in range(3)]
        with calls[0].plan() as plan, device.stream() as stream:
            for number, call in enumerate(calls):
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
                if number == 1:
                    with softmetal.failing(1), pytest.raises(pagedrt.DeviceError):
                        stream.synchronize()
                else:
                    stream.synchronize()
        calls[0].check()
        assert calls[1].untouched()
        calls[2].check()


SHARING = """
import itertools
import pagedrt
from helpers import softmetal
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
        with softmetal.failing(number):
            failures = attempt(device, calls, streams, run)
            made = softmetal.calls_made()
        lost = 0
        for call in calls:
            if call.untouched():
                lost += 1
            else:
                call.check()
        if made < number:
            assert (failures, lost) == (0, 0)
            return number
        assert failures == 1 <= lost, (number, failures, lost)
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
    assert child.run(SHARING) == "True\nTrue\n"


@pytest.mark.parametrize("end", ["close", "delete", "device"])
def test_ends_after_a_failure(end):
    """A stream whose command buffer failed is closed, dropped or ended with its device, another waiting for it."""
    program = f"""
        import gc, pagedrt
        from helpers import softmetal
        from helpers.cells import Cell
        from helpers.device_arrays import Call

        cell = Cell("float32", 64, 4, 4, 4000, 16)
        device = pagedrt.Device("cpu")
        busy, first, second = (Call(device, cell) for _ in range(3))
        plan = first.plan()
        streams = [device.stream() for _ in range(2)]
        for _ in range(64):  # a command buffer full, so that the next one is still waited for
            plan.run(*busy.arrays, 4000, busy.out, streams[0])
        plan.run(*first.arrays, 4000, first.out, streams[0])
        with softmetal.failing(1):
            plan.run(*second.arrays, 4000, second.out, streams[1])  # commits the first stream's, which fails
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
        with softmetal.failing(1), pytest.raises(pagedrt.DeviceError):
            stream.synchronize()
        assert call.untouched(out)


def test_failures_among_threads_that_share_do_not_hang():
    """Four streams wait for each other's events while one Metal call of some thread fails."""
    program = """
        import threading
        import pagedrt
        from helpers import softmetal
        from helpers.cells import Cell
        from helpers.device_arrays import SENTINEL, Call

        cell = Cell("float32", 32, 1, 2, 1030, 16)
        THREADS, CALLS = 4, 6
        unexpected = []


        def together(failing):
            failures = []

            def work(number):
                for call in calls[number]:
                    call.out[...] = SENTINEL
                    try:
                        if failing % 2:
                            plan.run(*call.arrays, cell.context_tokens, call.out, streams[number])
                        else:
                            pagedrt.paged_attention(
                                *call.arrays, **call.keywords, scratch=scratch, stream=streams[number], out=call.out
                            )
                    except (pagedrt.DeviceError, pagedrt.OutOfMemoryError) as error:
                        failures.append(error)
                    except BaseException as error:
                        unexpected.append(error)
                try:
                    streams[number].synchronize()
                except (pagedrt.DeviceError, pagedrt.OutOfMemoryError) as error:
                    failures.append(error)

            threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for call in sum(calls, []):
                if not (failures and call.untouched()):
                    call.check()
            return len(failures)


        with pagedrt.Device("cpu") as device:
            calls = [[Call(device, cell) for _ in range(CALLS)] for _ in range(THREADS)]
            streams = [device.stream() for _ in range(THREADS)]
            scratch, plan = pagedrt.PagedAttentionScratch(device), calls[0][0].plan()
            for number in range(1, 60):
                with softmetal.failing(number):
                    assert together(number) <= 1
                assert together(number) == 0
            assert unexpected == []
        print("well")
    """
    assert child.run(program) == "well\n"


def test_a_chain_of_a_thousand_streams():
    """Each stream waits for the one before, and the first of them fails."""
    program = """
        import pagedrt
        from helpers import softmetal
        from helpers.cells import Cell
        from helpers.device_arrays import SENTINEL, Call

        with pagedrt.Device("cpu") as device:
            call = Call(device, Cell("float32", 64, 4, 4, 4000, 16))
            busy, first = call.out, device.asarray(call.out, copy=True)
            plan, streams = call.plan(), [device.stream() for _ in range(1000)]
            for _ in range(64):  # a command buffer full, so that the next one is still waited for
                plan.run(*call.arrays, 4000, busy, streams[0])
            plan.run(*call.arrays, 4000, first, streams[0])
            call.out = device.empty(first.shape, "float32")
            with softmetal.failing(1):
                for stream in streams[1:]:
                    plan.run(*call.arrays, 4000, call.out, stream)
            streams[-1].synchronize()
            call.check()
            call.check(busy)
            assert call.untouched(first)
            try:
                streams[0].synchronize()
            except pagedrt.DeviceError:
                print("well")
    """
    assert child.run(program) == "well\n"
