"""python -m pagedrt selftest --accuracy: the worst error against its bound, and the share correctly rounded."""

import numpy as np

import pagedrt
from pagedrt.selftest import PAGE_SIZE, checked_dtypes, instances, make_arrays, print_head, reference

LARGEST_FAIR_SCORE = 50  # the share of correctly rounded elements is promised up to here


def peaked(arrays, scale):
    """One token's key lies along its first query and outweighs all others."""
    queries, key_pages, _, table, _ = arrays
    group = queries.shape[1] // key_pages.shape[0]
    key_pages[:, table[0], 0] = queries[0, ::group, 0] * queries.dtype.type(4)
    return scale


def constant(arrays, scale):
    """Equal scores and equal values, whose sums round the same way at every addition."""
    for array, value in zip(arrays, (0.5, 0.25, 0.1), strict=False):
        array[~np.isnan(array)] = value
    return scale


def large_scores(arrays, scale):
    """Scores to about 1e4."""
    return 3000 * scale


def subnormal(arrays, scale):
    """Values below the dtype's smallest normal number."""
    values = arrays[2]
    tiny = 1e-6 if values.dtype == np.float16 else 1e-39
    values[...] = (values.astype(np.float64) * tiny).astype(values.dtype)
    return scale


FILLS = {
    "normal": lambda arrays, scale: scale,
    "peaked": peaked,
    "constant": constant,
    "large scores": large_scores,
    "subnormal": subnormal,
}


def run(family):
    """Prints a report; 0 where every bound holds, else 1."""
    dtypes, notes = checked_dtypes()
    with pagedrt.Device(family, tuning=False) as device:
        print_head(device)
        print(f"{'dtype':<9} {'inputs':<13} {'elements':>8} {'worst error/bound':>18} {'correctly rounded':>18}")
        wrong = sum(report(device, dtype, fill) for dtype in dtypes for fill in FILLS)
    for note in notes:
        print(note)
    print("the bound is (8 + 2 S) 2^-24 sum p |v|, S the largest sum of |scale q k|; 16-bit dtypes: 1 ulp more")
    print("every bound holds" if wrong == 0 else f"{wrong} bounds are broken")
    return 1 if wrong else 0


def report(device, dtype, fill):
    """One row over every kernel instance of a dtype; true where its bound is broken."""
    worst, right, fair = 0.0, 0, 0
    elements = 0
    for case in instances([dtype]):
        arrays = make_arrays(device, case)
        scale = FILLS[fill](arrays, case.head_dim**-0.5)
        out = pagedrt.paged_attention(
            *arrays, page_size=PAGE_SIZE, context_tokens=case.tokens, scale=scale, device=device
        )
        expected, bound, largest = reference(arrays, scale, case)
        got = out.astype(np.float64)
        worst = max(worst, float(np.max(np.abs(got - expected) / bound)))
        elements += out.size
        if largest <= LARGEST_FAIR_SCORE:
            fair += out.size
            right += int((got == expected.astype(out.dtype).astype(np.float64)).sum())
    share = f"{right / fair:.4%}" if fair else "-"
    print(f"{dtype:<9} {fill:<13} {elements:>8} {worst:>18.3f} {share:>18}", flush=True)
    return not worst <= 1
