import pytest

import pagedrt


@pytest.fixture
def device():
    with pagedrt.Device("cpu") as opened:
        yield opened


@pytest.fixture(params=["cpu", "simulator"])
def any_device(request):
    with pagedrt.Device(request.param) as opened:
        yield opened
