#!/usr/bin/env python3
"""All pairs of a folder as one store, with COUNT other memories among them.

    docs/benchmarks/mixed.py FOLDER COUNT OUT

The others are halves of two turns each, under other names and topics: they have the words of the
questions and answer none. Always the same ones.
"""

import json
import random
import sys
from pathlib import Path

folder, count, out = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
out.mkdir(parents=True, exist_ok=True)
memories, questions, texts = [], [], []
for path in sorted(folder.glob("*.memories.jsonl")):
    name = path.name.removesuffix(".memories.jsonl")
    for line in path.open():
        memory = json.loads(line)
        texts.append(memory["content"])
        memory["key"] = name + memory["key"]
        memory["topic"] = f"{name}/{memory.get('topic', '')}"
        memories.append(memory)
    for line in path.with_name(f"{name}.questions.jsonl").open():
        question = json.loads(line)
        question["evidence"] = [name + key for key in question["evidence"]]
        questions.append(question)

choose = random.Random(5).choice
names = ["Zoe", "Omar", "Ken", "Lila", "Petra"]
for at in range(count):
    a, b = (choose(texts).split(": ", 1)[-1].split() for _ in range(2))
    text = " ".join(a[: len(a) // 2] + b[len(b) // 2 :])
    memories.append({"key": f"x{at}", "topic": f"t{at // 20}", "content": f"{choose(names)}: {text}"})

for kind, rows in [("memories", memories), ("questions", questions)]:
    with (out / f"all.{kind}.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
