"""Fits how sure it is that a question is answered: logistic regression on the features named `fit.…`."""
import argparse
import json
import pathlib

import numpy as np

from rankings import SHOWN, Rankings, load

FLOORS = np.arange(0, 1, 0.05)
# Most of the own questions that may lose all their evidence.
LOSS_MAX = 0.03
# The value that the program made of the others, and the part of a fit that hangs on the result.
VALUE, OWN = "fit.value", "fit.own"
# It tells the sets apart, and is left out for that.
MEMORIES = "fit.memories"


def evidence(rankings: Rankings) -> list[str]:
    """The names of the features that tell whether a question is answered."""
    return [n for n in rankings.names if n.startswith("fit.") and n not in (VALUE, OWN, MEMORIES)]


class Part:
    """The first ten results of each question of a part, own and foreign."""

    def __init__(self, rankings: Rankings, parts: set[int]):
        self.asked = [a for a in rankings.asked if a.part in parts]
        columns = [rankings.column(name) for name in evidence(rankings)]
        value = rankings.column(VALUE)
        # All results of a question have the same.
        self.x = [a.values[0, columns].astype(float) if len(a.found) else None for a in self.asked]
        self.found = [a.found[:SHOWN] for a in self.asked]
        self.given = [a.fit[:SHOWN].astype(float) for a in self.asked]
        # The rest of a fit hangs on the result.
        self.rest = [fit / max(a.values[0, value], 1e-3) if len(fit) else fit for fit, a in zip(self.given, self.asked)]
        groups = rankings.groups()
        names = [(groups[a.set], a.foreign) for a in self.asked]
        counts = {n: names.count(n) for n in set(names)}
        # Own questions of each group weigh the same, and so do its foreign ones.
        self.weight = np.array([1 / counts[n] for n in names])
        self.foreign = np.array([a.foreign for a in self.asked], bool)
        self.other = np.array([a.other for a in self.asked], bool)

    def rows(self, foreign_weight: float):
        """Questions, labelled by whether they are own ones with evidence among the first ten."""
        xs, ys, ws = [], [], []
        for x, found, weight, foreign in zip(self.x, self.found, self.weight, self.foreign):
            if x is not None and (foreign or found.any()):
                xs.append(x)
                ys.append(0.0 if foreign else 1.0)
                ws.append(weight * (foreign_weight if foreign else 1.0))
        return np.array(xs), np.array(ys), np.array(ws)

    def report(self, title: str, fits: list[np.ndarray]) -> None:
        """Prints the figures of some fits, and the largest floor that loses few enough own questions."""
        own = ~self.foreign
        first = [(f[0], found[0]) for f, found, o in zip(fits, self.found, own) if o and len(f)]
        fit, right = np.array([f for f, _ in first]), np.array([r for _, r in first], bool)
        sure = fit >= 0.5
        print(f"\n## {title}\n")
        print(f"first results with fit ≥ 0.5: {100 * mean(right[sure]):.1f} % of {sure.sum()} right; "
              f"right first results: {100 * mean(sure[right]):.1f} % of {right.sum()} have fit ≥ 0.5\n")
        print("| fit | first results | right |\n|---|---|---|")
        for low in range(10):
            here = np.minimum((fit * 10).astype(int), 9) == low
            print(f"| {low / 10:.1f} to {(low + 1) / 10:.1f} | {here.sum()} | {100 * mean(right[here]):.1f} |")
        kept = np.array([f[found].max() for f, found, o in zip(fits, self.found, own) if o and found.any()])
        most = np.array([f.max() if len(f) else -1 for f in fits])
        same, other = self.foreign & ~self.other, self.other
        print("\n| floor | foreign answered | of other sets | own lost |\n|---|---|---|---|")
        for floor in FLOORS:
            print(f"| {floor:.2f} | {100 * mean(most[same] >= floor):.1f} | {100 * mean(most[other] >= floor):.1f} "
                  f"| {100 * mean(kept < floor):.1f} |")
        floor = float(np.quantile(kept, LOSS_MAX)) if len(kept) else 0.0
        print(f"\nfloor {floor:.3f} loses {100 * LOSS_MAX:.0f} % of own questions: {100 * mean(most[same] >= floor):.1f} % "
              f"of foreign ones are answered, {100 * mean(most[other] >= floor):.1f} % of those of other sets")


def mean(values) -> float:
    return float(np.mean(values)) if len(values) else 0.0


def logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: float) -> np.ndarray:
    """Weights of the columns of x and, last, the constant, by Newton's method."""
    weight = weight / weight.mean()
    x = np.hstack([x, np.ones((len(x), 1))])
    penalty = np.full(x.shape[1], ridge)
    penalty[-1] = 1e-6
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = sigmoid(x @ beta)
        gradient = x.T @ (weight * (p - y)) + penalty * beta
        hessian = (x.T * (weight * p * (1 - p))) @ x + np.diag(penalty)
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < 1e-8:
            break
    return beta


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("rankings", nargs="+", type=pathlib.Path)
    p.add_argument("--part", choices=["0", "1", "both"], default="0", help="fit on this part")
    p.add_argument("--foreign-weight", type=float, default=1.0, help="of foreign questions against own ones")
    p.add_argument("--given", action="store_true", help="fit nothing: report the fits of the rankings")
    p.add_argument("--ridge", type=float, default=1.0)
    p.add_argument("--digits", type=int, default=1, help="round the weights to so many digits behind the point")
    p.add_argument("--out", type=pathlib.Path, help="write the weights as JSON")
    a = p.parse_args()

    rankings = load(a.rankings, SHOWN)
    names = evidence(rankings)
    if not names:
        raise SystemExit("the rankings have no features named `fit.…`: make them with a program that explains them")
    parts = [Part(rankings, {part}) for part in (0, 1)]
    if a.given:
        for part in (0, 1):
            parts[part].report(f"part {part}, fits as given", parts[part].given)
        return
    fit_on = Part(rankings, {0, 1}) if a.part == "both" else parts[int(a.part)]
    beta = np.round(logistic(*fit_on.rows(a.foreign_weight), a.ridge), a.digits)
    print("| feature | weight |\n|---|---|")
    for name, weight in zip([*names, "constant"], beta):
        print(f"| {name} | {weight:g} |")
    for part in (0, 1):
        here = parts[part]
        fits = [rest if x is None else rest * sigmoid(x @ beta[:-1] + beta[-1]) for x, rest in zip(here.x, here.rest)]
        parts[part].report(f"part {part}{' (fitted)' if a.part in (str(part), 'both') else ''}", fits)
    if a.out:
        a.out.write_text(json.dumps(dict(zip([*names, "constant"], beta.tolist())), indent=1) + "\n")


if __name__ == "__main__":
    main()
