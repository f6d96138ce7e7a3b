from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from pagedrt.device import Device
from pagedrt.scratch import PagedAttentionScratch
from pagedrt.stream import Stream

def paged_attention(
    queries: np.ndarray[Any, Any],
    key_pages: np.ndarray[Any, Any],
    value_pages: np.ndarray[Any, Any],
    page_table: np.ndarray[Any, np.dtype[np.uint32]],
    dependency: np.ndarray[Any, np.dtype[np.uint32]],
    *,
    page_size: SupportsIndex,
    context_tokens: SupportsIndex,
    scale: SupportsFloat,
    device: Device | None = None,
    stream: Stream | None = None,
    scratch: PagedAttentionScratch | None = None,
    out: np.ndarray[Any, Any] | None = None,
) -> np.ndarray[Any, Any]: ...
