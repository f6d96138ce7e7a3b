"""From logits to tokens: greedy or sampled."""

import numpy as np


def greedy(logits):
    return int(np.argmax(logits))


class Sampler:
    """Draws a token from the smallest set of the likeliest ones whose probabilities add up to top_p."""

    def __init__(self, temperature, top_p, seed):
        self.temperature = temperature
        self.top_p = top_p
        self.random = np.random.default_rng(seed)

    def __call__(self, logits):
        scores = (logits - logits.max()).astype(np.float64) / self.temperature
        order = np.argsort(-scores, kind="stable")
        weights = np.exp(scores[order])
        sums = np.cumsum(weights)
        kept = np.searchsorted(sums, self.top_p * sums[-1]) + 1
        drawn = np.searchsorted(sums, self.random.random() * sums[kept - 1], side="right")
        return int(order[drawn])


def reply(model, sequence, logits, pick, *, end, most, before=lambda step: None):
    """Yields the tokens that pick chooses, up to the end token or to `most` of them.

    before(step) is called ahead of each forward step; step 0 follows the reply's first token.
    """
    for step in range(most):
        token = pick(logits)
        if token == end:
            return
        yield token
        if step + 1 < most:
            before(step)
            logits = model.logits(model.forward([token], sequence)[-1])
