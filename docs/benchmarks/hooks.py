#!/usr/bin/env python3
"""How long a client waits for a hook of icm: wall time of the whole process, beside that of an empty one.

    docs/benchmarks/hooks.py ICM MEMORIES.jsonl [--rounds N]

MEMORIES.jsonl is imported into a new store. Each hook runs N times (default 60) in turn with `true`, first alone, then
beside an `icm serve`. Prints p50 and p95 in milliseconds. Needs Python 3.11, no packages.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

# Memories of high importance that a wake-up pack has to choose from.
RULES = 30


def hook(icm, env, event, more, session):
    given = {"session_id": session, "hook_event_name": event, "cwd": env["HOME"], **more}
    command = [icm, "hook", "claude-code", event]
    begun = time.perf_counter()
    done = subprocess.run(command, env=env, input=json.dumps(given).encode(), capture_output=True)
    took = time.perf_counter() - begun
    assert done.returncode == 0 and not done.stderr, done
    return 1e3 * took, len(done.stdout)


def empty(env):
    begun = time.perf_counter()
    subprocess.run(["true"], env=env, input=b"{}", capture_output=True)
    return 1e3 * (time.perf_counter() - begun)


def transcript(path, nth):
    line = {
        "type": "assistant",
        "message": {"role": "assistant", "content": f"We decided to use tool{nth} instead of the old one for part {nth}."},
    }
    with open(path, "a") as file:
        file.write(json.dumps(line) + "\n")


def measure(icm, env, rounds, title, prompts):
    path = pathlib.Path(env["HOME"]) / "transcript.jsonl"
    moments = {
        # The same start twice in a row is taken for the hooks of two files, and the second says nothing.
        "SessionStart": lambda n: {"source": ("startup", "resume", "clear", "compact")[n % 4]},
        "UserPromptSubmit": lambda n: {"prompt": prompts[n % len(prompts)]},
        "Stop, nothing new": lambda n: {"transcript_path": str(path)},
        "Stop, a decision": lambda n: (transcript(path, f"{title}{n}"), {"transcript_path": str(path)})[1],
        "SessionEnd": lambda n: {"reason": "logout", "transcript_path": str(path)},
    }
    transcript(path, title)
    for name, more in moments.items():
        took, floor, told = [], [], 0
        for n in range(rounds):
            ms, len_bytes = hook(icm, env, name.split(",")[0], more(n), f"{title}-{n // 4}")
            took.append(ms)
            told += len_bytes > 0
            floor.append(empty(env))
        p95 = sorted(took)[int(0.95 * len(took))]
        print(
            f"| {name}, {title} | {statistics.median(took):.1f} | {p95:.1f} | {statistics.median(floor):.1f} "
            f"| {told} of {rounds} |",
            flush=True,
        )


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("icm")
    arguments.add_argument("memories")
    arguments.add_argument("--rounds", type=int, default=60)
    given = arguments.parse_args()
    icm = str(pathlib.Path(given.icm).resolve())
    with tempfile.TemporaryDirectory() as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "ICM_DB": f"{home}/store"}
        subprocess.run([icm, "import", "jsonl", given.memories], env=env, check=True, capture_output=True)
        subprocess.run([icm, "recall", "anything"], env=env, capture_output=True)
        texts = [json.loads(line)["content"] for line in open(given.memories)]
        # A part of each text, as a person would take up what was said.
        step = max(1, len(texts) // given.rounds)
        prompts = [" ".join(text.split()[:12]) + "?" for text in texts[::step]]
        for n in range(RULES):
            rule = ["store", "-t", "rules", "-i", "high", "-c", f"Rule {n}: {texts[n * step]}"]
            subprocess.run([icm, *rule], env=env, check=True, capture_output=True)
        print("| hook | p50, ms | p95, ms | `true`, p50, ms | told something |\n|---|---|---|---|---|")
        measure(icm, env, given.rounds, "alone", prompts)
        server = subprocess.Popen(
            [icm, "serve"], env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(1.0)
        try:
            measure(icm, env, given.rounds, "beside a server", prompts)
        finally:
            server.stdin.close()
            server.wait()


if __name__ == "__main__":
    main()
