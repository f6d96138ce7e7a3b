"""python bench/gpu/timing.py: bfloat16, page 16, against contiguous SDPA in the same run."""

import statistics
import sys

import torch
from attention import Attention
from inputs import contiguous, make

SDPA = torch.nn.functional.scaled_dot_product_attention
SHAPES = [(32, 8, 128), (32, 32, 128), (64, 8, 128), (16, 2, 64), (8, 1, 256)]
CONTEXTS = [1024, 8192, 32768, 131072]
SETS, LAUNCHES, REPLAYS = 4, 8, 20


def median_us(calls):
    """Median over graph replays of LAUNCHES calls on rotating inputs."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(LAUNCHES):
            calls[i % len(calls)]()
    times = []
    for _ in range(REPLAYS + 3):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1000 / LAUNCHES)
    return statistics.median(times[3:])


def ours(sets, shape, tokens, blocks, heads, simdgroups):
    head_dim = shape[2]
    out = torch.empty_like(sets[0][0])
    run = Attention(
        "bfloat16",
        *shape,
        16,
        sets[0][1].shape[1],
        tokens,
        head_dim**-0.5,
        blocks=blocks,
        heads=heads,
        simdgroups=simdgroups,
    )
    return run, median_us([lambda arrays=arrays: run(*arrays, out) for arrays in sets])


def main():
    quick = "--quick" in sys.argv
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print("shape            tokens   SDPA us   ours us  ratio    GB/s  blocks heads simdgroups registers local")
    for shape in SHAPES:
        query_heads, kv_heads, head_dim = shape
        group = query_heads // kv_heads
        for tokens in CONTEXTS[1:3] if quick else CONTEXTS:
            sets = [make("bfloat16", *shape, 16, tokens, seed=i)[0] for i in range(SETS)]
            flat = [(arrays[0], *contiguous(arrays, tokens)) for arrays in sets]
            peer = median_us([lambda q=q, k=k, v=v: SDPA(q, k[None], v[None], enable_gqa=True) for q, k, v in flat])
            results = []
            for heads in sorted({min(group, 4), min(group, 8)}):
                for simdgroups in (1, 2, 4, 8):
                    for blocks in (32, 64, 128, 256, 512, 1024):
                        if blocks * 16 > tokens:
                            continue
                        run, us = ours(sets, shape, tokens, blocks, heads, simdgroups)
                        results.append((us, blocks, heads, simdgroups, run.kernel.registers, run.kernel.local_bytes))
            us, *best = min(results)
            gbs = 2 * kv_heads * tokens * head_dim * 2 / us / 1e3
            print(f"{shape!s:16} {tokens:7} {peer:9.1f} {us:9.1f} {peer / us:6.2f} {gbs:7.0f}  {best}", flush=True)


if __name__ == "__main__":
    main()
