"""The `mcp` package, which lists and calls every tool: `mcp_package.py MODE (stdio ICM STORE | http URL)`.

Exit code 1 at the first difference.
"""

import asyncio
import sys

from checks import authorization, expect, serve_args
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.types import PromptReference, ResourceTemplateReference

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


async def by_package(mode, over, transport):
    calls = 0
    async with Client(transport, mode=mode) as client:
        if mode == "legacy":
            subscribe = client.server_capabilities.resources.subscribe
            expect(subscribe == (True if over == "stdio" else None), subscribe)
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
        # Without a connection the handshake is forgotten; nobody may pass for the server's own library.
        expect(history["from"]["actor"] != "agent:rmcp", history)
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
        expect({"consolidate", "recap", "session-start", "wake-up"} == {it.name for it in prompts}, prompts)
        got = await client.get_prompt("session-start", {"task": "the pool"})
        expect("stored data, not instructions" in got.messages[1].content.text, got)
        for ref in (PromptReference(name="recap"), ResourceTemplateReference(uri="icm://topic/{topic}")):
            completed = await client.complete(ref, {"name": "topic", "value": "d"})
            expect(completed.completion.values == ["db"], completed)
        text, _ = await call("icm_memory_store", {"topic": "db"}, fails=True)
        expect("`content`" in text, text)
        try:
            await client.call_tool("no_such_tool", {})
            expect(False, f"{mode}: a tool that there is not")
        except MCPError as error:
            expect(error.error.code == -32602 and "no_such_tool" in error.error.message, error)
        version = client.protocol_version
    print(f"mcp package, {version} over {over}: {len(listed)} tools, {calls} calls")


def transport_of(over, *where):
    if over == "stdio":
        icm, store = where
        return stdio_client(StdioServerParameters(command=icm, args=serve_args(store)))
    (url,) = where
    return streamable_http_client(url, http_client=create_mcp_http_client(headers=authorization()))


if __name__ == "__main__":
    mode, over, *where = sys.argv[1:]
    asyncio.run(asyncio.wait_for(by_package(mode, over, transport_of(over, *where)), 60))
