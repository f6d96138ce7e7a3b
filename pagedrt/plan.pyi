from collections.abc import Iterable
from typing import Any, Self, SupportsFloat, SupportsIndex, final

import numpy as np
from numpy.typing import DTypeLike

from pagedrt.device import Device
from pagedrt.heuristics import Choice
from pagedrt.stream import Stream

@final
class PagedAttention:
    def __init__(
        self,
        device: Device,
        *,
        query_heads: SupportsIndex,
        kv_heads: SupportsIndex,
        head_dim: SupportsIndex,
        page_size: SupportsIndex,
        max_context_tokens: SupportsIndex,
        scale: SupportsFloat,
        dtype: DTypeLike,
        splits: Iterable[tuple[int, Choice]] | None = None,
    ) -> None: ...
    @property
    def device(self) -> Device: ...
    @property
    def closed(self) -> bool: ...
    @property
    def query_heads(self) -> int: ...
    @property
    def kv_heads(self) -> int: ...
    @property
    def head_dim(self) -> int: ...
    @property
    def page_size(self) -> int: ...
    @property
    def max_context_tokens(self) -> int: ...
    @property
    def splits(self) -> tuple[tuple[int, Choice], ...]: ...
    @property
    def scale(self) -> float: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def run(
        self,
        queries: np.ndarray[Any, Any],
        key_pages: np.ndarray[Any, Any],
        value_pages: np.ndarray[Any, Any],
        page_table: np.ndarray[Any, np.dtype[np.uint32]],
        dependency: np.ndarray[Any, np.dtype[np.uint32]],
        context_tokens: SupportsIndex,
        out: np.ndarray[Any, Any],
        stream: Stream | None = None,
    ) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
