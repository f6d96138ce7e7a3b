"""Resident memory stays flat over 100,000 uses of whatever is used often."""

import pytest

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call
from helpers.memory import resident_bytes

WARM_UP, USES = 1_000, 100_000
ALLOWED = 1 << 20  # bytes


def grows_by(use, stream=None):
    """How the process grows from use WARM_UP to use USES. A stream is emptied now and then, since how much waits on it
    depends on who gets the cores."""
    for count in range(1, USES + 1):
        use()
        if stream is not None and count % 20 == 0:
            stream.synchronize()
        if count == WARM_UP:
            before = resident_bytes()
    return resident_bytes() - before


@pytest.fixture(params=[4, 1024], ids=["one-pass", "two-pass"])
def call(request, device):
    return Call(device, Cell("float32", 32, 1, 1, request.param, 16, dependency=2))


def test_plan_runs(call):
    with call.plan() as plan:
        assert grows_by(lambda: plan.run(*call.arrays, call.cell.context_tokens, call.out)) < ALLOWED


def test_plan_runs_on_a_stream(call):
    with call.plan() as plan, call.device.stream() as stream:
        assert grows_by(lambda: plan.run(*call.arrays, call.cell.context_tokens, call.out, stream), stream) < ALLOWED


def test_calls(call):
    assert grows_by(lambda: pagedrt.paged_attention(*call.arrays, **call.keywords, device=call.device)) < ALLOWED


def test_calls_on_a_stream(call):
    with call.device.stream() as stream:
        assert grows_by(lambda: pagedrt.paged_attention(*call.arrays, **call.keywords, stream=stream), stream) < ALLOWED


def test_refused_calls(call):
    keywords = call.keywords | {"context_tokens": 0}

    def use():
        with pytest.raises(pagedrt.InvalidInputError):
            pagedrt.paged_attention(*call.arrays, **keywords, device=call.device)

    assert grows_by(use) < ALLOWED


def test_arrays(device):
    assert grows_by(lambda: device.asarray(device.zeros((2, 100), "float32").copy())) < ALLOWED


def test_dlpack_exports(device):
    array = device.zeros(10, "bfloat16")
    assert grows_by(lambda: pagedrt.to_dlpack(array).__dlpack__(max_version=(1, 0))) < ALLOWED


def test_devices():
    def use():
        with pagedrt.Device() as device:
            device.stream().close()

    assert grows_by(use) < ALLOWED
