"""Where pagedrt says its header and library are, they are."""

from pathlib import Path

import pagedrt


def test_include_holds_the_header():
    folder = pagedrt.get_include()
    assert isinstance(folder, str)
    assert Path(folder).is_absolute()
    assert (Path(folder) / "pagedrt.h").is_file()


def test_library_dir_holds_the_library():
    folder = pagedrt.get_library_dir()
    assert isinstance(folder, str)
    assert Path(folder).is_absolute()
    assert [path for path in Path(folder).glob("libpagedrt.*") if path.suffix in (".so", ".dylib")]
