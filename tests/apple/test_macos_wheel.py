"""The macOS wheel, built on this machine: what it holds, and what a Mac would load from it."""

import base64
import csv
import ctypes
import hashlib
import re
import runpy
import sys
from pathlib import Path

import pytest
from api_facts import FACTS, OLDEST_MACOS, STATED_RUNTIME_FUNCTIONS
from mach_o import DYNAMIC_LOOKUP, MachO
from objc_source import LIB, ROOT, RUNTIME, uses

import pagedrt

VERSION = f"{sys.version_info.major}{sys.version_info.minor}"
EXTENSION = f"_native.cpython-{VERSION}-darwin.so"
LIBRARY = "@rpath/libpagedrt.dylib"
SYSTEM = "/usr/lib/libSystem.B.dylib"
OBJC = "/usr/lib/libobjc.A.dylib"
FRAMEWORKS = {
    name: f"/System/Library/Frameworks/{name}.framework/Versions/{version}/{name}"
    for name, version in (("Foundation", "C"), ("Metal", "A"), ("CoreGraphics", "A"))
}
CLASS = "_OBJC_CLASS_$_"
# clang calls libobjc's functions instead of sending these
SENT_AS_CALLS = {"alloc", "init", "retain", "release"}


@pytest.fixture(scope="module")
def used():
    """What the audited sources use."""
    return [use for source in RUNTIME for use in uses(source)]


@pytest.fixture(params=["library", "extension"])
def binary(request):
    return request.getfixturevalue(request.param)


def test_name_and_tag(wheel):
    tag = f"cp{VERSION}-cp{VERSION}-macosx_14_0_arm64"
    assert Path(wheel.filename).name == f"pagedrt-{pagedrt.__version__}-{tag}.whl"
    (said,) = [name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL")]
    assert {f"Tag: {tag}", "Root-Is-Purelib: false"} <= set(wheel.read(said).decode().splitlines())


def test_record_holds_every_file(wheel):
    (record,) = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD")]
    rows = {name: digest for name, digest, _ in csv.reader(wheel.read(record).decode().splitlines())}
    assert rows.keys() == set(wheel.namelist())
    del rows[record]
    for name, digest in rows.items():
        made = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode().rstrip("=")
        assert digest == f"sha256={made}", name


def test_contents_are_those_of_the_package_here(wheel):
    here = Path(pagedrt.__file__).parent
    files = [path for path in here.rglob("*") if path.is_file() and path.suffix not in (".so", ".pyc")]
    names = {f"pagedrt/{path.relative_to(here).as_posix()}": path for path in files}
    inside = {name for name in wheel.namelist() if name.startswith("pagedrt/")}
    assert inside == names.keys() | {"pagedrt/libpagedrt.dylib", f"pagedrt/{EXTENSION}"}
    assert [name for name, path in names.items() if wheel.read(name) != path.read_bytes()] == []


def test_arm64_alone(binary):
    assert [one.header.cpu_type.name for one in binary.slices] == ["ARM64"]
    assert re.findall(rb"x86|\bavx|\bsse[234]", binary.data, re.IGNORECASE) == []


def test_oldest_macos(binary):
    (version,) = binary.commands("BUILD_VERSION")
    assert version.platform.name == "MACOS"
    assert list(version.minos) == [*OLDEST_MACOS, 0]


def test_signature(binary):
    assert binary.signature_problems() == []


@pytest.mark.parametrize("page", [1, 5])
def test_a_changed_byte_breaks_the_signature(library, page):
    changed = bytearray(library.data)
    changed[page * 0x1000 + 17] ^= 1
    (problem,) = MachO(changed).signature_problems()
    assert problem.endswith("has another hash")


def test_library_loads_what_it_needs(library):
    """CoreGraphics too, though nothing of it is called: without it MTLCreateSystemDefaultDevice may return nil."""
    assert sorted(library.libraries) == sorted([*FRAMEWORKS.values(), OBJC, SYSTEM])
    assert [one.name for one in library.commands("ID_DYLIB")] == [LIBRARY]


def test_extension_finds_the_library_beside_it(extension, library):
    assert [one.path for one in extension.commands("RPATH")] == ["@loader_path"]
    assert sorted(extension.libraries) == sorted([SYSTEM, LIBRARY])
    wanted = {name for name, source in extension.imports.items() if source == LIBRARY}
    assert len(wanted) > 10
    assert wanted <= library.exports


def test_library_exports_the_headers(library):
    text = "".join(header.read_text() for header in (ROOT / "native/include").iterdir())
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^#define.*$", "", text, flags=re.MULTILINE)
    declared = {f"_{name}" for name in re.findall(r"\bPAGEDRT_API\b[^;(]*?(\w+)\(", text)}
    assert len(declared) > 30
    assert library.exports - {"___dso_handle", "__mh_dylib_header"} == declared


def test_extension_asks_python_for_the_rest(extension):
    """Of this interpreter's version, so that a name which it lacks is one that a Mac's lacks."""
    asked = {name for name, source in extension.imports.items() if source == DYNAMIC_LOOKUP}
    assert len(asked) > 100
    assert [name for name in asked if not hasattr(ctypes.pythonapi, name.removeprefix("_"))] == []
    assert "_PyInit__native" in extension.exports


def test_selectors_are_the_audited_ones(library, used):
    audited = {use.name[1:] for use in used if use.kind == "message"}
    audited |= {use.name for use in used if use.kind == "selector"}
    assert len(library.selectors) > 30
    assert library.selectors - audited == set()
    assert audited - library.selectors <= SENT_AS_CALLS


def test_classes_are_the_audited_ones(library, used):
    imported = {name.removeprefix(CLASS): source for name, source in library.imports.items() if CLASS in name}
    assert imported.keys() == {use.name for use in used if use.kind == "class"}
    for name, source in imported.items():
        assert source == FRAMEWORKS["Foundation" if name.startswith("NS") else "Metal"], name


def test_functions_are_the_audited_ones(library, used):
    names = {}
    for name, source in library.imports.items():
        if CLASS not in name:
            names.setdefault(source, set()).add(name.removeprefix("_"))
    system, objc = names.pop(SYSTEM), names.pop(OBJC)
    symbols = {use.name for use in used if use.kind in ("function", "variable")}
    inline = {name for name in symbols if not FACTS["functions"].get(name, {"exported": True})["exported"]}
    assert set().union(*names.values()) == symbols - inline
    assert objc <= STATED_RUNTIME_FUNCTIONS.keys()
    assert max(since for since, _ in STATED_RUNTIME_FUNCTIONS.values()) <= OLDEST_MACOS
    # whether a function of libc is old enough is for -Wunguarded-availability
    known = (LIB / "libc/darwin/libSystem.tbd").read_text()
    assert [name for name in system if not re.search(rf"\b_?{re.escape(name)}\b", known)] == []


def test_shaders_are_inside(library):
    flatten = runpy.run_path(str(ROOT / "shaders/embed.py"))["flatten"]
    for path in ROOT.glob("shaders/*.metal"):
        text = "\n".join(flatten(path, set()))
        assert len(text) > 5_000, path.name
        assert f"{text}\n\0".encode() in library.data, path.name
