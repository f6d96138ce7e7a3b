"""What a call costs beyond its work, in Python and, under the same name, in C.

usage: python -P bench/calls [pyperf's options: --fast, -o FILE.json, ...]. Needs Cython, pyperf and a C compiler.
At 8 query heads, 1 KV head, head_dim 64, 16 tokens, one worker thread. The file of -o is pyperf's; its `compare_to`
and `stats` read it. "argument checks" is a call that is refused: in Python its exception is in the figure.
"""

import os
import subprocess
import sys
import sysconfig
import time
from itertools import repeat
from pathlib import Path

import numpy as np
import pyperf

import pagedrt

HERE = Path(__file__).parent
BUILD = Path(os.environ.get("PAGEDRT_BENCH_BUILD", HERE.parents[1] / "build/bench/calls"))
QUERY_HEADS, KV_HEADS, HEAD_DIM, PAGE_SIZE, TOKENS = 8, 1, 64, 16, 16
LAYERS = 32


def twins():
    """The module of the C twins, built where the source or the library is newer."""
    source, module = HERE / "twins.pyx", BUILD / f"twins{sysconfig.get_config_var('EXT_SUFFIX')}"
    library = pagedrt.get_library_dir()
    newest = max(source.stat().st_mtime, Path(library, "_native.pyi").stat().st_mtime)
    if not module.exists() or module.stat().st_mtime < newest:
        BUILD.mkdir(parents=True, exist_ok=True)
        c_file = BUILD / "twins.c"
        cython = [sys.executable, "-m", "cython", "-I", str(HERE.parents[1]), str(source), "-o", str(c_file)]
        subprocess.run(cython, check=True)
        includes = [f"-I{path}" for path in (sysconfig.get_path("include"), np.get_include(), pagedrt.get_include())]
        link = [f"-L{library}", "-lpagedrt", f"-Wl,-rpath,{library}"]
        if sys.platform == "darwin":
            link += ["-undefined", "dynamic_lookup"]
        options = ["-O2", "-fPIC", "-shared", "-DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION"]
        compiler = [os.environ.get("CC", "cc"), *options]
        subprocess.run([*compiler, *includes, str(c_file), *link, "-o", str(module)], check=True)
    sys.path.insert(0, str(BUILD))
    import twins

    return twins


def timed(call, *arguments, **keywords):
    """A function of `loops` that calls so often and gives the seconds."""

    def measure(loops):
        start = time.perf_counter()
        for _ in repeat(None, loops):
            call(*arguments, **keywords)
        return time.perf_counter() - start

    return measure


def run_timed(run, arrays, out, stream=None):
    """As an engine's loop has it: positional arguments, in local names."""
    queries, keys, values, table, dependency = arrays

    def measure(loops):
        start = time.perf_counter()
        for _ in repeat(None, loops):
            run(queries, keys, values, table, dependency, TOKENS, out, stream)
        return time.perf_counter() - start

    return measure


def layers_timed(run, arrays, out, stream):
    queries, keys, values, table, dependency = arrays

    def measure(loops):
        start = time.perf_counter()
        for _ in repeat(None, loops):
            for _ in repeat(None, LAYERS):
                run(queries, keys, values, table, dependency, TOKENS, out, stream)
            stream.synchronize()
        return time.perf_counter() - start

    return measure


def refused(plan, arrays, out):
    try:
        plan.run(*arrays, 0, out)
    except pagedrt.InvalidInputError:
        pass


def make_arrays(device):
    random = np.random.default_rng(0)
    capacity = TOKENS // PAGE_SIZE + 3
    shape = (KV_HEADS, capacity, PAGE_SIZE, HEAD_DIM)
    arrays = [random.standard_normal(size, np.float32) for size in ((1, QUERY_HEADS, 1, HEAD_DIM), shape, shape)]
    arrays += [np.arange(TOKENS // PAGE_SIZE, dtype=np.uint32), np.array([TOKENS], np.uint32)]
    return [device.asarray(array, copy=True) for array in arrays]


def benchmarks(device):
    """{name: a function of loops that gives seconds}"""
    module = twins()
    arrays = make_arrays(device)
    foreign = [np.array(array) for array in arrays]
    out = device.empty(arrays[0].shape, arrays[0].dtype)
    stream = device.stream()
    shape = {"page_size": PAGE_SIZE, "scale": HEAD_DIM**-0.5}
    plan = pagedrt.PagedAttention(
        device,
        query_heads=QUERY_HEADS,
        kv_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_context_tokens=TOKENS,
        dtype="float32",
        **shape,
    )
    keywords = shape | {"context_tokens": TOKENS, "device": device}
    twin = module.Twins(plan, stream, arrays, TOKENS, out)
    one_shot = pagedrt.paged_attention
    return {
        "empty call": run_timed(module.nothing, arrays, out),
        "empty call, C": twin.empty_call,
        "argument checks": timed(refused, plan, arrays, out),
        "argument checks, C": twin.refused,
        "plan.run": run_timed(plan.run, arrays, out),
        "plan.run, C": twin.run,
        f"{LAYERS} layers, one synchronize": layers_timed(plan.run, arrays, out, stream),
        f"{LAYERS} layers, one synchronize, C": lambda loops: twin.stream_of(loops, LAYERS),
        "idle synchronize": timed(stream.synchronize),
        "idle synchronize, C": twin.synchronize,
        "one-shot": timed(one_shot, *arrays, out=out, **keywords),
        "one-shot, out made": timed(one_shot, *arrays, **keywords),
        "one-shot, foreign arrays": timed(one_shot, *foreign, **keywords),
    }


def main():
    runner = pyperf.Runner()
    runner.metadata["pagedrt"] = pagedrt.__version__
    means = {}
    with pagedrt.Device(threads=1) as device:
        for name, measure in benchmarks(device).items():
            found = runner.bench_time_func(name, measure)
            if found is not None and found.get_nvalue():
                means[name] = found.median()
    if runner.args.worker:
        return
    for name, seconds in means.items():
        if f"{name}, C" in means:
            print(f"Python adds to {name}: {(seconds - means[f'{name}, C']) * 1e9:.0f} ns")


if __name__ == "__main__":
    main()
