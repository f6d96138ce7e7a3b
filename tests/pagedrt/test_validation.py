"""Every kind of bad input: the exception, the argument its message names, and that out is untouched."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call, resident
from pagedrt import validation

CELL = Cell("float32", 64, 2, 2, 50, 16)  # 4 query heads, 4 of 7 pages
QUERIES, KEYS, VALUES, TABLE, DEPENDENCY = range(5)
PLAN = {
    "query_heads": 1,
    "kv_heads": 1,
    "head_dim": 1,
    "page_size": 1,
    "max_context_tokens": 1,
    "scale": 1,
    "dtype": "float32",
}


def read_only(array):
    array.flags.writeable = False
    return array


def misaligned(array):
    raw = np.zeros(array.nbytes + 1, np.uint8)
    moved = raw[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def strided(array):
    """Equal values, every other slot of the last dimension."""
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


# name: (array to change, change, what the message must hold)
BAD_ARRAYS = {
    "queries not an array": (QUERIES, lambda a: a.tolist(), "queries: got list"),
    "queries rank": (QUERIES, lambda a: a[0], "queries: got 3 dimensions"),
    "queries dtype": (QUERIES, lambda a: a.astype(np.float64), "queries: got dtype float64"),
    "queries integer": (QUERIES, lambda a: a.view(np.int32), "queries: got dtype int32"),
    "queries byte order": (QUERIES, lambda a: a.astype(">f4"), "queries: got dtype >f4"),
    "queries stride": (QUERIES, strided, "queries: got strides"),
    "queries misaligned": (QUERIES, misaligned, "queries: got data at address"),
    "queries batch": (QUERIES, lambda a: np.concatenate([a, a]), "queries: got shape (2, 4, 1, 64)"),
    "queries tokens": (QUERIES, lambda a: np.concatenate([a, a], axis=2), "queries: got shape (1, 4, 2, 64)"),
    "key_pages not an array": (KEYS, lambda a: None, "key_pages: got NoneType"),
    "key_pages rank": (KEYS, lambda a: a[None], "key_pages: got 5 dimensions"),
    "key_pages dtype": (KEYS, lambda a: a.astype(np.float16), "key_pages: got dtype float16"),
    "key_pages byte order": (KEYS, lambda a: a.astype(">f4"), "key_pages: got dtype >f4"),
    "key_pages stride": (KEYS, strided, "key_pages: got strides"),
    "key_pages head_dim": (KEYS, lambda a: a[..., :32].copy(), "key_pages: got shape (2, 7, 16, 32)"),
    "key_pages capacity 0": (KEYS, lambda a: a[:, :0].copy(), "key_pages: got page_capacity 0"),
    "key_pages page_size": (KEYS, lambda a: a[:, :, :8].copy(), "page_size: got 16, expected key_pages' 8"),
    "value_pages rank": (VALUES, lambda a: a[0], "value_pages: got 3 dimensions"),
    "value_pages dtype": (VALUES, lambda a: a.astype(np.float16), "value_pages: got dtype float16"),
    "value_pages byte order": (VALUES, lambda a: a.astype(">f4"), "value_pages: got dtype >f4"),
    "value_pages stride": (VALUES, strided, "value_pages: got strides"),
    "value_pages capacity": (VALUES, lambda a: a[:, 1:].copy(), "value_pages: got shape (2, 6, 16, 64)"),
    "page_table dtype": (TABLE, lambda a: a.astype(np.int32), "page_table: got dtype int32"),
    "page_table byte order": (TABLE, lambda a: a.astype(">u4"), "page_table: got dtype >u4"),
    "page_table rank": (TABLE, lambda a: a[None], "page_table: got 2 dimensions"),
    "page_table stride": (TABLE, strided, "page_table: got strides"),
    "page_table short": (TABLE, lambda a: a[:3], "page_table: got 3 pages, expected at least 4 for context_tokens 50"),
    "page_table empty": (TABLE, lambda a: a[:0], "page_table: got 0 pages"),
    "dependency rank 0": (DEPENDENCY, lambda a: a.reshape(()), "dependency: got 0 dimensions"),
    "dependency rank 2": (DEPENDENCY, lambda a: a[None], "dependency: got 2 dimensions"),
    "dependency length": (DEPENDENCY, lambda a: np.concatenate([a, a]), "dependency: got shape (2,)"),
    "dependency empty": (DEPENDENCY, lambda a: a[:0], "dependency: got shape (0,)"),
    "dependency dtype": (DEPENDENCY, lambda a: a.astype(np.int64), "dependency: got dtype int64"),
}
# Conditions of the geometry, which a plan has already settled.
BAD_GEOMETRY = {
    "no query heads": (QUERIES, lambda a: a[:, :0], "queries: got 0 query heads"),
    "query heads": (QUERIES, lambda a: a[:, :3].copy(), "queries: got 3 query heads, expected a multiple of"),
    "no KV heads": (KEYS, lambda a: a[:0], "key_pages: got 0 KV heads"),
    "head_dim 0": (QUERIES, lambda a: a[..., :0], "queries: got head_dim 0"),
    "head_dim 513": (QUERIES, lambda a: np.zeros((1, 4, 1, 513), a.dtype), "queries: got head_dim 513"),
}
BAD_OUTS = {
    "not an array": (lambda call: 3, "out: got int"),
    "rank": (lambda call: call.out[0], "out: got 3 dimensions"),
    "shape": (lambda call: call.out[:, :2].copy(), "out: got shape (1, 2, 1, 64)"),
    "dtype": (lambda call: call.out.astype(np.float16), "out: got dtype float16"),
    "byte order": (lambda call: call.out.astype(">f4"), "out: got dtype >f4"),
    "stride": (lambda call: strided(call.out), "out: got strides"),
    "read-only": (lambda call: read_only(call.out.view()), "out: got a read-only array"),
    "is queries": (lambda call: call.arrays[QUERIES], "out: got memory that overlaps queries"),
    "in key_pages": (lambda call: call.arrays[KEYS].reshape(-1)[32:288].reshape(1, 4, 1, 64), "overlaps key_pages"),
    "in value_pages": (lambda call: call.arrays[VALUES].reshape(-1)[:256].reshape(1, 4, 1, 64), "overlaps value_pages"),
}
BAD_NUMBERS = {
    "page_size 0": ({"page_size": 0}, "page_size: got 0"),
    "page_size negative": ({"page_size": -16}, "page_size: got -16"),
    "page_size not the pages'": ({"page_size": 8}, "page_size: got 8, expected key_pages' 16"),
    "page_size float": ({"page_size": 16.0}, "page_size: got 16.0"),
    "page_size huge": ({"page_size": 1 << 70}, "page_size: got 1180591620717411303424"),
    "context_tokens 0": ({"context_tokens": 0}, "context_tokens: got 0"),
    "context_tokens negative": ({"context_tokens": -1}, "context_tokens: got -1"),
    "context_tokens beyond the table": ({"context_tokens": 65}, "context_tokens 65"),
    "context_tokens huge": ({"context_tokens": 1 << 70}, "context_tokens: got"),
    "context_tokens above 2^31 - 1": ({"context_tokens": 1 << 31}, "context_tokens: got 2147483648, expected 1 to"),
    "context_tokens text": ({"context_tokens": "9"}, "context_tokens: got '9'"),
    "scale 0": ({"scale": 0.0}, "scale: got 0.0"),
    "scale negative": ({"scale": -1.0}, "scale: got -1.0"),
    "scale NaN": ({"scale": float("nan")}, "scale: got nan"),
    "scale infinite": ({"scale": float("inf")}, "scale: got inf"),
    "scale below float32": ({"scale": 1e-50}, "scale: got 1e-50, in float32 0.0"),
    "scale above float32": ({"scale": 1e39}, "scale: got 1e+39, in float32 inf"),
    "scale text": ({"scale": "one"}, "scale: got 'one'"),
    "scale text of a number": ({"scale": "0.125"}, "scale: got '0.125'"),
    "scale bytes of a number": ({"scale": b"0.125"}, "scale: got b'0.125'"),
    "scale complex": ({"scale": 1j}, "scale: got 1j"),
    "scale huge": ({"scale": 10**400}, "scale: got"),
}


@pytest.fixture
def call(device):
    return Call(device, CELL)


def refused(call, text, **changes):
    arrays = changes.pop("arrays", call.arrays)
    out = changes.pop("out", call.out)
    with pytest.raises(pagedrt.InvalidInputError) as caught:
        pagedrt.paged_attention(*arrays, **call.keywords | {"device": call.device, "out": out} | changes)
    assert text in str(caught.value)
    assert ", expected " in str(caught.value)
    assert call.untouched()


def changed(call, index, change):
    arrays = list(call.arrays)
    arrays[index] = change(arrays[index])
    return arrays


@pytest.mark.parametrize("row", BAD_ARRAYS | BAD_GEOMETRY)
def test_call_arrays(call, row):
    index, change, text = (BAD_ARRAYS | BAD_GEOMETRY)[row]
    refused(call, text, arrays=changed(call, index, change))


@pytest.mark.parametrize("row", BAD_OUTS)
def test_call_out(call, row):
    make, text = BAD_OUTS[row]
    refused(call, text, out=make(call))


@pytest.mark.parametrize("row", BAD_NUMBERS)
def test_call_numbers(call, row):
    changes, text = BAD_NUMBERS[row]
    refused(call, text, **changes)


@pytest.mark.parametrize("row", BAD_ARRAYS)
def test_run_arrays(call, row):
    index, change, text = BAD_ARRAYS[row]
    if text.startswith("queries: got dtype int32"):
        text = "queries: got dtype int32, expected float32"
    with call.plan() as plan, pytest.raises(pagedrt.InvalidInputError) as caught:
        plan.run(*changed(call, index, change), CELL.context_tokens, call.out)
    assert text in str(caught.value)
    assert call.untouched()


@pytest.mark.parametrize("row", BAD_OUTS)
def test_run_out(call, row):
    make, text = BAD_OUTS[row]
    with call.plan() as plan, pytest.raises(pagedrt.InvalidInputError) as caught:
        plan.run(*call.arrays, CELL.context_tokens, make(call))
    assert text in str(caught.value)
    assert call.untouched()


@pytest.mark.parametrize("tokens", [0, -1, 51, 1 << 40, 1 << 70, 1.0, None])
def test_run_context_tokens(call, tokens):
    with call.plan() as plan, pytest.raises(pagedrt.InvalidInputError, match="context_tokens: got"):
        plan.run(*call.arrays, tokens, call.out)
    assert call.untouched()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"query_heads": 0}, "query_heads: got 0"),
        ({"query_heads": 3}, "query_heads: got 3, expected a multiple of the 2 KV heads"),
        ({"kv_heads": 0}, "kv_heads: got 0"),
        ({"kv_heads": 2**32}, "kv_heads: got 4294967296"),
        ({"head_dim": 0}, "head_dim: got 0"),
        ({"head_dim": 513}, "head_dim: got 513, expected 1 to 512"),
        ({"page_size": 0}, "page_size: got 0"),
        ({"page_size": None}, "page_size: got None"),
        ({"max_context_tokens": 0}, "max_context_tokens: got 0"),
        ({"scale": 0}, "scale: got 0"),
        ({"max_context_tokens": 1 << 31}, "max_context_tokens: got 2147483648, expected 1 to 2147483647"),
        ({"scale": 1e-50}, "scale: got 1e-50"),
        ({"scale": "0.125"}, "scale: got '0.125', expected a number"),
        ({"dtype": "float64"}, "dtype: got float64"),
        ({"dtype": "half precision"}, "dtype: got 'half precision'"),
        ({"query_heads": 32 * 2**26, "kv_heads": 2**26, "max_context_tokens": 1 << 20}, "more|at most the device's"),
    ],
)
def test_plan_geometry(call, changes, text):
    with pytest.raises(pagedrt.InvalidInputError) as caught:
        call.plan(**changes)
    assert any(part in str(caught.value) for part in text.split("|"))


def test_page_id_beyond_capacity(call):
    call.arrays[TABLE][2] = 7
    refused_naming_place(call, "page_table[2]", "7")


def test_page_id_beyond_capacity_but_unused(call):
    call.arrays[TABLE] = resident(call.device, np.append(call.inputs.page_table, np.uint32(2**32 - 1)))
    call.check(pagedrt.paged_attention(*call.arrays, **call.keywords, device=call.device))


def test_dependency_above_context(call):
    call.arrays[DEPENDENCY][0] = 51
    refused_naming_place(call, "dependency[0]", "51")


def refused_naming_place(call, place, value):
    with pytest.raises(pagedrt.InvalidInputError) as caught:
        pagedrt.paged_attention(*call.arrays, **call.keywords, device=call.device, out=call.out)
    assert place in str(caught.value)
    assert value in str(caught.value)
    assert call.untouched()


def test_objects_of_another_device(call):
    with pagedrt.Device() as other, call.plan() as plan:
        stream, scratch = other.stream(), pagedrt.PagedAttentionScratch(other)
        refused(call, "stream: got one of another device", stream=stream)
        refused(call, "scratch: got one of another device", scratch=scratch)
        with pytest.raises(pagedrt.InvalidInputError, match="stream: got one of another device"):
            plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
        foreign = Call(other, CELL)
        for index in range(5):
            arrays = list(call.arrays)
            arrays[index] = foreign.arrays[index]
            with pytest.raises(pagedrt.InvalidInputError):
                plan.run(*arrays, CELL.context_tokens, call.out)
        with pytest.raises(pagedrt.InvalidInputError, match="out"):
            plan.run(*call.arrays, CELL.context_tokens, foreign.out)
        assert foreign.untouched()
    assert call.untouched()


def test_things_of_another_type(call):
    refused(call, "device: got str", device="cpu")
    refused(call, "stream: got int", stream=3)
    refused(call, "scratch: got object", scratch=object())
    with call.plan() as plan, pytest.raises(pagedrt.InvalidInputError, match="stream: got str"):
        plan.run(*call.arrays, CELL.context_tokens, call.out, "stream")
    plan = partial(pagedrt.PagedAttention, **PLAN)
    for make in (plan, pagedrt.PagedAttentionScratch, pagedrt.Stream):
        for thing in (None, "cpu", call.arrays[QUERIES]):
            with pytest.raises(pagedrt.InvalidInputError, match=f"device: got {type(thing).__name__}, expected"):
                make(thing)


def test_closed_objects(call):
    stream = call.device.stream()
    stream.close()
    refused(call, "stream: got a closed one", stream=stream)
    plan = call.plan()
    with pytest.raises(pagedrt.InvalidInputError, match="stream: got a closed one"):
        plan.run(*call.arrays, CELL.context_tokens, call.out, stream)
    plan.close()
    with pytest.raises(pagedrt.InvalidInputError, match="plan: got a closed one"):
        plan.run(*call.arrays, CELL.context_tokens, call.out)
    open_plan, open_stream = call.plan(), call.device.stream()
    call.device.close()
    refused(call, "device: got a closed one")
    refused(call, "device: got a closed one", device=None, stream=open_stream)
    with pytest.raises(pagedrt.InvalidInputError, match="device: got a closed one"):
        open_plan.run(*call.arrays, CELL.context_tokens, call.out)
    with pytest.raises(pagedrt.InvalidInputError, match="device: got a closed one"):
        open_plan.run(*call.arrays, CELL.context_tokens, call.out, open_stream)
    with pytest.raises(pagedrt.InvalidInputError, match="device: got a closed one"):
        call.plan()
    assert call.untouched()


def test_more_bytes_than_the_device_allows(call):
    """Checked by size alone, so a limit stands in for an arena that no test could hold."""
    with pytest.raises(pagedrt.InvalidInputError, match="key_pages: got 57344 bytes, expected at most"):
        validation.check_call(*call.arrays, *call.keywords.values(), call.out, 100)


DIMENSION = st.sampled_from([0, 1, 2, 4, 16, 64, 513])
ARRAY_DTYPE = st.sampled_from([np.float32, np.float16, np.uint32, ">f4", np.float64])


@st.composite
def arbitrary_array(draw, dimensions):
    shape = draw(st.lists(DIMENSION, min_size=max(dimensions - 1, 0), max_size=dimensions + 1))
    size = int(np.prod(shape))
    array = np.zeros(shape if size < 1 << 20 else shape[:1], draw(ARRAY_DTYPE))
    return array[::-1] if array.ndim and draw(st.booleans()) else array


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_compiled_and_spelled_out_checks_agree(data):
    """A call that the compiled checks refuse is one that validation.py has a message for, and the other way round."""
    with pagedrt.Device(threads=1) as device:
        call = Call(device, Cell("float32", 64, 2, 2, 4, 16))
        arrays = [*call.arrays, call.out]
        for index in data.draw(st.lists(st.integers(0, 5), max_size=2)):
            arrays[index] = data.draw(arbitrary_array(arrays[index].ndim))
        number = st.one_of(st.just(None), st.integers(-1, 70), st.floats())
        keywords = dict(call.keywords)
        for name in data.draw(st.lists(st.sampled_from(sorted(keywords)), max_size=1)):
            keywords[name] = data.draw(number)
        *inputs, out = arrays
        try:
            validation.check_call(*inputs, *keywords.values(), out, device.max_buffer_length)
            refusal = None
        except pagedrt.InvalidInputError as error:
            refusal = str(error)
        try:
            pagedrt.paged_attention(*inputs, **keywords, out=out, device=device)
            assert refusal is None
        except pagedrt.InvalidInputError as error:
            # What arrays hold is the runtime's to check.
            assert str(error) == refusal or "[0]" in str(error) or "page_table[" in str(error)
