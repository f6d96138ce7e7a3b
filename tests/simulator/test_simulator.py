"""The same shaders at SIMD width 32 with every rule checked, under seeds and pipeline limits."""

import itertools

import pytest

from helpers import cells, oracle, softmetal
from helpers.cells import Cell


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("head_dim", range(32, 257, 32))
def test_every_partial_instance(dtype, head_dim):
    with softmetal.simulator(seed=head_dim) as device:
        cells.check(device, Cell(dtype, head_dim, 1, 3, 1025, 17))


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("head_dim", [1, 8, 40, 80, 100, 320, 512, *range(32, 257, 32)])
def test_every_one_pass_dim(dtype, head_dim):
    group_factors = itertools.cycle([1, 2, 3, 5, 8])
    with softmetal.simulator(seed=head_dim) as device:
        for context, page_size in ((1, 1), (15, 16), (33, 8), (130, 17)):
            cells.check(device, Cell(dtype, head_dim, 2, next(group_factors), context, page_size))


@pytest.mark.parametrize("max_threads", [1024, 896, 640, 96, 32])
@pytest.mark.parametrize("seed", range(3))
def test_pipeline_limits_and_schedules(max_threads, seed):
    """Register-heavy pipelines allow fewer threads than the device; any number must be right."""
    with softmetal.simulator(max_threads, seed) as device:
        cells.check(device, Cell("float16", 128, 2, 4, 1100, 16))
        cells.check(device, Cell("bfloat16", 512, 1, 5, 90, 16))
        cells.check(device, Cell("float32", 64, 1, 1, 200, 16, dependency=3))
