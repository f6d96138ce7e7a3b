"""A device: where attention runs, and the memory it runs on."""

import os

cimport cython
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t

from pagedrt.buffer cimport Buffer
from pagedrt.c_api cimport (
    PAGEDRT_DEVICE_ERROR,
    PAGEDRT_INVALID_INPUT,
    PAGEDRT_OK,
    pagedrt_buffer,
    pagedrt_buffer_contents,
    pagedrt_buffer_create,
    pagedrt_buffer_wrap,
    pagedrt_device,
    pagedrt_device_close,
    pagedrt_device_count_copy,
    pagedrt_device_destroy,
    pagedrt_device_get_info,
    pagedrt_device_get_stats,
    pagedrt_device_info,
    pagedrt_device_open,
    pagedrt_device_options,
    pagedrt_last_error,
    pagedrt_stats,
    pagedrt_status,
)
from pagedrt.errors cimport check

from pagedrt import validation
from pagedrt.dtypes import resolve
from pagedrt.errors import InvalidInputError
from pagedrt.tuning import for_device

cnp.import_array()


cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(type subtype, cnp.dtype dtype, int ndim, cnp.npy_intp *shape, cnp.npy_intp *strides,
                                void *data, int flags, PyObject *template)


cdef enum:
    MAX_DIMENSIONS = 32  # what every NumPy allows


FAMILIES = ("metal", "cpu", "simulator")  # best first


def devices():
    """Families that work on this machine, best first, e.g. ["cpu"]."""
    cdef pagedrt_device *handle = NULL
    cdef pagedrt_status status
    working = []
    for family in FAMILIES:
        name = family.encode()
        status = open_device(name, 0, None, &handle)
        if status == PAGEDRT_OK:
            with nogil:
                pagedrt_device_destroy(handle)
            working.append(family)
        elif status != PAGEDRT_DEVICE_ERROR:
            check(status)
    return working


cdef pagedrt_status open_device(bytes family, uint32_t threads, bytes archive, pagedrt_device **handle):
    cdef pagedrt_device_options options
    cdef pagedrt_status status
    options.family = NULL
    options.threads = threads
    options.pipeline_archive = NULL
    if family is not None:
        options.family = family
    if archive is not None:
        options.pipeline_archive = archive
    with nogil:
        status = pagedrt_device_open(&options, handle)
    return status


@cython.final
cdef class Device:
    """Device(family=None, *, threads=None, tuning=None, pipeline_archive=None): a Metal device, real or software.

    family: "metal", "cpu" or "simulator"; None takes the best that works here (see pagedrt.devices()).
    threads: workers of software Metal, 1 to 1024; None takes one a core. Results never depend on it. The metal family
    has none to set.
    tuning: the file of a table that `python -m pagedrt bench --tune` made; None takes the one that it keeps for this
        device, if any, and warns where that cannot be used; False takes none.
    pipeline_archive: a file that keeps compiled pipelines for the next process; None keeps none. What it holds is not
        compiled anew; it is replaced whole when the device closes, if anything was added. Where it cannot be used or
        written pipelines are compiled as without one, and stats tells. On a Mac it is used at your risk: Metal has
        been seen to end processes over such files.
    InvalidInputError for an argument that does not fit or a tuning file that cannot be read or is of another device
    or version, DeviceError where the family does not work on this machine, saying why.
    """

    def __cinit__(self, family=None, *, threads=None, tuning=None, pipeline_archive=None):
        cdef pagedrt_device_info info
        if family is not None and not (isinstance(family, str) and family in FAMILIES):
            raise InvalidInputError(f"family: got {family!r}, expected one of {', '.join(FAMILIES)}")
        count = 0 if threads is None else validation.count("threads", threads)
        path = None if pipeline_archive is None else validation.file_path("pipeline_archive", pipeline_archive)
        check(open_device(None if family is None else family.encode(), count, None if path is None else path.encode(),
                          &self.handle))
        self.pipeline_archive = path
        check(pagedrt_device_get_info(self.handle, &info))
        self.family = info.family.decode()
        self.max_buffer_length = info.max_buffer_length
        self.memory_page = info.memory_page
        self.cores = os.cpu_count() or 1
        self.tuning, self.table = for_device(tuning, self.info | {"cores": self.cores})

    def __dealloc__(self):
        if self.handle != NULL:
            with nogil:
                pagedrt_device_destroy(self.handle)

    cdef int require_open(self) except -1:
        if self.closed:
            raise InvalidInputError("device: got a closed one, expected an open one")
        return 0

    def close(self):
        """Finishes the work in flight, and writes pipeline_archive. Idempotent.

        Later uses raise InvalidInputError, but arrays and stats stay readable.
        """
        cdef pagedrt_status status
        if self.closed:
            return
        self.closed = True
        with nogil:
            status = pagedrt_device_close(self.handle)
        check(status)

    def __enter__(self):
        self.require_open()
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"<pagedrt.Device {self.family}{' closed' if self.closed else ''}>"

    def stream(self):
        """A new Stream: calls in order, many to a command buffer."""
        from pagedrt.stream import Stream

        return Stream(self)

    @property
    def info(self):
        """Properties of the device, as a dict; lengths are in bytes."""
        cdef pagedrt_device_info info
        self.require_open()
        check(pagedrt_device_get_info(self.handle, &info))
        return {
            "family": info.family.decode(),
            "name": info.name.decode("utf-8", "replace"),
            "instruction_set": info.instruction_set.decode(),
            "simd_width": info.simd_width,
            "max_threads": info.max_threads,
            "worker_threads": info.worker_threads,
            "max_buffer_length": info.max_buffer_length,
            "working_set": info.working_set,
            "memory_page": info.memory_page,
        }

    @property
    def stats(self):
        """Counters since the device was made, as a dict of its own.

        one_pass and two_pass count calls by path; copies and copied_bytes count arrays that the device could
        not use in place; then dispatches, command_buffers, waits, pipelines_built, scratch_prepares. gpu_nanoseconds
        is the time, from GPU start to end, of the command buffers that were waited for. libraries_loaded counts
        shader libraries that came prebuilt, libraries_compiled those from text; archive_hits pipelines found in
        pipeline_archive, archive_added those that it lacked and was given, archive_refused archives and pipelines that
        the device would not load, make or add, archive_unsaved failed writes of the file.
        """
        cdef pagedrt_stats stats
        check(pagedrt_device_get_stats(self.handle, &stats))
        return {
            "one_pass": stats.one_pass,
            "two_pass": stats.two_pass,
            "dispatches": stats.dispatches,
            "command_buffers": stats.command_buffers,
            "waits": stats.waits,
            "copies": stats.copies,
            "copied_bytes": stats.copied_bytes,
            "pipelines_built": stats.pipelines_built,
            "scratch_prepares": stats.scratch_prepares,
            "gpu_nanoseconds": stats.gpu_nanoseconds,
            "libraries_loaded": stats.libraries_loaded,
            "libraries_compiled": stats.libraries_compiled,
            "archive_hits": stats.archive_hits,
            "archive_added": stats.archive_added,
            "archive_refused": stats.archive_refused,
            "archive_unsaved": stats.archive_unsaved,
        }

    def empty(self, shape, dtype):
        """A C-contiguous array in page-aligned memory of the device, which kernels use in place.

        shape: an int or a sequence of them. dtype: a NumPy dtype or its name; "bfloat16" is ml_dtypes.bfloat16.
        InvalidInputError where it takes more bytes than the device allows, OutOfMemoryError where none are left.
        """
        cdef cnp.npy_intp[MAX_DIMENSIONS] extents
        cdef int axis
        self.require_open()
        dtype = resolve(dtype)
        shape = validation.shape(shape, MAX_DIMENSIONS)
        nbytes = validation.array_bytes(shape, dtype, self.max_buffer_length)
        for axis in range(len(shape)):
            extents[axis] = shape[axis]
        return self.allocate(len(shape), extents, dtype, nbytes)

    def zeros(self, shape, dtype):
        """As empty(), filled with zeros."""
        array = self.empty(shape, dtype)
        cnp.PyArray_FILLWBYTE(array, 0)
        return array

    cdef cnp.ndarray allocate(self, int ndim, cnp.npy_intp *shape, cnp.dtype dtype, size_t nbytes):
        """The array over a new buffer; nbytes is what shape and dtype take, checked before."""
        cdef pagedrt_buffer *handle = NULL
        cdef pagedrt_status status
        with nogil:
            status = pagedrt_buffer_create(self.handle, max(nbytes, <size_t> 1), &handle)
        check(status)
        return array_over(Buffer.create(self, handle, None), ndim, shape, dtype, cnp.NPY_ARRAY_CARRAY)

    def asarray(self, a, copy=None):
        """The array-like a as an array that plans of this device take.

        Memory of this device comes back as it is; other memory is adopted in place where the device can use
        it, and its exporter is kept alive. It must be C-contiguous, aligned and of native byte order; only where its
        first byte and its length are multiples of the device's memory page may kernels write to it too.
        copy: None copies what cannot be used in place and counts that in stats; False raises InvalidInputError
        instead; True always copies.
        """
        cdef cnp.ndarray array
        self.require_open()
        if copy is not None and copy is not True and copy is not False:
            raise InvalidInputError(f"copy: got {copy!r}, expected None, True or False")
        array = validation.array(a, copy)
        if copy is not True and cnp.PyArray_ISCARRAY_RO(array) and array.size > 0:
            if holds(self, array):
                return array
            adopted = self.adopt(array)
            if adopted is not None:
                return adopted
            reason = pagedrt_last_error().decode("utf-8", "replace")
        else:
            reason = "it must be C-contiguous, aligned, of native byte order and not empty"
        if copy is False:
            raise InvalidInputError(
                f"a: got {array.descr.str} of shape {(<object> array).shape}, "
                f"expected memory that the device can use in place, as copy is False ({reason})"
            )
        copied = self.empty((<object> array).shape, array.descr.newbyteorder("="))
        copied[...] = array
        pagedrt_device_count_copy(self.handle, copied.nbytes)
        return copied

    cdef cnp.ndarray adopt(self, cnp.ndarray array):
        """The array over the same memory, or None where the device cannot use it in place."""
        cdef pagedrt_buffer *handle = NULL
        cdef pagedrt_status status
        cdef char *address = cnp.PyArray_BYTES(array)
        cdef size_t nbytes = cnp.PyArray_NBYTES(array)
        cdef bint writable = (cnp.PyArray_ISWRITEABLE(array) and <size_t> address % self.memory_page == 0
                              and nbytes % self.memory_page == 0)
        with nogil:
            status = pagedrt_buffer_wrap(self.handle, address, nbytes, writable, &handle)
        if status == PAGEDRT_INVALID_INPUT:
            return None
        check(status)
        cdef int flags = cnp.NPY_ARRAY_CARRAY if cnp.PyArray_ISWRITEABLE(array) else cnp.NPY_ARRAY_CARRAY_RO
        return array_over(Buffer.create(self, handle, array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array),
                          array.descr, flags)


cdef cnp.ndarray array_over(Buffer buffer, int ndim, cnp.npy_intp *shape, cnp.dtype dtype, int flags):
    """The array over a buffer's first bytes; the buffer lives as long as any view of it."""
    Py_INCREF(dtype)  # NumPy takes this reference over
    cdef cnp.ndarray array = PyArray_NewFromDescr(
        <type> cnp.ndarray, dtype, ndim, shape, NULL, pagedrt_buffer_contents(buffer.handle), flags, NULL)
    cnp.set_array_base(array, buffer)
    return array


cdef bint holds(Device device, cnp.ndarray array) noexcept:
    """True where the array is a view of a buffer of the device."""
    cdef PyObject *base = cnp.PyArray_BASE(array)
    while base != NULL and cnp.PyArray_Check(<object> base):
        base = cnp.PyArray_BASE(<cnp.ndarray> base)
    if base == NULL or not isinstance(<object> base, Buffer):
        return False
    return (<Buffer> base).device is device


cdef Device as_open_device(object thing):
    """The thing, where it is an open Device, else InvalidInputError."""
    if not isinstance(thing, Device):
        raise InvalidInputError(f"device: got {type(thing).__name__}, expected a pagedrt.Device")
    cdef Device device = thing
    device.require_open()
    return device


cdef object default_device = None


cdef Device default():
    """The process-wide device that paged_attention takes where it is given none; made at first use."""
    global default_device
    if default_device is None:
        # No lock: a child forked meanwhile would find it taken. Of threads that race here, one's device stays.
        made = Device()
        if default_device is None:
            default_device = made
    return default_device
