"""Three MCP servers store into one new store at once; one of them is killed.

    python3 servers.py ICM_EXE STORE

Ends with 1 if an acknowledged memory is missing or there twice, another server fails, or a check of the store fails.
"""

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

SERVERS = 3
STORES = 300
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "windows", "version": "1"},
}


class Server:
    def __init__(self, icm: list[str]) -> None:
        self.process = subprocess.Popen([*icm, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last = 0
        self.acknowledged: list[str] = []
        self.longest = 0.0
        self.ask("initialize", INITIALIZE)
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message: dict) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict) -> dict | None:
        """The answer; None where the server is gone."""
        self.last += 1
        try:
            self.say({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        except OSError:
            return None
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self.last:
                return answer
        return None

    def store(self, name: int) -> None:
        for number in range(STORES):
            content = f"server {name} says {number} about subject {number * 7919 % 1009}"
            arguments = {"topic": f"of-{name}", "content": content}
            begun = time.monotonic()
            answer = self.ask("tools/call", {"name": "icm_memory_store", "arguments": arguments})
            if answer is None:
                return
            self.longest = max(self.longest, time.monotonic() - begun)
            if "result" in answer and not answer["result"].get("isError"):
                self.acknowledged.append(content)
            else:
                print(f"refused: {answer}")


def output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> int:
    program, store = sys.argv[1], Path(sys.argv[2]).resolve()
    shutil.rmtree(store, ignore_errors=True)
    icm = ["wine", program, "--db", "Z:" + str(store).replace("/", "\\")]
    servers = [Server(icm) for _ in range(SERVERS)]
    threads = [threading.Thread(target=server.store, args=(name,)) for name, server in enumerate(servers)]
    for thread in threads:
        thread.start()

    deadline = time.monotonic() + 120
    while sum(len(server.acknowledged) for server in servers) < STORES // 2:
        if time.monotonic() > deadline:
            sys.exit("no server stores anything")
        time.sleep(0.01)
    servers[0].process.kill()
    doctor = output([*icm, "doctor"])
    for thread in threads:
        thread.join()
    for server in servers:
        try:
            server.process.stdin.close()
        except BrokenPipeError:
            # The killed one.
            pass
        server.process.wait(30)

    print(output([*icm, "verify"]).splitlines()[0])
    there = [memory["content"] for memory in json.loads(output([*icm, "list", "--json", "--limit", "5000"]))]
    wrong = [content for server in servers for content in server.acknowledged if there.count(content) != 1]
    for name, server in enumerate(servers):
        print(f"server {name}: {len(server.acknowledged)} stored, the longest wait {server.longest * 1e3:.0f} ms")
    alone = "each command does its work itself" in doctor
    print(f"{len(there)} memories, {len(wrong)} of them missing or twice")
    survivors = [server for server in servers if len(server.acknowledged) == STORES]
    return 0 if alone and not wrong and len(survivors) == SERVERS - 1 else 1


if __name__ == "__main__":
    sys.exit(main())
