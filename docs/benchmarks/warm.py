#!/usr/bin/env python3
"""What a warm recall costs a server: median CPU of 300 recalls over MCP, and resident memory.

    docs/benchmarks/mixed.py LOCOMO 97040 OUT            # 100,000 memories
    docs/benchmarks/warm.py OUT STORE ICM... [--rounds N] [--recalls N]

STORE is made from OUT if it is not there, with the graph of its vectors if it is large enough for one (half a minute of one core), and copied for each
round. With several programs the rounds take turns: on a machine that does other things only those are to be compared.
The server runs at real-time priority where that is allowed; recalls are recorded. Queries are four to six words in a
row of some text, always the same ones. Linux.
"""

import argparse
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

WARM_UP = 40


def queries(folder, count):
    pick, found = random.Random(11), {}
    with (folder / "all.memories.jsonl").open() as file:
        texts = [json.loads(line)["content"].split(": ", 1)[-1].split() for line in file]
    while len(found) < count:
        words, length = pick.choice(texts), pick.randint(4, 6)
        if len(words) >= length:
            at = pick.randint(0, len(words) - length)
            found[" ".join(words[at : at + length])] = None
    return list(found)


def environment(store):
    return os.environ | {"ICM_DB": str(store), "XDG_CONFIG_HOME": "/nowhere"}


class Server:
    def __init__(self, icm, store):
        first = ["chrt", "-f", "50"]
        allowed = subprocess.run([*first, "true"], capture_output=True).returncode == 0
        command = [*(first if allowed else []), icm, "serve"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=environment(store), **pipes)
        client = {"clientInfo": {"name": "warm", "version": "1"}, "capabilities": {}}
        self.ask(0, "initialize", client | {"protocolVersion": "2025-06-18"})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        line = json.dumps({"jsonrpc": "2.0"} | message) + "\n"
        self.process.stdin.write(line.encode())
        self.process.stdin.flush()

    def ask(self, id, method, params):
        self.send({"id": id, "method": method, "params": params})
        while (answer := json.loads(self.process.stdout.readline())).get("id") != id:
            pass
        assert "error" not in answer and not answer["result"].get("isError"), answer

    def recall(self, query):
        self.ask(1, "tools/call", {"name": "icm_memory_recall", "arguments": {"query": query}})

    def cpu_ms(self):
        # The CPU clock of that process, all its threads: clock_getcpuclockid(3).
        return time.clock_gettime((~self.process.pid << 3) | 2) * 1e3

    def memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        kib = [int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("VmRSS", "RssAnon")]
        return "{:.0f} MB ({:.0f} anonymous)".format(*(number / 1024 for number in kib))

    def settle(self):
        """Until it has done nothing for a second."""
        last, still = self.cpu_ms(), 0
        while still < 4:
            time.sleep(0.3)
            now = self.cpu_ms()
            last, still = now, still + 1 if now - last < 3 else 0

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def prepare(icm, folder, store, query):
    command = [icm, "import", "jsonl", folder / "all.memories.jsonl"]
    subprocess.run(command, env=environment(store), check=True, stdout=subprocess.DEVNULL)
    server = Server(icm, store)
    server.recall(query)
    server.settle()
    server.end()


def measure(icm, store, warm_up, asked):
    server = Server(icm, store)
    for _ in range(2):
        for query in warm_up:
            server.recall(query)
        server.settle()
    took, memory = [], []
    for at, query in enumerate(asked, 1):
        before = server.cpu_ms()
        server.recall(query)
        took.append(server.cpu_ms() - before)
        if at in (300, 2_000, 6_000):
            memory.append(f"{server.memory()} after {at}")
    server.end()
    print(f"{icm}: {statistics.median(took[:300]):.2f} ms CPU; {', '.join(memory)}", flush=True)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path)
parser.add_argument("store", type=Path)
parser.add_argument("icm", nargs="+")
parser.add_argument("--rounds", type=int, default=4)
parser.add_argument("--recalls", type=int, default=300)
args = parser.parse_args()
asked = queries(args.folder, args.recalls + WARM_UP)
if not args.store.exists():
    prepare(args.icm[0], args.folder, args.store, asked[0])
for _ in range(args.rounds):
    for icm in args.icm:
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(args.store, Path(folder) / "store")
            measure(icm, copy, asked[-WARM_UP:], asked[:-WARM_UP])
