"""torch's flex attention over pages, compiled; the page table as its PagedAttention has it."""

from cells import PAGE_SIZE

from peers import Unsupported

NAME = "torch flex paged"
DTYPES = ("float32", "bfloat16", "float16")
PAGED = False  # its caches are of its own making, one is enough
MOST_TOKENS = 8192  # its mask takes a long time to make beyond


def to_numpy(out):
    return out.float().numpy()


def prepare(problem, threads):
    import torch
    from torch.nn.attention.experimental._paged_attention import PagedAttention
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    from peers.tensors import tensor

    cell = problem.cell
    if not 1024 <= cell.tokens <= MOST_TOKENS:
        raise Unsupported(f"run at 1024 to {MOST_TOKENS} tokens")
    torch.set_num_threads(threads)
    keys, values = (tensor(array)[None] for array in problem.contiguous)
    queries = tensor(problem.queries).view(1, cell.query_heads, 1, cell.head_dim)
    pages = cell.tokens // PAGE_SIZE
    paged = PagedAttention(pages, PAGE_SIZE, 1, device="cpu")
    paged.reserve(torch.tensor(0), torch.tensor(cell.tokens))
    cache = [torch.zeros(1, cell.kv_heads, cell.tokens, cell.head_dim, dtype=keys.dtype) for _ in range(2)]
    positions = torch.arange(cell.tokens)[None]
    paged.assign(torch.tensor([0]), positions, keys, values, *cache)
    mask = create_block_mask(
        lambda batch, head, query, key: key < cell.tokens, 1, 1, 1, cell.tokens, device="cpu", BLOCK_SIZE=PAGE_SIZE
    )
    mask = paged.convert_logical_block_mask(mask)
    attend = torch.compile(flex_attention, dynamic=False)

    def run(_):
        with torch.inference_mode():
            return attend(queries, *cache, block_mask=mask, scale=cell.scale, enable_gqa=cell.group > 1)

    return run
