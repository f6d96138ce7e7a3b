"""The report file: its schema, and that it says what happened, also where the run does not reach its end."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import pagedrt
from pagedrt import report, selftest
from pagedrt.__main__ import main

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/report.schema.json").read_text())
CASES = [selftest.Case("one-pass", 8, "float32", 20), selftest.Case("two-pass", 64, "float16", 1100)]


def written(path):
    data = json.loads(path.read_text())
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(data, SCHEMA, jsonschema.Draft202012Validator)
    return data


def run(monkeypatch, path, *options):
    monkeypatch.setattr(sys, "argv", ["pagedrt", "selftest", "--report", str(path), *options])
    return main()


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(selftest, "cases", lambda dtypes: CASES)


def test_a_whole_run(tmp_path, few, monkeypatch):
    monkeypatch.setenv("MTL_DEBUG_LAYER", "1")
    monkeypatch.setenv("PAGEDRT_BUILD", "somebody's folder")
    path = tmp_path / "report.json"
    assert run(monkeypatch, path) == 0
    data = written(path)
    assert data["pagedrt_report"] == SCHEMA["properties"]["pagedrt_report"]["const"] == report.VERSION
    assert (data["complete"], data["passed"], data["error"], data["running"]) == (True, True, None, None)
    assert data["versions"]["pagedrt"] == pagedrt.__version__
    assert data["system"]["settings"]["MTL_DEBUG_LAYER"] == "1"
    assert "somebody" not in path.read_text()
    assert [family for family, state in data["families"].items() if state == "works"] == pagedrt.devices()
    with pagedrt.Device() as device:
        assert data["device"] == device.info
        assert set(data["stats"]) == set(device.stats)
    assert [tuple(row[field] for field in selftest.Case._fields) for row in data["kernels"]] == CASES
    for row in data["kernels"]:
        assert row["result"] == "ok"
        assert 0 <= row["error_over_bound"] <= 1
        assert 0 < row["seconds"]["gpu"] < row["seconds"]["whole"]
    assert {one["memory"]: one["use"] for one in data["foreign_memory"]}["whole memory pages"] == "in place"
    assert list(tmp_path.iterdir()) == [path]


def test_a_copy_is_told(tmp_path, few, monkeypatch):
    """A call on ordinary arrays writes an output that fills no memory page: it goes through a copy."""
    assert run(monkeypatch, tmp_path / "report.json") == 0
    uses = {one["memory"]: one["use"] for one in written(tmp_path / "report.json")["foreign_memory"]}
    copied = uses["a call's six ordinary arrays"]
    assert copied.endswith(" copied")
    assert int(copied.split()[0]) >= 1


def test_wrong_values_are_told(tmp_path, few, monkeypatch):
    reference = selftest.reference

    def shifted(arrays, scale, case):
        expected, bound, largest = reference(arrays, scale, case)
        return (np.full_like(expected, np.inf) if case.head_dim == 8 else expected + 3 * bound), bound, largest

    monkeypatch.setattr(selftest, "reference", shifted)
    assert run(monkeypatch, tmp_path / "report.json") == 1
    data = written(tmp_path / "report.json")
    assert (data["complete"], data["passed"]) == (True, False)
    infinite, wrong = data["kernels"]
    assert (infinite["result"], infinite["error_over_bound"]) == ("WRONG values", None)
    assert wrong["error_over_bound"] > 1
    assert "seconds" not in wrong


def test_a_device_that_does_not_open(tmp_path, monkeypatch, capsys):
    family = next((one for one in ("metal", "simulator") if one not in pagedrt.devices()), None)
    if family is None:
        pytest.fail("every family works here, expected one that does not")
    assert run(monkeypatch, tmp_path / "report.json", "--family", family) == 2
    data = written(tmp_path / "report.json")
    assert data["error"].startswith("DeviceError: ")
    assert (data["complete"], data["passed"], data["running"]) == (False, False, "opening the device")
    assert data["families"][family] == data["error"].removeprefix("DeviceError: ")
    assert data["families"][family] in capsys.readouterr().err


def test_a_process_that_dies_leaves_what_came_before(tmp_path):
    """As a driver that aborts would end it, in the second kernel."""
    path = tmp_path / "report.json"
    code = f"""
import os
from pagedrt import report, selftest
selftest.cases = lambda dtypes: [selftest.Case("one-pass", head_dim, "float32", 20) for head_dim in (8, 9)]
check = selftest.check
selftest.check = lambda device, case, arrays: os.abort() if case.head_dim == 9 else check(device, case, arrays)
selftest.run(None, report.Report({str(path)!r}))
"""
    assert subprocess.run([sys.executable, "-P", "-c", code], capture_output=True).returncode < 0
    data = written(path)
    assert data["running"] == "one-pass 9 float32 20 normal"
    assert [row["head_dim"] for row in data["kernels"]] == [8]
    assert not data["complete"]


def test_a_file_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    assert run(monkeypatch, tmp_path / "missing" / "report.json") == 1
    assert "report.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        {"pagedrt_report": 2},
        {"surprise": 1},
        {"complete": "yes"},
        {"kernels": [{"path": "one-pass", "head_dim": 8}]},
        {"device": {"family": "metal"}},
    ],
)
def test_the_schema_rejects(tmp_path, change):
    path = tmp_path / "report.json"
    data = report.Report(path).data
    written(path)
    path.write_text(json.dumps(data | change))
    with pytest.raises(jsonschema.ValidationError):
        written(path)
