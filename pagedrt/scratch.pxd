from pagedrt.c_api cimport pagedrt_scratch
from pagedrt.device cimport Device

cdef class PagedAttentionScratch:
    cdef pagedrt_scratch *handle
    cdef readonly Device device
