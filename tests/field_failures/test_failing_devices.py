"""Symptoms seen in other attention kernels: failures unseen or fatal, memory that never returns, needless work."""

import numpy as np
import pytest

import pagedrt
from helpers import child, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call
from helpers.memory import resident_bytes

CELL = Cell("float32", 32, 2, 2, 1100, 16)


def test_a_gpu_timeout_is_an_exception_and_not_an_abort():
    """An exception thrown in a completion handler ends the process."""
    program = """
        import pagedrt
        from helpers import softmetal
        from helpers.cells import Cell
        from helpers.device_arrays import Call

        with pagedrt.Device("cpu") as device:
            call = Call(device, Cell("float32", 32, 2, 2, 1100, 16))
            stream, plan = device.stream(), call.plan()
            plan.run(*call.arrays, 1100, call.out, stream)
            try:
                with softmetal.failing(1, softmetal.TIMEOUT):
                    stream.synchronize()
            except pagedrt.DeviceError as error:
                print(type(error).__name__)
            assert call.untouched()
            plan.run(*call.arrays, 1100, call.out, stream)
            stream.synchronize()
            call.check()
    """
    assert child.run(program) == "DeviceError\n"


def test_work_per_command_buffer_is_bounded(device):
    """One command buffer for a whole step runs into the GPU's time limit at long contexts."""
    call = Call(device, CELL)
    with call.plan() as plan, device.stream() as stream:
        for _ in range(1000):
            plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
    assert device.stats["command_buffers"] >= 1000 // 64
    call.check()


@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_memory_running_out_is_an_error_and_not_garbage(device, streamed):
    """The status of a command buffer that nobody looks at."""
    call = Call(device, CELL)
    stream = device.stream() if streamed else None
    with call.plan() as plan:
        plan.run(*call.arrays, CELL.context_tokens, call.out)
        call.out[...] = 7
        commit = 3  # after a command buffer and an encoder
        with softmetal.failing(commit, softmetal.OUT_OF_MEMORY), pytest.raises(pagedrt.OutOfMemoryError):
            plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
            stream.synchronize()
        assert call.untouched()
        plan.run(*call.arrays, CELL.context_tokens, call.out)
    call.check()


def test_memory_goes_back_with_the_last_array(device):
    """Buffers kept in a pool or a residency set stay wired."""
    size = 64 << 20
    array = device.zeros(size, "int8")
    array[...] = 1
    used = resident_bytes()
    view = array[5:10]
    del array
    assert used - resident_bytes() < size // 2
    del view
    assert used - resident_bytes() > size // 2
    with device.stream() as stream:
        call = Call(device, Cell("float32", 128, 8, 1, 4000, 16))
        pagedrt.paged_attention(*call.arrays, **call.keywords, stream=stream)
        used = resident_bytes()
        del call
    assert used - resident_bytes() > 16 << 20


def test_launches_leave_nothing_behind(device):
    """Objects released into a pool that no C caller has: kilobytes a launch."""
    call = Call(device, Cell("float32", 32, 1, 1, 4, 4))
    with call.plan() as plan, device.stream() as stream:

        def launch():
            plan.run(*call.arrays, 4, call.out)
            plan.run(*call.arrays, 4, call.out, stream)
            pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device)

        def settled():
            stream.synchronize()
            return softmetal.live_objects()

        for _ in range(500):
            launch()
        objects, memory = settled(), resident_bytes()
        for _ in range(5000):
            launch()
        assert settled() == objects
        assert resident_bytes() - memory < 1 << 20


def test_a_command_buffer_takes_many_calls(device):
    """A command buffer a call costs microseconds at each boundary."""
    call = Call(device, CELL)
    with call.plan() as plan, device.stream() as stream:
        before = device.stats
        for _ in range(64):
            plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
        stream.synchronize()
        after = device.stats
    assert after["command_buffers"] - before["command_buffers"] == 1
    assert after["dispatches"] - before["dispatches"] == 2 * 64  # both passes in it
    assert after["waits"] - before["waits"] == 1


def test_a_repeated_call_prepares_and_converts_nothing(device):
    """Conversions, lookups and host loops at every call cost more than the kernel."""
    call = Call(device, CELL)
    scratch, stream = pagedrt.PagedAttentionScratch(device), device.stream()
    grown = [device.asarray(np.concatenate([pages, pages], axis=1), copy=True) for pages in call.arrays[1:3]]
    with call.plan() as plan:

        def both(arrays):
            plan.run(*arrays, CELL.context_tokens, call.out, stream)
            pagedrt.paged_attention(*arrays, **call.keywords, scratch=scratch, stream=stream, out=call.out)

        both(call.arrays)
        before = device.stats
        for _ in range(20):
            both(call.arrays)
            both([call.arrays[0], *grown, *call.arrays[3:]])  # nor when the cache has grown
        after = device.stats
        stream.synchronize()
    for counter in ("pipelines_built", "scratch_prepares", "copies", "copied_bytes"):
        assert after[counter] == before[counter], counter
    call.check()
