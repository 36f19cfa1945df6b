"""The reference memory server of MCP (npm): an entity a memory, `search_nodes` with the question.

It has no order: it returns what matches, as it was stored.
"""

import json
import os
import tempfile
from pathlib import Path

from sets import RESULTS, Pair
from stdio import Mcp


class KnowledgeGraph:
    def __init__(self, pair: Pair):
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "memory.jsonl"
        self.server = Mcp(["mcp-server-memory"], os.environ | {"MEMORY_FILE_PATH": str(file)})
        topic = lambda memory: memory.get("topic") or "memory"
        entities = [
            {"name": memory["key"], "entityType": topic(memory), "observations": [memory["content"]]}
            for memory in pair.memories
        ]
        self.server.call("create_entities", entities=entities)

    def search(self, query: str) -> list[str]:
        answer = self.server.call("search_nodes", query=query)
        return [entity["name"] for entity in json.loads(answer["content"][0]["text"])["entities"]][:RESULTS]

    def close(self) -> None:
        self.server.close()
        self.folder.cleanup()
