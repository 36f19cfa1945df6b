#!/usr/bin/env python3
"""Print the tables of OUT, where run.py kept its measures, as Markdown.

    table.py OUT
"""

import json
import sys
from pathlib import Path

from sets import MEASURES, interval, mean

PEERS = (
    "bm25",
    "bm25-stems",
    "bm25-lucene",
    "minilm",
    "rtk-icm-0.10.57",
    "rtk-icm-mended",
    "mcp-server-memory",
    "basic-memory-text",
    "basic-memory",
    "mcp-memory-service",
    "mem0",
)
DETAILED = ("locomo", "realtalk", "lints", "devfaq", "xquad-en", "xquad-de", "piaf-fr", "jsquad-ja")


def main(out: Path) -> None:
    rows = {(path.parent.name, path.stem): json.loads(path.read_text()) for path in out.glob("*/*.json")}
    peers = [peer for peer in PEERS if any(peer == name for name, _ in rows)]
    for folder in DETAILED:
        print(f"\n### {folder}\n\n| | any@1 [95 %] | {' | '.join(MEASURES[1:])} |\n|---|---|{'---|' * 4}")
        for peer in peers:
            if (peer, folder) in rows:
                print(f"| {peer} | {' | '.join(_cells(rows[peer, folder]))} |")
    folders = sorted({folder for _, folder in rows})
    print(f"\n### any@1 / any@5, every set\n\n| | {' | '.join(peers)} |\n|---|{'---|' * len(peers)}")
    for folder in folders:
        print(f"| {folder} | {' | '.join(_pair(rows.get((peer, folder))) for peer in peers)} |")


def _cells(measured: list[list[float]]) -> list[str]:
    low, high = interval([row[0] for row in measured])
    first, *others = (f"{100 * value:.1f}" for value in mean(measured))
    return [f"{first} [{100 * low:.1f}, {100 * high:.1f}]", *others]


def _pair(measured: list[list[float]] | None) -> str:
    if measured is None:
        return "–"
    values = mean(measured)
    return f"{100 * values[0]:.1f} / {100 * values[1]:.1f}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
