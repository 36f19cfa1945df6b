#!/bin/sh
# Talks to an icm binary through real MCP clients, over stdio and over HTTP, has its CloudEvents read, and lets two
# stores meet by way of Azure's emulator.
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

. "$here/lib.sh"
. "$here/inspector.sh"

# over_both COMMAND...: runs a client with `stdio ICM STORE` and with `http URL`, on a fresh store each.
over_both() {
    "$@" stdio "$icm" "$(mktemp -d "$work/store.XXXXXX")/store"
    over_http "$@" http
}

over_http() {
    start_server "$icm" --db "$(mktemp -d "$work/store.XXXXXX")/store" serve --toolsets all --structured --http 127.0.0.1:0
    ICM_TOKEN=$token "$@" "$url"
    stop_server
}

if python_with "the mcp package" mcp==2.3.0; then
    for mode in legacy 2026-07-28 auto; do
        over_both "$python" "$here/mcp_package.py" "$mode"
    done
    "$python" "$here/pipes.py" "$icm"
fi
if python_with "fastmcp" fastmcp==4.1.2; then
    for mode in legacy auto; do
        over_both "$python" "$here/fastmcp_client.py" "$mode"
    done
fi
if python_with "the cloudevents package" cloudevents==2.2.0; then
    "$python" "$here/cloudevents_package.py" "$icm"
fi
if command -v python3 >/dev/null && node_with "Azurite" azurite@3.35.0; then
    python3 "$here/azure.py" "$modules/.bin/azurite-blob" "$icm"
fi
if node_with "the TypeScript client" @modelcontextprotocol/client@2.4.0; then
    for mode in legacy 2026-07-28 auto; do
        over_both node "$here/typescript_client.mjs" "$modules" "$mode"
    done
fi
if node_with "the inspector" @modelcontextprotocol/inspector@2.12.0; then
    over_both inspector "$modules/.bin/mcp-inspector"
fi
