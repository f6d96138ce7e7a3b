"""Mutants that no test can tell from the original, as source: name, each with the reason."""

EQUIVALENT = {}
