"""Embeds the shader libraries as C strings: what a run-time Metal compile is given.

usage: embed.py OUTPUT.c LIBRARY.metal...

Metal compiles source text without a folder to include from, so every "header" is put in place of
its #include, once; <headers> stay. #line keeps a compiler's messages readable.
"""

import re
import sys
from pathlib import Path

INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')


def flatten(path: Path, seen: set[Path]) -> list[str]:
    seen.add(path.resolve())
    lines = [f'#line 1 "{path.name}"']
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if match is None:
            lines.append(line)
            continue
        header = path.parent / match.group(1)
        if not header.exists():
            header = Path(__file__).parent / match.group(1)
        if header.resolve() not in seen:
            lines += flatten(header, seen)
        lines.append(f'#line {number + 1} "{path.name}"')
    return lines


def c_string(text: str) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in text.splitlines())
    return "\n".join(f'  "{line}\\n"' for line in escaped)


def main(output: Path, libraries: list[Path]) -> None:
    parts = ["/* Made by shaders/embed.py. */", "#include <stddef.h>", "#include <string.h>", ""]
    for library in libraries:
        text = "\n".join(flatten(library, set()))
        parts += [f"const char pagedrt_source_{library.stem}[] =", c_string(text) + ";", ""]
    parts += [
        "const char *pagedrt_shader_source(const char *library);",
        "const char *pagedrt_shader_source(const char *library) {",
    ]
    parts += [
        f'  if (strcmp(library, "{library.stem}") == 0) return pagedrt_source_{library.stem};' for library in libraries
    ]
    parts += ["  return NULL;", "}", ""]
    output.write_text("\n".join(parts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
