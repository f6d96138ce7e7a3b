"""What the matrix claims of itself."""

from collections import Counter

import pytest

from . import axes


@pytest.mark.parametrize("count", [axes.QUICK, axes.CELLS])
def test_every_pair_occurs_and_a_tenth_takes_two_passes(count):
    chosen = list(axes.cells(count))
    assert len(chosen) == count
    assert len({*chosen}) > 0.99 * count
    seen = {pair for _, cell in chosen for pair in axes.pairs_of(cell)}
    missing = axes.all_pairs() - seen
    # the simulator runs one KV head alone, so pairs come from the cpu cells
    assert not missing, sorted(map(str, missing))[:10]
    assert sum(cell.two_pass for _, cell in chosen) >= count / 10
    for family, number in Counter(family for family, _ in chosen).items():
        assert number >= count / 20, family
