from pagedrt.c_api cimport pagedrt_status

cdef int check(pagedrt_status status) except -1 nogil
