"""The shaders, the tables they share with the host, and what the library holds agree on the kernels."""

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from repository import ROOT, code

import pagedrt
from pagedrt import heuristics, selftest, validation

SHADERS = ROOT / "shaders"
LIBRARIES = {"ONE_PASS": "sdpa_one_pass", "PARTIAL": "sdpa_partial", "REDUCE": "sdpa_reduce", "MICRO": "micro"}
ENUM_NAMES = {"key_pages": "KEYS", "value_pages": "VALUES", "args": "ARGUMENTS"}
SUFFIXES = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def preprocess(text, *options):
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-E", "-P", "-x", "c", f"-I{SHADERS}", *options, "-"]
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout


def joined(text):
    """Adjacent string literals of a preprocessed text, as one."""
    return re.sub(r'"\s*"', "", text)


@pytest.fixture(scope="module")
def instances():
    """{library: names} as the host's table has them."""
    text = (
        '#include "instances.h"\n'
        "#define X(name, head_dim, suffix) PAGEDRT_KERNEL_NAME(name, head_dim, suffix)\n"
        "#define X_MICRO(name, work) PAGEDRT_MICRO_NAME(name)\n"
    )
    for kind in LIBRARIES:
        text += f"{kind}: PAGEDRT_{kind}_INSTANCES({'X_MICRO' if kind == 'MICRO' else 'X'}) end\n"
    found = re.findall(r"(\w+): (.*?) end", preprocess(text), re.DOTALL)
    return {LIBRARIES[kind]: split_rows(rows) for kind, rows in found}


def split_rows(rows):
    """Each name is "pagedrt_sdpa_" or "pagedrt_micro_" and its pieces."""
    names = re.split(r'"|(?=pagedrt_(?:sdpa|micro)_)', joined(rows))
    return [name for name in names if name.strip()]


@pytest.mark.parametrize("kind", LIBRARIES)
def test_buffer_indices(kind):
    text = code(SHADERS / f"{LIBRARIES[kind]}.metal")
    parameters = re.findall(r"(\w+)\s*\[\[buffer\((\d+)\)\]\]", text)
    assert [int(index) for _, index in parameters] == list(range(len(parameters)))
    table = re.search(rf"enum {{([^}}]*\bPAGEDRT_{kind}_ARGUMENTS\b[^}}]*)}}", code(SHADERS / "arguments.h")).group(1)
    names = [entry.split("=")[0].strip() for entry in table.split(",")]
    assert re.search(rf"PAGEDRT_{kind}_\w+\s*=\s*0", table)
    assert names == [f"PAGEDRT_{kind}_{ENUM_NAMES.get(name, name.upper())}" for name, _ in parameters]


def test_names(instances):
    """The 24 partial instances and the others, each once."""
    dims = range(heuristics.HEAD_DIM_STEP, heuristics.TWO_PASS_HEAD_DIM + 1, heuristics.HEAD_DIM_STEP)

    def expected(name, dims):
        return {f"pagedrt_sdpa_{name}_hd{dim}_{suffix}" for dim in dims for suffix in SUFFIXES.values()}

    assert len(instances["sdpa_partial"]) == 24
    assert set(instances["sdpa_partial"]) == expected("partial", dims)
    assert set(instances["sdpa_one_pass"]) == expected("one_pass", [*dims, 0])
    assert set(instances["sdpa_reduce"]) == expected("reduce", [0])
    assert instances["micro"] == ["pagedrt_micro_read", "pagedrt_micro_barrier", "pagedrt_micro_simd_sum"]
    assert all(len(names) == len(set(names)) for names in instances.values())


def test_limits_agree_with_python():
    text = (SHADERS / "instances.h").read_text()
    limits = dict(re.findall(r"#define PAGEDRT_(MAX_\w+) (\d+)", text))
    assert int(limits["MAX_HEAD_DIM"]) == validation.MAX_HEAD_DIM
    assert int(limits["MAX_TOKENS"]) == validation.MAX_TOKENS
    assert int(limits["MAX_BLOCKS"]) == heuristics.MAX_BLOCKS
    assert int(limits["MAX_PARTIAL_GROUP_FACTOR"]) == heuristics.TWO_PASS_GROUP_FACTOR


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """{library: text} as shaders/embed.py gives it to the library."""
    output = tmp_path_factory.mktemp("embedded") / "sources.c"
    paths = [str(SHADERS / f"{library}.metal") for library in LIBRARIES.values()]
    subprocess.run([sys.executable, str(SHADERS / "embed.py"), str(output), *paths], check=True)
    tables = re.findall(r"const char pagedrt_source_(\w+)\[\] =\n(.*?);\n\n", output.read_text(), re.DOTALL)
    return {name: "".join(map(unescape, re.findall(r'^  "(.*)"$', lines, re.MULTILINE))) for name, lines in tables}


def unescape(line):
    return re.sub(r"\\(.)", lambda match: {"n": "\n"}.get(match.group(1), match.group(1)), line)


def test_embedded_text_defines_every_instance(instances, embedded):
    assert set(embedded) == set(LIBRARIES.values())
    for library, text in embedded.items():
        assert re.findall(r'^#include "', text, re.MULTILINE) == []
        text = re.sub(r"^#include <.*$", "", text, flags=re.MULTILINE)
        expanded = joined(preprocess(text, "-D__METAL_VERSION__=310"))
        assert re.findall(r'host_name\("([^"]+)"\)', expanded) == instances[library]


def test_library_holds_the_text_as_it_is_now(embedded):
    library = next(Path(pagedrt.get_library_dir()).glob("libpagedrt.*")).read_bytes()
    assert [name for name, text in embedded.items() if text.encode() not in library] == []


def test_library_knows_every_instance(instances):
    library = next(Path(pagedrt.get_library_dir()).glob("libpagedrt.*")).read_bytes()
    assert [name for names in instances.values() for name in names if name.encode() + b"\0" not in library] == []


def test_partial_functions_by_dim_and_dtype(instances):
    library = ctypes.CDLL(str(next(Path(pagedrt.get_library_dir()).glob("libpagedrt.*"))))
    found = set()
    for dtype in range(3):
        for head_dim in range(513):
            name = ctypes.c_char_p()
            if library.pagedrt_partial_function(head_dim, dtype, ctypes.byref(name)) == 0:
                found.add(name.value.decode())
    assert found == set(instances["sdpa_partial"])


def test_selftest_runs_every_instance(instances):
    """A one-pass case takes the instance of its head_dim, or the one for any; a two-pass case partial and reduce.

    bench --micro checks its own kernels before it times them.
    """
    names = {name for library, names in instances.items() for name in names if library != "micro"}
    taken = set()
    for case in selftest.cases(SUFFIXES):
        suffix = SUFFIXES[case.dtype]
        if case.path == "one-pass":
            own = f"pagedrt_sdpa_one_pass_hd{case.head_dim}_{suffix}"
            taken.add(own if own in names else f"pagedrt_sdpa_one_pass_hd0_{suffix}")
        else:
            taken |= {f"pagedrt_sdpa_partial_hd{case.head_dim}_{suffix}", f"pagedrt_sdpa_reduce_hd0_{suffix}"}
    assert taken == names
