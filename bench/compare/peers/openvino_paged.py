"""OpenVINO's PagedAttention over pages of 32; it writes the last token itself."""

import numpy as np

NAME = "OpenVINO page 32"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = False  # its caches are of its own making, one is enough
PAGE = 32


def prepare(problem, threads):
    import openvino as ov
    from openvino import op, opset13

    cell = problem.cell
    kind = {"float32": ov.Type.f32, "bfloat16": ov.Type.bf16, "float16": ov.Type.f16}[cell.dtype]
    infer = ov.Type.bf16 if cell.dtype == "bfloat16" else ov.Type.f32

    def parameter(name, dtype, shape):
        node = op.Parameter(dtype, ov.PartialShape(shape))
        node.set_friendly_name(name)
        node.output(0).set_names({name})
        return node

    def constant(dtype, *values, scalar=False):
        array = np.array(values, dtype)
        return op.Constant(array.reshape(()) if scalar else array)

    def empty(dtype, shape=(0,)):
        return op.Constant(np.empty(shape, dtype))

    i32, f32 = np.int32, np.float32
    cache_shape = [-1, cell.kv_heads, PAGE, cell.head_dim]
    names = {
        "query": (ov.Type.f32, [-1, cell.query_heads * cell.head_dim]),
        "key": (ov.Type.f32, [-1, cell.kv_heads * cell.head_dim]),
        "value": (ov.Type.f32, [-1, cell.kv_heads * cell.head_dim]),
        "key_cache": (kind, cache_shape),
        "value_cache": (kind, cache_shape),
        "past_lens": (ov.Type.i32, [-1]),
        "subsequence_begins": (ov.Type.i32, [-1]),
        "block_indices": (ov.Type.i32, [-1]),
        "block_indices_begins": (ov.Type.i32, [-1]),
    }
    parameters = [parameter(name, *what) for name, what in names.items()]
    fixed = [
        constant(f32, cell.scale, scalar=True),
        constant(i32, 0, scalar=True),  # sliding_window
        empty(f32),  # alibi_slopes
        constant(i32, cell.tokens, scalar=True),  # max_context_len
        empty(i32),  # score_aggregation_window
        empty(i32),  # rotated_block_indices
        empty(i32, (0, 0)),  # rotation_deltas
        empty(f32, (0, 0)),  # rotation_trig_lut
        empty(f32),  # xattention_threshold
        constant(i32, 0, scalar=True),  # xattention_block_size
        constant(i32, 0, scalar=True),  # xattention_stride
        empty(f32, (0, 0, 0, 0)),  # sinks
        constant(i32, 0, scalar=True),  # adaptive_rkv_start_size
        empty(i32),  # adaptive_rkv_evictable_sizes
        empty(i32),  # adaptive_rkv_diversity_block_set_indices
        empty(i32),  # and their begins
        empty(i32),  # token_type_ids
        empty(np.uint8),  # qq_bias
        empty(i32),  # qq_bias_begins
    ]
    attention = op._PagedAttentionExtension([node.output(0) for node in parameters + fixed])
    info = attention.get_rt_info()
    info["k_head_size"] = info["v_head_size"] = cell.head_dim
    info["num_k_heads"] = info["num_v_heads"] = cell.kv_heads
    result = opset13.result(attention.output(0))
    options = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": infer,
        "KV_CACHE_PRECISION": kind,
    }
    compiled = ov.Core().compile_model(ov.Model([result], parameters, "attention"), "CPU", options)
    request = compiled.create_infer_request()

    pages = -(-cell.tokens // PAGE)
    table = np.random.default_rng(1).permutation(pages).astype(i32)
    held = []
    for name, array in zip(("key", "value"), problem.contiguous, strict=True):
        cache = np.zeros((pages, cell.kv_heads, PAGE, cell.head_dim), array.dtype)
        cache[table] = array.reshape(cell.kv_heads, pages, PAGE, cell.head_dim).swapaxes(0, 1)
        last = np.ascontiguousarray(array[:, -1].reshape(1, -1).astype(f32))
        if cell.dtype == "bfloat16":
            tensor = ov.Tensor(cache.view(np.int16), ov.Shape(cache.shape), ov.Type.bf16)
        else:
            tensor = ov.Tensor(cache, shared_memory=True)
        held += [cache, last]
        request.set_tensor(f"{name}_cache", tensor)
        request.set_tensor(name, ov.Tensor(last, shared_memory=True))
    queries = problem.queries.reshape(1, -1).astype(f32)
    small = {
        "query": queries,
        "past_lens": np.array([cell.tokens - 1], i32),
        "subsequence_begins": np.array([0, 1], i32),
        "block_indices": table,
        "block_indices_begins": np.array([0, pages], i32),
    }
    held.append(small)
    for name, array in small.items():
        request.set_tensor(name, ov.Tensor(array, shared_memory=True))

    def run(_):
        assert held
        request.infer()
        return request.get_output_tensor(0).data

    return run
