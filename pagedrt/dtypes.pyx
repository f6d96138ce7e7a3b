"""The element types of queries, keys and values: float32, float16, bfloat16.

bfloat16 is ml_dtypes.bfloat16, whose NumPy type number exists only once ml_dtypes is imported. It is not imported
here: an array of that type cannot reach us before its caller has imported it.
"""

import sys

cimport numpy as cnp
import numpy as np

from pagedrt.c_api cimport PAGEDRT_BFLOAT16, PAGEDRT_FLOAT16, PAGEDRT_FLOAT32, pagedrt_dtype
from pagedrt.errors import InvalidInputError

cnp.import_array()

cdef int bfloat16_number = -1  # unknown until ml_dtypes is seen


cdef bint to_native(int type_number, pagedrt_dtype *dtype) noexcept:
    """False where the type number is of none of the three."""
    if type_number == cnp.NPY_FLOAT32:
        dtype[0] = PAGEDRT_FLOAT32
    elif type_number == cnp.NPY_FLOAT16:
        dtype[0] = PAGEDRT_FLOAT16
    elif is_bfloat16(type_number):
        dtype[0] = PAGEDRT_BFLOAT16
    else:
        return False
    return True


cdef bint is_bfloat16(int type_number) noexcept:
    global bfloat16_number
    if bfloat16_number == -1:
        ml_dtypes = sys.modules.get("ml_dtypes")
        if ml_dtypes is not None:
            bfloat16_number = (<cnp.dtype> np.dtype(ml_dtypes.bfloat16)).type_num
    return type_number == bfloat16_number


def resolve(dtype):
    """The NumPy dtype of a dtype or name; "bfloat16" is ml_dtypes.bfloat16.

    InvalidInputError where there is no such dtype, ml_dtypes is missing, or the dtype holds Python objects or
    is of foreign byte order.
    """
    if isinstance(dtype, str) and dtype == "bfloat16":
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            raise InvalidInputError(
                "dtype: got 'bfloat16', which needs the package ml_dtypes (pip install ml_dtypes)"
            ) from None
        dtype = bfloat16
    if dtype is None:
        raise InvalidInputError("dtype: got None, expected a NumPy dtype or its name")
    try:
        resolved = np.dtype(dtype)
    except TypeError:
        raise InvalidInputError(f"dtype: got {dtype!r}, expected a NumPy dtype, its name or 'bfloat16'") from None
    if resolved.hasobject:
        raise InvalidInputError(f"dtype: got {resolved}, expected one without Python objects")
    if not resolved.isnative:
        raise InvalidInputError(f"dtype: got {resolved.str}, expected native byte order")
    return resolved


def resolve_float(dtype):
    """As resolve, but one of float32, float16 and bfloat16."""
    cdef pagedrt_dtype ignored = PAGEDRT_FLOAT32
    resolved = resolve(dtype)
    if not to_native((<cnp.dtype> resolved).type_num, &ignored):
        raise InvalidInputError(f"dtype: got {resolved}, expected float32, float16 or bfloat16")
    return resolved
