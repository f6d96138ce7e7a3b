"""ggml's flash attention on tokens in order; queries are float32 there."""

import ctypes

import numpy as np

NAME = "ggml flash attention"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = False
OBJECTS = 1 << 20  # bytes of ggml's own objects


def prepare(problem, threads):
    import ggml

    cell = problem.cell
    kinds = {"float32": ggml.GGML_TYPE_F32, "float16": ggml.GGML_TYPE_F16, "bfloat16": ggml.GGML_TYPE_BF16}
    context = ggml.ggml_init(ggml.ggml_init_params(OBJECTS, None, True))
    arrays = [problem.queries.astype(np.float32), *problem.contiguous]
    queries = ggml.ggml_new_tensor_3d(context, ggml.GGML_TYPE_F32, cell.head_dim, 1, cell.query_heads)
    keys, values = (
        ggml.ggml_new_tensor_3d(context, kinds[cell.dtype], cell.head_dim, cell.tokens, cell.kv_heads) for _ in range(2)
    )
    result = ggml.ggml_flash_attn_ext(context, queries, keys, values, None, cell.scale, 0.0, 0.0)
    out = np.empty((1, cell.query_heads, 1, cell.head_dim), np.float32)
    for tensor, array in zip((queries, keys, values, result), (*arrays, out), strict=True):
        tensor.contents.data = ctypes.c_void_p(array.ctypes.data)
    graph = ggml.ggml_new_graph(context)
    ggml.ggml_build_forward_expand(graph, result)
    parameters = ggml.ggml_threadpool_params_default(threads)
    pool = ggml.ggml_threadpool_new(ctypes.byref(parameters))
    plan = ggml.ggml_graph_plan(graph, threads, pool)
    work = np.empty(max(plan.work_size, 1), np.uint8)
    plan.work_data = work.ctypes.data_as(type(plan.work_data))
    held = (arrays, work, pool)

    def run(_):
        assert held
        ggml.ggml_graph_compute(graph, ctypes.byref(plan))
        return out

    return run
