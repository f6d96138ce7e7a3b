"""python -m pagedrt bench --tune: measures layouts on a device and writes the table that devices load."""

import statistics
import time
from pathlib import Path

import pagedrt
from pagedrt import heuristics, tuning, validation
from pagedrt.bench import LEAST_RUNS, SHAPES, Decode, Progress
from pagedrt.heuristics import HEADS, MAX_BLOCKS, ONE_PASS, Choice
from pagedrt.selftest import checked_dtypes

CONTEXTS = (256, 512, 1024, 2048, 4096, 8192, 16384)
LEAST_BLOCK = 64  # tokens
SIMDGROUPS = (1, 2, 4, 8, 16, 32)
CALLS = 4  # to a command buffer
GAIN = 0.97  # of the baseline's time: what is nearer to it is noise


def shape(text):
    """(query_heads, kv_heads, head_dim) of "32/8/128"."""
    try:
        query_heads, kv_heads, head_dim = (int(part) for part in text.split("/"))
    except ValueError:
        validation.refuse("shape", repr(text), "query heads/KV heads/head_dim, as 32/8/128")
    for name, value in (("query_heads", query_heads), ("kv_heads", kv_heads), ("head_dim", head_dim)):
        validation.count(name, value)
    validation.heads(query_heads, kv_heads, head_dim)
    return query_heads, kv_heads, head_dim


def run(family, seconds, path, shapes):
    """Tunes for about `seconds` in all and writes the table to `path`, or where devices find it; 0."""
    shapes = dict.fromkeys(shape(text) for text in shapes or ()) or SHAPES
    dtypes, notes = checked_dtypes()
    with pagedrt.Device(family, tuning=False) as device:
        if device.family == "simulator":
            validation.refuse("family", "simulator", "cpu or metal: the simulator's times say nothing")
        info = device.info | {"cores": device.cores}
        if not path:
            path = Path(tuning.default_path(info))
            path.parent.mkdir(parents=True, exist_ok=True)
        cells = [(*one, tokens, dtype) for one in shapes for dtype in dtypes for tokens in CONTEXTS]
        progress = Progress(len(cells))
        rows = []
        for cell in cells:
            rows.append(tune(device, info, cell, seconds / len(cells)))
            progress.step(name(rows[-1]))
        progress.end()
    print_rows(rows)
    tuning.save(path, info, rows + others(path, info, rows))
    for note in notes:
        print(note)
    print(f"written: {path}")
    return 0


def others(path, info, rows):
    """Rows of an earlier table for other shapes, where it is a good one."""
    if not Path(path).exists() or Path(path).stat().st_size == 0:
        return []
    try:
        tuning.load(path, info)
    except pagedrt.InvalidInputError as error:
        print(f"written anew: {error}")
        return []
    measured = {key(row) for row in rows}
    return [row for row in tuning.load_rows(path, info) if key(row) not in measured]


def key(row):
    return row["dtype"], row["head_dim"], row["group_factor"], row["kv_heads"]


def splits(tokens, legal):
    """Stage one: paths and blocks, the rest as the runtime picks."""
    counts = [2**power for power in range(11) if 2**power <= min(MAX_BLOCKS, tokens // LEAST_BLOCK)]
    return [choice for choice in (ONE_PASS, *(Choice("two_pass", blocks) for blocks in counts)) if legal(choice)]


def layouts(choice, legal):
    """Stage two: heads and SIMD-groups of the best path."""
    grid = (choice._replace(heads=heads, simdgroups=simdgroups) for heads in HEADS for simdgroups in SIMDGROUPS)
    return [choice for choice in grid if legal(choice)]


def tune(device, info, cell, seconds):
    """A row of the table: the best choice of a cell, and its time beside the baseline's."""
    query_heads, kv_heads, head_dim, tokens, dtype = cell
    group_factor = query_heads // kv_heads

    def legal(choice):
        limits = {"simd_width": info["simd_width"], "max_threads": info["max_threads"]}
        return heuristics.legal(
            choice, dtype=dtype, head_dim=head_dim, group_factor=group_factor, context_tokens=tokens, **limits
        )

    decode = Decode(device, query_heads, kv_heads, head_dim, tokens, dtype)
    decode.plan.close()
    baseline = heuristics.baseline(device.family, head_dim, group_factor, kv_heads, tokens, device.cores)
    stages = [lambda best: splits(tokens, legal), lambda best: layouts(best, legal)]
    best = baseline
    for stage in stages:
        times = measure(decode, list(dict.fromkeys((baseline, best, *stage(best)))), seconds / len(stages))
        best = min(times, key=times.get)
        if times[best] > GAIN * times[baseline]:
            best = baseline
    return {
        "dtype": dtype,
        "head_dim": head_dim,
        "group_factor": group_factor,
        "kv_heads": kv_heads,
        "context_tokens": tokens,
        **best._asdict(),
        "seconds": times[best],
        "baseline_seconds": times[baseline],
    }


def measure(decode, choices, seconds):
    """{choice: median seconds of a call}, measured in turn; without those that a pipeline does not allow."""
    plans, times = {}, {}
    for choice in choices:
        try:
            plans[choice] = decode.plan_of([(decode.tokens, choice)])
        except pagedrt.InvalidInputError:
            if choice.simdgroups == 0:
                raise
    with decode.device.stream() as stream:
        until = time.perf_counter() + seconds
        while len(times) < len(plans) or len(times[choices[0]]) < LEAST_RUNS + 1 or time.perf_counter() < until:
            for choice, decode.plan in plans.items():
                before = decode.device.stats["gpu_nanoseconds"]
                for _ in range(CALLS):
                    decode.run(stream)
                stream.synchronize()
                taken = (decode.device.stats["gpu_nanoseconds"] - before) * 1e-9 / CALLS
                times.setdefault(choice, []).append(taken)
    for plan in plans.values():
        plan.close()
    return {choice: statistics.median(taken[1:]) for choice, taken in times.items()}  # the first warms up


def name(row):
    heads = f"{row['kv_heads'] * row['group_factor']}/{row['kv_heads']}/{row['head_dim']}"
    return f"{heads} {row['context_tokens']} {row['dtype']}"


def print_rows(rows):
    columns = f"{'path':<8} {'blocks':>6} {'heads':>5} {'groups':>6} {'time':>11} {'gain':>6}"
    print(f"{'heads/KV/dim tokens dtype':<28} {columns}")
    for row in rows:
        gain = row["baseline_seconds"] / row["seconds"]
        print(
            f"{name(row):<28} {row['path']:<8} {row['blocks']:>6} {row['heads'] or '-':>5} "
            f"{row['simdgroups'] or '-':>6} {row['seconds'] * 1e6:>8.1f} us {gain:>5.2f}x"
        )
