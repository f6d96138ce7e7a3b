"""What a user gets: the headers, one set of symbols, one version."""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT

import pagedrt

HEADERS = [ROOT / "native/include/pagedrt.h", ROOT / "native/include/pagedrt_micro.h"]
HOOKS = ROOT / "native/softmetal/testing.h"


def declared(header, marker):
    """Functions that a header marks as exported."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.DOTALL)
    text = re.sub(r"^#define.*$", "", text, flags=re.MULTILINE)
    return set(re.findall(rf"\b{marker}\b[^;(]*?(\w+)\(", text))


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    return {line.split()[-1] for line in done.stdout.splitlines()}


def test_the_headers_are_installed():
    folder = Path(pagedrt.get_include())
    assert sorted(path.name for path in folder.rglob("*")) == [header.name for header in HEADERS]
    assert all((folder / header.name).read_bytes() == header.read_bytes() for header in HEADERS)


@pytest.mark.skipif(sys.platform != "linux", reason="reads an ELF file's symbols; no softmetal elsewhere")
def test_exported_symbols():
    functions = set().union(*(declared(header, "PAGEDRT_API") for header in HEADERS))
    hooks = declared(HOOKS, "SOFTMETAL_TESTING")
    assert len(functions) > 30
    assert all(name.startswith("pagedrt_") for name in functions)
    assert all(name.startswith("softmetal_testing_") for name in hooks)
    symbols = exported(Path(pagedrt.get_library_dir()) / "libpagedrt.so")
    assert symbols == functions | hooks


@pytest.mark.skipif(sys.platform != "linux", reason="reads an ELF file's symbols")
def test_extension_exports_its_modules_alone():
    extension = Path(pagedrt._native.__file__)
    assert extension.parent == Path(pagedrt.get_library_dir())
    assert all(re.fullmatch(r"PyInit_\w+", name) for name in exported(extension))


def test_one_version():
    (written,) = re.findall(r"^  version: '([\d.]+)'", (ROOT / "meson.build").read_text(), re.MULTILINE)
    library = ctypes.CDLL(str(next(Path(pagedrt.get_library_dir()).glob("libpagedrt.*"))))
    library.pagedrt_version.restype = ctypes.c_char_p
    assert pagedrt.__version__ == written
    assert library.pagedrt_version().decode() == written
    assert f"\n## {written}\n" in (ROOT / "CHANGELOG.md").read_text()
