# cython: language_level=3
"""The C twins: the same plan, arrays and stream, with no Python between calls. Each takes `loops`, gives seconds."""

from libc.stdint cimport uint32_t, uintptr_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from pagedrt.c_api cimport (
    PAGEDRT_OK,
    pagedrt_call,
    pagedrt_device_get_stats,
    pagedrt_plan_run,
    pagedrt_stats,
    pagedrt_status,
    pagedrt_stream_synchronize,
)
from pagedrt.errors cimport check
from pagedrt.plan cimport PagedAttention
from pagedrt.stream cimport Stream


cdef uintptr_t address(array):
    return array.ctypes.data


cdef double now() noexcept nogil:
    cdef timespec time
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec + time.tv_nsec * 1e-9


cdef class Twins:
    cdef PagedAttention plan
    cdef Stream stream
    cdef pagedrt_call call
    cdef object held

    def __init__(self, PagedAttention plan, Stream stream, arrays, uint32_t context_tokens, out):
        queries, key_pages, value_pages, page_table, dependency = arrays
        self.plan, self.stream, self.held = plan, stream, (arrays, out)
        self.call.queries = <const void *> address(queries)
        self.call.key_pages = <const void *> address(key_pages)
        self.call.value_pages = <const void *> address(value_pages)
        self.call.page_table = <const uint32_t *> address(page_table)
        self.call.dependency = <const uint32_t *> address(dependency)
        self.call.out = <void *> address(out)
        self.call.page_capacity = key_pages.shape[1]
        self.call.page_table_length = page_table.size
        self.call.context_tokens = context_tokens

    def empty_call(self, loops):
        """The least that crosses the C ABI: reading the counters."""
        cdef pagedrt_stats stats
        cdef long _, count = loops
        cdef double start = now()
        for _ in range(count):
            pagedrt_device_get_stats(self.plan.device.handle, &stats)
        return now() - start

    def refused(self, loops):
        """Every check of the arguments, of which one fails."""
        cdef pagedrt_call call = self.call
        cdef long _, count = loops
        call.context_tokens = 0
        cdef double start = now()
        for _ in range(count):
            pagedrt_plan_run(self.plan.handle, &call, NULL)
        return now() - start

    def run(self, loops):
        cdef pagedrt_status status = PAGEDRT_OK
        cdef long _, count = loops
        cdef double start = now()
        with nogil:
            for _ in range(count):
                status = pagedrt_plan_run(self.plan.handle, &self.call, NULL)
                if status != PAGEDRT_OK:
                    break
        cdef double seconds = now() - start
        check(status)
        return seconds

    def stream_of(self, loops, int layers):
        cdef pagedrt_status status = PAGEDRT_OK
        cdef long _, count = loops
        cdef int _layer
        cdef double start = now()
        with nogil:
            for _ in range(count):
                for _layer in range(layers):
                    status = pagedrt_plan_run(self.plan.handle, &self.call, self.stream.handle)
                    if status != PAGEDRT_OK:
                        break
                if status == PAGEDRT_OK:
                    status = pagedrt_stream_synchronize(self.stream.handle)
                if status != PAGEDRT_OK:
                    break
        cdef double seconds = now() - start
        check(status)
        return seconds

    def synchronize(self, loops):
        cdef long _, count = loops
        cdef double start = now()
        with nogil:
            for _ in range(count):
                pagedrt_stream_synchronize(self.stream.handle)
        return now() - start


def nothing(queries, key_pages, value_pages, page_table, dependency, context_tokens, out, stream=None):
    """What Python needs to call anything with plan.run's arguments."""
