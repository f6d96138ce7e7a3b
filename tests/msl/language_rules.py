"""What C++14 has and MSL has not, and pointers that name no address space."""

from clang.cindex import TypeKind

FORBIDDEN_NODES = {
    "CXX_NEW_EXPR": "new: MSL has no allocation",
    "CXX_DELETE_EXPR": "delete: MSL has no allocation",
    "CXX_THROW_EXPR": "throw: MSL has no exceptions",
    "CXX_TRY_STMT": "try: MSL has no exceptions",
    "CXX_DYNAMIC_CAST_EXPR": "dynamic_cast: MSL has no run-time types",
    "CXX_TYPEID_EXPR": "typeid: MSL has no run-time types",
    "CXX_BASE_SPECIFIER": "base class: MSL has no derived classes",
    "LAMBDA_EXPR": "lambda: MSL has them from 3.2 on",
    "GOTO_STMT": "goto: MSL has none",
    "INDIRECT_GOTO_STMT": "goto: MSL has none",
    "ASM_STMT": "asm: MSL has none",
}
FORBIDDEN_TYPES = {
    TypeKind.DOUBLE: "double: MSL has none",
    TypeKind.LONGDOUBLE: "long double: MSL has none",
    TypeKind.FLOAT128: "__float128: MSL has none",
    TypeKind.LONGLONG: "long long: MSL has none, long has 64 bits",
    TypeKind.ULONGLONG: "unsigned long long: MSL has none, ulong has 64 bits",
}
POINTERS = (TypeKind.POINTER, TypeKind.LVALUEREFERENCE, TypeKind.RVALUEREFERENCE)
ARRAYS = (TypeKind.CONSTANTARRAY, TypeKind.INCOMPLETEARRAY, TypeKind.DEPENDENTSIZEDARRAY, TypeKind.VARIABLEARRAY)
DECLARATIONS = ("VAR_DECL", "PARM_DECL", "FIELD_DECL", "TYPEDEF_DECL", "TYPE_ALIAS_DECL")
CASTS = ("CSTYLE_CAST_EXPR", "CXX_STATIC_CAST_EXPR", "CXX_REINTERPRET_CAST_EXPR", "CXX_FUNCTIONAL_CAST_EXPR")


def check(tree):
    """(node, rule, text) of each violation."""
    for node in tree.walk():
        if node.kind in FORBIDDEN_NODES:
            yield node, "language", FORBIDDEN_NODES[node.kind]
        if node.kind in ("CXX_METHOD", "DESTRUCTOR") and node.cursor.is_virtual_method():
            yield node, "language", "virtual: MSL has no virtual functions"
        for part in parts(node.cursor.type):
            if part.kind in FORBIDDEN_TYPES:
                yield node, "type", FORBIDDEN_TYPES[part.kind]
            if is_function_pointer(part) and node.kind in DECLARATIONS:
                yield node, "function pointer", "a function pointer: call the function by name"
        yield from missing_address_spaces(node)


def parts(kind):
    """A type and what it points to or holds."""
    while kind.kind != TypeKind.INVALID:
        yield kind.get_canonical() if kind.kind not in POINTERS + ARRAYS else kind
        kind = kind.get_pointee() if kind.kind in POINTERS else kind.element_type if kind.kind in ARRAYS else None
        if kind is None:
            return


def is_function_pointer(kind):
    if kind.kind == TypeKind.MEMBERPOINTER:
        return True
    return kind.kind in POINTERS and kind.get_pointee().get_canonical().kind == TypeKind.FUNCTIONPROTO


def missing_address_spaces(node):
    if node.kind in ("TYPEDEF_DECL", "TYPE_ALIAS_DECL"):
        written = node.cursor.underlying_typedef_type
    elif node.kind in DECLARATIONS or node.kind in CASTS:
        written = node.cursor.type
    elif node.kind in ("FUNCTION_DECL", "FUNCTION_TEMPLATE", "CXX_METHOD"):
        written = node.cursor.result_type
    else:
        return
    needed = unqualified_levels(written)
    if needed == 0:
        return
    if node.kind in CASTS:
        named = node.tokens.count("thread")
    else:
        named = node.annotations.count("thread")
    if named < needed:
        what = f"{node.name}: " if node.name else ""
        yield node, "address space", f"{what}a pointer or reference without device, constant, threadgroup or thread"


def unqualified_levels(kind):
    """Pointers and references, as written here, to what lies in no named address space."""
    levels = 0
    while kind.kind in POINTERS + ARRAYS and not is_function_pointer(kind):
        if kind.kind in POINTERS:
            levels += innermost(kind.get_pointee()).get_address_space() == 0
            kind = kind.get_pointee()
        else:
            kind = kind.element_type
    return levels


def innermost(kind):
    while kind.kind in ARRAYS:
        kind = kind.element_type
    return kind
