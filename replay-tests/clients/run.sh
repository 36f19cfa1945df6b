#!/bin/sh
# Lists and calls every tool of an icm binary through real MCP clients.
#
#   replay-tests/clients/run.sh [ICM]        default: target/release/icm
#
# Installs pinned clients into a temporary folder, or into ICM_CLIENTS_DIR to keep them for the next
# run. A registry that cannot be reached skips its client, with a message; ICM_CLIENTS_REQUIRED=1
# makes that an error.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
icm=${1:-$here/../../target/release/icm}
[ -x "$icm" ] || { echo "no icm binary at $icm: build one, or give its path" >&2; exit 2; }
icm=$(cd "$(dirname "$icm")" && pwd)/$(basename "$icm")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
clients=${ICM_CLIENTS_DIR:-$work/clients}
mkdir -p "$clients"

skip() {
    echo "skipped: $1" >&2
    [ "${ICM_CLIENTS_REQUIRED:-0}" != 1 ] || exit 1
}

python_client() {
    command -v python3 >/dev/null || { skip "the mcp package: no python3"; return; }
    if [ ! -x "$clients/venv/bin/python" ]; then
        python3 -m venv "$clients/venv" || { skip "the mcp package: no venv module"; return; }
    fi
    "$clients/venv/bin/pip" install --quiet --disable-pip-version-check mcp==2.3.0 \
        >"$work/pip.log" 2>&1 || { skip "the mcp package cannot be installed: $(tail -n 1 "$work/pip.log")"; return; }
    "$clients/venv/bin/python" "$here/mcp_clients.py" "$icm"
}

inspect() {
    "$clients/npm/node_modules/.bin/mcp-inspector" --cli "$icm" --db "$work/inspected" serve --toolsets all "$@" \
        >"$work/reply.json" 2>"$work/reply.log" || {
        echo "failed: inspector $*" >&2
        cat "$work/reply.json" "$work/reply.log" >&2
        exit 1
    }
}

# A tool by its name and arguments; the reply must not be an error.
inspect_tool() {
    tool=$1
    shift
    inspect --method tools/call --tool-name "$tool" "$@"
    if grep -q '"isError": *true' "$work/reply.json"; then
        echo "failed: inspector $tool" >&2
        cat "$work/reply.json" >&2
        exit 1
    fi
}

inspector() {
    command -v npm >/dev/null || { skip "the inspector: no npm"; return; }
    if [ ! -x "$clients/npm/node_modules/.bin/mcp-inspector" ]; then
        npm install --loglevel=error --no-fund --no-audit --prefix "$clients/npm" \
            @modelcontextprotocol/inspector@2.12.0 >"$work/npm.log" 2>&1 ||
            { skip "the inspector cannot be installed: $(head -n 1 "$work/npm.log")"; return; }
    fi
    inspect --method tools/list --strict
    tools=$(grep -c '"inputSchema"' "$work/reply.json")
    inspect_tool icm_memory_store --tool-arg topic=db 'content=the pool holds 20 connections' importance=high
    id=$(sed -n 's/.*"id": *"\([0-9A-Z]\{26\}\)".*/\1/p' "$work/reply.json" | head -n 1)
    [ -n "$id" ] || { echo "failed: inspector: no id in the receipt" >&2; cat "$work/reply.json" >&2; exit 1; }
    inspect_tool icm_memory_recall --tool-arg query=pool limit=5
    grep -q "$id" "$work/reply.json" || { echo "failed: inspector: $id was not recalled" >&2; exit 1; }
    inspect_tool icm_memory_update --tool-arg "id=$id" 'content=the pool holds 30 connections'
    inspect_tool icm_log --tool-arg "id=$id"
    inspect_tool icm_log --tool-arg kind=memory limit=2
    inspect_tool icm_diff --tool-arg from=@3 topic=db
    inspect_tool icm_memory_list_topics
    inspect_tool icm_memory_stats
    inspect_tool icm_memory_forget --tool-arg "id=$id"
    inspect_tool icm_undo --tool-arg last=1
    inspect_tool icm_memory_store --tool-arg topic=db 'content=another fact'
    inspect_tool icm_memory_store --tool-arg topic=db 'content=the replicas lag by a second'
    inspect_tool icm_memory_consolidate --tool-arg topic=db 'summary=the pool'
    echo "inspector: $tools tools listed without a complaint, 13 calls"
}

python_client
inspector
