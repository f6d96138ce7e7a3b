# cython: language_level=3
"""A Cython module that embeds pagedrt through its header alone: it neither imports nor cimports the package."""

from libc.stdint cimport uint32_t, uintptr_t


cdef extern from "pagedrt.h" nogil:
    ctypedef enum pagedrt_status:
        PAGEDRT_OK
    ctypedef enum pagedrt_dtype:
        pass
    ctypedef struct pagedrt_device
    ctypedef struct pagedrt_scratch
    ctypedef struct pagedrt_stream
    ctypedef struct pagedrt_geometry:
        uint32_t query_heads, kv_heads, head_dim, page_size
        pagedrt_dtype dtype
        float scale
    ctypedef struct pagedrt_call:
        const void *queries
        const void *key_pages
        const void *value_pages
        const uint32_t *page_table
        const uint32_t *dependency
        void *out
        uint32_t page_capacity, page_table_length, context_tokens
    const char *pagedrt_last_error()
    pagedrt_status pagedrt_device_create(const char *family, uint32_t threads, pagedrt_device **device)
    void pagedrt_device_destroy(pagedrt_device *device)
    pagedrt_status pagedrt_scratch_create(pagedrt_device *device, pagedrt_scratch **scratch)
    void pagedrt_scratch_destroy(pagedrt_scratch *scratch)
    pagedrt_status pagedrt_stream_create(pagedrt_device *device, pagedrt_stream **stream)
    pagedrt_status pagedrt_stream_synchronize(pagedrt_stream *stream)
    void pagedrt_stream_destroy(pagedrt_stream *stream)
    ctypedef struct pagedrt_layout:
        uint32_t blocks, heads, simdgroups
    pagedrt_status pagedrt_paged_attention(pagedrt_device *device, const pagedrt_geometry *geometry,
                                           const pagedrt_layout *layout, const pagedrt_call *call,
                                           pagedrt_scratch *scratch, pagedrt_stream *stream)


cdef int check(pagedrt_status status) except -1:
    if status != PAGEDRT_OK:
        raise RuntimeError(pagedrt_last_error().decode())
    return 0


cdef class Attention:
    """Decodes on a device, a stream and a scratch of its own."""

    cdef pagedrt_device *device
    cdef pagedrt_stream *stream
    cdef pagedrt_scratch *scratch

    def __cinit__(self):
        check(pagedrt_device_create(NULL, 0, &self.device))
        check(pagedrt_stream_create(self.device, &self.stream))
        check(pagedrt_scratch_create(self.device, &self.scratch))

    def __dealloc__(self):
        pagedrt_scratch_destroy(self.scratch)
        pagedrt_stream_destroy(self.stream)
        pagedrt_device_destroy(self.device)

    def run(self, queries, key_pages, value_pages, page_table, dependency, out, *, int dtype, uint32_t context_tokens,
            float scale, uint32_t blocks):
        cdef pagedrt_geometry geometry
        cdef pagedrt_call call
        cdef pagedrt_layout layout = [blocks, 0, 0]
        cdef pagedrt_status status
        geometry.query_heads = queries.shape[1]
        geometry.kv_heads = key_pages.shape[0]
        geometry.head_dim = queries.shape[3]
        geometry.page_size = key_pages.shape[2]
        geometry.dtype = <pagedrt_dtype> dtype
        geometry.scale = scale
        call.queries = <const void *> address(queries)
        call.key_pages = <const void *> address(key_pages)
        call.value_pages = <const void *> address(value_pages)
        call.page_table = <const uint32_t *> address(page_table)
        call.dependency = <const uint32_t *> address(dependency)
        call.out = <void *> address(out)
        call.page_capacity = key_pages.shape[1]
        call.page_table_length = page_table.size
        call.context_tokens = context_tokens
        with nogil:
            status = pagedrt_paged_attention(self.device, &geometry, &layout, &call, self.scratch, self.stream)
            if status == PAGEDRT_OK:
                status = pagedrt_stream_synchronize(self.stream)
        check(status)


cdef uintptr_t address(array):
    return array.ctypes.data
