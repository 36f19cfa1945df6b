"""The clients of hooks_client.py: how each takes the plugin, what it says about it, and which hooks it runs."""

import json
import subprocess

import agent_client
import model
from hooks_place import Failed, expect


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
    # The tool that starts a sub-agent, its arguments, the one with the task, and the tool that waits for a sub-agent.
    agent = None

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

    def compaction(self, place, prompt):
        """Returns the commands that compact the last session, and that go on with a prompt; `None` without such."""
        return None


class Claude(Client):
    name = "claude-code"
    agent = ("Agent", {"description": "look", "subagent_type": "general-purpose"}, "prompt", None)

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
        return [place.program("claude"), "-p", model.PROMPT, "--allowedTools", f"mcp__{tool} Agent"]

    def compaction(self, place, prompt):
        go_on = [place.program("claude"), "-p", "--continue"]
        return [*go_on, "/compact"], [*go_on, prompt]


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
    agent = ("spawn_agent", {"agent_type": "default"}, "message", "wait_agent")

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
