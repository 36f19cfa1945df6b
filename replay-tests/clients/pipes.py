"""Plain pipes: `pipes.py ICM`. What a well-behaved client never sends, and what must come back.

Each part gets a store of its own. Exit code 1 at the first difference.
"""

import json
import os
import subprocess
import sys
import tempfile

from checks import expect, serve_args


def by_pipes(icm):
    """Broken lines, the end of the input, and that stdout carries JSON lines and nothing else."""
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "pipes", "version": "1"},
        },
    }
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    stats = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "icm_memory_stats"}}
    broken = [
        (b"garbage", None, -32700),
        (b'{"jsonrpc":"2.0","id":10,"method":', 10, -32700),
        (b'{"jsonrpc":"2.0","id":11,"method":"no/such\xff"}', 11, -32601),
        (b'{"jsonrpc":"2.0","id":12,"method":"x","params":' + b"[" * 5000 + b"]" * 5000 + b"}", 12, -32700),
        (b'{"params":"' + b"x" * (20 << 20) + b'","jsonrpc":"2.0","id":13,"method":"x"}', 13, -32600),
        (b'[{"jsonrpc":"2.0","id":14,"method":"ping"}]', 14, -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
        (b'{"jsonrpc":"1.0","id":15,"method":"ping"}', 15, -32600),
    ]
    surrogate = (
        b'{"jsonrpc":"2.0","id":20,"method":"tools/call","params":{"name":"icm_memory_store",'
        b'"arguments":{"topic":"t","content":"cut \\ud83d"}}}'
    )
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [icm, *serve_args(os.path.join(folder, "store"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "ICM_LOG": "trace", "RUST_LOG": "trace"},
        )

        def send(line):
            server.stdin.write(line + b"\n")
            server.stdin.flush()

        def receive():
            line = server.stdout.readline()
            expect(line, "the server ended")
            return json.loads(line)

        send(json.dumps(initialize).encode())
        expect(receive()["result"]["serverInfo"]["name"] == "icm", "initialize")
        send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        for line, expected_id, code in broken:
            send(line)
            reply = receive()
            expect(reply.get("id") == expected_id, f"{line[:80]}: {reply}")
            expect(reply["error"]["code"] == code, f"{line[:80]}: {reply}")
            send(json.dumps(ping).encode() + b"\r")
            expect(receive()["result"] == {}, f"a ping after {line[:80]}")
        send(surrogate)
        reply = receive()
        expect("surrogate" in str(reply) and "content" in str(reply), f"half a surrogate pair: {reply}")
        store = {"name": "icm_memory_store"}
        for number in range(200):
            store["arguments"] = {"topic": "many", "content": f"number {number}"}
            request = {"jsonrpc": "2.0", "id": 1000 + number, "method": "tools/call", "params": store}
            server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.close()
        rest = [json.loads(line) for line in server.stdout.read().splitlines()]
        expect(sorted(reply["id"] for reply in rest) == list(range(1000, 1200)), "answers at the end")
        expect(server.wait(20) == 0, f"exit code {server.returncode}")

        answer = subprocess.run(
            [icm, *serve_args(os.path.join(folder, "store"))],
            input=b"\n".join(json.dumps(line).encode() for line in [initialize, stats]),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=20,
        )
        last = json.loads(answer.stdout.splitlines()[-1])
        expect(last["result"]["structuredContent"]["memories"] == 200, f"after a restart: {last}")
    print(f"pipes: {len(broken)} broken lines answered, 200 answers after the end of the input")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: pipes.py ICM")
    by_pipes(os.path.abspath(sys.argv[1]))
