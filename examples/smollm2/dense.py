"""Decoding without pages, in float64: what the paged decode is checked against."""

import numpy as np


def attention(queries, keys, values, scale):
    """One token's attention: queries [query_heads, D], keys and values [kv_heads, tokens, D]; float64."""
    kv_heads, _, head_dim = keys.shape
    grouped = queries.astype(np.float64).reshape(kv_heads, -1, head_dim)
    scores = scale * (grouped @ keys.astype(np.float64).swapaxes(1, 2))
    return (softmax(scores) @ values.astype(np.float64)).reshape(-1, head_dim)


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


class Decoder:
    """The whole model in float64 over contiguous keys and values; shares no code with model.py."""

    def __init__(self, weights):
        self.weights = weights
        self.matrices = {}
        self.length = 0
        self.keys = [[] for _ in weights.layers]
        self.values = [[] for _ in weights.layers]

    def logits(self, tokens):
        """Appends tokens; returns the logits after the last one."""
        config = self.weights.config
        hidden = self.weights.embeddings[tokens].astype(np.float64)
        positions = np.arange(self.length, self.length + len(tokens))
        self.length += len(tokens)
        for index, layer in enumerate(self.weights.layers):
            normal = normalise(hidden, layer.attention_norm, config.norm_epsilon)
            hidden = hidden + self.attend(index, normal, positions) @ self.wide(layer.attention_output).T
            normal = normalise(hidden, layer.feed_forward_norm, config.norm_epsilon)
            gate, up = np.split(normal @ self.wide(layer.gate_up).T, 2, axis=1)
            hidden = hidden + (gate / (1 + np.exp(-gate)) * up) @ self.wide(layer.down).T
        last = normalise(hidden[-1:], self.weights.output_norm, config.norm_epsilon)[0]
        return self.wide(self.weights.embeddings) @ last

    def attend(self, index, normal, positions):
        """Causal attention of the new tokens over all tokens so far, [tokens, query_heads * D]."""
        config = self.weights.config
        heads = normal @ self.wide(self.weights.layers[index].query_key_value).T
        heads = heads.reshape(len(positions), -1, config.head_dim).swapaxes(0, 1)
        queries = turn(heads[: config.query_heads], positions, config)
        self.keys[index].append(turn(heads[config.query_heads : -config.kv_heads], positions, config))
        self.values[index].append(heads[-config.kv_heads :])
        keys = np.concatenate(self.keys[index], axis=1)
        values = np.concatenate(self.values[index], axis=1)
        group = config.query_heads // config.kv_heads
        future = np.arange(self.length) > positions[:, None]
        mixed = np.empty_like(queries)
        for head in range(config.query_heads):
            scores = queries[head] @ keys[head // group].T * config.head_dim**-0.5
            scores[future] = -np.inf
            mixed[head] = softmax(scores) @ values[head // group]
        return mixed.swapaxes(0, 1).reshape(len(positions), -1)

    def wide(self, matrix):
        """The matrix in float64, converted once."""
        if id(matrix) not in self.matrices:
            self.matrices[id(matrix)] = matrix.astype(np.float64)
        return self.matrices[id(matrix)]


def turn(heads, positions, config):
    """Rotary embedding of heads [heads, tokens, D]: adjacent elements as one complex number, times e^(i * angle)."""
    speeds = config.rope_base ** (-2 * np.arange(config.head_dim // 2) / config.head_dim)
    turns = np.exp(1j * positions[:, None] * speeds)
    return (np.ascontiguousarray(heads).view(np.complex128) * turns).view(np.float64)


def normalise(rows, weight, epsilon):
    return rows / np.sqrt((rows**2).mean(axis=1, keepdims=True) + epsilon) * weight
