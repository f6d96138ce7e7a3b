from pagedrt.c_api cimport pagedrt_dtype

cdef bint to_native(int type_number, pagedrt_dtype *dtype) noexcept
