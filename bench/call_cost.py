"""What a call costs beyond its work: plan.run against its own C call, paged_attention, and the import.

usage: python bench/call_cost.py [--rounds N]. Needs the repository, Cython and a C compiler.
Medians over interleaved rounds, at 8 query heads, 1 KV head, head_dim 64, 16 tokens, one worker thread.
"""

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np

import pagedrt

ROOT = Path(__file__).parents[1]
QUERY_HEADS, KV_HEADS, HEAD_DIM, PAGE_SIZE, TOKENS = 8, 1, 64, 16, 16
RUNS = 2000  # of a round, each waited for
STREAM_RUNS = 100  # of a round, before it synchronizes
IMPORTS = 15
IMPORT = "import numpy, time; start = time.perf_counter(); import pagedrt; print(time.perf_counter() - start)"


def build_loop(folder):
    """The module call_cost_loop, compiled against the bindings' declarations and the installed library."""
    c_file = folder / "call_cost_loop.c"
    cython = [sys.executable, "-m", "cython", "-I", str(ROOT), str(ROOT / "bench/call_cost_loop.pyx")]
    subprocess.run([*cython, "-o", str(c_file)], check=True)
    includes = [f"-I{path}" for path in (sysconfig.get_path("include"), np.get_include(), pagedrt.get_include())]
    library = pagedrt.get_library_dir()
    link = [f"-L{library}", "-lpagedrt", f"-Wl,-rpath,{library}"]
    if sys.platform == "darwin":
        link += ["-undefined", "dynamic_lookup"]
    module = folder / f"call_cost_loop{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiler = [os.environ.get("CC", "cc"), "-O2", "-fPIC", "-shared", "-DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION"]
    subprocess.run([*compiler, *includes, str(c_file), *link, "-o", str(module)], check=True)
    sys.path.insert(0, str(folder))
    import call_cost_loop

    return call_cost_loop


def make_arrays(device):
    random = np.random.default_rng(0)
    capacity = TOKENS // PAGE_SIZE + 3
    shape = (KV_HEADS, capacity, PAGE_SIZE, HEAD_DIM)
    arrays = [random.standard_normal(size, np.float32) for size in ((1, QUERY_HEADS, 1, HEAD_DIM), shape, shape)]
    arrays += [np.arange(TOKENS // PAGE_SIZE, dtype=np.uint32), np.array([TOKENS], np.uint32)]
    return [device.asarray(array, copy=True) for array in arrays]


def mean_nanoseconds(call, arguments, keywords, runs):
    start = time.perf_counter_ns()
    for _ in itertools.repeat(None, runs):
        call(*arguments, **keywords)
    return (time.perf_counter_ns() - start) / runs


def run_nanoseconds(run, arrays, out, stream, runs):
    """As an engine's loop has it: positional arguments, in local names."""
    queries, keys, values, table, dependency = arrays
    start = time.perf_counter_ns()
    for _ in itertools.repeat(None, runs):
        run(queries, keys, values, table, dependency, TOKENS, out, stream)
    return (time.perf_counter_ns() - start) / runs


def measure_calls(rounds):
    """{what: nanoseconds of a call, a value a round}"""
    with pagedrt.Device(threads=1) as device, tempfile.TemporaryDirectory() as folder:
        loop = build_loop(Path(folder))
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
        measures = {
            "plan.run, waits": lambda: run_nanoseconds(plan.run, arrays, out, None, RUNS),
            "  its C call": lambda: loop.nanoseconds(plan, arrays, TOKENS, out, None, RUNS),
            "plan.run, on a stream": lambda: run_nanoseconds(plan.run, arrays, out, stream, STREAM_RUNS),
            "  its C call, on a stream": lambda: loop.nanoseconds(plan, arrays, TOKENS, out, stream, STREAM_RUNS),
            "a call that does nothing": lambda: run_nanoseconds(loop.nothing, arrays, out, None, RUNS),
            "paged_attention, out given": lambda: mean_nanoseconds(
                pagedrt.paged_attention, arrays, keywords | {"out": out}, RUNS
            ),
            "paged_attention, out made": lambda: mean_nanoseconds(pagedrt.paged_attention, arrays, keywords, RUNS),
            "paged_attention, foreign arrays": lambda: mean_nanoseconds(
                pagedrt.paged_attention, foreign, keywords, RUNS
            ),
        }
        times = {name: [] for name in measures}
        for _ in range(rounds + 1):
            for name, measure in measures.items():
                times[name].append(measure())
                stream.synchronize()
        return {name: values[1:] for name, values in times.items()}  # the first one warms up


def import_milliseconds():
    """What importing pagedrt takes once NumPy is there, each in a process of its own."""
    command = [sys.executable, "-P", "-c", IMPORT]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(IMPORTS)]
    return statistics.median(float(seconds) for seconds in runs) * 1e3


def print_row(name, value, unit):
    print(f"{name:<36} {value:>9.1f} {unit}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=41, help="rounds over which medians are taken")
    times = measure_calls(parser.parse_args().rounds)
    for name, values in times.items():
        print_row(name, statistics.median(values), "ns")
    for mode, c_mode in (("plan.run, waits", "  its C call"), ("plan.run, on a stream", "  its C call, on a stream")):
        differences = [python - c for python, c in zip(times[mode], times[c_mode], strict=True)]
        print_row(f"Python adds: {mode}", statistics.median(differences), "ns")
    print_row("import pagedrt, after numpy", import_milliseconds(), "ms")


if __name__ == "__main__":
    main()
