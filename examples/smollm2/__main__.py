import os
import sys
from pathlib import Path

# Run as `python examples/smollm2`: the package's parent takes the place of the package itself.
sys.path[0] = str(Path(__file__).resolve().parents[1])
# OpenBLAS's threads spin for 2^26 cycles after each product unless told otherwise, on cores that attention needs.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "18")

try:
    from smollm2.chat import main
except ModuleNotFoundError as error:
    sys.exit(f"The package {error.name} is missing: `make demo` installs all that this example needs.")

sys.exit(main())
