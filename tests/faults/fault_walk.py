"""Fails the first, second, third ... Metal call of a job in turn, and checks what each failure leaves behind."""

from dataclasses import dataclass

import pagedrt
from helpers.softmetal import INTERNAL, OUT_OF_MEMORY, TIMEOUT, calls_made, failing, live_objects

TYPES = {
    INTERNAL: pagedrt.DeviceError,
    TIMEOUT: pagedrt.DeviceError,
    OUT_OF_MEMORY: pagedrt.OutOfMemoryError,
}
MOST_CALLS = 200  # no job makes more fallible calls than this


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
                made = calls_made()
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
