"""Where a client of hooks_client.py runs, with an `icm` in its PATH that keeps what hooks get and say."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import agent_client

ROOT = Path(__file__).resolve().parents[2]

# What a session is woken up with, and what fits the prompt. The model's tools store another memory.
START = "The release branch of billing is called harvest-moon"
FITS = "Invoices live on paper, too: in the archive called pelican"

# Stands in for `icm` in the PATH: keeps what each hook got and said, and hands everything on.
SHIM = """#!{python}
import json, os, signal, subprocess, sys, time
if sys.argv[1:2] != ["hook"]:
    os.execv({real!r}, [{real!r}, *sys.argv[1:]])
given = sys.stdin.buffer.read()
event = sys.argv[3]
if {broken!r}:
    nth = sum(1 for _ in open({record!r})) if os.path.exists({record!r}) else 0
    with open({record!r}, "a") as record:
        record.write(json.dumps(dict(event=event)) + "\\n")
    # One after the other: killed, half an answer, an exit code that means nothing.
    if nth % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    if nth % 3 == 1:
        print('{{"hookSpecificOutput": {{"additionalContext"', end="")
        sys.exit(0)
    sys.exit(41)
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

    def keep_hooks(self, broken=False):
        """Puts the shim in the place of icm; a broken one fails at every hook."""
        real = self.programs_of_icm / "icm-itself"
        self.command.rename(real)
        hook = hook_program(self.icm)
        self.is_example = hook[0] != self.icm
        hook = [str(real), "hook"] if hook[0] == self.icm else hook
        python = os.path.realpath(sys.executable)
        facts = {"start": START, "fits": FITS, "record": str(self.record), "broken": broken}
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
