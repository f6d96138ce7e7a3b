"""Compiles consumers against the header and library that are installed, as their authors would."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pagedrt

HERE = Path(__file__).parent
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Werror"]


def compiler():
    return os.environ.get("CC", "cc")


def embedding_flags():
    library = pagedrt.get_library_dir()
    return [f"-I{pagedrt.get_include()}", f"-L{library}", "-lpagedrt", f"-Wl,-rpath,{library}"]


def build_program(folder):
    program = folder / "decode"
    source = str(HERE / "decode.c")
    subprocess.run([compiler(), *WARNINGS, source, *embedding_flags(), "-o", str(program)], check=True)
    return program


def build_module(folder):
    c_file = folder / "consumer.c"
    module = folder / f"consumer{sysconfig.get_config_var('EXT_SUFFIX')}"
    subprocess.run([sys.executable, "-m", "cython", str(HERE / "consumer.pyx"), "-o", str(c_file)], check=True)
    include = f"-I{sysconfig.get_path('include')}"
    undefined = ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    command = [compiler(), "-O1", "-fPIC", "-shared", include, str(c_file), *embedding_flags(), *undefined]
    subprocess.run([*command, "-o", str(module)], check=True)
