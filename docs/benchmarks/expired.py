#!/usr/bin/env python3
"""Compares a store of which half has expired with the same store without conditions.

    docs/benchmarks/expired.py ICM [MEMORIES]

ICM is the program. Both stores get the same 100,000 memories in 200 topics; in the second one every other memory expires within
three minutes, and the script waits until then. It prints the median CPU time (user and system) of whole processes, run by turns.
"""

import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

icm = str(Path(sys.argv[1]).absolute())
count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
choose = random.Random(5)


def word():
    letters = (choose.choice("bcdfgklmnprstvz") + choose.choice("aeiou") for _ in range(choose.randint(2, 4)))
    return "".join(letters)


WORDS = [word() for _ in range(4000)]


def cpu_ms(store, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([icm, "--db", store, "--config", "/dev/null", *arguments], capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


with tempfile.TemporaryDirectory() as folder:
    texts = [" ".join(choose.choices(WORDS, k=24)) for _ in range(count)]
    ends = time.time() + 180
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ends))
    stores = [f"{folder}/without", f"{folder}/half"]
    for store in stores:
        lines = f"{folder}/lines.jsonl"
        with open(lines, "w", encoding="utf-8") as file:
            for number, text in enumerate(texts):
                memory = {"topic": f"t{number % 200}", "content": f"{text} {number}"}
                if store.endswith("half") and number % 2:
                    memory["expires"] = f"time {stamp}"
                file.write(json.dumps(memory) + "\n")
        for command in (["import", "jsonl", lines], ["rebuild"]):
            subprocess.run([icm, "--db", store, "--config", "/dev/null", *command], check=True, capture_output=True)
    time.sleep(max(0, ends - time.time()) + 1)
    print("| command | without conditions | half expired | ratio |\n|---|---|---|---|")
    for name, rounds in (("recall", 12), ("list -l 20", 12), ("list -t t7 --all", 12), ("stats", 12), ("topics", 12)):
        times = {store: [] for store in stores}
        for _ in range(rounds):
            words = choose.choices(WORDS, k=3) if name == "recall" else []
            for store in stores:
                times[store].append(cpu_ms(store, *name.split(), *words))
        one, half = (statistics.median(times[store]) for store in stores)
        print(f"| `{name}` | {one:.1f} ms | {half:.1f} ms | {half / one:.2f} |")
