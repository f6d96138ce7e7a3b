"""Microbenchmark kernels, for `python -m pagedrt bench --micro`: see pagedrt_micro.h."""

cimport numpy as cnp
from libc.stdint cimport uint32_t

from pagedrt.arguments cimport is_array
from pagedrt.c_api cimport pagedrt_device, pagedrt_status
from pagedrt.device cimport Device
from pagedrt.errors cimport check

from pagedrt import validation
from pagedrt.errors import InvalidInputError

cnp.import_array()


cdef extern from "pagedrt_micro.h" nogil:
    ctypedef struct pagedrt_micro_launch:
        uint32_t threadgroups
        uint32_t simdgroups
        uint32_t rounds
        uint32_t dispatches
        uint32_t command_buffers
        const void *memory
        const uint32_t *page_table
        uint32_t *out
        uint32_t page_capacity
        uint32_t pages
        uint32_t out_length
        uint32_t page_bytes

    pagedrt_status pagedrt_micro_run(pagedrt_device *device, const char *kernel, const pagedrt_micro_launch *launch)
    pagedrt_status pagedrt_micro_most_simdgroups(pagedrt_device *device, const char *kernel, uint32_t *simdgroups)


def run(Device device not None, kernel, memory, page_table, out, *, page_bytes, threadgroups, simdgroups=1, rounds=1,
        dispatches=1, command_buffers=1):
    """Runs dispatches of a kernel and waits for them.

    kernel: "read", "barrier" or "simd_sum". memory, page_table, out: uint32 arrays of one dimension in the device's
    memory; memory holds pages of page_bytes bytes, page_table their numbers, out gets threadgroups * SIMD width words.
    threadgroups: of a dispatch. simdgroups: of a threadgroup. rounds: of work a dispatch, from 0.
    dispatches: of a command buffer. command_buffers: 1 to 8, committed one after the other.
    InvalidInputError names the argument that does not fit.
    """
    cdef pagedrt_micro_launch launch
    cdef pagedrt_status status
    device.require_open()
    require_words("memory", memory)
    require_words("page_table", page_table)
    require_words("out", out)
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray> out):
        raise InvalidInputError("out: got a read-only array, expected a writeable one")
    launch.threadgroups = validation.count("threadgroups", threadgroups)
    launch.simdgroups = validation.count("simdgroups", simdgroups)
    launch.rounds = 0 if rounds == 0 else validation.count("rounds", rounds)
    launch.dispatches = validation.count("dispatches", dispatches)
    launch.command_buffers = validation.count("command_buffers", command_buffers)
    launch.page_bytes = validation.count("page_bytes", page_bytes)
    launch.page_capacity = validation.count("memory's pages", memory.nbytes // launch.page_bytes)
    launch.pages = validation.count("page_table's length", len(page_table))
    launch.out_length = validation.count("out's length", len(out))
    launch.memory = cnp.PyArray_DATA(<cnp.ndarray> memory)
    launch.page_table = <const uint32_t *> cnp.PyArray_DATA(<cnp.ndarray> page_table)
    launch.out = <uint32_t *> cnp.PyArray_DATA(<cnp.ndarray> out)
    name = host_name(kernel)
    cdef const char *text = name
    with nogil:
        status = pagedrt_micro_run(device.handle, text, &launch)
    check(status)


def most_simdgroups(Device device not None, kernel):
    """The most SIMD-groups a threadgroup that a kernel can have on the device."""
    cdef uint32_t simdgroups = 0
    cdef pagedrt_status status
    device.require_open()
    name = host_name(kernel)
    cdef const char *text = name
    with nogil:
        status = pagedrt_micro_most_simdgroups(device.handle, text, &simdgroups)
    check(status)
    return simdgroups


cdef bytes host_name(object kernel):
    return f"pagedrt_micro_{kernel}".encode()


cdef int require_words(str argument, object array) except -1:
    if not is_array(array, cnp.NPY_UINT32, 1):
        kind = f"{array.dtype} of shape {array.shape}" if cnp.PyArray_Check(array) else type(array).__name__
        raise InvalidInputError(f"{argument}: got {kind}, expected a C-contiguous uint32 array of one dimension")
    return 0
