#!/bin/sh
# Lets real agent clients take icm's plugin and the files of `icm init`, and run its hooks.
#
#   replay-tests/clients/hooks.sh [--all] [ICM]        default: target/release/icm
#
# hooks_client.py says what is checked; a table of it is printed at the end. Without --all: Claude Code, Codex and Gemini
# CLI, the clients of agents.sh, which have to be there: CI_OFFLINE=1 makes one that cannot be installed a SKIPPED line.
# Clients are pinned and kept as for run.sh. ICM_CLIENTS_LOG=FOLDER keeps what each model got and each hook said.
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
rows=$work/rows
: >"$rows"

# client KEY TITLE PACKAGE VERSION
client() {
    tried=$((tried + 1))
    node_with "$2" "$3@$4" 2>"$work/skipped" || {
        cat "$work/skipped" >&2
        printf '| %s %s | – | – | %s |\n' "$2" "$4" "$(tail -n 1 "$work/skipped" | cut -c1-200)" >>"$rows"
        [ "$needed" = 0 ] || { wrong=$((wrong + 1)); echo "failed: $2 is needed; CI_OFFLINE=1 goes on without" >&2; }
        return 0
    }
    mkdir "$work/$1"
    status=0
    alone python3 "$here/hooks_client.py" "$1" "$2 $4" "$modules" "$icm" "$work/$1" "$rows" || status=$?
    case $status in
        0) passed=$((passed + 1)) ;;
        # Nothing was there to check.
        77) ;;
        *) wrong=$((wrong + 1)) ;;
    esac
}

needed=${ICM_CLIENTS_REQUIRED:-0}
# A client that lacks is told in the table, too, so `skip` must not end the script.
ICM_CLIENTS_REQUIRED=0
optional=$needed
[ "${CI_OFFLINE:-0}" = 1 ] || needed=1
client claude "Claude Code" @anthropic-ai/claude-code 2.1.332
client codex "Codex" @openai/codex 0.169.0
client gemini "Gemini CLI" @google/gemini-cli 0.61.0
if [ -n "$all" ]; then
    needed=$optional
    client copilot "Copilot CLI" @github/copilot 1.0.102
    client qwen "Qwen Code" @qwen-code/qwen-code 0.24.4
    client qoder "Qoder" @qoder-ai/qodercli 1.1.52
    # The package of its wrapper asks for a platform package that its registry lacks.
    client droid "Factory droid" @factory/cli-linux-x64 0.225.2
    client opencode "OpenCode" opencode-ai 1.18.33
    client kimi "Kimi Code" @moonshot-ai/kimi-code 2.1.0
    client cline "Cline CLI" cline 3.0.65
fi

printf '\n| client | by | check | result |\n|---|---|---|---|\n'
cat "$rows"
printf '\nhooks: %s clients passed, %s failed, %s skipped\n' "$passed" "$wrong" "$((tried - passed - wrong))"
[ "$wrong" = 0 ]
