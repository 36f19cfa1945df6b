"""Rankings of `icm bench recall SET… --limit 200 --rankings FILE` as arrays, and their split in two parts."""
import gzip
import json
import pathlib
import re
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

SHOWN = 10


@dataclass
class Asked:
    """One question and what was found."""

    set: str
    store: str
    topic: str
    foreign: bool
    other: bool
    evidence: int
    found: np.ndarray  # bool, best first: is it evidence?
    fit: np.ndarray
    values: np.ndarray  # results × features
    part: int = 0


@dataclass
class Rankings:
    names: list[str] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)

    def column(self, name: str) -> int:
        return self.names.index(name)

    def groups(self) -> dict[str, str]:
        """The group of each set: what `xquad-de` and `xquad-en` have in common, or the set itself."""
        sets = {a.set for a in self.asked}
        return {s: stem(s) if sum(stem(s) == stem(o) for o in sets) > 1 else s for s in sets}


def stem(name: str) -> str:
    return name.rpartition("-")[0] or name


def article(topic: str) -> str:
    """`notes-012` of `notes-012-3`, as `icm bench recall` has it."""
    head, _, number = topic.rpartition("-")
    return head if head and number.isdigit() else topic


def lines(path: pathlib.Path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as f:
        for line in f:
            yield json.loads(line)


def load(paths: list[pathlib.Path], most: int = 200) -> Rankings:
    """Reads rankings. Of each question at most so many results are kept; a feature that a result lacks is 0."""
    names: dict[str, int] = {}
    asked = []
    for path in paths:
        for it in lines(path):
            ranked = it["ranked"][:most]
            rows = [r.get("features", {}) for r in ranked]
            for row in rows:
                for name in row:
                    names.setdefault(name, len(names))
            values = np.zeros((len(rows), len(names)), np.float32)
            for place, row in enumerate(rows):
                for name, value in row.items():
                    values[place, names[name]] = value
            evidence = set(it["evidence"])
            foreign = it.get("foreign", False)
            asked.append(
                Asked(
                    set=it["set"],
                    store=it["store"],
                    topic=it.get("topic") or "",
                    foreign=foreign,
                    other=foreign and it["from"].split("/")[0] != it["set"],
                    evidence=len(evidence),
                    found=np.array([r["key"] in evidence for r in ranked], bool),
                    fit=np.array([r.get("fit", 0.0) for r in ranked], np.float32),
                    values=values,
                )
            )
    for a in asked:
        short = len(names) - a.values.shape[1]
        if short:
            a.values = np.pad(a.values, ((0, 0), (0, short)))
    rankings = Rankings(list(names), asked)
    split(rankings)
    return rankings


def split(rankings: Rankings) -> None:
    """Puts every other conversation or article in part 1. The sets of a group are split at the same articles.

    Foreign questions of a set go by turns: no weight is fitted to them alone.
    """
    groups = rankings.groups()
    stores, topics = defaultdict(set), defaultdict(set)
    for a in rankings.asked:
        stores[a.set].add(a.store)
        topics[groups[a.set]].add(a.topic)
    stems = {g: {article(t) for t in ts if t} for g, ts in topics.items()}

    def unit(a: Asked) -> str:
        if len(stores[a.set]) > 1:
            return a.store
        return article(a.topic) if len(stems[groups[a.set]]) > 1 else a.topic

    units = defaultdict(set)
    for a in rankings.asked:
        if not a.foreign:
            units[groups[a.set]].add(unit(a))
    part = {g: {u: n % 2 for n, u in enumerate(sorted(us, key=natural))} for g, us in units.items()}
    turn = defaultdict(int)
    for a in rankings.asked:
        if a.foreign:
            a.part = turn[a.set] % 2
            turn[a.set] += 1
        else:
            a.part = part[groups[a.set]][unit(a)]


def natural(name: str):
    return [int(p) if p.isdigit() else p for p in re.split(r"(\d+)", name)]
