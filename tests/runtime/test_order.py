"""Calls that share a scratch or a plan run in the order they were made, whatever stream they are on."""

import itertools
from ctypes import byref

import pytest
from runtime_abi import OK, Split, pagedrt


@pytest.fixture
def streams(device):
    handles = [pagedrt.make("stream_create", device) for _ in range(3)]
    yield handles
    for handle in handles:
        pagedrt.stream_destroy(handle)


def chain(make_case, length):
    """Each case's queries are the former one's output: right only if run in order."""
    cases = [make_case(tokens=200, seed=seed) for seed in range(length)]
    for former, case in itertools.pairwise(cases):
        case.queries = former.out
    return cases


def assert_chain(cases):
    for case in cases:
        case.assert_right()


def test_streams_that_share_a_scratch(make_case, scratch, streams):
    cases = chain(make_case, 30)
    for i, case in enumerate(cases):
        assert case.run(8, scratch=scratch, stream=streams[i % 3]) == OK, pagedrt.error()
    pagedrt.check(pagedrt.stream_synchronize(streams[29 % 3]))
    assert_chain(cases)


def test_streams_that_share_a_plan(device, make_case, streams):
    cases = chain(make_case, 30)
    plan = pagedrt.make("plan_create", device, byref(cases[0].geometry), (Split * 1)(Split(200, 8)), 1)
    for i, case in enumerate(cases):
        assert pagedrt.plan_run(plan, byref(case.call()), streams[i % 3]) == OK, pagedrt.error()
    pagedrt.check(pagedrt.stream_synchronize(streams[29 % 3]))
    assert_chain(cases)
    pagedrt.plan_destroy(plan)


def test_the_former_streams_open_command_buffer_is_committed(device, make_case, scratch, streams):
    first, second = chain(make_case, 2)
    assert first.run(8, scratch=scratch, stream=streams[0]) == OK
    assert pagedrt.stats(device).command_buffers == 0
    assert second.run(8, scratch=scratch, stream=streams[1]) == OK
    assert pagedrt.stats(device).command_buffers == 1
    pagedrt.check(pagedrt.stream_synchronize(streams[1]))
    assert_chain([first, second])


def test_a_call_without_a_stream_waits_for_the_former_stream(make_case, scratch, streams):
    first, second = chain(make_case, 2)
    assert first.run(8, scratch=scratch, stream=streams[0]) == OK
    assert second.run(8, scratch=scratch) == OK
    assert_chain([first, second])


def test_a_former_stream_may_be_destroyed(device, make_case, scratch):
    cases = chain(make_case, 6)
    for case in cases:
        stream = pagedrt.make("stream_create", device)
        assert case.run(8, scratch=scratch, stream=stream) == OK
        pagedrt.stream_destroy(stream)
    assert_chain(cases)


def test_bounced_outputs_follow_the_scratch_to_another_stream(make_case, scratch, streams):
    first, second = make_case(tokens=200, owned=False), make_case(tokens=200, owned=False, seed=1)
    second.queries = first.out
    assert first.run(8, scratch=scratch, stream=streams[0]) == OK
    assert second.run(8, scratch=scratch, stream=streams[1]) == OK
    pagedrt.check(pagedrt.stream_synchronize(streams[1]))
    assert_chain([first, second])


def test_streams_may_wait_for_each_other(make_case, device, streams):
    """Two scratches cross between two streams in opposite directions."""
    scratches = [pagedrt.make("scratch_create", device) for _ in range(2)]
    chains = [chain(make_case, 20) for _ in scratches]
    for i in range(20):
        for j, scratch in enumerate(scratches):
            assert chains[j][i].run(8, scratch=scratch, stream=streams[(i + j) % 2]) == OK
    pagedrt.check(pagedrt.stream_synchronize(streams[0]))
    pagedrt.check(pagedrt.stream_synchronize(streams[1]))
    for cases in chains:
        assert_chain(cases)
    for scratch in scratches:
        pagedrt.scratch_destroy(scratch)
