"""Greedy decodes of one prompt, through pages and without, with the logits of every step."""

from dataclasses import dataclass

import numpy as np
from smollm2 import dense, generate
from smollm2.attention import PagedAttention
from smollm2.model import Model
from smollm2.pages import Cache, Sequence

import pagedrt


@dataclass
class Decode:
    tokens: list
    logits: list
    stats: dict


def poisoned_cache(device, config, dtype="float32", *, page_size=16, tokens=2048):
    """A cache whose slots hold NaN until something is written to them."""
    cache = Cache(device, config, dtype, page_size=page_size, capacity=-(-tokens // page_size))
    for arena in [*cache.keys, *cache.values]:
        arena.fill(np.nan)
    return cache


def paged(loaded, prompt, steps, *, dtype="float32", page_size=16, rows=256):
    with pagedrt.Device() as device:
        cache = poisoned_cache(device, loaded.config, dtype, page_size=page_size)
        model = Model(loaded, PagedAttention(device, loaded.config, cache, rows=rows), chunk=rows)
        decode = greedy(model, Sequence(cache), prompt, steps)
        decode.stats = device.stats
    return decode


def without_attention(loaded, prompt, steps):
    with pagedrt.Device() as device:
        cache = poisoned_cache(device, loaded.config)
        model = Model(loaded, lambda layer, sequence, start, queries: np.zeros_like(queries))
        return greedy(model, Sequence(cache), prompt, steps)


def greedy(model, sequence, prompt, steps):
    logits = [model.read(prompt, sequence)]
    while len(logits) < steps:
        token = generate.greedy(logits[-1])
        logits.append(model.logits(model.forward([token], sequence)[-1]))
    return Decode([generate.greedy(scores) for scores in logits], logits, {})


def float64(loaded, prompt, steps):
    decoder = dense.Decoder(loaded)
    logits = [decoder.logits(prompt)]
    while len(logits) < steps:
        logits.append(decoder.logits([int(np.argmax(logits[-1]))]))
    return Decode([int(np.argmax(scores)) for scores in logits], logits, {})


def margin(decode):
    """How far the likeliest token leads in the step where it leads least."""
    return min(float(np.diff(np.partition(scores, -2)[-2:])[0]) for scores in decode.logits)


def difference(decode, other):
    return max(float(np.abs(a - b).max()) for a, b in zip(decode.logits, other.logits, strict=True))
