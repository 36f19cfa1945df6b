"""`fastmcp`: `fastmcp_client.py MODE (stdio ICM STORE | http URL)`. Exit code 1 at the first difference."""

import asyncio
import sys

from checks import authorization, expect, serve_args
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp import MCPError
from mcp.types import PromptReference


async def by_fastmcp(mode, over, transport):
    async with Client(transport, mode=mode) as client:
        tools = {tool.name for tool in await client.list_tools()}
        expect({"icm_memory_store", "icm_memory_recall"} <= tools, tools)
        stored = await client.call_tool(
            "icm_memory_store", {"topic": "db", "content": "the pool holds 20 connections"}
        )
        identity = stored.structured_content["id"]
        found = await client.call_tool("icm_memory_recall", {"query": "pool"})
        expect([hit["id"] for hit in found.structured_content["results"]] == [identity], found)
        read = await client.read_resource(f"icm://memory/{identity}")
        expect("20 connections" in read[0].text, read)
        got = await client.get_prompt("recap", {"topic": "db"})
        expect("20 connections" in str(got.messages), got)
        completed = await client.complete(PromptReference(name="recap"), {"name": "topic", "value": "d"})
        expect(completed.values == ["db"], completed)
        refused = await client.call_tool("icm_memory_store", {"topic": "db"}, raise_on_error=False)
        expect(refused.is_error and "`content`" in refused.content[0].text, refused)
        try:
            await client.call_tool("no_such_tool", {})
            expect(False, f"{mode}: a tool that there is not")
        except MCPError as error:
            expect("no_such_tool" in str(error), error)
    print(f"fastmcp, {mode} over {over}: {len(tools)} tools")


def transport_of(over, *where):
    if over == "stdio":
        icm, store = where
        return StdioTransport(icm, serve_args(store))
    (url,) = where
    return StreamableHttpTransport(url, headers=authorization())


if __name__ == "__main__":
    mode, over, *where = sys.argv[1:]
    asyncio.run(asyncio.wait_for(by_fastmcp(mode, over, transport_of(over, *where)), 60))
