"""What a call's arguments must be, and the message for each that is not.

The compiled checks of arguments.pxd decide; these functions run where they refuse, and name the argument, what came
and what was expected. Both state the same conditions, which tests hold them to.
"""

import math
import operator
import os

import numpy as np

from pagedrt.errors import InvalidInputError
from pagedrt.heuristics import Choice

MAX_HEAD_DIM = 512  # shaders/instances.h
MAX_TOKENS = 2**31 - 1  # shaders/instances.h
MAX_COUNT = 2**32 - 1  # counts are uint32 in the C ABI
FLOATS = ("float32", "float16", "bfloat16")


def refuse(argument, got, expected):
    raise InvalidInputError(f"{argument}: got {got}, expected {expected}")


# --- numbers ---


def count(argument, value, most=MAX_COUNT):
    """The int of a positive integer that is at most `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        refuse(argument, f"{value!r}", "an integer")
    if not 1 <= number <= most:
        refuse(argument, number, f"1 to {most}")
    return number


def scale(value):
    """The float of a scale, judged as the float32 that kernels use."""
    try:
        number = math.ldexp(value, 0)  # float(), but not of text
    except (TypeError, ValueError, OverflowError):
        refuse("scale", repr(value), "a number")
    with np.errstate(over="ignore", under="ignore"):
        rounded = float(np.float32(number))
    if not math.isfinite(rounded) or rounded <= 0:
        refuse("scale", f"{value!r}, in float32 {rounded}", "a finite number above 0")
    return rounded


def heads(query_heads, kv_heads, head_dim):
    """Of a geometry whose counts are positive."""
    if query_heads % kv_heads:
        refuse("query_heads", query_heads, f"a multiple of the {kv_heads} KV heads")
    if head_dim > MAX_HEAD_DIM:
        refuse("head_dim", head_dim, f"1 to {MAX_HEAD_DIM}")


def scratch_bytes(query_heads, blocks, head_dim, limit):
    """A plan's partials must fit the device."""
    nbytes = query_heads * blocks * head_dim * 4
    if nbytes > limit:
        refuse(
            "query_heads",
            f"{query_heads}, whose partials over {blocks} blocks of head_dim {head_dim} take {nbytes} bytes",
            f"at most the device's {limit} bytes",
        )


def splits(value, max_context_tokens):
    """The list of (context_tokens, Choice) of a plan; the runtime checks the rest."""
    expected = "(context_tokens, pagedrt.heuristics.Choice) pairs"
    try:
        pairs = [(last, Choice(*choice)) for last, choice in value]
    except (TypeError, ValueError):
        refuse("splits", repr(value), expected)
    for index, (last, choice) in enumerate(pairs):
        for name, number in (("context_tokens", last), *zip(choice._fields[1:], choice[1:], strict=True)):
            if not isinstance(number, int) or not 0 <= number <= MAX_COUNT:
                refuse(f"splits[{index}]", f"{name} {number!r}", f"an integer from 0 to {MAX_COUNT}")
        if choice.path != ("two_pass" if choice.blocks else "one_pass"):
            refuse(f"splits[{index}]", repr(choice), "path one_pass with 0 blocks, or two_pass with 1 or more")
    if not pairs or pairs[-1][0] != max_context_tokens:
        refuse("splits", repr(pairs), f"a last pair for max_context_tokens {max_context_tokens}")
    return pairs


# --- files ---


def file_path(argument, value):
    """The str of a path in UTF-8; the runtime checks what lies there."""
    expected = "the path of a file, a str or os.PathLike"
    try:
        path = os.fspath(value)
    except TypeError:
        refuse(argument, repr(value), expected)
    if not isinstance(path, str) or not path or "\0" in path:
        refuse(argument, repr(value), expected)
    try:
        path.encode()
    except UnicodeEncodeError:
        refuse(argument, repr(value), "a path in UTF-8")
    return path


# --- memory ---


def shape(value, max_dimensions):
    """The tuple of ints of an array's shape."""
    try:
        extents = (operator.index(value),)
    except TypeError:
        try:
            extents = tuple(operator.index(extent) for extent in value)
        except TypeError:
            refuse("shape", repr(value), "an integer or a sequence of integers")
    if any(extent < 0 for extent in extents):
        refuse("shape", extents, "no negative dimension")
    if len(extents) > max_dimensions:
        refuse("shape", f"{len(extents)} dimensions", f"at most {max_dimensions}")
    return extents


def array_bytes(extents, dtype, limit):
    """Bytes of an array, which the device must allow. NumPy counts empty dimensions as one where it limits sizes."""
    bound = dtype.itemsize * math.prod(max(extent, 1) for extent in extents)
    if bound > limit:
        refuse("shape", f"{extents} of {dtype}, {bound} bytes", f"at most the device's {limit} bytes")
    return 0 if 0 in extents else bound


def array(a, copy):
    """The NumPy array of an array-like; copy=False shares its memory."""
    try:
        made = np.asarray(a) if copy is not False else np.asarray(a, copy=False)
    except ValueError as error:
        raise InvalidInputError(f"a: got {type(a).__name__}, expected an array: {error}") from None
    if made.dtype.hasobject:
        refuse("a", f"dtype {made.dtype}", "one without Python objects")
    return made


def same_device(device, thing, kind, argument):
    """A stream or scratch must be one, and of the device."""
    if not isinstance(thing, kind):
        refuse(argument, type(thing).__name__, f"a pagedrt.{kind.__name__} or None")
    if thing.device is not device:
        refuse(argument, f"one of another device, {thing.device!r}", f"one of {device!r}")


# --- arrays of a call ---


def check_array(argument, array, dtype, layout):
    """layout names the dimensions; dtype is a name."""
    if not isinstance(array, np.ndarray):
        refuse(argument, type(array).__name__, "a NumPy array")
    if array.ndim != len(layout):
        refuse(argument, f"{array.ndim} dimensions, {array.shape}", f"[{', '.join(layout)}]")
    if array.dtype.name != dtype:
        refuse(argument, f"dtype {array.dtype.name}", dtype)
    if not array.dtype.isnative:
        refuse(argument, f"dtype {array.dtype.str}", "native byte order")
    if not array.flags.c_contiguous:
        refuse(argument, f"strides {array.strides} for shape {array.shape}", "a C-contiguous array")
    if not array.flags.aligned:
        refuse(argument, f"data at address {array.ctypes.data}", f"alignment to {array.dtype.alignment} bytes")


def check_shape(argument, array, shape, layout):
    if array.shape != shape:
        named = ", ".join(
            f"{name} {extent}" if name != "1" else "1" for name, extent in zip(layout, shape, strict=True)
        )
        refuse(argument, f"shape {array.shape}", f"{shape}: [{named}]")


QUERY_LAYOUT = ("1", "query_heads", "1", "head_dim")
PAGE_LAYOUT = ("kv_heads", "page_capacity", "page_size", "head_dim")


def check_query_heads(queries, kv_heads):
    """The dimensions that queries has a say in, in a call without a plan."""
    one, query_heads, token, head_dim = queries.shape
    if one != 1 or token != 1:
        refuse("queries", f"shape {queries.shape}", "[1, query_heads, 1, head_dim]: one query token of one sequence")
    if not 1 <= query_heads <= MAX_COUNT:
        refuse("queries", f"{query_heads} query heads, shape {queries.shape}", "at least 1")
    if not 1 <= head_dim <= MAX_HEAD_DIM:
        refuse("queries", f"head_dim {head_dim}, shape {queries.shape}", f"1 to {MAX_HEAD_DIM}")
    if not 1 <= kv_heads <= MAX_COUNT:
        refuse("key_pages", f"{kv_heads} KV heads", "at least 1")
    if query_heads % kv_heads:
        refuse("queries", f"{query_heads} query heads", f"a multiple of key_pages' {kv_heads} KV heads")


def check_pages(key_pages, value_pages, kv_heads, page_size, head_dim):
    capacity = key_pages.shape[1]
    if key_pages.shape[2] != page_size:
        refuse("page_size", page_size, f"key_pages' {key_pages.shape[2]}, its shape being {key_pages.shape}")
    check_shape("key_pages", key_pages, (kv_heads, capacity, page_size, head_dim), PAGE_LAYOUT)
    if not 1 <= capacity <= MAX_COUNT:
        refuse("key_pages", f"page_capacity {capacity}, shape {key_pages.shape}", f"1 to {MAX_COUNT}")
    check_shape("value_pages", value_pages, key_pages.shape, PAGE_LAYOUT)


def check_table(page_table, dependency, page_size, context_tokens):
    check_array("page_table", page_table, "uint32", ("pages",))
    pages = -(-context_tokens // page_size)
    if len(page_table) < pages:
        refuse(
            "page_table",
            f"{len(page_table)} pages",
            f"at least {pages} for context_tokens {context_tokens} at page_size {page_size}",
        )
    check_array("dependency", dependency, "uint32", ("1",))
    if len(dependency) != 1:
        refuse("dependency", f"shape {dependency.shape}", "(1,): the number of valid tokens")


def check_out(out, queries, inputs):
    check_array("out", out, queries.dtype.name, QUERY_LAYOUT)
    check_shape("out", out, queries.shape, QUERY_LAYOUT)
    if not out.flags.writeable:
        refuse("out", "a read-only array", "a writeable one")
    for argument, array in inputs.items():
        if np.may_share_memory(out, array):
            refuse("out", f"memory that overlaps {argument}", "memory of its own")


def check_call(
    queries, key_pages, value_pages, page_table, dependency, page_size, context_tokens, scale_, out, max_bytes
):
    """Raises for the first argument of paged_attention that does not fit; out may be None."""
    page_size = count("page_size", page_size)
    context_tokens = count("context_tokens", context_tokens, MAX_TOKENS)
    scale(scale_)
    if not isinstance(queries, np.ndarray):
        refuse("queries", type(queries).__name__, "a NumPy array")
    if queries.dtype.name not in FLOATS:
        refuse("queries", f"dtype {queries.dtype.name}", "float32, float16 or bfloat16")
    dtype = queries.dtype.name
    check_array("queries", queries, dtype, QUERY_LAYOUT)
    check_array("key_pages", key_pages, dtype, PAGE_LAYOUT)
    check_array("value_pages", value_pages, dtype, PAGE_LAYOUT)
    kv_heads = key_pages.shape[0]
    check_query_heads(queries, kv_heads)
    check_pages(key_pages, value_pages, kv_heads, page_size, queries.shape[3])
    if key_pages.nbytes > max_bytes:
        refuse("key_pages", f"{key_pages.nbytes} bytes", f"at most the device's {max_bytes} bytes")
    check_table(page_table, dependency, page_size, context_tokens)
    if out is not None:
        inputs = {
            "queries": queries,
            "key_pages": key_pages,
            "value_pages": value_pages,
            "page_table": page_table,
            "dependency": dependency,
        }
        check_out(out, queries, inputs)


def check_run(plan, queries, key_pages, value_pages, page_table, dependency, context_tokens, out):
    """Raises for the first argument of plan.run that does not fit the plan."""
    context_tokens = count("context_tokens", context_tokens, MAX_TOKENS)
    if context_tokens > plan.max_context_tokens:
        refuse("context_tokens", context_tokens, f"at most the plan's max_context_tokens {plan.max_context_tokens}")
    check_array("queries", queries, plan.dtype.name, QUERY_LAYOUT)
    check_shape("queries", queries, (1, plan.query_heads, 1, plan.head_dim), QUERY_LAYOUT)
    check_array("key_pages", key_pages, plan.dtype.name, PAGE_LAYOUT)
    check_array("value_pages", value_pages, plan.dtype.name, PAGE_LAYOUT)
    check_pages(key_pages, value_pages, plan.kv_heads, plan.page_size, plan.head_dim)
    check_table(page_table, dependency, plan.page_size, context_tokens)
    inputs = {
        "queries": queries,
        "key_pages": key_pages,
        "value_pages": value_pages,
        "page_table": page_table,
        "dependency": dependency,
    }
    check_out(out, queries, inputs)
