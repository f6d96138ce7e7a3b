"""What make says of the machine it runs on: tools/toolchain.sh, with the commands it asks replaced."""

import os
import subprocess
import sys

import pytest
from repository import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Debian's packages")
NO_OBJECTIVE_C = 'case "$*" in *objective-c*) exit 1 ;; esac'
NEEDED = {
    "gcc": "exit 0",
    "valgrind": "exit 0",
    "uname": "echo Darwin",  # valgrind's header is asked for on Linux only
}


@pytest.fixture
def toolchain(tmp_path):
    """toolchain(python, name=script, ...): the script's exit code, output and errors, and what apt-get was told."""

    def run(python=sys.executable, **commands):
        log = tmp_path / "apt-get.log"
        for name, script in (NEEDED | {"apt_get": f'echo "$*" >>"{log}"'} | commands).items():
            command = tmp_path / name.replace("_", "-")
            command.write_text(f"#!/bin/sh\n{script}\n")
            command.chmod(0o755)
        environment = os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
        done = subprocess.run(
            ["sh", ROOT / "tools/toolchain.sh", python], capture_output=True, text=True, env=environment, timeout=60
        )
        return done.returncode, done.stdout, done.stderr, log.read_text() if log.exists() else ""

    return run


def test_all_is_there(toolchain):
    assert toolchain() == (0, "", "", "")


def test_root_installs_what_is_missing(toolchain):
    code, output, errors, asked = toolchain(gcc=NO_OBJECTIVE_C, id="echo 0")
    assert (code, output, errors) == (0, "pagedrt: installing gobjc\n", "")
    assert asked.splitlines()[0] == "update -qq"
    assert asked.splitlines()[1].split()[0] == "install"
    assert asked.split()[-1] == "gobjc"


def test_sudo_installs_where_it_may(toolchain):
    code, _, errors, asked = toolchain(gcc=NO_OBJECTIVE_C, id="echo 1000", sudo='[ "$1" = -n ] || exec "$@"')
    assert (code, errors) == (0, "")
    assert asked.split()[-1] == "gobjc"


def test_others_are_told_the_one_command(toolchain):
    code, _, errors, asked = toolchain(gcc=NO_OBJECTIVE_C, id="echo 1000", sudo="exit 1")
    assert (code, asked) == (1, "")
    assert errors.splitlines()[-1].strip() == "sudo apt-get update && sudo apt-get install -y gobjc"


def test_a_failed_install_fails(toolchain):
    code, _, _, _ = toolchain(gcc=NO_OBJECTIVE_C, id="echo 0", apt_get="exit 100")
    assert code != 0


def test_an_old_python_is_named(toolchain):
    code, output, errors, asked = toolchain(
        "python3.10", **{"python3.10": f'exec {sys.executable} -c "import sys; sys.version_info = (3, 10, 9); $2"'}
    )
    assert (code, output, asked) == (1, "", "")
    assert (
        errors == "pagedrt: python3.10 is older than Python 3.11; name a newer one, such as: make PYTHON=python3.12\n"
    )


def test_no_python(toolchain):
    code, _, errors, _ = toolchain("no-such-python", id="echo 1000", sudo="exit 1")
    assert code == 1
    assert errors.splitlines()[-1].endswith("install -y python3 python3-venv python3-dev")
