#!/bin/sh
# Drives the explorer through a real browser.
#
#   replay-tests/explorer/run.sh [--all|--pictures] [ICM]        default: target/release/icm
#
# Without --all: each page once, a memory that arrives while a page is open, and an undo. With --all: every page, every
# action, hostile texts, foreign requests, accessibility by axe-core, and screenshots in ICM_SCREENSHOTS (default:
# target/explorer). The browser is Debian's chromium, or the one in CHROMIUM. What is absent is installed once, as for
# the clients; what cannot be installed is SKIPPED, unless ICM_CLIENTS_REQUIRED=1 makes that an error. --pictures takes
# the pictures of the guide anew.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
checks=checks.mjs
all=
[ "${1:-}" != --all ] || { all=--all; shift; }
[ "${1:-}" != --pictures ] || { checks=pictures.mjs; shift; }
icm=${1:-$here/../../target/release/icm}
[ -x "$icm" ] || { echo "no icm binary at $icm: build one, or give its path" >&2; exit 2; }
icm=$(cd "$(dirname "$icm")" && pwd)/$(basename "$icm")

. "$here/../clients/lib.sh"

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
if [ -z "$chromium" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -qq -y chromium >"$work/apt.log" 2>&1 || true
    fi
    chromium=$(command -v chromium || true)
fi
[ -n "$chromium" ] || { skip "the explorer in a browser: no chromium"; exit 0; }

node_with "the explorer in a browser" playwright-core@1.65.1 || exit 0
playwright=$modules
node_with "the explorer in a browser" axe-core@4.14.1 || exit 0
export ICM="$icm" CHROMIUM="$chromium" PLAYWRIGHT="$playwright/playwright-core" AXE="$modules/axe-core/axe.min.js"
export ICM_SCREENSHOTS="${ICM_SCREENSHOTS:-$here/../../target/explorer}" HOME="$work/home" ICM_WORK="$work"
export ICM_PICTURES="$here/../../docs/guide/src/pictures"
mkdir -p "$HOME" "$ICM_SCREENSHOTS"
node "$here/$checks" $all
