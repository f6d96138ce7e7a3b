"""How the macOS wheel was built: with Darwin's headers, by declarations that only the cross build sees."""

import json
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from api_facts import FACTS
from objc_source import LIB, ROOT, SourceError, parse

NINJA = Path(sys.executable).parent / "ninja"
PYCONFIG = ROOT / "tools/macos/pyconfig.h"


@pytest.fixture(scope="module")
def commands(macos_build):
    """Compiled file: its command line."""
    compiled = json.loads((macos_build / "package/compile_commands.json").read_text())
    return {one["file"]: shlex.split(one["command"]) for one in compiled if one["file"].endswith((".c", ".m"))}


def test_everything_is_compiled(commands):
    names = {Path(file).name for file in commands}
    assert names >= {path.name for path in (ROOT / "native/runtime").glob("*.m")}
    assert names >= {f"{path.name}.c" for path in (ROOT / "pagedrt").glob("*.pyx")}


def test_warnings_are_errors(macos_build, commands):
    for file, words in commands.items():
        assert {"-Wall", "-Wextra", "-Werror"} <= set(words), file
        assert [word for word in words if word.startswith("-Wno-")] == [], file
    assert "warning:" not in (macos_build / "build.log").read_text()


def test_software_metal_only_declares(commands):
    """Its headers come from the cross file: on a Mac meson.build names none of them, and Apple's are found."""
    assert [file for file in commands if "softmetal" in file] == []
    folders = {word for words in commands.values() for word in words if "softmetal" in word}
    assert folders == {f"-I{ROOT / 'native/softmetal/include'}"}


def test_no_header_of_this_machine_was_read(macos_build):
    package = macos_build / "package"
    done = subprocess.run([NINJA, "-C", package, "-t", "deps"], check=True, capture_output=True, text=True)
    headers = {(package / line.strip()).resolve() for line in done.stdout.splitlines() if line.startswith("    ")}
    assert {path.name for path in headers} >= {"Python.h", "pyconfig.h", "_numpyconfig.h", "Metal.h", "stdio.h"}
    ours = [ROOT / folder for folder in ("native", "shaders", "pagedrt")]
    allowed = [*ours, LIB.resolve(), macos_build]
    assert [path for path in headers if not any(path.is_relative_to(folder) for folder in allowed)] == []
    (read,) = {path for path in headers if path.name == "pyconfig.h"}
    assert read.read_bytes() == PYCONFIG.read_bytes()


def test_pyconfig_answers_every_question():
    """Of the headers of the Python that runs this; curses is nothing that is used here."""
    include = Path(sysconfig.get_path("include"))
    ours = set(re.findall(r"(?:#define|#undef) (\w+)", PYCONFIG.read_text()))
    macros = set(re.findall(r"#\s*(?:define|undef)\s+(\w+)", (include / "pyconfig.h").read_text()))
    asked = set()
    for header in include.rglob("*.h"):
        if "internal" in header.parts or header.name in ("pyconfig.h", "py_curses.h"):
            continue
        text = header.read_text().replace("\\\n", " ")
        for line in re.findall(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*", text, re.MULTILINE):
            asked |= set(re.findall(r"\w+", line)) & macros
    assert len(asked) > 20
    assert asked - ours == set()


def _sizes(tmp_path, text):
    names = {"_BOOL": "_Bool", "VOID_P": "void *", "LONG_LONG": "long long", "LONG_DOUBLE": "long double"}
    lines = ["#include <pthread.h>", "#include <stddef.h>", "#include <stdint.h>", "#include <sys/types.h>", text]
    for kind, name in re.findall(r"#define (SIZEOF_|ALIGNOF_)(\w+) \d+", text):
        operator = "sizeof" if kind == "SIZEOF_" else "_Alignof"
        lines.append(
            f"_Static_assert({operator}({names.get(name, name.lower())}) == {kind}{name}, {json.dumps(name)});"
        )
    assert len(lines) > 15
    source = tmp_path / "sizes.m"
    source.write_text("\n".join(lines) + "\n")
    return source


def test_pyconfig_has_the_sizes_of_darwin(tmp_path):
    parse(_sizes(tmp_path, PYCONFIG.read_text()))


def test_a_wrong_size_is_caught(tmp_path):
    text = PYCONFIG.read_text().replace("SIZEOF_LONG_DOUBLE 8", "SIZEOF_LONG_DOUBLE 16")
    with pytest.raises(SourceError, match="LONG_DOUBLE"):
        parse(_sizes(tmp_path, text))


def test_stubs_name_what_apple_has():
    stubs = "".join(path.read_text() for path in ROOT.glob("tools/macos/frameworks/*/*.tbd"))
    listed = {kind: set() for kind in ("symbols", "objc-classes")}
    for kind, names in re.findall(r"(symbols|objc-classes): \[(.*)\]", stubs):
        listed[kind] |= {name.strip() for name in names.split(",")}
    assert (
        {name for name, fact in FACTS["owners"].items() if fact["kind"] == "class"} >= listed["objc-classes"] != set()
    )
    assert {f"_{name}" for name, fact in FACTS["functions"].items() if fact["exported"]} >= listed["symbols"] != set()


def test_a_function_of_libc_that_macos_14_lacks_is_caught(tmp_path):
    source = tmp_path / "newer.m"
    source.write_text("#include <string.h>\nchar *f(char *s);\nchar *f(char *s) { return strchrnul(s, 'a'); }\n")
    with pytest.raises(SourceError, match="strchrnul"):
        parse(source)


@pytest.mark.parametrize("arguments", [[], ["one"], ["one", "two", "three"]])
def test_wrong_arguments_are_answered_with_the_usage(arguments):
    command = [sys.executable, ROOT / "tools/macos/wheel.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == "usage: python tools/macos/wheel.py BUILD_FOLDER WHEEL_FOLDER"


def test_a_missing_compiler_is_one_clear_line(tmp_path):
    """An interpreter that sees no installed package has no ziglang."""
    command = [sys.executable, "-I", "-S", ROOT / "tools/macos/wheel.py", tmp_path / "build", tmp_path / "wheels"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "pagedrt: the package ziglang is missing; run `make macos`, or install it with pip\n"
