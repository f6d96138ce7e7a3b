"""Mutants that nobody chose: other operators, constants one off, conditions negated, statements dropped."""

import random
import re

from mutation.mutant import TARGETS, Mutant
from mutation.rebuild import ROOT

# Not part of what runs here, or the table that the tests themselves read.
LEFT_OUT = {"native/runtime/platform_metal.m", "shaders/instances.h", "shaders/arguments.h", "shaders/dialect.h"}

SWAPS = [
    (r"(?<![<>=!-])<=", "<"),
    (r"(?<![<>=!-])>=", ">"),
    (r"(?<= )<(?= )", "<="),
    (r"(?<= )>(?= )", ">="),
    (r"==", "!="),
    (r"!=", "=="),
    (r"&&", "||"),
    (r"\|\|", "&&"),
    (r"\band\b", "or"),
    (r"\bor\b", "and"),
    (r"\bnot (?!in\b)", ""),
    (r"(?<= )\+(?= )", "-"),
    (r"(?<= )-(?= )", "+"),
    (r"(?<= )\*(?= )", "/"),
    (r"\bmin\(", "max("),
    (r"\bmax\(", "min("),
    (r"(?<![\w.])(\d+)(?=u?[\s;),\]])", lambda m: str(int(m.group(1)) + 1)),
    (r"(?<![\w.])([1-9]\d*)(?=u?[\s;),\]])", lambda m: str(int(m.group(1)) - 1)),
    (r"\b(if|while) \((.+?)\)(?= \{$| \w.*;$)", lambda m: f"{m.group(1)} (!({m.group(2)}))"),
    (r"\b(if|while) ([^(].*)(?=:$)", lambda m: f"{m.group(1)} not ({m.group(2)})"),
]
HIDDEN = re.compile(r'"(?:\\.|[^"\\])*"|//.*|/\*.*?\*/|#.*')  # text, comments, directives
STATEMENT = re.compile(r"^\s+[\w\[(*][^{}]*[^,{};]\s*;\s*$")  # a whole statement on its line
KEPT = re.compile(r"^\s*(return|const|static|enum|float|u?int|bool|size_t|using|typedef|\w+ \w+[;(]|\}|case)")
PROSE = re.compile(r'error_set|refuse|"""|^\s*\*|_Static_assert|printf')


def in_line(line, python):
    if PROSE.search(line):
        return
    hidden = [match.span() for match in HIDDEN.finditer(line)]
    for pattern, new in SWAPS:
        for match in re.finditer(pattern, line):
            if not any(begin <= match.start() < end for begin, end in hidden):
                changed = new(match) if callable(new) else new
                yield line[: match.start()] + changed + line[match.end() :]
    if not python and STATEMENT.match(line) and not KEPT.match(line):
        yield ""


def everything():
    """All of them, in the order of the sources."""
    for path in sorted({path for pattern in TARGETS for path in ROOT.glob(pattern)}):
        source = str(path.relative_to(ROOT))
        lines = path.read_text().split("\n")
        for number, line in enumerate(lines if source not in LEFT_OUT else []):
            for changed in in_line(line, path.suffix == ".py"):
                name = f"{line.strip()} -> {changed.strip() or 'dropped'}"
                text = "\n".join([*lines[:number], changed, *lines[number + 1 :]])
                yield Mutant(name, source, text, number + 1)


def sample(count, seed):
    found = list(everything())
    return random.Random(seed).sample(found, count), len(found)
