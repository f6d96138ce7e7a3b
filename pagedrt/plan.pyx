"""The prepared path: a plan fixes the geometry, so that a run costs next to nothing."""

cimport cython
cimport numpy as cnp
from libc.stdlib cimport free, malloc

from pagedrt.arguments cimport as_count, fill_inputs, fill_out
from pagedrt.c_api cimport (
    PAGEDRT_OK,
    pagedrt_call,
    pagedrt_layout,
    pagedrt_plan_close,
    pagedrt_plan_create,
    pagedrt_plan_destroy,
    pagedrt_plan_run,
    pagedrt_split,
    pagedrt_status,
)
from pagedrt.device cimport as_open_device
from pagedrt.dtypes cimport to_native
from pagedrt.errors cimport check
from pagedrt.stream cimport Stream

from pagedrt import heuristics, validation
from pagedrt.dtypes import resolve_float
from pagedrt.errors import InvalidInputError

cnp.import_array()


@cython.final
cdef class PagedAttention:
    """PagedAttention(device, *, query_heads, kv_heads, head_dim, page_size, max_context_tokens, scale, dtype,
                      splits=None)

    Paged-attention decode of one geometry, with all buffers and pipelines made at creation. It holds
    query_heads * blocks * (head_dim + 2) * 4 bytes of scratch, for the largest split that pagedrt.heuristics chooses
    up to max_context_tokens. Runs of one plan are ordered, also across streams.

    query_heads: a multiple of kv_heads. head_dim: 1 to 512. page_size: tokens a page. scale: multiplies the scores,
    usually head_dim ** -0.5. dtype: float32, float16 or bfloat16, of queries, keys, values and out.
    splits: ascending (largest context, pagedrt.heuristics.Choice) pairs, the last for max_context_tokens; None takes
    those of pagedrt.heuristics and the device's tuning table. The property of that name tells them.
    InvalidInputError, OutOfMemoryError or DeviceError say what is wrong.
    """

    def __cinit__(self, device, *, query_heads, kv_heads, head_dim, page_size, max_context_tokens, scale, dtype,
                  splits=None):
        cdef pagedrt_split *native
        cdef pagedrt_layout *layout
        cdef pagedrt_status status
        cdef Py_ssize_t index
        self.device = as_open_device(device)
        self.dtype = resolve_float(dtype)
        self.type_number = (<cnp.dtype> self.dtype).type_num
        to_native(self.type_number, &self.geometry.dtype)
        self.geometry.query_heads = validation.count("query_heads", query_heads)
        self.geometry.kv_heads = validation.count("kv_heads", kv_heads)
        self.geometry.head_dim = validation.count("head_dim", head_dim)
        self.geometry.page_size = validation.count("page_size", page_size)
        self.geometry.scale = validation.scale(scale)
        self.max_context_tokens = validation.count("max_context_tokens", max_context_tokens, validation.MAX_TOKENS)
        validation.heads(self.query_heads, self.kv_heads, self.head_dim)
        if splits is None:
            splits = heuristics.splits(self.device.family, self.dtype.name, self.head_dim,
                                       self.query_heads // self.kv_heads, self.kv_heads, self.max_context_tokens,
                                       self.device.cores, self.device.table)
        else:
            splits = validation.splits(splits, self.max_context_tokens)
        self.splits = tuple(splits)
        most = max([choice.blocks for _, choice in splits])
        validation.scratch_bytes(self.query_heads, most, self.head_dim, self.device.max_buffer_length)
        native = <pagedrt_split *> malloc(len(self.splits) * sizeof(pagedrt_split))
        if native == NULL:
            raise MemoryError
        for index in range(len(self.splits)):
            native[index].context_tokens, choice = self.splits[index]
            layout = &native[index].layout
            _, layout.blocks, layout.heads, layout.simdgroups = choice
        index = len(self.splits)
        with nogil:
            status = pagedrt_plan_create(self.device.handle, &self.geometry, native, index, &self.handle)
            free(native)
        check(status)

    def __dealloc__(self):
        if self.handle != NULL:
            with nogil:
                pagedrt_plan_destroy(self.handle)

    @property
    def query_heads(self):
        """Query heads."""
        return self.geometry.query_heads

    @property
    def kv_heads(self):
        """KV heads; query head h reads KV head h // (query_heads // kv_heads)."""
        return self.geometry.kv_heads

    @property
    def head_dim(self):
        """Elements of one head's row."""
        return self.geometry.head_dim

    @property
    def page_size(self):
        """Tokens a page."""
        return self.geometry.page_size

    @property
    def scale(self):
        """What multiplies the scores, rounded to float32."""
        return self.geometry.scale

    def run(self, queries, key_pages, value_pages, page_table, dependency, context_tokens, out, stream=None):
        """One decode step; out is written in place.

        Shapes, dtypes and meaning are those of paged_attention; page_capacity is read from key_pages, so that a cache
        may grow. All arrays, out too, must lie in the device's memory: device.empty, zeros or asarray.
        context_tokens: 1 to max_context_tokens.
        stream: None waits for the result; with a Stream it is ready after stream.synchronize().
        InvalidInputError for arrays that do not fit, and, here or at synchronize, for a page id beyond page_capacity or
        dependency[0] above context_tokens, which only the device sees; out stays unwritten then.
        """
        cdef pagedrt_call call
        cdef pagedrt_status status
        if stream is None:
            if not fill(self, &call, queries, key_pages, value_pages, page_table, dependency, context_tokens, out):
                refuse(self, queries, key_pages, value_pages, page_table, dependency, context_tokens, out)
            with nogil:
                status = pagedrt_plan_run(self.handle, &call, NULL)
        else:
            if type(stream) is not Stream or (<Stream> stream).device is not self.device:
                validation.same_device(self.device, stream, Stream, "stream")
            if not fill(self, &call, queries, key_pages, value_pages, page_table, dependency, context_tokens, out):
                refuse(self, queries, key_pages, value_pages, page_table, dependency, context_tokens, out)
            # Encoding waits only behind dozens of unfinished command buffers, while giving the GIL up can cost a
            # switch interval a call.
            status = pagedrt_plan_run(self.handle, &call, (<Stream> stream).handle)
            (<Stream> stream).hold(queries, key_pages, value_pages, page_table, dependency, out)
        if status != PAGEDRT_OK:
            self.require_open(stream)
            check(status)

    cdef int require_open(self, object stream) except -1:
        self.device.require_open()
        if self.closed:
            raise InvalidInputError("plan: got a closed one, expected an open one")
        if stream is not None:
            (<Stream> stream).require_open()
        return 0

    def close(self):
        """Gives the plan's memory back once its runs are done; later runs raise InvalidInputError. Idempotent."""
        cdef pagedrt_status status
        if self.closed:
            return
        self.closed = True
        if self.device.closed:
            return
        with nogil:
            status = pagedrt_plan_close(self.handle)
        check(status)

    def __enter__(self):
        self.require_open(None)
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return (f"<pagedrt.PagedAttention on {self.device.family}: {self.query_heads}/{self.kv_heads} heads of "
                f"{self.head_dim} {self.dtype}, pages of {self.page_size}, up to {self.max_context_tokens} tokens"
                f"{', closed' if self.closed else ''}>")


cdef inline bint fill(PagedAttention self, pagedrt_call *call, queries, key_pages, value_pages, page_table, dependency,
                      context_tokens, out) noexcept:
    cdef Py_ssize_t tokens = as_count(context_tokens)
    return (tokens <= self.max_context_tokens
            and fill_inputs(call, &self.geometry, self.type_number, queries, key_pages, value_pages, page_table,
                            dependency, tokens)
            and fill_out(call, &self.geometry, self.type_number, out))


cdef int refuse(PagedAttention self, queries, key_pages, value_pages, page_table, dependency, context_tokens,
                out) except -1:
    """Raises what is wrong with the arguments of a run."""
    validation.check_run(self, queries, key_pages, value_pages, page_table, dependency, context_tokens, out)
    raise AssertionError("a call was refused that validation finds nothing wrong with")
