#!/bin/sh
# Runs the MCP conformance suite against icm's server with the suite's fixtures in front.
#
#   replay-tests/conformance/run.sh [SERVER]    default: target/debug/examples/conformance
#
# The server is `cargo build -p replay-tests --example conformance`. Whatever is not in
# expected-failures.yaml has to pass, and whatever is in there has to fail. The suite speaks HTTP alone, so
# the same fixtures are asked for over stdio, too. The suite, a Node for it and a client come as for
# replay-tests/clients: pinned, kept in ICM_CLIENTS_DIR, skipped with a message where a registry cannot be
# reached unless ICM_CLIENTS_REQUIRED=1.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fixtures=${1:-$here/../../target/debug/examples/conformance}
[ -x "$fixtures" ] || { echo "no server at $fixtures: build it, or give its path" >&2; exit 2; }
fixtures=$(cd "$(dirname "$fixtures")" && pwd)/$(basename "$fixtures")

. "$here/../clients/lib.sh"

suite() {
    node "$modules/@modelcontextprotocol/conformance/dist/index.js" server --url "$url" \
        --expected-failures "$here/expected-failures.yaml" "$@" >"$work/suite.log" 2>&1 ||
        failed "conformance $*" "$work/suite.log"
}

# revision VERSION SCENARIOS: everything that a revision requires, which is so many scenarios.
revision() {
    suite --requirements "$1"
    ran=$(grep -c '^=== Running scenario' "$work/suite.log")
    [ "$ran" -ge "$2" ] || failed "conformance $1: $ran scenarios of $2" "$work/suite.log"
    echo "conformance $1: $2 scenarios, $(grep -c '^  ~ ' "$work/suite.log" || true) of them expected to fail"
}

# scenario NAME: what came too late to be required of 2026-07-28, and holds.
scenario() {
    suite --scenario "$1" --spec-version 2026-07-28
    echo "conformance 2026-07-28: $1 holds, too"
}

if node_with "the conformance suite" @modelcontextprotocol/conformance@0.2.0-alpha.12; then
    start_server "$fixtures" "$work/store" http 127.0.0.1:0
    revision 2025-11-25 30
    revision 2026-07-28 37
    scenario json-schema-2020-12
    scenario http-header-validation
    scenario http-custom-header-server-validation
    stop_server
fi
if python_with "the mcp package" mcp==2.3.0; then
    for mode in legacy 2026-07-28; do
        "$python" "$here/over_stdio.py" "$mode" "$fixtures" "$work/store.$mode"
    done
fi
