#!/usr/bin/env python3
"""What is found of long memories, of one fact in many spellings, and by long prompts.

    docs/benchmarks/long.py ICM [--part needles|spellings|prompts]

- needles: ten long memories, each with one sentence (the needle) in its middle or near its end, among short ones.
  The needle is asked for by its rare words, by a question in mostly its words, and by a question in other words.
  "Far": no other sentence shares a word of four letters or more with a needle. "Near": many sentences do, except for
  the rare words. "Alone": the ten memories are the needles without a long text, which is the best that can be hoped for.
- spellings: ten spellings of "Use tabs" beside three similar texts that say something else.
- prompts: a question at the end, the beginning or in the middle of 20 KB of log lines, and its fact among 400 memories.

The data is in long/, and random choices are seeded: two runs build the same texts. Stores are made in a temporary
folder. No recall is recorded, so no question changes the next answer. Needs Python 3.11, no packages.
"""

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

DATA = Path(__file__).parent / "long"
SIZES_KB = (1, 3, 8, 60)
STORES = (400, 2_000)
PROMPT_BYTES = 20_000
# Different logs that each question is asked with.
LOGS = 3
# Longest block of a long memory. A larger one would move the needle away from the middle of a memory of 1 KB.
BLOCK_BYTES_MAX = 420
NEAR_END = 0.9
ID = re.compile(r"^[0-9A-HJKMNP-TV-Z]{26} ", re.MULTILINE)


def read(name):
    return json.loads((DATA / f"{name}.json").read_text())


def size_bytes(text):
    return len(text.encode())


def words(text):
    return set(re.findall(r"\w+", text.casefold()))


def stems(text):
    return {word[:5] for word in words(text) if len(word) > 3}


def plain(text):
    """A text without marks, so that a break of lines or an escaped quote in the output hides no needle."""
    return " ".join(re.findall(r"\w+", text.casefold()))


# Texts


class Filler:
    """Sentences about other things, made of the pieces in filler.json.

    `subjects` limits what the sentences are about. No sentence shares a word with the texts in `far_from`, apart from
    endings and short words.
    """

    def __init__(self, seed, subjects=None, far_from=()):
        self.pick, self.data = random.Random(seed), read("filler")
        self.subjects = subjects or list(self.data["subjects"])
        self.avoided = set().union(*map(stems, far_from))

    def one(self, of):
        return self.pick.choice(self.data[of])

    def fill(self, text):
        numbers = {"{d}": (2, 9), "{n}": (11, 95), "{h}": (10, 21), "{m}": (10, 59), "{port}": (1024, 9999)}
        others = {"{name}": "names", "{place}": "places", "{day}": "days"}

        def slot(found):
            if found[0] in others:
                return self.one(others[found[0]])
            return str(self.pick.randint(*numbers[found[0]]))

        return re.sub(r"\{\w+\}", slot, text)

    def sentence(self, subject=None):
        while True:
            pieces = self.data["subjects"][subject or self.pick.choice(self.subjects)]
            text = self.fill(" ".join(self.pick.choice(pieces[part]) for part in ("who", "does", "tail")))
            if not stems(text) & self.avoided:
                return text + "."

    def short(self, count):
        """`count` different one-liners with their topics."""
        found = {}
        while len(found) < count:
            subject = self.pick.choice(self.subjects)
            found[self.sentence(subject)] = subject
        return [{"topic": topic, "content": text} for text, topic in found.items()]

    def name(self):
        """A name as code has them, such as `invoice_run`."""
        words = re.findall(r"[a-z]{4,}", self.sentence().lower())
        return "_".join(self.pick.sample(words, 2))


# A kind of long text: `head`, blocks, and `tail`; `block(filler)` makes a block without and `holder(filler, needle)`
# one with the needle.


class Plain:
    head, between, tail = "", " ", ""

    def block(self, filler):
        return filler.sentence()

    def holder(self, filler, needle):
        return needle


class Notes:
    """Markdown: the notes of a meeting."""

    head, between, tail = "# Weekly meeting\n\n", "\n\n", "\n"

    def block(self, filler):
        lines = [filler.sentence() for _ in range(filler.pick.randint(2, 3))]
        return filler.pick.choice([
            f"## {filler.name().replace('_', ' ').capitalize()}\n\n{' '.join(lines)}",
            "\n".join(f"- {line}" for line in lines),
            "\n".join(f"- [{filler.pick.choice(' x')}] **{filler.one('names')}**: {line}" for line in lines),
            " ".join(lines),
        ])

    def holder(self, filler, needle):
        return f"- {filler.sentence()}\n- {needle}\n- {filler.sentence()}"


class Runbook(Notes):
    """Markdown: a runbook with steps and commands."""

    head = "# Runbook\n\n"

    def block(self, filler):
        lines = [filler.sentence() for _ in range(2)]
        name = filler.name()
        return filler.pick.choice([
            f"### {name.replace('_', ' ').capitalize()}\n\n1. {lines[0]}\n2. {lines[1]}",
            f"{lines[0]}\n\n```sh\nsystemctl restart {name}\njournalctl -u {name} -n {filler.pick.randint(20, 90)}\n```",
            f"| {name} | {filler.pick.randint(1, 99)} |\n|---|---|\n| {filler.name()} | {lines[1]} |",
            f"> {lines[0]}\n\n{lines[1]}",
        ])

    def holder(self, filler, needle):
        return f"{filler.sentence()} {needle} {filler.sentence()}"


class Python:
    """Code with the needle in a comment."""

    head, between, tail = "import json\nimport time\n\n\n", "\n\n\n", "\n"
    comment, string = "#", '    log.info("{}")'

    def block(self, filler):
        name, other, number = filler.name(), filler.name(), filler.pick.randint(2, 900)
        return filler.pick.choice([
            f"def {name}({other}, limit={number}):\n    # {filler.sentence()}\n"
            f"    for item in {other}[:limit]:\n        if item.get('{filler.name()}'):\n            yield item",
            f"{name.upper()} = {number}  # {filler.sentence()}",
            f'def {name}(self):\n    """{filler.sentence()}"""\n    return json.dumps(self.{other}, indent={number % 4})',
            f'class {name.title().replace("_", "")}(Exception):\n    """{filler.sentence()}"""\n    code = {number}',
        ])

    def holder(self, filler, needle):
        return f"def {filler.name()}(row):\n    # {needle}\n    time.sleep(0.2)\n    return row"


class Rust:
    """Code with the needle in a string."""

    head, between, tail = "use std::collections::HashMap;\n\n", "\n\n", "\n"

    def block(self, filler):
        name, other, number = filler.name(), filler.name(), filler.pick.randint(2, 900)
        return filler.pick.choice([
            f"/// {filler.sentence()}\npub fn {name}({other}: &[u8]) -> Option<usize> {{\n"
            f"    {other}.iter().position(|&byte| byte == {number % 256})\n}}",
            f"/// {filler.sentence()}\nconst {name.upper()}: u64 = {number};",
            f'fn {name}() {{\n    // {filler.sentence()}\n    println!("{filler.sentence()}");\n}}',
        ])

    def holder(self, filler, needle):
        return f'fn {filler.name()}() -> &\'static str {{\n    "{needle}"\n}}'


class Json:
    """The answer of an API with the needle as a value."""

    head, between, tail = '{"page": 1, "items": [\n', ",\n", "\n]}\n"

    def item(self, filler, text):
        item = {
            "id": filler.pick.randint(10_000, 99_999),
            "name": filler.name(),
            "owner": {"name": filler.one("names"), "office": filler.one("places")},
            "note": text,
            "active": filler.pick.random() < 0.5,
        }
        return json.dumps(item, ensure_ascii=False, indent=2)

    def block(self, filler):
        return self.item(filler, filler.sentence())

    holder = item


class Yaml:
    """A config file with the needle as a value."""

    head, between, tail = "version: 3\nservices:\n", "\n", "\n"

    def item(self, filler, text):
        return (
            f"  {filler.name()}:\n    image: registry.local/{filler.name()}:{filler.pick.randint(1, 40)}\n"
            f"    replicas: {filler.pick.randint(1, 9)}\n    description: {json.dumps(text, ensure_ascii=False)}\n"
            f"    labels: [{filler.name()}, {filler.one('places').lower()}]"
        )

    def block(self, filler):
        return self.item(filler, filler.sentence())

    holder = item


class Talk:
    head, between, tail = "", "\n", ""
    speakers = ("Ada", "Ben")

    def say(self, filler, text):
        return f"{filler.pick.choice(self.speakers)}: {text}"

    def block(self, filler):
        opening = filler.pick.choice(["", "", "Right. ", "By the way, I heard this: ", "Hm, no. ", "Can you note this? "])
        return self.say(filler, opening + filler.sentence())

    def holder(self, filler, needle):
        return self.say(filler, needle)


# Each kind has a form for the needles with even and one for those with odd numbers.
KINDS = {
    "plain": (Plain(), Plain()),
    "Markdown": (Notes(), Runbook()),
    "code": (Python(), Rust()),
    "JSON, YAML": (Json(), Yaml()),
    "talk": (Talk(), Talk()),
}


def long_text(form, needle, size, near_end, filler):
    """A text of about `size` bytes, at most that, which has the needle at about a half or nine tenths."""
    holder = form.holder(filler, needle)
    room = size - size_bytes(form.head + form.tail + holder)
    blocks, used, at = [], 0, None
    while True:
        block = form.block(filler)
        cost = size_bytes(block + form.between)
        if cost > BLOCK_BYTES_MAX:
            continue
        if at is None and used + cost / 2 > room * (NEAR_END if near_end else 0.5):
            at = len(blocks)
        if used + cost > room:
            break
        blocks.append(block)
        used += cost
    blocks.insert(len(blocks) if at is None else at, holder)
    text = form.head + form.between.join(blocks) + form.tail
    assert text.count(needle) == 1 and size_bytes(text) <= size
    return text


# The program


class Store:
    def __init__(self, icm, folder, memories):
        self.icm = icm
        self.env = {"PATH": os.environ["PATH"], "HOME": folder, "ICM_DB": f"{folder}/store"}
        self.folder = folder
        path = Path(folder) / "memories.jsonl"
        path.write_text("".join(json.dumps(memory) + "\n" for memory in memories))
        # A spelling of a text that is there already may count as unchanged.
        done = json.loads(self.run("--json", "import", "jsonl", str(path)))
        assert done["added"] + done["unchanged"] == len(memories) and not done["rejected"], done

    def run(self, *arguments, stdin=""):
        command = [self.icm, *arguments]
        done = subprocess.run(command, env=self.env, cwd=self.folder, input=stdin, capture_output=True, text=True)
        # 1: nothing was found.
        assert done.returncode in (0, 1), (done.returncode, done.stderr[:500])
        return done.stdout

    def recall(self, query, command="recall", limit=10, stdin=None):
        """The results of a recall; a query on stdin is the same query."""
        asked = ("-",) if stdin else ("--", query)
        found = json.loads(self.run("--json", command, "--no-record", "-l", str(limit), *asked, stdin=query if stdin else ""))
        return found["results"]

    def shown(self, query, command="recall"):
        """What a person or an agent sees: the text of each result, by id."""
        text = self.run("-q", command, "--no-record", "--", query)
        starts = [found.start() for found in ID.finditer(text)]
        ends = [*starts[1:], len(text)]
        return {text[start : start + 26]: text[start:end] for start, end in zip(starts, ends)}


# Parts


# Commands and what they are asked.
SHOWN = [(command, ask) for command in ("recall", "recall-context") for ask in ("words", "question")]
# What is counted for each row, in the order of the columns.
COUNTED = ("words", "question", "three", "other", *SHOWN)


def needles(icm):
    data = read("needles")
    print("| short ones | others | kind | KB | by its words: first | question: first | among three "
          "| other words: among three | `recall` shows it: words | question | `recall-context` shows it: words "
          "| question | bytes shown by `recall` |")
    print("|---" * 13 + "|", flush=True)
    whole = []
    for count in STORES:
        for others in ("far", "near"):
            for kind, size in [("alone", 0), *((kind, size) for kind in KINDS for size in SIZES_KB)]:
                tally, bytes_shown = ask_needles(icm, data, count, others, kind, size)
                print_row(f"{count:,} | {others} | {kind} | {size or '–'}", tally, len(data), bytes_shown)
                whole.append((count, others, size, tally, bytes_shown))
    for count in STORES:
        for others in ("far", "near"):
            for size in SIZES_KB:
                rows = [row[3:] for row in whole if row[:3] == (count, others, size)]
                tally = {name: sum(row[0][name] for row in rows) for name in COUNTED}
                bytes_shown = [shown for row in rows for shown in row[1]]
                print_row(f"{count:,} | {others} | **all** | {size}", tally, len(data) * len(rows), bytes_shown)


def print_row(title, tally, of, bytes_shown):
    shown = f"{statistics.median(bytes_shown):,.0f}" if bytes_shown else "–"
    print(f"| {title} | {' | '.join(f'{tally[name]}/{of}' for name in COUNTED)} | {shown} |", flush=True)


def needle_store(data, count, others, kind, size):
    """Memories with one long text for each needle; with size 0 the needles themselves."""
    far_from = [entry["needle"] for entry in data] if others == "far" else ()
    filler = Filler(f"{kind} {size} {count}", far_from=far_from)
    memories = filler.short(count)
    for number, entry in enumerate(data):
        text = entry["needle"]
        if size:
            text = long_text(KINDS[kind][number % 2], text, 1_000 * size, number % 3 == 2, filler)
        memory = {"topic": "notes", "key": f"long-{number}", "content": text}
        memories.insert(filler.pick.randint(0, len(memories)), memory)
    for number, entry in enumerate(data):
        rare = words(entry["words"])
        assert rare <= words(entry["needle"])
        for memory in memories:
            assert memory.get("key") == f"long-{number}" or not rare & words(memory["content"]), memory
    return memories


def ask_needles(icm, data, count, others, kind, size):
    tally, bytes_shown = dict.fromkeys(COUNTED, 0), []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(icm, folder, needle_store(data, count, others, kind, size))
        for number, entry in enumerate(data):
            key, found = f"long-{number}", {}
            for ask in ("words", "question", "other"):
                results = store.recall(entry[ask])
                found[ask] = [result["key"] for result in results]
                if ask == "other" or key not in found[ask]:
                    continue
                id = results[found[ask].index(key)]["id"]
                for command in ("recall", "recall-context"):
                    text = store.shown(entry[ask], command).get(id, "")
                    tally[command, ask] += plain(entry["needle"]) in plain(text)
                    if command == "recall":
                        bytes_shown.append(size_bytes(text))
            tally["words"] += found["words"][:1] == [key]
            tally["question"] += found["question"][:1] == [key]
            tally["three"] += key in found["question"][:3]
            tally["other"] += key in found["other"][:3]
    return tally, bytes_shown


def spellings(icm):
    data = read("spellings")
    same, others = data["spellings"], data["others"]
    print("| stored | among | `recall`: results for the fact | lines of `recall-context` | others among the results |")
    print("|---" * 5 + "|", flush=True)
    for count in (0, 400):
        for title, topic in (("in one topic", lambda n: "style"), ("in ten topics", lambda n: f"project-{n}")):
            memories = [{"topic": topic(number), "content": text} for number, text in enumerate(same)]
            memories += [{"topic": "style", "content": text} for text in others]
            memories += Filler("spellings").short(count)
            with tempfile.TemporaryDirectory() as folder:
                store = Store(icm, folder, memories)
                results = store.recall(data["query"], limit=20)
                lines = store.shown(data["query"], "recall-context").values()
            found = [result["content"] for result in results]
            fact = sum(plain(text) == plain(same[0]) for text in found)
            # Of a line, what stands between the topic and the brackets at the end.
            told = [re.sub(r"^\S+ \[[^]]*\]|\([^()]*\)\s*(</memories>\s*)?$", "", line) for line in lines]
            line_count = sum(plain(text) == plain(same[0]) for text in told)
            kept = sum(text in found for text in others)
            print(f"| {title} | {count} | {fact} | {line_count} | {kept}/{len(others)} |", flush=True)


def log_lines(pick, filler, messages, size):
    """Lines of several programs, with levels, ids and stack traces, of about `size` bytes in all."""
    lines, used, second = [], 0, 8 * 3600

    def hexes(length):
        return "".join(pick.choice("0123456789abcdef") for _ in range(length))

    def path():
        return "/" + "/".join(pick.sample(["api", "v2", "orders", "users", "search", "health", "static", "carts"], 2))

    while used < size:
        second += pick.randint(0, 9)
        clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        stamp, level = f"2026-03-14T{clock}.{pick.randint(0, 999):03}Z", pick.choice(["INFO", "INFO", "DEBUG", "WARN", "ERROR"])
        ip, ms = ".".join(str(pick.randint(1, 254)) for _ in range(4)), pick.randint(1, 9_000)
        name, message = filler.name(), filler.fill(pick.choice(messages))
        found = pick.choice([
            [f'{ip} - - [14/Mar/2026:{clock} +0000] "GET {path()}?id={ms} HTTP/1.1" {pick.choice([200, 200, 304, 404, 502])} {ms} "-" "curl/8.5.0"'],
            [f"{stamp} {level} [{name}] request_id={hexes(16)} took {ms} ms"],
            [f"2026-03-14 {clock} UTC [{ms}] LOG:  checkpoint complete: wrote {ms} buffers ({ms % 9}.2%); sync={ms % 7}.01 s"],
            [f'2026-03-14 {clock} UTC [{ms}] ERROR:  deadlock detected while updating relation "{name}"',
             f"2026-03-14 {clock} UTC [{ms}] DETAIL:  Process {ms} waits for ShareLock on transaction {ms * 7}."],
            [f"Mar 14 {clock} node-{ms % 7} systemd[1]: {name}.service: Main process exited, code=exited, status={ms % 5}/FAILURE"],
            [json.dumps({"ts": stamp, "level": level.lower(), "msg": f"connection to database closed on port {1024 + ms}", "trace_id": hexes(32)})],
            [f"{stamp} ERROR worker-{ms % 12} Unhandled exception", "Traceback (most recent call last):",
             f'  File "/srv/app/{name}.py", line {ms}, in run', f"    self.{filler.name()}(session, timeout={ms})",
             f"TimeoutError: no answer after {ms} ms"],
            [f"{stamp} ERROR [pool-{ms % 5}-thread-{ms % 9}] com.example.{name}.Handler - staging queue is full",
             f"java.lang.IllegalStateException: {message}",
             f"\tat com.example.{name}.Queue.push(Queue.java:{ms})", f"\tat java.base/java.lang.Thread.run(Thread.java:{ms % 999})"],
            [f"{stamp} {level} {name}: {message}"],
        ])
        lines += found
        used += sum(size_bytes(line) + 1 for line in found)
    return lines


def prompt(question, messages, place, fenced, seed):
    filler = Filler(seed, subjects=["operations", "code"])
    lines = log_lines(random.Random(seed), filler, messages, PROMPT_BYTES - size_bytes(question))
    half = len(lines) // 2

    def fence(part):
        return "\n".join(["```", *part, "```"] if fenced and part else part)

    parts = {
        "end": [fence(lines), question],
        "beginning": [question, fence(lines)],
        "middle": [fence(lines[:half]), question, fence(lines[half:])],
    }
    return "\n".join(parts[place])


def prompts(icm):
    given = read("prompts")
    data, messages = given["questions"], given["log_messages"]
    filler = Filler("prompts")
    memories = filler.short(400)
    for entry in data:
        memories.insert(filler.pick.randint(0, len(memories)), {"topic": "facts", "content": entry["fact"]})
    print("| question | log | `recall`: fact first | among three | `recall-context`: fact first | shown | stdin differs |")
    print("|---" * 7 + "|", flush=True)
    places = [(place, fenced) for fenced in (False, True) for place in ("end", "beginning", "middle")]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(icm, folder, memories)
        for place, fenced in [("alone", False), *places]:
            first = three = context_first = context_shown = differs = of = 0
            for number, entry in enumerate(data):
                for log in range(LOGS if place != "alone" else 1):
                    question, fact = entry["question"], entry["fact"]
                    asked = question if place == "alone" else prompt(question, messages, place, fenced, f"log {number} {log}")
                    found = [result["content"] for result in store.recall(asked)]
                    told = [result["content"] for result in store.recall(asked, "recall-context", limit=20)]
                    by_stdin = [result["content"] for result in store.recall(asked, stdin=True)]
                    first += found[:1] == [fact]
                    three += fact in found[:3]
                    context_first += told[:1] == [fact]
                    context_shown += fact in told
                    differs += by_stdin != found
                    of += 1
            log = "none" if place == "alone" else "fenced" if fenced else "unfenced"
            counts = (first, three, context_first, context_shown, differs)
            print(f"| {place} | {log} | {' | '.join(f'{value}/{of}' for value in counts)} |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("icm")
    parts = {"needles": needles, "spellings": spellings, "prompts": prompts}
    arguments.add_argument("--part", choices=parts, help="only this part")
    given = arguments.parse_args()
    icm = str(Path(given.icm).resolve())
    for name, part in parts.items():
        if given.part in (None, name):
            print(f"\n### {name}\n")
            part(icm)


if __name__ == "__main__":
    main()
