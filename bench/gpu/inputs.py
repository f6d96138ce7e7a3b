"""Random inputs on the GPU, and their attention in float64."""

import numpy as np
import torch


def make(dtype, query_heads, kv_heads, head_dim, page_size, tokens, *, poison=False, spare=3, seed=0):
    """[queries, key_pages, value_pages, page_table, dependency] on the GPU, and the scale; pages are shuffled."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    kind = getattr(torch, dtype)
    pages = -(-tokens // page_size)
    shape = (kv_heads, pages + spare, page_size, head_dim)
    table = torch.randperm(pages + spare, generator=generator, device="cuda")[:pages].to(torch.int32)

    def normal(*size):
        return torch.randn(size, generator=generator, device="cuda").to(kind)

    key_pages, value_pages = normal(*shape), normal(*shape)
    if poison:
        slots = torch.arange(pages * page_size, device="cuda") < tokens
        used = torch.zeros(shape[1:3], dtype=torch.bool, device="cuda")
        used[table.long()] = slots.reshape(pages, page_size)
        for cache in (key_pages, value_pages):
            cache[:, ~used] = float("nan")
    dependency = torch.tensor([tokens], dtype=torch.int32, device="cuda")
    return [normal(1, query_heads, 1, head_dim), key_pages, value_pages, table, dependency], head_dim**-0.5


def contiguous(arrays, tokens):
    """Keys and values in token order, [kv_heads, tokens, head_dim]."""
    _, key_pages, value_pages, table, _ = arrays
    return [p[:, table.long()].flatten(1, 2)[:, :tokens].contiguous() for p in (key_pages, value_pages)]


def oracle(arrays, tokens, scale):
    """float64 [query_heads, head_dim], and the error bound of docs/numerics.md."""
    q = arrays[0].double()[0, :, 0]
    k, v = (a.double().repeat_interleave(q.shape[0] // a.shape[0], 0) for a in contiguous(arrays, tokens))
    scores = float(np.float32(scale)) * (k @ q[:, :, None])[..., 0]
    size = scale * (k.abs() @ q.abs()[:, :, None])[..., 0].max()
    weights = torch.softmax(scores, -1)[:, None]
    expected = (weights @ v)[:, 0]
    bound = (8 + 2 * size) * 2.0**-24 * (weights @ v.abs())[:, 0]
    if arrays[0].dtype != torch.float32:
        info = torch.finfo(arrays[0].dtype)
        exponent = torch.log2(expected.abs().clamp(min=info.smallest_normal)).floor()
        bound = bound + 2.0**exponent * info.eps
    return expected.cpu().numpy(), bound.cpu().numpy()
