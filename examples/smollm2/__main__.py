import sys
from pathlib import Path

# Run as `python examples/smollm2`: the package's parent takes the place of the package itself.
sys.path[0] = str(Path(__file__).resolve().parents[1])

from smollm2.chat import main  # noqa: E402

sys.exit(main())
