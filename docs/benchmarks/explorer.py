#!/usr/bin/env python3
"""Measures the pages of the explorer on a large store, and its feed while agents store.

    docs/benchmarks/explorer.py ICM [STORE]

ICM is the program. Without STORE, a store of 100,000 memories and 500,000 events is made first: each memory is changed four
times. The times are those of a client on this machine, from the request to the last byte: the median of 15 and the slowest.
"First" is the first request of a page after the start of the explorer. The CPU of the feed is that of the explorer's process
over 20 s, with one browser listening, while another process stores 100 memories a second; without it, the explorer rests.
"""

import http.client
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

icm = str(Path(sys.argv[1]).absolute())
choose = random.Random(7)
MEMORIES, ROUNDS = 100_000, 5


def word():
    letters = (choose.choice("bcdfgklmnprstvz") + choose.choice("aeiou") for _ in range(choose.randint(2, 4)))
    return "".join(letters)


WORDS = [word() for _ in range(4000)]


def run(store, *arguments):
    subprocess.run([icm, "--db", store, "--config", "/dev/null", *arguments], check=True, capture_output=True)


def fill(store, folder):
    for round in range(ROUNDS):
        lines = Path(folder, "lines.jsonl")
        with open(lines, "w", encoding="utf-8") as file:
            for number in range(MEMORIES):
                text = " ".join(choose.choices(WORDS, k=24))
                file.write(json.dumps({"topic": f"t{number % 200}", "key": f"k{number}", "content": f"{text} {round}"}) + "\n")
        run(store, "import", "jsonl", str(lines))
        print(f"  round {round + 1} of {ROUNDS} is in", file=sys.stderr, flush=True)
    run(store, "rebuild")


class Explorer:
    def __init__(self, store):
        command = [icm, "--db", store, "--config", "/dev/null", "explore", "--no-open"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = self.process.stdout.readline().strip()
        host, path = address.removeprefix("http://").split("/", 1)
        self.host = host
        self.cookie = ""
        answer = self.get(f"/{path}")
        self.cookie = answer.getheader("set-cookie").split(";")[0]

    def get(self, path):
        connection = http.client.HTTPConnection(self.host, timeout=60)
        connection.request("GET", path, headers={"Cookie": self.cookie} if self.cookie else {})
        answer = connection.getresponse()
        answer.body = answer.read()
        return answer

    def timed_ms(self, path):
        from_ = time.perf_counter()
        answer = self.get(path)
        assert answer.status == 200, f"{path}: {answer.status}"
        return 1000 * (time.perf_counter() - from_)

    def cpu_s(self):
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def stop(self):
        self.process.terminate()
        self.process.wait()


def listen(explorer, until):
    connection = http.client.HTTPConnection(explorer.host, timeout=60)
    connection.request("GET", "/now/feed", headers={"Cookie": explorer.cookie, "Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.status
    count = 0
    while time.time() < until:
        count += answer.read1(65536).count(b"data:")
    return count


def store_steadily(store, seconds):
    """Stores 100 memories a second over MCP."""
    server = subprocess.Popen([icm, "--db", store, "--config", "/dev/null", "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    say = lambda message: (server.stdin.write(json.dumps(message) + "\n"), server.stdin.flush())
    say({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}})
    server.stdout.readline()
    say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    begin = time.time()
    for number in range(100 * seconds):
        content = " ".join(choose.choices(WORDS, k=24))
        say({"jsonrpc": "2.0", "id": number + 1, "method": "tools/call", "params": {"name": "icm_memory_store", "arguments": {"topic": "feed", "content": content}}})
        server.stdout.readline()
        time.sleep(max(0, begin + (number + 1) / 100 - time.time()))
    took = time.time() - begin
    server.stdin.close()
    server.wait()
    return 100 * seconds / took


def main(store):
    explorer = Explorer(store)
    newest = json.loads(subprocess.run([icm, "--db", store, "--config", "/dev/null", "--json", "log", "-l", "1"], check=True, capture_output=True, text=True).stdout.splitlines()[0])
    last, event = newest["position"], newest["event"]
    print(f"{last:,} events\n\n| page | first, ms | median, ms | slowest, ms |\n|---|---|---|---|")
    question = "+".join(choose.choices(WORDS, k=3))
    pages = [
        ("first page", lambda: "/"),
        ("slider step: first page at a moment", lambda: f"/?at=@{choose.randrange(1000, last)}"),
        ("slider step: memories at a moment", lambda: f"/memories?at=@{choose.randrange(1000, last)}"),
        ("memories", lambda: "/memories"),
        ("search", lambda: f"/memories?q={question}"),
        ("log", lambda: "/log"),
        ("log at a moment", lambda: f"/log?at=@{choose.randrange(1000, last)}"),
        ("event", lambda: f"/log/{choose.randrange(1000, last)}"),
        ("event by its id", lambda: f"/log/{event}"),
        ("sessions", lambda: "/sessions"),
        ("sessions at a moment", lambda: f"/sessions?at=@{choose.randrange(1000, last)}"),
        ("memories by weight", lambda: "/memories?sort=weight"),
        ("compare with the first event", lambda: "/compare?with=@1"),
        ("compare with the middle", lambda: f"/compare?with=@{last // 2}"),
        ("numbers", lambda: "/numbers"),
        ("machines", lambda: "/machines"),
        ("health", lambda: "/health"),
    ]
    for name, path in pages:
        first = explorer.timed_ms(path())
        times = [explorer.timed_ms(path()) for _ in range(15)]
        print(f"| {name} | {first:.0f} | {statistics.median(times):.0f} | {max(times):.0f} |", flush=True)
    from_ = time.perf_counter()
    subprocess.run([icm, "--db", store, "--config", "/dev/null", "--json", "sessions"], check=False, capture_output=True)
    print(f"\n`icm sessions`: {1000 * (time.perf_counter() - from_):.0f} ms with the start of the program")
    seconds = 20
    seen = []
    listener = threading.Thread(target=lambda: seen.append(listen(explorer, time.time() + seconds + 2)))
    listener.start()
    before = explorer.cpu_s()
    rate = store_steadily(store, seconds)
    used = explorer.cpu_s() - before
    print(f"\nfeed: {100 * used / seconds:.1f} % of a core, while {rate:.0f} memories a second were stored")
    explorer.process.terminate()
    listener.join()
    explorer.process.wait()
    print(f"messages of the feed: {seen[0] if seen else 0}")


with tempfile.TemporaryDirectory() as folder:
    place = sys.argv[2] if len(sys.argv) > 2 else f"{folder}/store"
    if len(sys.argv) < 3 or not Path(place).exists():
        fill(place, folder)
    main(place)
