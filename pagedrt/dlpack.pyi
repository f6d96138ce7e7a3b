from typing import Any, final

import numpy as np
from typing_extensions import CapsuleType

def to_dlpack(array: np.ndarray[Any, Any]) -> DLPackExporter: ...

@final
class DLPackExporter:
    def __init__(self, array: np.ndarray[Any, Any]) -> None: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
