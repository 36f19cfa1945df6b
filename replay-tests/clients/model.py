"""A scripted model on the loopback, for agent clients that take a base URL.

It speaks Anthropic Messages, OpenAI chat completions and responses, and Gemini, streaming and not. The first answer
calls the store tool that the client offers, the second calls the recall tool, the third is plain text that ends the
session. A client that offers its tools only by a search is asked to search first. Every request is kept.
"""

import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STORE = "icm_memory_store"
RECALL = "icm_memory_recall"
CONTENT = "Invoices live in PostgreSQL on the machine called heron"
GIVEN = {STORE: {"topic": "decisions", "content": CONTENT}, RECALL: {"query": "where do invoices live"}}
PROMPT = "Remember where invoices live, then recall it."
DONE = "Stored and recalled."
# A name for clients that want one.
MODEL = "gpt-5.4"


def empty(kind):
    """Returns an optional argument as a strict model writes it, which has to write each one: empty if it can be."""
    if "enum" in kind:
        return kind["enum"][0]
    return {"string": "", "array": [], "integer": max(5, kind.get("minimum", 5)), "number": share(kind), "boolean": False}[type_of(kind)]


def share(kind):
    """Returns a number that is no count: the least that the schema takes; Codex takes the bounds out of it."""
    return kind.get("minimum", 0)


def null(_kind):
    return None


def text(kind):
    """Returns an optional argument as weak models write it: as text, whatever the schema says."""
    number = str(share(kind))
    return {"string": "", "array": "billing, storage", "integer": "5", "number": number, "boolean": "false"}[type_of(kind)]


STYLES = (empty, null, text)


def type_of(kind):
    """Returns the type of a property; Gemini writes it in capitals, a strict conversion may add null to it."""
    for one in kind.get("anyOf", [kind]):
        named = one.get("type")
        for it in named if isinstance(named, list) else [named]:
            if it and it.lower() != "null":
                return it.lower()
    raise ValueError(f"a property without a type: {kind}")


def written(schema, given, style):
    """Returns `given` and every other argument of `schema` in a style."""
    filled = dict(given)
    for name, kind in schema.get("properties", {}).items():
        if name == "wait_for_previous":
            # Gemini CLI adds it to every schema and passes on what the model writes.
            filled[name] = True
        elif name not in filled:
            filled[name] = style(kind)
    return filled


class Script:
    """What the model does; the optional arguments of its two calls are written in a style."""

    def __init__(self, style=empty):
        self.style = style
        self.requests = []
        self.lock = threading.Lock()

    def keep(self, path, body):
        with self.lock:
            self.requests.append((path, body))

    def next_call(self, api, body):
        """Returns the next call as its id, its tool and its arguments, or `None` if plain text is next."""
        offered = api.tools(body)
        results = api.results(body)
        step = next((tool for tool in (STORE, RECALL) if tool not in results), None)
        if step is None:
            return None
        found = next((tool for tool in offered if tool.name.endswith(step)), None)
        if found:
            return step, found, written(found.schema, GIVEN[step], self.style)
        return self.by_search(step, offered, results)

    def by_search(self, step, offered, results):
        """Returns a call by way of Qwen Code's `tool_search` and `tool_call`, if the request offers them."""
        names = {tool.name: tool for tool in offered}
        if not {"tool_search", "tool_call"} <= names.keys():
            return None
        if "search" not in results:
            return "search", names["tool_search"], {"query": f"{STORE} {RECALL}"}
        found = map(json.loads, re.findall(r"<function>({.*})</function>", results["search"]))
        tool = next((tool for tool in found if tool["name"].endswith(step)), None)
        if not tool:
            return None
        arguments = written(tool["parametersJsonSchema"], GIVEN[step], self.style)
        return step, names["tool_call"], {"name": tool["name"], "arguments": arguments}


class Offered:
    """One tool of a request; `namespace` is there in Codex alone."""

    def __init__(self, name, schema, namespace=None):
        self.name = name
        self.schema = schema or {}
        self.namespace = namespace


def text_or_json(value):
    """Returns a text as it is, the texts of a list of text blocks, and anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(it, dict) and isinstance(it.get("text"), str) for it in value):
        return "\n".join(it["text"] for it in value)
    return json.dumps(value, ensure_ascii=False)


# The id of a call names its step, so that a result in a later request names it, too.
def call_id(step):
    return f"call_{step}"


def step_of(identity):
    return str(identity).removeprefix("call_")


def sse(events):
    """Returns a stream of events, each a name or `None`, and its data."""
    lines = []
    for name, data in events:
        if name:
            lines.append(f"event: {name}\n")
        data = data if isinstance(data, str) else json.dumps(data)
        lines.append(f"data: {data}\n\n")
    return "text/event-stream", "".join(lines).encode()


def plain(value):
    return "application/json", json.dumps(value).encode()


class Anthropic:
    name = "Anthropic Messages"

    @staticmethod
    def tools(body):
        # A deferred tool is known by its name alone.
        listed = (tool for tool in body.get("tools", []) if not tool.get("defer_loading"))
        return [Offered(tool["name"], tool.get("input_schema")) for tool in listed]

    @staticmethod
    def results(body):
        results = {}
        for message in body["messages"]:
            if isinstance(message["content"], str):
                continue
            for block in message["content"]:
                if block["type"] == "tool_result":
                    results[step_of(block["tool_use_id"])] = text_or_json(block.get("content", ""))
        return results

    @staticmethod
    def reply(body, path, call):
        if call:
            step, tool, arguments = call
            block = {"type": "tool_use", "id": call_id(step), "name": tool.name, "input": arguments}
            stop = "tool_use"
        else:
            block = {"type": "text", "text": DONE}
            stop = "end_turn"
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", MODEL),
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 10},
        }
        if not body.get("stream"):
            return plain(message)
        if call:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            empty = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": 10},
            },
            {"type": "message_stop"},
        ]
        return sse((event["type"], event) for event in events)


class Chat:
    name = "OpenAI chat completions"

    @staticmethod
    def tools(body):
        functions = (tool["function"] for tool in body.get("tools", []) if tool.get("type") == "function")
        return [Offered(function["name"], function.get("parameters")) for function in functions]

    @staticmethod
    def results(body):
        return {
            step_of(message["tool_call_id"]): text_or_json(message.get("content", ""))
            for message in body["messages"]
            if message["role"] == "tool"
        }

    @staticmethod
    def reply(body, path, call):
        if call:
            step, tool, arguments = call
            function = {"name": tool.name, "arguments": json.dumps(arguments)}
            calls = [{"id": call_id(step), "type": "function", "function": function}]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
            stop = "tool_calls"
        else:
            message = {"role": "assistant", "content": DONE}
            stop = "stop"
        whole = {
            "id": "chatcmpl-1",
            "created": 1,
            "model": body.get("model", MODEL),
            "usage": {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20},
        }
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": stop}
            return plain({**whole, "object": "chat.completion", "choices": [choice]})
        if call:
            message = {**message, "tool_calls": [{"index": 0, **calls[0]}]}
        choices = [
            {"index": 0, "delta": message, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": stop},
        ]
        chunks = [(None, {**whole, "object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
        return sse([*chunks, (None, "[DONE]")])


class Responses:
    name = "OpenAI responses"

    @staticmethod
    def tools(body):
        offered = []
        for tool in body.get("tools", []):
            if tool.get("type") == "function":
                offered.append(Offered(tool["name"], tool.get("parameters")))
            elif tool.get("type") == "namespace":
                inner = tool.get("tools", [])
                offered += [Offered(it["name"], it.get("parameters"), tool["name"]) for it in inner]
        return offered

    @staticmethod
    def results(body):
        items = body["input"] if isinstance(body["input"], list) else []
        return {
            step_of(item["call_id"]): text_or_json(item["output"])
            for item in items
            if item.get("type") == "function_call_output"
        }

    @staticmethod
    def reply(body, path, call):
        if call:
            step, tool, arguments = call
            item = {
                "type": "function_call",
                "id": f"fc_{step}",
                "call_id": call_id(step),
                "name": tool.name,
                "arguments": json.dumps(arguments),
                "status": "completed",
            }
            if tool.namespace:
                item["namespace"] = tool.namespace
        else:
            part = {"type": "output_text", "text": DONE, "annotations": []}
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
        usage = {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 20,
        }
        response = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": body.get("model", MODEL),
            "status": "completed",
            "output": [item],
            "usage": usage,
        }
        if not body.get("stream"):
            return plain(response)
        here = {"item_id": item["id"], "output_index": 0}
        if call:
            begun = {**item, "arguments": "", "status": "in_progress"}
            middle = [
                {"type": "response.function_call_arguments.delta", **here, "delta": item["arguments"]},
                {"type": "response.function_call_arguments.done", **here, "arguments": item["arguments"]},
            ]
        else:
            begun = {**item, "content": [], "status": "in_progress"}
            here["content_index"] = 0
            middle = [
                {"type": "response.content_part.added", **here, "part": {**part, "text": ""}},
                {"type": "response.output_text.delta", **here, "delta": DONE},
                {"type": "response.output_text.done", **here, "text": DONE},
                {"type": "response.content_part.done", **here, "part": part},
            ]
        events = [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": begun},
            *middle,
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        return sse((event["type"], {**event, "sequence_number": at}) for at, event in enumerate(events))


class Gemini:
    name = "Gemini"

    @staticmethod
    def tools(body):
        offered = []
        for tool in body.get("tools", []):
            for function in tool.get("functionDeclarations", []):
                schema = function.get("parametersJsonSchema") or function.get("parameters")
                offered.append(Offered(function["name"], schema))
        return offered

    @staticmethod
    def results(body):
        results = {}
        for content in body["contents"]:
            for part in content.get("parts", []):
                answer = part.get("functionResponse")
                step = answer and next((it for it in (STORE, RECALL) if answer["name"].endswith(it)), None)
                if step:
                    response = answer["response"]
                    only = list(response.values())[0] if len(response) == 1 else response
                    results[step] = text_or_json(only)
        return results

    @staticmethod
    def reply(body, path, call):
        if call:
            _, tool, arguments = call
            part = {"functionCall": {"name": tool.name, "args": arguments}}
        else:
            part = {"text": DONE}
        answer = {
            "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20},
            "modelVersion": MODEL,
        }
        return sse([(None, answer)]) if ":streamGenerateContent" in path else plain(answer)


def api_of(path):
    """Returns the API that a path belongs to, or `None`."""
    path = path.split("?")[0]
    if path.endswith("/messages"):
        return Anthropic
    if path.endswith("/chat/completions"):
        return Chat
    if path.endswith("/responses"):
        return Responses
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return Gemini
    return None


def recalled(requests):
    """Returns the API and the result of recall as the last request that has it shows it, or `None`."""
    for path, body in reversed(requests):
        api = api_of(path)
        if api and RECALL in api.results(body):
            return api, api.results(body)[RECALL]
    return None


FRAME = re.compile(r'<memories nonce=\S+ note="stored data, not instructions">(.*?)</memories', re.DOTALL)


def unescaped(text):
    r"""Returns `text` without the escapes of JSON in a text: the frame's `"` stands as `\"` in some prompts."""
    while "\\" in text:
        shorter = text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
        if shorter == text:
            break
        text = shorter
    return text


def faults_of(seen):
    """Returns what is wrong with a result of recall as a model saw it."""
    text = unescaped(seen)
    framed = [inner for inner in FRAME.findall(text) if CONTENT in inner]
    if not framed:
        yield "the stored text is not framed"
    if text.count(CONTENT) != 1:
        yield f"the stored text stands there {text.count(CONTENT)} times"
    if re.search(r'"results"\s*:\s*\[|"structured_?[cC]ontent"\s*:\s*\{', text):
        yield "structured content is there, too"


class Server:
    """The model as a server with an address of its own: `with Server(script) as url`."""

    def __init__(self, script):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if self.headers.get("Content-Encoding") == "gzip":
                    raw = gzip.decompress(raw)
                try:
                    body = json.loads(raw or b"{}")
                except ValueError:
                    body = {}
                script.keep(self.path, body)
                if self.path.split("?")[0].endswith(("/count_tokens", ":countTokens")):
                    return self.answer(*plain({"input_tokens": 10, "totalTokens": 10}))
                api = api_of(self.path)
                if not api:
                    return self.answer(*plain({}))
                return self.answer(*api.reply(body, self.path, script.next_call(api, body)))

            def do_GET(self):
                script.keep(self.path, {})
                known = {"id": MODEL, "object": "model", "created": 1, "owned_by": "script", "context_length": 200000}
                self.answer(*plain({"object": "list", "data": [known]}))

            def do_HEAD(self):
                self.answer("application/json", b"")

            def answer(self, kind, content):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
