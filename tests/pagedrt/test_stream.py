import gc
import threading
import weakref
from itertools import pairwise

import numpy as np
import pytest

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call

CELL = Cell("float32", 64, 2, 2, 50, 16)


@pytest.fixture
def call(device):
    return Call(device, CELL)


def submit(call, stream, **changes):
    return pagedrt.paged_attention(*call.arrays, **call.keywords | changes, stream=stream)


def test_result_after_synchronize(call):
    stream = call.device.stream()
    out = submit(call, stream)
    stream.synchronize()
    call.check(out)


def test_the_device_is_the_streams(call):
    with pagedrt.Device() as other, other.stream() as stream:
        before = other.stats["one_pass"]
        submit(call, stream)
        assert other.stats["one_pass"] == before + 1


def test_context_manager_synchronizes(call):
    with call.device.stream() as stream:
        out = submit(call, stream, out=call.out)
        assert out is call.out
    call.check()
    assert not stream.closed
    stream.synchronize()


def test_calls_run_in_order(call):
    """Each call reads what the one before it wrote."""
    steps = 20
    queries = [call.arrays[0]] + [call.device.empty(call.out.shape, "float32") for _ in range(steps)]
    with call.device.stream() as stream:
        for source, target in pairwise(queries):
            pagedrt.paged_attention(source, *call.arrays[1:], **call.keywords, stream=stream, out=target)
    for source, target in pairwise(queries):
        expected = pagedrt.paged_attention(source.copy(), *call.arrays[1:], **call.keywords, device=call.device)
        assert np.array_equal(expected, target)


@pytest.mark.parametrize("use", ["call", "plan"])
@pytest.mark.parametrize(
    ("index", "at", "value", "place"), [(3, 1, 7, "page_table[1]"), (4, 0, 51, "dependency[0]")], ids=["page", "tokens"]
)
def test_what_only_the_device_sees(call, use, index, at, value, place):
    """A bad value surfaces at synchronize, once; out stays unwritten and the stream serves on."""
    call.arrays[index][at] = value
    with call.plan() as plan:
        stream = call.device.stream()
        if use == "call":
            submit(call, stream, out=call.out)
        else:
            plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
        with pytest.raises(pagedrt.InvalidInputError) as caught:
            stream.synchronize()
        assert place in str(caught.value)
        assert str(value) in str(caught.value)
        assert call.untouched()
        stream.synchronize()
        call.arrays[index][at] = call.inputs.arrays[index][at]
        plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
        stream.synchronize()
    call.check()


def test_an_exception_on_its_way_out_wins(call):
    call.arrays[4][0] = 51
    with pytest.raises(KeyError), call.device.stream() as stream:
        submit(call, stream)
        raise KeyError
    with pytest.raises(pagedrt.InvalidInputError, match="dependency"):
        stream.synchronize()


def test_arrays_are_held_until_synchronize(call):
    stream = call.device.stream()
    foreign = [array.copy() for array in call.inputs.arrays]
    held = [weakref.ref(array) for array in foreign]
    out = pagedrt.paged_attention(*foreign, **call.keywords, stream=stream)
    held.append(weakref.ref(out.base))
    del foreign, out
    gc.collect()
    assert all(array() is not None for array in held)
    stream.synchronize()
    assert all(array() is None for array in held)


def test_arrays_are_held_until_the_stream_ends(call):
    stream = call.device.stream()
    foreign = [array.copy() for array in call.inputs.arrays]
    held = [weakref.ref(array) for array in foreign]
    pagedrt.paged_attention(*foreign, **call.keywords, stream=stream, out=call.out)
    del foreign, stream
    gc.collect()
    assert all(array() is None for array in held)
    call.check()


def test_many_calls_between_synchronizes(call):
    """More than a stream holds arrays of: it waits for the device by itself, and keeps a failure for synchronize."""
    stream = call.device.stream()
    call.arrays[4][0] = 51
    submit(call, stream)
    stream_of_good = [array.copy() for array in call.inputs.arrays]
    with call.plan() as plan:
        arrays = [call.device.asarray(array) for array in stream_of_good]
        for _ in range(2000):
            plan.run(*arrays, CELL.context_tokens, call.out, stream)
        with pytest.raises(pagedrt.InvalidInputError, match="dependency"):
            stream.synchronize()
    call.check()


def test_close(call):
    stream = call.device.stream()
    submit(call, stream, out=call.out)
    stream.close()
    stream.close()
    call.check()
    assert stream.closed
    assert "closed" in repr(stream)
    for use in (stream.synchronize, stream.__enter__):
        with pytest.raises(pagedrt.InvalidInputError, match="stream: got a closed one"):
            use()


def test_close_reports_a_failure(call):
    stream = call.device.stream()
    call.arrays[4][0] = 51
    submit(call, stream)
    with pytest.raises(pagedrt.InvalidInputError, match="dependency"):
        stream.close()
    stream.close()


def test_close_after_its_device(call):
    stream = call.device.stream()
    submit(call, stream, out=call.out)
    call.device.close()
    call.check()
    with pytest.raises(pagedrt.InvalidInputError, match="device: got a closed one"):
        stream.synchronize()
    stream.close()


def test_a_device_closed_inside_does_not_hide_an_exception(call):
    with pytest.raises(KeyError), call.device.stream() as stream:
        submit(call, stream, out=call.out)
        call.device.close()
        raise KeyError
    call.check()


@pytest.mark.parametrize("device", [None, "cpu", 3])
def test_needs_a_device(device):
    with pytest.raises(pagedrt.InvalidInputError, match="device: got"):
        pagedrt.Stream(device)


def test_one_stream_from_many_threads(call):
    stream = call.device.stream()
    outs, errors = [], []

    def work():
        try:
            for step in range(50):
                outs.append(submit(call, stream))
                if step % 10 == 9:
                    stream.synchronize()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.synchronize()
    assert errors == []
    first = outs[0]
    call.check(first)
    assert len(outs) == 200
    assert all(np.array_equal(out, first) for out in outs)
