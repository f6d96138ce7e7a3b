"""A stream: calls in order, many to a command buffer."""

cimport cython
from libc.stdint cimport uint64_t

from pagedrt.c_api cimport (
    pagedrt_status,
    pagedrt_stream_close,
    pagedrt_stream_create,
    pagedrt_stream_destroy,
    pagedrt_stream_drain,
    pagedrt_stream_synchronize,
)
from pagedrt.device cimport as_open_device
from pagedrt.errors cimport check

from pagedrt.errors import Error, InvalidInputError

cdef enum:
    ARRAYS_A_CALL = 6
    # Arrays held before a call waits for the device: those of 682 calls, more than a command buffer takes.
    CAPACITY = 4096


# no_gc: held arrays must outlive the work that uses them, but the collector clears the list of a stream it can see.
@cython.final
@cython.no_gc
cdef class Stream:
    """Stream(device), or device.stream(): calls given it return at once and run in order.

    A call's result is ready, and its inputs may change, after synchronize(). As a context manager it
    synchronizes at exit.
    """

    def __cinit__(self, device):
        self.device = as_open_device(device)
        self.held = [None] * CAPACITY
        check(pagedrt_stream_create(self.device.handle, &self.handle))

    def __dealloc__(self):
        if self.handle != NULL:
            with nogil:
                pagedrt_stream_drain(self.handle)
                pagedrt_stream_destroy(self.handle)

    cdef int require_open(self) except -1:
        self.device.require_open()
        if self.closed:
            raise InvalidInputError("stream: got a closed one, expected an open one")
        return 0

    def synchronize(self):
        """Waits for all calls made before.

        The first failure since the last synchronize is raised, once: InvalidInputError for a page id or a token count
        that only the device could see, naming value and place, or DeviceError for a failed command buffer.
        """
        self.require_open()
        self.wait(report=True)

    def close(self):
        """Synchronizes; later uses raise InvalidInputError. Idempotent."""
        cdef pagedrt_status status
        if self.closed:
            return
        self.closed = True
        if self.device.closed:  # which finished the work and dropped its failures
            return
        with nogil:
            status = pagedrt_stream_close(self.handle)
        try:
            check(status)
        finally:
            self.release(self.released + self.count)

    def __enter__(self):
        self.require_open()
        return self

    def __exit__(self, kind, value, traceback):
        if self.closed:
            return
        if kind is None:
            self.wait(report=True)
            return
        # The exception on its way out counts; a failure of the device stays for the next synchronize.
        try:
            self.wait(report=False)
        except Error:  # the device was closed, or this is a forked child
            pass

    def __repr__(self):
        return f"<pagedrt.Stream on {self.device.family}{' closed' if self.closed else ''}>"

    cdef int wait(self, bint report) except -1:
        """Waits for all calls made before and lets their arrays go; report raises a failure."""
        cdef pagedrt_status status
        # Other threads may add calls while this one waits: theirs stay held.
        cdef uint64_t end = self.released + self.count
        with nogil:
            if report:
                status = pagedrt_stream_synchronize(self.handle)
            else:
                status = pagedrt_stream_drain(self.handle)
        try:
            check(status)
        finally:
            self.release(end)
        return 0

    cdef int hold(self, object queries, object key_pages, object value_pages, object page_table, object dependency,
                  object out) except -1:
        """Keeps the arrays of a call just encoded until a wait that began after it."""
        while self.count > CAPACITY - ARRAYS_A_CALL:
            self.wait(report=False)
        self.push(queries)
        self.push(key_pages)
        self.push(value_pages)
        self.push(page_table)
        self.push(dependency)
        self.push(out)
        return 0

    cdef void push(self, object array) noexcept:
        # The slot held None, so nothing is destroyed here that could run other code.
        self.held[(self.head + self.count) % CAPACITY] = array
        self.count += 1

    cdef void release(self, uint64_t end) noexcept:
        # The ring is whole again before an array dies, as its destruction may run other code.
        cdef Py_ssize_t slot
        while self.count > 0 and self.released < end:
            slot = self.head
            self.head = (slot + 1) % CAPACITY
            self.count -= 1
            self.released += 1
            self.held[slot] = None
