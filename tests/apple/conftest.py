import zipfile

import pytest
from mach_o import MachO
from objc_source import ROOT


@pytest.fixture(scope="session")
def macos_build():
    """The folder that `make macos` builds in."""
    folder = ROOT / "build/macos"
    if not (folder / "wheel.stamp").exists():
        pytest.fail("build/macos/wheel.stamp: not there; `make macos` builds the wheel that this reads")
    return folder


@pytest.fixture(scope="session")
def wheel(macos_build):
    with zipfile.ZipFile((macos_build / "wheel.stamp").read_text().strip()) as opened:
        yield opened


@pytest.fixture(scope="session")
def library(wheel):
    return MachO(wheel.read("pagedrt/libpagedrt.dylib"))


@pytest.fixture(scope="session")
def extension(wheel):
    (name,) = [name for name in wheel.namelist() if name.endswith(".so")]
    return MachO(wheel.read(name))
