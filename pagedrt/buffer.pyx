"""Memory that a device uses in place."""

cimport cython

from pagedrt.c_api cimport (
    pagedrt_buffer,
    pagedrt_buffer_contents,
    pagedrt_buffer_destroy,
    pagedrt_buffer_length,
)


# no_gc_clear: the exporter must outlive the destruction of the handle.
@cython.final
@cython.no_gc_clear
cdef class Buffer:
    """The base of arrays in device memory; made by Device.empty, zeros and asarray."""

    def __init__(self):
        raise TypeError("a Buffer is made by Device.empty, Device.zeros or Device.asarray")

    @staticmethod
    cdef Buffer create(object device, pagedrt_buffer *handle, object exporter):
        """Takes the handle over."""
        cdef Buffer self = Buffer.__new__(Buffer)
        self.handle = handle
        self.device = device
        self.exporter = exporter
        return self

    def __dealloc__(self):
        # Waits for the device where it still reads the memory, which can take Python threads' time.
        with nogil:
            pagedrt_buffer_destroy(self.handle)

    @property
    def address(self):
        """Address of the first byte."""
        return <size_t> pagedrt_buffer_contents(self.handle)

    @property
    def nbytes(self):
        """Length in bytes."""
        return pagedrt_buffer_length(self.handle)

    @property
    def owned(self):
        """True where the device made the memory, False where it adopted another owner's."""
        return self.exporter is None

    def __repr__(self):
        return f"<pagedrt.Buffer of {self.nbytes} bytes, {'owned' if self.owned else 'adopted'}>"
