import torch

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


class Peer:
    """The query heads of one KV head as one sequence's queries; K/V lie in order, gathered beforehand for free."""

    name = "torch SDPA, contiguous K/V"

    def __init__(self, problem):
        torch.set_num_threads(problem.threads)
        dtype, dim = DTYPES[problem.dtype], problem.head_dim
        self.queries = torch.from_numpy(problem.float_queries).to(dtype).view(1, problem.kv_heads, -1, dim)
        self.keys, self.values = (
            torch.from_numpy(a).to(dtype).transpose(0, 1).contiguous()[None] for a in problem.token_major()
        )
        self.scale = problem.scale

    def run(self):
        attend = torch.nn.functional.scaled_dot_product_attention
        self.out = attend(self.queries, self.keys, self.values, scale=self.scale)

    def result(self):
        return self.out.double().numpy().reshape(-1, self.queries.shape[-1])
