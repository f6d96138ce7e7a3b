"""Text to tokens and back, and the chat template, from what the model file holds."""

import codecs
import re

from tokenizers import Tokenizer as Engine
from tokenizers import models, pre_tokenizers

# What the file's template must be for chat() to follow it: ChatML, with a system message of its own in front.
TEMPLATE = re.compile(
    re.escape(
        "{% for message in messages %}"
        "{% if loop.first and messages[0]['role'] != 'system' %}"
        "{{ '<|im_start|>system\nSYSTEM<|im_end|>\n' }}"
        "{% endif %}"
        "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
        "{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    ).replace("SYSTEM", "(?P<system>[^<']*)")
)


class Tokenizer:
    """Byte-level BPE in which text never yields a control token, whatever it says."""

    def __init__(self, vocabulary):
        if vocabulary.pre_tokenizer != "smollm":
            raise ValueError(f"pre-tokenizer: got {vocabulary.pre_tokenizer!r}, expected 'smollm'")
        ids = {token: index for index, token in enumerate(vocabulary.tokens)}
        self.engine = Engine(models.BPE(vocab=ids, merges=vocabulary.merges))
        # Digits stand alone; the rest is split as GPT-2 does.
        self.engine.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
        )
        self.start, self.end = ids["<|im_start|>"], ids["<|im_end|>"]
        if self.end != vocabulary.end_of_turn:
            raise ValueError(f"end of turn: got token {vocabulary.end_of_turn}, expected <|im_end|> ({self.end})")
        self.system = system_message(vocabulary.chat_template)
        values = {character: value for value, character in byte_characters().items()}
        self.bytes = [
            b"" if index in vocabulary.control else bytes(values[character] for character in token)
            for index, token in enumerate(vocabulary.tokens)
        ]

    def encode(self, text):
        """The tokens of text; six control characters that no token spells are left out."""
        return self.engine.encode(text, add_special_tokens=False).ids

    def decode(self, tokens):
        stream = TextStream(self)
        return "".join(map(stream.push, tokens)) + stream.flush()

    def chat(self, message):
        """The tokens of a conversation's first turn, up to where the reply starts."""
        turns = [("system", self.system), ("user", message)]
        tokens = []
        for role, content in turns:
            tokens += [self.start, *self.encode(f"{role}\n{content}"), self.end, *self.encode("\n")]
        return [*tokens, self.start, *self.encode("assistant\n")]


class TextStream:
    """Tokens in, text out; a character split over tokens is held back until it is whole."""

    def __init__(self, tokenizer):
        self.bytes = tokenizer.bytes
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token):
        return self.decoder.decode(self.bytes[token])

    def flush(self):
        return self.decoder.decode(b"", final=True)


def system_message(template):
    """The default system message in the file's template."""
    found = TEMPLATE.fullmatch(template)
    if found is None:
        raise ValueError(f"chat template: got {template!r}, expected ChatML with a default system message")
    return found["system"]


def byte_characters():
    """GPT-2's spelling of bytes: printable ones stand for themselves, the others for characters from U+0100."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    characters = {value: chr(value) for value in printable}
    others = (value for value in range(256) if value not in characters)
    return characters | {value: chr(256 + index) for index, value in enumerate(others)}
