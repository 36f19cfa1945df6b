"""Step 1: sentences and tokens through the teacher. Fills WORK, and goes on where it was stopped."""
import argparse
import gzip
import json
import pathlib
from collections import Counter

import numpy as np

import sentences
from teacher import Teacher

CHUNK = 20000


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("packages", type=pathlib.Path, help="folder that fetch.py filled")
    p.add_argument("work", type=pathlib.Path)
    a = p.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    here = pathlib.Path(__file__).parent
    recipe = json.loads((here / "sources.json").read_text())
    teacher = Teacher(a.packages / recipe["teacher"]["file"])
    found = a.work / "sentences.json.gz"
    if found.exists():
        with gzip.open(found) as f:
            kept = json.load(f)
    else:
        kept = sentences.collect(a.packages, recipe["sentences"], teacher)
        with open(found, "wb") as f, gzip.GzipFile("", "wb", fileobj=f, mtime=0) as z:
            z.write(json.dumps(kept).encode())
    for source, n in Counter(k[3] for k in kept).items():
        print(f"{n:6} {source}")
    print(len(kept), "sentences,", sum(len(k[2]) for k in kept), "tokens", flush=True)

    parts = {"tokens.npy": [[i] for i in range(len(teacher.vocabulary))]}
    for n in range(0, len(kept), CHUNK):
        parts[f"sentences-{n // CHUNK:02}.npy"] = [k[2] for k in kept[n : n + CHUNK]]
    for name, ids in parts.items():
        if not (a.work / name).exists():
            vectors = teacher.encode(ids)
            with open(a.work / "part", "wb") as f:
                np.save(f, vectors)
            (a.work / "part").rename(a.work / name)
            print(name, flush=True)


if __name__ == "__main__":
    main()
