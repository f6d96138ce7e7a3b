import subprocess
import sys

import pagedrt
from pagedrt import accuracy, selftest


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-P", "-m", "pagedrt", *arguments], capture_output=True, text=True, timeout=300
    )


def test_info():
    result = run("info")
    assert result.returncode == 0
    for word in ["pagedrt", "numpy", "family metal", "family cpu", "family simulator", "max_buffer_length", "head_dim"]:
        assert word in result.stdout
    assert result.stdout.count("does not work here: ") == 3 - len(pagedrt.devices())


def test_selftest():
    result = run("selftest")
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    assert sum(line.endswith("  ok") for line in lines) == (15 + 8) * 3
    assert lines[-1] == f"69 of 69 kernel cases right on {pagedrt.devices()[0]}"


def test_selftest_tells_wrong_from_right(monkeypatch, capsys):
    """A selftest that cannot fail proves nothing: shift the reference by two bounds."""
    reference = selftest.reference

    def shifted(*arguments):
        expected, bound, largest = reference(*arguments)
        return expected + 2 * bound, bound, largest

    monkeypatch.setattr(selftest, "reference", shifted)
    monkeypatch.setattr(selftest, "cases", lambda dtypes: [selftest.Case("one-pass", 8, "float32", 20)])
    assert selftest.run("cpu") == 1
    output = capsys.readouterr().out
    assert "WRONG values" in output
    assert "0 of 1 kernel cases right" in output


def test_bad_family():
    result = run("selftest", "--family", "gpu")
    assert result.returncode == 2
    assert "family: got 'gpu'" in result.stderr
    assert "Traceback" not in result.stderr


def test_usage():
    assert run().returncode == 2
    version = run("--version")
    assert version.stdout.strip() == pagedrt.__version__


def test_accuracy_report_tells_broken_bounds(monkeypatch, capsys):
    """The report on a few cases, as it is and with the reference shifted by two bounds."""
    monkeypatch.setattr(accuracy, "cases", lambda dtypes: [selftest.Case("one-pass", 8, dtypes[0], 20)])
    assert accuracy.run("cpu") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "every bound holds"
    reference = selftest.reference

    def shifted(*arguments):
        expected, bound, largest = reference(*arguments)
        return expected + 2 * bound, bound, largest

    monkeypatch.setattr(accuracy, "reference", shifted)
    assert accuracy.run("cpu") == 1
    assert "15 bounds are broken" in capsys.readouterr().out
