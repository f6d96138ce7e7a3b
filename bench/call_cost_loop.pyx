# cython: language_level=3
"""plan.run's C call by itself: the same plan, arrays and stream, with no Python between calls."""

from libc.stdint cimport uint32_t, uintptr_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from pagedrt.c_api cimport PAGEDRT_OK, pagedrt_call, pagedrt_plan_run, pagedrt_status, pagedrt_stream
from pagedrt.errors cimport check
from pagedrt.plan cimport PagedAttention
from pagedrt.stream cimport Stream


def nanoseconds(PagedAttention plan, arrays, uint32_t context_tokens, out, stream, int runs):
    """A run's time, the mean over `runs`."""
    cdef pagedrt_call call
    cdef pagedrt_stream *handle = NULL
    cdef pagedrt_status status = PAGEDRT_OK
    cdef timespec begin, end
    cdef int _
    queries, key_pages, value_pages, page_table, dependency = arrays
    call.queries = <const void *> address(queries)
    call.key_pages = <const void *> address(key_pages)
    call.value_pages = <const void *> address(value_pages)
    call.page_table = <const uint32_t *> address(page_table)
    call.dependency = <const uint32_t *> address(dependency)
    call.out = <void *> address(out)
    call.page_capacity = key_pages.shape[1]
    call.page_table_length = page_table.size
    call.context_tokens = context_tokens
    if stream is not None:
        handle = (<Stream?> stream).handle
    with nogil:
        clock_gettime(CLOCK_MONOTONIC, &begin)
        for _ in range(runs):
            status = pagedrt_plan_run(plan.handle, &call, handle)
            if status != PAGEDRT_OK:
                break
        clock_gettime(CLOCK_MONOTONIC, &end)
    check(status)
    return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / runs


def nothing(queries, key_pages, value_pages, page_table, dependency, context_tokens, out, stream=None):
    """What Python needs to call anything with plan.run's arguments."""


cdef uintptr_t address(array):
    return array.ctypes.data
