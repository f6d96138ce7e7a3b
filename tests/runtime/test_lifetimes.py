"""Handles: destroyed in any order, closed, and carried over a fork."""

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import textwrap
from ctypes import byref

import pytest
from runtime_abi import DEVICE_ERROR, OK, Split, pagedrt
from runtime_case import Case

KINDS = ("device", "stream", "scratch", "plan", "buffer")


def make_all():
    device = pagedrt.make("device_create", None, 0)
    case = Case(device)
    handles = {
        "device": device,
        "stream": pagedrt.make("stream_create", device),
        "scratch": pagedrt.make("scratch_create", device),
        "plan": pagedrt.make("plan_create", device, byref(case.geometry), (Split * 1)(Split(64, 4)), 1),
        "buffer": pagedrt.make("buffer_create", device, 64),
    }
    return case, handles


@pytest.mark.parametrize("order", list(itertools.permutations(KINDS)), ids="-".join)
def test_any_order_of_destruction(order):
    case, handles = make_all()
    assert case.run(4, scratch=handles["scratch"], stream=handles["stream"]) == OK
    assert pagedrt.plan_run(handles["plan"], byref(case.call()), handles["stream"]) == OK
    for kind in order:
        getattr(pagedrt, f"{kind}_destroy")(handles[kind])
    case.release()


def test_a_destroyed_devices_handles_go_on_working():
    case, handles = make_all()
    pagedrt.device_destroy(handles["device"])
    assert pagedrt.plan_run(handles["plan"], byref(case.call()), handles["stream"]) == OK
    assert pagedrt.stream_synchronize(handles["stream"]) == OK
    case.assert_right()
    for kind in KINDS[1:]:
        getattr(pagedrt, f"{kind}_destroy")(handles[kind])
    case.release()


def test_a_destroyed_streams_calls_are_finished(make_case, device):
    case = make_case(tokens=500, owned=False)
    stream = pagedrt.make("stream_create", device)
    assert case.run(stream=stream) == OK
    pagedrt.stream_destroy(stream)
    case.assert_right()


def test_closing_a_device_finishes_its_work_and_ends_its_use():
    case, handles = make_all()
    device, place = handles["device"], ctypes.c_void_p()
    assert case.run(4, scratch=handles["scratch"], stream=handles["stream"]) == OK
    assert pagedrt.device_close(device) == OK
    case.assert_right()
    assert pagedrt.device_close(device) == OK
    assert pagedrt.stream_close(handles["stream"]) == OK
    for status in (
        case.run(),
        case.run(4, scratch=handles["scratch"], stream=handles["stream"]),
        pagedrt.plan_run(handles["plan"], byref(case.call()), None),
        pagedrt.plan_run(handles["plan"], byref(case.call()), handles["stream"]),
        pagedrt.stream_synchronize(handles["stream"]),
        pagedrt.scratch_lock(handles["scratch"]),
        pagedrt.buffer_create(device, 64, byref(place)),
        pagedrt.stream_create(device, byref(place)),
        pagedrt.scratch_create(device, byref(place)),
        pagedrt.device_library(device, b"sdpa_reduce", byref(place)),
    ):
        assert status == DEVICE_ERROR
    assert pagedrt.error() == "device is closed"
    assert pagedrt.buffer_length(handles["buffer"]) == 64
    for kind in KINDS:
        getattr(pagedrt, f"{kind}_destroy")(handles[kind])
    case.release()


def test_closed_streams_and_plans():
    case, handles = make_all()
    assert pagedrt.stream_close(handles["stream"]) == OK
    assert case.run(stream=handles["stream"]) == DEVICE_ERROR
    assert pagedrt.error() == "stream is closed"
    assert pagedrt.stream_synchronize(handles["stream"]) == DEVICE_ERROR
    assert pagedrt.plan_close(handles["plan"]) == OK
    assert pagedrt.plan_close(handles["plan"]) == OK
    assert pagedrt.plan_run(handles["plan"], byref(case.call()), None) == DEVICE_ERROR
    assert pagedrt.error() == "plan is closed"
    assert case.run(4) == OK
    case.assert_right()
    for kind in KINDS:
        getattr(pagedrt, f"{kind}_destroy")(handles[kind])
    case.release()


def in_child(work) -> str:
    """What work() returns in a forked child; a hang ends by its alarm."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            os.write(write, work().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"child ended by {status}"
    return answer


def test_a_forked_child_gets_an_error_at_once():
    case, handles = make_all()
    assert case.run(4, stream=handles["stream"]) == OK

    def work():
        place = ctypes.c_void_p()
        statuses = {
            case.run(),
            case.run(4, scratch=handles["scratch"]),
            case.run(stream=handles["stream"]),
            pagedrt.plan_run(handles["plan"], byref(case.call()), None),
            pagedrt.stream_synchronize(handles["stream"]),
            pagedrt.stream_close(handles["stream"]),
            pagedrt.device_close(handles["device"]),
            pagedrt.scratch_lock(handles["scratch"]),
            pagedrt.buffer_create(handles["device"], 64, byref(place)),
            pagedrt.device_create(None, 0, byref(place)),
        }
        assert not pagedrt.device_owns(handles["device"], case.out.ctypes.data, 1, False)
        for kind in KINDS:
            getattr(pagedrt, f"{kind}_destroy")(handles[kind])
        case.release()
        return f"{statuses} {pagedrt.error()}"

    answer = in_child(work)
    assert answer.startswith(f"{{{DEVICE_ERROR}}} ")
    assert "forked" in answer
    assert pagedrt.stream_synchronize(handles["stream"]) == OK
    case.assert_right()
    for kind in KINDS:
        getattr(pagedrt, f"{kind}_destroy")(handles[kind])
    case.release()


def test_a_child_forked_before_any_device_may_open_one():
    program = """
        import os, sys
        from runtime_abi import OK, pagedrt
        from runtime_case import Case
        child = os.fork()
        if child == 0:
            case = Case(pagedrt.make("device_create", None, 0))
            pagedrt.check(case.run(4))
            case.assert_right()
            os._exit(7)
        sys.exit(0 if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 else 1)
    """
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=os.path.dirname(__file__), check=True, timeout=60
    )


def test_messages_are_each_threads_own(device):
    import threading

    assert pagedrt.device_library(device, b"mine", byref(ctypes.c_void_p())) != OK
    seen = []

    def other():
        seen.append(pagedrt.error())
        pagedrt.device_library(device, b"theirs", byref(ctypes.c_void_p()))
        seen.append(pagedrt.error())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen[0] == ""
    assert "theirs" in seen[1]
    assert "mine" in pagedrt.error()


def test_version():
    assert len(pagedrt.version().decode().split(".")) == 3
