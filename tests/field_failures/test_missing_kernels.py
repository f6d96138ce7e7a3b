"""Symptoms seen in other attention kernels: shapes and types that are let in and then have no kernel."""

import numpy as np
import pytest

import pagedrt
from helpers import cells, child, softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call

DTYPES = ["float32", "float16", "bfloat16"]


@pytest.mark.parametrize("group_factor", [3, 5, 6, 7, 9, 12, 16, 31, 32, 33, 71])
def test_any_group_size_runs(device, group_factor):
    """A switch over template arguments refuses 5, 7 or 16, or throws through the C ABI."""
    cells.check(device, Cell("float32", 64, 2, group_factor, 40, 16))
    cells.check(device, Cell("bfloat16", 32, 1, group_factor, 1030, 16))


@pytest.mark.parametrize("max_threads", [896, 640, 96, 32])
@pytest.mark.parametrize("head_dim", [256, 512])
def test_pipelines_that_allow_fewer_threads_than_the_device_still_run(max_threads, head_dim):
    """1024 threads fixed in the host code fail where a register-heavy pipeline allows 896 or 640."""
    with softmetal.simulator(max_threads=max_threads) as device:
        cells.check(device, Cell("float16", head_dim, 1, 2, 40, 16))


@pytest.mark.parametrize(
    "cell",
    [
        Cell("float32", 512, 1, 1, 20_000, 16),
        Cell("float16", 256, 1, 2, 40_000, 16),
        Cell("float16", 40, 1, 1, 40_000, 16),
    ],
    ids=str,
)
def test_threadgroup_memory_does_not_grow_with_context_or_head_dim(device, cell):
    """A row of logits for every token, or a tile of 512 wide rows, is past 32 KB."""
    cells.check(device, cell)


@pytest.mark.parametrize("head_dim", [256, 320, 512])
def test_wide_heads_fit_the_threadgroup_memory_at_width_32(head_dim):
    with pagedrt.Device("simulator") as device:
        cells.check(device, Cell("float32", head_dim, 1, 2, 40, 16))


@pytest.mark.parametrize("start", range(1, 513, 64))
def test_every_head_dim_that_is_let_in_has_a_kernel(device, start):
    """A list of what is allowed that is longer than the list of what is compiled ends in a null pipeline."""
    for head_dim in range(start, start + 64):
        cells.check(device, Cell(DTYPES[head_dim % 3], head_dim, 1, 2, 5, 4))


def test_the_first_head_dim_without_a_kernel_is_refused_by_name(device):
    array = np.zeros((1, 1, 1, 513), np.float32)
    with pytest.raises(pagedrt.InvalidInputError, match="head_dim"):
        pagedrt.PagedAttention(
            device,
            query_heads=1,
            kv_heads=1,
            head_dim=513,
            page_size=16,
            max_context_tokens=16,
            scale=1,
            dtype="float32",
        )
    one = np.zeros(1, np.uint32)
    with pytest.raises(pagedrt.InvalidInputError, match="head_dim"):
        pagedrt.paged_attention(array, array, array, one, one, page_size=1, context_tokens=1, scale=1, device=device)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_has_its_functions_on_both_paths(any_device, dtype):
    """bfloat16 functions are left out of a library compiled for an older language or device."""
    for head_dim in range(32, 257, 32):
        call = Call(any_device, Cell(dtype, head_dim, 1, 1, 3, 4))
        with call.plan(max_context_tokens=100_000) as plan:  # makes one-pass, partial and reduce
            plan.run(*call.arrays, 3, call.out)
        call.check()
    if any_device.family == "cpu":
        for head_dim in range(32, 257, 32):
            cells.check(any_device, Cell(dtype, head_dim, 1, 2, 1024, 16))


@pytest.mark.parametrize("page_size", [1, 2, 3, 7, 16, 100, 256, 544, 1000, 4096])
def test_any_page_size_runs(device, page_size):
    """A page size compiled in has no kernel for 544."""
    cells.check(device, Cell("float16", 64, 2, 2, 601, page_size))
    cells.check(device, Cell("float16", 64, 2, 2, 1101, page_size))


def test_plans_of_different_layers_keep_to_their_own_geometry(device):
    """One KV-head count, scale or page size taken for every layer: no error, only drift."""
    calls = [
        Call(device, Cell("float32", 64, kv_heads, group_factor, 1100, page_size))
        for kv_heads, group_factor, page_size in [(8, 1, 16), (4, 2, 16), (2, 4, 8), (1, 8, 32)]
    ]
    scales = [0.125, 0.05, 1.0, 0.3]
    for call, scale in zip(calls, scales, strict=True):
        call.inputs.scale = scale
    plans = [call.plan() for call in calls]
    with device.stream() as stream:
        for _ in range(3):
            for call, plan in zip(calls, plans, strict=True):
                plan.run(*call.arrays, 1100, call.out, stream)
    for call in calls:
        call.check()


def test_a_device_opens_with_no_place_for_temporary_files():
    """Shaders come from memory: a sandbox has no directory to unpack a library to."""
    program = """
        import os

        for name in ("HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"):
            os.environ[name] = "/nonexistent"
        os.chdir("/")
        import pagedrt
        from helpers import cells
        from helpers.cells import Cell

        for family in ("cpu", "simulator"):
            with pagedrt.Device(family) as device:
                cells.check(device, Cell("bfloat16", 32, 1, 1, 10, 4))
        print("well")
    """
    assert child.run(program) == "well\n"
