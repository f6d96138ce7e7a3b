"""What Objective-C sources declare and use, as clang sees them.

libclang rather than a syntax tree of tree-sitter's: it resolves each message to the declaration that the receiver's
type selects, and knows types, enum values and the encodings that Objective-C's runtime uses on arm64 macOS. Darwin's
libc and Objective-C headers come from the package ziglang.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import ziglang
from clang.cindex import CursorKind, Diagnostic, Index, TypeKind

ROOT = Path(__file__).parents[2]
DECLARATIONS = ROOT / "native/softmetal/include"
RUNTIME = sorted((ROOT / "native/runtime").glob("*.m"))

LIB = Path(ziglang.__file__).parent / "lib"
FLAGS = [
    *("-x", "objective-c", "-std=gnu11", "-Wall", "-Wextra", "-target", "arm64-apple-macos14.0", "-nostdinc"),
    *("-isystem", str(LIB / "include"), "-isystem", str(LIB / "libc/include/any-darwin-any")),
    *(f"-I{ROOT / folder}" for folder in ("native/include", "native/runtime", "shaders")),
    '-DPAGEDRT_VERSION="0"',
]

NS_RETURNS_RETAINED = 420  # a cursor kind that the Python binding has no name for
FIRST_ATTRIBUTE = 400
OWNERS = {
    CursorKind.OBJC_PROTOCOL_DECL: "protocol",
    CursorKind.OBJC_INTERFACE_DECL: "class",
    CursorKind.OBJC_CATEGORY_DECL: "category",
}
BASES = (CursorKind.OBJC_SUPER_CLASS_REF, CursorKind.OBJC_PROTOCOL_REF)
METHODS = {CursorKind.OBJC_INSTANCE_METHOD_DECL: "-", CursorKind.OBJC_CLASS_METHOD_DECL: "+"}
REFERENCES = {
    CursorKind.ENUM_CONSTANT_DECL: "enumerator",
    CursorKind.FUNCTION_DECL: "function",
    CursorKind.VAR_DECL: "variable",
}


@dataclass(frozen=True)
class Declaration:
    """kind: class, protocol, method, enumerator, typedef, struct, function or variable. name: a method's is its sign
    and selector. The rest: what the kind has; types as they are written, a struct's fields as arguments."""

    kind: str
    name: str
    place: str
    owner: str = ""
    returns: str = ""
    arguments: tuple = ()
    encoding: str = ""
    owned: bool = False
    value: int = 0
    bases: tuple = ()


@dataclass(frozen=True)
class Use:
    """kind: message, selector, class, enumerator, function or variable. guards: the selectors that an enclosing
    `if ([x respondsToSelector:@selector(...)])` has asked for."""

    kind: str
    name: str
    place: str
    owner: str = ""
    guards: frozenset = frozenset()
    arguments: tuple = ()


class SourceError(Exception):
    """A source does not parse without a warning, or sends a message whose receiver has no type."""


def parse(source, declarations=DECLARATIONS):
    """The translation unit of a file; Foundation and Metal are taken from a folder of headers."""
    unit = Index.create().parse(str(source), args=[*FLAGS, f"-I{declarations}"])
    problems = [str(one) for one in unit.diagnostics if one.severity >= Diagnostic.Warning]
    if problems:
        raise SourceError("\n".join(problems))
    return unit


def children(cursor):
    """Without attributes, some of which the Python binding cannot name."""
    return [child for child in cursor.get_children() if child._kind_id < FIRST_ATTRIBUTE]


def inside(cursor, folder):
    file = cursor.location.file
    return file is not None and Path(file.name).resolve().is_relative_to(folder)


def place(cursor):
    path = Path(cursor.location.file.name).resolve()
    return f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{cursor.location.line}"


def written(cursor):
    """The text of an expression; of a macro its name."""
    start, end = cursor.extent.start, cursor.extent.end
    text = Path(start.file.name).read_text()
    return text[start.offset : end.offset] or re.match(r"\w*", text[start.offset :])[0]


def selector_of(cursor):
    """The name that @selector(...) holds."""
    return re.fullmatch(r"@selector\(\s*(.*?)\s*\)", written(cursor))[1]


def owner_of(method):
    """The class or protocol that a method is declared for, also in a category."""
    parent = method.semantic_parent
    if parent.kind != CursorKind.OBJC_CATEGORY_DECL:
        return parent.spelling
    return next(child.spelling for child in children(parent) if child.kind == CursorKind.OBJC_CLASS_REF)


def owned_by_name(selector):
    """Cocoa's rule: the caller releases the result of methods whose name begins with one of these words."""
    for family in ("alloc", "new", "copy", "mutableCopy", "init", "retain"):
        if selector.startswith(family) and not selector[len(family) :][:1].islower():
            return family != "retain" or selector == "retain"
    return False


def _callable(cursor, kind, name, **more):
    retained = any(child._kind_id == NS_RETURNS_RETAINED for child in cursor.get_children())
    return Declaration(
        kind,
        name,
        place(cursor),
        returns=cursor.result_type.spelling,
        arguments=tuple(one.type.spelling for one in cursor.get_arguments()),
        owned=retained or (kind == "method" and owned_by_name(cursor.spelling)),
        **more,
    )


def _method(cursor, owner):
    # the digits are offsets of the arguments on the stack
    encoding = re.sub(r"\d", "", cursor.objc_type_encoding)
    return _callable(cursor, "method", METHODS[cursor.kind] + cursor.spelling, owner=owner, encoding=encoding)


def _typedef(cursor):
    under = cursor.underlying_typedef_type
    if under.get_canonical().kind == TypeKind.RECORD:
        fields = tuple(f"{one.type.spelling} {one.spelling}" for one in under.get_canonical().get_fields())
        return Declaration("struct", cursor.spelling, place(cursor), arguments=fields)
    return Declaration("typedef", cursor.spelling, place(cursor), returns=under.spelling)


def _declared(cursor):
    kind, spelling = cursor.kind, cursor.spelling
    if kind in OWNERS:
        bases = tuple(child.spelling for child in children(cursor) if child.kind in BASES)
        yield Declaration(OWNERS[kind], spelling, place(cursor), bases=bases)
        yield from (_method(child, spelling) for child in children(cursor) if child.kind in METHODS)
    elif kind == CursorKind.ENUM_DECL:
        for one in children(cursor):
            yield Declaration("enumerator", one.spelling, place(one), value=one.enum_value)
    elif kind == CursorKind.TYPEDEF_DECL:
        yield _typedef(cursor)
    elif kind == CursorKind.FUNCTION_DECL:
        yield _callable(cursor, "function", spelling)
    elif kind == CursorKind.VAR_DECL:
        yield Declaration("variable", spelling, place(cursor), returns=cursor.type.spelling)


def declarations(folder=DECLARATIONS):
    """Everything that the headers of a folder declare."""
    unit = parse(folder / "Metal/Metal.h", folder)
    return [one for child in children(unit.cursor) if inside(child, folder) for one in _declared(child)]


def _guards(condition):
    """The selectors that a condition asks for; none where it is negated or has an alternative."""
    words = [token.spelling for token in condition.get_tokens()]
    if "!" in words or "||" in words or "respondsToSelector" not in words:
        return frozenset()
    names = (one for one in condition.walk_preorder() if one._kind_id < FIRST_ATTRIBUTE)
    return frozenset(selector_of(one) for one in names if one.kind == CursorKind.OBJC_SELECTOR_EXPR)


def _message(cursor, guards):
    method = cursor.referenced
    if method is None:
        raise SourceError(f"{place(cursor)}: {cursor.spelling} goes to a receiver without a type")
    parts, where = children(cursor), place(cursor)
    arguments = tuple(written(one) for one in parts[len(parts) - cursor.spelling.count(":") :])
    yield Use("message", METHODS[method.kind] + cursor.spelling, where, owner_of(method), guards, arguments)
    for part in parts:
        if part.kind == CursorKind.OBJC_CLASS_REF:
            yield Use("class", part.spelling, where, guards=guards)


def _uses(cursor, folder, guards):
    kind = cursor.kind
    if kind == CursorKind.OBJC_MESSAGE_EXPR:
        yield from _message(cursor, guards)
    elif kind == CursorKind.OBJC_SELECTOR_EXPR:
        yield Use("selector", selector_of(cursor), place(cursor), guards=guards)
    elif kind == CursorKind.DECL_REF_EXPR:
        target = cursor.referenced
        if target is not None and target.kind in REFERENCES and inside(target, folder):
            yield Use(REFERENCES[target.kind], target.spelling, place(cursor), guards=guards)
    parts = children(cursor)
    if kind == CursorKind.IF_STMT:
        condition, then, *parts = parts
        yield from _uses(condition, folder, guards)
        yield from _uses(then, folder, guards | _guards(condition))
    for part in parts:
        yield from _uses(part, folder, guards)


def uses(source, folder=DECLARATIONS):
    """Everything of Foundation and Metal that a source uses, in inline functions of its headers too."""
    unit = parse(source, folder)
    ours = (child for child in children(unit.cursor) if not inside(child, folder) and not inside(child, LIB))
    return [use for child in ours for use in _uses(child, folder, frozenset())]
