"""Arrays in device memory: made, adopted, copied, counted and kept alive."""

import gc
import mmap
import weakref

import ml_dtypes
import numpy as np
import pytest

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call
from pagedrt.buffer import Buffer

DTYPES = ["float32", "float16", "bfloat16", "uint32", np.float64, np.dtype(np.int8), bool]


def copies(device):
    stats = device.stats
    return stats["copies"], stats["copied_bytes"]


def page_aligned(nbytes):
    """Foreign memory that starts on a page."""
    return np.frombuffer(mmap.mmap(-1, nbytes), np.uint8)


def base_of(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


# --- empty, zeros ---


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("make", ["empty", "zeros"])
def test_new_array(device, make, dtype):
    array = getattr(device, make)((3, 5, 7), dtype)
    assert array.dtype == (ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype))
    assert array.shape == (3, 5, 7)
    assert array.flags.carray
    assert array.ctypes.data % device.info["memory_page"] == 0
    assert not array.flags.owndata
    buffer = array.base
    assert isinstance(buffer, Buffer)
    assert buffer.device is device
    assert buffer.owned
    assert buffer.address == array.ctypes.data
    assert buffer.nbytes >= array.nbytes
    array[...] = 1
    assert (array == 1).all()


@pytest.mark.parametrize("shape", [(), 0, 5, (0,), (4, 0, 3), [2, 3], np.int64(4), (np.uint8(2), 3)])
def test_shapes(device, shape):
    array = device.zeros(shape, "float32")
    assert array.shape == np.zeros(shape).shape
    assert (array == 0).all()


@pytest.mark.parametrize("shape", [-1, (2, -3), 1.5, (2, 2.5), "ab", None, (1,) * 33])
def test_bad_shapes(device, shape):
    with pytest.raises(pagedrt.InvalidInputError, match="shape: got"):
        device.empty(shape, "float32")


@pytest.mark.parametrize("shape", [1 << 60, (1 << 40, 1 << 40), (0, 1 << 62), (1 << 31, 1 << 31, 1 << 31)])
def test_more_bytes_than_the_device_allows(device, shape):
    with pytest.raises(
        pagedrt.InvalidInputError, match=f"expected at most the device's {device.max_buffer_length} bytes"
    ):
        device.empty(shape, "float32")


@pytest.mark.parametrize("dtype", ["float33", object, "O", None, ">f4", 3.5])
def test_bad_dtypes(device, dtype):
    with pytest.raises(pagedrt.InvalidInputError, match="dtype: got"):
        device.empty(1, dtype)


# --- asarray ---


def test_own_memory_comes_back(device):
    array = device.empty((4, 4), "float32")
    assert device.asarray(array) is array
    view = array[1:3]
    assert device.asarray(view, copy=False) is view
    assert copies(device) == (0, 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_foreign_memory_is_adopted(device, dtype):
    foreign = np.ones((3, 5), ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    adopted = device.asarray(foreign)
    assert adopted.ctypes.data == foreign.ctypes.data
    assert adopted.dtype == foreign.dtype
    assert adopted.shape == foreign.shape
    assert not base_of(adopted).owned
    foreign[1, 1] = 0
    assert adopted[1, 1] == 0
    assert copies(device) == (0, 0)
    assert device.asarray(adopted) is adopted
    assert device.asarray(adopted[1:]).base is not None


def test_read_only_stays_read_only(device):
    foreign = np.ones(8, np.float32)
    foreign.flags.writeable = False
    adopted = device.asarray(foreign)
    assert adopted.ctypes.data == foreign.ctypes.data
    assert not adopted.flags.writeable


def test_array_likes(device):
    assert (device.asarray([[1, 2], [3, 4]]) == [[1, 2], [3, 4]]).all()
    raw = bytearray(b"\1\2\3\4")
    adopted = device.asarray(memoryview(raw), copy=False)
    raw[0] = 9
    assert adopted.tolist() == [9, 2, 3, 4]
    for refused in ([1, 2], [object()], {1: 2}):
        with pytest.raises(pagedrt.InvalidInputError, match="a: got"):
            device.asarray(refused, copy=False)


@pytest.mark.parametrize("copy", [None, True, False])
@pytest.mark.parametrize("dtype", [object, [("name", object), ("number", np.float32)]], ids=["object", "field"])
def test_no_python_objects(device, dtype, copy):
    with pytest.raises(pagedrt.InvalidInputError, match=r"a: got dtype .*, expected one without Python objects"):
        device.asarray(np.zeros(3, dtype), copy=copy)
    assert copies(device) == (0, 0)


UNUSABLE = {
    "strided": lambda: np.arange(24, dtype=np.float32).reshape(4, 6)[:, ::2],
    "transposed": lambda: np.arange(24, dtype=np.float32).reshape(4, 6).T,
    "byte order": lambda: np.arange(24, dtype=">f4"),
    "misaligned": lambda: np.arange(97, dtype=np.uint8)[1:].view(np.float32),
}


@pytest.mark.parametrize("row", UNUSABLE)
def test_what_cannot_be_used_in_place(device, row):
    foreign = UNUSABLE[row]()
    copied = device.asarray(foreign)
    assert copied.tolist() == foreign.tolist()
    assert copied.flags.carray
    assert copied.dtype.isnative
    assert base_of(copied).owned
    assert copies(device) == (1, foreign.nbytes)
    with pytest.raises(pagedrt.InvalidInputError, match=r"a: got .* as copy is False"):
        device.asarray(foreign, copy=False)
    assert copies(device) == (1, foreign.nbytes)


def test_copy_true_always_copies(device):
    for array in (np.ones(4, np.float32), device.zeros(4, "float32")):
        before = copies(device)[0]
        copied = device.asarray(array, copy=True)
        assert copied.ctypes.data != array.ctypes.data
        assert copied.tolist() == array.tolist()
        assert copies(device)[0] == before + 1


@pytest.mark.parametrize("copy", [0, 1, "no"])
def test_bad_copy(device, copy):
    with pytest.raises(pagedrt.InvalidInputError, match="copy: got"):
        device.asarray(np.ones(1), copy=copy)


def test_empty_array(device):
    assert device.asarray(np.zeros((0, 3), np.float32)).shape == (0, 3)


# --- zero copies in calls ---


def test_no_copies_in_calls_on_device_memory(device):
    call = Call(device, Cell("float32", 32, 2, 2, 40, 8))
    before = copies(device)
    pagedrt.paged_attention(*call.arrays, **call.keywords, device=device, out=call.out)
    call.check()
    call.check(pagedrt.paged_attention(*call.arrays, **call.keywords, device=device))
    with call.plan() as plan:
        plan.run(*call.arrays, call.cell.context_tokens, call.out)
    assert copies(device) == before


def test_adopted_arrays_serve_plans(device):
    call = Call(device, Cell("float16", 64, 2, 4, 1100, 16))
    arrays = [device.asarray(array, copy=False) for array in call.inputs.arrays]
    before = copies(device)
    with call.plan() as plan:
        plan.run(*arrays, call.cell.context_tokens, call.out)
    call.check()
    assert copies(device) == before


def test_page_aligned_foreign_output(device):
    call = Call(device, Cell("float32", 64, 2, 2, 30, 8))
    memory = page_aligned(device.info["memory_page"])
    out = device.asarray(memory, copy=False)[: call.out.nbytes].view(np.float32).reshape(call.out.shape)
    before = copies(device)
    with call.plan() as plan:
        plan.run(*call.arrays, call.cell.context_tokens, out)
    call.check(memory[: call.out.nbytes].view(np.float32))
    assert copies(device) == before


def test_a_plan_refuses_foreign_memory(device):
    call = Call(device, Cell("float32", 64, 2, 2, 30, 8))
    with call.plan() as plan:
        for index, name in enumerate(["queries", "key_pages", "value_pages", "page_table", "dependency"]):
            arrays = list(call.arrays)
            arrays[index] = call.inputs.arrays[index]
            with pytest.raises(pagedrt.InvalidInputError, match=name):
                plan.run(*arrays, call.cell.context_tokens, call.out)
        for foreign in (np.full_like(call.out, 7), device.asarray(np.full_like(call.out, 7))):
            with pytest.raises(pagedrt.InvalidInputError, match="out"):
                plan.run(*call.arrays, call.cell.context_tokens, foreign)
            assert call.untouched(foreign)
    assert call.untouched()


# --- lifetimes ---


def test_views_keep_the_buffer(device):
    array = device.zeros((8, 8), "float32")
    buffer = weakref.ref(array.base)
    view = array[2:4, 1:]
    del array
    gc.collect()
    assert buffer() is not None
    assert (view == 0).all()
    del view
    assert buffer() is None


def test_the_exporter_is_kept(device):
    foreign = np.arange(1000, dtype=np.float32)
    exporter = weakref.ref(foreign)
    view = device.asarray(foreign)[10:20]
    del foreign
    gc.collect()
    assert exporter() is not None
    assert view.tolist() == list(range(10, 20))
    del view
    assert exporter() is None


def test_arrays_outlive_the_device():
    device = pagedrt.Device()
    array = device.zeros(1000, "float32")
    adopted = device.asarray(np.ones(10, np.float32))
    device.close()
    del device
    gc.collect()
    array[:] = 3
    assert (array == 3).all()
    assert (adopted == 1).all()


def test_buffers_are_made_by_devices_alone():
    with pytest.raises(TypeError, match=r"Device\.empty"):
        Buffer()


def test_zeros_are_zero_in_memory_used_before(device):
    for _ in range(40):
        array = device.empty((3, 5), "float32")
        array[...] = 7
        del array
        assert not device.zeros((3, 5), "float32").any()
