"""No content of page_table or dependency reaches past the arrays: out stays as it was, the error names the place."""

import numpy as np
import pytest

import pagedrt
from helpers import cells
from helpers.cells import Cell

ONE_PASS = Cell("float32", 64, 2, 2, 300, 16)
TWO_PASS = Cell("float16", 128, 2, 4, 2000, 16)
BAD_IDS = ["capacity", 2**16, 2**31, 2**32 - 1]


@pytest.fixture(scope="module")
def device():
    with pagedrt.Device("cpu") as device:
        yield device


def broken(cell, position, bad_id):
    inputs = cells.make(cell)
    capacity = inputs.key_pages.shape[1]
    inputs.page_table[position] = capacity if bad_id == "capacity" else bad_id
    return inputs


def marked_out(device, cell):
    out = device.empty((1, cell.kv_heads * cell.group_factor, 1, cell.head_dim), cell.dtype)
    out[...] = 7
    return out


@pytest.mark.parametrize("cell", [ONE_PASS, TWO_PASS], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("bad_id", BAD_IDS)
@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_bad_page_id(device, cell, bad_id, at):
    pages = len(cells.make(cell).page_table)
    position = {"first": 0, "middle": pages // 2, "last": pages - 1}[at]
    inputs = broken(cell, position, bad_id)
    named = rf"page_table\[{position}\].*{inputs.page_table[position]}"
    out = marked_out(device, cell)
    with pytest.raises(pagedrt.InvalidInputError, match=named):
        cells.run(device, cell, inputs, out=out)
    assert (out == 7).all()
    # on a stream only the device sees it
    stream = device.stream()
    cells.run(device, cell, inputs, out=out, stream=stream)
    with pytest.raises(pagedrt.Error, match=named):
        stream.synchronize()
    assert (out == 7).all()
    # once, and the stream goes on
    stream.synchronize()
    cells.run(device, cell, cells.make(cell), out=out, stream=stream)
    stream.synchronize()
    assert not (out == 7).all()


@pytest.mark.parametrize("cell", [ONE_PASS, TWO_PASS], ids=["one-pass", "two-pass"])
@pytest.mark.parametrize("excess", [1, 2**31, 2**32 - 1])
def test_dependency_past_the_bound(device, cell, excess):
    inputs = cells.make(cell)
    value = min(cell.context_tokens + excess, 2**32 - 1)
    inputs.dependency[0] = value
    out = marked_out(device, cell)
    with pytest.raises(pagedrt.InvalidInputError, match=rf"dependency.*{value}.*{cell.context_tokens}"):
        cells.run(device, cell, inputs, out=out)
    with pytest.raises(pagedrt.Error, match=rf"dependency.*{value}"), device.stream() as stream:
        cells.run(device, cell, inputs, out=out, stream=stream)
    assert (out == 7).all()


def test_bad_ids_past_the_length_do_not_matter(device):
    for cell in (ONE_PASS, TWO_PASS):
        inputs = cells.make(cell)
        inputs.dependency[0] = 33
        inputs.page_table[3:] = 0xFFFFFFFF
        stream = device.stream()
        cells.run(device, cell, inputs, stream=stream)
        stream.synchronize()


def test_one_bad_call_among_good_ones(device):
    good, bad = cells.make(TWO_PASS), broken(TWO_PASS, 5, "capacity")
    scratch = pagedrt.PagedAttentionScratch(device)
    want = cells.run(device, TWO_PASS, good)
    outs = [marked_out(device, TWO_PASS) for _ in range(5)]
    stream = device.stream()
    for i, out in enumerate(outs):
        cells.run(device, TWO_PASS, bad if i == 2 else good, out=out, stream=stream, scratch=scratch)
    with pytest.raises(pagedrt.Error, match=r"page_table\[5\]"):
        stream.synchronize()
    for i, out in enumerate(outs):
        assert (out == 7).all() if i == 2 else np.array_equal(out, want)
