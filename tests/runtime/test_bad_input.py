"""Every bad argument at the C level: its status, a message that names it, and out untouched."""

import ctypes
from ctypes import byref

import numpy as np
import pytest
from runtime_abi import (
    DEVICE_ERROR,
    FLOAT32,
    INVALID_INPUT,
    OK,
    DeviceOptions,
    Geometry,
    MicroLaunch,
    Spec,
    Split,
    pagedrt,
)


def geometry_of(case, **changed):
    values = {name: getattr(case.geometry, name) for name, _ in Geometry._fields_}
    return Geometry(**(values | changed))


GEOMETRIES = [
    ({"query_heads": 0}, "query_heads: 0"),
    ({"kv_heads": 0}, "kv_heads: 0"),
    ({"query_heads": 5}, "query_heads: 5"),
    ({"head_dim": 0}, "head_dim: 0"),
    ({"head_dim": 513}, "head_dim: 513"),
    ({"page_size": 0}, "page_size: 0"),
    ({"dtype": 3}, "dtype: 3"),
    ({"scale": 0.0}, "scale: 0"),
    ({"scale": -1.0}, "scale: -1"),
    ({"scale": float("nan")}, "scale: "),
    ({"scale": float("inf")}, "scale: inf"),
]


@pytest.mark.parametrize(("changed", "message"), GEOMETRIES)
def test_geometry(device, make_case, changed, message):
    case = make_case()
    geometry = geometry_of(case, **changed)
    assert pagedrt.paged_attention(device, byref(geometry), None, byref(case.call()), None, None) == INVALID_INPUT
    assert pagedrt.error().startswith(message)
    assert "expected" in pagedrt.error()
    case.assert_untouched()
    splits = (Split * 1)(Split(64, 0))
    plan = ctypes.c_void_p()
    assert pagedrt.plan_create(device, byref(geometry), splits, 1, byref(plan)) == INVALID_INPUT
    assert pagedrt.error().startswith(message)


CALLS = [
    ({"context_tokens": 0}, "context_tokens: 0"),
    ({"context_tokens": 49}, "context_tokens: 49"),
    ({"context_tokens": 2**31, "page_table_length": 2**31}, "context_tokens: 2147483648"),
    ({"page_table_length": 2}, "context_tokens: 40"),
    ({"page_table_length": 0}, "context_tokens: 40"),
    ({"page_capacity": 0}, "page_capacity: 0"),
    *(
        ({name: None}, f"{name}: NULL")
        for name in ("queries", "key_pages", "value_pages", "page_table", "dependency", "out")
    ),
]


@pytest.mark.parametrize("planned", [False, True])
@pytest.mark.parametrize(("changed", "message"), CALLS)
def test_call(device, make_case, changed, message, planned):
    case = make_case()
    call = case.call(**changed)
    if planned:
        plan = pagedrt.make("plan_create", device, byref(case.geometry), (Split * 1)(Split(64, 0)), 1)
        assert pagedrt.plan_run(plan, byref(call), None) == INVALID_INPUT
        pagedrt.plan_destroy(plan)
    else:
        assert pagedrt.paged_attention(device, byref(case.geometry), None, byref(call), None, None) == INVALID_INPUT
    assert pagedrt.error().startswith(message)
    assert "expected" in pagedrt.error()
    case.assert_untouched()


@pytest.mark.parametrize("name", ["queries", "key_pages", "value_pages", "page_table", "dependency", "out"])
def test_misaligned(device, make_case, name):
    case = make_case()
    assert case.run(**{name: getattr(case, name).ctypes.data + 1}) == INVALID_INPUT
    assert pagedrt.error().startswith(f"{name}: address")
    case.assert_untouched()


@pytest.mark.parametrize("name", ["queries", "key_pages", "value_pages", "page_table", "dependency"])
def test_out_overlaps_an_input(device, make_case, name):
    case = make_case()
    before = getattr(case, name).copy()
    array = getattr(case, name)
    # an out that starts on the array's last bytes may reach into another's memory too
    inside = array.nbytes >= case.out.nbytes
    assert case.run(out=array.ctypes.data + (0 if inside else array.nbytes - 4)) == INVALID_INPUT
    assert pagedrt.error().startswith(f"out: overlaps {name}" if inside else "out: overlaps ")
    np.testing.assert_array_equal(getattr(case, name), before)


def test_more_bytes_than_addresses(device, make_case):
    case = make_case()
    geometry = geometry_of(case, query_heads=2**31, kv_heads=2**31, page_size=2**31)
    call = case.call(page_capacity=2**31)
    assert pagedrt.paged_attention(device, byref(geometry), None, byref(call), None, None) == INVALID_INPUT
    assert pagedrt.error().startswith("key_pages: ")


def test_past_the_address_space(device, make_case):
    case = make_case()
    assert case.run(key_pages=2**64 - 64) == INVALID_INPUT
    assert "address space" in pagedrt.error()


def test_page_ids_and_dependency_are_scanned_without_a_stream(device, make_case):
    for blocks in (0, 4):
        case = make_case()
        case.dependency[0] = 41
        assert case.run(blocks) == INVALID_INPUT
        assert pagedrt.error() == "dependency[0] = 41: expected at most context_tokens = 40"
        case.dependency[0] = 33
        case.page_table[2] = 6
        assert case.run(blocks) == INVALID_INPUT
        assert pagedrt.error() == "page_table[2] = 6: expected a page below page_capacity = 6"
        case.assert_untouched()
        case.dependency[0] = 32
        assert case.run(blocks) == OK
        case.assert_right()


BLOCKS = [
    ({"head_dim": 40}, 4, "head_dim 40"),
    ({"head_dim": 288}, 4, "head_dim 288"),
    ({"query_heads": 66, "kv_heads": 2}, 4, "query_heads / kv_heads: 33"),
    ({}, 1025, "blocks: 1025"),
]


@pytest.mark.parametrize(("options", "blocks", "message"), BLOCKS)
def test_two_pass_limits(device, make_case, options, blocks, message):
    case = make_case(**options)
    assert case.run(blocks) == INVALID_INPUT
    assert pagedrt.error().startswith(message)
    case.assert_untouched()
    assert case.run() == OK
    case.assert_right()


LAYOUTS = [
    ((0, 3, 1), "heads: 3, expected 0, 1, 2, 4 or 8"),
    ((4, 16, 1), "heads: 16, expected 0, 1, 2, 4 or 8"),
    ((0, 4, 1), "heads: 4, expected less than twice the 2 query heads a KV head"),
    (
        (0, 1, 2),
        "simdgroups: 2 of 1 heads each, expected fewer or 0: a threadgroup of pagedrt_sdpa_one_pass_hd64_f32 may",
    ),
    ((4, 2, 2**32 - 1), "simdgroups: 4294967295 of 2 heads each"),
]


@pytest.mark.parametrize(("layout", "message"), LAYOUTS)
def test_layouts(device, make_case, layout, message):
    """On width 1 a threadgroup is one thread; tests/simulator has the other limits."""
    case = make_case()
    assert case.run(*layout) == INVALID_INPUT
    assert pagedrt.error().startswith(message)
    case.assert_untouched()
    plan = ctypes.c_void_p()
    splits = (Split * 1)(Split(64, *layout))
    assert pagedrt.plan_create(device, byref(case.geometry), splits, 1, byref(plan)) == INVALID_INPUT
    assert pagedrt.error().startswith(message)


@pytest.mark.parametrize("blocks", [0, 4])
@pytest.mark.parametrize("heads", [0, 1, 2])
def test_legal_layouts(make_case, blocks, heads):
    case = make_case()
    assert case.run(blocks, heads, 1) == OK
    case.assert_right()


SPLITS = [([], "splits: none"), ([(0, 0)], "splits[0]"), ([(5, 0), (5, 1)], "splits[1]"), ([(5, 1025)], "blocks: 1025")]


@pytest.mark.parametrize(("splits", "message"), SPLITS)
def test_splits(device, make_case, splits, message):
    array = (Split * len(splits))(*(Split(*split) for split in splits))
    plan = ctypes.c_void_p()
    assert pagedrt.plan_create(device, byref(make_case().geometry), array, len(splits), byref(plan)) == INVALID_INPUT
    assert pagedrt.error().startswith(message)


def test_a_context_beyond_the_plan(device, make_case):
    case = make_case()
    plan = pagedrt.make("plan_create", device, byref(case.geometry), (Split * 1)(Split(39, 0)), 1)
    assert pagedrt.plan_run(plan, byref(case.call()), None) == INVALID_INPUT
    assert pagedrt.error() == "context_tokens: 40, expected at most the plan's 39"
    pagedrt.plan_destroy(plan)


def test_objects_of_another_device(device, make_case, stream, scratch):
    other = pagedrt.make("device_create", None, 0)
    case = make_case()
    arguments = (byref(case.geometry), None, byref(case.call()))
    assert pagedrt.paged_attention(other, *arguments, scratch, None) == INVALID_INPUT
    assert pagedrt.error().startswith("scratch: of another device")
    assert pagedrt.paged_attention(other, *arguments, None, stream) == INVALID_INPUT
    assert pagedrt.error().startswith("stream: of another device")
    plan = pagedrt.make("plan_create", other, byref(case.geometry), (Split * 1)(Split(64, 0)), 1)
    assert pagedrt.plan_run(plan, byref(case.call()), stream) == INVALID_INPUT
    assert pagedrt.error().startswith("stream: of another device")
    pagedrt.plan_destroy(plan)
    pagedrt.device_destroy(other)


def test_families(device):
    handle = ctypes.c_void_p()
    assert pagedrt.device_create(b"gpu", 0, byref(handle)) == INVALID_INPUT
    assert pagedrt.error().startswith('family: "gpu"')
    known = []
    while pagedrt.families()[len(known)] is not None:
        known.append(pagedrt.families()[len(known)])
    for family in {b"metal", b"cpu", b"simulator"} - set(known):
        assert pagedrt.device_create(family, 0, byref(handle)) == DEVICE_ERROR
        assert pagedrt.error().startswith(f'family "{family.decode()}": ')
    assert pagedrt.info(device).family in known


@pytest.mark.parametrize("family", [b"cpu", b"simulator", None])
def test_more_workers_than_a_device_takes(device, family):
    handle = ctypes.c_void_p()
    assert pagedrt.device_create(family, 1025, byref(handle)) == INVALID_INPUT
    assert pagedrt.error().startswith("threads: 1025, expected at most 1024")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (b"", 'pipeline_archive: "", expected the path of a file'),
        (b"/", 'pipeline_archive: "/", expected the path of a file'),
        (b"/dev/null", 'pipeline_archive: "/dev/null", expected the path of a file'),
        (b"new/", 'pipeline_archive: "new/", expected the path of a file'),
        (b"\xff", "pipeline_archive: not UTF-8"),
        (b"x" * 4096, "pipeline_archive: 4096 bytes, expected a shorter path"),
    ],
)
@pytest.mark.parametrize("family", [b"cpu", b"simulator", b"metal", None])
def test_a_pipeline_archive_that_is_no_file(device, family, path, said):
    handle = ctypes.c_void_p()
    assert pagedrt.device_open(byref(DeviceOptions(family, 0, path)), byref(handle)) == INVALID_INPUT
    assert pagedrt.error().startswith(said)
    assert handle.value is None


def test_options(tmp_path):
    handle = ctypes.c_void_p()
    assert pagedrt.device_open(None, byref(handle)) == INVALID_INPUT
    assert pagedrt.error().startswith("options: NULL")
    assert pagedrt.device_open(byref(DeviceOptions(b"gpu", 0, None)), byref(handle)) == INVALID_INPUT
    assert pagedrt.error().startswith('family: "gpu"')
    options = DeviceOptions(None, 2, bytes(tmp_path / "pipelines"))
    for found in (0, 1):
        other = pagedrt.make("device_open", byref(options))
        assert pagedrt.info(other).worker_threads == 2
        pagedrt.check(pagedrt.device_close(other))
        stats = pagedrt.stats(other)
        assert (stats.archive_hits, stats.archive_added) == (found, 1 - found)
        assert (stats.libraries_loaded, stats.libraries_compiled) == (0, 1)
        pagedrt.device_destroy(other)


def test_libraries(device):
    library = ctypes.c_void_p()
    assert pagedrt.device_library(device, b"sdpa", byref(library)) == INVALID_INPUT
    assert pagedrt.error().startswith('name: "sdpa"')
    for name in (b"sdpa_one_pass", b"sdpa_partial", b"sdpa_reduce", b"micro"):
        first, second = pagedrt.make("device_library", device, name), pagedrt.make("device_library", device, name)
        assert first.value == second.value


NULL_HANDLES = [
    ("device_close", (None,), "device: NULL"),
    ("device_get_info", (None, None), "device: NULL"),
    ("device_get_stats", (None, None), "device: NULL"),
    ("device_library", (None, b"sdpa_reduce", None), "device: NULL"),
    ("buffer_create", (None, 1, None), "device: NULL"),
    ("buffer_wrap", (None, None, 1, False, None), "device: NULL"),
    ("stream_create", (None, None), "device: NULL"),
    ("stream_synchronize", (None,), "stream: NULL"),
    ("stream_drain", (None,), "stream: NULL"),
    ("stream_close", (None,), "stream: NULL"),
    ("paged_attention", (None, None, None, None, None, None), "device: NULL"),
    ("plan_create", (None, None, None, 0, None), "device: NULL"),
    ("plan_run", (None, None, None), "plan: NULL"),
    ("plan_close", (None,), "plan: NULL"),
    ("scratch_create", (None, None), "device: NULL"),
    ("scratch_lock", (None,), "scratch: NULL"),
    ("scratch_unlock", (None,), "scratch: NULL"),
    ("scratch_prepare", (None, None, None, None, None), "scratch: NULL"),
    ("partial_function", (64, FLOAT32, None), "function: NULL"),
    ("device_create", (None, 0, None), "device: NULL"),
    ("device_open", (None, None), "device: NULL"),
    ("micro_run", (None, None, None), "device: NULL"),
    ("micro_most_simdgroups", (None, None, None), "device: NULL"),
]


@pytest.mark.parametrize(("function", "arguments", "message"), NULL_HANDLES)
def test_null(function, arguments, message):
    assert getattr(pagedrt, function)(*arguments) == INVALID_INPUT
    assert pagedrt.error().startswith(message)


def test_null_places(device, scratch):
    for function, arguments, message in [
        ("device_get_info", (device, None), "info: NULL"),
        ("device_get_stats", (device, None), "stats: NULL"),
        ("device_library", (device, b"sdpa_reduce", None), "library: NULL"),
        ("device_library", (device, None, None), "name: NULL"),
        ("buffer_create", (device, 1, None), "buffer: NULL"),
        ("stream_create", (device, None), "stream: NULL"),
        ("scratch_create", (device, None), "scratch: NULL"),
        ("paged_attention", (device, None, None, None, None, None), "geometry: NULL"),
        ("plan_create", (device, None, None, 0, None), "geometry: NULL"),
        ("micro_run", (device, b"pagedrt_micro_read", None), "launch: NULL"),
        ("micro_run", (device, None, byref(MicroLaunch())), "kernel: NULL"),
        ("micro_most_simdgroups", (device, b"pagedrt_micro_read", None), "simdgroups: NULL"),
        ("micro_most_simdgroups", (device, b"micro", byref(ctypes.c_uint32())), 'kernel: "micro"'),
    ]:
        assert getattr(pagedrt, function)(*arguments) == INVALID_INPUT
        assert pagedrt.error().startswith(message)


def test_destroying_null_is_nothing():
    for kind in ("device", "stream", "buffer", "plan", "scratch"):
        getattr(pagedrt, f"{kind}_destroy")(None)
    assert pagedrt.buffer_contents(None) is None
    assert pagedrt.buffer_length(None) == 0
    assert not pagedrt.device_owns(None, None, 1, False)


def test_partial_function_names():
    name = ctypes.c_char_p()
    for head_dim in range(32, 257, 32):
        for dtype, suffix in enumerate(("f32", "f16", "bf16")):
            assert pagedrt.partial_function(head_dim, dtype, byref(name)) == OK
            assert name.value.decode() == f"pagedrt_sdpa_partial_hd{head_dim}_{suffix}"
    for head_dim, dtype in [(0, 0), (16, 0), (100, 0), (288, 0), (512, 0), (64, 3), (64, -1)]:
        assert pagedrt.partial_function(head_dim, dtype, byref(name)) == INVALID_INPUT
        assert f"head_dim {head_dim}" in pagedrt.error()


def test_scratch_spec(device, scratch, stream):
    library = pagedrt.make("device_library", device, b"sdpa_partial")
    wrong_library = pagedrt.make("device_library", device, b"sdpa_reduce")
    good = {
        "query_heads": 4,
        "kv_heads": 2,
        "blocks": 8,
        "head_dim": 64,
        "page_size": 16,
        "scale_bits": 0x3E000000,
        "dtype": 0,
    }
    function = b"pagedrt_sdpa_partial_hd64_f32"
    pagedrt.check(pagedrt.scratch_lock(scratch))
    for changed, where, name, message in [
        ({"query_heads": 5}, library, function, "query_heads: 5"),
        ({"kv_heads": 0}, library, function, "kv_heads: 0"),
        ({"blocks": 0}, library, function, "blocks: 0"),
        ({"blocks": 1025}, library, function, "blocks: 1025"),
        ({"head_dim": 48}, library, function, "head_dim 48"),
        ({"head_dim": 288}, library, function, "head_dim 288"),
        ({"dtype": 7}, library, function, "dtype: 7"),
        ({"page_size": 0}, library, function, "page_size: 0"),
        ({"scale_bits": 0}, library, function, "scale: 0"),
        (
            {"head_dim": 128},
            library,
            function,
            "function: pagedrt_sdpa_partial_hd64_f32, expected pagedrt_sdpa_partial_hd128_f32",
        ),
        ({}, library, b"nonsense", "function: nonsense"),
        ({}, wrong_library, function, "library: sdpa_reduce"),
    ]:
        spec = Spec(**(good | changed))
        assert pagedrt.scratch_prepare(scratch, byref(spec), stream, where, name) == INVALID_INPUT
        assert pagedrt.error().startswith(message)
    assert pagedrt.stats(device).scratch_prepares == 0
    pagedrt.check(pagedrt.scratch_unlock(scratch))
