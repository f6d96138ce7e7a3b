"""No function calls itself, by whatever way round. Templates may call other instances of themselves: those end."""


def check(tree):
    """(node, rule, text) of each function on a circle of calls."""
    edges = {name: set(callees(tree, function)) for name, function in tree.functions.items()}
    for name, function in tree.functions.items():
        if name in reachable(edges, name):
            yield function, "recursion", f"{function.name}: calls itself"


def callees(tree, function):
    own = [child.name for child in function.children if child.kind.startswith("TEMPLATE_")]
    own_class = [
        child.spelling
        for child in function.cursor.semantic_parent.get_children()
        if child.kind.name.startswith("TEMPLATE_")
    ]
    for call in function.body.all("CALL_EXPR"):
        found, _, arguments = tree.called(call)
        written = [token for token in arguments if token != ","]
        if written and written not in (own, own_class):
            continue
        yield from (one.declares for one in found)


def reachable(edges, start):
    seen, left = set(), list(edges[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += edges.get(name, ())
    return seen
