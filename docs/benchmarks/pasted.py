#!/usr/bin/env python3
"""What a question finds that stands in a prompt with a paste, compared with the question alone.

    docs/benchmarks/pasted.py ICM [--paste KIND] [--misses]

- questions: at the beginning, in the middle or at the end of a paste. Expected is the fact that the question alone puts
  first. Long pastes have 16 KB, short ones 1.8 KB; "apart" has blank lines around the question, "fenced" a paste in
  fences of code.
- of the paste: a line of the log has an identifier that one memory explains, and the question is about "this", or there
  is none. Expected is that memory.

The store holds the facts, memories that have words and numbers of the pastes, and 400 others. No recall is recorded.
"""

import argparse
import json
import random
import tempfile
import textwrap
from pathlib import Path

from long import Filler, Store, read

LONG_BYTES, SHORT_BYTES = 16_000, 1_800
PLACES = ("beginning", "middle", "end")


def access(pick):
    parts = pick.choice(["broker", "backup", "gateway", "redis", "callback", "ledger"]), pick.choice(["connect", "flush", "retry", "poll"])
    clock = f"{pick.randint(0, 23):02}:{pick.randint(0, 59):02}:{pick.randint(0, 59):02}.{pick.randint(100, 999)}"
    level = pick.choice(["INFO", "DEBUG", "WARN", "ERROR"])
    return [f"2026-11-{pick.randint(1, 27):02}T{clock}Z {level} [worker-{pick.randint(1, 9)}] {'.'.join(parts)} took "
            f"{pick.randint(1, 900)}ms request_id={pick.randrange(16**8):08x} status={pick.choice([200, 200, 500, 429])}"]


def trace(pick):
    folder, name = pick.choice(["billing", "ledger", "api", "people"]), pick.choice(["views", "models", "reports"])
    function = pick.choice(["get_reports", "post_callback", "renew_certificate", "rotate_backup"])
    return [f'  File "/srv/app/{folder}/{name}.py", line {pick.randint(1, 900)}, in {function}',
            f"    return {pick.choice(['self.cache.flush()', 'db.execute(query)', 'client.post(url)'])}"]


def kubernetes(pick):
    reason, message = pick.choice([
        ("BackOff", "Back-off restarting failed container"), ("Unhealthy", "Readiness probe failed: connection refused"),
        ("FailedMount", "Unable to attach or mount volumes: timed out waiting for the condition"),
    ])
    pod = f"{pick.choice(['gateway', 'broker', 'ledger'])}-{pick.randrange(16**5):05x}"
    return [f"{pick.randint(1, 59)}m  Warning  {reason}  pod/{pod}  {message}"]


def npm(pick):
    package = f"{pick.choice(['glob', 'rimraf', 'inflight', 'uuid'])}@{pick.randint(1, 9)}.{pick.randint(0, 9)}.0"
    return [f"npm WARN deprecated {package}: this version is no longer supported, use "
            f"{pick.choice(['lru-cache', 'fs.rm'])} instead; reports at ~/.npm/_logs/{pick.randint(1, 999)}.log"]


def cargo(pick):
    name = pick.choice(["serde", "tokio", "hyper", "regex", "syn"])
    return [f"   {pick.choice(['Compiling', 'Compiling', 'Downloaded'])} {name} v1.{pick.randint(0, 90)}.{pick.randint(0, 200)}"]


def meeting(pick):
    things = ["tenant", "quota", "queue", "broker", "ledger", "index", "report", "shard", "cache"]
    sentence = pick.choice([
        "I think the {0} is fine, but the {1} still needs work.", "Can we look at the {0} next week?", "The {0} was slow on Tuesday.",
        "Sure, I'll open a ticket for the {0} and the {1}.", "Who has the numbers of the {0}?", "Right, and the {1} depends on it.",
    ])
    return [f"{pick.choice(['Ada', 'Bruno', 'Chidi', 'Dana'])}: {sentence.format(*pick.sample(things, 2))}"]


def spoken(pick):
    things = ["tenant", "quota", "queue", "broker", "ledger", "index", "report", "shard", "cache"]
    sentence = pick.choice([
        "Nobody has looked at the {0} since the {1} was moved.", "Is the {0} of last year still in use?", "We keep the {0} for now.",
        "What would the {0} do without the {1}?", "It took a day to copy the {0}, and the {1} was late.", "Should we write that down?",
    ])
    return sentence.format(*pick.sample(things, 2))


def chat(pick):
    return [f"{pick.choice(['Ada Moss', 'Bruno Lang', 'Chidi Obi'])} ({pick.randint(8, 18)}:{pick.randint(10, 59)}): {spoken(pick)}"]


def article(pick):
    return [" ".join(spoken(pick) for _ in range(pick.randint(2, 6))), ""]


def mail(pick):
    text = " ".join(spoken(pick) for _ in range(pick.randint(2, 4)))
    return [*textwrap.wrap(text, 72), pick.choice(["", "Best, Ada", "Thanks!", "> I see, and when?"])]


def diff(pick):
    name = pick.choice(["report", "ledger", "quota"])
    return pick.choice([
        [f"@@ -{pick.randint(1, 900)},7 +{pick.randint(1, 900)},9 @@ fn flush_{name}() {{"], [f"-    let {name} = self.{name}.take()?;"],
        [f"+    let {name} = self.{name}.as_ref().unwrap_or(&None); // why is it none?"], [f"     return {name};"],
    ])


PASTES = {paste.__name__: paste for paste in (access, trace, kubernetes, npm, cargo, meeting, chat, article, mail, diff)}
# Nobody finds a line without a mark in the middle of what people wrote.
WRITTEN = {"meeting", "chat", "article", "mail"}
# The last lines of a paste.
LAST = {
    "trace": ["sqlalchemy.exc.OperationalError: connection to server at db-stage-7 failed"],
    "cargo": ["error: could not compile `portal` (bin) due to 1 previous error"],
    "npm": ["added 512 packages, and audited 513 packages in 9s"],
}
FIRST = {
    "trace": ["Traceback (most recent call last):"],
    "meeting": ["Meeting of the platform team, 12 March 2026", ""],
}


def lines_of(kind, size, seed):
    pick, lines = random.Random(seed), []
    while sum(len(line) + 1 for line in lines) < size:
        lines += PASTES[kind](pick)
    return [*FIRST.get(kind, []), *lines, *LAST.get(kind, [])]


def prompt(question, lines, place, form):
    at = {"beginning": 0, "middle": len(lines) // 2, "end": len(lines)}[place]
    parts = [lines[:at], lines[at:]]
    if form == "fenced":
        parts = [["```", *part, "```"] if part else [] for part in parts]
    asked = ["", question, ""] if form in ("apart", "fenced") else [question]
    return "\n".join([*parts[0], *asked, *parts[1]]).strip("\n")


def first_of(store, asked):
    found = store.recall(asked, stdin=True, limit=3)
    return found[0]["content"] if found else None


def questions(store, data, kinds, misses):
    facts = [(entry["question"], entry["fact"]) for entry in data["questions"]]
    alone = sum(first_of(store, question) == fact for question, fact in facts)
    print(f"\nAlone: {alone} of {len(facts)} facts are first.\n")
    print("| paste | form | KB | " + " | ".join(PLACES) + " |")
    print("|---" * 6 + "|")
    total = of = 0
    for kind in kinds:
        for form, size in (("close", LONG_BYTES), ("apart", LONG_BYTES), ("fenced", LONG_BYTES), ("close", SHORT_BYTES), ("apart", SHORT_BYTES)):
            counts = []
            places = [place for place in PLACES if kind not in WRITTEN or place != "middle" or form == "fenced"]
            for place in PLACES:
                if place not in places:
                    counts.append("–")
                    continue
                first = 0
                for number, (question, fact) in enumerate(facts):
                    lines = lines_of(kind, size, f"{kind} {number}")
                    found = first_of(store, prompt(question, lines, place, form))
                    first += found == fact
                    if misses and found != fact:
                        print(f"  {question} → {found}")
                counts.append(f"{first}/{len(facts)}")
                total, of = total + first, of + len(facts)
            print(f"| {kind} | {form} | {size / 1000:.3g} | {' | '.join(counts)} |", flush=True)
    print(f"\nFirst: {total} of {of}.")


def of_the_paste(store, data, kinds, misses):
    print("\n| paste | KB | question at the beginning | end |\n|---|---|---|---|")
    total = of = 0
    for kind in kinds:
        if kind not in data["identifiers"]:
            continue
        asked_of = data["identifiers"][kind]
        for size in (LONG_BYTES, SHORT_BYTES):
            counts = []
            for place in ("beginning", "end"):
                first = 0
                for number, question in enumerate(data["asked_of_the_paste"]):
                    lines = lines_of(kind, size, f"{kind} of {number}")
                    lines.insert(2 * len(lines) // 3, asked_of["line"])
                    found = first_of(store, prompt(question, lines, place, "close"))
                    first += found == asked_of["fact"]
                    if misses and found != asked_of["fact"]:
                        print(f"  {question} → {found}")
                asked = len(data["asked_of_the_paste"])
                counts.append(f"{first}/{asked}")
                total, of = total + first, of + asked
            print(f"| {kind} | {size / 1000:.3g} | {' | '.join(counts)} |", flush=True)
    print(f"\nFirst: {total} of {of}.")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("icm")
    arguments.add_argument("--paste", choices=PASTES, help="only this kind")
    arguments.add_argument("--misses", action="store_true", help="print what stands first instead")
    given = arguments.parse_args()
    data, kinds = read("pasted"), [given.paste] if given.paste else list(PASTES)
    memories = [{"topic": "notes", "content": text} for text in data["baits"]]
    memories += [{"topic": "facts", "content": entry["fact"]} for entry in [*data["questions"], *data["identifiers"].values()]]
    filler = Filler("pasted")
    for memory in filler.short(400):
        memories.insert(filler.pick.randint(0, len(memories)), memory)
    with tempfile.TemporaryDirectory() as folder:
        store = Store(str(Path(given.icm).resolve()), folder, memories)
        questions(store, data, kinds, given.misses)
        of_the_paste(store, data, kinds, given.misses)


if __name__ == "__main__":
    main()
