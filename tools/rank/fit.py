"""Fits the weights of the ranking on one part of the sets and reports both parts."""
import argparse
import json
import pathlib

import numpy as np

from rankings import Rankings, load

GRID = [0, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 4, 5, 7, 10]
COLUMNS = ["transcripts", "notes"]
MEASURES = ["any@1", "any@5", "any@10", "evidence@10", "MRR"]
# A change must be worth so much, in the mean of MRR and any@1, to leave a round number for another.
LEAST_GAIN = 0.0005


class Table:
    """All own questions of some parts as padded arrays: question × result × feature."""

    def __init__(self, rankings: Rankings, parts: set[int], transcript: str):
        asked = [a for a in rankings.asked if not a.foreign and a.part in parts]
        groups = rankings.groups()
        self.names = [n for n in rankings.names if n != transcript and not n.startswith("fit.")]
        places = [rankings.column(n) for n in self.names]
        most = max((len(a.found) for a in asked), default=1) or 1
        shape = (len(asked), most)
        self.values = np.zeros((len(places), *shape), np.float32)
        self.is_evidence = np.zeros(shape, bool)
        self.is_there = np.zeros(shape, bool)
        self.is_transcript = np.zeros(shape, bool)
        for q, a in enumerate(asked):
            n = len(a.found)
            self.values[:, q, :n] = a.values[:, places].T
            self.is_evidence[q, :n] = a.found
            self.is_there[q, :n] = True
            if transcript in rankings.names:
                self.is_transcript[q, :n] = a.values[:, rankings.column(transcript)] > 0.5
        self.evidence = np.array([a.evidence for a in asked])
        self.sets = np.array([a.set for a in asked])
        self.groups = np.array([groups[a.set] for a in asked])
        # Equal scores stay in the order in which they were found.
        self.base = np.where(self.is_there, -1e-6 * np.arange(most, dtype=np.float32), -np.inf).astype(np.float32)
        self.as_found = self.measures(self.base)
        # Each group counts as one, and each set of it as much as the others.
        self.share = np.zeros(len(asked))
        for group in set(self.groups):
            sets = set(self.sets[self.groups == group])
            for name in sets:
                here = self.sets == name
                self.share[here] = 1 / (len(set(self.groups)) * len(sets) * here.sum())

    def part_of(self, column: int) -> np.ndarray:
        return self.is_transcript if column == 0 else ~self.is_transcript

    def scores(self, weights: np.ndarray) -> np.ndarray:
        sums = self.base.copy()
        for column in range(len(COLUMNS)):
            sums += self.part_of(column) * np.tensordot(weights[column], self.values, 1).astype(np.float32)
        return sums

    def first(self, scores: np.ndarray) -> np.ndarray:
        """The place of the best evidence, from 1; infinite if none was found."""
        best = np.where(self.is_evidence, scores, -np.inf).max(1, keepdims=True)
        places = 1.0 + (scores > best).sum(1)
        return np.where(np.isfinite(best[:, 0]), places, np.inf)

    def goal(self, scores: np.ndarray) -> float:
        first = self.first(scores)
        return float(self.share @ ((1 / first + (first == 1)) / 2))

    def measures(self, scores: np.ndarray) -> np.ndarray:
        """Each question's measures, in the order of MEASURES."""
        first = self.first(scores)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :10]
        found = np.take_along_axis(self.is_evidence, best, 1).sum(1)
        share = found / np.maximum(self.evidence, 1)
        return np.stack([first <= 1, first <= 5, first <= 10, share, 1 / first], 1).astype(float)

    def mean(self, measures: np.ndarray) -> np.ndarray:
        return self.share @ measures


def descend(table: Table, start: np.ndarray, grid: list[float], seed: int, passes: int) -> tuple[np.ndarray, float]:
    """Sets one weight at a time to the best number of the grid, in an order that the seed draws, until none moves."""
    rng = np.random.default_rng(seed)
    weights, used = start.copy(), [table.part_of(c).any() for c in range(len(COLUMNS))]
    scores = table.scores(weights)
    best = table.goal(scores)
    for _ in range(passes):
        before = best
        for c, f in rng.permutation([(c, f) for c in range(len(COLUMNS)) if used[c] for f in range(len(table.names))]):
            column = table.part_of(c) * table.values[f]
            if not column.any():
                continue
            rest = scores - np.float32(weights[c, f]) * column
            tried = [(table.goal(rest + np.float32(w) * column), w) for w in grid]
            top, value = max(tried, key=lambda t: (t[0], -abs(t[1])))
            if top > best + LEAST_GAIN:
                weights[c, f], best = value, top
                scores = rest + np.float32(value) * column
        # Sums of many changes drift.
        scores = table.scores(weights)
        best = table.goal(scores)
        if best <= before + LEAST_GAIN:
            break
    return weights, best


def pruned(table: Table, weights: np.ndarray) -> np.ndarray:
    """Weights of 0 where that costs less than LEAST_GAIN."""
    weights = weights.copy()
    best = table.goal(table.scores(weights))
    for c, f in zip(*np.nonzero(weights)):
        tried = weights.copy()
        tried[c, f] = 0
        goal = table.goal(table.scores(tried))
        if goal > best - LEAST_GAIN:
            weights, best = tried, max(best, goal)
    return weights


def percents(values) -> str:
    return " / ".join(f"{100 * v:.1f}" for v in values)


def report(title: str, table: Table, weights: np.ndarray) -> None:
    fitted = table.measures(table.scores(weights))
    print(f"\n## {title}: {' / '.join(MEASURES)}\n")
    print("| set | n | as ranked | fitted |\n|---|---|---|---|")
    for name in sorted(set(table.sets)):
        here = table.sets == name
        print(f"| {name} | {here.sum()} | {percents(table.as_found[here].mean(0))} | {percents(fitted[here].mean(0))} |")
    print(f"| mean of groups | | {percents(table.mean(table.as_found))} | {percents(table.mean(fitted))} |")


def ablation(parts: list[tuple[str, Table]], weights: np.ndarray) -> None:
    print("\n## Each weight set to 0: change in points, mean of groups\n")
    heads = [f"{title}: {m}" for title, _ in parts for m in ("any@1", "evidence@10", "MRR")]
    print("| column | feature | weight | " + " | ".join(heads) + " |\n|" + "---|" * (3 + len(heads)))
    whole = [t.mean(t.measures(t.scores(weights))) for _, t in parts]
    for c, f in zip(*np.nonzero(weights)):
        without = weights.copy()
        without[c, f] = 0
        cells = []
        for (_, table), before in zip(parts, whole):
            change = table.mean(table.measures(table.scores(without))) - before
            cells += [f"{100 * change[m]:+.2f}" for m in (0, 3, 4)]
        print(f"| {COLUMNS[c]} | {parts[0][1].names[f]} | {weights[c, f]:g} | " + " | ".join(cells) + " |")


def as_json(names: list[str], weights: np.ndarray) -> dict:
    return {c: {n: float(w) for n, w in zip(names, row)} for c, row in zip(COLUMNS, weights)}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("rankings", nargs="+", type=pathlib.Path)
    p.add_argument("--part", choices=["0", "1", "both"], default="0", help="fit on this part")
    p.add_argument("--start", type=pathlib.Path, help="weights to start from, as --out writes them; else all are 1")
    p.add_argument("--keep", action="store_true", help="fit nothing: report the weights of --start")
    p.add_argument("--out", type=pathlib.Path, help="write the weights as JSON")
    p.add_argument("--transcript", default="transcript", help="the feature that is 1 in transcripts")
    p.add_argument("--negative", action="store_true", help="allow weights below 0")
    p.add_argument("--results", type=int, default=200, help="results of each question")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--orders", type=int, default=3, help="how often to start anew with another order of weights")
    p.add_argument("--passes", type=int, default=6)
    a = p.parse_args()

    rankings = load(a.rankings, a.results)
    tables = [Table(rankings, {part}, a.transcript) for part in (0, 1)]
    fit_on = Table(rankings, {0, 1}, a.transcript) if a.part == "both" else tables[int(a.part)]
    names = fit_on.names
    if not names:
        raise SystemExit("the rankings have no features: make them with a program that explains them")
    start = np.ones((len(COLUMNS), len(names)))
    if a.start:
        given = json.loads(a.start.read_text())
        unknown = {n for column in given.values() for n in column} - set(names)
        if unknown:
            raise SystemExit(f"{a.start}: the rankings have no feature {', '.join(sorted(unknown))}")
        start = np.array([[given.get(c, {}).get(n, 0.0) for n in names] for c in COLUMNS])
    weights = start
    if not a.keep:
        grid = sorted({-g for g in GRID if g <= 3} | set(GRID)) if a.negative else GRID
        tried = [descend(fit_on, start, grid, a.seed + n, a.passes) for n in range(a.orders)]
        weights = pruned(fit_on, max(tried, key=lambda t: t[1])[0])
        print("goal of each order: " + ", ".join(f"{g:.4f}" for _, g in tried))
    for column in range(len(COLUMNS)):
        if not fit_on.part_of(column)[fit_on.is_there].any():
            weights[column] = 0

    print("\n| feature | " + " | ".join(COLUMNS) + " |\n|---|---|---|")
    for f, name in enumerate(names):
        print(f"| {name} | " + " | ".join(f"{weights[c, f]:g}" for c in range(2)) + " |")
    titles = [f"part {part}{' (fitted)' if a.part in (str(part), 'both') else ''}" for part in (0, 1)]
    for title, table in zip(titles, tables):
        report(title, table, weights)
    ablation(list(zip(titles, tables)), weights)
    if a.out:
        a.out.write_text(json.dumps(as_json(names, weights), indent=1) + "\n")


if __name__ == "__main__":
    main()
