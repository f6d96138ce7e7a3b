"""Mutants that no test can tell from the original, by name, each with the reason."""

EQUIVALENT = {}
