"""Builds the arm64 macOS wheel of pagedrt on another system, without Apple's SDK, and prints its path.

The compiler is the package ziglang: clang with Darwin's libc and Objective-C headers. Foundation and Metal are declared
by software Metal's headers and linked by the stubs beside this file; NumPy's headers come from its macOS wheel, and
CPython's are the running interpreter's with a pyconfig.h for Darwin.

usage: python tools/macos/wheel.py BUILD_FOLDER WHEEL_FOLDER
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MINIMUM_MACOS = "14.0"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SYSCONFIG = "_sysconfigdata_pagedrt_macos"


class MacosBuildError(Exception):
    """Something that the build needs is missing, or it failed."""


def zig():
    """The path of the compiler."""
    try:
        import ziglang
    except ImportError:
        raise MacosBuildError("the package ziglang is missing; run `make macos`, or install it with pip") from None
    return Path(ziglang.__file__).parent / "zig"


def lay_python(folder):
    """Headers, and a module that says in place of this machine's what sysconfig says on a Mac.

    Meson's python.build_config would be the way, but Meson refuses it for Darwin.
    """
    headers = folder / "include" / f"python{PYTHON}"
    shutil.copytree(sysconfig.get_path("include"), headers, dirs_exist_ok=True)
    shutil.copyfile(HERE / "pyconfig.h", headers / "pyconfig.h")
    soabi = f"cpython-{PYTHON.replace('.', '')}-darwin"
    variables = {
        "EXT_SUFFIX": f".{soabi}.so",
        "LDVERSION": PYTHON,
        "LIBPYTHON": "",
        "MACOSX_DEPLOYMENT_TARGET": MINIMUM_MACOS,
        "Py_GIL_DISABLED": 0,
        "SOABI": soabi,
        "installed_base": str(folder),
        "installed_platbase": str(folder),
    }
    (folder / f"{SYSCONFIG}.py").write_text(f"build_time_vars = {variables!r}\n")


def lay_numpy(folder):
    """The headers of the NumPy that is installed here, from its macOS wheel."""
    import numpy

    headers = folder / numpy.__version__
    if not headers.exists():
        wheels, unpacked = folder / "wheels", folder / "unpacked"
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps"]
        command += ["--only-binary=:all:", f"--platform=macosx_{MINIMUM_MACOS.replace('.', '_')}_arm64"]
        command += [f"--python-version={PYTHON}", "-d", str(wheels), f"numpy=={numpy.__version__}"]
        if subprocess.run(command, check=False).returncode != 0:
            raise MacosBuildError(f"pip could not fetch the macOS wheel of NumPy {numpy.__version__}, for its headers")
        with zipfile.ZipFile(next(wheels.glob(f"numpy-{numpy.__version__}-*.whl"))) as wheel:
            wheel.extractall(unpacked, [name for name in wheel.namelist() if name.startswith("numpy/_core/include/")])
        (unpacked / "numpy/_core/include").rename(headers)
        shutil.rmtree(unpacked)
        shutil.rmtree(wheels)
    return headers


def cross_file(compiler, numpy_include):
    """What Meson is told of the machine and of the tools."""
    return f"""[binaries]
c = '{HERE / "zig.sh"}'
objc = '{HERE / "zig.sh"}'
ar = ['{compiler}', 'ar']

[built-in options]
objc_args = ['-I{ROOT / "native/softmetal/include"}']

[properties]
numpy_include = '{numpy_include}'
# The linker has written the rpath: see zig.sh.
install_rpath = ''

[host_machine]
system = 'darwin'
cpu_family = 'aarch64'
cpu = 'arm64'
endian = 'little'
"""


def environment(folder, compiler):
    """This process's, with what makes sysconfig, meson-python and zig work for a Mac."""
    ours = {name: value for name, value in os.environ.items() if name not in ("CC", "CXX", "OBJC")}
    return ours | {
        "ZIG": str(compiler),
        "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
        "MACOSX_DEPLOYMENT_TARGET": MINIMUM_MACOS,
        "PYTHONPATH": str(folder / "python"),
        "_PYTHON_HOST_PLATFORM": f"macosx-{MINIMUM_MACOS}-arm64",
        "_PYTHON_SYSCONFIGDATA_NAME": SYSCONFIG,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def build(folder, wheels):
    """Builds in one folder, puts the wheel into the other and returns its path."""
    package, tools, log = folder / "package", folder / "macos.ini", folder / "build.log"
    compiler = zig()
    lay_python(folder / "python")
    wanted = cross_file(compiler, lay_numpy(folder / "numpy"))
    if not tools.exists() or tools.read_text() != wanted:  # a configured folder keeps the compilers it was given
        shutil.rmtree(package, ignore_errors=True)
        tools.write_text(wanted)
    settings = {"build-dir": str(package), "setup-args": [f"--cross-file={tools}", "-Dwerror=true"]}
    hook = f"import mesonpy; print(mesonpy.build_wheel({str(wheels)!r}, {settings!r}))"
    wheels.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        command = [sys.executable, "-c", hook]
        done = subprocess.run(command, cwd=ROOT, env=environment(folder, compiler), stdout=out, stderr=out, check=False)
    lines = log.read_text().splitlines()
    if done.returncode != 0:
        raise MacosBuildError("\n".join(["the build failed:", *lines[-40:], f"the whole of it: {log}"]))
    return wheels / lines[-1]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip().splitlines()[-1])
    folder, wheels = (Path(argument).resolve() for argument in sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        print(build(folder, wheels))
    except MacosBuildError as error:
        sys.exit(f"pagedrt: {error}")


if __name__ == "__main__":
    main()
