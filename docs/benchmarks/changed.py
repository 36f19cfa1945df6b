#!/usr/bin/env python3
"""Stores pairs of an older and a newer statement, asks each pair's question, and counts what is said of them.

    docs/benchmarks/changed.py ICM FILE [--pairs]

ICM is the program, FILE one of docs/benchmarks/changed/*.jsonl. All pairs go into one new store, each in a topic of
its own: the older statement as of a month ago, the newer one as of now. Each question is asked twice: of the whole
store, and of the pair's topic. `--pairs` prints a line of JSON for each pair before the table.

For changed pairs `newer` should be high, for similar ones `wrong` low, and `older` no lower than before:
  newer   the newer statement stands before the older one, or the older one is not among the results
  older   the same of the older statement
  said    the answer says that the newer statement seems to replace the older one
  stored  the receipt of the newer statement says so
"""

import json
import subprocess
import sys
import tempfile
from collections import defaultdict

icm, file = sys.argv[1], sys.argv[2]
show_pairs = "--pairs" in sys.argv[3:]
with open(file, encoding="utf-8") as lines:
    pairs = [json.loads(line) for line in lines]


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
        topic = f"{pair['topic']} {pair['id']}"
        older = run("store", "--allow-secret", "-t", topic, "-c", pair["older"], "--occurred-at", "30d ago")
        newer = run("store", "--allow-secret", "-t", topic, "-c", pair["newer"])
        pair["ids"] = older["id"], newer["id"]
        replaces = newer.get("seems_to_replace") or []
        pair["stored"] = older["id"] in [one["id"] for one in replaces]
    for pair in pairs:
        pair["all"] = asked(pair)
        pair["topic only"] = asked(pair, "-t", f"{pair['topic']} {pair['id']}")

if show_pairs:
    for pair in pairs:
        print(json.dumps(pair, ensure_ascii=False))

groups = defaultdict(list)
for pair in pairs:
    for language in ("all", "not en" if pair["language"] != "en" else "", pair["language"]):
        if language:
            groups[pair["kind"], language].append(pair)
columns = ["pairs", "stored"] + [f"{way} {what}" for way in ("all", "topic only") for what in ("newer", "older", "said")]
print("| kind | language | " + " | ".join(columns) + " |")
print("|---" * (len(columns) + 2) + "|")
for (kind, language), group in sorted(groups.items()):
    share = lambda fits: f"{100 * sum(map(fits, group)) / len(group):.1f}"
    cells = [str(len(group)), share(lambda pair: pair["stored"])]
    for way in ("all", "topic only"):
        cells.append(share(lambda pair: pair[way]["first"] in ("newer", "none")))
        cells.append(share(lambda pair: pair[way]["first"] == "older"))
        cells.append(share(lambda pair: pair[way]["said"]))
    print(f"| {kind} | {language} | " + " | ".join(cells) + " |")
