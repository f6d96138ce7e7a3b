from pagedrt.c_api cimport pagedrt_geometry, pagedrt_plan
from pagedrt.device cimport Device

cdef class PagedAttention:
    cdef pagedrt_plan *handle
    cdef pagedrt_geometry geometry
    cdef int type_number
    cdef readonly Device device
    cdef readonly object dtype
    cdef readonly Py_ssize_t max_context_tokens
    cdef readonly tuple splits
    cdef readonly bint closed

    cdef int require_open(self, object stream) except -1
