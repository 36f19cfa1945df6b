"""The file static-v1.bin: layout in README.md. Also the vector of a text, as the table gives it."""
import struct

import numpy as np
from blake3 import blake3

MAGIC, VERSION, HEADER = b"icm-emb\0", 1, 64


def rows_of(vocabulary: list[str]) -> np.ndarray:
    """Reference ids that have a row, in order: all but [unused…]."""
    return np.array([i for i, w in enumerate(vocabulary) if not w.startswith("[unused")])


def quantize(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = (np.abs(t).max(1) / 127).astype("<f4")
    q = np.rint(t / np.where(scale > 0, scale, 1)[:, None])
    return np.clip(q, -127, 127).astype(np.int8), scale


def write(path, q: np.ndarray, scale: np.ndarray, words: list[str]):
    raw = [w.encode() for w in words]
    ends = np.cumsum([0] + [len(w) for w in raw]).astype("<u4")
    order = np.array(sorted(range(len(raw)), key=lambda i: raw[i]), "<u2")
    body = q.tobytes() + scale.astype("<f4").tobytes() + ends.tobytes() + order.tobytes() + b"".join(raw)
    head = MAGIC + struct.pack("<IIIIQ", VERSION, *q.shape, int(ends[-1]), 0)
    path.write_bytes(head + blake3(body).digest() + body)


def read(path):
    raw = path.read_bytes()
    version, rows, dims, text, zero = struct.unpack("<IIIIQ", raw[8:32])
    assert raw[:8] == MAGIC and version == VERSION and zero == 0
    assert blake3(raw[HEADER:]).digest() == raw[32:HEADER]
    at = HEADER
    q = np.frombuffer(raw, np.int8, rows * dims, at).reshape(rows, dims)
    scale = np.frombuffer(raw, "<f4", rows, at := at + rows * dims)
    ends = np.frombuffer(raw, "<u4", rows + 1, at := at + 4 * rows)
    order = np.frombuffer(raw, "<u2", rows, at := at + 4 * (rows + 1))
    at += 2 * rows
    assert len(raw) == at + text
    words = [raw[at + a : at + b].decode() for a, b in zip(ends, ends[1:])]
    assert [words[i].encode() for i in order] == sorted(w.encode() for w in words)
    return q, scale, words


def vectors(ids: list[list[int]], table: np.ndarray, row_of: dict[int, int]) -> np.ndarray:
    """The sum of the rows, scaled to length 1; zeros where no token has a row that is not zero."""
    out = np.zeros((len(ids), table.shape[1]), np.float32)
    for v, i in zip(out, ids):
        if i:
            v[:] = table[[row_of[t] for t in i]].sum(0)
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
