"""Rounds the vectors of a model with codes of a byte (`TLembed1`) to codes of four bits (`TLembed2`), which `model.bin` has.

    narrow.py FILE >model.bin
"""

import struct
import sys
from pathlib import Path

import numpy as np

MAGIC = b"TLembed2"
HEADER = struct.Struct("<8s6I")
# Codes are -8 to 7 and stand for the middles of their steps: -7.5 to 7.5.
LEVELS = 8
# Which share of a vector's largest number the outermost step may begin at; beyond it, numbers are cut off.
REACHES = np.linspace(0.4, 1.0, 61)


def rounded(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The codes and the scale of each vector: of all reaches, the one with the smallest squared error."""
    best = np.full(len(vectors), np.inf)
    codes = np.zeros(vectors.shape, dtype=np.int8)
    scales = np.zeros(len(vectors))
    largest = np.abs(vectors).max(1)
    for reach in REACHES:
        tried = np.clip(np.floor(vectors / (largest * reach / LEVELS)[:, None]), -LEVELS, LEVELS - 1)
        middles = tried + 0.5
        # The scale that suits these codes best.
        scale = (vectors * middles).sum(1) / (middles * middles).sum(1)
        error = ((vectors - middles * scale[:, None]) ** 2).sum(1)
        better = error < best
        best[better], scales[better], codes[better] = error[better], scale[better], tried[better]
    return codes, scales


def narrowed(model: bytes) -> bytes:
    """The same model with codes of four bits: number i in the low half of a byte, number i + dimensions / 2 in its high half."""
    _, dims, tokens, starters, slots, text, longest = HEADER.unpack_from(model)
    before = HEADER.size + slots * 2 + (tokens + 1) * 4
    scales = np.frombuffer(model, "<f4", tokens, before)
    vectors_at = before + tokens * 4 + text
    vectors = np.frombuffer(model, np.int8, tokens * dims, vectors_at).reshape(tokens, dims) * scales[:, None].astype(np.float64)
    codes, scales = rounded(vectors)
    halves = (codes + LEVELS).astype(np.uint8)
    packed = halves[:, : dims // 2] | halves[:, dims // 2 :] << 4
    header = HEADER.pack(MAGIC, dims, tokens, starters, slots, text, longest)
    return header + model[HEADER.size : before] + scales.astype("<f4").tobytes() + model[before + tokens * 4 : vectors_at] + packed.tobytes()


if __name__ == "__main__":
    sys.stdout.buffer.write(narrowed(Path(sys.argv[1]).read_bytes()))
