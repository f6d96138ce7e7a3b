"""One call, from NumPy: values, and the ways to say where it runs. Every kernel: tests/shaders."""

import numpy as np
import pytest

import pagedrt
from helpers import cells
from helpers.cells import Cell
from helpers.device_arrays import Call

CELLS = [
    Cell("float32", 64, 2, 2, 50, 16),
    Cell("float16", 100, 3, 5, 77, 8),
    Cell("bfloat16", 128, 1, 8, 1500, 16),
    Cell("float32", 512, 1, 1, 1030, 64),
    Cell("float16", 32, 2, 3, 1024, 1, repeated=True),
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_values_from_foreign_arrays(device, cell):
    cells.check(device, cell)


def test_the_formula():
    """Written out for one head, so that nothing stands between a reader and the definition."""
    random = np.random.default_rng(0)
    queries = random.standard_normal((1, 1, 1, 8)).astype(np.float32)
    keys, values = (random.standard_normal((1, 4, 2, 8)).astype(np.float32) for _ in range(2))
    table = np.array([3, 0, 2], np.uint32)
    out = pagedrt.paged_attention(
        queries, keys, values, table, np.array([5], np.uint32), page_size=2, context_tokens=6, scale=0.5
    )
    rows = [(3, 0), (3, 1), (0, 0), (0, 1), (2, 0)]
    weights = np.exp([0.5 * np.dot(queries[0, 0, 0].astype(np.float64), keys[0, page, slot]) for page, slot in rows])
    expected = (
        sum(weight * values[0, page, slot] for weight, (page, slot) in zip(weights, rows, strict=True)) / weights.sum()
    )
    np.testing.assert_allclose(out[0, 0, 0], expected, rtol=1e-6, atol=1e-6)


def test_no_valid_tokens_give_zero(device):
    for context_tokens in (50, 1500):
        call = Call(device, Cell("float32", 64, 2, 2, context_tokens, 16, dependency=0))
        out = pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, out=call.out)
        assert (out == 0).all()


def test_out_is_returned(device):
    call = Call(device, CELLS[0])
    assert pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, out=call.out) is call.out
    foreign = np.zeros_like(call.inputs.queries)
    assert pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, out=foreign) is foreign
    call.check(foreign)


def test_new_out_is_in_device_memory(device):
    call = Call(device, CELLS[0])
    out = pagedrt.paged_attention(*call.arrays, **call.keywords, device=device)
    assert device.asarray(out, copy=False) is out
    assert out.dtype == call.out.dtype
    assert out.flags.carray


def test_default_device():
    inputs = cells.make(CELLS[0])
    first = cells.run(None, CELLS[0], inputs)
    second = cells.run(None, CELLS[0], inputs)
    assert first.base.device is second.base.device
    with pagedrt.Device() as device:
        assert np.array_equal(first, cells.run(device, CELLS[0], inputs))


def test_the_device_is_the_scratchs(device):
    inputs = cells.make(CELLS[2])
    scratch = pagedrt.PagedAttentionScratch(device)
    out = cells.run(None, CELLS[2], inputs, scratch=scratch)
    assert out.base.device is device
    assert repr(scratch) == f"<pagedrt.PagedAttentionScratch on {device.family}>"


def test_a_scratch_is_prepared_once(device):
    inputs = cells.make(CELLS[2])
    scratch = pagedrt.PagedAttentionScratch(device)
    before = device.stats["scratch_prepares"]
    outs = [cells.run(device, CELLS[2], inputs, scratch=scratch) for _ in range(3)]
    assert device.stats["scratch_prepares"] == before + 1
    assert all(np.array_equal(out.view(np.uint8), outs[0].view(np.uint8)) for out in outs)


def test_subclasses_and_read_only_inputs(device):
    call = Call(device, CELLS[0])
    inputs = [array.view(type("Named", (np.ndarray,), {})) for array in call.inputs.arrays]
    for array in inputs:
        array.flags.writeable = False
    call.check(pagedrt.paged_attention(*inputs, **call.keywords, device=device))


@pytest.mark.parametrize("tokens", [np.int64(50), np.uint8(50)])
def test_numpy_numbers(device, tokens):
    call = Call(device, CELLS[0])
    keywords = {"page_size": np.int16(16), "context_tokens": tokens, "scale": np.float64(call.inputs.scale)}
    call.check(pagedrt.paged_attention(*call.arrays, **keywords, device=device))
