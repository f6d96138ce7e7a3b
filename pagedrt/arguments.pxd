"""Fills a pagedrt_call from arrays by the checks that keep memory safe, at a few nanoseconds each.

They only say yes or no; validation.py then finds what to tell. Inline, as plan.run and paged_attention share them.
"""

cimport numpy as cnp
from cpython.exc cimport PyErr_Clear
from cpython.float cimport PyFloat_AsDouble
from cpython.object cimport PyObject
from libc.math cimport NAN
from libc.stddef cimport size_t
from libc.stdint cimport UINT32_MAX, uint32_t

from pagedrt.c_api cimport PAGEDRT_FLOAT32, pagedrt_call, pagedrt_geometry


cdef enum:
    MAX_TOKENS = 2147483647  # shaders/instances.h


cdef extern from "Python.h":
    Py_ssize_t PyNumber_AsSsize_t(object number, PyObject *clip)


cdef inline Py_ssize_t as_count(object number) noexcept:
    """The integer, clipped to Py_ssize_t; -1 where it is none."""
    cdef Py_ssize_t count = PyNumber_AsSsize_t(number, NULL)
    if count == -1:
        PyErr_Clear()
    return count


cdef inline float as_scale(object number) noexcept:
    """The number rounded to float32; NaN where it is none."""
    try:
        return <float> PyFloat_AsDouble(number)
    except Exception:
        return NAN


cdef inline bint is_array(object array, int type_number, int ndim) noexcept:
    """C-contiguous, aligned, of native byte order, and of this element type and number of dimensions."""
    return (cnp.PyArray_Check(array)
            and cnp.PyArray_TYPE(<cnp.ndarray> array) == type_number
            and cnp.PyArray_NDIM(<cnp.ndarray> array) == ndim
            and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray> array))


cdef inline bint is_query(object array, int type_number, const pagedrt_geometry *geometry) noexcept:
    cdef cnp.npy_intp *shape
    if not is_array(array, type_number, 4):
        return False
    shape = cnp.PyArray_DIMS(<cnp.ndarray> array)
    return shape[0] == 1 and shape[1] == geometry.query_heads and shape[2] == 1 and shape[3] == geometry.head_dim


cdef inline bint are_pages(object array, int type_number, const pagedrt_geometry *geometry, uint32_t capacity) noexcept:
    cdef cnp.npy_intp *shape
    if not is_array(array, type_number, 4):
        return False
    shape = cnp.PyArray_DIMS(<cnp.ndarray> array)
    return (shape[0] == geometry.kv_heads and shape[1] == capacity and shape[2] == geometry.page_size
            and shape[3] == geometry.head_dim)


cdef inline size_t item_bytes(const pagedrt_geometry *geometry) noexcept:
    return 4 if geometry.dtype == PAGEDRT_FLOAT32 else 2


cdef inline size_t query_bytes(const pagedrt_geometry *geometry) noexcept:
    return <size_t> geometry.query_heads * geometry.head_dim * item_bytes(geometry)


cdef inline size_t page_bytes(const pagedrt_geometry *geometry, const pagedrt_call *call) noexcept:
    """Of all pages of a filled call; they exist, so their product fits."""
    return (<size_t> geometry.kv_heads * call.page_capacity * geometry.page_size * geometry.head_dim
            * item_bytes(geometry))


cdef inline bint overlaps(const void *address, size_t nbytes, size_t begin, size_t end) noexcept:
    return <size_t> address < end and begin < <size_t> address + nbytes


cdef inline bint fill_inputs(pagedrt_call *call, const pagedrt_geometry *geometry, int type_number, object queries,
                             object key_pages, object value_pages, object page_table, object dependency,
                             Py_ssize_t context_tokens) noexcept:
    """False where an input does not fit the geometry, which is valid, or context_tokens."""
    cdef size_t capacity, entries
    if context_tokens < 1 or context_tokens > MAX_TOKENS:
        return False
    if not is_query(queries, type_number, geometry) or not is_array(key_pages, type_number, 4):
        return False
    capacity = cnp.PyArray_DIMS(<cnp.ndarray> key_pages)[1]
    if capacity < 1 or capacity > UINT32_MAX:
        return False
    if not are_pages(key_pages, type_number, geometry, capacity):
        return False
    if not are_pages(value_pages, type_number, geometry, capacity):
        return False
    if not is_array(page_table, cnp.NPY_UINT32, 1) or not is_array(dependency, cnp.NPY_UINT32, 1):
        return False
    entries = cnp.PyArray_DIMS(<cnp.ndarray> page_table)[0]
    if entries < (<size_t> context_tokens + geometry.page_size - 1) // geometry.page_size:
        return False
    if cnp.PyArray_DIMS(<cnp.ndarray> dependency)[0] != 1:
        return False
    call.queries = cnp.PyArray_DATA(<cnp.ndarray> queries)
    call.key_pages = cnp.PyArray_DATA(<cnp.ndarray> key_pages)
    call.value_pages = cnp.PyArray_DATA(<cnp.ndarray> value_pages)
    call.page_table = <const uint32_t *> cnp.PyArray_DATA(<cnp.ndarray> page_table)
    call.dependency = <const uint32_t *> cnp.PyArray_DATA(<cnp.ndarray> dependency)
    call.page_capacity = <uint32_t> capacity
    call.page_table_length = <uint32_t> min(entries, <size_t> UINT32_MAX)
    call.context_tokens = <uint32_t> context_tokens
    return True


cdef inline bint fill_out(pagedrt_call *call, const pagedrt_geometry *geometry, int type_number, object out) noexcept:
    """False where out is not an array like queries, writeable and apart from every input that was filled before."""
    cdef size_t begin, end, pages
    if not is_query(out, type_number, geometry) or not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out):
        return False
    call.out = cnp.PyArray_DATA(<cnp.ndarray> out)
    begin = <size_t> call.out
    end = begin + query_bytes(geometry)
    pages = page_bytes(geometry, call)
    return not (overlaps(call.queries, end - begin, begin, end)
                or overlaps(call.key_pages, pages, begin, end)
                or overlaps(call.value_pages, pages, begin, end)
                or overlaps(call.page_table, <size_t> call.page_table_length * 4, begin, end)
                or overlaps(call.dependency, 4, begin, end))
