"""python bench/gpu/check.py: the shaders at width 32 on this GPU against the float64 oracle."""

import itertools
import sys

import numpy as np
import torch
from attention import Attention
from inputs import make, oracle

DIMS = [1, 8, 40, 64, 96, 100, 128, 160, 192, 224, 256, 32, 320, 512]


def main():
    worst = wrong = total = 0
    contexts = itertools.cycle([(1, 1), (15, 16), (300, 17), (1100, 16), (2049, 64)])
    for dtype, head_dim, group in itertools.product(("float32", "float16", "bfloat16"), DIMS, (1, 3, 4, 8)):
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
    print(f"{total} cells on {torch.cuda.get_device_name()}, {wrong} wrong, worst error/bound {worst:.3f}")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
