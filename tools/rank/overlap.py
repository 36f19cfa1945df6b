"""Refuses a training text that has eight words in a row in common with the sets that recall is measured on.

A text is a file of lines, of JSON lines or of JSON, all of whose strings count, plain or gzipped. Ideographs, kana and
the letters of Thai, Lao, Khmer and Burmese count as half a word each: sixteen in a row are refused.
"""
import argparse
import gzip
import json
import pathlib
import re
import sys
import unicodedata

WORDS = 8
LETTERS = 16
# Scripts without spaces between words.
DENSE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
TOKEN = re.compile(rf"[{DENSE}]|[^\W{DENSE}]+")
IS_DENSE = re.compile(rf"[{DENSE}]")


def tokens(text: str) -> list[str]:
    return TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())


def shingles(text: str):
    """Runs of eight words, or of sixteen letters of a dense script."""
    found = tokens(text)
    for at in range(len(found) - WORDS + 1):
        run = found[at : at + WORDS]
        if not any(IS_DENSE.match(t) for t in run):
            yield " ".join(run)
    for at in range(len(found) - LETTERS + 1):
        run = found[at : at + LETTERS]
        if all(IS_DENSE.match(t) for t in run):
            yield "".join(run)


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings(item)


def texts(path: pathlib.Path):
    """The texts of a file, each with its place."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path) as f:
        if path.name.removesuffix(".gz").endswith(".json"):
            for number, text in enumerate(strings(json.load(f)), 1):
                yield number, text
            return
        for number, line in enumerate(f, 1):
            try:
                found = list(strings(json.loads(line)))
            except json.JSONDecodeError:
                found = [line]
            for text in found:
                yield number, text


def of_sets(folder: pathlib.Path) -> dict[str, str]:
    """Each run of words of the sets, with the file that it is in."""
    found = {}
    for path in sorted(folder.rglob("*.jsonl")):
        for line in open(path):
            it = json.loads(line)
            for text in (it.get("content"), it.get("query")):
                for shingle in shingles(text or ""):
                    found.setdefault(shingle, path.name)
    return found


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("sets", type=pathlib.Path, help="folder of `NAME.memories.jsonl` and `NAME.questions.jsonl`")
    p.add_argument("training", nargs="+", type=pathlib.Path)
    p.add_argument("--show", type=int, default=20, help="print at most so many overlaps")
    a = p.parse_args()

    known = of_sets(a.sets)
    if not known:
        sys.exit(f"{a.sets}: no set is in it")
    count = 0
    for path in a.training:
        for number, text in texts(path):
            common = next((s for s in shingles(text) if s in known), None)
            if common is None:
                continue
            count += 1
            if count <= a.show:
                print(f"{path}:{number}: “{common}” is in {known[common]}")
    if count:
        sys.exit(f"refused: {count} texts overlap with the sets; leave their source out")
    print(f"no overlap with {len(known):,} runs of words of the sets")


if __name__ == "__main__":
    main()
