#!/usr/bin/env python3
"""Index the memories of sets with a peer, ask their questions, and keep the measures of each.

    run.py PEER OUT FOLDER...

OUT/PEER/SET.json gets one row of measures a question, in the order of the files; a set that is there
is not run again. `table.py OUT` prints the tables.
"""

import importlib
import json
import sys
import time
from pathlib import Path

from sets import MEASURES, mean, measure, pairs

PEERS = {
    "bm25": "bm25:plain",
    "bm25-stems": "bm25:stemmed",
    "bm25-lucene": "bm25:lucene",
    "minilm": "minilm:MiniLm",
    "rtk-icm-0.10.57": "rtk:as_released",
    "rtk-icm-mended": "rtk:mended",
    "mem0": "mem0_store:Mem0",
    "mcp-server-memory": "knowledge_graph:KnowledgeGraph",
    "mcp-memory-service": "memory_service:MemoryService",
    "basic-memory-text": "basic_memory:Text",
    "basic-memory": "basic_memory:Hybrid",
}


def main(peer: str, out: Path, folders: list[Path]) -> None:
    module, name = PEERS[peer].split(":")
    make = getattr(importlib.import_module(module), name)
    for folder in folders:
        path = out / peer / f"{folder.name}.json"
        if path.exists():
            continue
        rows, began = [], time.monotonic()
        for pair in pairs(folder):
            store = make(pair)
            rows += [measure(store.search(asked["query"]), asked["evidence"]) for asked in pair.questions]
            getattr(store, "close", lambda: None)()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows))
        figures = " ".join(f"{name} {value:.3f}" for name, value in zip(MEASURES, mean(rows)))
        print(f"{peer} {folder.name}: {figures} ({len(rows)} questions, {time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in PEERS:
        raise SystemExit(f"{__doc__}\nPEER is one of: {', '.join(PEERS)}")
    main(sys.argv[1], Path(sys.argv[2]), [Path(folder) for folder in sys.argv[3:]])
