"""Where the C header and library lie, for what is compiled against them."""

import os

FOLDER = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """The folder of pagedrt.h: what a C or Cython compiler takes as -I."""
    return os.path.join(FOLDER, "include")


def get_library_dir() -> str:
    """The folder of libpagedrt: what a linker takes as -L, beside -lpagedrt, and as -Wl,-rpath."""
    return FOLDER
