"""Tuning tables: files that `python -m pagedrt bench --tune` writes and devices load. heuristics.pick reads them."""

import json
import os
import re
import time
import warnings
from pathlib import Path

import pagedrt
from pagedrt import heuristics, validation
from pagedrt.errors import InvalidInputError

SCHEMA = "pagedrt-tuning/1"
COUNTS = ("head_dim", "group_factor", "kv_heads", "context_tokens")  # positive integers of a row
CHOICE = heuristics.Choice._fields


def identity(info):
    """What must agree between a table's device and the one that loads it; info is device.info with device.cores."""
    names = ("family", "name", "instruction_set", "simd_width", "cores")
    return {name: info[name] for name in names}


def default_path(info):
    """Where a device finds its table: one file a device in the user's configuration folder."""
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    name = "-".join(str(part) for part in identity(info).values() if part != "")
    # os.path: pathlib interns names, and a device is made often enough for that to show in its memory
    return os.path.join(folder, "pagedrt", f"tuning-{re.sub(r'[^A-Za-z0-9.]+', '-', name)}.json")


def save(path, info, rows):
    """Writes a table whole or not at all."""
    path = Path(path)
    table = {
        "schema": SCHEMA,
        "pagedrt": pagedrt.__version__,
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "device": identity(info),
        "rows": rows,
    }
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        unfinished.write_text(json.dumps(table, indent=1) + "\n")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def load(path, info):
    """The table of a file, as heuristics.pick takes it; InvalidInputError where it is none for this device."""
    steps = {}
    for index, row in enumerate(load_rows(path, info)):
        key, last, choice = read_row(path, index, row, info)
        taken = steps.setdefault((info["family"], *key, info["cores"]), [])
        if taken and taken[-1][0] >= last:
            refuse(path, f"rows[{index}] context_tokens {last}", f"more than the row before, {taken[-1][0]}")
        taken.append((last, choice))
    return steps


def load_rows(path, info):
    """The rows of a file that is for this device and version, as they stand there."""
    try:
        table = json.loads(Path(path).read_bytes())
    except OSError as error:
        refuse(path, error.strerror or str(error), "a file that can be read")
    except ValueError as error:
        refuse(path, f"no JSON ({error})", "a table of bench --tune")
    if not isinstance(table, dict) or table.get("schema") != SCHEMA:
        schema = table.get("schema") if isinstance(table, dict) else None
        refuse(path, f"schema {schema!r}", repr(SCHEMA))
    if table.get("pagedrt") != pagedrt.__version__:
        refuse(path, f"a table of pagedrt {table.get('pagedrt')}", f"one of {pagedrt.__version__}: tune again")
    if table.get("device") != identity(info):
        refuse(path, f"a table for {table.get('device')}", f"one for {identity(info)}")
    rows = table.get("rows")
    if not isinstance(rows, list):
        refuse(path, f"rows {type(rows).__name__}", "a list")
    return rows


def read_row(path, index, row, info):
    """(dtype, head_dim, group_factor, kv_heads), context_tokens and Choice of a row."""
    expected = ("dtype", *COUNTS, *CHOICE)
    if not isinstance(row, dict) or not set(expected) <= set(row):
        refuse(path, f"rows[{index}] {row!r}", f"an object with {', '.join(expected)}")
    numbers = [*COUNTS, *CHOICE[1:]]
    if any(type(row[name]) is not int or not 0 <= row[name] <= validation.MAX_COUNT for name in numbers):
        refuse(path, f"rows[{index}] {row!r}", f"integers from 0 in {', '.join(numbers)}")
    choice = heuristics.Choice(*(row[name] for name in CHOICE))
    shape = {name: row[name] for name in ("dtype", "head_dim", "group_factor", "context_tokens")}
    sound = row["dtype"] in validation.FLOATS and all(row[name] > 0 for name in COUNTS)
    if not sound or not heuristics.legal(
        choice, simd_width=info["simd_width"], max_threads=info["max_threads"], **shape
    ):
        refuse(path, f"rows[{index}] {row!r}", "a choice that the device can run")
    return (row["dtype"], row["head_dim"], row["group_factor"], row["kv_heads"]), row["context_tokens"], choice


def refuse(path, got, expected):
    raise InvalidInputError(f"tuning: got {path}: {got}, expected {expected}")


def for_device(asked, info):
    """(path, table) of a new device, (None, {}) without one. asked: its argument `tuning`."""
    if asked is False:
        return None, {}
    if asked is not None:
        try:
            path = os.fspath(asked)
        except TypeError:
            raise InvalidInputError(f"tuning: got {asked!r}, expected a path, None or False") from None
        return path, load(path, info)
    try:
        path = default_path(info)
        return (path, load(path, info)) if os.path.exists(path) else (None, {})
    except (InvalidInputError, OSError) as error:
        warnings.warn(f"no tuning table is used: {error}", RuntimeWarning, stacklevel=2)
        return None, {}
