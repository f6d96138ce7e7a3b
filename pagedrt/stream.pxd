from libc.stdint cimport uint64_t

from pagedrt.c_api cimport pagedrt_stream
from pagedrt.device cimport Device

cdef class Stream:
    cdef pagedrt_stream *handle
    cdef readonly Device device
    cdef readonly bint closed
    # A ring of the arrays that calls in flight use: count of them from slot head on, the first of which is
    # the array numbered released since the stream was made.
    cdef list held
    cdef Py_ssize_t head
    cdef Py_ssize_t count
    cdef uint64_t released
    cdef object __weakref__

    cdef int require_open(self) except -1
    cdef int wait(self, bint report) except -1
    cdef int hold(self, object queries, object key_pages, object value_pages, object page_table, object dependency,
                  object out) except -1
    cdef void push(self, object array) noexcept
    cdef void release(self, uint64_t end) noexcept
