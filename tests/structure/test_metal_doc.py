"""docs/metal.md speaks of all that the runtime sends to Metal and of the very builtins that the MSL lint declares."""

import re

from repository import ROOT, code, files

TEXT = (ROOT / "docs/metal.md").read_text()
NAMED = set(re.findall(r"`([^`\n]+)`", TEXT))
# Foundation's, and what manual retain and release sends.
PLAIN = {"alloc", "init", "retain", "release", "drain", "UTF8String", "initWithUTF8String:"}
HEADERS = ROOT / "tests/msl/include"


def selectors(text):
    """Of the messages in Objective-C text, innermost first."""
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    text = re.sub(r"(?<=[\w\]])\[[^\[\]]*\]", "", text)  # subscripts
    found, message = set(), re.compile(r"\[([A-Za-z_][\w.>-]*)\s+([A-Za-z]\w*(?::[^\[\]]*)?)\]")
    while match := message.search(text):
        parts = re.sub(r"\([^()]*\)", "", match.group(2))
        found.add("".join(re.findall(r"\w+:", parts)) or parts)
        text = text[: match.start()] + "x" + text[match.end() :]
    return found


def test_every_selector_is_spoken_of():
    sent = set().union(*(selectors(code(path)) for path in files("native/runtime", ".m"))) - PLAIN
    assert {"commit", "setBuffer:offset:atIndex:", "newBufferWithBytesNoCopy:length:options:deallocator:"} <= sent
    assert sorted(sent - NAMED) == []


def test_the_builtins_are_those_of_the_lint():
    section = TEXT[TEXT.index("Builtins that the lint knows") : TEXT.index("What the lint cannot see")]
    named = set(re.findall(r"`(\w+)`", section))
    declared = set()
    for header in ("math.h", "simdgroup.h", "atomics.h"):
        text = code(HEADERS / header)
        declared |= set(re.findall(r"^\s*(?!return)\w+ (\w+)\(.*\)\s*(?:ending)?;", text, re.MULTILINE))
    assert declared | {"as_type"} == named
