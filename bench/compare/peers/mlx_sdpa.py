"""MLX's fast attention over pages that mx.take gathers; on Linux its CPU backend."""

NAME = "MLX take + SDPA"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = False  # mx.array copies what it is given, one cache is enough


def to_numpy(out):
    import mlx.core as mx
    import numpy as np

    return np.asarray(out.astype(mx.float32))


def prepare(problem, threads):
    import mlx.core as mx
    import numpy as np

    cell = problem.cell
    dtype = {"float32": mx.float32, "bfloat16": mx.bfloat16, "float16": mx.float16}[cell.dtype]

    def array(values):
        return mx.array(values.astype(np.float32)).astype(dtype)

    queries = array(problem.queries)
    pools = [array(pool) for pool in problem.caches[0]]
    table = mx.array(problem.table)
    shape = (1, cell.kv_heads, cell.tokens, cell.head_dim)
    mx.eval(queries, *pools, table)

    def run(_):
        keys, values = (mx.take(pool, table, axis=1).reshape(shape) for pool in pools)
        out = mx.fast.scaled_dot_product_attention(queries, keys, values, scale=cell.scale)
        mx.eval(out)
        return out

    return run
