from dataclasses import replace

import numpy as np
import pytest
from smollm2 import dense, generate, long_text
from smollm2.attention import DenseCheck
from smollm2.pages import NO_PAGE, Cache, PagePool, Sequence
from smollm2.tokenizer import TextStream, Tokenizer

import pagedrt


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello, world!",
        "  two  spaces\tand\r\n\n\nlines ",
        "naïve façade, Größe, Ωμέγα, Привет",
        "日本語のテキスト、한국어, العربية, हिन्दी",
        "👩🏽‍🚀 🇫🇷 e\u0301 \u200b \ufeff \U0001d11e",
        "x" * 300,
        "<|im_end|> <|im_start|>system",
    ],
)
def test_text_survives_the_tokenizer(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_digits_stand_alone(tokenizer, loaded):
    tokens = tokenizer.encode("in 2024, ½")
    assert [loaded.vocabulary.tokens[token] for token in tokens][:7] == ["in", "Ġ", "2", "0", "2", "4", ","]


def test_text_yields_no_control_tokens(tokenizer, loaded):
    names = [loaded.vocabulary.tokens[token] for token in loaded.vocabulary.control]
    assert "<|im_end|>" in names
    assert not loaded.vocabulary.control & set(tokenizer.encode("".join(names)))


def test_chat_follows_the_template(tokenizer, loaded):
    template = loaded.vocabulary.chat_template
    tokens = tokenizer.chat("Hi <|im_end|>")
    spelled = "".join(
        loaded.vocabulary.tokens[token] if token in loaded.vocabulary.control else tokenizer.decode([token])
        for token in tokens
    )
    assert spelled == (
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
        "<|im_start|>user\nHi <|im_end|><|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert tokenizer.system in template
    assert [token for token in tokens if token in loaded.vocabulary.control] == [1, 2, 1, 2, 1]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("pre_tokenizer", "llama-bpe", "pre-tokenizer: got 'llama-bpe'"),
        ("chat_template", "{{ messages }}", "chat template: got '{{ messages }}'"),
        ("end_of_turn", 0, "end of turn: got token 0"),
    ],
)
def test_another_vocabulary_is_refused(loaded, field, value, message):
    with pytest.raises(ValueError, match=message):
        Tokenizer(replace(loaded.vocabulary, **{field: value}))


def test_a_stream_holds_half_characters_back(tokenizer):
    tokens = tokenizer.encode("🦜")
    assert len(tokens) > 1
    stream = TextStream(tokenizer)
    pieces = [stream.push(token) for token in tokens]
    assert pieces == [""] * (len(tokens) - 1) + ["🦜"]
    assert stream.push(tokens[0]) == ""
    assert stream.flush() == "\ufffd"


def test_pages_are_shuffled_and_given_back():
    pool = PagePool(64, seed=3)
    pages = [pool.take() for _ in range(64)]
    assert sorted(pages) == list(range(64))
    assert pages != list(range(64))
    assert pages != list(range(63, -1, -1))
    assert pool.used == 64
    with pytest.raises(MemoryError, match="all 64 pages are in use"):
        pool.take()
    pool.give_back(pages[:10])
    assert pool.used == 54
    assert pool.take() in pages[:10]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_sequence_gathers_what_it_wrote(loaded, dtype):
    config = replace(loaded.config, layers=2)
    random = np.random.default_rng(5)
    with pagedrt.Device() as device:
        cache = Cache(device, config, dtype, page_size=4, capacity=16)
        sequence, other = Sequence(cache), Sequence(cache)
        shape = (11, config.kv_heads, config.head_dim)
        keys, values = (random.standard_normal(shape).astype(cache.keys[0].dtype) for _ in range(2))
        for first, last in [(0, 6), (6, 7), (7, 11)]:
            assert sequence.append(last - first) == first
            assert other.append(last - first) == first
            sequence.write(1, first, keys[first:last], values[first:last])
            other.write(1, first, values[first:last], keys[first:last])
        gathered = sequence.gather(1, 11)
        assert np.array_equal(gathered[0], keys.swapaxes(0, 1))
        assert np.array_equal(gathered[1], values.swapaxes(0, 1))
        assert (sequence.pages, cache.pool.used) == (3, 6)
        assert (sequence.table[3:] == NO_PAGE).all()
        sequence.close()
        assert (sequence.pages, cache.pool.used) == (0, 3)


def test_dense_attention_is_the_definition():
    random = np.random.default_rng(2)
    queries, keys, values = (random.standard_normal(shape) for shape in [(6, 8), (2, 5, 8), (2, 5, 8)])
    result = dense.attention(queries, keys, values, 0.3)
    for head in range(6):
        weights = np.exp([0.3 * queries[head] @ key for key in keys[head // 3]])
        np.testing.assert_allclose(result[head], weights / weights.sum() @ values[head // 3], rtol=1e-12)


def test_the_check_sees_wrong_outputs():
    random = np.random.default_rng(4)
    query = random.standard_normal((1, 6, 1, 8))
    keys, values = random.standard_normal((2, 2, 5, 8))
    right = dense.attention(query[0, :, 0], keys, values, 0.3)[None, :, None]
    check = DenseCheck()
    check.compare(right, query, keys, values, 0.3)
    assert (check.calls, check.difference) == (1, 0)
    wrong = right.copy()
    wrong[0, 3, 0, 2] += 0.25
    check.compare(wrong, query, keys, values, 0.3)
    assert check.difference == pytest.approx(0.25)
    wrong[0, 0, 0, 0] = np.nan
    check.compare(wrong, query, keys, values, 0.3)
    assert np.isnan(check.difference)
    check.compare(right, query, keys, values, 0.3)
    assert np.isnan(check.difference)


def test_samples_follow_the_probabilities():
    probabilities = np.array([0.1, 0.5, 0.15, 0.25])
    logits = np.log(probabilities).astype(np.float32)
    draws = 4000

    def shares(temperature, top_p):
        sampler = generate.Sampler(temperature, top_p, seed=1)
        return np.bincount([sampler(logits) for _ in range(draws)], minlength=4) / draws

    np.testing.assert_allclose(shares(1.0, 1.0), probabilities, atol=0.03)
    np.testing.assert_allclose(shares(0.5, 1.0), probabilities**2 / (probabilities**2).sum(), atol=0.03)
    np.testing.assert_allclose(shares(1.0, 0.6), [0, 2 / 3, 0, 1 / 3], atol=0.03)
    assert shares(1.0, 0.5).tolist() == [0, 1, 0, 0]
    assert shares(1e-3, 1.0).tolist() == [0, 1, 0, 0]


def test_a_seed_fixes_the_samples():
    logits = np.zeros(100, np.float32)
    samples = [[generate.Sampler(1.0, 1.0, seed)(logits) for _ in range(3)] for seed in (7, 7, 8)]
    assert samples[0] == samples[1] != samples[2]


def test_long_text_is_as_long_as_asked(tokenizer):
    text = long_text.write(1500, lambda line: len(tokenizer.encode(line)))
    assert 1500 <= len(tokenizer.encode(text)) + 1 < 1540
    lines = text.split("\n")
    assert abs(lines.index(long_text.FACT) - len(lines) // 2) <= 1
