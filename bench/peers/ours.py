import numpy as np

import pagedrt


class Peer:
    name = "pagedrt"
    device = None

    def __init__(self, problem):
        Peer.device = Peer.device or pagedrt.Device("cpu", threads=problem.threads)
        device = Peer.device
        arrays = [problem.queries, problem.key_pages, problem.value_pages, problem.page_table, problem.dependency]
        self.arrays = [device.asarray(array, copy=True) for array in arrays]
        self.out = device.empty(problem.queries.shape, problem.queries.dtype)
        self.tokens = problem.tokens
        self.plan = pagedrt.PagedAttention(
            device,
            query_heads=problem.query_heads,
            kv_heads=problem.kv_heads,
            head_dim=problem.head_dim,
            page_size=problem.page_size,
            max_context_tokens=problem.tokens,
            scale=problem.scale,
            dtype=problem.dtype,
        )

    def run(self):
        self.plan.run(*self.arrays, self.tokens, self.out)

    def result(self):
        return np.asarray(self.out[0, :, 0], np.float64)
