"""Small files, each with its pair, and none that tells where or how it was written."""

import ast
import re
from collections import Counter

import pytest
from repository import ROOT, files, name

import pagedrt

SOURCES = (".c", ".cpp", ".h", ".m", ".metal", ".py", ".pyi", ".pxd", ".pyx", ".sh", ".build")
MOST_BYTES = 30_000

# A bracket in each keeps this file from holding what it forbids.
FORBIDDEN = re.compile(
    r"""
      /wor[k]/ | /tm[p]/[a-z] | /hom[e]/ | /roo[t]/
    | artifactor[y] | https?://[\w.-]*(?:pyp[i]|pythonhoste[d]|nexu[s]|registr[y]|mirro[r])
    | \b(?:anthropi[c]|claud[e]|chatgp[t]|opena[i]|copilo[t])\b
    | \b(?:coding|ai|sub)[ -]?agent[s]?\b
    | \b(?:this|another|previous|earlier|last|next|working)[ ]sessio[n]s?\b
    | \b(?:TOD[O]|FIXM[E]|XX[X])\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


@pytest.mark.parametrize("path", [path for path in files() if path.suffix in SOURCES], ids=name)
def test_source_files_are_small(path):
    assert path.stat().st_size < MOST_BYTES


def defined(path):
    """Names of a Python file's functions, classes and constants, without what Python or pytest finds by name."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [target.id for target in targets if isinstance(target, ast.Name)]
    return [one for one in found if not re.match(r"test_|pytest|__", one)]


def test_every_python_name_is_used():
    texts = [path.read_text() for path in files(".", ".py", ".pyx", ".toml")]
    words = Counter(word for text in texts for word in re.findall(r"\w+", text))
    unused = {(name(path), what) for path in files(".", ".py") for what in defined(path) if words[what] == 1}
    assert unused == set()


def test_every_public_class_has_a_declaration_file():
    """A .pyx without a .pxd holds functions for Python, which nothing can cimport."""
    for path in files("pagedrt", ".pyx"):
        if path.with_suffix(".pxd").exists() or path.stem == "_native":
            continue
        classes = re.findall(r"^cdef class (\w+)", path.read_text(), re.MULTILINE)
        assert [cls for cls in classes if hasattr(pagedrt, cls)] == [], path.name


def test_every_compiled_module_has_a_stub_in_the_tree():
    assert {path.stem for path in files("pagedrt", ".pyx")} == {path.stem for path in files("pagedrt", ".pyi")}


def test_every_python_file_is_installed():
    listed = (ROOT / "pagedrt/meson.build").read_text()
    assert [name(path) for path in files("pagedrt", ".py", ".pyi", ".pyx") if f"'{path.name}'" not in listed] == []


def test_every_shader_header_is_a_dependency_of_the_build():
    listed = (ROOT / "shaders/meson.build").read_text()
    shaders = ROOT / "shaders"
    assert [name(h) for h in files("shaders", ".h") if f"'{h.relative_to(shaders).as_posix()}'" not in listed] == []


@pytest.mark.parametrize("path", files(), ids=name)
def test_wording(path):
    data = path.read_bytes()
    if path.name == "LICENSE" or b"\0" in data:
        return
    assert [match.group() for match in FORBIDDEN.finditer(data.decode())] == []


def test_test_files_have_names_of_their_own():
    """pytest imports them all by bare name, helpers beside them too."""
    tests = [path.name for path in files("tests", ".py") if path.name not in ("conftest.py", "__init__.py")]
    assert len(tests) == len(set(tests))
