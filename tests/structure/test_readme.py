"""README's examples run as they stand, and what it names is there."""

import os
import re
import subprocess
import sys

import pytest
from repository import ROOT

from helpers import child

README = (ROOT / "README.md").read_text()
PYTHON_CHECKS = """
from helpers import oracle
expected = oracle.attend(queries, keys, values, table, int(tokens[0]), 0.125)
oracle.check(out, expected, "README's paged_attention")
oracle.check(result, expected, "README's plan.run")
"""


def blocks(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert found
    return found


def printed_by(code):
    """What the comments behind a program's prints say."""
    lines = [line for line in code.splitlines() if re.match(r" *print(f)?\(", line)]
    assert lines
    return [re.split(r"# |/\* ", line)[1].removesuffix(" */") for line in lines]


def test_python_examples():
    code = "".join(blocks("python"))
    assert child.run(code + PYTHON_CHECKS).splitlines() == printed_by(code)


@pytest.mark.skipif(sys.platform != "linux", reason="-rpath and shell as on Linux")
def test_c_example(tmp_path):
    """By README's own commands, warnings being errors."""
    (code,), (shell,) = blocks("c"), blocks("sh")
    (tmp_path / "example.c").write_text(code)
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    shell = shell.replace("cc example.c", "cc -Wall -Wextra -Werror example.c")
    subprocess.run(["sh", "-ec", shell], cwd=tmp_path, env=os.environ | {"PATH": path}, check=True)
    done = subprocess.run([tmp_path / "example"], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == printed_by(code)


def test_commands_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^    )make ([a-z-]+)", README, re.MULTILINE)) <= targets
    usage = child.run("import subprocess, sys; subprocess.run([sys.executable, '-P', '-m', 'pagedrt', '--help'])")
    assert [name for name in re.findall(r"python (?:-P )?-m pagedrt (\w+)", README) if name not in usage] == []


def test_links_and_folders_exist():
    layout = README.split("## How the code is laid out")[1].split("##")[0]
    rows = [row.split("|")[1] for row in layout.splitlines() if row.startswith("| `")]
    paths = re.findall(r"\]\(([^)#:]+)\)", README)
    paths += [path for row in rows for path in re.findall(r"`([^`]+)`", row)]
    paths += re.findall(r"`python ([\w/]+\.py)", README)
    assert len(paths) > 10
    assert [path for path in paths if not (ROOT / path).exists()] == []
