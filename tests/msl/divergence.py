"""Barriers that some threads of a threadgroup may not reach.

A value varies if it is made from a thread's index, by way of any variable, field, argument or result; which object a
field belongs to is not told apart. A barrier, or a call of what holds one, must not stand under a condition that
varies, nor after a return, break or continue that does.
"""

from kernel_rules import VARYING, attribute_of
from language_rules import POINTERS
from syntax import place

BARRIERS = ("threadgroup_barrier", "simdgroup_barrier")
LOOPS = ("FOR_STMT", "WHILE_STMT", "DO_STMT")
BRANCHES = ("IF_STMT", "SWITCH_STMT", "CONDITIONAL_OPERATOR", *LOOPS)
EXITS = ("RETURN_STMT", "BREAK_STMT", "CONTINUE_STMT")


def check(tree):
    """(node, rule, text) of each barrier."""
    varying = Varying(tree)
    for function in tree.functions.values():
        if varying.holds_barrier(function.body):
            yield from Walk(varying).block(function.body, None)


class Varying:
    """The declarations whose values vary, by place: found by going over the text until nothing is added."""

    def __init__(self, tree):
        self.tree = tree
        self.places = set()
        self.names = set()  # of fields and functions, for what a template leaves unresolved
        self.barriers = set()
        self.fields = {}
        for node in tree.walk():
            if node.kind in ("STRUCT_DECL", "CLASS_DECL", "CLASS_TEMPLATE"):
                self.fields[node.declares] = [child for child in node.children if child.kind == "FIELD_DECL"]
        for kernel in tree.kernels:
            for parameter in kernel.parameters:
                if attribute_of(parameter)[0] in VARYING:
                    self.places.add(parameter.declares)
        before = None
        while before != (len(self.places), len(self.barriers)):
            before = (len(self.places), len(self.barriers))
            for function in tree.functions.values():
                self.go_over(function)

    def holds_barrier(self, node):
        return any(self.is_barrier(call) for call in node.all("CALL_EXPR"))

    def is_barrier(self, call):
        functions, name, _ = self.tree.called(call)
        return name in BARRIERS or any(one.declares in self.barriers for one in functions)

    def go_over(self, function):
        if self.holds_barrier(function.body):
            self.barriers.add(function.declares)
        initialised = None
        for child in function.children:
            if child.kind == "MEMBER_REF":  # a constructor's list: a field, then its value
                initialised = child
            elif initialised is not None and child.kind != "COMPOUND_STMT":
                if self.varies(child):
                    self.add(initialised.refers, initialised.name)
                self.statement(child, function, False)
                initialised = None
        self.statement(function.body, function, False)

    def add(self, where, name=""):
        if where is not None:
            self.places.add(where)
            self.names.add(name)

    def varies(self, node):
        if node.kind == "DECL_REF_EXPR":
            return node.refers in self.places
        if node.kind == "MEMBER_REF_EXPR":
            if node.refers is not None:
                return node.refers in self.places or any(map(self.varies, node.children))
            return (node.tokens[-1:] or [""])[0] in self.names or any(map(self.varies, node.children))
        if node.kind == "CALL_EXPR":
            functions, name, _ = self.tree.called(node)
            if name.startswith("atomic_") or any(one.declares in self.places for one in functions):
                return True
            arguments = node.children[1:] if node.children[:1] and is_callee(node, node.children[0]) else node.children
            return any(map(self.varies, arguments))
        return any(map(self.varies, node.children))

    def statement(self, node, function, under):
        """under: whether a condition that varies leads here."""
        if node.kind in BRANCHES:
            condition, rest = split(node)
            under_it = under or any(map(self.varies, condition))
            for part in condition:
                self.statement(part, function, under)
            for part in rest:
                self.statement(part, function, under_it)
            return
        if node.kind == "VAR_DECL":
            self.initialise(node, under)
        elif node.assigns and (under or self.varies(node.children[1])):
            self.assign(node.children[0])
        elif node.steps and under:
            self.assign(node.children[0])
        elif node.kind == "CALL_EXPR":
            self.bind(node)
        elif node.kind == "RETURN_STMT" and (under or any(map(self.varies, node.children))):
            if node.children:
                self.add(function.declares, function.name)
        for child in node.children:
            self.statement(child, function, under)

    def initialise(self, variable, under):
        values = [
            child for child in variable.children if not child.kind.endswith("_REF") and child.kind != "ANNOTATE_ATTR"
        ]
        fields = self.fields.get(place(variable.cursor.type.get_canonical().get_declaration()))
        if fields is None:
            template = next((child.refers for child in variable.children if child.kind == "TEMPLATE_REF"), None)
            fields = self.fields.get(template)
        if fields is not None and values and values[0].kind == "INIT_LIST_EXPR":
            for field, value in zip(fields, values[0].children, strict=False):
                if under or self.varies(value):
                    self.add(field.declares, field.name)
        elif fields is None and (under or any(map(self.varies, values))):
            self.add(variable.declares)

    def assign(self, target):
        """Marks what is written, unless it lies in memory that all threads share: who wrote there is all one."""
        node = target
        while node.kind not in ("DECL_REF_EXPR", "MEMBER_REF_EXPR"):
            if not node.children:
                return
            base = node.children[0]
            if node.kind in ("ARRAY_SUBSCRIPT_EXPR", "UNARY_OPERATOR") and shared(base.cursor.type):
                return
            node = base
        if node.refers is not None:
            self.add(node.refers, node.name)

    def bind(self, call):
        """Arguments to parameters, and what a function writes through parameters back."""
        functions, _, _ = self.tree.called(call)
        for function in functions:
            parameters = function.parameters
            for parameter, argument in zip(
                parameters, call.children[len(call.children) - len(parameters) :], strict=False
            ):
                if self.varies(argument):
                    self.add(parameter.declares)
                if parameter.declares in self.places and is_output(parameter):
                    self.assign(argument)


def is_callee(call, child):
    return child.kind == "OVERLOADED_DECL_REF" or (child.name == call.name and child.kind != "CALL_EXPR")


def shared(kind):
    return kind.kind in POINTERS and kind.get_pointee().get_address_space() != 0


def is_output(parameter):
    kind = parameter.cursor.type
    return kind.kind in POINTERS and not kind.get_pointee().is_const_qualified() and not shared(kind)


def split(branch):
    """(what decides, what it decides about)."""
    children = branch.children
    if branch.kind == "DO_STMT":
        return children[-1:], children[:-1]
    if branch.kind == "FOR_STMT":
        return children[:-1], children[-1:]
    return children[:1], children[1:]


class Walk:
    """Over one function in the order of its text."""

    def __init__(self, varying):
        self.varying = varying
        self.left = None  # where some threads may have gone

    def block(self, node, under):
        """under: the condition that varies and leads here, or None."""
        if node.kind in BRANCHES:
            condition, rest = split(node)
            for part in condition:
                yield from self.block(part, under)
            if under is None and any(map(self.varying.varies, condition)):
                under = node
            elif node.kind in LOOPS and self.varying.holds_barrier(node):
                under = under or self.leaving(node)
            for part in rest:
                yield from self.block(part, under)
            return
        if node.kind == "CALL_EXPR" and self.varying.is_barrier(node):
            reason = under or self.left
            if reason is not None:
                line = f"line {reason.position.line} of {reason.position.file}"
                yield (
                    node,
                    "barrier",
                    f"{self.varying.tree.called(node)[1]}: reached by some threads only, for what {line} decides",
                )
        if node.kind == "RETURN_STMT" and under is not None:
            self.left = self.left or under
        for child in node.children:
            yield from self.block(child, under)

    def leaving(self, loop):
        """The condition under which some threads leave this loop or one of its rounds, or None."""
        for branch in loop.all("IF_STMT", "SWITCH_STMT"):
            condition, rest = split(branch)
            if any(map(self.varying.varies, condition)) and any(part.has(*EXITS) for part in rest):
                return branch
        return None
