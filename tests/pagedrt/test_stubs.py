"""The stubs of compiled modules name what is there, with the same parameters."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import pagedrt

STUBS = sorted(Path(pagedrt.__file__).parent.glob("*.pyi"))
ADDED_BY_PYTHON = {"__init__", "__enter__", "__exit__"}


def definitions(body):
    return {node.name: node for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def test_every_compiled_module_has_a_stub():
    compiled = {
        name
        for name, module in vars(pagedrt).items()
        if inspect.ismodule(module) and not module.__file__.endswith(".py")
    }
    assert {stub.stem for stub in STUBS} == compiled
    assert (Path(pagedrt.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("stub", STUBS, ids=lambda stub: stub.stem)
def test_names(stub):
    module = importlib.import_module(f"pagedrt.{stub.stem}")
    named = definitions(ast.parse(stub.read_text()).body)
    public = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(value) or inspect.isbuiltin(value))
        and getattr(value, "__module__", None) in (module.__name__, "pagedrt" if stub.stem == "errors" else "")
    }
    assert public <= set(named)
    for name, node in named.items():
        value = getattr(module, name)
        if isinstance(node, ast.ClassDef):
            check_class(node, value)
        else:
            check_parameters(node, value)


def check_class(node, cls):
    members = definitions(node.body)
    public = {name for name in vars(cls) if not name.startswith("_")}
    assert public == {name for name in members if not name.startswith("_")}
    for name, member in members.items():
        assert hasattr(cls, name)
        if not member.decorator_list and name not in ADDED_BY_PYTHON:
            check_parameters(member, getattr(cls, name))


def check_parameters(node, function):
    arguments = node.args
    stubbed = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    assert stubbed == list(inspect.signature(function).parameters), node.name
