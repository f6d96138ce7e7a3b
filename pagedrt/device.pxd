cimport numpy as cnp
from libc.stddef cimport size_t

from pagedrt.c_api cimport pagedrt_device

cdef class Device:
    cdef pagedrt_device *handle
    cdef readonly str family         # "metal", "cpu" or "simulator"
    cdef readonly bint closed
    cdef readonly size_t max_buffer_length  # bytes
    cdef size_t memory_page                 # bytes
    cdef readonly int cores          # of the machine, whatever may be used of them
    cdef readonly object tuning      # the file of the tuning table in use, or None
    cdef readonly str pipeline_archive  # the file as it was given, or None
    cdef dict table                  # what that file says, as heuristics.pick takes it
    cdef object __weakref__

    cdef int require_open(self) except -1
    cdef cnp.ndarray allocate(self, int ndim, cnp.npy_intp *shape, cnp.dtype dtype, size_t nbytes)
    cdef cnp.ndarray adopt(self, cnp.ndarray array)

cdef Device as_open_device(object thing)
cdef Device default()
