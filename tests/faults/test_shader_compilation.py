"""What the runtime asks of the shader compiler, and what it passes on where that refuses."""

import pytest

import pagedrt
from helpers import cells, softmetal
from helpers.cells import Cell


@pytest.mark.parametrize("macos", [14, 15, 26])
def test_kernels_are_compiled_with_safe_math(macos):
    """Software Metal refuses fast math, by the properties that this macOS judges by."""
    with softmetal.macos(macos), pagedrt.Device("cpu") as device:
        cells.check(device, Cell("float32", 64, 2, 2, 1100, 16, fill="hidden_keys"))


def compile_failure():
    """The message of the device whose library does not compile."""
    for call in range(1, 10):
        with softmetal.failing(call), pytest.raises(pagedrt.DeviceError) as raised:
            pagedrt.Device("cpu")
        if "newLibraryWithSource" in str(raised.value):
            return str(raised.value)
    raise AssertionError("no library was compiled")


def test_a_failure_carries_the_compilers_whole_log():
    lines = [
        f"program_source:{line}:3: error: no member named 'lane_{line}' in namespace 'metal'" for line in range(99)
    ]
    with softmetal.compile_log("\n".join(lines)):
        message = compile_failure()
    assert all(line in message for line in lines)
    with pytest.raises(pagedrt.DeviceError, match=r"^family \"metal\": .{,200}$"):  # a short message after a long one
        pagedrt.Device("metal")
