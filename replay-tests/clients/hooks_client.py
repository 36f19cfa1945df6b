"""A real agent client runs icm's hooks: `hooks_client.py CLIENT TITLE MODULES ICM WORK ROWS`.

CLIENT is a class below, TITLE its name in messages, MODULES the `node_modules` that has it, WORK an empty folder, ROWS
a file that gets a line for each check. The client is tried twice where it can be, each time with a HOME of its own:
with the plugin folder, and with the files that `icm init` writes. The hooks must have run, and the first request that
the scripted model gets must have what they say. Exit code 1 if a check fails.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

import agent_client
import model

ROOT = Path(__file__).resolve().parents[2]

# What a session is woken up with, and what fits the prompt. The model's tools store another memory.
START = "The release branch of billing is called harvest-moon"
FITS = "Invoices live on paper, too: in the archive called pelican"

# Stands in for `icm` in the PATH: keeps what each hook got and said, and hands everything on.
SHIM = """#!{python}
import json, os, subprocess, sys, time
if sys.argv[1:2] != ["hook"]:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
given = sys.stdin.buffer.read()
event = sys.argv[3]
command = {hook!r} + sys.argv[2:]
starts = any(word in event.lower() for word in ("start", "created", "spawn"))
env = dict(os.environ, HOOK_TEXT={start!r} if starts else {fits!r})
began = time.monotonic()
ran = subprocess.run(command, input=given, capture_output=True, env=env)
kept = dict(event=event, client=sys.argv[2], given=given.decode(errors="replace"), code=ran.returncode,
            said=ran.stdout.decode(errors="replace"), told=ran.stderr.decode(errors="replace"),
            ms=round((time.monotonic() - began) * 1000, 1))
with open({record!r}, "a") as record:
    record.write(json.dumps(kept) + "\\n")
sys.stdout.buffer.write(ran.stdout)
sys.stderr.buffer.write(ran.stderr)
sys.exit(ran.returncode)
"""


class Failed(Exception):
    """A check that failed, with what was seen."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def can(icm, command):
    """Returns whether the binary has a command."""
    return subprocess.run([icm, command, "--help"], capture_output=True, check=False).returncode == 0


def hook_program(icm):
    """Returns the command that answers hooks: icm itself, or the example of the crate while icm has no hooks."""
    if can(icm, "hook"):
        return [icm, "hook"]
    example = ROOT / "target/debug/examples/hook"
    expect(example.exists(), "icm has no `hook`: cargo build -p icm-clients --example hook")
    return [str(example)]


class Place(agent_client.Place):
    """Where a client runs, with an `icm` in its PATH that keeps what hooks say."""

    def __init__(self, modules, icm, work, url):
        work.mkdir()
        super().__init__(modules, icm, work, url)
        self.programs_of_icm = work / "bin"
        self.programs_of_icm.mkdir()
        self.env["PATH"] = f"{self.programs_of_icm}:{self.env['PATH']}"
        # A copy: some clients write into the folder that a plugin comes from.
        self.plugins = work / "plugins"
        shutil.copytree(ROOT / "plugins", self.plugins)
        self.record = work / "hooks.jsonl"
        # A link to the same file: `icm init` writes the path of the file that runs, and this one is replaced below.
        self.command = self.programs_of_icm / "icm"
        try:
            os.link(icm, self.command)
        except OSError:
            shutil.copy2(icm, self.command)

    def keep_hooks(self):
        """Puts the shim in the place of icm."""
        real = self.programs_of_icm / "icm-itself"
        self.command.rename(real)
        hook = hook_program(self.icm)
        hook = [str(real), "hook"] if hook[0] == self.icm else hook
        python = os.path.realpath(sys.executable)
        facts = {"start": START, "fits": FITS, "record": str(self.record)}
        self.command.write_text(SHIM.format(python=python, real=str(real), hook=hook, **facts))
        self.command.chmod(0o755)

    def hooks(self):
        """Returns what the hooks got and said so far."""
        return [json.loads(line) for line in self.record.open()] if self.record.exists() else []

    def good(self, *command):
        """Runs a command that must succeed; returns what it printed."""
        printed = self.run(*command)
        expect(self.code == 0, f"exit code {self.code} of `{' '.join(map(str, command))}`: {printed[-1500:]}")
        return printed

    def remember(self):
        """Stores what the hooks are to find."""
        for importance, text in [("critical", START), ("medium", FITS)]:
            self.good(str(self.command), "store", "-t", "billing", "-i", importance, "-c", text)


class Client:
    """A client: how it takes the plugin, how a model of ours is set, which hooks a session of one prompt runs."""

    # The name in icm; `None` leaves out the files of `icm init`.
    name = None
    # Where the plugin is not what clients take.
    has_plugin = True
    fires = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    # The events whose words reach the model.
    tells = ("SessionStart", "UserPromptSubmit")
    has_prompt = True

    def set_model(self, place):
        """Makes the scripted model the client's."""

    def plugin_checks(self, place):
        """Installs the plugin: yields the name of a check and what it found."""
        yield from ()

    def init_checks(self, place):
        """Looks at what `icm init` wrote, with the client's eyes."""
        yield from ()

    def prompt(self, place, tool):
        """Returns the command for one prompt; `tool` is the name of icm's server in the client."""
        raise NotImplementedError


class Claude(Client):
    name = "claude-code"

    def set_model(self, place):
        place.env |= {
            "ANTHROPIC_BASE_URL": place.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }

    def plugin_checks(self, place):
        claude, folder = place.program("claude"), place.plugins
        said = place.good(claude, "plugin", "validate", "--profile", "directory", "--strict", str(folder / "icm"))
        expect("Validation passed" in said, said)
        yield "plugin validate --strict", "passed"
        place.good(claude, "plugin", "validate", "--strict", str(folder))
        yield "plugin validate of the marketplace", "passed"
        place.good(claude, "plugin", "marketplace", "add", str(folder))
        place.good(claude, "plugin", "install", "icm@icm")
        said = place.good(claude, "mcp", "list")
        expect("plugin:icm:icm: icm serve - ✔ Connected" in said, said)
        yield "plugin install, mcp list", "connected"

    def init_checks(self, place):
        said = place.good(place.program("claude"), "mcp", "list")
        expect("serve - ✔ Connected" in said and "icm: " in said, said)
        yield "mcp list", "connected"

    def prompt(self, place, tool):
        return [place.program("claude"), "-p", model.PROMPT, "--allowedTools", f"mcp__{tool}"]


class AppServer:
    """Codex's app server: JSON, a line each."""

    def __init__(self, place):
        self.place = place
        self.process = subprocess.Popen(
            [place.program("codex"), "app-server"],
            cwd=place.project,
            env=place.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.asked = 0
        self.ask("initialize", {"clientInfo": {"name": "replay", "title": "replay", "version": "0"}})
        self.say({"method": "initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.asked += 1
        self.say({"id": self.asked, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.asked:
                expect("result" in answer, f"{method}: {line[:500]}")
                return answer["result"]
        raise Failed(f"the app server ended before it answered {method}")

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Codex(Client):
    name = "codex"

    def set_model(self, place):
        place.env |= {"SCRIPT_KEY": "dummy"}
        provider = f'name = "script"\nbase_url = "{place.url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPT_KEY"\n'
        which = f'model = "{model.MODEL}"\nmodel_provider = "script"\n'
        place.write(".codex/config.toml", f"{which}\n[model_providers.script]\n{provider}")

    def asked(self, place):
        """Asks the app server for the state of servers and hooks."""
        server = AppServer(place)
        try:
            servers = server.ask("mcpServerStatus/list", {})["data"]
            known = [it["serverInfo"]["name"] for it in servers if it.get("serverInfo")]
            expect(known == ["icm"], json.dumps(servers)[:1500])
            tools = len(servers[0]["tools"])
            yield "mcpServerStatus/list", f"connected, {tools} tools"
            listed = server.ask("hooks/list", {"cwds": [str(place.project)]})["data"][0]
            faults = [listed.get(kind) for kind in ("errors", "warnings")]
            expect(not any(faults), json.dumps(faults))
            ours = [it for it in listed["hooks"] if " hook " in it["command"] and it["enabled"]]
            expect(len(ours) == 7, json.dumps(listed)[:1500])
            yield "hooks/list", f"{len(ours)} hooks"
        finally:
            server.close()

    def plugin_checks(self, place):
        codex = place.program("codex")
        place.good(codex, "plugin", "marketplace", "add", str(place.plugins))
        place.good(codex, "plugin", "add", "icm@icm")
        yield "plugin add", "installed"
        yield from self.asked(place)
        # Nobody is there to let the tools run.
        with (place.home / ".codex/config.toml").open("a") as config:
            config.write('\n[plugins."icm@icm".mcp_servers.icm]\ndefault_tools_approval_mode = "approve"\n')

    def init_checks(self, place):
        yield from self.asked(place)
        path = place.home / ".codex/config.toml"
        table = "[mcp_servers.icm]\n"
        text = path.read_text()
        expect(table in text, text)
        path.write_text(text.replace(table, f'{table}default_tools_approval_mode = "approve"\n'))

    def prompt(self, place, tool):
        trust = "--dangerously-bypass-hook-trust"
        return [place.program("codex"), "exec", "--skip-git-repo-check", trust, model.PROMPT]


class Gemini(Client):
    name = "gemini-cli"
    fires = ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd")
    tells = ("SessionStart", "BeforeAgent")

    def set_model(self, place):
        place.env |= {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": place.url}
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }
        place.write(".gemini/settings.json", settings)
        # An extension comes from a folder that has to be trusted as well.
        trusted = {str(folder): "TRUST_FOLDER" for folder in (place.project, place.plugins / "gemini")}
        place.write(".gemini/trustedFolders.json", trusted)

    def connected(self, place):
        said = place.good(place.program("gemini"), "mcp", "list")
        expect("✓ icm" in said and "Connected" in said, said)
        return "connected"

    def plugin_checks(self, place):
        gemini, folder = place.program("gemini"), str(place.plugins / "gemini")
        said = place.good(gemini, "extensions", "validate", folder)
        expect("successfully validated" in said, said)
        yield "extensions validate", "passed"
        place.good(gemini, "extensions", "install", folder, "--consent")
        yield "extensions install, mcp list", self.connected(place)

    def init_checks(self, place):
        yield "mcp list", self.connected(place)

    def prompt(self, place, tool):
        return [place.program("gemini"), "-m", "gemini-2.5-pro", "--yolo", "-p", model.PROMPT]


class Copilot(Client):
    name = "copilot-cli"

    def set_model(self, place):
        place.env |= {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": model.MODEL,
        }

    def plugin_checks(self, place):
        copilot = place.program("copilot")
        place.good(copilot, "plugin", "marketplace", "add", str(place.plugins))
        place.good(copilot, "plugin", "install", "icm@icm")
        yield "plugin install", "installed"

    def init_checks(self, place):
        self.fires = ("sessionStart", "userPromptSubmitted", "agentStop", "sessionEnd")
        self.tells = ("sessionStart", "userPromptSubmitted")
        said = place.good(place.program("copilot"), "mcp", "list")
        expect("icm" in said, said)
        yield "mcp list", "listed"

    def prompt(self, place, tool):
        return [place.program("copilot"), "-p", model.PROMPT, "--allow-all-tools"]


class Qwen(Client):
    name = "qwen-code"
    # A session with `-p` runs no hook at its end.
    fires = ("SessionStart", "UserPromptSubmit", "Stop")

    def set_model(self, place):
        place.env |= {"OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_API_KEY": "dummy", "OPENAI_MODEL": model.MODEL}
        settings = {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
        }
        place.write(".qwen/settings.json", settings)

    def plugin_checks(self, place):
        place.good(place.program("qwen"), "extensions", "install", str(place.plugins / "icm"), "--consent")
        yield "extensions install", "installed"

    def init_checks(self, place):
        said = place.good(place.program("qwen"), "mcp", "list")
        expect("Connected" in said, said)
        yield "mcp list", "connected"

    def prompt(self, place, tool):
        return [place.program("qwen"), "--approval-mode", "yolo", "-p", model.PROMPT]


class Kimi(Client):
    name = "kimi-code"
    has_plugin = False
    # It takes no words at a start, and a session with `-p` runs no hook at its end.
    fires = ("SessionStart", "UserPromptSubmit", "Stop")
    tells = ("UserPromptSubmit",)

    def set_model(self, place):
        agent_client.kimi(place)
        (place.home / ".kimi-code/mcp.json").unlink()

    def init_checks(self, place):
        place.good(place.program("kimi"), "doctor")
        yield "doctor", "passed"

    def prompt(self, place, tool):
        return [place.program("kimi"), "-p", model.PROMPT]


class OpenCode(Client):
    name = "opencode"
    has_plugin = False
    fires = ("session.created", "chat.message", "session.idle")
    tells = ("session.created", "chat.message")
    settings = ".config/opencode/opencode.json"

    def set_model(self, place):
        place.env |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
        config = agent_client.opencode_config(place)
        del config["mcp"]
        place.write(self.settings, config)

    def init_checks(self, place):
        said = place.good(place.program("opencode"), "mcp", "list")
        expect("icm" in said and "connected" in said, said)
        yield "mcp list", "connected"

    def prompt(self, place, tool):
        return [place.program("opencode"), "run", model.PROMPT]


class Cline(Client):
    name = "cline"
    has_plugin = False
    # A prompt on the command line runs no hook of its own, and a start takes no words.
    fires = ("TaskStart", "TaskComplete")
    tells = ()

    def set_model(self, place):
        agent_client.cline(place)
        (place.home / ".cline/data/settings/cline_mcp_settings.json").unlink()

    def prompt(self, place, tool):
        return [place.program("cline"), model.PROMPT]


class Qoder(Client):
    name = "qoder"
    has_prompt = False

    def plugin_checks(self, place):
        qoder, folder = place.program("qodercli"), str(place.plugins / "icm")
        said = place.good(qoder, "plugin", "validate", folder)
        expect("hooks (7)" in said and "mcp-servers (1)" in said and "is valid" in said, said)
        yield "plugin validate", "valid: 7 hooks, 1 server"
        place.good(qoder, "plugin", "install", folder)
        said = place.good(qoder, "plugin", "list")
        expect("icm@local" in said and "enabled" in said, said)
        yield "plugin install, plugin list", "enabled"

    def init_checks(self, place):
        said = place.good(place.program("qodercli"), "mcp", "list")
        expect("Connected" in said, said)
        yield "mcp list", "connected"


class Droid(Client):
    name = "factory"
    has_prompt = False

    def droid(self, place):
        # The package of one platform has no entry among the programs.
        return str(place.modules / "@factory/cli-linux-x64/bin/droid")

    def connected(self, place):
        said = place.good(self.droid(place), "mcp", "list")
        expect("icm  stdio  connected" in said, said)
        return "connected"

    def plugin_checks(self, place):
        place.good(self.droid(place), "plugin", "marketplace", "add", str(place.plugins))
        place.good(self.droid(place), "plugin", "install", f"icm@{place.plugins.name}")
        yield "plugin install, mcp list", self.connected(place)

    def init_checks(self, place):
        yield "mcp list", self.connected(place)


CLIENTS = {
    "claude": Claude,
    "codex": Codex,
    "gemini": Gemini,
    "copilot": Copilot,
    "qwen": Qwen,
    "kimi": Kimi,
    "opencode": OpenCode,
    "cline": Cline,
    "qoder": Qoder,
    "droid": Droid,
}


def first_request(script):
    """Returns the first request with the prompt, as text."""
    for path, body in script.requests:
        text = json.dumps(body, ensure_ascii=False)
        if model.api_of(path) and model.PROMPT in text:
            return text
    raise Failed("the model never got the prompt")


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
        expect(text in request, f"`{text}` is not in the first request to the model, though {event} said it")
    if not wanted:
        expect(START not in request and FITS not in request, "a context reached the model after all")
    slowest = max(hook["ms"] for hook in ran)
    return f"{len(ran)} hooks ran, {len(wanted)} contexts reached the model, slowest {slowest:.0f} ms"


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
    place.keep_hooks()
    yield from client.plugin_checks(place) if way == "plugin" else client.init_checks(place)
    if client.has_prompt:
        tool = "plugin_icm_icm" if way == "plugin" else "icm"
        printed = place.run(*client.prompt(place, tool))
        yield "a session of one prompt", after_prompt(client, place, script, printed)
        listed = place.good(str(place.command), "--json", "list")
        expect(model.CONTENT in listed, "the model's call of the store tool stored nothing")
        yield "store and recall by tools", "stored"


def snapshot(folder):
    """Returns the bytes of each file of a folder, but for the store and the cache."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    kept = (path for path in files if not {"icm", ".cache"} & set(path.relative_to(folder).parts[:-1]))
    return {path: path.read_bytes() for path in kept}


def main(key, title, modules, icm, work, rows):
    run = Run(title, rows)
    ways = ["plugin"] if CLIENTS[key].has_plugin else []
    if can(icm, "init"):
        ways.append("init")
    else:
        run.row("init", "–", "skipped: this icm has no `init`")
    for way in ways:
        client, script = CLIENTS[key](), model.Script()
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
