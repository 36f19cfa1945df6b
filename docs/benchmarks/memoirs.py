#!/usr/bin/env python3
"""What questions about a big memoir cost a server: median CPU of each, over MCP.

    cargo run --release -p replay-tests --example memoir_data -- STORE 100000 500000
    docs/benchmarks/memoirs.py ICM STORE [--concepts N] [--rounds N]

The store's views are made by the first question (`icm rebuild` before it shows how long that takes). Linux.
"""

import argparse
import glob
import json
import os
import random
import statistics
import subprocess


def cpu_ns(pid):
    """CPU time of all threads so far."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as file:
                total += int(file.read().split()[0])
        except FileNotFoundError:
            pass
    return total


class Server:
    def __init__(self, icm, store):
        first = ["chrt", "-f", "50"]
        allowed = subprocess.run([*first, "true"], capture_output=True).returncode == 0
        command = [*(first if allowed else []), icm, "serve", "--toolsets", "all"]
        env = os.environ | {"ICM_DB": store, "XDG_CONFIG_HOME": "/nowhere"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=env, **pipes)
        self.next = 0
        client = {"clientInfo": {"name": "memoirs", "version": "1"}, "capabilities": {}}
        self.request("initialize", client | {"protocolVersion": "2025-06-18"})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write((json.dumps({"jsonrpc": "2.0"} | message) + "\n").encode())
        self.process.stdin.flush()

    def request(self, method, params):
        self.next += 1
        self.send({"id": self.next, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.next:
                return answer

    def call(self, name, arguments):
        answer = self.request("tools/call", {"name": name, "arguments": arguments})["result"]
        assert not answer.get("isError"), answer
        return answer["structuredContent"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("icm")
    parser.add_argument("store")
    parser.add_argument("--concepts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=200)
    args = parser.parse_args()
    server, pick = Server(args.icm, args.store), random.Random(3)
    name = lambda: f"concept {pick.randrange(args.concepts)}"
    for what, tool, arguments in [
        ("inspect, no steps", "icm_memoir_inspect", lambda: {"name": name(), "depth": 0}),
        ("inspect, one step", "icm_memoir_inspect", lambda: {"name": name(), "depth": 1}),
        ("inspect, two steps", "icm_memoir_inspect", lambda: {"name": name(), "depth": 2}),
        ("search", "icm_memoir_search", lambda: {"query": f"hall {pick.randrange(31)} assembly"}),
        ("list", "icm_memoir_list", lambda: {}),
    ]:
        costs, around = [], []
        for round in range(args.rounds + 5):
            given = arguments() | ({} if tool.endswith("list") else {"memoir": "big"})
            before = cpu_ns(server.process.pid)
            answer = server.call(tool, given)
            if round >= 5:
                costs.append((cpu_ns(server.process.pid) - before) / 1e6)
                around.append(len(answer.get("around", [])))
        ms = statistics.median(costs)
        print(f"{what:20} {ms:8.3f} ms CPU, {statistics.mean(around):6.1f} concepts around")
    server.process.stdin.close()
    server.process.wait()


if __name__ == "__main__":
    main()
