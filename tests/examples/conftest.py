import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

from smollm2 import weights
from smollm2.tokenizer import Tokenizer


@pytest.fixture(scope="session")
def loaded():
    return weights.load(weights.find())


@pytest.fixture(scope="session")
def tokenizer(loaded):
    return Tokenizer(loaded.vocabulary)
