"""Whether shaders are MSL 3.1 as Macs have it: python tests/msl/msl_lint.py FILE.metal..."""

import sys
from pathlib import Path
from typing import NamedTuple

import divergence
import kernel_rules
import language_rules
import recursion
from clang_units import LANGUAGES, Position, Unit, flattened
from syntax import Tree

CHECKS = (language_rules.check, kernel_rules.check, recursion.check, divergence.check)


class Finding(NamedTuple):
    position: Position
    rule: str
    text: str

    def __str__(self):
        return f"{self.position.file}:{self.position.line}: {self.rule}: {self.text}"


def lint(name, text):
    """Findings of one flattened library."""
    units = {language: Unit(name, text, language) for language in LANGUAGES}
    found = {
        Finding(position, "clang", f"{error} [{language}]")
        for language, unit in units.items()
        for position, error in unit.errors()
    }
    tree = Tree(units["C++14"])
    for check in CHECKS:
        found |= {Finding(node.position, rule, message) for node, rule, message in check(tree)}
    return sorted(found)


def main(paths):
    found = [finding for path in paths for finding in lint(Path(path).name, flattened(path))]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
