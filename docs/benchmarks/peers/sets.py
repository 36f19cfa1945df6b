"""Retrieval sets and the measures of one ranking. The measures are those of `icm bench recall`."""

import json
import random
from dataclasses import dataclass
from pathlib import Path

RESULTS = 10
MEASURES = ("any@1", "any@5", "any@10", "evidence@10", "MRR")
RESAMPLES = 1000
SEED = 1


@dataclass
class Pair:
    """One store: its memories in order, and the questions that are asked of it."""

    name: str
    memories: list[dict]
    questions: list[dict]


def pairs(folder: Path) -> list[Pair]:
    """Returns every NAME.memories.jsonl of a folder with its NAME.questions.jsonl."""
    found = []
    for path in sorted(folder.glob("*.memories.jsonl")):
        name = path.name.removesuffix(".memories.jsonl")
        found.append(Pair(name, _lines(path), _lines(path.with_name(f"{name}.questions.jsonl"))))
    if not found:
        raise SystemExit(f"{folder}: no NAME.memories.jsonl; name a folder of one set")
    return found


def measure(found: list[str], evidence: list[str]) -> tuple[float, ...]:
    """Returns the five measures of one question, in the order of MEASURES."""
    places = {key: place for place, key in reversed(list(enumerate(found[:RESULTS], 1)))}
    ranks = [places[key] for key in evidence if key in places]
    first = min(ranks, default=None)
    hit = lambda k: float(first is not None and first <= k)
    share = len(ranks) / len(evidence) if evidence else 0.0
    return hit(1), hit(5), hit(10), share, 1 / first if first else 0.0


def mean(rows: list[tuple[float, ...]]) -> list[float]:
    return [sum(column) / len(rows) for column in zip(*rows)]


def interval(values: list[float]) -> tuple[float, float]:
    """Returns the 95 % bootstrap interval of the mean: RESAMPLES draws over questions, percentiles."""
    draw = random.Random(SEED)
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def _lines(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]
