"""python -m pagedrt selftest: every kernel instance against a float64 reference, as a table."""

from typing import NamedTuple

import numpy as np

import pagedrt
from pagedrt import heuristics
from pagedrt.info import versions

ONE_PASS_HEAD_DIMS = (1, 8, 32, 40, 64, 80, 96, 100, 128, 160, 192, 224, 256, 320, 512)
PARTIAL_HEAD_DIMS = tuple(range(heuristics.HEAD_DIM_STEP, heuristics.TWO_PASS_HEAD_DIM + 1, heuristics.HEAD_DIM_STEP))
ONE_PASS_TOKENS = 200
PARTIAL_TOKENS = 1100
MANTISSA_BITS = {"float32": 23, "float16": 10, "bfloat16": 7}
MINIMUM_EXPONENT = {"float32": -126, "float16": -14, "bfloat16": -126}
QUERY_HEADS, KV_HEADS, PAGE_SIZE = 6, 2, 16
SPARE_PAGES = 3
NORMAL, HIDDEN, NOT_A_NUMBER, EMPTY = INPUTS = ("normal", "-inf scores", "NaN value", "no token")
SPECIAL_HEAD_DIM = 64


class Case(NamedTuple):
    path: str
    head_dim: int
    dtype: str
    tokens: int
    inputs: str = NORMAL  # one of INPUTS: those after the first are what a compiler's fast math would break


def instances(dtypes):
    """A case for every kernel instance."""
    for dtype in dtypes:
        for head_dim in ONE_PASS_HEAD_DIMS:
            yield Case("one-pass", head_dim, dtype, ONE_PASS_TOKENS)
        for head_dim in PARTIAL_HEAD_DIMS:
            yield Case("two-pass", head_dim, dtype, PARTIAL_TOKENS)


def cases(dtypes):
    yield from instances(dtypes)
    for dtype in dtypes:
        for path, tokens in (("one-pass", ONE_PASS_TOKENS), ("two-pass", PARTIAL_TOKENS)):
            for inputs in INPUTS[1:]:
                yield Case(path, SPECIAL_HEAD_DIM, dtype, tokens, inputs)


def run(family, report=None):
    """Prints a table, and fills a report where one is given; 0 where all is right, else 1."""
    dtypes, notes = checked_dtypes()
    device = pagedrt.Device(family, tuning=False)
    if report is not None:
        report.open(device, notes)
    print_head(device)
    print(f"{'path':<9} {'head_dim':>8} {'dtype':<9} {'tokens':>6} {'inputs':<11} {'error/bound':>11}  result")
    failures = total = 0
    for case in cases(dtypes):
        if report is not None:
            report.running(" ".join(map(str, case)))
        arrays = make_arrays(device, case)
        ratio, reason = check(device, case, arrays)
        if report is not None:
            report.kernel(device, case, ratio, reason, arrays)
        total += 1
        failures += reason != "ok"
        columns = f"{case.path:<9} {case.head_dim:>8} {case.dtype:<9} {case.tokens:>6} {case.inputs:<11}"
        print(f"{columns} {ratio:>11.3f}  {reason}", flush=True)
    for note in notes:
        print(note)
    print(f"{total - failures} of {total} kernel cases right on {device.family}")
    if report is not None:
        report.close(device, failures == 0)
    device.close()
    return 1 if failures else 0


def checked_dtypes():
    """The dtypes that this installation has, and notes on those that it lacks."""
    if versions()["ml_dtypes"].startswith("not"):
        return ["float32", "float16"], ["bfloat16 was not checked: ml_dtypes is not installed"]
    return ["float32", "float16", "bfloat16"], []


def print_head(device):
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print(", ".join(f"{name} {value}" for name, value in device.info.items() if value != ""))


def plan_of(device, case):
    return pagedrt.PagedAttention(
        device,
        query_heads=QUERY_HEADS,
        kv_heads=KV_HEADS,
        head_dim=case.head_dim,
        page_size=PAGE_SIZE,
        max_context_tokens=case.tokens,
        scale=case.head_dim**-0.5,
        dtype=case.dtype,
    )


def check(device, case, arrays):
    """The largest error as a part of its bound, and what is wrong or "ok"."""
    scale = case.head_dim**-0.5
    before = device.stats
    try:
        out = pagedrt.paged_attention(
            *arrays, page_size=PAGE_SIZE, context_tokens=case.tokens, scale=scale, device=device
        )
        planned = device.empty(out.shape, out.dtype)
        with plan_of(device, case) as plan:
            plan.run(*arrays, case.tokens, planned)
    except pagedrt.Error as error:
        return float("nan"), f"{type(error).__name__}: {error}"
    counter = case.path.replace("-", "_")
    if device.stats[counter] != before[counter] + 2:
        return float("nan"), "another path ran"
    expected, bound, _ = reference(arrays, scale, case)
    error = np.abs(out.astype(np.float64) - expected)
    error[np.isnan(out) & np.isnan(expected)] = 0
    bound[np.isnan(expected)] = 1
    ratio = float(np.max(error / bound)) if np.isfinite(error).all() else float("inf")
    if not ratio <= 1:
        return ratio, "WRONG values"
    if out.tobytes() != planned.tobytes():
        return ratio, "WRONG: a plan gives other bits"
    return ratio, "ok"


def make_arrays(device, case):
    """Shuffled pages; slots that hold no token are NaN, which must not matter."""
    random = np.random.default_rng(case.head_dim)
    pages = -(-case.tokens // PAGE_SIZE)
    table = random.permutation(pages + SPARE_PAGES)[:pages].astype(np.uint32)
    queries = device.empty((1, QUERY_HEADS, 1, case.head_dim), case.dtype)
    queries[...] = random.standard_normal(queries.shape)
    at = table[np.arange(case.tokens) // PAGE_SIZE], np.arange(case.tokens) % PAGE_SIZE
    cache = []
    for _ in range(2):
        array = device.empty((KV_HEADS, pages + SPARE_PAGES, PAGE_SIZE, case.head_dim), case.dtype)
        array[...] = np.nan
        array[:, *at] = random.standard_normal((KV_HEADS, case.tokens, case.head_dim))
        cache.append(array)
    keys, values = cache
    if case.inputs == HIDDEN:  # all tokens of one KV head, every second of the others
        queries[...] = np.abs(queries) + queries.dtype.type(0.01)
        keys[0, *at] = -np.inf
        keys[:, at[0][::2], at[1][::2]] = -np.inf
    if case.inputs == NOT_A_NUMBER:
        values[0, at[0][-1], at[1][-1], 0] = np.nan
    tokens = 0 if case.inputs == EMPTY else case.tokens
    return queries, *cache, device.asarray(table), device.asarray(np.array([tokens], np.uint32))


def reference(arrays, scale, case):
    """Attention in float64, how far a float32 computation may be from it, and the largest sum of |scale q k|.

    float32 accumulation: (8 + 2 S) 2^-24 sum p |v|, S that largest sum; 2^-149 a token, for products below float32's
    normal range; 16-bit outputs: 1 unit in the last place more. docs/numerics.md derives it.
    """
    queries, key_pages, value_pages, table, dependency = arrays
    group, tokens = QUERY_HEADS // KV_HEADS, int(dependency[0])
    q = queries[0, :, 0].astype(np.float64)
    k, v = (
        pages[:, table].reshape(KV_HEADS, -1, case.head_dim)[:, :tokens].astype(np.float64).repeat(group, axis=0)
        for pages in (key_pages, value_pages)
    )
    products = float(np.float32(scale)) * q[:, None] * k
    scores = products.sum(-1)
    seen = np.isfinite(scores)  # the others are -inf and weigh nothing
    weights = np.where(seen, np.exp(scores - scores.max(-1, keepdims=True, initial=-1e300)), 0)
    total = weights.sum(-1, keepdims=True)
    weights /= np.where(total == 0, 1, total)
    expected = np.einsum("ht,htd->hd", weights, v)
    largest = np.where(seen, np.abs(products).sum(-1), 0).max(-1, initial=0)[:, None]
    bound = (8 + 2 * largest) * 2.0**-24 * np.einsum("ht,htd->hd", weights, np.abs(v)) + (case.tokens + 1) * 2.0**-149
    if case.dtype != "float32":
        exponent = np.maximum(np.frexp(expected)[1] - 1, MINIMUM_EXPONENT[case.dtype])
        bound = bound + np.ldexp(1.0, exponent - MANTISSA_BITS[case.dtype])
    shape = (1, QUERY_HEADS, 1, case.head_dim)
    return expected.reshape(shape), bound.reshape(shape), float(largest.max())
