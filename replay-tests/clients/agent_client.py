"""A real agent client stores and recalls through icm: `agent_client.py CLIENT TITLE MODULES ICM WORK`.

CLIENT is a function below, TITLE its name in messages, MODULES the `node_modules` that has it, WORK an empty folder. The client gets a HOME of
its own, a scripted model on the loopback and icm as its only MCP server. Exit code 1 at the first difference.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import model

# More than ten times what the slowest client takes on an idle machine with two cores.
RUN_SECONDS_MAX = 180


class Place:
    """Where a client runs, and what it is told about icm."""

    def __init__(self, modules, icm, work, url):
        self.programs = Path(modules) / ".bin"
        self.modules = Path(modules)
        self.icm = icm
        self.url = url
        self.home = Path(work) / "home"
        self.project = Path(work) / "project"
        self.store = Path(work) / "store"
        self.home.mkdir()
        self.project.mkdir()
        # What most clients keep of a server over stdio.
        self.entry = {"command": icm, "args": ["serve"], "env": {"ICM_DB": str(self.store)}}
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
        }

    def write(self, path, text):
        """Writes a file of the client's HOME: a text, or a value as JSON."""
        path = self.home / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))

    def program(self, name):
        return str(self.programs / name)

    def run(self, *command):
        """Runs a program with this place's environment to its end; returns what it printed, and that it took too long
        if it did. `code` is its exit code after that, `None` if it took too long."""
        # A file, not a pipe: a process that is left behind would keep a pipe open.
        with tempfile.TemporaryFile() as printed:
            self.code = None
            try:
                ran = subprocess.run(
                    command,
                    cwd=self.project,
                    env=self.env,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    timeout=RUN_SECONDS_MAX,
                    check=False,
                )
                self.code = ran.returncode
                late = ""
            except subprocess.TimeoutExpired:
                late = f"\nended after {RUN_SECONDS_MAX} s"
            printed.seek(0)
            return printed.read().decode(errors="replace") + late

    def end_what_is_left(self):
        """Kills every process that still has this place's HOME: a client can leave a daemon behind."""
        mark = b"HOME=" + os.fsencode(self.home)
        left = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    left.append(int(process.name))
            except OSError:
                continue
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return len(left)


def claude(place):
    place.env |= {
        "ANTHROPIC_BASE_URL": place.url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    entry = {"type": "stdio", **place.entry}
    place.write(".claude.json", {"mcpServers": {"icm": entry}})
    return [place.program("claude"), "-p", model.PROMPT, "--allowedTools", "mcp__icm"]


def codex(place):
    place.env |= {"SCRIPT_KEY": "dummy"}
    place.write(
        ".codex/config.toml",
        f"""
model = "{model.MODEL}"
model_provider = "script"

[model_providers.script]
name = "script"
base_url = "{place.url}/v1"
wire_api = "responses"
env_key = "SCRIPT_KEY"

[mcp_servers.icm]
command = {json.dumps(place.icm)}
args = ["serve"]
default_tools_approval_mode = "approve"

[mcp_servers.icm.env]
ICM_DB = {json.dumps(str(place.store))}
""",
    )
    return [place.program("codex"), "exec", "--skip-git-repo-check", model.PROMPT]


def gemini(place):
    place.env |= {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": place.url}
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "mcpServers": {"icm": {**place.entry, "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    place.write(".gemini/settings.json", settings)
    place.write(".gemini/trustedFolders.json", {str(place.project): "TRUST_FOLDER"})
    return [place.program("gemini"), "-m", "gemini-2.5-pro", "--yolo", "-p", model.PROMPT]


def opencode_config(place):
    """Returns the configuration of OpenCode and its fork."""
    models = {model.MODEL: {"name": model.MODEL, "tool_call": True}}
    options = {"baseURL": f"{place.url}/v1", "apiKey": "dummy"}
    server = {
        "type": "local",
        "command": [place.icm, "serve"],
        "environment": place.entry["env"],
    }
    return {
        "model": f"script/{model.MODEL}",
        "small_model": f"script/{model.MODEL}",
        "provider": {"script": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}},
        "mcp": {"icm": server},
        "permission": {"*": "allow"},
    }


def opencode(place):
    place.env |= {"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    place.write(".config/opencode/opencode.json", opencode_config(place))
    return [place.program("opencode"), "run", model.PROMPT]


def kilo(place):
    place.env |= {"KILO_DISABLE_MODELS_FETCH": "1", "KILO_DISABLE_AUTOUPDATE": "1"}
    place.write(".config/kilo/kilo.json", opencode_config(place))
    # The package of one platform has no entry among the programs.
    return [str(place.modules / "@kilocode/cli-linux-x64/bin/kilo"), "run", "--auto", model.PROMPT]


def qwen(place):
    place.env |= {"OPENAI_BASE_URL": f"{place.url}/v1", "OPENAI_API_KEY": "dummy", "OPENAI_MODEL": model.MODEL}
    settings = {
        "security": {"auth": {"selectedType": "openai"}},
        "mcpServers": {"icm": {**place.entry, "trust": True}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    place.write(".qwen/settings.json", settings)
    return [place.program("qwen"), "--approval-mode", "yolo", "-p", model.PROMPT]


def copilot(place):
    place.env |= {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{place.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "dummy",
        "COPILOT_MODEL": model.MODEL,
    }
    entry = {"tools": ["*"], "type": "local", **place.entry}
    place.write(".copilot/mcp-config.json", {"mcpServers": {"icm": entry}})
    return [place.program("copilot"), "-p", model.PROMPT, "--allow-all-tools"]


def cline(place):
    transport = {"type": "stdio", **place.entry}
    servers = {"mcpServers": {"icm": {"transport": transport}}}
    place.write(".cline/data/settings/cline_mcp_settings.json", servers)
    program = place.program("cline")
    place.run(program, "auth", "-p", "openai", "-k", "dummy", "-m", model.MODEL, "-b", f"{place.url}/v1")
    return [program, model.PROMPT]


def kimi(place):
    place.write(
        ".kimi-code/config.toml",
        f"""
default_model = "script"

[providers.script]
type = "openai"
base_url = "{place.url}/v1"
api_key = "dummy"

[models.script]
provider = "script"
model = "{model.MODEL}"
max_context_size = 200000
capabilities = ["tool_use"]
""",
    )
    place.write(".kimi-code/mcp.json", {"mcpServers": {"icm": place.entry}})
    return [place.program("kimi"), "-p", model.PROMPT]


# Each client, the actor that the log has for it, and whether it tells a server its session.
CLIENTS = {
    "claude": (claude, "agent:claude-code", True),
    "codex": (codex, "agent:codex", True),
    "gemini": (gemini, "agent:gemini-cli", False),
    "opencode": (opencode, "agent:opencode", False),
    "kilo": (kilo, "agent:kilo", False),
    "qwen": (qwen, "agent:qwen-code", False),
    "copilot": (copilot, "agent:copilot-cli", True),
    "cline": (cline, "agent:cline", False),
    "kimi": (kimi, "agent:kimi-code", False),
}


def origin_faults(place, actor, has_session):
    """Returns what is wrong with who stored the memory, and in which session, as the log has it."""
    lines = place.run(place.icm, "--db", str(place.store), "--json", "log", "--kind", "memory.stored")
    events = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    stored = [event for event in events if model.CONTENT in json.dumps(event.get("payload"))]
    if len(stored) != 1:
        return [f"the log has {len(stored)} events that store the memory"]
    faults = []
    if stored[0]["actor"] != actor:
        faults.append(f"the actor is {stored[0]['actor']}, not {actor}")
    # The server makes a session for a client that names none.
    session = stored[0]["payload"].get("source", {}).get("session") or ""
    if not session or session.startswith("mcp-") == has_session:
        faults.append(f"the session is {session!r}")
    return faults


def check(place, script, printed, actor, has_session):
    """Returns a line about a run, and its faults."""
    used = [(model.api_of(path), body) for path, body in script.requests if model.api_of(path)]
    if not used:
        return "", ["the client never asked the model"]
    faults = []
    if model.CONTENT not in place.run(place.icm, "--db", str(place.store), "--json", "list"):
        answers = [api.results(body).get(model.STORE) for api, body in used]
        faults.append(f"nothing was stored; the tool said: {next(filter(None, answers), None)}")
    else:
        faults += origin_faults(place, actor, has_session)
    offered = [[tool.name for tool in api.tools(body)] for api, body in used]
    found = model.recalled(script.requests)
    if not found:
        return "", [*faults, f"no recall; the model was offered: {', '.join(max(offered, key=len))}"]
    api, seen = found
    faults += model.faults_of(seen)
    if model.DONE not in printed:
        faults.append("the client did not print the last answer")
    shown = max(sum("icm_" in name for name in names) for names in offered)
    return f"{api.name}, {shown} tools shown, {len(seen)} characters recalled", faults


def main(name, title, modules, icm, work):
    client, actor, has_session = CLIENTS[name]
    script = model.Script()
    with model.Server(script) as url:
        place = Place(modules, icm, work, url)
        try:
            printed = place.run(*client(place))
        finally:
            left = place.end_what_is_left()
    said, faults = check(place, script, printed, actor, has_session)
    if os.environ.get("ICM_CLIENTS_LOG"):
        log = Path(os.environ["ICM_CLIENTS_LOG"]) / f"{name}.json"
        log.write_text(json.dumps({"requests": script.requests, "printed": printed}, indent=1))
    for fault in faults:
        print(f"failed: {title}: {fault}", file=sys.stderr)
    if faults:
        found = model.recalled(script.requests)
        print(f"the model saw:\n{found[1] if found else None}", file=sys.stderr)
        print(f"{title} printed:\n{printed[-2000:]}", file=sys.stderr)
        sys.exit(1)
    also = f", processes ended that it left behind: {left}" if left else ""
    print(f"{title}: {said}{also}")


if __name__ == "__main__":
    main(*sys.argv[1:])
