"""One JSON file on what a machine is and how the kernels did on it: python -m pagedrt selftest --report FILE.

docs/report.schema.json is its schema. VERSION counts changes that a reader of the last one would not understand.
"""

import datetime
import json
import os
import platform
import time

import numpy as np

import pagedrt
from pagedrt.device import FAMILIES
from pagedrt.info import limits, versions

VERSION = 1
SETTINGS = ("MTL_", "METAL_")  # of the environment: what Metal's validation is told by
TIMED_CALLS = 20
MOST_SECONDS = 0.2  # a kernel: the simulator is slow


class Report:
    """A report that is on the disk, and valid, at every step: a driver that aborts leaves what came before.

    path: the file. OSError where it cannot be written.
    """

    def __init__(self, path):
        open(path, "a").close()  # whose error names this file
        self.path = path
        self.data = {
            "pagedrt_report": VERSION,
            "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "complete": False,
            "passed": False,
            "error": None,
            "running": "opening the device",
            "versions": versions(),
            "system": system(),
            "families": {},
            "limits": limits(),
            "device": None,
            "notes": [],
            "kernels": [],
            "foreign_memory": [],
            "stats": None,
        }
        self.save()
        self.data["families"] = {family: works(family) for family in FAMILIES}

    def save(self):
        written = f"{self.path}.part"
        with open(written, "w", encoding="utf-8") as file:
            json.dump(self.data, file, indent=1, allow_nan=False)
            file.write("\n")
        os.replace(written, self.path)

    def running(self, what):
        """What would be to blame if nothing more were written."""
        self.data["running"] = what
        self.save()

    def open(self, device, notes):
        self.data["device"] = device.info
        self.data["notes"] = notes
        self.running("foreign memory")
        self.data["foreign_memory"] = list(foreign_memory(device))

    def kernel(self, device, case, ratio, result, arrays):
        """Adds a kernel's result, and its times where it is right."""
        row = {**case._asdict(), "error_over_bound": ratio if np.isfinite(ratio) else None, "result": result}
        if result == "ok":
            row["seconds"] = times(device, case, arrays)
        self.data["kernels"].append(row)

    def failed(self, error):
        self.data["error"] = f"{type(error).__name__}: {error}"
        self.save()

    def close(self, device, passed):
        self.data |= {"stats": device.stats, "running": None, "complete": True, "passed": passed}
        self.save()


def system():
    return {
        "name": platform.system(),
        "release": platform.release(),
        "macos": platform.mac_ver()[0],
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "settings": {name: value for name, value in sorted(os.environ.items()) if name.startswith(SETTINGS)},
    }


def works(family):
    """ "works", or why a family does not."""
    try:
        pagedrt.Device(family).close()
    except pagedrt.Error as error:
        return str(error)
    return "works"


def times(device, case, arrays):
    """Medians over calls that each wait: of the whole call, and of the device's own clock."""
    from pagedrt.selftest import plan_of

    out = device.empty(arrays[0].shape, arrays[0].dtype)
    whole, gpu = [], []
    began = time.perf_counter()
    with plan_of(device, case) as plan:
        while len(whole) < TIMED_CALLS and time.perf_counter() - began < MOST_SECONDS:
            before, start = device.stats["gpu_nanoseconds"], time.perf_counter()
            plan.run(*arrays, case.tokens, out)
            whole.append(time.perf_counter() - start)
            gpu.append((device.stats["gpu_nanoseconds"] - before) * 1e-9)
    return {"calls": len(whole), "whole": float(np.median(whole)), "gpu": float(np.median(gpu))}


def foreign_memory(device):
    """What the device uses in place of memory that it did not allocate, and what it copies."""
    page = device.info["memory_page"]
    block = np.zeros(4 * page, np.uint8)
    start = -block.ctypes.data % page
    for memory, offset, length in (
        ("whole memory pages", 0, 2 * page),
        ("part of a memory page, 64-byte aligned", 64, 1024),
        ("part of a memory page, 4-byte aligned", 68, 1024),
    ):
        try:
            device.asarray(block[start + offset : start + offset + length], copy=False)
            yield {"memory": memory, "use": "in place"}
        except pagedrt.Error as error:
            yield {"memory": memory, "use": str(error)}
    before = device.stats
    arrays = [np.ones(shape, np.float32) for shape in ((1, 1, 1, 32), (1, 1, 16, 32), (1, 1, 16, 32))]
    pagedrt.paged_attention(
        *arrays,
        np.zeros(1, np.uint32),
        np.full(1, 16, np.uint32),
        page_size=16,
        context_tokens=16,
        scale=1.0,
        device=device,
        out=np.empty((1, 1, 1, 32), np.float32),
    )
    copied = device.stats["copies"] - before["copies"]
    yield {"memory": "a call's six ordinary arrays", "use": f"{copied} copied"}
