"""Fails the first, second, third ... Metal call of a job in turn, and checks what each failure leaves behind."""

import contextlib
import gc
import time
from dataclasses import dataclass

import pagedrt
from helpers import softmetal

INTERNAL, TIMEOUT, OUT_OF_MEMORY = 1, 2, 8  # MTLCommandBufferError
TYPES = {
    INTERNAL: pagedrt.DeviceError,
    TIMEOUT: pagedrt.DeviceError,
    OUT_OF_MEMORY: pagedrt.OutOfMemoryError,
}
MOST_CALLS = 200  # no job makes more fallible calls than this


@contextlib.contextmanager
def failing(call, code=INTERNAL):
    """The call-th fallible Metal call from here fails; a command buffer with this code."""
    softmetal.library.softmetal_testing_set_failure_code(code)
    softmetal.library.softmetal_testing_fail_call(call)
    try:
        yield
    finally:
        softmetal.library.softmetal_testing_fail_call(0)
        softmetal.library.softmetal_testing_set_failure_code(INTERNAL)


def live_objects(expected=None):
    """Objects alive in softmetal; waits a little for `expected`, as workers let go a moment after a result."""
    gc.collect()
    until = time.monotonic() + 5
    while True:
        count = softmetal.library.softmetal_testing_live_objects()
        if expected is None or count == expected or time.monotonic() > until:
            return count
        time.sleep(0.001)


@dataclass
class Walk:
    """What a walk has seen: how many calls the job makes, and the messages of those that failed it."""

    calls: int
    messages: list[str]

    def reached(self, *parts):
        """Every part stands in some message, so the walk failed what it means to."""
        for part in parts:
            assert any(part in message for message in self.messages), f"no failure told of {part!r}: {self.messages}"


def check_error(error, code):
    assert type(error) in (pagedrt.DeviceError, pagedrt.OutOfMemoryError), repr(error)
    assert str(error)
    if "command buffer failed" in str(error):
        assert type(error) is TYPES[code], repr(error)
        assert "for a test" in str(error)


def walk(job, code=INTERNAL):
    """job() is a context manager that gives (attempt, check): attempt() may fail, check(failed) looks at the outputs.

    For each n: attempt() with its n-th call failing, check(failed), attempt() again, check(False), and everything
    that the job made is gone afterwards. The walk ends where attempt() makes fewer than n calls.
    """
    baseline = live_objects()
    messages = []
    for call in range(1, MOST_CALLS):
        with job() as (attempt, check):
            failed = False
            with failing(call, code):
                try:
                    attempt()
                except pagedrt.Error as error:
                    check_error(error, code)
                    messages.append(str(error))
                    failed = True
                made = softmetal.library.softmetal_testing_calls_made()
            check(failed)
            attempt()
            check(False)
        del attempt, check
        after = live_objects(baseline)
        assert after == baseline, f"{after - baseline} objects leaked when call {call} failed: {messages[-1:]}"
        if made < call:
            assert not failed
            return Walk(call - 1, messages)
    raise AssertionError(f"the job makes more than {MOST_CALLS} calls")
