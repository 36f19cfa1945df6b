"""Agent frameworks load every tool of icm, and store and recall through it: `frameworks.py ICM`.

google-genai, openai-agents and pydantic-ai talk to a scripted model on the loopback, which writes every optional
argument: empty, null, or as text. LangChain's tools are called as its agents call them. Exit code 1 if one fails.
"""

import asyncio
import logging
import sys
import tempfile
import traceback
from pathlib import Path

import model
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, RunContextWrapper, Runner
from agents.mcp import MCPServerStdio, MCPUtil
from fastmcp.client.transports import StdioTransport
from google import genai
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from openai import AsyncOpenAI
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

# Its advice to use a chat, which copies the session, too.
logging.getLogger("google_genai").setLevel(logging.ERROR)

# Far above what one round trip takes, which is below a second.
RUN_SECONDS_MAX = 60
TOOLS_MIN = 30

# What the tools that only read require, among others.
READ = {
    "query": "where do invoices live",
    "topic": model.GIVEN[model.STORE]["topic"],
    "from": "@1",
}
READERS_MIN = 10


class Fault(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Fault(what)


def expect_loaded(names):
    names = set(names)
    expect(len(names) >= TOOLS_MIN, f"{len(names)} tools of {TOOLS_MIN} loaded")


def expect_seen(seen):
    faults = list(model.faults_of(seen))
    expect(not faults, f"{'; '.join(faults)}: {seen}")


def expect_recalled(script):
    """Checks the last request of a scripted model."""
    path, body = script.requests[-1]
    expect_loaded(tool.name for tool in model.api_of(path).tools(body))
    found = model.recalled(script.requests)
    expect(found, f"no recall: {model.api_of(path).results(body)}")
    expect_seen(found[1])


def serve_args(store):
    """Returns the arguments of a server as an agent has it: without structured content."""
    return ["--db", store, "serve", "--toolsets", "all"]


def connected(icm, store):
    return stdio_client(StdioServerParameters(command=icm, args=serve_args(store)))


async def google_genai(icm, store, style):
    script = model.Script(style)
    with model.Server(script) as url:
        async with connected(icm, store) as streams, ClientSession(*streams) as session:
            await session.initialize()
            options = genai.types.HttpOptions(base_url=url)
            async with genai.Client(api_key="dummy", http_options=options).aio as client:
                # A configuration that is no dict is copied deeply, and a session cannot be copied.
                answer = await client.models.generate_content(
                    model="gemini-2.5-flash", contents=model.PROMPT, config={"tools": [session]}
                )
    expect(answer.text == model.DONE, answer)
    expect_recalled(script)


async def openai_agents(icm, store, style):
    script = model.Script(style)
    with model.Server(script) as url:
        async with MCPServerStdio(params={"command": icm, "args": serve_args(store)}) as server:
            chat = OpenAIChatCompletionsModel(model.MODEL, AsyncOpenAI(base_url=f"{url}/v1", api_key="dummy"))
            agent = Agent(
                name="agent", model=chat, mcp_servers=[server], mcp_config={"convert_schemas_to_strict": True}
            )
            done = await Runner.run(agent, model.PROMPT, run_config=RunConfig(tracing_disabled=True))
            readers = await openai_readers(server, agent, style)
    expect(done.final_output == model.DONE, done)
    expect_recalled(script)
    expect(readers >= READERS_MIN, f"{readers} tools that only read were called")


async def openai_readers(server, agent, style):
    """Calls every tool that only reads and requires no more than `READ`; returns how many."""
    context = RunContextWrapper(context=None)
    converted = await MCPUtil.get_function_tools(server, True, context, agent, failure_error_function=None)
    loose = [tool.name for tool in converted if not tool.strict_json_schema]
    expect(not loose, f"not strict after the conversion: {loose}")
    required = {
        tool.name: set(tool.inputSchema.get("required", []))
        for tool in await server.list_tools()
        if tool.annotations and tool.annotations.readOnlyHint
    }
    called = 0
    for tool in converted:
        if not required.get(tool.name, {None}) <= READ.keys():
            continue
        # One of the tools wants a query or a label, and its schema requires neither.
        wanted = required[tool.name] | ({"query"} & tool.params_json_schema["properties"].keys())
        given = {name: READ[name] for name in wanted}
        arguments = model.written(tool.params_json_schema, given, style)
        result = await server.call_tool(tool.name, arguments)
        expect(not result.isError, f"{tool.name} {arguments}: {result.content}")
        called += 1
    return called


async def pydantic_ai(icm, store, style):
    script = model.Script(style)
    with model.Server(script) as url:
        toolset = MCPToolset(StdioTransport(icm, serve_args(store)), tool_error_behavior="error")
        provider = OpenAIProvider(base_url=f"{url}/v1", api_key="dummy")
        agent = PydanticAgent(OpenAIChatModel(model.MODEL, provider=provider), toolsets=[toolset])
        done = await agent.run(model.PROMPT)
    expect(done.output == model.DONE, done)
    expect_recalled(script)


async def langchain(icm, store, style):
    async with connected(icm, store) as streams, ClientSession(*streams) as session:
        await session.initialize()
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        expect_loaded(tools)
        strict = {name: convert_to_openai_tool(tool, strict=True)["function"] for name, tool in tools.items()}
        for step in (model.STORE, model.RECALL):
            arguments = model.written(strict[step]["parameters"], model.GIVEN[step], style)
            message = await tools[step].ainvoke({"name": step, "args": arguments, "id": "1", "type": "tool_call"})
            expect(message.status == "success", f"{step} {arguments}: {message.content}")
    # The artifact beside the content is for programs: a model does not see it.
    expect_seen(model.text_or_json(message.content))


FRAMEWORKS = (google_genai, openai_agents, langchain, pydantic_ai)


def causes(error):
    """Returns the exceptions in an exception: task groups wrap what fails in them."""
    inner = getattr(error, "exceptions", None)
    if inner:
        return [cause for it in inner for cause in causes(it)]
    if isinstance(error, Fault):
        return [str(error)]
    return ["".join(traceback.format_exception(error)[-3:])]


async def tried(framework, icm):
    """Runs a framework in every style of arguments on stores of their own; returns whether all went well."""
    fine = []
    for style in model.STYLES:
        with tempfile.TemporaryDirectory() as work:
            try:
                await asyncio.wait_for(framework(icm, str(Path(work) / "store"), style), RUN_SECONDS_MAX)
                fine.append(style.__name__)
            except Exception as error:
                print(f"failed: {framework.__name__}, {style.__name__} arguments:", file=sys.stderr)
                print("\n".join(causes(error)), file=sys.stderr)
    if fine:
        print(f"{framework.__name__}: every tool loaded, stored and recalled with {', '.join(fine)} arguments")
    return len(fine) == len(model.STYLES)


async def main(icm):
    return [await tried(framework, icm) for framework in FRAMEWORKS]


if __name__ == "__main__":
    sys.exit(0 if all(asyncio.run(main(*sys.argv[1:]))) else 1)
