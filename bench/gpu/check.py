"""python bench/gpu/check.py [--quick]: the shaders at width 32 on this GPU against the float64 oracle.

Under a checker: compute-sanitizer --tool memcheck|racecheck|synccheck|initcheck python bench/gpu/check.py --quick
"""

import itertools
import sys

import numpy as np
import torch
from attention import Attention
from inputs import make, oracle

DIMS = [1, 8, 40, 64, 96, 100, 128, 160, 192, 224, 256, 32, 320, 512]


def drift(dtype):
    """Equal tokens, where every addition rounds the same way."""
    tokens, shape = 131072, (4, 1, 128)
    arrays, scale = make(dtype, *shape, 16, tokens)
    for array, value in zip(arrays[:3], (0.3, 0.7, 0.1), strict=True):
        array.fill_(value)
    expected, bound = oracle(arrays, tokens, scale)
    run = Attention(dtype, *shape, 16, arrays[1].shape[1], tokens, scale, blocks=64, heads=4, simdgroups=4)
    out = torch.empty_like(arrays[0])
    run(*arrays, out)
    return float(np.max(np.abs(out.double().cpu().numpy().reshape(expected.shape) - expected) / bound))


def main():
    worst = wrong = total = 0
    contexts = itertools.cycle([(1, 1), (15, 16), (300, 17), (1100, 16), (2049, 64)])
    dims = DIMS[2:6] if "--quick" in sys.argv else DIMS
    for dtype, head_dim, group in itertools.product(("float32", "float16", "bfloat16"), dims, (1, 3, 4, 8)):
        tokens, page_size = next(contexts)
        arrays, scale = make(dtype, 2 * group, 2, head_dim, page_size, tokens, poison=True)
        expected, bound = oracle(arrays, tokens, scale)
        two_pass = [3, 64] if head_dim % 32 == 0 and head_dim <= 256 else []
        for blocks, simdgroups in itertools.product([0, *two_pass], (1, 8)):
            heads = next(h for h in (1, 2, 4) if h >= min(group, 4))
            run = Attention(
                dtype,
                2 * group,
                2,
                head_dim,
                page_size,
                arrays[1].shape[1],
                tokens,
                scale,
                blocks=blocks,
                heads=heads,
                simdgroups=simdgroups,
            )
            out = torch.full_like(arrays[0], float("nan"))
            run(*arrays, out)
            got = out.double().cpu().numpy().reshape(expected.shape)
            ratio = float(np.max(np.abs(got - expected) / bound))
            total += 1
            worst = max(worst, ratio)
            if not ratio <= 1 or run.status.tolist() != [-1, -1]:
                wrong += 1
                print(f"WRONG {dtype} D {head_dim} group {group} tokens {tokens} blocks {blocks}: {ratio}")
    for dtype in ("float32", "bfloat16"):
        ratio = drift(dtype)
        total += 1
        worst = max(worst, ratio)
        wrong += not ratio <= 1
        print(f"{dtype}, 131072 equal tokens in 64 blocks: error/bound {ratio:.3f}")
    print(f"{total} cells on {torch.cuda.get_device_name()}, {wrong} wrong, worst error/bound {worst:.3f}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
