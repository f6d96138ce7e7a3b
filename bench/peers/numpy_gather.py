import numpy as np

from peers import Unsupported


class Peer:
    """What a user without a kernel writes: gather the pages, two matrix products, softmax."""

    name = "NumPy, gathered"

    def __init__(self, problem):
        if problem.dtype != "float32":
            raise Unsupported("float32 alone is multiplied by BLAS")
        self.problem = problem
        self.queries = problem.float_queries.reshape(problem.kv_heads, -1, problem.head_dim) * np.float32(problem.scale)

    def run(self):
        p = self.problem
        keys, values = (
            a[:, p.page_table].reshape(p.kv_heads, -1, p.head_dim)[:, : p.tokens] for a in (p.key_pages, p.value_pages)
        )
        scores = self.queries @ keys.transpose(0, 2, 1)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        self.out = (weights @ values) / weights.sum(axis=-1, keepdims=True)

    def result(self):
        return self.out.reshape(-1, self.problem.head_dim).astype(np.float64)
