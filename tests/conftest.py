"""No tuning table of the user's own has a say in the tests."""

import os
import tempfile

FOLDER = tempfile.TemporaryDirectory(prefix="pagedrt-tests-")
os.environ["XDG_CONFIG_HOME"] = FOLDER.name
