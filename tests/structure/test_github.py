"""Workflows and the issue form: that the schemas would notice, and that what they run is there."""

import re
import subprocess
import sys

import pytest
from repository import ROOT, files, name

WORKFLOWS = files(".github/workflows", ".yml")
FORMS = files(".github/ISSUE_TEMPLATE", ".yml")
SCHEMAS = {path: "github-workflows" for path in WORKFLOWS} | {path: "github-issue-forms" for path in FORMS}


def check(path, schema):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(path)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("path", SCHEMAS, ids=name)
def test_the_schema_would_notice(path, tmp_path):
    assert check(path, SCHEMAS[path]).returncode == 0
    key = "runs-on:" if path in WORKFLOWS else "label:"
    broken = tmp_path / path.name
    broken.write_text(path.read_text().replace(key, "misspelt:"))
    assert check(broken, SCHEMAS[path]).returncode == 1


@pytest.mark.parametrize("path", SCHEMAS, ids=name)
def test_what_is_run_is_there(path):
    text = path.read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert [target for target in re.findall(r"\bmake ([a-z-]+)$", text, re.MULTILINE) if target not in targets] == []
    named = re.findall(r"(?<![\w./-])((?:tests|tools|docs)/[\w./-]+)", text)
    assert [one for one in named if not (ROOT / one).exists()] == []
    for command, options in re.findall(r"-m pagedrt (info|selftest|bench)([^`|\n]*)", text):
        shown = subprocess.run(
            [sys.executable, "-P", "-m", "pagedrt", command, "--help"], capture_output=True, text=True
        )
        assert [option for option in re.findall(r"--[\w-]+", options) if option not in shown.stdout] == []


def test_a_release_checks_the_version_where_it_stands():
    """The lines that release.yml's grep wants are there for the present version."""
    text = (ROOT / ".github/workflows/release.yml").read_text()
    patterns = re.findall(r'grep -qx "(.*)" (\S+)', text)
    version = re.search(r"^  version: '([\d.]+)'", (ROOT / "meson.build").read_text(), re.MULTILINE).group(1)
    assert len(patterns) == 2
    for pattern, file in patterns:
        assert pattern.replace("$version", version) in (ROOT / file).read_text().splitlines()
