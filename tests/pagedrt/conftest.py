import pytest

import pagedrt


@pytest.fixture
def device():
    with pagedrt.Device() as opened:
        yield opened
