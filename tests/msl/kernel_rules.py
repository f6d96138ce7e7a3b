"""What a kernel may be given, and how much threadgroup memory it may declare."""

import re

from clang.cindex import TypeKind
from language_rules import ARRAYS, POINTERS, innermost

DEVICE, CONSTANT, THREADGROUP = 1, 2, 3
BUFFERS = 31  # entries of the buffer and threadgroup tables
THREADGROUP_BYTES = 32768
SIZE_TYPES = ("size_t", "ptrdiff_t")

# Inputs that differ among the threads of a threadgroup.
VARYING = {
    *("thread_position_in_grid", "thread_position_in_threadgroup", "thread_index_in_threadgroup"),
    *("thread_index_in_simdgroup", "simdgroup_index_in_threadgroup"),
    *("thread_index_in_quadgroup", "quadgroup_index_in_threadgroup"),
}
UNIFORM = {
    *("threads_per_grid", "threads_per_threadgroup", "dispatch_threads_per_threadgroup"),
    *("threadgroup_position_in_grid", "threadgroups_per_grid", "grid_size", "grid_origin"),
    *("simdgroups_per_threadgroup", "dispatch_simdgroups_per_threadgroup", "threads_per_simdgroup"),
    "quadgroups_per_threadgroup",
}
POSITIONS = {
    *("thread_position_in_grid", "thread_position_in_threadgroup", "threads_per_grid", "threads_per_threadgroup"),
    *("dispatch_threads_per_threadgroup", "threadgroup_position_in_grid", "threadgroups_per_grid"),
    *("grid_size", "grid_origin"),
}
SCALARS = ("uint", "ushort")
VECTORS = tuple(f"{scalar}{width}" for scalar in SCALARS for width in (2, 3))


def check(tree):
    """(node, rule, text) of each violation."""
    kernels = tree.kernels
    for kernel in kernels:
        for parameter in kernel.parameters:
            yield from check_parameter(parameter)
        yield from check_threadgroup_memory(kernel)
    for name, function in tree.functions.items():
        if all(name != kernel.declares for kernel in kernels):
            for variable in threadgroup_variables(function):
                yield variable, "threadgroup memory", f"{variable.name}: threadgroup variables stand in kernels alone"


def attribute_of(parameter):
    """(name, argument) of a parameter's [[name(argument)]]; (None, None) without."""
    for annotation in parameter.annotations:
        match = re.fullmatch(r"\[\[(\w+)\s*(?:\((.*)\))?\]\]", annotation)
        if match:
            return match.groups()
    return None, None


def check_parameter(parameter):
    name, argument = attribute_of(parameter)
    written = parameter.cursor.type
    if holds_size(written):
        yield parameter, "kernel argument", f"{parameter.name}: size_t and ptrdiff_t cannot be kernel arguments"
    if written.kind in POINTERS:
        yield from check_resource(parameter, name, argument, written.get_pointee().get_address_space())
    elif name in VARYING or name in UNIFORM:
        allowed = SCALARS + VECTORS if name in POSITIONS else SCALARS
        if written.spelling.removeprefix("const ") not in allowed:
            expected = ", ".join(allowed)
            yield parameter, "attribute", f"{parameter.name}: {written.spelling} for {name}, expected one of {expected}"
    else:
        yield parameter, "attribute", f"{parameter.name}: [[{name}]] is none of MSL's for a value"


def check_resource(parameter, name, argument, space):
    expected = {DEVICE: "buffer", CONSTANT: "buffer", THREADGROUP: "threadgroup"}.get(space)
    if expected is None:
        text = f"{parameter.name}: a kernel's pointers are device, constant or threadgroup"
        yield parameter, "kernel argument", text
    elif name != expected:
        yield parameter, "attribute", f"{parameter.name}: expected [[{expected}(n)]]"
    elif not argument.isdigit() or int(argument) >= BUFFERS:
        yield parameter, "buffer index", f"{parameter.name}: {name}({argument}), expected 0 to {BUFFERS - 1}"


def holds_size(kind):
    if kind.kind in POINTERS:
        return holds_size(kind.get_pointee())
    if kind.kind in ARRAYS:
        return holds_size(kind.element_type)
    declaration = kind.get_declaration()
    if declaration.spelling in SIZE_TYPES:
        return True
    canonical = kind.get_canonical()
    return canonical.kind == TypeKind.RECORD and any(holds_size(field.type) for field in canonical.get_fields())


def threadgroup_variables(function):
    return [node for node in function.all("VAR_DECL") if innermost(node.cursor.type).get_address_space() == THREADGROUP]


def check_threadgroup_memory(kernel):
    total = 0
    for variable in threadgroup_variables(kernel):
        size = variable.cursor.type.get_size()
        if size < 0:
            text = f"{variable.name}: its size depends on a template argument, expected one that can be summed here"
            yield variable, "threadgroup memory", text
        total += max(size, 0)
    if total > THREADGROUP_BYTES:
        text = f"{kernel.name}: {total} bytes of threadgroup variables, expected at most {THREADGROUP_BYTES}"
        yield kernel, "threadgroup memory", text
