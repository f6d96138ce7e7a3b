"""Inputs for what a kernel seldom does: raise a maximum late, weigh nothing, meet an infinity, sum up a million."""

import numpy as np
import pytest

import pagedrt
from helpers import cells, oracle, softmetal
from helpers.cells import Cell

FILLS = ["rising", "peaked", "tiny_queries", "tiny_keys", "hidden_keys", "special_keys", "special_values"]


@pytest.fixture(scope="module", params=softmetal.instruction_sets())
def device(request):
    with softmetal.cpu_device(request.param) as device:
        yield device


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_fill(device, dtype, fill):
    for context in range(600, 608):
        cells.check(device, Cell(dtype, 40, 2, 3, context, 16, fill=fill))
    for context in range(1100, 1104):
        cells.check(device, Cell(dtype, 64, 2, 4, context, 16, fill=fill))


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("max_threads", [1024, 32])
def test_fill_with_many_lanes(max_threads, dtype, fill):
    """32 threads: the one SIMD-group takes all tiles, so that they settle."""
    with softmetal.simulator(max_threads, seed=1) as device:
        for context in (130, 333):
            cells.check(device, Cell(dtype, 64, 1, 2, context, 16, fill=fill))
        cells.check(device, Cell(dtype, 40, 1, 3, 200, 17, fill=fill))
        cells.check(device, Cell(dtype, 128, 1, 4, 1030, 16, fill=fill))


@pytest.mark.parametrize("context", [40, 1100])
@pytest.mark.parametrize("dtype", oracle.DTYPES)
def test_an_empty_context_gives_0(device, dtype, context):
    cell = Cell(dtype, 32, 1, 2, context, 16, dependency=0)
    assert (cells.run(device, cell, cells.make(cell)) == 0).all()


@pytest.mark.parametrize("context", [20, 1100])
@pytest.mark.parametrize(("score", "mean"), [(-3.4e38, 1), (-3.4028235e38, 0)])
def test_scores_near_the_least_float(device, context, score, mean):
    """The maximum of nothing seen is the last float but one: a score below it counts as -inf, one above as itself."""
    cell = Cell("float32", 32, 1, 1, context, 16)
    inputs = cells.make(cell)
    inputs.queries[...] = inputs.key_pages[:, inputs.used] = 0
    inputs.queries[..., 0] = inputs.scale = 1
    inputs.key_pages[0, inputs.used, 0] = score
    inputs.value_pages[:, inputs.used] = 1
    assert (cells.run(device, cell, inputs) == mean).all()


@pytest.mark.parametrize("value", [0.1, 1 / 3])
def test_a_million_equal_tokens(device, value):
    """In one pass however long the context: sums must not drift with the number of tokens."""
    tokens, page_size = 2**20, 4096
    keys = np.full((1, tokens // page_size, page_size, 1), 0.25, np.float32)
    values = np.full_like(keys, value)
    table = np.arange(tokens // page_size, dtype=np.uint32)
    queries = np.full((1, 1, 1, 1), 0.5, np.float32)
    out = pagedrt.paged_attention(
        queries,
        keys,
        values,
        table,
        np.array([tokens], np.uint32),
        page_size=page_size,
        context_tokens=tokens,
        scale=1.0,
        device=device,
    )
    oracle.check(out, oracle.attend(queries, keys, values, table, tokens, 1.0))
