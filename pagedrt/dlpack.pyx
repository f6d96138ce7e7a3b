"""DLPack export of host arrays, bfloat16 among them, which NumPy itself refuses.

Structures and names are those of dlpack.h 1.0 and of the array API standard's __dlpack__.
"""

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from pagedrt.c_api cimport PAGEDRT_BFLOAT16, pagedrt_dtype
from pagedrt.dtypes cimport to_native

from pagedrt.errors import InvalidInputError

cnp.import_array()

cdef extern from "Python.h":
    int Py_IsInitialized() nogil
    ctypedef void (*PyCapsule_Destructor)(PyObject *) noexcept
    object PyCapsule_New(void *pointer, const char *name, PyCapsule_Destructor destructor)
    int PyCapsule_IsValid(PyObject *capsule, const char *name)
    void *PyCapsule_GetPointer(PyObject *capsule, const char *name)

cdef enum:
    DL_CPU = 1
    DL_INT = 0
    DL_UINT = 1
    DL_FLOAT = 2
    DL_BFLOAT = 4
    DL_COMPLEX = 5
    DL_BOOL = 6
    DL_READ_ONLY = 1
    DL_IS_COPIED = 2

cdef struct DLVersion:
    uint32_t major
    uint32_t minor

cdef struct DLDataType:
    uint8_t code
    uint8_t bits
    uint16_t lanes

cdef struct DLTensor:
    void *data
    int32_t device_type
    int32_t device_id
    int32_t ndim
    DLDataType dtype
    int64_t *shape
    int64_t *strides  # in elements
    uint64_t byte_offset

cdef struct DLManagedTensor:
    DLTensor tensor
    void *context
    void (*deleter)(DLManagedTensor *) noexcept

cdef struct DLManagedTensorVersioned:
    DLVersion version
    void *context
    void (*deleter)(DLManagedTensorVersioned *) noexcept
    uint64_t flags
    DLTensor tensor


def to_dlpack(array):
    """The array as an object that implements DLPack, for torch.from_dlpack, jax, numpy.from_dlpack and others.

    array: a NumPy array of bool, int, uint, float, complex or bfloat16 in native byte order. Memory is shared and kept
    alive; a stream must be synchronized before another library reads the array. InvalidInputError for other arrays.
    """
    cdef DLDataType dtype
    if not cnp.PyArray_Check(array):
        raise InvalidInputError(f"array: got {type(array).__name__}, expected a NumPy array")
    if not fill_dtype(&dtype, array):
        raise InvalidInputError(
            f"array: got dtype {array.dtype.str}, "
            "expected bool, int, uint, float, complex or bfloat16 of native byte order"
        )
    for stride in array.strides:
        if stride % array.itemsize:
            raise InvalidInputError(f"array: got strides {array.strides}, expected multiples of {array.itemsize} bytes")
    return DLPackExporter(array)


@cython.final
cdef class DLPackExporter:
    """Made by to_dlpack."""

    cdef cnp.ndarray array

    def __cinit__(self, cnp.ndarray array not None):
        self.array = array

    def __dlpack_device__(self):
        """(1, 0): memory of the CPU."""
        return (DL_CPU, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule "dltensor_versioned" where max_version is (1, 0) or later, else "dltensor"."""
        if stream is not None:
            raise BufferError(f"stream: got {stream!r}, expected None, as the array is host memory")
        if dl_device is not None and tuple(dl_device) != (DL_CPU, 0):
            raise BufferError(f"dl_device: got {dl_device!r}, expected None or (1, 0), as the array is host memory")
        cdef cnp.ndarray array = self.array.copy() if copy else self.array
        if max_version is not None and max_version[0] >= 1:
            return versioned(array, copied=bool(copy))
        if not cnp.PyArray_ISWRITEABLE(array):
            raise BufferError("array: got a read-only one, which DLPack can express only from max_version (1, 0) on")
        return legacy(array)


cdef bint fill_dtype(DLDataType *dtype, cnp.ndarray array) noexcept:
    cdef int number = cnp.PyArray_TYPE(array)
    cdef pagedrt_dtype native = PAGEDRT_BFLOAT16
    if number == cnp.NPY_BOOL:
        dtype.code = DL_BOOL
    elif cnp.PyArray_ISSIGNED(array):
        dtype.code = DL_INT
    elif cnp.PyArray_ISUNSIGNED(array):
        dtype.code = DL_UINT
    elif cnp.PyArray_ISFLOAT(array) and number != cnp.NPY_LONGDOUBLE:
        dtype.code = DL_FLOAT
    elif cnp.PyArray_ISCOMPLEX(array) and number != cnp.NPY_CLONGDOUBLE:
        dtype.code = DL_COMPLEX
    elif to_native(number, &native) and native == PAGEDRT_BFLOAT16:
        dtype.code = DL_BFLOAT
    else:
        return False
    dtype.bits = <uint8_t> (8 * cnp.PyArray_ITEMSIZE(array))
    dtype.lanes = 1
    return cnp.PyArray_ISNOTSWAPPED(array)


cdef void fill_tensor(DLTensor *tensor, cnp.ndarray array, int64_t *extents) noexcept:
    """extents has room for shape and strides."""
    cdef int axis
    cdef int ndim = cnp.PyArray_NDIM(array)
    fill_dtype(&tensor.dtype, array)
    tensor.data = cnp.PyArray_DATA(array) if cnp.PyArray_SIZE(array) > 0 else NULL  # NULL is the rule where empty
    tensor.device_type = DL_CPU
    tensor.device_id = 0
    tensor.ndim = ndim
    tensor.shape = extents
    tensor.strides = extents + ndim
    tensor.byte_offset = 0
    for axis in range(ndim):
        tensor.shape[axis] = cnp.PyArray_DIM(array, axis)
        tensor.strides[axis] = cnp.PyArray_STRIDE(array, axis) // cnp.PyArray_ITEMSIZE(array)


cdef object legacy(cnp.ndarray array):
    cdef DLManagedTensor *managed = <DLManagedTensor *> malloc(
        sizeof(DLManagedTensor) + 2 * cnp.PyArray_NDIM(array) * sizeof(int64_t))
    if managed == NULL:
        raise MemoryError
    fill_tensor(&managed.tensor, array, <int64_t *> (managed + 1))
    managed.context = <void *> array
    managed.deleter = delete_legacy
    Py_INCREF(array)
    try:
        return PyCapsule_New(managed, "dltensor", destroy_legacy)
    except BaseException:
        delete_legacy(managed)
        raise


cdef object versioned(cnp.ndarray array, bint copied):
    cdef DLManagedTensorVersioned *managed = <DLManagedTensorVersioned *> malloc(
        sizeof(DLManagedTensorVersioned) + 2 * cnp.PyArray_NDIM(array) * sizeof(int64_t))
    if managed == NULL:
        raise MemoryError
    managed.version.major = 1
    managed.version.minor = 0
    managed.flags = (0 if cnp.PyArray_ISWRITEABLE(array) else DL_READ_ONLY) | (DL_IS_COPIED if copied else 0)
    fill_tensor(&managed.tensor, array, <int64_t *> (managed + 1))
    managed.context = <void *> array
    managed.deleter = delete_versioned
    Py_INCREF(array)
    try:
        return PyCapsule_New(managed, "dltensor_versioned", destroy_versioned)
    except BaseException:
        delete_versioned(managed)
        raise


# A consumer may call these from a thread without the GIL, and after the interpreter is gone.
cdef void delete_legacy(DLManagedTensor *managed) noexcept nogil:
    let_go(managed.context)
    free(managed)


cdef void delete_versioned(DLManagedTensorVersioned *managed) noexcept nogil:
    let_go(managed.context)
    free(managed)


cdef void let_go(void *array) noexcept nogil:
    if Py_IsInitialized():
        with gil:
            Py_DECREF(<object> array)


# A consumer renames the capsule when it takes the tensor over. PyObject *, as a dying object must not be counted.
cdef void destroy_legacy(PyObject *capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor"):
        delete_legacy(<DLManagedTensor *> PyCapsule_GetPointer(capsule, "dltensor"))


cdef void destroy_versioned(PyObject *capsule) noexcept:
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        delete_versioned(<DLManagedTensorVersioned *> PyCapsule_GetPointer(capsule, "dltensor_versioned"))
