"""The exceptions of pagedrt, and the one place where a native status becomes one."""

from pagedrt.c_api cimport (
    PAGEDRT_INVALID_INPUT,
    PAGEDRT_OK,
    PAGEDRT_OUT_OF_MEMORY,
    pagedrt_last_error,
    pagedrt_status,
)


class Error(Exception):
    """Base of every exception that pagedrt raises on purpose."""

    __module__ = "pagedrt"


class InvalidInputError(Error, ValueError):
    """An argument is not what the call needs; the message names it, what came and what was expected."""

    __module__ = "pagedrt"


class DeviceError(Error, RuntimeError):
    """The device is absent, or failed at its work."""

    __module__ = "pagedrt"


class OutOfMemoryError(Error, MemoryError):
    """The device has no memory left for what was asked."""

    __module__ = "pagedrt"


cdef int check(pagedrt_status status) except -1 nogil:
    """Raises what a native status stands for, with the calling thread's message; takes the GIL only then."""
    if status == PAGEDRT_OK:
        return 0
    with gil:
        message = pagedrt_last_error().decode("utf-8", "replace")
        if status == PAGEDRT_INVALID_INPUT:
            raise InvalidInputError(message)
        if status == PAGEDRT_OUT_OF_MEMORY:
            raise OutOfMemoryError(message)
        raise DeviceError(message)
