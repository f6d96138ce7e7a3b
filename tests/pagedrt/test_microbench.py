"""bench --micro: its rows on each family, by which clock, and that a wrong kernel is told. No time is judged."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest

import pagedrt
from helpers import softmetal
from pagedrt import bench, micro, microbench
from pagedrt.__main__ import main

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/bench.schema.json").read_text())
LATENCIES = {
    "command buffer, commit to result",
    "command buffer, one more in flight",
    "dispatch in a command buffer",
    "encode",
    "synchronize, nothing in flight",
}
OF_SIMDGROUPS = {"barrier", "simd_sum, alone", "simd_sum, device full", "read by SIMD-groups a threadgroup"}


def written(path):
    report = json.loads(path.read_text())
    jsonschema.validate(report, SCHEMA, jsonschema.Draft202012Validator)
    return report


def run(monkeypatch, path, *options):
    monkeypatch.setattr(sys, "argv", ["pagedrt", "bench", "--seconds", "0", "--json", str(path), *options])
    assert main() == 0
    return written(path)


def named(rows, name):
    return [row for row in rows if row["name"] == name]


def test_the_schema_is_the_version_that_is_written():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema"]["const"] == bench.SCHEMA


@pytest.mark.parametrize("family", ["cpu", "simulator"])
def test_rows(family, tmp_path, monkeypatch, capsys):
    report = run(monkeypatch, tmp_path / "micro.json", "--micro", "--family", family)
    rows = report["rows"]
    assert (report["kind"], report["device"]["family"]) == ("micro", family)
    assert {row["clock"] for row in rows} == {"wall"}
    reads = named(rows, "read")
    sets = microbench.SIZES[family].working_sets
    assert {(row["parameters"]["working_set"], row["parameters"]["page_order"]) for row in reads} == {
        (size, order) for size in sets for order in ("sequential", "descending", "shuffled")
    }
    assert all(row["value"] > 0 for row in reads)
    shown = capsys.readouterr().out
    if family == "cpu":
        assert {row["name"] for row in rows} == {"read"} | LATENCIES
        assert "SIMD-groups a threadgroup: do not apply" in shown
    else:
        assert {row["name"] for row in rows} == {"read"} | LATENCIES | OF_SIMDGROUPS
        for name in ("barrier", "read by SIMD-groups a threadgroup"):
            assert [row["parameters"]["simdgroups"] for row in named(rows, name)] == [1, 2, 4, 8, 16, 32]
        assert "of no GPU" in shown


def test_rows_by_the_clock_of_a_gpu():
    """What a Mac's rows are made of, on the simulator, which has that clock too."""
    with pagedrt.Device("simulator") as device:
        measured = microbench.Microbench(device)
        measured.clock, measured.seconds_of = "gpu", measured.on_gpu
        rows = [row for part in measured.parts() for row in part.measure(0)]
    assert {row["name"] for row in named(rows, "command buffer on the device")} != set()
    of_host = LATENCIES - {"dispatch in a command buffer"}
    assert {row["name"] for row in rows if row["clock"] == "wall"} == of_host


def test_a_pipeline_that_allows_fewer_threads():
    with softmetal.simulator(max_threads=640) as device:
        measured = microbench.Microbench(device)
        measured.check_values()
        assert measured.simdgroups("barrier") == [1, 2, 4, 8, 16]


def test_what_the_clock_does_not_tell_apart_has_no_value():
    with pagedrt.Device("simulator") as device:
        measured = microbench.Microbench(device)
        measured.seconds_of = lambda once, seconds: [0.0]
        rows = [row for part in measured.parts() for row in part.measure(0)]
    by_device = {"read", "dispatch in a command buffer"} | OF_SIMDGROUPS
    assert {row["name"] for row in rows if row["value"] is None} >= by_device
    microbench.print_rows(rows)


@pytest.mark.parametrize("kernel", ["read", "barrier", "simd_sum"])
def test_a_wrong_kernel_is_told_and_not_timed(kernel, monkeypatch, capsys):
    right = micro.run

    def wrong(device, name, memory, table, out, **options):
        right(device, name, memory, table, out, **options)
        out[5] += name == kernel

    monkeypatch.setattr(micro, "run", wrong)
    monkeypatch.setattr(sys, "argv", ["pagedrt", "bench", "--micro", "--seconds", "0", "--family", "simulator"])
    assert main() == 2
    captured = capsys.readouterr()
    assert f"pagedrt_micro_{kernel}: lanes give" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(2.5e9, "bytes/s", "2.50 GB/s"), (3e-5, "s", "30.00 us"), (4e-8, "s", "40.00 ns"), (None, "s", "-")],
)
def test_a_value_is_shown_with_its_unit(value, unit, text):
    assert microbench.shown(value, unit).strip() == text


def test_the_decode_table_has_the_same_schema(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "SHAPES", ((8, 1, 256),))
    report = run(monkeypatch, tmp_path / "decode.json", "--family", "cpu")
    assert report["kind"] == "decode"
    assert len(report["rows"]) == 3 * 3


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "pagedrt-bench/1"},
        {"kind": "other"},
        {"rows": [{"name": "read", "value": 1.0, "unit": "bytes/s", "parameters": {}}]},
        {"more": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_schema_rejects(change):
    with pagedrt.Device("cpu") as device:
        report = bench.head(device, "micro")
    jsonschema.validate(report, SCHEMA, jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(report | change, SCHEMA, jsonschema.Draft202012Validator)
