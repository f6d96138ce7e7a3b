from typing import Any

import numpy as np
from numpy.typing import DTypeLike

def resolve(dtype: DTypeLike) -> np.dtype[Any]: ...
def resolve_float(dtype: DTypeLike) -> np.dtype[Any]: ...
