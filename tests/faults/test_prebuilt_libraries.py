"""Shader libraries that were compiled when pagedrt was built, and what happens where they do not load."""

import runpy
from pathlib import Path

import pytest

import pagedrt
from helpers import cells, softmetal
from helpers.cells import Cell

SHADERS = Path(__file__).resolve().parents[2] / "shaders"
LIBRARIES = ["sdpa_one_pass", "sdpa_partial", "sdpa_reduce", "micro"]
ONE_PASS = Cell("float16", 64, 2, 2, 40, 16)
TWO_PASS = Cell("float16", 64, 2, 2, 1100, 16)


@pytest.fixture
def prebuilt(tmp_path):
    """A folder of stand-ins for all libraries."""
    flatten = runpy.run_path(str(SHADERS / "embed.py"))["flatten"]
    for name in LIBRARIES:
        text = "\n".join(flatten(SHADERS / f"{name}.metal", set()))
        (tmp_path / f"{name}.metallib").write_text(f"MTLB{text}\n")
    with softmetal.metallibs(tmp_path):
        yield tmp_path


def messages_of_failed_opens():
    """What is said as each Metal call of opening a device fails in turn."""
    messages = []
    for number in range(1, 20):
        with softmetal.failing(number):
            try:
                pagedrt.Device("cpu").close()
            except (pagedrt.DeviceError, pagedrt.OutOfMemoryError) as error:
                messages.append(str(error))
            if softmetal.calls_made() < number:
                return messages
    raise AssertionError("opening a device makes more than 20 Metal calls")


def check_calls(loaded=0):
    """So many of the three libraries that calls take are loaded, and the others compiled."""
    with pagedrt.Device("cpu") as device:
        cells.check(device, ONE_PASS)
        cells.check(device, TWO_PASS)
        stats = device.stats
    assert (stats["libraries_loaded"], stats["libraries_compiled"]) == (loaded, 3 - loaded)


def test_none_by_default():
    assert any("newLibraryWithSource" in message for message in messages_of_failed_opens())
    check_calls()


def test_prebuilt_libraries_serve_in_place_of_compiling(prebuilt):
    messages = messages_of_failed_opens()
    assert messages
    assert not any("newLibraryWithSource" in message for message in messages)
    check_calls(loaded=3)


def test_a_library_of_its_own_for_each(prebuilt):
    """One that is missing is compiled; those that are there serve still."""
    (prebuilt / "sdpa_one_pass.metallib").unlink()
    (prebuilt / "sdpa_partial.metallib").unlink()
    check_calls(loaded=1)


@pytest.mark.parametrize("contents", [b"", b"MT", b"MTLB", b"MTLBof another release", b"\x00" * 4096])
def test_what_does_not_load_is_compiled(prebuilt, contents):
    for name in LIBRARIES:
        (prebuilt / f"{name}.metallib").write_bytes(contents)
    assert any("newLibraryWithSource" in message for message in messages_of_failed_opens())
    check_calls()


def test_a_folder_in_a_files_place_is_compiled(prebuilt):
    for name in LIBRARIES:
        (prebuilt / f"{name}.metallib").unlink()
        (prebuilt / f"{name}.metallib").mkdir()
    check_calls()


def test_a_folder_whose_path_is_too_long_is_compiled(tmp_path):
    with softmetal.metallibs(tmp_path / ("x" * 5000)):
        check_calls()
