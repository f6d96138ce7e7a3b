"""One call: paged attention over arrays that may lie anywhere."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stddef cimport size_t
from libc.stdint cimport UINT32_MAX

from pagedrt.arguments cimport as_count, as_scale, fill_inputs, fill_out, page_bytes, query_bytes
from pagedrt.c_api cimport (
    PAGEDRT_OK,
    pagedrt_call,
    pagedrt_geometry,
    pagedrt_layout,
    pagedrt_paged_attention,
    pagedrt_scratch,
    pagedrt_status,
    pagedrt_stream,
)
from pagedrt.device cimport Device, as_open_device, default
from pagedrt.dtypes cimport to_native
from pagedrt.errors cimport check
from pagedrt.scratch cimport PagedAttentionScratch
from pagedrt.stream cimport Stream

from pagedrt import validation
from pagedrt.heuristics import pick

cnp.import_array()

cdef size_t MAX_HEAD_DIM = validation.MAX_HEAD_DIM
cdef tuple DTYPES = validation.FLOATS  # in the order of pagedrt_dtype


def paged_attention(queries, key_pages, value_pages, page_table, dependency, *, page_size, context_tokens, scale,
                    device=None, stream=None, scratch=None, out=None):
    """Attention of one new query token over a key/value cache in pages.

    queries: [1, query_heads, 1, head_dim], float32, float16 or bfloat16; head_dim 1 to 512.
    key_pages, value_pages: [kv_heads, page_capacity, page_size, head_dim], queries' dtype. Query head h reads KV head
        h // (query_heads // kv_heads).
    page_table: uint32 [pages]; token t is slot t % page_size of page page_table[t // page_size].
    dependency: uint32 [1], the number of valid tokens, read when the kernel runs; at most context_tokens. 0 gives 0.
    page_size: tokens a page. context_tokens: the bound that the path and its splits are chosen from.
    scale: multiplies the scores, usually head_dim ** -0.5.
    device: None takes stream's, else scratch's, else one made at first use.
    stream: None waits for the result. With a Stream it is ready after stream.synchronize(), and the inputs must not
        change before.
    scratch: a PagedAttentionScratch; None takes stream's own, without a stream one of the device's.
    out: an array like queries to write to; None makes one in the device's memory.

    Returns out. InvalidInputError names the argument that does not fit, and nothing is written then. On a stream only
    the device sees a page id beyond page_capacity or dependency[0] above context_tokens: synchronize raises it.
    """
    cdef pagedrt_geometry geometry
    cdef pagedrt_call call
    cdef pagedrt_status status
    cdef pagedrt_scratch *scratch_handle = NULL
    cdef pagedrt_stream *stream_handle = NULL
    cdef pagedrt_layout layout
    cdef Py_ssize_t tokens = as_count(context_tokens)
    cdef Device place = choose_device(device, stream, scratch)
    if not (fill_geometry(&geometry, queries, key_pages, as_count(page_size), as_scale(scale))
            and fill_inputs(&call, &geometry, cnp.PyArray_TYPE(<cnp.ndarray> queries), queries, key_pages, value_pages,
                            page_table, dependency, tokens)
            and page_bytes(&geometry, &call) <= place.max_buffer_length
            and (out is None or fill_out(&call, &geometry, cnp.PyArray_TYPE(<cnp.ndarray> queries), out))):
        validation.check_call(queries, key_pages, value_pages, page_table, dependency, page_size, context_tokens, scale,
                              out, place.max_buffer_length)
        raise AssertionError("a call was refused that validation finds nothing wrong with")
    if out is None:
        out = place.allocate(4, cnp.PyArray_DIMS(<cnp.ndarray> queries), (<cnp.ndarray> queries).descr,
                             query_bytes(&geometry))
        call.out = cnp.PyArray_DATA(<cnp.ndarray> out)
    _, layout.blocks, layout.heads, layout.simdgroups = pick(
        place.family, DTYPES[geometry.dtype], geometry.head_dim, geometry.query_heads // geometry.kv_heads,
        geometry.kv_heads, tokens, place.cores, place.table)
    if scratch is not None:
        scratch_handle = (<PagedAttentionScratch> scratch).handle
    if stream is not None:
        stream_handle = (<Stream> stream).handle
    with nogil:
        status = pagedrt_paged_attention(place.handle, &geometry, &layout, &call, scratch_handle, stream_handle)
    if stream is not None:
        (<Stream> stream).hold(queries, key_pages, value_pages, page_table, dependency, out)
    if status != PAGEDRT_OK:
        check(status)
    return out


cdef Device choose_device(object device, object stream, object scratch):
    """The device of a call, open, and the same for all that are given."""
    if device is None:
        if isinstance(stream, Stream):
            device = (<Stream> stream).device
        elif isinstance(scratch, PagedAttentionScratch):
            device = (<PagedAttentionScratch> scratch).device
        else:
            device = default()
    cdef Device place = as_open_device(device)
    if stream is not None:
        validation.same_device(place, stream, Stream, "stream")
        (<Stream> stream).require_open()
    if scratch is not None:
        validation.same_device(place, scratch, PagedAttentionScratch, "scratch")
    return place


cdef bint fill_geometry(pagedrt_geometry *geometry, object queries, object key_pages, Py_ssize_t page_size,
                        float scale) noexcept:
    """The geometry that queries and key_pages have; False where it is not a valid one."""
    cdef cnp.npy_intp *query_shape
    cdef cnp.npy_intp *key_shape
    if not (cnp.PyArray_Check(queries) and cnp.PyArray_NDIM(<cnp.ndarray> queries) == 4
            and cnp.PyArray_Check(key_pages) and cnp.PyArray_NDIM(<cnp.ndarray> key_pages) == 4
            and to_native(cnp.PyArray_TYPE(<cnp.ndarray> queries), &geometry.dtype)):
        return False
    query_shape = cnp.PyArray_DIMS(<cnp.ndarray> queries)
    key_shape = cnp.PyArray_DIMS(<cnp.ndarray> key_pages)
    if not (1 <= <size_t> page_size <= UINT32_MAX and isfinite(scale) and scale > 0
            and 1 <= <size_t> query_shape[1] <= UINT32_MAX and 1 <= <size_t> key_shape[0] <= UINT32_MAX
            and 1 <= <size_t> query_shape[3] <= MAX_HEAD_DIM and query_shape[1] % key_shape[0] == 0):
        return False
    geometry.query_heads = query_shape[1]
    geometry.kv_heads = key_shape[0]
    geometry.head_dim = query_shape[3]
    geometry.page_size = page_size
    geometry.scale = scale
    return True
