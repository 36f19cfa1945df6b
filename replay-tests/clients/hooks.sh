#!/bin/sh
# Lets real agent clients take icm's plugin and the files of `icm init`, and run its hooks.
#
#   replay-tests/clients/hooks.sh [--all] [ICM]        default: target/release/icm
#
# hooks_client.py and hooks_shapes.py say what is checked; a table of it is printed at the end. Without --all: Claude Code, Codex and Gemini
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
    package=$3@$4
    node_with "$2" "$package" 2>"$work/skipped" || {
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

# shapes KEY TITLE [PACKAGE@VERSION]: validates the samples and the answers by what the client's package says, or
# by the types of a package beside it.
shapes() {
    tried=$((tried + 1))
    {
        compiler=
        if [ "$1" = codex ]; then
            python_with "$2's schemas" jsonschema==4.26.0
        else
            node_with "$2's types" typescript@5.9.3 && compiler=$modules/.bin/tsc && python=python3
        fi && if [ $# = 3 ]; then types_of "$2's types" "$3"; else node_with "$2" "$package"; types=$modules; fi
    } 2>"$work/skipped" || {
        cat "$work/skipped" >&2
        printf '| %s | schema | – | %s |\n' "$2" "$(tail -n 1 "$work/skipped" | cut -c1-200)" >>"$rows"
        [ "$needed" = 0 ] || { wrong=$((wrong + 1)); echo "failed: $2's schema is needed; CI_OFFLINE=1 goes on without" >&2; }
        return 0
    }
    mkdir "$work/shapes-$1"
    if alone "$python" "$here/hooks_shapes.py" "$1" "$2" "$types" "$compiler" "$icm" "$work/shapes-$1" "$rows"; then
        passed=$((passed + 1))
    else
        wrong=$((wrong + 1))
    fi
}

needed=${ICM_CLIENTS_REQUIRED:-0}
# A client that lacks is told in the table, too, so `skip` must not end the script.
ICM_CLIENTS_REQUIRED=0
optional=$needed
[ "${CI_OFFLINE:-0}" = 1 ] || needed=1
client claude "Claude Code" @anthropic-ai/claude-code 2.1.332
shapes claude "Claude Code" @anthropic-ai/claude-agent-sdk@0.3.332
client codex "Codex" @openai/codex 0.169.0
shapes codex Codex
client gemini "Gemini CLI" @google/gemini-cli 0.61.0
shapes gemini "Gemini CLI" @google/gemini-cli-core@0.61.0
if [ -n "$all" ]; then
    needed=$optional
    client copilot "Copilot CLI" @github/copilot 1.0.102
    shapes copilot "Copilot CLI"
    client qwen "Qwen Code" @qwen-code/qwen-code 0.24.4
    client qoder "Qoder" @qoder-ai/qodercli 1.1.52
    shapes qoder Qoder @qoder-ai/qoder-agent-sdk@1.0.39
    # The package of its wrapper asks for a platform package that its registry lacks.
    client droid "Factory droid" @factory/cli-linux-x64 0.225.2
    client opencode "OpenCode" opencode-ai 1.18.33
    client kimi "Kimi Code" @moonshot-ai/kimi-code 2.1.0
    client cline "Cline CLI" cline 3.0.65
    shapes cline "Cline CLI"
fi

printf '\n| client | by | check | result |\n|---|---|---|---|\n'
cat "$rows"
printf '\nhooks: %s runs passed, %s failed, %s skipped\n' "$passed" "$wrong" "$((tried - passed - wrong))"
[ "$wrong" = 0 ]
