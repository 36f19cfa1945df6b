#!/usr/bin/env python3
"""Draws the terminal session of README.md as docs/guide/src/pictures/session.svg.

    docs/guide/recording.py ICM [--out FILE]

Runs the program ICM in a store and a home of its own, in a temporary folder, and draws each command with its output.
Ids are shortened to ten characters, ids of events to six. Python 3, standard library only.
"""

import argparse
import os
import re
import shlex
import subprocess
import tempfile
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parent / "src" / "pictures" / "session.svg"
TITLE = "A terminal session: a memory is stored, recalled, updated, recalled as of an earlier moment, and the update undone"
# Pixels. Raised, the picture grows and its text stays readable on a narrower page.
FONT, LINE, CHARACTER, MARGIN = 14, 20, 8.43, 18
# `MEMORY` stands for the id of the first memory.
COMMANDS = [
    "icm store -t decisions -c 'Invoices live in PostgreSQL'",
    "icm recall where do invoices live",
    "icm update MEMORY -c 'Invoices live in MySQL since March'",
    "icm recall where do invoices live",
    "icm recall where do invoices live --at @3",
    "icm undo --last 1 --yes",
]
REMARKS = {4: "# what did we know at position 3, before the update?"}

MEMORY_ID = re.compile(r"\b([0-9A-HJKMNP-TV-Z]{10})[0-9A-HJKMNP-TV-Z]{16}\b")
EVENT_ID = re.compile(r"\b([0-9a-f]{6})[0-9a-f]{6}\b")


def record(icm):
    """Returns the lines of the session: a class of the picture and a text each."""
    lines, memory = [], ""
    with tempfile.TemporaryDirectory() as folder:
        known = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
        env = known | {"HOME": folder, "ICM_DB": f"{folder}/store", "ICM_CONFIG": "/dev/null", "NO_COLOR": "1"}
        for number, command in enumerate(COMMANDS):
            command = command.replace("MEMORY", memory[:10])
            if number in REMARKS:
                lines.append(("remark", REMARKS[number]))
            lines.append(("command", command))
            run = subprocess.run(
                [icm, *shlex.split(command)[1:]],
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=True,
            )
            if not memory:
                memory = MEMORY_ID.search(run.stdout).group(0)
            shown = EVENT_ID.sub(r"\1", MEMORY_ID.sub(r"\1", run.stdout))
            lines += [("output", line) for line in shown.rstrip("\n").split("\n")]
            lines.append(("output", ""))
    return lines[:-1]


def draw(lines):
    """Returns the picture as SVG. Columns stand at fixed places, so that every monospaced font fits."""
    columns = max(len(text) + (2 if kind == "command" else 0) for kind, text in lines)
    width = round(columns * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN + 16
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace"'
        f' font-size="{FONT}">',
        f"<title>{escape(TITLE)}</title>",
        "<style>.output{fill:#c9d1d9}.command{fill:#fff;font-weight:bold}.prompt{fill:#7ee787}.remark{fill:#8b98a5}"
        ".text{fill:#a5d6ff}.gone{fill:#ffa198}.come{fill:#7ee787}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#161b22"/>',
        *(f'<circle cx="{MARGIN + 4 + 18 * n}" cy="17" r="5" fill="#484f58"/>' for n in range(3)),
    ]
    for number, (kind, text) in enumerate(lines):
        y = MARGIN + 16 + LINE * number + FONT
        if not text:
            continue
        if kind == "command":
            out.append(f'<text class="prompt" x="{MARGIN}" y="{y}">$</text>')
            x = MARGIN + 2 * CHARACTER
        else:
            x = MARGIN
            if kind == "output":
                starts = {"│": "text", "- ": "gone", "+ ": "come"}
                kind = next((it for start, it in starts.items() if text.lstrip().startswith(start)), kind)
        indent = len(text) - len(text.lstrip())
        # Browsers draw two spaces as one, so spaces don't break.
        text = text.strip().replace(" ", "\N{NO-BREAK SPACE}")
        length = f' textLength="{len(text) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
        out.append(f'<text class="{kind}" x="{x + indent * CHARACTER:.1f}" y="{y}"{length}>{escape(text)}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("icm", type=lambda it: str(Path(it).resolve()))
    parser.add_argument("--out", type=Path, default=PICTURE)
    given = parser.parse_args()
    given.out.write_text(draw(record(given.icm)))
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()
