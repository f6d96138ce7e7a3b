"""Arrays of a call in a device's own memory, and what plans and calls need beside them."""

from dataclasses import dataclass, field

import numpy as np

import pagedrt
from helpers import cells, oracle
from helpers.cells import Cell

SENTINEL = 7.0  # what out holds before a call; no result of these tests equals it


def resident(device, array):
    """A copy in memory that the device owns."""
    return device.asarray(array, copy=True)


@dataclass
class Call:
    """A cell's arrays on a device, and an output of sentinels."""

    device: pagedrt.Device
    cell: Cell
    inputs: cells.Inputs = field(init=False)
    arrays: list = field(init=False)
    out: np.ndarray = field(init=False)

    def __post_init__(self):
        self.inputs = cells.make(self.cell)
        self.arrays = [resident(self.device, array) for array in self.inputs.arrays]
        self.out = resident(self.device, np.full_like(self.inputs.queries, SENTINEL))

    @property
    def keywords(self):
        return {
            "page_size": self.cell.page_size,
            "context_tokens": self.cell.context_tokens,
            "scale": self.inputs.scale,
        }

    def plan(self, **changes):
        cell = self.cell
        options = {
            "query_heads": cell.kv_heads * cell.group_factor,
            "kv_heads": cell.kv_heads,
            "head_dim": cell.head_dim,
            "page_size": cell.page_size,
            "max_context_tokens": cell.context_tokens,
            "scale": self.inputs.scale,
            "dtype": cell.dtype,
        }
        return pagedrt.PagedAttention(self.device, **options | changes)

    def untouched(self, out=None):
        return bool((np.asarray(self.out if out is None else out) == SENTINEL).all())

    def check(self, out=None):
        oracle.check(self.out if out is None else out, cells.expected(self.cell, self.inputs), str(self.cell))
