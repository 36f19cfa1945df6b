"""Step 2: the table. Principal axes, SIF weights for the prior, a ridge fit to the teacher's sentences, int8."""
import argparse
import gzip
import hashlib
import json
import pathlib

import numpy as np
from scipy import sparse

import sentences
import table
from teacher import Teacher

DIMS = 256
SPECIAL = {0, 100, 101, 102, 103}


class Data:
    """What encode.py left, split, with the rows of the table as columns of sparse matrices of token shares."""

    def __init__(self, work: pathlib.Path, vocabulary: list[str]):
        with gzip.open(work / "sentences.json.gz") as f:
            kept = json.load(f)
        parts = sorted(work.glob("sentences-*.npy"))
        self.y = np.concatenate([np.load(f) for f in parts])
        kept = kept[: len(self.y)]
        self.rows = table.rows_of(vocabulary)
        self.words = [vocabulary[i] for i in self.rows]
        self.row_of = {int(r): n for n, r in enumerate(self.rows)}
        self.tokens = np.load(work / "tokens.npy")[self.rows]
        self.blank = np.array([r in SPECIAL for r in self.rows])
        index = list(range(len(kept)))
        train, held = sentences.split([(k[0], i) for i, k in enumerate(kept)])
        self.train = np.array([i for _, i in train])
        self.held = np.array([i for _, i in held])
        self.groups = np.array([k[0] for k in kept])
        self.kept = kept
        self.x = self.shares([kept[i][2] for i in index])

    def shares(self, ids: list[list[int]]) -> sparse.csr_matrix:
        """Each text's tokens as shares that add up to 1; special and unknown tokens do not count."""
        cols, ptr, val = [], [0], []
        for i in ids:
            own = [self.row_of[t] for t in i if t not in SPECIAL]
            cols += own
            val += [1 / len(own)] * len(own) if own else []
            ptr.append(len(cols))
        m = sparse.csr_matrix((np.array(val, np.float32), np.array(cols, np.int32), np.array(ptr)), (len(ids), len(self.rows)))
        m.sum_duplicates()
        return m


def axes(vectors: np.ndarray) -> np.ndarray:
    """The 256 leading directions about zero (not about the mean: cosines are to stay the teacher's), 384 × 256."""
    w, v = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
    v = v[:, np.argsort(w)[::-1][:DIMS]]
    v *= np.sign(v[np.abs(v).argmax(0), np.arange(DIMS)])
    return v.astype(np.float32)


def share_of_words(d: Data, x) -> np.ndarray:
    """How often each row is met in training, smoothed by one."""
    met = np.bincount(x.indices, minlength=len(d.rows)) + 1.0
    return met / met.sum()


def prior(d: Data, p: np.ndarray, seen: np.ndarray, a: float) -> np.ndarray:
    t = (d.tokens @ p) * (a / (a + seen))[:, None].astype(np.float32)
    t[d.blank] = 0
    return t


def ridge(x, y, t0, strength, weight=None, rounds=60, tolerance=1e-3, start=None, say=None):
    """argmin over t of |w(xt − y)|² + Σ strength·|t − t0|², by conjugate gradients with the diagonal as preconditioner.

    `strength` is a number or one for each row: a row that few sentences mention stays near its prior."""
    if weight is not None:
        d = sparse.diags(weight.astype(np.float32))
        x, y = (d @ x).tocsr(), y * weight[:, None].astype(np.float32)
    xt = x.T.tocsr()
    strength = np.broadcast_to(np.asarray(strength, np.float32), t0.shape[:1])[:, None]
    scale = 1 / (np.asarray(x.multiply(x).sum(0)).reshape(-1, 1).astype(np.float32) + strength)
    e = np.zeros_like(t0) if start is None else start - t0
    r = xt @ (y - x @ (t0 + e)) - strength * e
    z = scale * r
    q = z.copy()
    rz = (r * z).sum(0)
    first = (scale * (xt @ y) ** 2).sum()
    for n in range(rounds):
        g = xt @ (x @ q) + strength * q
        step = rz / np.maximum((q * g).sum(0), 1e-30)
        e += step * q
        r -= step * g
        z = scale * r
        new = (r * z).sum(0)
        if new.sum() < tolerance**2 * first:
            break
        q = z + (new / np.maximum(rz, 1e-30)) * q
        rz = new
    if say:
        say(f"{n + 1} rounds")
    return t0 + e


def unit(m):
    return m / np.maximum(np.linalg.norm(m, axis=1, keepdims=True), 1e-12)


def cosines(x, t, y, p):
    """Mean cosine to the projected and to the full teacher."""
    m = unit(x @ t)
    return float((m * unit(y @ p)).sum(1).mean()), float((m * (y @ p)).sum(1).mean())


def lifted(d: Data, t: np.ndarray, met: np.ndarray, least: int) -> np.ndarray:
    """A better prior: the linear map from the teacher's token vectors to the rows that the sentences
    determine well, applied to all tokens. What is never met gets the row a token like it would have."""
    x = np.concatenate([d.tokens, np.ones((len(d.tokens), 1), np.float32)], 1)
    known = (met >= least) & ~d.blank
    w = np.sqrt(np.minimum(met[known], 200)).astype(np.float32)[:, None]
    xw = x[known] * w
    m = np.linalg.solve((xw.T @ xw + np.eye(x.shape[1])).astype(np.float64), (xw.T @ (t[known] * w)).astype(np.float64))
    out = x @ m.astype(np.float32)
    out[d.blank] = 0
    return out


def fit(d: Data, a=1e-3, first=0.05, strength=0.15, least=5, turns=2, on="sentences", most=None, say=print):
    """(SIF prior, table, axes)."""
    pick = d.train[:most]
    x, y = d.x[pick], d.y[pick]
    p = axes(d.tokens[~d.blank] if on == "tokens" else y)
    target = unit(y @ p)
    t0 = prior(d, p, share_of_words(d, x), a)
    m = x @ t0
    t0 *= np.float32((m * target).sum() / (m * m).sum())
    met = np.bincount(x.indices, minlength=len(d.rows))
    t = ridge(x, target, t0, first, rounds=20)
    for n in range(turns):
        # Length does not matter to a cosine: aim at the nearest point of the teacher's ray, and weigh
        # the miss by the length it is seen from.
        m = x @ t
        length = np.maximum(np.linalg.norm(m, axis=1), 0.05)
        reach = (m * target).sum(1).clip(0.05)
        t1 = lifted(d, t, met, least)
        t = ridge(x, target * reach[:, None], t1, strength, weight=1 / length, rounds=20, start=t)
        if say:
            say(f"turn {n + 1}: held out %.4f projected, %.4f full" % cosines(d.x[d.held], t, d.y[d.held], p), flush=True)
    t[d.blank] = 0
    return t0, t, p


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("packages", type=pathlib.Path)
    p.add_argument("work", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path, help="static-v1.bin")
    args = p.parse_args()
    recipe = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())
    d = Data(args.work, Teacher(args.packages / recipe["teacher"]["file"]).vocabulary)
    print(len(d.train), "sentences for the fit,", len(d.held), "held out")
    before, t, axis = fit(d)
    q, scale = table.quantize(t)
    table.write(args.out, q, scale, d.words)
    x, y = d.x[d.held], d.y[d.held]
    whole = {"before": before, "after": t, "int8": q * scale[:, None]}
    for name, m in whole.items():
        print(f"{name}: %.4f projected, %.4f full" % cosines(x, m, y, axis))
    for g in sorted(set(d.groups[d.held])):
        of = d.groups[d.held] == g
        print(f"int8, {g} ({of.sum()}): %.4f projected, %.4f full" % cosines(x[of], whole["int8"], y[of], axis))
    print("the axes keep %.4f of the teacher" % np.linalg.norm(y @ axis, axis=1).mean())
    print("sha256", hashlib.sha256(args.out.read_bytes()).hexdigest())


if __name__ == "__main__":
    main()
