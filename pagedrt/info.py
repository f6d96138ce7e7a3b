"""python -m pagedrt info: what is installed, what works here, and its limits."""

import importlib.metadata
import platform

import numpy as np

import pagedrt
from pagedrt import heuristics, validation
from pagedrt.device import FAMILIES

BYTES = ("max_buffer_length", "working_set", "memory_page")


def print_info():
    print("versions")
    for name, version in versions().items():
        print(f"  {name:<18} {version}")
    for family in FAMILIES:
        print(f"family {family}")
        try:
            with pagedrt.Device(family) as device:
                for name, value in device.info.items():
                    unit = " bytes" if name in BYTES else ""
                    print(f"  {name:<18} {value}{unit}")
                print(f"  {'tuning':<18} {device.tuning or 'none'}")
        except pagedrt.DeviceError as error:
            print(f"  does not work here: {error}")
    print("limits")
    for name, limit in limits().items():
        print(f"  {name:<18} {limit}")


def versions():
    try:
        ml_dtypes = importlib.metadata.version("ml_dtypes")
    except importlib.metadata.PackageNotFoundError:
        ml_dtypes = "not installed: no bfloat16"
    return {
        "pagedrt": pagedrt.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ml_dtypes": ml_dtypes,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
    }


def limits():
    return {
        "query tokens": "1 a call",
        "dtypes": ", ".join(validation.FLOATS),
        "head_dim": f"1 to {validation.MAX_HEAD_DIM}",
        "context_tokens": f"1 to {validation.MAX_TOKENS}",
        "two-pass path": f"from {heuristics.TWO_PASS_CONTEXT} tokens, head_dim a multiple of "
        f"{heuristics.HEAD_DIM_STEP} up to {heuristics.TWO_PASS_HEAD_DIM}, "
        f"up to {heuristics.TWO_PASS_GROUP_FACTOR} query heads a KV head",
    }
