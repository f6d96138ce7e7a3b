"""The facts about Apple's headers: metal_api.json, and what it lacks."""

import json
import re
from pathlib import Path

FACTS = json.loads((Path(__file__).parent / "metal_api.json").read_text())
OLDEST_MACOS = (14, 0)

# What the facts do not hold, with the header that it was read in. Apple's libobjc headers are in the package ziglang.
STATED_METHODS = {
    ("NSObject", "-dealloc"): ({"returns": "void", "args": [], "encoding": "v@:", "owned": False}, "objc/NSObject.h"),
    ("NSObject", "+class"): ({"returns": "Class", "args": [], "encoding": "#@:", "owned": False}, "objc/NSObject.h"),
}
STATED_TYPES = {
    "NSInteger": ("long", "objc/NSObjCRuntime.h"),
    "NSUInteger": ("unsigned long", "objc/NSObjCRuntime.h"),
    "NSTimeInterval": ("double", "Foundation/NSDate.h"),
    "CFTimeInterval": ("double", "CoreFoundation/CFDate.h"),
    "MTLAutoreleasedComputePipelineReflection": ("MTLComputePipelineReflection *", "Metal/MTLDevice.h"),
    "NSErrorDomain": ("NSString *", "Foundation/NSError.h"),
    "NSErrorUserInfoKey": ("NSString *", "Foundation/NSError.h"),
}
STATED_CONSTANTS = {"NSLocalizedDescriptionKey": ("const NSErrorUserInfoKey", "Foundation/NSError.h")}
# Called by what clang makes of messages; the first macOS that has them.
STATED_RUNTIME_FUNCTIONS = {
    "objc_msgSend": ((10, 0), "objc/message.h"),
    "objc_alloc": ((10, 9), "objc-internal.h of objc4"),
    "objc_alloc_init": ((10, 14), "objc-internal.h of objc4"),
    "objc_release": ((10, 7), "objc-internal.h of objc4"),
    "objc_retain": ((10, 7), "objc-internal.h of objc4"),
}
# No part of Apple's API, so the runtime may not name them.
OWN_CLASSES = {"NSConstantString": 'the layout of @"..." that GCC is told of'}


def release(text):
    """A release of macOS as numbers; one that is not given is older than all that matter."""
    return tuple(int(part) for part in text.split(".")) if text else (10, 0)


def normal(spelling):
    """A type without what changes nothing at run time: nullability, generics, instancetype; a block is a pointer."""
    if "(^" in spelling:
        return "void *"
    spelling = re.sub(r"\b_*(nullable|nonnull|null_unspecified|oneway)\b", "", spelling, flags=re.IGNORECASE)
    spelling = re.sub(r"^(const )?(KeyType|ObjectType)(<\w+>)?", r"\1id", spelling)
    spelling = re.sub(r"\b(NSArray|NSDictionary)<.*> ?\*", r"\1 *", spelling)
    spelling = re.sub(r"\binstancetype\b", "id", spelling).replace("[]", "*")
    return " ".join(spelling.replace("*", " * ").split()).replace("* *", "**")


def lineage(owner):
    """A class or protocol and all that it inherits or adopts; every one of Apple's ends at NSObject."""
    found, waiting = [], [owner]
    while waiting:
        name = waiting.pop(0)
        if name not in found and name in FACTS["owners"]:
            found.append(name)
            waiting += FACTS["owners"][name]["adopts"]
    return [*found, *(["NSObject"] if found and "NSObject" not in found else [])]


def method(owner, name):
    """The fact about a method, by its sign and selector, or None."""
    for one in lineage(owner):
        fact = FACTS["owners"][one]["members"].get(name) or STATED_METHODS.get((one, name), (None,))[0]
        if fact is not None:
            return fact
    return None


def enumerator(name):
    """The value of an enum constant and the release that brought it, or None."""
    for enum in FACTS["enums"].values():
        if name in enum["values"]:
            value, macos = enum["values"][name]
            return value, max(release(macos), release(enum["macos"]))
    return None


def selectors():
    """All that the facts know, of any class."""
    known = {name[1:] for owner in FACTS["owners"].values() for name in owner["members"]}
    return known | {name[1:] for _, name in STATED_METHODS}
