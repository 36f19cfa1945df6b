#!/usr/bin/env python3
"""Stores pairs of an older and a newer statement, asks each pair's question, and counts what is said of them.

    docs/benchmarks/changed.py ICM FILE... [--pairs]

ICM is the program, FILE one of docs/benchmarks/changed/*.jsonl. All pairs go into one new store, each in a topic of
its own: the older statement as of a month ago, the newer one as of now. Each question is asked twice: of the whole
store, and of the pair's topic. `--pairs` prints a line of JSON for each pair before the table.

For changed pairs `newer` should be high, for similar ones `wrong` low, and `right` no lower than before:
  newer   the newer statement stands before the older one, or the older one is not among the results
  older   the older statement stands before the newer one, or the newer one is not among the results
  none    neither is among the results; the pair counts in no other column of the answer
  right   of similar pairs that say which statement answers: that one stands first
  said    the answer says that the newer statement seems to replace the older one
  stored  the receipt of the newer statement says so
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

icm, files = str(Path(sys.argv[1]).absolute()), [file for file in sys.argv[2:] if file != "--pairs"]
show_pairs = "--pairs" in sys.argv
pairs = []
for file in files:
    with open(file, encoding="utf-8") as lines:
        pairs += [{**json.loads(line), "file": Path(file).stem} for line in lines]
for number, pair in enumerate(pairs):
    pair["place"] = f"{pair['topic']} {number}"


def run(*arguments):
    done = subprocess.run(
        [icm, "--db", f"{folder}/store", "--config", f"{folder}/none.toml", "--json", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    return json.loads(done.stdout) if done.stdout.strip() else {}


def asked(pair, *arguments):
    """Which of the two statements stands first, whether a replacement is said, and both results."""
    answer = run("recall", "--no-record", *arguments, "--", pair["question"])
    results = {hit["id"]: (place, hit) for place, hit in enumerate(answer.get("results", []))}
    older, newer = results.get(pair["ids"][0]), results.get(pair["ids"][1])
    if older and newer:
        first = "newer" if newer[0] < older[0] else "older"
    else:
        first = "newer" if newer else "older" if older else "none"
    said = bool(newer and pair["ids"][0] in newer[1].get("seems_to_replace", []))
    shown = [hit and (hit[0], hit[1]["score"], hit[1]["fit"], hit[1]["matched"]) for hit in (older, newer)]
    return {"first": first, "said": said, "shown": shown}


with tempfile.TemporaryDirectory() as folder:
    open(f"{folder}/none.toml", "w").close()
    for pair in pairs:
        store = ("store", "--allow-secret", "-t", pair["place"], "-c")
        older = run(*store, pair["older"], "--occurred-at", "30d ago")
        newer = run(*store, pair["newer"])
        pair["ids"] = older["id"], newer["id"]
        replaces = newer.get("seems_to_replace") or []
        pair["stored"] = older["id"] in [one["id"] for one in replaces]
        pair["reasons"] = [one["reason"] for one in replaces]
    for pair in pairs:
        pair["all"] = asked(pair)
        pair["topic only"] = asked(pair, "-t", pair["place"])

if show_pairs:
    for pair in pairs:
        print(json.dumps(pair, ensure_ascii=False))


def share(group, fits):
    return f"{100 * sum(map(fits, group)) / len(group):.1f}" if group else ""


groups = defaultdict(list)
for pair in pairs:
    others = ["not en", pair["language"]] if pair["language"] != "en" else ["en"]
    for group in ["all", pair["file"], *others]:
        groups[pair["kind"], group].append(pair)
    if "author" in pair:
        groups[pair["kind"], f"author {pair['author']}"].append(pair)
columns = ["pairs", "stored"]
columns += [f"{way} {what}" for way in ("all", "topic only") for what in ("newer", "older", "none", "right", "said")]
print("| kind | group | " + " | ".join(columns) + " |")
print("|---" * (len(columns) + 2) + "|")
for (kind, name), group in sorted(groups.items()):
    cells = [str(len(group)), share(group, lambda pair: pair["stored"])]
    for way in ("all", "topic only"):
        cells += [share(group, lambda pair: pair[way]["first"] == first) for first in ("newer", "older", "none")]
        telling = [pair for pair in group if kind == "similar" and pair.get("answer") in ("older", "newer")]
        cells.append(share(telling, lambda pair: pair[way]["first"] == pair["answer"]))
        cells.append(share(group, lambda pair: pair[way]["said"]))
    print(f"| {kind} | {name} | " + " | ".join(cells) + " |")
