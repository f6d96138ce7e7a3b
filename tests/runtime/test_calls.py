"""pagedrt_paged_attention and pagedrt_plan_run: results, paths, copies, counters."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from runtime_abi import FLOAT16, FLOAT32, INVALID_INPUT, OK, Split, pagedrt


def make_plan(case, *splits):
    array = (Split * len(splits))(*(Split(*split) for split in splits))
    return pagedrt.make("plan_create", case.device, byref(case.geometry), array, len(splits))


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16])
@pytest.mark.parametrize("blocks", [0, 1, 3, 64])
def test_one_shot(make_case, blocks, dtype, owned):
    case = make_case(tokens=100, dtype=dtype, owned=owned)
    assert case.run(blocks) == OK, pagedrt.error()
    case.assert_right()


@pytest.mark.parametrize("blocks", [0, 8])
def test_on_a_stream(make_case, stream, blocks):
    cases = [make_case(tokens=20 + i, seed=i) for i in range(5)]
    for case in cases:
        assert case.run(blocks, stream=stream) == OK, pagedrt.error()
    assert pagedrt.stream_synchronize(stream) == OK, pagedrt.error()
    for case in cases:
        case.assert_right()


@pytest.mark.parametrize("head_dim", [1, 40, 512])
def test_dims_without_an_instance_of_their_own(make_case, head_dim):
    case = make_case(head_dim=head_dim)
    assert case.run() == OK, pagedrt.error()
    case.assert_right()


@pytest.mark.parametrize("query_heads", [2, 6, 10, 16, 64])
@pytest.mark.parametrize("blocks", [0, 2])
def test_group_factors(make_case, query_heads, blocks):
    case = make_case(query_heads=query_heads)
    assert case.run(blocks) == OK, pagedrt.error()
    case.assert_right()


def test_device_buffers_are_not_copied(device, make_case):
    case = make_case(tokens=64)
    assert case.run() == OK
    assert case.run(4) == OK
    assert pagedrt.stats(device).copies == 0


def test_foreign_inputs_are_used_in_place_and_the_output_is_bounced(device, make_case):
    case = make_case(owned=False)
    assert case.run() == OK, pagedrt.error()
    stats = pagedrt.stats(device)
    assert (stats.copies, stats.copied_bytes) == (1, case.out.nbytes)
    case.assert_right()


def test_a_foreign_output_of_whole_pages_is_written_in_place(device, make_case, pages):
    page = pagedrt.info(device).memory_page
    case = make_case(query_heads=page // 256, kv_heads=2, head_dim=64)
    case.out = np.frombuffer(pages(1), np.float32).reshape(case.out.shape)
    assert case.run(4) == OK, pagedrt.error()
    assert pagedrt.stats(device).copies == 0
    case.assert_right()


@pytest.mark.parametrize("blocks", [0, 4])
def test_a_bounced_output_may_be_the_next_calls_input(make_case, stream, blocks):
    first, second = make_case(owned=False), make_case(owned=False, seed=1)
    second.queries = first.out
    assert first.run(blocks, stream=stream) == OK
    assert second.run(blocks, stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == OK
    first.assert_right()
    second.assert_right()


def test_one_bounced_output_for_many_calls_keeps_the_last(make_case, stream):
    first, second = make_case(owned=False), make_case(owned=False, seed=1)
    second.out = first.out
    assert first.run(stream=stream) == OK
    assert second.run(stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == OK
    second.assert_right()


def test_counters(device, make_case, stream):
    case = make_case(tokens=64)
    before = pagedrt.stats(device)
    for _ in range(3):
        assert case.run(stream=stream) == OK
    for _ in range(2):
        assert case.run(4, stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == OK
    after = pagedrt.stats(device)
    changes = {name: getattr(after, name) - getattr(before, name) for name, _ in after._fields_}
    assert changes["one_pass"] == 3
    assert changes["two_pass"] == 2
    assert changes["dispatches"] == 7
    assert changes["command_buffers"] == 1
    assert changes["waits"] == 1
    assert changes["scratch_prepares"] == 1


def test_pipelines_are_built_once(device, make_case):
    case = make_case()
    assert case.run() == OK
    built = pagedrt.stats(device).pipelines_built
    for _ in range(3):
        assert case.run() == OK
    assert pagedrt.stats(device).pipelines_built == built


def test_many_calls_fill_several_command_buffers(device, make_case, stream):
    case = make_case(tokens=8)
    for _ in range(1000):
        assert case.run(stream=stream) == OK
    assert pagedrt.stream_synchronize(stream) == OK
    assert pagedrt.stats(device).command_buffers == -(-1000 // 64)
    case.assert_right()


@pytest.mark.parametrize("on_stream", [True, False])
def test_plan_picks_the_split_of_the_context(device, make_case, stream, on_stream):
    case = make_case(tokens=100)
    plan = make_plan(case, (30, 0), (60, 2), (200, 8))
    for tokens, path in [(1, "one_pass"), (30, "one_pass"), (31, "two_pass"), (60, "two_pass"), (100, "two_pass")]:
        before = getattr(pagedrt.stats(device), path)
        case.dependency[0] = tokens
        call = case.call(context_tokens=tokens)
        assert pagedrt.plan_run(plan, byref(call), stream if on_stream else None) == OK, pagedrt.error()
        assert pagedrt.stream_synchronize(stream) == OK
        assert getattr(pagedrt.stats(device), path) == before + 1
        case.assert_right()
    pagedrt.plan_destroy(plan)


def test_plan_takes_arrays_inside_a_larger_buffer(device, make_case):
    case = make_case()
    arena = case.place(np.zeros(3 * case.out.nbytes, np.uint8))
    case.out = arena[case.out.nbytes : 2 * case.out.nbytes].view(np.float32).reshape(case.out.shape)
    plan = make_plan(case, (case.tokens, 0))
    assert pagedrt.plan_run(plan, byref(case.call()), None) == OK, pagedrt.error()
    case.assert_right()
    assert not arena[: case.out.nbytes].any()
    assert not arena[2 * case.out.nbytes :].any()
    pagedrt.plan_destroy(plan)


def test_capacity_may_change_from_call_to_call(device, make_case):
    small, large = make_case(capacity=5), make_case(capacity=50, seed=1)
    plan = make_plan(small, (64, 4))
    for case in (small, large, small):
        case.out[...] = np.nan
        assert pagedrt.plan_run(plan, byref(case.call()), None) == OK
        case.assert_right()
    pagedrt.plan_destroy(plan)


@pytest.mark.parametrize("name", ["queries", "key_pages", "value_pages", "page_table", "dependency", "out"])
def test_plan_refuses_memory_outside_live_buffers(device, make_case, name):
    case = make_case()
    plan = make_plan(case, (case.tokens, 0))
    kept = getattr(case, name).copy()
    call = case.call(**{name: kept.ctypes.data})
    assert pagedrt.plan_run(plan, byref(call), None) == INVALID_INPUT
    assert pagedrt.error().startswith(f"{name}: ")
    assert "live" in pagedrt.error()
    case.assert_untouched()
    assert pagedrt.plan_run(plan, byref(case.call()), None) == OK
    case.assert_right()
    pagedrt.plan_destroy(plan)


def test_plan_refuses_a_read_only_output(device, make_case, pages):
    case = make_case()
    memory = pages(1)
    buffer = pagedrt.make("buffer_wrap", device, ctypes.addressof(memory), case.out.nbytes, False)
    plan = make_plan(case, (case.tokens, 0))
    call = case.call(out=ctypes.addressof(memory))
    assert pagedrt.plan_run(plan, byref(call), None) == INVALID_INPUT
    assert "writable" in pagedrt.error()
    pagedrt.plan_destroy(plan)
    pagedrt.buffer_destroy(buffer)


def test_an_empty_context_gives_zero(make_case):
    for blocks in (0, 4):
        case = make_case()
        case.dependency[0] = 0
        assert case.run(blocks) == OK
        assert not case.out.any()
