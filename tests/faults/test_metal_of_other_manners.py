"""What Metal may do on a Mac and softmetal not of itself: wrap no memory, hold few command buffers, find no pool."""

import mmap
import threading

import numpy as np
import pytest

import pagedrt
from helpers import softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call

ONE_PASS = Cell("float32", 64, 2, 2, 40, 16)
TWO_PASS = Cell("float32", 64, 2, 2, 1100, 16)


def copies(device):
    return device.stats["copies"]


@pytest.mark.parametrize("cell", [ONE_PASS, TWO_PASS], ids=["one_pass", "two_pass"])
@pytest.mark.parametrize("streamed", [False, True])
def test_memory_that_metal_does_not_wrap_is_copied(cell, streamed):
    with pagedrt.Device("cpu") as device, softmetal.no_copy_refused():
        call = Call(device, cell)
        out = np.zeros_like(call.inputs.queries)
        before = copies(device)
        with device.stream() as stream:
            where = {"stream": stream} if streamed else {"device": device}
            pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, **where, out=out)
        call.check(out)
        assert copies(device) == before + 6  # five inputs and out


def test_whole_pages_that_metal_does_not_wrap_are_copied():
    with pagedrt.Device("cpu") as device, softmetal.no_copy_refused():
        pages = np.frombuffer(mmap.mmap(-1, device.info["memory_page"]), np.float32)
        with pytest.raises(pagedrt.InvalidInputError, match="copy is False"):
            device.asarray(pages, copy=False)
        assert copies(device) == 0
        pages[...] = 3
        copied = device.asarray(pages)
        assert copied.tolist() == pages.tolist()
        assert copied.ctypes.data != pages.ctypes.data
        assert copies(device) == 1


@pytest.mark.parametrize("limit", [1, 8])
def test_few_command_buffers(limit):
    """A ninth would wait inside Metal, where no failure of another stream could be told it: a stream holds eight."""
    with softmetal.max_command_buffers(limit), pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        before = softmetal.command_buffer_waits()
        with call.plan() as plan, device.stream() as stream:
            for _ in range(64 * 20):
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
        call.check()
        assert device.stats["command_buffers"] >= 20
        assert limit == 1 or softmetal.command_buffer_waits() == before


def test_a_thread_without_a_pool_leaves_nothing_behind():
    """Counted while it lives: its end would let go of what it had autoreleased."""
    with pagedrt.Device("cpu") as device:
        call = Call(device, TWO_PASS)
        counts = []

        def use_all():
            with pagedrt.Device("simulator") as other:
                assert other.info["family"] == "simulator"
            pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, device=device)
            with call.plan() as plan, device.stream() as stream:
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out)
                plan.run(*call.arrays, TWO_PASS.context_tokens, call.out, stream)
                pagedrt.paged_attention(*call.inputs.arrays, **call.keywords, stream=stream)
                with softmetal.failing(1), pytest.raises(pagedrt.DeviceError):
                    stream.synchronize()
            device.empty((64,), "float32")

        def work():
            use_all()
            counts.append(softmetal.live_objects())
            for _ in range(5):
                use_all()
            counts.append(softmetal.live_objects(counts[0]))

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert len(counts) == 2
        assert counts[0] == counts[1]
