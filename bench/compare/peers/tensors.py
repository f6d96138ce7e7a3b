"""NumPy arrays as torch tensors over the same memory, bfloat16 too."""

import numpy as np
import torch


def tensor(array):
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
