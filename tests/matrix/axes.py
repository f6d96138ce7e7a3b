"""The cells of the matrix: every pair of axis values occurs, 10 % and more run in two passes."""

import itertools
import random

from helpers import fills, oracle
from helpers.cells import Cell

AXES = {
    "dtype": list(oracle.DTYPES),
    "head_dim": [1, 8, 32, 40, 64, 80, 96, 100, 128, 160, 192, 224, 256, 288, 320, 512],
    "group_factor": [1, 2, 3, 4, 5, 7, 8, 16, 32, 33],
    "context_tokens": [1, 2, 15, 16, 17, 31, 33, 63, 65, 127, 255, 700, 1023, 1024, 1025, 1500, 2049],
    "page_size": [1, 8, 16, 17, 32, 64, 256],
    "fill": list(fills.FILLS),
    "kv_heads": [1, 2, 3],
}
FAMILIES = ["avx512_bf16", "avx512", "avx2", "baseline", "simulator"]
# a simulated cell takes seconds where a cpu cell takes milliseconds
SHARES = [24, 20, 24, 24, 8]
CELLS = 20_000
QUICK = 1_600


def cells(count=CELLS):
    """The same (family, cell) list every time; the first QUICK of them already hold every pair."""
    rng = random.Random(3)
    for _ in range(count):
        family = rng.choices(FAMILIES, SHARES)[0]
        values = {axis: rng.choice(choices) for axis, choices in AXES.items()}
        if family == "simulator":
            values["kv_heads"] = 1
        values["repeated"] = rng.random() < 0.2
        values["dependency"] = rng.choice([None, None, None, rng.randint(0, values["context_tokens"])])
        yield family, Cell(**values)


def pairs_of(cell):
    values = [(axis, getattr(cell, axis)) for axis in AXES]
    return itertools.combinations(values, 2)


def all_pairs():
    values = [[(axis, choice) for choice in choices] for axis, choices in AXES.items()]
    return {pair for a, b in itertools.combinations(values, 2) for pair in itertools.product(a, b)}
