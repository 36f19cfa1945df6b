#!/usr/bin/env bash
# Looks at `icm tui` inside of tmux: sizes, resizing, no colour, Ctrl-Z, kill -9. Prints each screen that it looked at,
# and fails if a text is missing or a terminal is not left as it was.
#
#   replay-tests/tui/run.sh [ICM]        default: target/debug/icm
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
icm=${1:-$here/../../target/debug/icm}
[ -x "$icm" ] || { echo "no icm binary at $icm: build one, or give its path" >&2; exit 2; }
icm=$(cd "$(dirname "$icm")" && pwd)/$(basename "$icm")
command -v tmux >/dev/null || { echo "SKIPPED: tmux is not installed, so no terminal was looked at" >&2; exit 0; }

work=$(mktemp -d)
export HOME=$work ICM_DB=$work/store TZ=UTC LC_ALL=C.UTF-8
unset ICM_CONFIG ICM_SESSION ICM_ACTOR NO_COLOR TMUX || true
socket=$work/tmux
t() { tmux -S "$socket" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null || true; sleep 0.5; rm -rf "$work"' EXIT

"$icm" -q store -t decisions -c 'Invoices live in MySQL' --key database >/dev/null
"$icm" -q store -t decisions -c 'Invoices live in PostgreSQL' --key database >/dev/null
"$icm" -q store -t people -c 'Mira owns billing. 請求書はミラさんが担当 👩‍💻' >/dev/null

# The server of tmux ends with its last session.
t new-session -d -s hold -x 20 -y 5 'exec cat'

checks=0
fail() { printf '\nFAILED: %s\n' "$*" >&2; screen >&2; exit 1; }
screen() { t capture-pane -p -t view; }

# sees TEXT...: waits until each text is on the screen.
sees() {
    local text tries
    for text; do
        tries=0
        until screen | grep -qF -- "$text"; do
            tries=$((tries + 1))
            [ "$tries" -le 100 ] || fail "\"$text\" is not on the screen"
            sleep 0.1
        done
        checks=$((checks + 1))
    done
}
lacks() { screen | grep -qF -- "$1" && fail "\"$1\" is on the screen"; checks=$((checks + 1)); }
shown() { printf '\n== %s\n' "$1"; screen; }
keys() { t send-keys -t view "$@"; }

# begin COLUMNS LINES: a shell that knows how its terminal was.
begin() {
    t kill-session -t view 2>/dev/null || true
    t new-session -d -s view -x "$1" -y "$2" "exec bash --norc --noprofile"
    keys "PS1='ready> '; stty -a > $work/before; clear; echo a line of before" Enter
    sees 'a line of before' 'ready>'
}

# is_as_before: the screen, the modes and the prompt are those of before the view.
is_as_before() {
    sees 'a line of before'
    lacks '2 Memories'
    keys "stty -a > $work/after; echo shell goes on: \$((40 + 2))" Enter
    sees 'shell goes on: 42'
    cmp -s "$work/before" "$work/after" || fail "the modes differ: $(diff "$work/before" "$work/after")"
    [ "$(t display-message -p -t view '#{alternate_on}')" = 0 ] || fail "the alternate screen is on"
    [ "$(t display-message -p -t view '#{cursor_flag}')" = 1 ] || fail "the cursor is hidden"
    checks=$((checks + 3))
}

for size in '80 24' '200 50'; do
    begin $size
    keys "$icm tui" Enter
    sees 'Newest events' 'live' '? help'
    shown "Now, $size"
    keys 2
    sees 'Invoices live in PostgreSQL' '請求書はミラさんが担当'
    shown "Memories, $size"
    keys /invoices Enter
    sees '1 result for "invoices"'
    keys Enter
    sees 'Versions, newest first'
    shown "a memory, $size"
    keys Escape
    sees 'result for'
    keys 3
    sees 'memory.updated'
    shown "Log, $size"
    keys '['
    sees 'as of'
    shown "one event back, $size"
    keys n
    sees 'live'
    keys 4
    sees 'Enter goes to the end of a day'
    shown "Time, $size"
    keys 3
    sees 'memory.updated'
    keys j u
    sees 'would undo'
    shown "the preview of an undo, $size"
    keys N
    sees 'nothing was undone'
    keys q
    is_as_before
done

# Facts, alerts and conditions, now and before.
"$icm" -q fact set deploy version 2.0 >/dev/null
"$icm" -q fact set deploy version '2.1 🚀' >/dev/null
"$icm" -q alert set --session s1 'Look at the deployment 日本語' >/dev/null
"$icm" -q store -t temp/mirrors -c 'Use the mirror for three days' --expires 'time 3d' --key mirror >/dev/null
"$icm" -q store -t temp/mirrors -c 'Use the mirror for three days' -i high --key mirror >/dev/null
"$icm" -q undo --last 1 --yes >/dev/null
begin 80 24
keys "$icm tui" Enter
sees 'Newest events' 'alert.set'
keys /mirror Enter
sees '1 result for "mirror"'
keys Enter
sees 'expires' 'undone at @'
shown "a memory with a condition"
keys '['
sees 'as of' 'importance'
lacks 'undone at'
shown "the same memory before the undo"
keys n 2 t
sees 'temp/mirrors' 'Enter shows the memories of one'
keys 3 /alert.set Enter
sees 'Look at the deployment' '1 event  only alert.set'
keys u
sees 'would undo' '- gone' 'alert' '- Look at the deployment 日本語'
shown "the preview of the undo of an alert"
keys N
sees 'nothing was undone'
keys Escape
sees '11 events' 'fact'
keys '/topic:facts/' Enter
sees 'only topic:facts/'
keys u
sees 'would undo' 'deploy version' '- 2.1 🚀' '+ 2.0'
shown "the preview of the undo of a fact"
keys N
sees 'nothing was undone'
keys q
is_as_before

begin 80 24
keys "$icm tui --read-only" Enter
sees 'Newest events' 'read-only'
keys 2
sees 'Invoices live'
for size in '40 12' '20 5' '9 3' '3 2' '200 50' '80 24'; do
    t resize-window -t view -x "${size% *}" -y "${size#* }"
    # The view draws within a look; nothing tells when it has.
    sleep 0.3
    shown "Memories, resized to $size"
done
sees '1 Now' 'Invoices live'
keys q
sees 'ready>'

# A code of SGR that sets a colour other than the default.
colour='\x1b\[([0-9;]*;)?(3[0-8]|4[0-8]|9[0-7])[;m]'
begin 80 24
keys "NO_COLOR=1 $icm tui" Enter
sees 'Newest events'
t capture-pane -e -p -t view > "$work/cells"
grep -qP "$colour" "$work/cells" && fail "colours in spite of NO_COLOR"
checks=$((checks + 1))
keys q
is_as_before
begin 80 24
keys "$icm tui" Enter
sees 'Newest events'
t capture-pane -e -p -t view > "$work/cells"
grep -qP "$colour" "$work/cells" || fail "no colours without NO_COLOR"
checks=$((checks + 1))
keys q
is_as_before
keys "TERM=dumb $icm tui" Enter
sees 'TERM=dumb'

begin 80 24
keys "$icm tui" Enter
sees 'Newest events'
keys C-z
sees 'Stopped'
lacks '2 Memories'
keys fg Enter
sees 'Newest events'
keys q
is_as_before

# kill_view PATTERN: kills the processes of the pane whose command line fits.
kill_view() {
    local shell
    shell=$(t display-message -p -t view '#{pane_pid}')
    pkill -9 --session "$shell" -f -- "$1"
}
for victim in 'icm-tui-screen' "^$icm tui"; do
    begin 80 24
    keys "$icm tui" Enter
    sees 'Newest events'
    kill_view "$victim"
    # The shell may have shown its prompt on the screen of the view.
    sees 'the view was killed'
    is_as_before
    shown "after kill -9 of \"$victim\""
done

printf '\n%s checks held\n' "$checks"
