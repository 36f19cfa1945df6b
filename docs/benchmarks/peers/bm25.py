"""BM25 over the texts: k1 1.2, b 0.75, lower-cased words.

- `plain`: words as they are written.
- `stemmed`: English Snowball stems.
- `lucene`: English stems without Lucene's 33 English stop words; Chinese characters and kana in
  overlapping pairs. What a search engine does by default.
"""

import re

import bm25s
import Stemmer

from sets import RESULTS, Pair

WORD = re.compile(r"\w+")
STEMMER = Stemmer.Stemmer("english")
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they "
    "this to was will with".split()
)


class Bm25:
    def __init__(self, pair: Pair, words):
        self.words = words
        self.keys = [memory["key"] for memory in pair.memories]
        self.index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self.index.index([words(memory["content"]) for memory in pair.memories], show_progress=False)

    def search(self, query: str) -> list[str]:
        scores = self.index.get_scores(self.words(query))
        best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:RESULTS]
        return [self.keys[place] for place in best if scores[place] > 0]


def plain(pair: Pair) -> Bm25:
    return Bm25(pair, _words)


def stemmed(pair: Pair) -> Bm25:
    return Bm25(pair, lambda text: STEMMER.stemWords(_words(text)))


def lucene(pair: Pair) -> Bm25:
    return Bm25(pair, _analyzed)


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _analyzed(text: str) -> list[str]:
    words = _words(UNSPACED.sub(lambda run: f" {run[0]} ", text))
    spaced = [word for word in words if word not in STOP_WORDS and not UNSPACED.match(word)]
    runs = [word for word in words if UNSPACED.match(word)]
    pairs = [run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))]
    return STEMMER.stemWords(spaced) + pairs
