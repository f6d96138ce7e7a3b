"""The shaders are MSL 3.1 as far as clang and the checker can tell, and both tell wrong from right."""

import re
from pathlib import Path

import pytest
from clang_units import LANGUAGES, SHADERS, Position, flattened
from msl_lint import lint, main

LIBRARIES = sorted(SHADERS.glob("*.metal"))
TWINS = Path(__file__).parent / "twins"
NAMES = sorted({path.name.split(".")[0] for path in TWINS.iterdir()})
RULES = {
    *("clang", "language", "type", "function pointer", "address space"),
    *("kernel argument", "attribute", "buffer index", "threadgroup memory", "recursion", "barrier"),
}


def linted(path):
    return lint(path.name, flattened(path))


def rejected(path):
    """{position: text} of the lines that a twin marks."""
    lines = path.read_text().splitlines()
    found = [(number, line.split("// rejected: ")) for number, line in enumerate(lines, start=1)]
    return {Position(path.name, number): parts[1] for number, parts in found if len(parts) == 2}


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_shaders(path):
    assert [str(finding) for finding in linted(path)] == []


@pytest.mark.parametrize("name", NAMES)
def test_bad_twin(name):
    """Every marked line is found, for the reason it is marked with, and no other line."""
    path = TWINS / f"{name}.bad.metal"
    expected, found = rejected(path), linted(path)
    assert expected
    assert {finding.position for finding in found} == set(expected), "\n".join(map(str, found))
    for position, text in expected.items():
        assert any(text in str(one) for one in found if one.position == position), (position, text)


@pytest.mark.parametrize("name", NAMES)
def test_good_twin(name):
    assert [str(finding) for finding in linted(TWINS / f"{name}.good.metal")] == []


def test_every_rule_has_a_bad_twin():
    """The rules' own names are those that the checker's files spell."""
    yielded = {"clang"}
    for path in Path(__file__).parent.glob("*.py"):
        yielded |= set(re.findall(r'yield\s+\(?\s*\w+,\s*"([a-z ]+)",', path.read_text()))
    assert yielded == RULES
    assert {finding.rule for name in NAMES for finding in linted(TWINS / f"{name}.bad.metal")} == RULES


@pytest.mark.parametrize("path", LIBRARIES, ids=lambda path: path.stem)
def test_every_instance_is_compiled(path):
    """An error planted in a kernel is found once an instance: the message tells the instance's arguments."""
    text = flattened(path)
    kernel = re.search(r"template <([^>]*)>\s*\[\[kernel\]\] void \w+\([^{]*\{\n", text)
    names = ", ".join(parameter.split()[-1] for parameter in kernel.group(1).split(","))
    planted = f"template <{kernel.group(1)}> struct Seen {{}};\n{kernel.group()}typename Seen<{names}>::none seen;\n"
    messages = [finding.text for finding in lint(path.name, text.replace(kernel.group(), planted))]
    found = {language: {m for m in messages if "'none'" in m and language in m} for language in LANGUAGES}
    assert {language: len(instances) for language, instances in found.items()} == dict.fromkeys(
        LANGUAGES, instances_of(path.stem.removeprefix("sdpa_"))
    )


def instances_of(name):
    """By the table that the host reads as well."""
    table = (SHADERS / "instances.h").read_text()
    if name == "micro":
        return len(re.findall(r"X\(\w+, Micro\w+\)", table))
    dims = len(re.findall(r"PAGEDRT_DTYPES\(X, name, \d+\)", table))
    dtypes = len(re.findall(r"X\(name, head_dim, \w+\)", re.search(r"PAGEDRT_DTYPES\(X, .*", table).group()))
    rows = re.search(rf"PAGEDRT_{name.upper()}_INSTANCES\(X\)((?:.*\\\n)*.*)", table).group(1)
    return dims * dtypes * rows.count("DIMS_TO_256") + dtypes * rows.count("PAGEDRT_DTYPES")


def test_command(capsys):
    assert main([str(LIBRARIES[-1])]) == 0
    assert capsys.readouterr().out == ""
    assert main([str(TWINS / "new.bad.metal")]) == 1
    assert "new.bad.metal:5: language: new: MSL has no allocation" in capsys.readouterr().out
