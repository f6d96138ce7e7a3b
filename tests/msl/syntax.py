"""A shader library's syntax tree as plain nodes: libclang's cursors, each read once."""

from clang import cindex

FUNCTIONS = ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD", "CONSTRUCTOR", "CONVERSION_FUNCTION", "DESTRUCTOR")
# What the binding has no names for; the values are those of clang-c/Index.h.
ASSIGNMENT = 22
STEPS = (1, 2, 3, 4)  # ++ and --
cindex.TypeKind.FLOAT16 = cindex.TypeKind(32)
_operator_kind = cindex.conf.lib.clang_getCursorBinaryOperatorKind
_operator_kind.argtypes = [cindex.Cursor]
_operator_kind.restype = int
_unary_kind = cindex.conf.lib.clang_getCursorUnaryOperatorKind
_unary_kind.argtypes = [cindex.Cursor]
_unary_kind.restype = int


class Node:
    """`declares` and `refers` are places in the text: what an instance refers to is its template's place."""

    def __init__(self, cursor, unit):
        self.cursor = cursor
        self.kind = cursor.kind.name
        self.name = cursor.spelling
        self.position = unit.position(cursor.location)
        self.declares = place(cursor)
        self.refers = place(cursor.referenced) if cursor.kind.is_expression() or cursor.kind.is_reference() else None
        self.candidates = (
            [place(one) for one in overloads(cursor)] if cursor.kind == cindex.CursorKind.OVERLOADED_DECL_REF else []
        )
        self.children = [Node(child, unit) for child in cursor.get_children()]

    def walk(self):
        yield self
        for child in self.children:
            yield from child.walk()

    def all(self, *kinds):
        return [node for node in self.walk() if node.kind in kinds]

    def has(self, *kinds):
        return any(node.kind in kinds for node in self.walk())

    @property
    def annotations(self):
        return [child.name for child in self.children if child.kind == "ANNOTATE_ATTR"]

    @property
    def parameters(self):
        return [child for child in self.children if child.kind == "PARM_DECL"]

    @property
    def body(self):
        return next((child for child in self.children if child.kind == "COMPOUND_STMT"), None)

    @property
    def assigns(self):
        return self.kind == "COMPOUND_ASSIGNMENT_OPERATOR" or (
            self.kind == "BINARY_OPERATOR" and _operator_kind(self.cursor) == ASSIGNMENT
        )

    @property
    def steps(self):
        return self.kind == "UNARY_OPERATOR" and _unary_kind(self.cursor) in STEPS

    @property
    def tokens(self):
        return [token.spelling for token in self.cursor.get_tokens()]


def place(cursor):
    """Of a function's first declaration, so that a call before the definition refers to it too."""
    if cursor is None or cursor.location.file is None:
        return None
    cursor = cursor.canonical
    return cursor.location.file.name, cursor.location.offset, cursor.spelling  # one macro may declare several


def overloads(cursor):
    library = cindex.conf.lib
    return [library.clang_getOverloadedDecl(cursor, i) for i in range(library.clang_getNumOverloadedDecls(cursor))]


class Tree:
    """What the text itself holds, the lint's headers left out."""

    def __init__(self, unit):
        top = unit.translation.cursor.get_children()
        self.nodes = [Node(cursor, unit) for cursor in top if unit.position(cursor.location) is not None]
        self.functions = {node.declares: node for node in self.walk() if node.kind in FUNCTIONS and node.body}

    def walk(self):
        for node in self.nodes:
            yield from node.walk()

    @property
    def kernels(self):
        return [f for f in self.functions.values() if "[[kernel]]" in f.annotations or "kernel" in f.annotations]

    def called(self, call):
        """(functions of the text that a call may mean, its name, its own template arguments as written)."""
        if call.refers is not None:
            function = self.functions.get(call.refers)
            return ([function] if function else []), call.name, []
        callee = call.children[0] if call.children else None
        if callee is None:
            return [], "", []
        tokens = callee.tokens
        arguments = []
        if "<" in tokens:
            arguments = tokens[tokens.index("<") + 1 : len(tokens) - tokens[::-1].index(">") - 1]
            tokens = [*tokens[: tokens.index("<")], *tokens[len(tokens) - tokens[::-1].index(">") :]]
        name = next((token for token in reversed(tokens) if token.isidentifier()), "")
        known = [self.functions[one] for node in callee.walk() for one in node.candidates if one in self.functions]
        count = len(call.children) - 1
        named = [f for f in self.functions.values() if f.name == name and len(f.parameters) == count]
        return known or named, name, arguments
