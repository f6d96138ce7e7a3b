"""A copy of the installed package in which the kernels of one level are compiled under other assumptions."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pagedrt

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from mutation.rebuild import link  # noqa: E402

SHADERS = ("sdpa_one_pass", "sdpa_partial", "sdpa_reduce")
LIBRARIES = {"baseline": "native/libpagedrt.so", "simulator": "shaders/libpagedrt_simulator.so"}
NAMES_FILE = ("-o", "-MF", "-MQ", "-c")  # with the word that follows
DROPPED = ("-MD", "-fsanitize=thread")  # the latter shows accesses to the simulator, which is not what is tested here


def build_folder():
    build = os.environ.get("PAGEDRT_BUILD")
    assert build, "PAGEDRT_BUILD: not set, expected the build folder"
    return Path(build)


def clang():
    """The clang in the package ziglang, without the sanitizer and the CPU that zig would add."""
    import ziglang

    return [str(Path(ziglang.__file__).parent / "zig"), "c++", "-fno-sanitize=all", "-mcpu=baseline"]


def options_of(build, level, shader):
    """The build's object and options; softmetal's headers come after the system's, as there is a math.h in both."""
    entries = json.loads((build / "compile_commands.json").read_text())
    (entry,) = [one for one in entries if one["output"].startswith(f"shaders/lib{shader}_{level}.a.p/")]
    options, skip = [], False
    for word in shlex.split(entry["command"])[1:]:
        if not skip and word not in (*NAMES_FILE, *DROPPED):
            options.append(re.sub("^-I(.*/msl)$", r"-idirafter\1", word))
        skip = not skip and word in NAMES_FILE
    return entry["output"], options


def compile_kernels(build, level, shader, compiler, flags, shaders, made):
    """Starts the compiler; the source comes by standard input, so that its headers are found here first."""
    target, options = options_of(build, level, shader)
    few = ["-USHADER", '-DSHADER="few_instances.metal"', f'-DLIBRARY="{shader}.metal"']
    command = [*compiler, "-iquote", str(HERE), f"-I{shaders}", *options, *few, *flags]
    with (ROOT / "native/softmetal/msl/compile.cpp").open() as source:
        process = subprocess.Popen(
            [*command, "-x", "c++", "-c", "-", "-o", str(made)], stdin=source, cwd=build, stderr=subprocess.PIPE
        )
    return target, process


def swap(folder, level, compiler, flags, libraries=SHADERS, shaders=ROOT / "shaders"):
    """Leaves in `folder` a package whose kernels of a level are made by a compiler with these flags more."""
    build, site = build_folder(), folder / "pagedrt"
    shutil.copytree(Path(pagedrt.__file__).parent, site, ignore=shutil.ignore_patterns("__pycache__"))
    running = {}
    for shader in libraries:
        made = folder / f"{shader}.o"
        running[made] = compile_kernels(build, level, shader, compiler, flags, shaders, made)
    for _, process in running.values():
        errors = process.communicate()[1]
        assert process.returncode == 0, errors.decode()
    objects = {target: made for made, (target, _) in running.items()}
    assert link(build, LIBRARIES[level], objects, site) == len(libraries)
