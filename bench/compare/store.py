"""Results on disk: one JSON object a line, appended as cells are done, so that a run can be taken up again."""

import json
import platform
from pathlib import Path

from peers import NAMES

SCHEMA = 1


def machine():
    """What the figures hold for."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "system": f"{platform.system()} {platform.release()}", "python": platform.python_version()}


def append(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps({"schema": SCHEMA} | record) + "\n")


def read(path):
    """The last record of each cell, in the order of the file."""
    records = {}
    if path.exists():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            record = json.loads(line)
            if record.get("schema") != SCHEMA:
                raise ValueError(f"{path}:{number}: schema {record.get('schema')}, expected {SCHEMA}")
            records[record["cell"]] = record
    return records


def complete(record, peers):
    """True where a cell needs no further look: measured on a quiet machine, these peers timed or known to be unfit."""
    return record is not None and record["quiet"] and set(peers) <= {*record["peers"], *record["left_out"]}


def unknown(names):
    return [name for name in names if name not in NAMES]
