"""Bad page ids met by many lanes: one bad page anywhere leaves all of `out` as it was, and the first is named."""

import pytest

import pagedrt
from helpers import softmetal
from helpers.cells import Cell
from helpers.device_arrays import Call

CELLS = {
    "one-pass": Cell("float32", 64, 1, 2, 600, 16),
    "small pages": Cell("float16", 96, 1, 3, 200, 3),
    "two-pass": Cell("float16", 64, 1, 2, 1100, 16),
}


@pytest.mark.parametrize("cell", CELLS.values(), ids=list(CELLS))
@pytest.mark.parametrize("places", [(0,), (7,), (-1,), (30, 9, 10)], ids=str)
@pytest.mark.parametrize("past", [0, 2**30])
def test_bad_page_ids(cell, places, past):
    with softmetal.simulator(seed=3) as device:
        call = Call(device, cell)
        table = call.arrays[3]
        for place in places:
            table[place] = call.arrays[1].shape[1] + past
        first = min(place % len(table) for place in places)
        with call.plan() as plan, pytest.raises(pagedrt.InvalidInputError, match=rf"page_table\[{first}\] = "):
            plan.run(*call.arrays, cell.context_tokens, call.out)
        assert call.untouched()
