"""The hybrid search of rtk icm 0.10.57 as its documentation and source tell it: SQLite FTS5 and cosine.

0.7 of the cosine and 0.3 of a share of the BM25 rank, each of the best 4 x 10; what one side has not
found counts 0 there. Two forms:

- `as_released`: every word of the question must occur (FTS5 joins quoted words by AND), and the
  share is 1 / (1 + |rank|), so that a better match gets less;
- `mended`: the words are joined by OR, the share is |rank| / (1 + |rank|), and the pool is the best
  4 x 5, as its later versions have it.

The program's default model is multilingual-e5-base, which no package has; MiniLM stands in for it
(the program can be set to it).
"""

import sqlite3

import numpy as np

from minilm import vectors
from sets import RESULTS, Pair

OPERATORS = str.maketrans(dict.fromkeys('-*"(){}:^+~\\', " "))


class Rtk:
    def __init__(self, pair: Pair, joined: str, pool: int, share):
        self.joined, self.pool, self.share = joined, pool, share
        self.keys = [memory["key"] for memory in pair.memories]
        topics = [memory.get("topic", "") for memory in pair.memories]
        texts = [memory["content"] for memory in pair.memories]
        self.words = sqlite3.connect(":memory:")
        self.words.execute("CREATE VIRTUAL TABLE memories USING fts5(topic, summary, keywords)")
        rows = ((place, topic, text) for place, (topic, text) in enumerate(zip(topics, texts)))
        self.words.executemany("INSERT INTO memories (rowid, topic, summary, keywords) VALUES (?, ?, ?, '[]')", rows)
        self.matrix = vectors([f"{topic} {text}" for topic, text in zip(topics, texts)])
        queries = [question["query"] for question in pair.questions]
        self.queries = dict(zip(queries, vectors(queries)))

    def search(self, query: str) -> list[str]:
        scores = {place: 0.3 * self.share(abs(rank)) for place, rank in self._matching(query)}
        cosines = self.matrix @ self.queries[query]
        for place in np.argsort(-cosines, kind="stable")[: self.pool]:
            scores[int(place)] = scores.get(int(place), 0.0) + 0.7 * float(cosines[place])
        best = sorted(scores, key=lambda place: (-scores[place], place))[:RESULTS]
        return [self.keys[place] for place in best]

    def _matching(self, query: str) -> list[tuple[int, float]]:
        words = self.joined.join(f'"{word}"' for word in query.translate(OPERATORS).split())
        asked = "SELECT rowid, rank FROM memories WHERE memories MATCH ? ORDER BY rank LIMIT ?"
        return self.words.execute(asked, (words, self.pool)).fetchall() if words else []


def as_released(pair: Pair) -> Rtk:
    return Rtk(pair, " ", 4 * RESULTS, lambda rank: 1 / (1 + rank))


def mended(pair: Pair) -> Rtk:
    return Rtk(pair, " OR ", 4 * 5, lambda rank: rank / (1 + rank))
