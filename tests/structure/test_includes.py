"""Which room may see which: no platform in the runtime, and nothing that Apple's compilers would not find."""

import re

import pytest
from repository import ROOT, code, files, included, name

C_SUFFIXES = (".c", ".cpp", ".h", ".m", ".metal")
PLATFORM = re.compile(
    r"__APPLE__|__MACH__|__linux__|__gnu_linux__|\bTARGET_OS_\w+|__GNUSTEP__|\bSOFTMETAL\w*|\bsoftmetal"
)
SYSTEM_C_HEADERS = {
    f"<{header}.h>"
    for header in (
        *("errno", "limits", "math", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "string", "time"),
        *("dlfcn", "pthread", "sys/stat", "unistd"),
    )
}
SHARED_WITH_SHADERS = {'"arguments.h"', '"instances.h"'}
RUNTIME = files("native/runtime", ".h", ".m")
SHADERS = files("shaders", ".h", ".metal")


@pytest.mark.parametrize("path", RUNTIME + files("pagedrt", ".pyx", ".pxd"), ids=name)
def test_no_platform_is_named(path):
    assert PLATFORM.findall(code(path)) == []


@pytest.mark.parametrize("path", RUNTIME, ids=name)
def test_runtime_imports(path):
    siblings = {f'"{header.name}"' for header in RUNTIME if header.suffix == ".h"}
    allowed = siblings | SYSTEM_C_HEADERS | SHARED_WITH_SHADERS | {'"pagedrt.h"', '"pagedrt_micro.h"'}
    apple = re.compile(r"<(Foundation|Metal)/\w+\.h>")
    assert [one for one in included(path) if one not in allowed and not apple.fullmatch(one)] == []


def test_public_header_includes():
    assert set(included(ROOT / "native/include/pagedrt.h")) == {"<stdbool.h>", "<stddef.h>", "<stdint.h>"}
    assert set(included(ROOT / "native/include/pagedrt_micro.h")) == {'"pagedrt.h"'}


@pytest.mark.parametrize("path", SHADERS, ids=name)
def test_shader_includes(path):
    allowed = {f'"{header.relative_to(ROOT / "shaders")}"' for header in SHADERS if header.suffix == ".h"}
    allowed |= {f'"{header.name}"' for header in path.parent.glob("*.h")} | {"<metal_stdlib>"}
    text = code(path)
    if path.name == "arguments.h":  # the host's compiler needs it, and no Metal compiler sees it
        text = re.sub(r"#ifndef __METAL_VERSION__\n#include <stdint.h>\n#endif\n", "", text)
    included = re.findall(r'^\s*#\s*(?:include|import)\s+([<"][^>"]+[>"])', text, re.MULTILINE)
    assert [one for one in included if one not in allowed] == []


@pytest.mark.parametrize("path", files("native", *C_SUFFIXES) + SHADERS, ids=name)
def test_no_python_in_native_code(path):
    assert "Python.h" not in path.read_text()


@pytest.mark.parametrize("path", files("pagedrt", ".pyx", ".pxd"), ids=name)
def test_bindings_name_python_only_to_declare_its_functions(path):
    declared = re.sub(r'cdef extern from "Python\.h":', "", path.read_text())
    assert "Python.h" not in declared
