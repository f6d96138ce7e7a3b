"""The scratch protocol: prepare, partial, reduce and update under a lock."""

import ctypes
import threading
from ctypes import byref

import numpy as np
import pytest
from runtime_abi import BFLOAT16, DEVICE_ERROR, FLOAT32, INVALID_INPUT, OK, OutputSpec, Slice, Spec, pagedrt
from runtime_case import device_array

FUNCTION = b"pagedrt_sdpa_partial_hd64_f32"
QUERY_HEADS, BLOCKS, HEAD_DIM = 4, 8, 64


def spec_of(**changed):
    scale_bits = int(np.float32(0.125).view(np.uint32))
    values = {
        "query_heads": QUERY_HEADS,
        "kv_heads": 2,
        "blocks": BLOCKS,
        "head_dim": HEAD_DIM,
        "page_size": 16,
        "scale_bits": scale_bits,
        "dtype": FLOAT32,
    }
    return Spec(**(values | changed))


class Verbs:
    """The four verbs of a locked scratch, by the thread that made this."""

    def __init__(self, device, scratch, stream):
        self.device, self.scratch, self.stream = device, scratch, stream
        self.library = pagedrt.make("device_library", device, b"sdpa_partial")
        self.dependency_array, self.dependency = device_array(device, (1,), np.uint32)
        self.outputs = []

    def prepare(self, function=FUNCTION, **changed):
        return pagedrt.scratch_prepare(self.scratch, byref(spec_of(**changed)), self.stream, self.library, function)

    def partial(self):
        kernel, slices = ctypes.c_void_p(), (Slice * 4)()
        pagedrt.check(pagedrt.scratch_partial(self.scratch, Slice(self.dependency, 0), byref(kernel), slices))
        return kernel.value, slices

    def reduce(self):
        kernel, output = ctypes.c_void_p(), OutputSpec()
        pagedrt.check(pagedrt.scratch_reduce(self.scratch, byref(kernel), byref(output)))
        return kernel.value, output

    def output(self):
        _array, handle = device_array(self.device, (QUERY_HEADS, HEAD_DIM), np.float32)
        self.outputs.append(handle)
        return handle

    def update(self, slices, output, offset=0):
        return pagedrt.scratch_update(self.scratch, slices, Slice(output, offset))

    def release(self):
        for handle in [*self.outputs, self.dependency]:
            pagedrt.buffer_destroy(handle)


@pytest.fixture
def verbs(device, scratch, stream):
    pagedrt.check(pagedrt.scratch_lock(scratch))
    made = Verbs(device, scratch, stream)
    yield made
    pagedrt.check(pagedrt.scratch_unlock(scratch))
    made.release()


def same(a: Slice, b: Slice) -> bool:
    return (a.buffer, a.offset) == (b.buffer, b.offset)


def test_prepare_twice_with_one_spec_builds_once(device, verbs):
    pagedrt.check(verbs.prepare())
    first, slices = verbs.partial()
    built = pagedrt.stats(device).pipelines_built
    pagedrt.check(verbs.prepare())
    second, again = verbs.partial()
    assert first == second
    assert all(same(a, b) for a, b in zip(slices, again, strict=True))
    stats = pagedrt.stats(device)
    assert (stats.scratch_prepares, stats.pipelines_built) == (1, built)


HUGE = {"query_heads": 2**20, "kv_heads": 2**20, "blocks": 1024}  # more bytes than a buffer may have


def test_a_prepare_that_fails_leaves_nothing_prepared(device, verbs):
    assert verbs.prepare(**HUGE) == INVALID_INPUT
    kernel, slices = ctypes.c_void_p(), (Slice * 4)()
    status = pagedrt.scratch_partial(verbs.scratch, Slice(verbs.dependency, 0), byref(kernel), slices)
    assert status == INVALID_INPUT
    assert pagedrt.error().startswith("scratch: not prepared")
    assert pagedrt.stats(device).scratch_prepares == 0


def test_a_prepare_that_fails_leaves_what_was_prepared(device, verbs):
    pagedrt.check(verbs.prepare())
    kernel, slices = verbs.partial()
    assert verbs.prepare(**HUGE) == INVALID_INPUT
    again, kept = verbs.partial()
    assert again == kernel
    assert all(same(a, b) for a, b in zip(slices, kept, strict=True))
    pagedrt.check(verbs.prepare())
    assert pagedrt.stats(device).scratch_prepares == 1


@pytest.mark.parametrize(
    ("changed", "function"),
    [
        ({"query_heads": 8}, FUNCTION),
        ({"kv_heads": 1}, FUNCTION),
        ({"blocks": 16}, FUNCTION),
        ({"head_dim": 128}, b"pagedrt_sdpa_partial_hd128_f32"),
        ({"page_size": 32}, FUNCTION),
        ({"scale_bits": 0x3F000000}, FUNCTION),
        ({"dtype": BFLOAT16}, b"pagedrt_sdpa_partial_hd64_bf16"),
    ],
)
def test_a_new_spec_rebuilds(device, verbs, changed, function):
    pagedrt.check(verbs.prepare())
    _, slices = verbs.partial()
    pagedrt.check(verbs.update(slices, verbs.output()))
    pagedrt.check(verbs.prepare(function, **changed))
    assert pagedrt.stats(device).scratch_prepares == 2
    _, slices = verbs.partial()
    assert slices[3].buffer == verbs.dependency.value
    spec = spec_of(**changed)
    rows = spec.query_heads * spec.blocks * 4
    assert slices[1].offset == rows * spec.head_dim
    assert slices[2].offset == rows * spec.head_dim + rows


def test_slices_do_not_overlap_and_hold_float32(verbs):
    pagedrt.check(verbs.prepare())
    _, slices = verbs.partial()
    rows = QUERY_HEADS * BLOCKS * 4
    assert [s.offset for s in slices[:3]] == [0, rows * HEAD_DIM, rows * (HEAD_DIM + 1)]
    assert pagedrt.buffer_length(slices[0].buffer) == rows * (HEAD_DIM + 2)


def test_barrier_is_dependency_first_and_the_last_output_after(verbs):
    pagedrt.check(verbs.prepare())
    _, slices = verbs.partial()
    assert same(slices[3], Slice(verbs.dependency, 0))
    for _ in range(2):
        output = verbs.output()
        pagedrt.check(verbs.update(slices, output))
        _, slices = verbs.partial()
        assert same(slices[3], Slice(output, 0))


def test_reduce_hands_out_its_dispatch_and_the_outputs_spec(verbs):
    pagedrt.check(verbs.prepare())
    partial, _ = verbs.partial()
    reduce, output = verbs.reduce()
    assert partial != reduce
    assert (list(output.shape), output.dtype) == ([1, QUERY_HEADS, 1, HEAD_DIM], FLOAT32)


def test_failure_between_partial_and_update_leaves_the_state(verbs):
    pagedrt.check(verbs.prepare())
    _, slices = verbs.partial()
    kept = verbs.output()
    pagedrt.check(verbs.update(slices, kept))
    _, before = verbs.partial()
    assert verbs.prepare(b"nonsense") == INVALID_INPUT
    assert verbs.update(slices, verbs.output(), offset=4) == INVALID_INPUT
    assert verbs.update((Slice * 3)(), verbs.output()) == INVALID_INPUT
    _, after = verbs.partial()
    assert all(same(a, b) for a, b in zip(before, after, strict=True))
    assert same(after[3], Slice(kept, 0))


def test_a_failed_prepare_leaves_the_state(device, verbs):
    pagedrt.check(verbs.prepare())
    _, before = verbs.partial()
    for changed in ({"head_dim": 48}, {"dtype": 9}, {"blocks": 0}):
        assert verbs.prepare(**changed) == INVALID_INPUT
    _, after = verbs.partial()
    assert all(same(a, b) for a, b in zip(before, after, strict=True))
    assert pagedrt.stats(device).scratch_prepares == 1


def test_update_names_what_is_wrong(device, verbs):
    pagedrt.check(verbs.prepare())
    _, slices = verbs.partial()
    small = pagedrt.make("buffer_create", device, QUERY_HEADS * HEAD_DIM * 4 - 4)
    assert verbs.update(slices, small) == INVALID_INPUT
    assert pagedrt.error().startswith("output: ")
    wrong = (Slice * 3)(Slice(small, 0), slices[1], slices[2])
    assert verbs.update(wrong, verbs.output()) == INVALID_INPUT
    assert pagedrt.error().startswith("partials: ")
    pagedrt.buffer_destroy(small)


def test_verbs_need_the_lock(device, scratch, stream):
    library = pagedrt.make("device_library", device, b"sdpa_partial")
    assert pagedrt.scratch_prepare(scratch, byref(spec_of()), stream, library, FUNCTION) == INVALID_INPUT
    assert "not locked by this thread" in pagedrt.error()
    assert pagedrt.scratch_unlock(scratch) == INVALID_INPUT


def test_verbs_need_prepare(verbs):
    kernel, slices, output = ctypes.c_void_p(), (Slice * 4)(), OutputSpec()
    assert pagedrt.scratch_partial(verbs.scratch, Slice(verbs.dependency, 0), byref(kernel), slices) == INVALID_INPUT
    assert "not prepared" in pagedrt.error()
    assert pagedrt.scratch_reduce(verbs.scratch, byref(kernel), byref(output)) == INVALID_INPUT
    assert verbs.update((Slice * 3)(), verbs.output()) == INVALID_INPUT


def test_the_lock_excludes(scratch):
    pagedrt.check(pagedrt.scratch_lock(scratch))
    order = []

    def other():
        pagedrt.check(pagedrt.scratch_lock(scratch))
        order.append("other")
        pagedrt.check(pagedrt.scratch_unlock(scratch))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(timeout=0.1)
    assert thread.is_alive()
    order.append("owner")
    pagedrt.check(pagedrt.scratch_unlock(scratch))
    thread.join()
    assert order == ["owner", "other"]


def test_locking_twice_is_an_error(scratch, make_case):
    pagedrt.check(pagedrt.scratch_lock(scratch))
    assert pagedrt.scratch_lock(scratch) == INVALID_INPUT
    assert make_case().run(4, scratch=scratch) == INVALID_INPUT
    assert "locked by this thread" in pagedrt.error()
    pagedrt.check(pagedrt.scratch_unlock(scratch))


def test_another_thread_cannot_unlock(scratch):
    pagedrt.check(pagedrt.scratch_lock(scratch))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(pagedrt.scratch_unlock(scratch)))
    thread.start()
    thread.join()
    assert seen == [INVALID_INPUT]
    pagedrt.check(pagedrt.scratch_unlock(scratch))


def test_calls_share_one_preparation(device, make_case, scratch, stream):
    for seed in range(4):
        case = make_case(seed=seed)
        assert case.run(8, scratch=scratch, stream=stream if seed % 2 else None) == OK
        pagedrt.check(pagedrt.stream_synchronize(stream))
        case.assert_right()
    assert pagedrt.stats(device).scratch_prepares == 1


def test_calls_pass_their_output_on_as_barrier(device, make_case, verbs, scratch):
    pagedrt.check(pagedrt.scratch_unlock(scratch))
    case = make_case()
    assert case.run(BLOCKS, scratch=scratch) == OK
    pagedrt.check(pagedrt.scratch_lock(scratch))
    _, slices = verbs.partial()
    assert pagedrt.buffer_contents(slices[3].buffer) == case.out.ctypes.data


@pytest.mark.parametrize("metal_call", [1, 2], ids=["no command buffer", "no command encoder"])
def test_a_call_that_cannot_begin_leaves_the_state(device, make_case, verbs, scratch, stream, metal_call):
    pagedrt.check(pagedrt.scratch_unlock(scratch))
    kept, failing = make_case(), make_case(seed=1)
    assert kept.run(BLOCKS, scratch=scratch, stream=stream) == OK
    pagedrt.check(pagedrt.stream_synchronize(stream))
    pagedrt.shared.softmetal_testing_fail_call(ctypes.c_uint64(metal_call))
    assert failing.run(BLOCKS, scratch=scratch, stream=stream) == DEVICE_ERROR
    pagedrt.check(pagedrt.scratch_lock(scratch))
    _, slices = verbs.partial()
    assert pagedrt.buffer_contents(slices[3].buffer) == kept.out.ctypes.data


def test_a_wrapped_output_is_forgotten_when_it_is_destroyed(device, make_case, verbs, scratch, pages):
    page = pagedrt.info(device).memory_page
    memory = pages(1)
    buffer = pagedrt.make("buffer_wrap", device, ctypes.addressof(memory), page, True)
    pagedrt.check(verbs.prepare())
    _, slices = verbs.partial()
    pagedrt.check(verbs.update(slices, buffer))
    _, slices = verbs.partial()
    assert slices[3].buffer == buffer.value
    pagedrt.buffer_destroy(buffer)
    _, slices = verbs.partial()
    assert slices[3].buffer == verbs.dependency.value


def test_an_output_wrapped_for_one_call_is_forgotten_after_it(device, make_case, verbs, scratch, pages):
    pagedrt.check(pagedrt.scratch_unlock(scratch))
    page = pagedrt.info(device).memory_page
    case = make_case(query_heads=page // 256, kv_heads=page // 1024)
    case.out = np.frombuffer(pages(1), np.float32).reshape(case.out.shape)
    assert case.run(BLOCKS, scratch=scratch) == OK, pagedrt.error()
    case.assert_right()
    pagedrt.check(pagedrt.scratch_lock(scratch))
    _, slices = verbs.partial()
    assert slices[3].buffer == verbs.dependency.value


def test_the_hold_on_the_last_output_ends_with_the_scratch(device, make_case):
    """Memory of destroyed outputs does not add up, held or not."""
    import resource

    scratch = pagedrt.make("scratch_create", device)
    before = None
    for i in range(200):
        case = make_case(query_heads=512, kv_heads=16, tokens=16, capacity=1)
        assert case.run(1, scratch=scratch) == OK, pagedrt.error()
        case.release()
        case.handles.clear()
        if i == 50:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    pagedrt.scratch_destroy(scratch)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2048
