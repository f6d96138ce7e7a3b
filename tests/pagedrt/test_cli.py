import json
import signal
import subprocess
import sys

import pytest

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
    assert sum(line.endswith("  ok") for line in lines) == (15 + 8 + 2 * 3) * 3
    assert lines[-1] == f"87 of 87 kernel cases right on {pagedrt.devices()[0]}"


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


@pytest.mark.parametrize("inputs", selftest.INPUTS[1:])
def test_selftest_tells_special_values(monkeypatch, capsys, inputs):
    """With the reference of normal inputs those of each special kind are wrong."""
    monkeypatch.setattr(selftest, "cases", lambda dtypes: [selftest.Case("two-pass", 64, "float32", 1100, inputs)])
    assert selftest.run("cpu") == 0
    make_arrays = selftest.make_arrays
    normal = make_arrays(pagedrt.Device("cpu"), selftest.Case("two-pass", 64, "float32", 1100))
    reference = selftest.reference
    monkeypatch.setattr(selftest, "reference", lambda arrays, scale, case: reference(normal, scale, case))
    assert selftest.run("cpu") == 1
    assert "WRONG values" in capsys.readouterr().out


@pytest.mark.parametrize(("kind", "options"), [("decode", []), ("micro", ["--micro"])])
def test_bench(tmp_path, kind, options):
    """No figure is judged: that each row is there, and is a number."""
    path = tmp_path / "bench.json"
    result = run("bench", *options, "--seconds", "0", "--json", str(path))
    assert result.returncode == 0, result.stderr
    report = json.loads(path.read_text())
    assert (report["schema"], report["kind"]) == ("pagedrt-bench/2", kind)
    assert report["device"]["family"] == pagedrt.devices()[0]
    if kind == "decode":
        assert len(report["rows"]) == 4 * 3 * 3
        for row in report["rows"]:
            assert min(row["waited_seconds"], row["batched_seconds"], row["device_seconds"]) > 0
    else:
        assert {row["name"] for row in report["rows"]} >= {"read", "encode", "dispatch in a command buffer"}
        assert all(row["value"] > 0 for row in report["rows"] if row["name"] == "read")
        assert "do not apply" in result.stdout
    assert str(path) in result.stdout


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--seconds", "-1"], 2, "--seconds"),
        (["--family", "gpu"], 2, "family: got 'gpu'"),
        (["--json", "/"], 1, "'/'"),
        (["--json", ""], 1, "No such file"),
    ],
)
def test_bench_says_what_is_wrong(options, code, message):
    result = run("bench", "--seconds", "0", *options)
    assert result.returncode == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def hear_interrupts():
    """A job in the background is born deaf to them, and so are its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted():
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "pagedrt", "selftest", "--family", "simulator"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "python -m pagedrt: interrupted\n")


@pytest.mark.parametrize("path", ["", "no/such/folder/report.json", "."])
def test_a_report_that_cannot_be_written(tmp_path, path):
    """The message names the file that was asked for, and nothing is left behind."""
    result = subprocess.run(
        [sys.executable, "-P", "-m", "pagedrt", "selftest", "--report", path],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert result.returncode == 1
    assert result.stderr.endswith(f": '{path}'\n")
    assert list(tmp_path.iterdir()) == []


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
    monkeypatch.setattr(accuracy, "instances", lambda dtypes: [selftest.Case("one-pass", 8, dtypes[0], 20)])
    assert accuracy.run("cpu") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "every bound holds"
    reference = selftest.reference

    def shifted(*arguments):
        expected, bound, largest = reference(*arguments)
        return expected + 2 * bound, bound, largest

    monkeypatch.setattr(accuracy, "reference", shifted)
    assert accuracy.run("cpu") == 1
    assert "15 bounds are broken" in capsys.readouterr().out
