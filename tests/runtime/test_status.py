"""What only the device sees surfaces at synchronize, once, and leaves stream and scratch usable."""

from ctypes import byref

import pytest
from runtime_abi import INVALID_INPUT, OK, Split, pagedrt

PAGE = "page_table[2] = 6: expected a page below page_capacity = 6 (call {} since the last synchronize)"
DEPENDENCY = "dependency[0] = 41: expected at most context_tokens = 40 (call {} since the last synchronize)"


def break_page(case):
    case.page_table[2] = 6
    return PAGE


def break_dependency(case):
    case.dependency[0] = 41
    return DEPENDENCY


@pytest.mark.parametrize("blocks", [0, 8])
@pytest.mark.parametrize("break_case", [break_page, break_dependency])
@pytest.mark.parametrize("owned", [True, False])
def test_surfaces_at_synchronize_once(make_case, stream, blocks, break_case, owned):
    good, bad, after = (make_case(seed=seed, owned=owned) for seed in range(3))
    message = break_case(bad).format(1)
    for case in (good, bad, after):
        assert case.run(blocks, stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert pagedrt.error() == message
    bad.assert_untouched()
    good.assert_right()
    after.assert_right()
    assert pagedrt.stream_synchronize(stream) == OK


@pytest.mark.parametrize("blocks", [0, 8])
def test_stream_and_scratch_stay_usable(make_case, stream, scratch, blocks):
    bad, good = make_case(), make_case(seed=1)
    break_page(bad)
    assert bad.run(blocks, stream=stream, scratch=scratch) == OK
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert good.run(blocks, stream=stream, scratch=scratch) == OK
    assert pagedrt.stream_synchronize(stream) == OK
    good.assert_right()


def test_the_first_failure_is_the_one_reported(make_case, stream):
    first, second = make_case(), make_case()
    message = break_dependency(first).format(1)
    break_page(second)
    for case in (make_case(), first, second):
        assert case.run(stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert pagedrt.error() == message


def test_drain_keeps_failures_for_synchronize(make_case, stream):
    case = make_case()
    message = break_page(case).format(0)
    assert case.run(stream=stream) == OK
    assert pagedrt.stream_drain(stream) == OK
    assert pagedrt.stream_drain(stream) == OK
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert pagedrt.error() == message
    assert pagedrt.stream_synchronize(stream) == OK


def test_close_reports_what_synchronize_would(make_case, device):
    stream = pagedrt.make("stream_create", device)
    case = make_case()
    break_page(case)
    assert case.run(stream=stream) == OK
    assert pagedrt.stream_close(stream) == INVALID_INPUT
    assert pagedrt.stream_close(stream) == OK
    pagedrt.stream_destroy(stream)


def test_call_numbers_run_across_command_buffers(make_case, stream):
    good, bad = make_case(), make_case()
    message = break_page(bad).format(150)
    for _ in range(150):
        assert good.run(stream=stream) == OK
    assert bad.run(stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert pagedrt.error() == message
    good.assert_right()


@pytest.mark.parametrize("blocks", [0, 8])
def test_plan_run_does_not_scan_on_the_host(device, make_case, stream, blocks):
    case = make_case()
    plan = pagedrt.make("plan_create", device, byref(case.geometry), (Split * 1)(Split(64, blocks)), 1)
    message = break_page(case).format(0)
    assert pagedrt.plan_run(plan, byref(case.call()), stream) == OK
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert pagedrt.error() == message
    assert pagedrt.plan_run(plan, byref(case.call()), None) == INVALID_INPUT
    assert pagedrt.error() == message
    case.assert_untouched()
    pagedrt.plan_destroy(plan)


def test_tables_outlive_their_buffers_for_the_message(device, make_case, stream):
    case = make_case()
    message = break_page(case).format(0)
    assert case.run(stream=stream) == OK
    case.release()
    case.handles.clear()
    assert pagedrt.stream_synchronize(stream) == INVALID_INPUT
    assert pagedrt.error() == message


def test_pages_past_dependency_are_not_looked_at(make_case, stream):
    case = make_case()
    case.dependency[0] = 32
    break_page(case)
    assert case.run(stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == OK
    case.assert_right()
