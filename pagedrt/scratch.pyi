from typing import final

from pagedrt.device import Device

@final
class PagedAttentionScratch:
    def __init__(self, device: Device) -> None: ...
    @property
    def device(self) -> Device: ...
