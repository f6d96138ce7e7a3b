"""Every kernel instance against the float64 oracle, once for each instruction set of the machine."""

import itertools

import pytest

from helpers import cells, oracle, softmetal
from helpers.cells import Cell

PARTIAL_DIMS = range(32, 257, 32)
ONE_PASS_DIMS = [1, 8, 40, 80, 100, 320, 512, *PARTIAL_DIMS]
GROUP_FACTORS = [1, 2, 3, 5, 8, 32]
PAGE_SIZES = [1, 8, 16, 17, 64]
LONG = [1024, 1025, 4097]


@pytest.fixture(scope="module", params=softmetal.instruction_sets())
def device(request):
    with softmetal.cpu_device(request.param) as device:
        yield device


def one_pass_contexts(page_size):
    return sorted({1, max(page_size - 1, 1), page_size, page_size + 1, 1023})


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("head_dim", PARTIAL_DIMS)
def test_every_partial_instance(device, dtype, head_dim):
    page_sizes = itertools.cycle(PAGE_SIZES)
    for group_factor, context in itertools.product(GROUP_FACTORS, LONG):
        kv_heads = 1 if group_factor == 32 else 2
        cells.check(device, Cell(dtype, head_dim, kv_heads, group_factor, context, next(page_sizes)))


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("head_dim", ONE_PASS_DIMS)
def test_every_one_pass_dim(device, dtype, head_dim):
    group_factors = itertools.cycle(GROUP_FACTORS)
    for page_size in PAGE_SIZES:
        for context in one_pass_contexts(page_size):
            cells.check(device, Cell(dtype, head_dim, 2, next(group_factors), context, page_size))


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize(
    ("head_dim", "group_factor"),
    [(64, 33), (288, 1), (100, 4), (512, 2)],
    ids=["ratio 33", "D 288", "D 100", "D 512"],
)
@pytest.mark.parametrize("context", LONG)
def test_long_contexts_outside_the_table_take_one_pass(device, dtype, head_dim, group_factor, context):
    cell = Cell(dtype, head_dim, 1, group_factor, context, 16)
    assert not cell.two_pass
    cells.check(device, cell)


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("context", [40, 1023, 1024, 4097])
@pytest.mark.parametrize("dependency", [0, 1, 15, 16, 17, 39])
def test_dependency_is_the_length(device, dtype, context, dependency):
    cells.check(device, Cell(dtype, 64, 2, 3, context, 16, dependency))


@pytest.mark.parametrize("dtype", oracle.DTYPES)
@pytest.mark.parametrize("context", [100, 1500])
def test_repeated_pages(device, dtype, context):
    for page_size in PAGE_SIZES:
        cells.check(device, Cell(dtype, 64, 2, 4, context, page_size, repeated=True))


def test_16_bit_outputs_are_correctly_rounded(device):
    """DESIGN section 5: at least 99 % of 10^5 elements, S <= 50."""
    for dtype in ("float16", "bfloat16"):
        right = elements = 0
        for seed in range(14):
            share, size = cells.check(device, Cell(dtype, 128, 8, 8, 1024 + seed, 16))
            right += share * size
            elements += size
        assert elements >= 10**5
        assert right / elements >= 0.99
