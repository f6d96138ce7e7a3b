"""The float64 oracle every numeric test compares with, and the error bound of DESIGN section 5."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

DTYPES = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}


@dataclass
class Expected:
    out: np.ndarray  # float64 [query_heads, head_dim]
    bound: np.ndarray  # absolute error allowed before the output's rounding, same shape
    lse: np.ndarray  # float64 [query_heads]


def tokens_of(pages, page_table, tokens):
    """K or V in token order: float64 [kv_heads, tokens, head_dim]."""
    page_size = pages.shape[2]
    at = np.arange(tokens)
    rows = pages[:, page_table[at // page_size].astype(np.int64), at % page_size]
    return rows.astype(np.float64)


def attend(queries, key_pages, value_pages, page_table, tokens, scale):
    """softmax(scale * q.K) V over the first `tokens` tokens; 0 and lse -inf where there are none.

    -inf scores weigh 0 also where every score is -inf; +inf and NaN scores give NaN.
    """
    kv_heads = key_pages.shape[0]
    query_heads, head_dim = queries.shape[1], queries.shape[3]
    q = queries.reshape(kv_heads, query_heads // kv_heads, head_dim).astype(np.float64)
    scale = np.float64(np.float32(scale))
    if tokens == 0:
        zero = np.zeros((query_heads, head_dim))
        return Expected(zero, zero, np.full(query_heads, -np.inf))
    keys = tokens_of(key_pages, page_table, tokens)
    values = tokens_of(value_pages, page_table, tokens)
    with np.errstate(all="ignore"):
        scores = scale * (q @ keys.swapaxes(1, 2))
        size = scale * (np.abs(q) @ np.abs(keys).swapaxes(1, 2))
        highest = scores.max(axis=2, keepdims=True)
        reference = np.where(highest == -np.inf, 0.0, highest)
        weights = np.exp(scores - reference)
        total = weights.sum(axis=2, keepdims=True)
        weights = np.where(total == 0, 0.0, weights / total)
        out = (weights @ values).reshape(query_heads, head_dim)
        spread = (weights @ np.abs(values)).reshape(query_heads, head_dim)
        lse = (reference + np.log(total)).reshape(query_heads)
    # S of the bound: over all heads and tokens
    largest = float(np.nanmax(size, initial=0.0, where=np.isfinite(size)))
    bound = (ROUNDINGS + 2 * largest) * 2.0**-24 * spread + (tokens + 1) * 2.0**-149
    return Expected(out, bound, lse)


# c of the bound, for what does not grow with the scores: docs/numerics.md derives it
ROUNDINGS = 8


def ulp(values, dtype):
    """The spacing of `dtype` at each |value|, float64."""
    info = ml_dtypes.finfo(dtype)
    exponent = np.floor(np.log2(np.maximum(np.abs(values), float(info.smallest_normal))))
    return 2.0 ** (exponent - info.nmant)


def check(out, expected, what=""):
    """Raises AssertionError where `out` breaks the contract; returns the share correctly rounded."""
    got = np.asarray(out).reshape(expected.out.shape)
    dtype = got.dtype
    with np.errstate(all="ignore"):
        rounded = expected.out.astype(dtype)
        special = ~np.isfinite(expected.out)
        got64 = got.astype(np.float64)
        error = np.abs(got64 - expected.out)
        allowed = expected.bound + np.abs(rounded.astype(np.float64) - expected.out)
        if dtype != np.float32:
            allowed = expected.bound + ulp(expected.out, dtype)
    wrong = np.where(
        special,
        ~((np.isnan(expected.out) & np.isnan(got64)) | (got64 == expected.out)),
        ~(error <= allowed),
    )
    # what rounds to infinity in the output's dtype may
    wrong &= ~(np.isinf(rounded.astype(np.float64)) & (got64 == rounded.astype(np.float64)))
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {int(wrong.sum())} of {wrong.size} wrong; at {at} got {got64[at]!r}, expected "
            f"{expected.out[at]!r}, error {error[at]:.3g}, allowed {allowed[at]:.3g}"
        )
    same = (got64 == rounded.astype(np.float64)) | (np.isnan(got64) & np.isnan(expected.out))
    return float(same.mean())
