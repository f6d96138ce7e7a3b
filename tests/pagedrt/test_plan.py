import gc
import threading
import tracemalloc
import weakref
from itertools import repeat

import numpy as np
import pytest

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call, resident

CELLS = [
    Cell("float32", 64, 2, 2, 50, 16),
    Cell("float16", 100, 3, 5, 77, 8),
    Cell("bfloat16", 128, 1, 8, 1500, 16),
    Cell("float32", 96, 2, 1, 4097, 17),
]


@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_values(device, cell, streamed):
    call = Call(device, cell)
    with call.plan() as plan:
        if streamed:
            with device.stream() as stream:
                assert plan.run(*call.arrays, cell.context_tokens, call.out, stream) is None
        else:
            assert plan.run(*call.arrays, cell.context_tokens, call.out) is None
    call.check()


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_same_bits_as_one_call(device, cell):
    """Also where the plan is for longer contexts, so that its largest split is another."""
    call = Call(device, cell)
    expected = pagedrt.paged_attention(*call.arrays, **call.keywords, device=device)
    with call.plan(max_context_tokens=40 * cell.context_tokens) as plan:
        plan.run(*call.arrays, cell.context_tokens, call.out)
    assert np.array_equal(call.out.view(np.uint8), expected.view(np.uint8))


def test_one_plan_for_a_growing_context(device):
    call = Call(device, Cell("float32", 32, 2, 2, 2100, 16))
    with call.plan() as plan:
        for tokens in [1, 15, 16, 17, 1023, 1024, 1025, 1536, 1537, 2048, 2049, 2100]:
            call.arrays[4][0] = tokens
            plan.run(*call.arrays, tokens, call.out)
            expected = pagedrt.paged_attention(
                *call.arrays, **call.keywords | {"context_tokens": tokens}, device=device
            )
            assert np.array_equal(call.out, expected)
        stats = device.stats
        assert stats["one_pass"] == 2 * 5
        assert stats["two_pass"] == 2 * 7


def test_page_capacity_may_change(device):
    call = Call(device, CELLS[0])
    grown = [np.concatenate([pages, np.full_like(pages, np.nan)], axis=1) for pages in call.inputs.arrays[1:3]]
    with call.plan() as plan:
        plan.run(*call.arrays, 50, call.out)
        first = call.out.copy()
        arrays = [call.arrays[0], *(resident(device, pages) for pages in grown), *call.arrays[3:]]
        plan.run(*arrays, 50, call.out)
    assert np.array_equal(call.out, first)


def test_numpy_integers_and_keywords(device):
    call = Call(device, CELLS[0])
    with call.plan(query_heads=np.int32(4), scale=np.float32(call.inputs.scale), dtype=np.float32) as plan:
        names = ["queries", "key_pages", "value_pages", "page_table", "dependency"]
        plan.run(**dict(zip(names, call.arrays, strict=True)), context_tokens=np.uint16(50), out=call.out, stream=None)
    call.check()


def test_properties(device):
    call = Call(device, CELLS[2])
    plan = call.plan()
    assert plan.device is device
    assert (plan.query_heads, plan.kv_heads, plan.head_dim, plan.page_size) == (8, 1, 128, 16)
    assert plan.max_context_tokens == 1500
    assert plan.scale == np.float32(call.inputs.scale)
    assert plan.dtype == call.out.dtype
    for name in ("query_heads", "max_context_tokens", "dtype", "device"):
        with pytest.raises(AttributeError):
            setattr(plan, name, None)


def test_close_is_idempotent(device):
    call = Call(device, CELLS[0])
    plan = call.plan()
    stream = device.stream()
    plan.run(*call.arrays, 50, call.out, stream)
    plan.close()
    plan.close()
    assert plan.closed
    assert "closed" in repr(plan)
    stream.synchronize()
    call.check()


def test_a_plan_may_end_before_its_runs(device):
    call = Call(device, CELLS[3])
    stream = device.stream()
    plan = call.plan()
    plan.run(*call.arrays, call.cell.context_tokens, call.out, stream)
    del plan
    gc.collect()
    stream.synchronize()
    call.check()


def test_a_plan_keeps_its_device():
    device = pagedrt.Device()
    call = Call(device, CELLS[0])
    plan = call.plan()
    alive = weakref.ref(device)
    del device
    call.device = None
    gc.collect()
    assert alive() is plan.device
    plan.run(*call.arrays, 50, call.out)
    call.check()


def test_runs_hold_no_references(device):
    call = Call(device, CELLS[0])
    with call.plan() as plan:
        stream = device.stream()
        for _ in range(3):
            plan.run(*call.arrays, 50, call.out)
            plan.run(*call.arrays, 50, call.out, stream)
            stream.synchronize()
    buffers = [weakref.ref(array.base) for array in (*call.arrays, call.out)]
    call.arrays.clear()
    call.out = None
    assert all(buffer() is None for buffer in buffers)


@pytest.mark.parametrize("streamed", [False, True], ids=["waits", "stream"])
def test_runs_allocate_nothing_in_python(device, streamed):
    """Native allocations are counted in tests/runtime."""
    call = Call(device, CELLS[0])
    stream = device.stream() if streamed else None
    with call.plan() as plan:
        run, arguments = plan.run, (*call.arrays, 50, call.out, stream)
        run(*arguments)
        tracemalloc.start()
        try:
            run(*arguments)
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            for _ in repeat(None, 1000):
                run(*arguments)
            after, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    # Less than one object: the two measurements themselves.
    assert after - before < 100
    assert peak - before < 100


def test_one_plan_from_many_threads(device):
    call = Call(device, CELLS[3])
    outs = [resident(device, call.out) for _ in range(4)]
    errors = []
    with call.plan() as plan:

        def work(out):
            try:
                for _ in range(20):
                    out[...] = 0
                    plan.run(*call.arrays, call.cell.context_tokens, out)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(out,)) for out in outs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []
    for out in outs:
        assert np.array_equal(out, outs[0])
    call.check(outs[0])
