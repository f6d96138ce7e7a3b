"""Compares declarations and uses of Foundation and Metal with the facts about Apple's headers.

Both functions return problems in words; none is the wish.
"""

from api_facts import (
    FACTS,
    OLDEST_MACOS,
    OWN_CLASSES,
    STATED_CONSTANTS,
    STATED_TYPES,
    enumerator,
    lineage,
    method,
    normal,
    release,
    selectors,
)


def _differences(one, fact):
    """Between a declared method or function and the fact about it."""
    problems = []
    if normal(one.returns) != normal(fact["returns"]):
        problems.append(f"returns {one.returns}, Apple's {fact['returns']}")
    if [normal(spelling) for spelling in one.arguments] != [normal(spelling) for spelling in fact["args"]]:
        problems.append(f"takes {list(one.arguments)}, Apple's {fact['args']}")
    if one.owned != fact["owned"]:
        problems.append(f"the caller {'releases' if one.owned else 'does not release'} the result, Apple's otherwise")
    encoding = (fact.get("encoding") or "").replace("@?", "^v")  # a block is a pointer
    if one.encoding and encoding and one.encoding != encoding:
        problems.append(f"is encoded {one.encoding}, Apple's {encoding}")
    return problems


def _owner(one):
    if one.name in OWN_CLASSES:
        return []
    fact = FACTS["owners"].get(one.name)
    if fact is None:
        return [f"no {one.kind} that the facts know"]
    problems = [f"adopts {base}, Apple's does not" for base in one.bases if base not in lineage(one.name)]
    if one.kind != fact["kind"] and one.name != "NSObject":  # that is a class and a protocol
        problems.append(f"is a {one.kind}, Apple's a {fact['kind']}")
    return problems


def _method(one):
    if one.owner in OWN_CLASSES:
        return []
    fact = method(one.owner, one.name)
    return ["no method that the facts know"] if fact is None else _differences(one, fact)


def _enumerator(one):
    fact = enumerator(one.name)
    if fact is None:
        return ["no enum constant that the facts know"]
    return [] if fact[0] == one.value else [f"is {one.value}, Apple's {fact[0]}"]


def _typedef(one):
    enum = FACTS["enums"].get(one.name)
    wanted = enum["underlying"] if enum else STATED_TYPES.get(one.name, (None,))[0]
    if wanted is None:
        return ["no type that the facts know"]
    return [] if one.returns == wanted else [f"stands for {one.returns}, Apple's for {wanted}"]


def _struct(one):
    wanted = FACTS["structs"].get(one.name)
    if wanted is None:
        return ["no struct that the facts know"]
    return [] if list(one.arguments) == wanted else [f"holds {list(one.arguments)}, Apple's {wanted}"]


def _function(one):
    fact = FACTS["functions"].get(one.name)
    return ["no function that the facts know"] if fact is None else _differences(one, fact)


def _variable(one):
    fact = FACTS["constants"].get(one.name)
    wanted = fact["type"] if fact else STATED_CONSTANTS.get(one.name, (None,))[0]
    if wanted is None:
        return ["no constant that the facts know"]
    return [] if one.returns == wanted else [f"is a {one.returns}, Apple's a {wanted}"]


JUDGES = {
    "class": _owner,
    "protocol": _owner,
    "method": _method,
    "enumerator": _enumerator,
    "typedef": _typedef,
    "struct": _struct,
    "function": _function,
    "variable": _variable,
}


def declaration_problems(declared):
    """Of everything that some headers declare."""
    problems = []
    for one in declared:
        judge = JUDGES.get(one.kind)
        found = judge(one) if judge else [f"a {one.kind}, which nothing audits"]
        problems += [f"{one.place}: {f'{one.owner} {one.name}'.strip()}: {problem}" for problem in found]
    types = {one.name for one in declared if one.kind == "typedef"}
    constants = {one.name for one in declared if one.kind == "enumerator"}
    for name, enum in FACTS["enums"].items():
        if constants & enum["values"].keys() and name not in types:
            problems.append(f"{name}: has constants, but is no type")
    return problems


def _too_new(macos):
    return release(macos) > OLDEST_MACOS


def _message_problems(use):
    fact = method(use.owner, use.name)
    if fact is None:
        return ["no method that the facts know"]
    problems = []
    if _too_new(fact.get("macos")) and use.name[1:] not in use.guards:
        problems.append(f"came with macOS {fact['macos']}, and no `if` with respondsToSelector: stands around it")
    for argument, spelling in zip(use.arguments, fact["args"], strict=True):
        if "(^" in spelling and argument != "nil":
            problems.append(f"{argument} where Apple's takes a block: only nil is one and a pointer")
    return problems


def _class_problems(use):
    fact = FACTS["owners"].get(use.name)
    if fact is None or fact["kind"] != "class":
        return ["no class that the facts know"]
    if _too_new(fact["macos"]):
        return [f"came with macOS {fact['macos']}, and no older system would load the library"]
    return []


def _enumerator_problems(use):
    fact = enumerator(use.name)
    if fact is None:
        return ["no enum constant that the facts know"]
    if fact[1] > OLDEST_MACOS and not use.guards:
        return [f"came with macOS {'.'.join(map(str, fact[1]))}, and no `if` with respondsToSelector: stands around it"]
    return []


def _symbol_problems(use):
    if use.name in STATED_CONSTANTS:
        return []
    fact = FACTS["functions"].get(use.name) or FACTS["constants"].get(use.name)
    if fact is None:
        return ["no function or constant that the facts know"]
    return (
        [f"came with macOS {fact['macos']}, and no older system would load the library"]
        if _too_new(fact["macos"])
        else []
    )


USE_JUDGES = {
    "message": _message_problems,
    "selector": lambda use: [] if use.name in selectors() else ["no selector that the facts know"],
    "class": _class_problems,
    "enumerator": _enumerator_problems,
    "function": _symbol_problems,
    "variable": _symbol_problems,
}


def use_problems(uses):
    """Of everything that some source uses, on the oldest macOS that is supported."""
    return [
        f"{use.place}: {f'{use.owner} {use.name}'.strip()}: {problem}"
        for use in uses
        for problem in USE_JUDGES[use.kind](use)
    ]
