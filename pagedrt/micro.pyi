from typing import Any, Literal, SupportsIndex

import numpy as np

from pagedrt.device import Device

Words = np.ndarray[Any, np.dtype[np.uint32]]

def run(
    device: Device,
    kernel: Literal["read", "barrier", "simd_sum"],
    memory: Words,
    page_table: Words,
    out: Words,
    *,
    page_bytes: SupportsIndex,
    threadgroups: SupportsIndex,
    simdgroups: SupportsIndex = 1,
    rounds: SupportsIndex = 1,
    dispatches: SupportsIndex = 1,
    command_buffers: SupportsIndex = 1,
) -> None: ...
def most_simdgroups(device: Device, kernel: Literal["read", "barrier", "simd_sum"]) -> int: ...
