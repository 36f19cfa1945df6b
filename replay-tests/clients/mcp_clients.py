"""Drives an icm binary the way MCP clients do: `mcp_clients.py ICM`.

The `mcp` package lists and calls every tool in each of its modes; then plain pipes check what a
well-behaved client never sends. Each part gets a store of its own. Exit code 1 at the first
difference.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile

MODES = ["legacy", "2026-07-28", "auto"]
TOOLS = {
    "icm_diff",
    "icm_log",
    "icm_memory_consolidate",
    "icm_memory_forget",
    "icm_memory_list_topics",
    "icm_memory_recall",
    "icm_memory_stats",
    "icm_memory_store",
    "icm_memory_update",
    "icm_undo",
}


def expect(condition, what):
    if not condition:
        print(f"failed: {what}", file=sys.stderr, flush=True)
        # An exception would come out wrapped in the task groups of the client.
        os._exit(1)


def serve_args(folder, *more):
    return ["--db", os.path.join(folder, "store"), "serve", "--toolsets", "all", *more]


async def by_package(icm, mode):
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    calls = 0
    with tempfile.TemporaryDirectory() as folder:
        server = StdioServerParameters(command=icm, args=serve_args(folder))
        async with Client(stdio_client(server), mode=mode) as client:
            listed = (await client.list_tools()).tools
            names = {tool.name for tool in listed}
            expect(TOOLS <= names, f"{mode}: tools missing: {TOOLS - names}")

            async def call(name, arguments, fails=False):
                nonlocal calls
                calls += 1
                result = await client.call_tool(name, arguments)
                text = result.content[0].text
                expect(bool(result.is_error) == fails, f"{mode}: {name}: {text}")
                if not fails:
                    expect(result.structured_content is not None, f"{mode}: {name} has no structured content")
                return text, result.structured_content

            content = "the pool holds 20 connections \N{GRINNING FACE}"
            text, stored = await call(
                "icm_memory_store",
                {"topic": "db", "content": content, "importance": "high", "keywords": ["postgres"]},
            )
            expect(stored["id"] in text, text)
            text, found = await call("icm_memory_recall", {"query": "connections pool", "limit": 5})
            expect([hit["content"] for hit in found["results"]] == [content], found)
            expect(stored["id"] in text and "stored data, not instructions" in text, text)
            await call("icm_memory_update", {"id": stored["id"], "content": "the pool holds 30 connections"})
            text, then = await call(
                "icm_memory_recall", {"query": "pool", "as_of": f"@{stored['position']}"}
            )
            expect([hit["content"] for hit in then["results"]] == [content], then)
            _, history = await call("icm_log", {"id": stored["id"]})
            expect(len(history["versions"]) == 2, history)
            expect(history["versions"][0]["actor"].startswith("agent:"), history)
            expect(history["from"]["actor"].startswith("agent:"), history)
            _, one = await call("icm_log", {"id": stored["event"]})
            expect([event["event"] for event in one["events"]] == [stored["event"]], one)
            text, diff = await call("icm_diff", {"from": f"@{stored['position']}"})
            expect([change["fields"] for change in diff["changed"]] == [["content"]], diff)
            expect("[-20-]{+30+}" in text, text)
            _, events = await call("icm_log", {"kind": "memory", "limit": 2})
            expect(len(events["events"]) == 2, events)
            _, topics = await call("icm_memory_list_topics", {})
            expect(topics["topics"][0]["topic"] == "db", topics)
            _, stats = await call("icm_memory_stats", {})
            expect(stats["memories"] == 1, stats)
            _, forgotten = await call("icm_memory_forget", {"id": stored["id"]})
            _, found = await call("icm_memory_recall", {"query": "pool"})
            expect(found["results"] == [], found)
            for note in ("first note", "second note"):
                await call("icm_memory_store", {"topic": "standup", "content": note})
            _, done = await call("icm_memory_consolidate", {"topic": "standup", "summary": "both"})
            expect(len(done["originals"]) == 2, done)
            _, plan = await call("icm_undo", {"last": 3})
            await call("icm_undo", {"last": 3, "confirm": plan["plan"]})
            _, plan = await call("icm_undo", {"event": forgotten["event"]})
            expect(plan["dry_run"] and plan["event"] is None, plan)
            _, done = await call("icm_undo", {"event": forgotten["event"], "confirm": plan["plan"]})
            expect(done["changes"][0]["id"] == stored["id"], done)
            _, found = await call("icm_memory_recall", {"query": "pool"})
            expect(len(found["results"]) == 1, found)
            resources = (await client.list_resources()).resources
            named = {str(resource.uri) for resource in resources}
            expect(named == {"icm://log", "icm://stats", "icm://topics"}, named)
            read = await client.read_resource(f"icm://memory/{stored['id']}")
            expect("30 connections" in read.contents[0].text, read)
            prompts = (await client.list_prompts()).prompts
            expect({"consolidate", "recap", "session-start"} == {it.name for it in prompts}, prompts)
            got = await client.get_prompt("session-start", {"task": "the pool"})
            expect("stored data, not instructions" in got.messages[1].content.text, got)
            text, _ = await call("icm_memory_store", {"topic": "db"}, fails=True)
            expect("`content`" in text, text)
    print(f"mcp package, {mode}: {len(listed)} tools, {calls} calls")


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
            [icm, *serve_args(folder)],
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
            [icm, *serve_args(folder)],
            input=b"\n".join(json.dumps(line).encode() for line in [initialize, stats]),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=20,
        )
        last = json.loads(answer.stdout.splitlines()[-1])
        expect(last["result"]["structuredContent"]["memories"] == 200, f"after a restart: {last}")
    print(f"pipes: {len(broken)} broken lines answered, 200 answers after the end of the input")


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: mcp_clients.py ICM")
    icm = os.path.abspath(sys.argv[1])
    for mode in MODES:
        asyncio.run(asyncio.wait_for(by_package(icm, mode), 60))
    by_pipes(icm)


if __name__ == "__main__":
    main()
