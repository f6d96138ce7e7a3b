"""The transformer: NumPy matrices around an attention that is passed in."""

import numpy as np


class Model:
    """attention(layer, sequence, start, queries) gets every layer's queries, once keys and values are stored."""

    def __init__(self, weights, attention, *, chunk=256):
        self.config = weights.config
        self.weights = weights
        self.attention = attention
        self.chunk = chunk
        self.cosines, self.sines = rotations(self.config)

    def forward(self, tokens, sequence):
        """Appends tokens to sequence; returns their last hidden states, [tokens, embedding] float32."""
        config = self.config
        start = sequence.append(len(tokens))
        end = start + len(tokens)
        cosines, sines = self.cosines[start:end, None], self.sines[start:end, None]
        groups = [config.query_heads, config.query_heads + config.kv_heads]
        hidden = self.weights.embeddings[tokens]
        for index, layer in enumerate(self.weights.layers):
            normal = rms_norm(hidden, layer.attention_norm, config.norm_epsilon)
            heads = (normal @ layer.query_key_value.T).reshape(len(tokens), -1, config.head_dim)
            queries, keys, values = np.split(heads, groups, axis=1)
            sequence.write(index, start, rotate(keys, cosines, sines), values)
            mixed = self.attention(index, sequence, start, rotate(queries, cosines, sines))
            hidden += mixed.reshape(len(tokens), -1) @ layer.attention_output.T
            normal = rms_norm(hidden, layer.feed_forward_norm, config.norm_epsilon)
            gate, up = np.split(normal @ layer.gate_up.T, 2, axis=1)
            hidden += (silu(gate) * up) @ layer.down.T
        return rms_norm(hidden, self.weights.output_norm, config.norm_epsilon)

    def logits(self, hidden):
        """Scores of the next token after one hidden state."""
        return self.weights.embeddings @ hidden

    def read(self, tokens, sequence, progress=lambda tokens: None):
        """Appends a prompt chunk by chunk; returns the logits after its last token."""
        for first in range(0, len(tokens), self.chunk):
            part = tokens[first : first + self.chunk]
            hidden = self.forward(part, sequence)
            progress(len(part))
        return self.logits(hidden[-1])


def rotations(config):
    """Cosines and sines [context_tokens, head_dim / 2] of each position's rotation of each pair."""
    speeds = config.rope_base ** (-np.arange(0, config.head_dim, 2) / config.head_dim)
    angles = np.outer(np.arange(config.context_tokens), speeds)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def rotate(heads, cosines, sines):
    """Rotates the adjacent pairs (2i, 2i + 1) of each head: the order in which this file stores queries and keys."""
    even, odd = heads[..., 0::2], heads[..., 1::2]
    rotated = np.empty_like(heads)
    rotated[..., 0::2] = even * cosines - odd * sines
    rotated[..., 1::2] = even * sines + odd * cosines
    return rotated


def rms_norm(rows, weight, epsilon):
    square = np.einsum("ij,ij->i", rows, rows)[:, None] / np.float32(rows.shape[1])
    return rows * (1 / np.sqrt(square + np.float32(epsilon))) * weight


def silu(values):
    with np.errstate(over="ignore"):  # exp of a large one is infinite, and the quotient 0 as it should be
        return values / (1 + np.exp(-values))
