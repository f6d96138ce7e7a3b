"""pagedrt itself: plan.run, the prepared call."""

import numpy as np
from cells import PAGE_SIZE

import pagedrt

NAME = "pagedrt"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = True


def prepare(problem, threads):
    cell, device = problem.cell, problem.device
    plan = pagedrt.PagedAttention(
        device,
        query_heads=cell.query_heads,
        kv_heads=cell.kv_heads,
        head_dim=cell.head_dim,
        page_size=PAGE_SIZE,
        max_context_tokens=cell.tokens,
        scale=cell.scale,
        dtype=cell.dtype,
    )
    queries = device.asarray(problem.queries, copy=True)
    table = device.asarray(problem.table, copy=True)
    dependency = device.asarray(np.array([cell.tokens], np.uint32), copy=True)
    out = device.empty(queries.shape, queries.dtype)
    tokens, caches = cell.tokens, problem.caches

    def run(cache):
        keys, values = caches[cache]
        plan.run(queries, keys, values, table, dependency, tokens, out)
        return out

    return run
