#!/bin/sh
# Lets real agent clients, and frameworks for agents, store and recall through an icm binary.
#
#   replay-tests/clients/agents.sh [--all] [ICM]        default: target/release/icm
#
# A scripted model on the loopback (model.py) calls icm's tools through each client, and what the client sends back is
# checked: the stored text once, framed as data. Without --all: Claude Code, Codex and Gemini CLI, which need 900 MB,
# and the frameworks, which need 270 MB. Clients are pinned and kept as for run.sh; one that cannot be installed is
# SKIPPED, unless ICM_CLIENTS_REQUIRED=1 makes that an error. ICM_CLIENTS_LOG=FOLDER keeps what each model got.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
all=
[ "${1:-}" != --all ] || { all=1; shift; }
icm=${1:-$here/../../target/release/icm}
[ -x "$icm" ] || { echo "no icm binary at $icm: build one, or give its path" >&2; exit 2; }
icm=$(cd "$(dirname "$icm")" && pwd)/$(basename "$icm")

. "$here/lib.sh"

passed=0
wrong=0
tried=0

# client KEY TITLE PACKAGE VERSION
client() {
    tried=$((tried + 1))
    node_with "$2" "$3@$4" || return 0
    mkdir "$work/$1"
    if alone python3 "$here/agent_client.py" "$1" "$2 $4" "$modules" "$icm" "$work/$1"; then
        passed=$((passed + 1))
    else
        wrong=$((wrong + 1))
    fi
}

client claude "Claude Code" @anthropic-ai/claude-code 2.1.332
client codex "Codex" @openai/codex 0.169.0
client gemini "Gemini CLI" @google/gemini-cli 0.61.0
if [ -n "$all" ]; then
    client opencode "OpenCode" opencode-ai 1.18.33
    client qwen "Qwen Code" @qwen-code/qwen-code 0.24.4
    client copilot "Copilot CLI" @github/copilot 1.0.102
    client cline "Cline CLI" cline 3.0.65
    # The package of its wrapper asks for a platform package that its registry lacks.
    client kilo "Kilo" @kilocode/cli-linux-x64 7.7.9
    client kimi "Kimi Code" @moonshot-ai/kimi-code 2.1.0
fi

# These need an older mcp package than the clients of run.sh.
venv=frameworks
tried=$((tried + 1))
if python_with "agent frameworks" mcp==1.30.0 google-genai==3.3.0 openai-agents==0.24.0 \
    langchain-mcp-adapters==0.3.2 'pydantic-ai-slim[mcp]==2.68.0'; then
    if "$python" "$here/frameworks.py" "$icm"; then
        passed=$((passed + 1))
    else
        wrong=$((wrong + 1))
    fi
fi

echo "agents: $passed passed, $wrong failed, $((tried - passed - wrong)) skipped"
[ "$wrong" = 0 ]
