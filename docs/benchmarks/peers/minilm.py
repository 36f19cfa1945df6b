"""all-MiniLM-L6-v2, run by tools/distil/teacher.py, with its vectors kept between runs."""

import hashlib
import os
import sys
from functools import cache
from pathlib import Path

import numpy as np

from sets import RESULTS, Pair

sys.path.append(str(Path(__file__).resolve().parents[3] / "tools" / "distil"))
from teacher import CLS, SEP, Teacher  # noqa: E402

LONGEST = 254


def vectors(texts: list[str]) -> np.ndarray:
    """Returns a unit vector a text. PEERS_MODEL names the wheel, PEERS_CACHE a folder for vectors."""
    name = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]
    path = Path(os.environ["PEERS_CACHE"]) / f"{name}.npy"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, _encode(texts))
    return np.load(path)


def one(text: str) -> np.ndarray:
    """Returns the unit vector of one text, without a pool of workers and without the cache."""
    (ids,) = _model().ids([text])
    return _model()._forward(np.array([[CLS, *ids[:LONGEST], SEP]]))[0]


def _encode(texts: list[str]) -> np.ndarray:
    return _model().encode(_model().ids(texts), longest=LONGEST, workers=1)


@cache
def _model() -> Teacher:
    return Teacher(os.environ["PEERS_MODEL"])


class MiniLm:
    """The ten memories of the greatest cosine. The text alone is embedded."""

    def __init__(self, pair: Pair):
        self.keys = [memory["key"] for memory in pair.memories]
        self.matrix = vectors([memory["content"] for memory in pair.memories])
        queries = [question["query"] for question in pair.questions]
        self.queries = dict(zip(queries, vectors(queries)))

    def search(self, query: str) -> list[str]:
        best = np.argsort(-(self.matrix @ self.queries[query]), kind="stable")[:RESULTS]
        return [self.keys[place] for place in best]
