"""The scratch of the two-pass path: partials, sums and maximums, reused from call to call."""

cimport cython

from pagedrt.c_api cimport pagedrt_scratch_create, pagedrt_scratch_destroy
from pagedrt.device cimport as_open_device
from pagedrt.errors cimport check


@cython.final
cdef class PagedAttentionScratch:
    """PagedAttentionScratch(device): memory that paged_attention reuses between calls of one geometry.

    Calls that share a scratch run one after the other, also across streams. It takes
    query_heads * blocks * (head_dim + 2) * 4 bytes, for the blocks of pagedrt.heuristics.
    """

    def __cinit__(self, device):
        self.device = as_open_device(device)
        check(pagedrt_scratch_create(self.device.handle, &self.handle))

    def __dealloc__(self):
        if self.handle != NULL:
            with nogil:
                pagedrt_scratch_destroy(self.handle)

    def __repr__(self):
        return f"<pagedrt.PagedAttentionScratch on {self.device.family}>"
