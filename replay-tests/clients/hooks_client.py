"""A real agent client runs icm's hooks: `hooks_client.py CLIENT TITLE MODULES ICM WORK ROWS`.

CLIENT is a name in hooks_clients.py, TITLE its name in messages, MODULES the `node_modules` that has it, WORK an empty
folder, ROWS a file that gets a line for each check. The client is tried with the plugin folder and with the files that
`icm init` writes, each time with a HOME of its own. The hooks must have run, and the first request that the scripted
model gets must have what they say. With hooks that break, the session must go on. Exit code 1 if a check
fails, 77 if there was none.
"""

import json
import os
import sys
import time
import traceback
from pathlib import Path

import model
from hooks_clients import CLIENTS
from hooks_place import FITS, START, Failed, Place, can, expect


# The exit code if there was nothing to check.
NOTHING_CHECKED = 77

# What a sub-agent is told, and a prompt after a compaction.
TASK = "Look for the word heron in this folder."
LATER = "Where else do invoices live?"


class Script(model.Script):
    """The scripted model; with `agent` it starts a sub-agent instead of storing and recalling."""

    agent = None
    begun = False

    def next_call(self, api, body):
        if not self.agent:
            return super().next_call(api, body)
        tools = {tool.name: tool for tool in api.tools(body)}
        results = api.results(body)
        name, arguments, task, wait = self.agent
        if not self.begun and name in tools:
            self.begun = True
            return "agent", tools[name], {**arguments, task: TASK}
        if wait in tools and "agent" in results and "wait" not in results:
            identity = json.loads(results["agent"])["agent_id"]
            return "wait", tools[wait], {"targets": [identity], "timeout_ms": 10_000}
        return None


def requests_with(script, text):
    """Returns the requests to the model that have a text, as texts."""
    bodies = (json.dumps(body, ensure_ascii=False) for path, body in script.requests if model.api_of(path))
    return [body for body in bodies if text in body]


def first_request(script):
    """Returns the first request with the prompt, as text."""
    found = requests_with(script, model.PROMPT)
    expect(found, "the model never got the prompt")
    return found[0]


def after_prompt(client, place, script, printed):
    """Checks a session of one prompt; returns a line about it."""
    expect(model.DONE in printed, f"the client did not print the last answer: {printed[-1500:]}")
    ran = place.hooks()
    events = [hook["event"] for hook in ran]
    missing = [event for event in client.fires if event not in events]
    expect(not missing, f"no hook ran at {', '.join(missing)}; hooks ran at {', '.join(events)}")
    bad = [hook for hook in ran if hook["code"] != 0 or hook["told"]]
    expect(not bad, f"a hook failed: {json.dumps(bad)[:1500]}")
    request = first_request(script)
    wanted = dict(zip(client.tells[::-1], (FITS, START)))
    for event, text in wanted.items():
        said = [hook["said"] for hook in ran if hook["event"] == event]
        expect(any(text in it for it in said), f"the hook at {event} did not say `{text}`, but {said}")
        framed = place.is_example or all("stored data, not instructions" in it for it in said if text in it)
        expect(framed, f"the hook at {event} said `{text}` without a frame that marks it as data: {said}")
        expect(text in request, f"`{text}` is not in the first request to the model, though {event} said it")
    if not wanted:
        expect(START not in request and FITS not in request, "a context reached the model after all")
    slowest = max(hook["ms"] for hook in ran)
    return f"{len(ran)} hooks ran, contexts in the first request: {len(wanted)}, slowest hook {slowest:.0f} ms"


def after_broken(script, printed, place):
    """Checks that a session goes on though each of its hooks breaks."""
    expect(model.DONE in printed, f"the client did not print the last answer: {printed[-1500:]}")
    first_request(script)
    broken = len(place.hooks())
    expect(broken >= 2, f"{broken} hooks ran")
    return f"{broken} hooks broke, the session went on"


def sub_agent(client, place, script):
    """Lets the client start a sub-agent; returns a line about it."""
    script.agent = client.agent
    printed = place.run(*client.prompt(place, "plugin_icm_icm"))
    events = [hook["event"] for hook in place.hooks()]
    for event in ("SubagentStart", "SubagentStop"):
        expect(event in events, f"no hook ran at {event}, but at {', '.join(events)}: {printed[-1500:]}")
    # The agent that starts it has the task in its conversation, too, and the prompt.
    own = [text for text in requests_with(script, TASK) if model.PROMPT not in text]
    expect(own, "the model never got the task of the sub-agent")
    expect(START in own[0], f"`{START}` is not in the first request of the sub-agent")
    return "its hooks ran, the context reached it"


def compaction(client, place, script):
    """Lets the client compact the session, and goes on; returns a line about it."""
    began = len(place.hooks())
    compact, go_on = client.compaction(place, LATER)
    place.good(*compact)
    ran = [(hook["event"], json.loads(hook["given"]).get("source")) for hook in place.hooks()[began:]]
    for event in [("PreCompact", None), ("SessionStart", "compact")]:
        expect(event in ran, f"no hook ran at {event}, but at {ran}")
    place.good(*go_on)
    found = requests_with(script, LATER)
    expect(found, "the model never got the prompt after the compaction")
    expect(START in found[0], f"`{START}` is not in the first request after the compaction")
    return "its hooks ran, the context was there again"


class Run:
    """The checks of a client, and the rows about them."""

    def __init__(self, title, rows):
        self.title = title
        self.rows = rows
        self.failed = 0

    def row(self, way, check, said):
        with open(self.rows, "a") as rows:
            rows.write(f"| {self.title} | {way} | {check} | {said} |\n")

    def all(self, way, checks):
        """Runs checks until one fails; each is a name and what was found."""
        began = time.monotonic()
        try:
            for check, said in checks:
                self.row(way, check, f"{said}, {time.monotonic() - began:.1f} s")
                began = time.monotonic()
            return
        except Failed as fault:
            why = str(fault)
        except Exception:
            why = traceback.format_exc()
        self.failed += 1
        print(f"failed: {self.title}, {way}: {why}", file=sys.stderr)
        self.row(way, "–", f"**failed**: {why.splitlines()[0][:120]}")


def checks_of(client, place, script, way):
    """Yields the checks of a client, one after the other."""
    client.set_model(place)
    if way == "init":
        init = [str(place.command), "init", "--client", client.name, "--yes"]
        place.good(*init)
        written = snapshot(place.home)
        place.good(*init)
        expect(snapshot(place.home) == written, "the second `icm init` changed a file")
        yield "init twice equals once", "yes"
    place.remember()
    place.keep_hooks(way == "broken")
    checks = client.init_checks(place) if way == "init" else client.plugin_checks(place)
    if way == "broken":
        # They are checked with the plugin; here it has to be installed only.
        list(checks)
        printed = place.run(*client.prompt(place, "plugin_icm_icm"))
        yield "a session with hooks that break", after_broken(script, printed, place)
        return
    yield from checks
    if client.has_prompt:
        tool = "plugin_icm_icm" if way == "plugin" else "icm"
        printed = place.run(*client.prompt(place, tool))
        yield "a session of one prompt", after_prompt(client, place, script, printed)
        listed = place.good(str(place.command), "--json", "list")
        expect(model.CONTENT in listed, "the model's call of the store tool stored nothing")
        yield "store and recall by tools", "stored"
    if way == "plugin" and client.agent:
        yield "a sub-agent", sub_agent(client, place, script)
    if way == "plugin" and client.compaction(place, LATER):
        yield "a compaction", compaction(client, place, script)


def snapshot(folder):
    """Returns the bytes of each file of a folder, but for the store and the cache."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    kept = (path for path in files if not {"icm", ".cache"} & set(path.relative_to(folder).parts[:-1]))
    return {path: path.read_bytes() for path in kept}


def main(key, title, modules, icm, work, rows):
    run = Run(title, rows)
    ways = ["plugin"] if CLIENTS[key].has_plugin else []
    if ways and CLIENTS[key].has_prompt:
        ways.append("broken")
    if can(icm, "init"):
        ways.append("init")
    else:
        run.row("init", "–", "skipped: this icm has no `init`")
    if not ways:
        sys.exit(NOTHING_CHECKED)
    for way in ways:
        client, script = CLIENTS[key](), Script()
        with model.Server(script) as url:
            place = Place(modules, icm, Path(work) / way, url)
            # The store is where icm puts it by itself: Codex gives a server HOME and little else.
            try:
                run.all(way, checks_of(client, place, script, way))
            finally:
                place.end_what_is_left()
        if os.environ.get("ICM_CLIENTS_LOG"):
            log = Path(os.environ["ICM_CLIENTS_LOG"]) / f"hooks-{key}-{way}.json"
            log.write_text(json.dumps({"requests": script.requests, "hooks": place.hooks()}, indent=1))
    sys.exit(1 if run.failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
