"""NumPy: pages gathered by fancy indexing, then matrix products."""

import numpy as np

NAME = "NumPy"
DTYPES = ("float32",)
PAGED = True


def prepare(problem, threads):
    cell, table = problem.cell, problem.table
    shape = (cell.kv_heads, cell.tokens, cell.head_dim)
    queries = problem.queries.reshape(cell.kv_heads, cell.group, cell.head_dim) * np.float32(cell.scale)

    def run(cache):
        keys, values = (pool[:, table].reshape(shape) for pool in problem.caches[cache])
        scores = queries @ keys.swapaxes(1, 2)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return (weights @ values) / weights.sum(-1, keepdims=True)

    return run
