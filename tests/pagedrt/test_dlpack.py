import gc
import weakref

import ml_dtypes
import numpy as np
import pytest

import pagedrt


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.uint32, np.int8, np.complex64, bool], ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 4), (0, 3)], ids=str)
def test_round_trip(dtype, shape):
    array = np.arange(np.prod(shape), dtype=np.int64).reshape(shape).astype(dtype)
    back = np.from_dlpack(pagedrt.to_dlpack(array))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert np.array_equal(back, array)
    if array.size:
        assert np.shares_memory(back, array)


def test_strides(device):
    array = device.zeros((4, 6), "float32")
    array[...] = np.arange(24).reshape(4, 6)
    for view in (array.T, array[::2, 1:], array[::-1]):
        back = np.from_dlpack(pagedrt.to_dlpack(view))
        assert back.strides == view.strides
        assert np.array_equal(back, view)


def test_read_only():
    array = np.ones(3, np.float32)
    array.flags.writeable = False
    exporter = pagedrt.to_dlpack(array)
    assert not np.from_dlpack(exporter).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        exporter.__dlpack__()


@pytest.mark.parametrize(
    ("version", "name"),
    [(None, '"dltensor"'), ((0, 8), '"dltensor"'), ((1, 0), '"dltensor_versioned"'), ((2, 3), '"dltensor_versioned"')],
)
def test_capsule_names(version, name):
    capsule = pagedrt.to_dlpack(np.ones(3)).__dlpack__(max_version=version)
    assert name in repr(capsule)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_lifetimes(version):
    array = np.ones(1000)
    alive = weakref.ref(array)
    exporter = pagedrt.to_dlpack(array)
    capsule = exporter.__dlpack__(max_version=version)
    del array, exporter
    gc.collect()
    assert alive() is not None
    del capsule
    assert alive() is None


def test_a_consumer_keeps_the_array():
    array = np.arange(10.0)
    alive = weakref.ref(array)
    back = np.from_dlpack(pagedrt.to_dlpack(array))
    del array
    gc.collect()
    assert alive() is not None
    assert back.tolist() == list(range(10))
    del back
    gc.collect()
    assert alive() is None


def test_copy():
    array = np.ones(4)
    back = np.from_dlpack(pagedrt.to_dlpack(array), copy=True)
    array[0] = 5
    assert back[0] == 1


def test_device():
    exporter = pagedrt.to_dlpack(np.ones(1))
    assert exporter.__dlpack_device__() == (1, 0)
    exporter.__dlpack__(dl_device=(1, 0))
    for wrong in ({"dl_device": (8, 0)}, {"stream": 1}):
        with pytest.raises(BufferError, match=next(iter(wrong))):
            exporter.__dlpack__(**wrong)


@pytest.mark.parametrize(
    "array",
    [[1, 2], np.array(["a"]), np.ones(2, ">f4"), np.ones(2, np.longdouble), np.array([None])],
    ids=["list", "text", "byte order", "long double", "object"],
)
def test_refused(array):
    with pytest.raises(pagedrt.InvalidInputError, match="array: got"):
        pagedrt.to_dlpack(array)


def test_strides_between_elements():
    fields = np.zeros(4, [("a", np.uint8), ("b", np.uint16)])
    with pytest.raises(pagedrt.InvalidInputError, match="strides"):
        pagedrt.to_dlpack(fields["b"])


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_bfloat16_data_type(version):
    """Code 4 and 16 bits, read where dlpack.h puts them."""
    array = np.arange(6).reshape(2, 3).astype(ml_dtypes.bfloat16)
    capsule = pagedrt.to_dlpack(array).__dlpack__(max_version=version)
    tensor = tensor_in(capsule, version is not None)
    assert tensor.data == array.ctypes.data
    assert (tensor.code, tensor.bits, tensor.lanes) == (4, 16, 1)
    assert (tensor.device_type, tensor.device_id, tensor.ndim, tensor.byte_offset) == (1, 0, 2, 0)
    assert (tensor.shape[:2], tensor.strides[:2]) == ([2, 3], [3, 1])


def tensor_in(capsule, versioned):
    import ctypes

    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p),
            ("device_type", ctypes.c_int32),
            ("device_id", ctypes.c_int32),
            ("ndim", ctypes.c_int32),
            ("code", ctypes.c_uint8),
            ("bits", ctypes.c_uint8),
            ("lanes", ctypes.c_uint16),
            ("shape", ctypes.POINTER(ctypes.c_int64)),
            ("strides", ctypes.POINTER(ctypes.c_int64)),
            ("byte_offset", ctypes.c_uint64),
        ]

    class Versioned(ctypes.Structure):
        _fields_ = [
            ("major", ctypes.c_uint32),
            ("minor", ctypes.c_uint32),
            ("context", ctypes.c_void_p),
            ("deleter", ctypes.c_void_p),
            ("flags", ctypes.c_uint64),
            ("tensor", Tensor),
        ]

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    if not versioned:
        return Tensor.from_address(pointer(capsule, b"dltensor"))
    managed = Versioned.from_address(pointer(capsule, b"dltensor_versioned"))
    assert (managed.major, managed.minor, managed.flags) == (1, 0, 0)
    return managed.tensor


def test_bfloat16_in_torch(device):
    torch = pytest.importorskip("torch")
    array = device.zeros((2, 3), "bfloat16")
    array[...] = np.arange(6).reshape(2, 3)
    tensor = torch.from_dlpack(pagedrt.to_dlpack(array))
    assert tensor.dtype == torch.bfloat16
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensor.data_ptr() == array.ctypes.data
