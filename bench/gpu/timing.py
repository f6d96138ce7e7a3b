"""python bench/gpu/timing.py: bfloat16, page 16, against contiguous SDPA in the same run."""

import itertools
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
    return median_us([lambda arrays=arrays: run(*arrays, out) for arrays in sets])


def candidates(shape, tokens, context_grain=16):
    """(blocks, query heads a SIMD-group, SIMD-groups a threadgroup): enough to fill the GPU 1/2 to 4 times."""
    query_heads, kv_heads, _ = shape
    group = query_heads // kv_heads
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for heads, simdgroups in itertools.product(sorted({min(group, 2), min(group, 4)}), (4, 8)):
        run = Attention("bfloat16", *shape, 16, 8, tokens, 1.0, blocks=8, heads=heads, simdgroups=simdgroups)
        resident = processors * run.resident()
        for rounds in (0.5, 1, 2, 4):
            blocks = int(rounds * resident) // (kv_heads * -(-group // heads))
            yield min(max(blocks, 1), tokens // context_grain, 1024), heads, simdgroups


def main():
    contexts = CONTEXTS[1:3] if "--quick" in sys.argv else CONTEXTS
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print("shape            tokens   SDPA us   ours us  ratio    GB/s  blocks, heads, SIMD-groups")
    ratios = []
    for shape, tokens in itertools.product(SHAPES, contexts):
        _, kv_heads, head_dim = shape
        sets = [make("bfloat16", *shape, 16, tokens, seed=i)[0] for i in range(SETS)]
        flat = [(arrays[0], *contiguous(arrays, tokens)) for arrays in sets]
        peer = median_us([lambda q=q, k=k, v=v: SDPA(q, k[None], v[None], enable_gqa=True) for q, k, v in flat])
        us, choice = min((ours(sets, shape, tokens, *c), c) for c in set(candidates(shape, tokens)))
        gbs = 2 * kv_heads * tokens * head_dim * 2 / us / 1e3
        ratios.append(peer / us)
        print(f"{shape!s:16} {tokens:7} {peer:9.1f} {us:9.1f} {peer / us:6.2f} {gbs:7.0f}  {choice}", flush=True)
    print(f"geometric mean of SDPA's time over ours: {statistics.geometric_mean(ratios):.3f}")


if __name__ == "__main__":
    main()
