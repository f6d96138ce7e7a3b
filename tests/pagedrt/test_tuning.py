"""Tuning tables: found, loaded, refused, and what they change."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pagedrt
from helpers.cells import Cell
from helpers.device_arrays import Call
from pagedrt import heuristics, tuning
from pagedrt.heuristics import Choice

ROW = {"dtype": "float32", "head_dim": 64, "group_factor": 4, "kv_heads": 2, "context_tokens": 300}
FIRST = ROW | {"path": "two_pass", "blocks": 3, "heads": 2, "simdgroups": 1}
SECOND = ROW | {"context_tokens": 2000, "path": "one_pass", "blocks": 0, "heads": 4, "simdgroups": 1}
SHORT = Cell("float32", 64, 2, 4, 200, 16)  # one pass without a table
LONG = Cell("float32", 64, 2, 4, 1500, 16)  # two without
SPLITS = ((300, Choice("two_pass", 3, 2, 1)), (2000, Choice("one_pass", 0, 4, 1)))


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    """The user's configuration folder."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def info():
    with pagedrt.Device("cpu", tuning=False) as device:
        return device.info | {"cores": device.cores}


def write(path, info, *rows, **changed):
    path.parent.mkdir(parents=True, exist_ok=True)
    tuning.save(path, info, list(rows))
    if changed:
        path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    return path


def paths(device, cell):
    """By which path a plan and a call of the cell went; both must be right and the same."""
    call = Call(device, cell)
    before = device.stats
    with call.plan() as plan:
        plan.run(*call.arrays, cell.context_tokens, call.out)
    call.check()
    out = pagedrt.paged_attention(*call.arrays, **call.keywords, device=device)
    assert np.array_equal(out, call.out)
    after = device.stats
    return {path: after[path] - before[path] for path in ("one_pass", "two_pass")}


def test_a_table_changes_what_runs(tmp_path, info):
    path = write(tmp_path / "table.json", info, FIRST, SECOND)
    with pagedrt.Device("cpu", tuning=path) as device:
        assert device.tuning == str(path)
        built_in = heuristics.splits("cpu", "float32", 64, 4, 2, 2500, info["cores"])
        with Call(device, LONG).plan(max_context_tokens=2500) as plan:
            assert plan.splits == (*SPLITS, *(step for step in built_in if step[0] > SECOND["context_tokens"]))
        assert paths(device, SHORT) == {"one_pass": 0, "two_pass": 2}
        assert paths(device, LONG) == {"one_pass": 2, "two_pass": 0}
    with pagedrt.Device("cpu") as device:
        assert device.tuning is None
        assert paths(device, SHORT) == {"one_pass": 2, "two_pass": 0}
        assert paths(device, LONG) == {"one_pass": 0, "two_pass": 2}


def test_the_devices_own_table_is_found(info):
    path = write(Path(tuning.default_path(info)), info, FIRST)
    with pagedrt.Device("cpu", threads=1) as device:
        assert device.tuning == str(path)
        assert paths(device, SHORT)["two_pass"] == 2
    with pagedrt.Device("cpu", tuning=False) as device:
        assert device.tuning is None
        assert paths(device, SHORT)["two_pass"] == 0


def test_files_of_devices_differ(info):
    names = {tuning.default_path(info | changed) for changed in ({}, {"cores": 999}, {"name": "other"})}
    assert len(names) == 3
    assert all(re.fullmatch(r"tuning-[A-Za-z0-9.-]+\.json", Path(name).name) for name in names)


BAD = {
    "schema": ({"schema": "pagedrt-tuning/0"}, "schema 'pagedrt-tuning/0', expected 'pagedrt-tuning/1'"),
    "version": ({"pagedrt": "0.0.1"}, "a table of pagedrt 0.0.1, expected one of"),
    "device": ({"device": {"family": "metal"}}, "a table for {'family': 'metal'}, expected one for"),
    "no rows": ({"rows": None}, "rows NoneType, expected a list"),
    "no object": ({"rows": [3]}, "rows[0] 3, expected an object with dtype"),
    "a field less": ({"rows": [ROW]}, "rows[0]"),
    "a word": ({"rows": [FIRST | {"blocks": "many"}]}, "expected integers from 0"),
    "below 0": ({"rows": [FIRST | {"heads": -1}]}, "expected integers from 0"),
    "true": ({"rows": [FIRST | {"heads": True}]}, "expected integers from 0"),
    "dtype": ({"rows": [FIRST | {"dtype": "int8"}]}, "expected a choice that the device can run"),
    "zero": ({"rows": [FIRST | {"kv_heads": 0}]}, "expected a choice that the device can run"),
    "illegal": ({"rows": [FIRST | {"simdgroups": 2}]}, "expected a choice that the device can run"),
    "order": ({"rows": [SECOND, FIRST]}, "rows[1] context_tokens 300, expected more than the row before, 2000"),
}


@pytest.mark.parametrize(("changed", "message"), BAD.values(), ids=BAD)
def test_bad_tables(tmp_path, info, changed, message):
    """An error where asked for by name; one warning and the baseline where found."""
    path = write(tmp_path / "bad.json", info, **changed)
    with pytest.raises(pagedrt.InvalidInputError, match=re.escape(message)) as caught:
        pagedrt.Device("cpu", tuning=path)
    assert str(caught.value).startswith(f"tuning: got {path}: ")
    path.parent.joinpath("pagedrt").mkdir()
    path.rename(Path(tuning.default_path(info)))
    with pytest.warns(RuntimeWarning, match="no tuning table is used: ") as warned:
        device = pagedrt.Device("cpu")
    assert len(warned) == 1
    assert message in str(warned[0].message)
    with device:
        assert device.tuning is None
        assert paths(device, SHORT)["two_pass"] == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "No such file"), (b"{", "no JSON"), (b"\xff\xfe\x00", "no JSON"), (b"[]", "schema None")],
)
def test_no_tables(tmp_path, content, message):
    path = tmp_path / "none.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(pagedrt.InvalidInputError, match=message):
        pagedrt.Device("cpu", tuning=path)


def test_a_bad_argument():
    with pytest.raises(pagedrt.InvalidInputError, match=r"tuning: got 3, expected a path, None or False"):
        pagedrt.Device("cpu", tuning=3)


BAD_SPLITS = [
    (3, "splits: got 3"),
    ([], "splits: got []"),
    ([(100, Choice("one_pass", 0))], "a last pair for max_context_tokens 200"),
    ([(200, Choice("one_pass", 4))], "path one_pass with 0 blocks"),
    ([(200, Choice("two_pass", 0))], "path one_pass with 0 blocks"),
    ([(200, Choice("two_pass", -1))], "blocks -1"),
    ([(200, ("one_pass", 0, 1.5, 0))], "heads 1.5"),
    ([(200, Choice("two_pass", 1025))], "blocks: 1025"),
    ([(200, Choice("one_pass", 0, 16, 1))], "heads: 16"),
    ([(0, heuristics.ONE_PASS), (200, heuristics.ONE_PASS)], "splits[0].context_tokens: 0"),
]


@pytest.mark.parametrize(("splits", "message"), BAD_SPLITS)
def test_bad_splits(info, splits, message):
    with pagedrt.Device("cpu") as device:
        call = Call(device, SHORT)
        with pytest.raises(pagedrt.InvalidInputError, match=re.escape(message)):
            call.plan(splits=splits)


def tune(*options):
    return subprocess.run(
        [sys.executable, "-P", "-m", "pagedrt", "bench", "--tune", *options],
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_tuning_a_device(info):
    """The command writes a table that covers its shape and that this device then finds; other shapes stay."""
    other = FIRST | {"seconds": 1.0, "baseline_seconds": 1.0}
    path = write(Path(tuning.default_path(info)), info, other)
    result = tune("--family", "cpu", "--seconds", "0", "--shape", "2/1/32")
    assert result.returncode == 0, result.stderr
    assert f"written: {path}" in result.stdout
    with pagedrt.Device("cpu") as device:
        assert device.tuning == str(path)
        loaded = tuning.load(path, info)
        assert set(loaded) == {
            ("cpu", "float32", 64, 4, 2, info["cores"]),
            *(("cpu", dtype, 32, 2, 1, info["cores"]) for dtype in ("float32", "float16", "bfloat16")),
        }
        cell = Cell("float16", 32, 1, 2, 3000, 16)
        with Call(device, cell).plan() as plan:
            assert plan.splits[-1][1] == heuristics.pick("cpu", "float16", 32, 2, 1, 3000, info["cores"], loaded)
        paths(device, cell)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shape", "8"], "shape: got '8'"),
        (["--shape", "3/2/64"], "query_heads: got 3, expected a multiple of the 2 KV heads"),
        (["--shape", "2/1/600"], "head_dim: got 600"),
        (["--family", "simulator"], "family: got simulator, expected cpu or metal"),
    ],
)
def test_tuning_says_what_is_wrong(options, message):
    result = tune("--seconds", "0", *options)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
