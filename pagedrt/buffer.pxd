from libc.stddef cimport size_t

from pagedrt.c_api cimport pagedrt_buffer

cdef class Buffer:
    cdef pagedrt_buffer *handle
    cdef readonly object device  # the Device whose memory this is
    cdef object exporter         # keeps adopted memory mapped; None where the device owns it
    cdef object __weakref__

    @staticmethod
    cdef Buffer create(object device, pagedrt_buffer *handle, object exporter)
