#!/usr/bin/env python3
"""What a big store costs: time, peak anonymous memory, and bytes on disk.

    docs/benchmarks/size.py DIR ICM... [--memories N] [--stores N] [--wait SECONDS]

Makes N memories (100,000 unless said otherwise; texts of 195 bytes on average, always the same ones) and, with each
program, imports, exports and rebuilds them, backs them up, takes them to another store, and asks for numbers. Then a
server gets 10,000 of them as single stores over MCP and 250 recalls, and is looked at a minute later. Peaks are polled
every 20 ms from `RssAnon` of `/proc`, so mapped files and the program don't count. A million memories need 10 GB in DIR.
Linux.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import time
from pathlib import Path

MEAN = 195
COMMON = "the a of to in and is we for on with that by as it at from be this not use when was are".split()
IMPORTANCE = ["low", "medium", "medium", "high", "critical"]


def memories(count):
    pick = random.Random(7)
    syllables = [c + v for c in "bdklmnrstv" for v in "aeiou"]
    words = list({"".join(pick.choices(syllables, k=pick.choice((1, 2, 2, 3, 3, 4)))): 0 for _ in range(40_000)})
    # Few words and topics are frequent, most are rare.
    some = lambda most, power: words[int(most * pick.random() ** power)]
    for at in range(count):
        length, text = max(20, pick.gauss(MEAN, MEAN * 0.3)), f"{at}"
        while len(text) < length:
            text += " " + (pick.choice(COMMON) if pick.random() < 0.4 else some(len(words), 3))
        yield {
            "topic": f"project-{int(40 * pick.random() ** 2)}/{some(50, 2)}",
            "content": text,
            "importance": pick.choice(IMPORTANCE),
            "keywords": [some(2_000, 2) for _ in range(pick.choice((0, 2, 3)))],
        }


def anonymous_kb(pid):
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.split("RssAnon:")[1].split()[0])
    except (OSError, IndexError):
        return 0


def run(name, *command):
    begun, before = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process, peak = subprocess.Popen([str(it) for it in command], **quiet), 0
    while process.poll() is None:
        peak = max(peak, anonymous_kb(process.pid))
        time.sleep(0.02)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    failed = "" if process.returncode == 0 else f" | FAILED: {process.returncode}"
    print(f"| {name} | {time.time() - begun:.1f} s | {cpu:.1f} s | {peak / 1024:.0f} MB |{failed}", flush=True)


def disk(store, count):
    sizes = {}
    for path in store.rglob("*"):
        if path.is_file():
            part = path.relative_to(store).parts
            name = part[2] if part[0] == "views" and len(part) > 2 else part[0]
            sizes[name] = sizes.get(name, 0) + path.stat().st_blocks * 512
    largest = sorted(sizes.items(), key=lambda it: -it[1])[:7]
    parts = ", ".join(f"{name} {size / count:.0f}" for name, size in largest)
    print(f"| disk a memory | {sum(sizes.values()) / count:.0f} B | {parts} | |", flush=True)


class Server:
    def __init__(self, icm, store):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process, self.asked = subprocess.Popen([icm, "--db", store, "serve"], **pipes), 0
        client = {"clientInfo": {"name": "size", "version": "1"}, "capabilities": {}}
        self.ask("initialize", client | {"protocolVersion": "2025-06-18"})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0"} | message) + "\n").encode())
        self.process.stdin.flush()

    def ask(self, method, params):
        self.asked += 1
        self.send({"id": self.asked, "method": method, "params": params})
        while (answer := json.loads(self.process.stdout.readline())).get("id") != self.asked:
            pass
        assert not answer["result"].get("isError"), answer
        return answer

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})


def serve(icm, store, given, wait):
    server, peak = Server(icm, store), 0
    for at, memory in enumerate(given):
        server.call("icm_memory_store", **memory)
        if at % 100 == 0:
            peak = max(peak, anonymous_kb(server.process.pid))
    for at in range(250 if given else 0):
        server.call("icm_memory_recall", query=" ".join(given[at * 37 % len(given)]["content"].split()[1:6]))
    time.sleep(wait)
    left = anonymous_kb(server.process.pid)
    print(f"| a server, {len(given)} stores over MCP | | | {peak / 1024:.0f} MB, {left / 1024:.0f} MB {wait} s later |")
    disk(store, len(given))
    server.process.stdin.close()
    server.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path)
    parser.add_argument("icm", nargs="+")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--stores", type=int, default=10_000)
    parser.add_argument("--wait", type=int, default=60)
    asked = parser.parse_args()
    os.environ["XDG_CONFIG_HOME"] = "/nowhere"
    asked.dir.mkdir(parents=True, exist_ok=True)
    lines = asked.dir / "memories.jsonl"
    with lines.open("w") as out:
        out.writelines(json.dumps(memory) + "\n" for memory in memories(asked.memories))
    for icm in asked.icm:
        print(f"\n{icm}, {asked.memories} memories\n\n| | wall | CPU | peak |\n|---|---|---|---|", flush=True)
        one, other = asked.dir / "one", asked.dir / "other"
        for store in (one, other, asked.dir / "served"):
            shutil.rmtree(store, ignore_errors=True)
        run("import jsonl", icm, "--db", one, "import", "jsonl", lines)
        disk(one, asked.memories)
        run("export jsonl", icm, "--db", one, "export", "jsonl", "-o", asked.dir / "out.jsonl")
        run("export markdown", icm, "--db", one, "export", "markdown", "-o", asked.dir / "out.md")
        run("rebuild", icm, "--db", one, "rebuild")
        disk(one, asked.memories)
        (asked.dir / "backup").unlink(missing_ok=True)
        run("backup", icm, "--db", one, "backup", asked.dir / "backup")
        run("log export", icm, "--db", one, "log", "export", asked.dir / "bundle")
        run("log import", icm, "--db", other, "log", "import", asked.dir / "bundle")
        for name in ("topics", "stats", "health"):
            run(name, icm, "--db", one, name)
        serve(icm, asked.dir / "served", list(memories(asked.stores)), asked.wait)


main()
