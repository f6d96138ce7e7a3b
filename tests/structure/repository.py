"""The tree that the rules of the layout are about."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE = {".git", ".venv", "build", "dist", "__pycache__", ".pytest_cache", ".ruff_cache", ".mypy_cache", ".hypothesis"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def files(folder=".", *suffixes):
    """Files under a folder of the repository, made ones left out; all suffixes where none is given."""
    found = []
    for parent, folders, names in os.walk(ROOT / folder):
        folders[:] = [name for name in folders if name not in MADE and not name.endswith(".egg-info")]
        found += [Path(parent) / name for name in names if not suffixes or Path(name).suffix in suffixes]
    assert found, f"{folder} holds no {suffixes} file"
    return sorted(found)


def name(path):
    return path.relative_to(ROOT).as_posix()


def code(path):
    """A C, Objective-C or MSL file without its comments."""
    return COMMENT.sub("", path.read_text())


def included(path):
    """What a file's #include and #import lines name, with their brackets or quotes."""
    return re.findall(r'^\s*#\s*(?:include|import)\s+([<"][^>"]+[>"])', code(path), re.MULTILINE)
