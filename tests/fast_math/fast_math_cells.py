"""Runs cells on the kernels of one level and prints as JSON which are wrong, and how a million equal tokens come out.

usage: PYTHONPATH=FOLDER:tests python -P fast_math_cells.py baseline|simulator DTYPE...
"""

import contextlib
import json
import sys

import numpy as np

import pagedrt
from helpers import cells, oracle, softmetal
from helpers.cells import Cell


def plain(inputs, tokens):
    """Slots that no token lies in hold NaN, here as in all that follows."""


def scores_of_minus_infinity(inputs, tokens):
    """All of the first KV head's, the first half of the second's: at more than one block some are wholly masked."""
    np.abs(inputs.queries, out=inputs.queries)
    inputs.queries += inputs.queries.dtype.type(0.01)
    at = np.arange(tokens)
    slots = inputs.page_table[at // 16], at % 16
    inputs.key_pages[0, *slots] = -np.inf
    inputs.key_pages[1, slots[0][: tokens // 2], slots[1][: tokens // 2]] = -np.inf


def one(array, value):
    """A function that puts a value into a used slot of one KV head."""

    def plant(inputs, tokens):
        token = tokens // 3
        getattr(inputs, array)[1, inputs.page_table[token // 16], token % 16, 5] = value

    return plant


INPUTS = {
    "plain": plain,
    "-inf scores": scores_of_minus_infinity,
    "NaN key": one("key_pages", np.nan),
    "-NaN key": one("key_pages", -np.nan),
    "inf key": one("key_pages", np.inf),
    "-inf key": one("key_pages", -np.inf),
    "NaN value": one("value_pages", np.nan),
    "inf value": one("value_pages", np.inf),
    "-inf value": one("value_pages", -np.inf),
}
FILLS = ("peaked", "rising", "constant", "large_scores")
# (threads of a threadgroup, tokens): 32 threads are one SIMD-group, which takes all tiles, so that they settle
RUNS = {"baseline": [(1, (1, 40, 600, 1100))], "simulator": [(32, (1, 300, 1030)), (128, (41,))]}


def wrong(device, cell, change=plain):
    """What the oracle says, or None."""
    inputs = cells.make(cell)
    change(inputs, cell.tokens)
    try:
        oracle.check(cells.run(device, cell, inputs), cells.expected(cell, inputs))
    except AssertionError as error:
        return str(error)
    return None


def judge(device, lengths, dtypes):
    """{what a cell holds: what is wrong with it}"""
    found = {}
    for dtype in dtypes:
        for tokens in lengths:
            cell = Cell(dtype, 64, 2, 3, tokens, 16)
            for name, change in INPUTS.items():
                found[f"{name}, {tokens} {dtype}"] = wrong(device, cell, change)
            for fill in FILLS:
                found[f"{fill}, {tokens} {dtype}"] = wrong(device, Cell(dtype, 64, 2, 3, tokens, 16, fill=fill))
            for valid in {0, min(tokens, 17)}:  # of many blocks most are empty, or all
                found[f"{valid} of {tokens} {dtype}"] = wrong(device, Cell(dtype, 64, 2, 3, tokens, 16, valid))
            any_dim = Cell(dtype, 40, 1, 2, tokens, 16)
            found[f"head_dim 40, {tokens} {dtype}"] = wrong(device, any_dim)
    return found


def drift(device):
    """The error of a million equal tokens' mean, in parts of its bound."""
    tokens, page_size = 2**20, 4096
    keys = np.full((1, tokens // page_size, page_size, 1), 0.25, np.float32)
    arrays = np.full((1, 1, 1, 1), 0.5, np.float32), keys, np.full_like(keys, 0.1)
    table = np.arange(tokens // page_size, dtype=np.uint32)
    out = pagedrt.paged_attention(
        *arrays,
        table,
        np.array([tokens], np.uint32),
        page_size=page_size,
        context_tokens=tokens,
        scale=1.0,
        device=device,
    )
    expected = oracle.attend(*arrays, table, tokens, 1.0)
    return float((np.abs(out.reshape(1, 1) - expected.out) / expected.bound).item())


def opened(level, threads):
    return softmetal.simulator(threads, seed=1) if level == "simulator" else softmetal.cpu_device(level)


def main(level, *dtypes):
    found, drifted = {}, None
    for threads, lengths in RUNS[level]:
        with contextlib.ExitStack() as stack:
            device = stack.enter_context(opened(level, threads))
            judged = judge(device, lengths, dtypes)
            found |= {f"{name}, {threads} threads": what for name, what in judged.items()}
            if level == "baseline":
                drifted = drift(device)
    bad = {name: what for name, what in found.items() if what is not None}
    json.dump({"cells": len(found), "wrong": bad, "drift": drifted}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
