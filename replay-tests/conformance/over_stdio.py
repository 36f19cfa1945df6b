"""The suite's requests where the suite cannot go: `over_stdio.py MODE SERVER STORE`.

Asks for every fixture through the `mcp` package, once as each revision has it. The table of fixtures says what
must come back. Exit code 1 at the first difference.
"""

import asyncio
import json
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "clients"))
from checks import expect
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    PromptReference,
    Root,
    TextContent,
)

with open(os.path.join(os.path.dirname(__file__), "../examples/conformance/fixtures.json")) as file:
    TABLE = json.load(file)
LEGACY = "legacy"
WATCHED = "test://watched-resource"


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def filled(value, arguments):
    text = json.dumps(value)
    for name, given in arguments.items():
        text = text.replace("{" + name + "}", given)
    return json.loads(text)


async def elicited(_, params):
    fields = plain(params)["requestedSchema"]["properties"]
    return ElicitResult(
        action="accept", content={name: field["type"] == "boolean" or "Alice" for name, field in fields.items()}
    )


async def sampled(_, params):
    return CreateMessageResult(
        role="assistant", content=TextContent(type="text", text="Paris"), model="none"
    )


async def rooted(_):
    return ListRootsResult(roots=[Root(uri="file:///test")])


class Asking:
    """A client that counts what it asked for."""

    def __init__(self, client):
        self.client, self.asked = client, 0

    async def ask(self, method, *given, **named):
        self.asked += 1
        return await getattr(self.client, method)(*given, **named)

    async def fails(self, code, method, *given, **named):
        try:
            answer = await self.ask(method, *given, **named)
        except MCPError as error:
            expect(error.error.code == code, f"{method} {given}: {error.error}")
            return error.error
        expect(False, f"{method} {given}: {answer}")


async def lists(server):
    for method, field, fixtures, key in [
        ("list_tools", "tools", TABLE["tools"], "name"),
        ("list_resources", "resources", TABLE["resources"], "uri"),
        ("list_resource_templates", "resourceTemplates", TABLE["templates"], "uriTemplate"),
        ("list_prompts", "prompts", TABLE["prompts"], "name"),
    ]:
        listed = [item[key] for item in plain(await server.ask(method))[field]]
        wanted = [item[key] for item in fixtures]
        expect(listed[-len(wanted):] == wanted, f"{method}: {listed}")
        expect(len(listed) > len(wanted), f"{method}: icm's own are missing")


async def tools(server, mode):
    for tool in TABLE["tools"]:
        name, heard = tool["name"], []

        async def progress(done, total, message):
            heard.append(done)

        if "rounds" in tool and mode == LEGACY:
            await server.fails(-32600, "call_tool", name, {})
            continue
        answer = plain(await server.ask("call_tool", name, {}, progress_callback=progress))
        expect(answer["content"] == tool["result"]["content"], f"{name}: {answer}")
        expect(answer.get("isError", False) == tool["result"].get("isError", False), f"{name}: {answer}")
        expect(heard == tool.get("progress", []), f"{name}: {heard}")
        if tool.get("sealed"):
            answers = {"confirm": {"action": "accept", "content": {"ok": True}}}
            state = "1." + "0" * 64
            await server.fails(
                -32602, "call_tool", name, {}, input_responses=answers, request_state=state
            )


async def what_is_read(server, mode):
    template = TABLE["templates"][0]
    uri = template["uriTemplate"].replace("{id}", "123")
    read_from_template = {
        "uri": uri,
        "mimeType": template["mimeType"],
        "contents": filled(template["contents"], {"id": "123"}),
    }
    for resource in [*TABLE["resources"], read_from_template]:
        (read,) = plain(await server.ask("read_resource", resource["uri"]))["contents"]
        wanted = {**resource["contents"], "uri": resource["uri"], "mimeType": resource["mimeType"]}
        expect(read == wanted, f"{resource['uri']}: {read}")
    code = -32002 if mode == LEGACY else -32602
    error = await server.fails(code, "read_resource", "test://nothing")
    expect(error.data == {"uri": "test://nothing"}, error)
    for prompt in TABLE["prompts"]:
        name, arguments = prompt["name"], {name: f"a-{name}" for name in prompt.get("arguments", [])}
        if "rounds" in prompt and mode == LEGACY:
            await server.fails(-32600, "get_prompt", name)
            continue
        got = plain(await server.ask("get_prompt", name, arguments))
        expect(got["messages"] == filled(prompt["result"]["messages"], arguments), f"{name}: {got}")
    ref = PromptReference(name="test_prompt_with_arguments")
    completed = await server.ask("complete", ref, {"name": "arg1", "value": "test"})
    expect(completed.completion.values == [], completed)


async def over_stdio(mode, fixtures, store):
    def connect(**able):
        parameters = StdioServerParameters(command=fixtures, args=[store, "stdio"])
        return Client(stdio_client(parameters), mode=mode, cache=None, **able)

    async with connect(
        elicitation_callback=elicited, sampling_callback=sampled, list_roots_callback=rooted
    ) as client:
        server = Asking(client)
        await lists(server)
        await tools(server, mode)
        await what_is_read(server, mode)
        if mode == LEGACY:
            await server.ask("send_ping")
            await server.ask("subscribe_resource", WATCHED)
            await server.ask("unsubscribe_resource", WATCHED)
        version = client.protocol_version
    async with connect() as client:
        able_to_nothing = Asking(client)
        await able_to_nothing.fails(-32021, "call_tool", "test_missing_capability", {})
    print(f"conformance fixtures, {version} over stdio: {server.asked + able_to_nothing.asked} requests")


if __name__ == "__main__":
    # That the older revision's methods are old.
    warnings.simplefilter("ignore")
    asyncio.run(asyncio.wait_for(over_stdio(*sys.argv[1:]), 60))
