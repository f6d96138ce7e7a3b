"""One cell: every peer checked, then all of them timed in turn, chunk by chunk, and the ceiling with them."""

import gc
import statistics
import time

import numpy as np
from peers import Unsupported
from problem import Problem
from quiet import CHUNK_SECONDS, Gate

WARM_RUNS = 3
MOST_CHUNK_RUNS = 20_000


def prepare(adapters, problem, threads):
    """({name: run}, {name: why it is left out}); each peer that is kept gives the oracle's result."""
    runs, left_out = {}, {}
    for adapter in adapters:
        if problem.cell.dtype not in adapter.DTYPES:
            left_out[adapter.NAME] = f"no {problem.cell.dtype}"
            continue
        try:
            run = adapter.prepare(problem, threads)
            to_numpy = getattr(adapter, "to_numpy", np.asarray)
            for cache in range(len(problem.caches) if adapter.PAGED else 1):
                error = problem.error(to_numpy(run(cache)))
                if not error <= 1:
                    raise Unsupported(f"WRONG: error {error:.3g} times what is allowed")
        except ImportError as error:
            left_out[adapter.NAME] = f"not installed ({error})"
        except Exception as error:  # a peer's own failure is a result, not ours
            left_out[adapter.NAME] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            if adapter is adapters[0]:
                raise
        else:
            runs[adapter.NAME] = run
    return runs, left_out


def chunk(run, caches):
    """Seconds of calls, the caches in turn, over CHUNK_SECONDS at least."""
    for cache in range(min(WARM_RUNS, caches)):
        run(cache)
    times, cache = [], 0
    until = time.perf_counter() + CHUNK_SECONDS
    while len(times) < MOST_CHUNK_RUNS:
        start = time.perf_counter()
        run(cache)
        end = time.perf_counter()
        times.append(end - start)
        cache = (cache + 1) % caches
        if end > until:
            break
    return times


def interleave(jobs, gate, chunks, patience):
    """{name: [seconds, a median a quiet chunk]}: one chunk of each job a round, until each has `chunks` of them.

    Chunks in which other processes used the cores do not count. Stops after `patience` seconds with what there is.
    """
    deadline = time.monotonic() + patience
    medians = {name: [] for name in jobs}
    gc.collect()
    while any(len(times) < chunks for times in medians.values()):
        for name, job in jobs.items():
            gate.start()
            times = job()
            if gate.stop():
                medians[name].append(statistics.median(times))
        if time.monotonic() > deadline:
            break
    return medians


def measure(cell, adapters, device, ceiling, *, chunks, patience, allowed):
    """The record of a cell."""
    gate = Gate(allowed)
    record = {"cell": cell.name, "bytes": cell.bytes, "multiplications": cell.multiplications, "modes": {}}

    def timed(adapters, caches):
        problem = Problem(cell, caches, device)
        runs, left_out = prepare(adapters, problem, ceiling.threads)
        jobs = {name: (lambda run=run: chunk(run, caches)) for name, run in runs.items()}
        jobs["ceiling"] = lambda: ceiling.read_seconds(problem, caches, CHUNK_SECONDS)
        return summarize(interleave(jobs, gate, chunks, patience)), list(runs), left_out

    record["modes"]["warm"], record["peers"], record["left_out"] = timed(adapters, 1)
    record["multiplications_per_second"] = ceiling.multiplications_per_second(CHUNK_SECONDS)
    if cell.cold_caches > 1:
        # Caches in turn, as the layers of a model come: what one call reads has left the CPU's caches.
        paged = [adapter for adapter in adapters if adapter.PAGED]
        record["modes"]["cold"], _, _ = timed(paged, cell.cold_caches)
    record["discarded"], record["kept"], record["gate"] = gate.discarded, gate.kept, gate.summary()
    record["quiet"] = all(
        times and times["chunks"] >= chunks for mode in record["modes"].values() for times in mode.values()
    )
    return record


def summarize(medians):
    """Of each peer: the median of its chunks' medians, the extremes, and how many chunks there were; None for none."""
    return {
        name: {
            "seconds": float(np.median(times)),
            "least": min(times),
            "most": max(times),
            "chunks": len(times),
        }
        if times
        else None
        for name, times in medians.items()
    }
