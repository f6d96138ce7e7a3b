"""Scores of many elements keep the bound at every instruction set, also where vectors are short."""

import itertools

import pytest

from helpers import cells, softmetal
from helpers.cells import Cell


@pytest.fixture(scope="module", params=softmetal.instruction_sets())
def device(request):
    with softmetal.cpu_device(request.param) as device:
        yield device


@pytest.mark.parametrize("fill", ["normal", "rising", "peaked"])
@pytest.mark.parametrize("head_dim", [132, 260, 288, 500, 512])
def test_long_rows(device, head_dim, fill):
    for group_factor, tokens in itertools.product((7, 32), (255, 511, 1500)):
        cells.check(device, Cell("float32", head_dim, 2, group_factor, tokens, 8, fill=fill))


def test_cells_that_were_once_out_of_bound(device):
    cells.check(device, Cell("float32", 512, 2, 7, 255, 8, fill="rising"))
    cells.check(device, Cell("float32", 512, 2, 32, 1500, 32, fill="rising"))
