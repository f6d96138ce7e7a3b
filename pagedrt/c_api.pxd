"""The C ABI of libpagedrt, as far as the package uses it: see pagedrt.h for what each function promises."""

from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "pagedrt.h" nogil:
    ctypedef enum pagedrt_status:
        PAGEDRT_OK
        PAGEDRT_INVALID_INPUT
        PAGEDRT_DEVICE_ERROR
        PAGEDRT_OUT_OF_MEMORY

    ctypedef enum pagedrt_dtype:
        PAGEDRT_FLOAT32
        PAGEDRT_FLOAT16
        PAGEDRT_BFLOAT16

    ctypedef struct pagedrt_device
    ctypedef struct pagedrt_stream
    ctypedef struct pagedrt_buffer
    ctypedef struct pagedrt_scratch
    ctypedef struct pagedrt_plan

    const char *pagedrt_last_error()
    const char *pagedrt_version()

    ctypedef struct pagedrt_device_info:
        char[16] family
        char[64] name
        char[16] instruction_set
        uint32_t simd_width
        uint32_t max_threads
        uint32_t worker_threads
        uint64_t max_buffer_length
        uint64_t working_set
        uint64_t memory_page

    ctypedef struct pagedrt_stats:
        uint64_t one_pass
        uint64_t two_pass
        uint64_t dispatches
        uint64_t command_buffers
        uint64_t waits
        uint64_t copies
        uint64_t copied_bytes
        uint64_t pipelines_built
        uint64_t scratch_prepares
        uint64_t gpu_nanoseconds
        uint64_t libraries_loaded
        uint64_t libraries_compiled
        uint64_t archive_hits
        uint64_t archive_added
        uint64_t archive_refused
        uint64_t archive_unsaved

    ctypedef struct pagedrt_device_options:
        const char *family
        uint32_t threads
        const char *pipeline_archive

    pagedrt_status pagedrt_device_open(const pagedrt_device_options *options, pagedrt_device **device)
    pagedrt_status pagedrt_device_close(pagedrt_device *device)
    void pagedrt_device_destroy(pagedrt_device *device)
    pagedrt_status pagedrt_device_get_info(pagedrt_device *device, pagedrt_device_info *info)
    pagedrt_status pagedrt_device_get_stats(pagedrt_device *device, pagedrt_stats *stats)

    pagedrt_status pagedrt_buffer_create(pagedrt_device *device, size_t length, pagedrt_buffer **buffer)
    pagedrt_status pagedrt_buffer_wrap(pagedrt_device *device, void *pointer, size_t length, bint writable,
                                       pagedrt_buffer **buffer)
    void *pagedrt_buffer_contents(pagedrt_buffer *buffer)
    size_t pagedrt_buffer_length(pagedrt_buffer *buffer)
    void pagedrt_buffer_destroy(pagedrt_buffer *buffer)
    void pagedrt_device_count_copy(pagedrt_device *device, size_t bytes)

    pagedrt_status pagedrt_stream_create(pagedrt_device *device, pagedrt_stream **stream)
    pagedrt_status pagedrt_stream_synchronize(pagedrt_stream *stream)
    pagedrt_status pagedrt_stream_drain(pagedrt_stream *stream)
    pagedrt_status pagedrt_stream_close(pagedrt_stream *stream)
    void pagedrt_stream_destroy(pagedrt_stream *stream)

    ctypedef struct pagedrt_geometry:
        uint32_t query_heads
        uint32_t kv_heads
        uint32_t head_dim
        uint32_t page_size
        pagedrt_dtype dtype
        float scale

    ctypedef struct pagedrt_call:
        const void *queries
        const void *key_pages
        const void *value_pages
        const uint32_t *page_table
        const uint32_t *dependency
        void *out
        uint32_t page_capacity
        uint32_t page_table_length
        uint32_t context_tokens

    ctypedef struct pagedrt_layout:
        uint32_t blocks
        uint32_t heads
        uint32_t simdgroups

    pagedrt_status pagedrt_paged_attention(pagedrt_device *device, const pagedrt_geometry *geometry,
                                           const pagedrt_layout *layout, const pagedrt_call *call,
                                           pagedrt_scratch *scratch, pagedrt_stream *stream)

    ctypedef struct pagedrt_split:
        uint32_t context_tokens
        pagedrt_layout layout

    pagedrt_status pagedrt_plan_create(pagedrt_device *device, const pagedrt_geometry *geometry,
                                       const pagedrt_split *splits, uint32_t split_count, pagedrt_plan **plan)
    pagedrt_status pagedrt_plan_run(pagedrt_plan *plan, const pagedrt_call *call, pagedrt_stream *stream)
    pagedrt_status pagedrt_plan_close(pagedrt_plan *plan)
    void pagedrt_plan_destroy(pagedrt_plan *plan)

    pagedrt_status pagedrt_scratch_create(pagedrt_device *device, pagedrt_scratch **scratch)
    void pagedrt_scratch_destroy(pagedrt_scratch *scratch)
