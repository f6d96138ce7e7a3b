"""MSL text as clang reads it: what its attributes become, and the two ways it is parsed."""

import re
import runpy
from pathlib import Path
from typing import NamedTuple

from clang import cindex

INCLUDE = Path(__file__).parent / "include"
SHADERS = Path(__file__).parents[2] / "shaders"

COMMON = [
    "-fsyntax-only",
    "-nostdinc",
    "-isystem",
    str(INCLUDE),
    "-D__METAL_VERSION__=310",
    "-D__METAL__=1",
    "-D__HAVE_BFLOAT__=1",
    "-ferror-limit=0",
    "-Werror=implicit-fallthrough",
    "-Werror=return-type",
    "-Wno-unknown-pragmas",
]
LANGUAGES = {
    "C++14": [
        "-xc++",
        "-std=c++14",
        "--target=arm64-apple-macos14",
        "-fno-exceptions",
        "-fno-rtti",
        "-Werror=c++17-extensions",
        "-Werror=c++20-extensions",
    ],
    # Its address spaces are Metal's once the generic one is off; it has no standard before C++17.
    "C++ for OpenCL": [
        "-xcl",
        "-cl-std=clc++2021",
        "--target=spir64",
        "-cl-no-stdinc",
        "-Xclang",
        "-cl-ext=-all,+cl_khr_fp16",
        "-Werror=pre-c++17-compat",
    ],
}
# OpenCL wants functions with `threadgroup` variables marked as kernels and then forbids them to be
# templates, and constructs no object whose address space is unnamed. The C++14 unit checks both.
NOT_MSL = {
    "C++14": (),
    "C++ for OpenCL": (
        "non-kernel function variable cannot be declared in local address space",
        "no matching constructor for initialization of",
    ),
}

ATTRIBUTE = re.compile(r"\[\[\s*([a-z_]+\s*(?:\([^][]*\))?)\s*\]\]")
INSTANTIATION = re.compile(r"\btemplate((?:\s*\[\[[^]]*\]\])+)(?=\s*(?:decltype|\w+\s+\w+\s*<))")
FUNCTION_CONSTANT = re.compile(r"\bconstant\s+(?=[\w\\\s]+\[\[\s*function_constant\b)")
THREADGROUP_VARIABLE = re.compile(r"(^|[;{])(\s*)threadgroup(?=\s+[\w:<>]+\s+\w+\s*[\[;])", re.MULTILINE)


class Position(NamedTuple):
    file: str
    line: int


class Unit:
    """One shader library in one of LANGUAGES: its cursors, its diagnostics, and where both come from."""

    def __init__(self, name, text, language):
        self.lines = positions(name, text)
        self.index = cindex.Index.create()
        self.translation = self.index.parse(
            name, args=[*COMMON, *LANGUAGES[language]], unsaved_files=[(name, clang_text(text, language))]
        )
        self.name = name
        self.not_msl = NOT_MSL[language]

    def position(self, location):
        """None where it lies in the lint's own headers."""
        if location.file is None or location.file.name != self.name:
            return None
        return self.lines[location.line - 1]

    def errors(self):
        """(position, text) of each error, in a header's case with the place that it was used from."""
        for diagnostic in self.translation.diagnostics:
            if diagnostic.severity < cindex.Diagnostic.Error or diagnostic.spelling.startswith(self.not_msl):
                continue
            places = [diagnostic.location, *(note.location for note in diagnostic.children)]
            found = [place for place in map(self.position, places) if place is not None]
            yield (found[0] if found else Position(self.name, 0)), diagnostic.spelling


def flattened(path):
    """The text that the library embeds for a Mac."""
    flatten = runpy.run_path(str(SHADERS / "embed.py"))["flatten"]
    return "\n".join(flatten(Path(path), set())) + "\n"


def clang_text(text, language):
    """MSL's attributes as annotations; what clang's grammar has no place for is spelled another way."""
    text = INSTANTIATION.sub("template", text)
    text = FUNCTION_CONSTANT.sub("extern constant ", text)
    if language == "C++14":  # clang gives no automatic variable an address space
        text = THREADGROUP_VARIABLE.sub(r"\1\2static threadgroup", text)
    return ATTRIBUTE.sub(lambda match: f'[[clang::annotate("[[{match.group(1)}]]")]]', text)


def positions(name, text):
    """Of each line, by its #line directives."""
    found, file, number = [], name, 1
    for line in text.splitlines():
        match = re.match(r'#line (\d+) "(.*)"', line)
        found.append(Position(file, number))
        if match:
            file, number = match.group(2), int(match.group(1))
        else:
            number += 1
    return found
