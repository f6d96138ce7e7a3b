"""torch's scaled_dot_product_attention on tokens in order, the heads of a group folded into the query axis."""

NAME = "torch SDPA"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = False


def to_numpy(out):
    return out.float().numpy()


def prepare(problem, threads):
    import torch

    from peers.tensors import tensor

    torch.set_num_threads(threads)
    cell = problem.cell
    keys, values = (tensor(array)[None] for array in problem.contiguous)
    queries = tensor(problem.queries).view(1, cell.kv_heads, cell.group, cell.head_dim)
    attend = torch.nn.functional.scaled_dot_product_attention

    def run(cache):
        with torch.inference_mode():
            return attend(queries, keys, values, scale=cell.scale)

    return run
