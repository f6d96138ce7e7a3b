"""One changed source, compiled and linked against everything else of a finished build: seconds, not minutes."""

import json
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
NINJA = Path(sys.executable).parent / "ninja"  # the machine need not have one
LIBRARIES = ("native/libpagedrt.so", "shaders/libpagedrt_simulator.so")
LEVELS = {"baseline", "avx2", "avx512", "avx512_bf16"}  # of the cpu family's kernels


class RebuildError(Exception):
    pass


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RebuildError(done.stderr[-3000:])
    return done.stdout


@cache
def compile_commands(build):
    entries = json.loads((build / "compile_commands.json").read_text())
    return {entry["output"]: shlex.split(entry["command"]) for entry in entries}


@cache
def sources_of(build):
    """object: the sources that it is made of."""
    found, current = {}, None
    for line in run([NINJA, "-t", "deps"], build).splitlines():
        if line.startswith(" "):
            found[current].add((build / line.strip()).resolve())
        elif line:
            current = line.split(":")[0]
            found[current] = set()
    return found


def objects_to_make(build, source, level):
    """Of the cpu family's kernels only those of one instruction set, which then is the only right one to run."""
    for target, sources in sources_of(build).items():
        command = compile_commands(build).get(target)
        if command is None or source not in sources or "tests/" in target:
            continue
        named = [a.split('"')[1] for a in command if a.startswith("-DINSTRUCTION_SET")]
        if named and named[0] in LEVELS and named[0] != level:
            continue
        yield target, command


def compile_changed(build, command, relative, overlay, target, made):
    """The same command, with the changed source in front of its original."""
    words, changed, skip = [], overlay / relative, False
    for word in command:
        if skip or word in ("-MD", "-o", "-MF", "-MQ"):
            skip = word in ("-o", "-MF", "-MQ")
            continue
        same = not word.startswith("-") and (build / word).resolve() == (ROOT / relative).resolve()
        words.append(str(changed) if same else word)
    output, used = made / target.replace("/", "_"), made / "used"
    folders = [f"-I{overlay / 'shaders'}", f"-I{ROOT / Path(relative).parent}"]
    run([words[0], *folders, *words[1:], "-o", str(output), "-MD", "-MF", str(used)], build)
    if str(changed).replace(" ", "\\ ") not in used.read_text():
        raise RebuildError(f"{target} was made of the unchanged {relative}")
    return output


def link(build, library, objects, folder):
    """objects: {object of the build: what stands for it}; a static library of one object is that object."""
    command = shlex.split(run([NINJA, "-t", "commands", "-s", library], build).strip().splitlines()[-1])
    archives = {target.split(".p/")[0]: made for target, made in objects.items() if ".a.p/" in target}
    replaced, words = 0, []
    for word in command:
        made = objects.get(word) or archives.get(word)
        replaced += made is not None
        words.append(str(made or word))
    if replaced:
        words[words.index("-o") + 1] = str(folder / Path(library).name)
        run(words, build)
    return replaced


def changed_objects(build, relative, text, folder, level):
    overlay, made = folder / "overlay", folder / "objects"
    made.mkdir(parents=True)
    room = "shaders" if relative.startswith("shaders/") else Path(relative).parent
    shutil.copytree(ROOT / room, overlay / room)  # headers find each other beside themselves
    (overlay / relative).write_text(text)
    return {
        target: compile_changed(build, command, relative, overlay, target, made)
        for target, command in objects_to_make(build, (ROOT / relative).resolve(), level)
    }


def rebuild_library(build, relative, text, folder):
    """Leaves in `folder` a libpagedrt in which the source `relative` reads `text`."""
    shutil.rmtree(folder, ignore_errors=True)
    objects = changed_objects(build, relative, text, folder, None)
    if link(build, LIBRARIES[0], objects, folder) < 1:
        raise RebuildError(f"{relative}: no part of {LIBRARIES[0]}")


def rebuild(build, package, relative, text, folder, level):
    """Leaves in folder/site/pagedrt a copy of the installed `package` in which the source `relative` reads `text`."""
    shutil.rmtree(folder, ignore_errors=True)
    site = folder / "site" / "pagedrt"
    shutil.copytree(package, site, ignore=shutil.ignore_patterns("__pycache__"))
    if relative.startswith("pagedrt/"):
        (folder / "site" / relative).write_text(text)
        return folder / "site"
    objects = changed_objects(build, relative, text, folder, level)
    if sum(link(build, library, objects, site) for library in LIBRARIES) < len(objects) or not objects:
        raise RebuildError(f"{relative}: not all of {sorted(objects)} are in {LIBRARIES}")
    return folder / "site"
