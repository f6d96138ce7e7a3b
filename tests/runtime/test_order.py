"""Calls that share a scratch or a plan run in the order they were made, whatever stream they are on."""

import itertools
import mmap
from ctypes import byref

import numpy as np
import pytest
from runtime_abi import FLOAT32, OK, Spec, Split, pagedrt


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


def test_a_new_spec_lets_the_former_streams_open_calls_run(device, make_case, scratch, streams):
    """They hold the memory that the new spec's takes the place of."""
    first, second = make_case(tokens=200), make_case(tokens=200, seed=1)
    assert first.run(8, scratch=scratch, stream=streams[0]) == OK
    library = pagedrt.make("device_library", device, b"sdpa_partial")
    spec = Spec(4, 2, 16, 64, 16, int(np.float32(0.125).view(np.uint32)), FLOAT32)
    pagedrt.check(pagedrt.scratch_lock(scratch))
    pagedrt.check(pagedrt.scratch_prepare(scratch, byref(spec), streams[1], library, b"pagedrt_sdpa_partial_hd64_f32"))
    pagedrt.check(pagedrt.scratch_unlock(scratch))
    assert pagedrt.stats(device).command_buffers == 1
    assert second.run(16, scratch=scratch, stream=streams[1]) == OK
    for stream in streams[:2]:
        pagedrt.check(pagedrt.stream_synchronize(stream))
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


def page_aligned(array):
    """The same in foreign memory of whole pages, which the device writes in place."""
    pages = mmap.mmap(-1, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE)
    moved = np.frombuffer(pages, array.dtype, array.size).reshape(array.shape)
    moved[...] = array
    return moved


def test_the_last_output_may_end_while_its_successor_waits_for_the_former_stream(make_case, scratch, streams):
    """The former stream's outputs, of which the last is the scratch's barrier, go while the call waits for them."""
    head_dims = {"head_dim": 256, "query_heads": 4, "tokens": 200}
    bounced, in_place, last = (make_case(owned=False, seed=seed, **head_dims) for seed in range(3))
    in_place.out = page_aligned(in_place.out)
    assert in_place.out.nbytes % mmap.PAGESIZE == 0
    for case in (bounced, in_place):
        assert case.run(8, scratch=scratch, stream=streams[0]) == OK, pagedrt.error()
    assert last.run(8, scratch=scratch) == OK, pagedrt.error()
    for case in (bounced, in_place, last):
        case.assert_right()
