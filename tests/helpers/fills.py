"""What the arrays of a cell hold: each fill is a kind of input that breaks some kernel somewhere."""

from dataclasses import dataclass

import numpy as np


@dataclass
class Filled:
    queries: np.ndarray  # [query_heads, head_dim]
    key_pages: np.ndarray
    value_pages: np.ndarray
    scale: float


def normal(rng, query_heads, shape, at, dtype):
    """Unit normal, scale 1 / sqrt(head_dim)."""

    def draw(*size):
        return rng.standard_normal(size, dtype=np.float32).astype(dtype)

    return Filled(draw(query_heads, shape[3]), draw(*shape), draw(*shape), float(shape[3]) ** -0.5)


def peaked(rng, query_heads, shape, at, dtype):
    """One token's key lies along a query and outweighs all others."""
    filled = normal(rng, query_heads, shape, at, dtype)
    if len(at[0]):
        one = rng.integers(len(at[0]))
        heads = np.arange(shape[0]) * (query_heads // shape[0])
        filled.key_pages[:, at[0][one], at[1][one]] = filled.queries[heads] * dtype.type(4)
    return filled


def rising(rng, query_heads, shape, at, dtype):
    """Each token outweighs those before it: what was summed up is scaled down again and again."""
    filled = normal(rng, query_heads, shape, at, dtype)
    direction = rng.choice([-1.0, 1.0], shape[3])
    # of many sizes: equal products would round alike, which docs/numerics.md leaves out of the bound
    filled.queries[...] = direction * rng.uniform(0.5, 1.5, filled.queries.shape)
    per_token = 0.15 * float(shape[3]) ** -0.5
    filled.key_pages[:, at[0], at[1]] = np.arange(len(at[0]))[:, None] * per_token * direction
    return filled


def constant(rng, query_heads, shape, at, dtype):
    """All scores equal: the mean of equal values must be exact to the bound."""
    filled = normal(rng, query_heads, shape, at, dtype)
    filled.queries[...] = 0.5
    filled.key_pages[...] = 0.25
    filled.value_pages[...] = rng.choice([1.0, -3.0, 0.1])
    return filled


def large_scores(rng, query_heads, shape, at, dtype):
    """Scores to about 1e4: nearly all weights underflow."""
    filled = normal(rng, query_heads, shape, at, dtype)
    filled.scale = 3000.0 * float(shape[3]) ** -0.5
    return filled


def subnormal(rng, query_heads, shape, at, dtype):
    """Values below the dtype's smallest normal number."""
    filled = normal(rng, query_heads, shape, at, dtype)
    tiny = 1e-6 if dtype == np.float16 else 1e-39
    filled.value_pages = (filled.value_pages.astype(np.float64) * tiny).astype(dtype)
    return filled


def _scaled(array, by, dtype):
    return (array.astype(np.float64) * by).astype(dtype)


def tiny_queries(rng, query_heads, shape, at, dtype):
    """Queries below the dtype's smallest normal number, and keys so large that they matter all the same."""
    filled = normal(rng, query_heads, shape, at, dtype)
    tiny, huge = (1e-6, 1e4) if dtype == np.float16 else (1e-39, 1e37)
    filled.queries = _scaled(filled.queries, tiny, dtype)
    filled.key_pages = _scaled(filled.key_pages, huge, dtype)
    filled.scale = 1 / (tiny * huge) * float(shape[3]) ** -0.5
    return filled


def tiny_keys(rng, query_heads, shape, at, dtype):
    """Keys below the dtype's smallest normal number, and queries or a scale so large that they matter."""
    filled = normal(rng, query_heads, shape, at, dtype)
    tiny, huge = (1e-6, 1e4) if dtype == np.float16 else (1e-39, 1e37)
    large = huge if rng.random() < 0.5 else 1.0
    filled.queries = _scaled(filled.queries, large, dtype)
    filled.key_pages = _scaled(filled.key_pages, tiny, dtype)
    filled.scale = min(1 / (tiny * large), 1e38) * float(shape[3]) ** -0.5
    return filled


def hidden_keys(rng, query_heads, shape, at, dtype):
    """Scores of -inf, as an additive mask leaves them: all of them for some heads."""
    filled = normal(rng, query_heads, shape, at, dtype)
    filled.queries = np.abs(filled.queries) + dtype.type(0.01)
    hidden = rng.random(len(at[0])) < 0.5
    filled.key_pages[:, at[0][hidden], at[1][hidden]] = -np.inf
    filled.key_pages[0, at[0], at[1]] = -np.inf
    return filled


def _one_bad(rng, pages, at, value):
    if len(at[0]):
        one = rng.integers(len(at[0]))
        head, element = rng.integers(pages.shape[0]), rng.integers(pages.shape[3])
        pages[head, at[0][one], at[1][one], element] = value


def special_keys(rng, query_heads, shape, at, dtype):
    """A NaN or infinity in one key."""
    filled = normal(rng, query_heads, shape, at, dtype)
    _one_bad(rng, filled.key_pages, at, rng.choice([np.nan, np.inf, -np.inf]))
    return filled


def special_values(rng, query_heads, shape, at, dtype):
    """A NaN or infinity in one value: it must reach its own element of its own heads, no other."""
    filled = normal(rng, query_heads, shape, at, dtype)
    _one_bad(rng, filled.value_pages, at, rng.choice([np.nan, np.inf, -np.inf]))
    return filled


FILLS = {
    f.__name__: f
    for f in (
        normal,
        peaked,
        rising,
        constant,
        large_scores,
        subnormal,
        tiny_queries,
        tiny_keys,
        hidden_keys,
        special_keys,
        special_values,
    )
}
