"""mcp-memory-service (its lite package): `memory_store` and `memory_search` in hybrid mode over MCP.

Its model is a download, so its external embedding API is serve.py on this machine. A conversation id
switches off its refusal of similar texts. It refuses a text that is there word for word, so the first
key stands for all.
"""

import os
import re
import tempfile
from pathlib import Path

from sets import RESULTS, Pair
from stdio import Mcp

STORED = re.compile(r"\(hash: ([0-9a-f]{64})\)")
FOUND = re.compile(r"^   Hash: ([0-9a-f]{64})$", re.MULTILINE)


class MemoryService:
    def __init__(self, pair: Pair):
        self.folder = tempfile.TemporaryDirectory()
        files = Path(self.folder.name)
        environment = {
            "HOME": str(files),
            "MCP_MEMORY_BASE_DIR": str(files),
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_SQLITE_PATH": str(files / "memories.db"),
            "MCP_EXTERNAL_EMBEDDING_URL": f"{os.environ['PEERS_EMBEDDER']}/embeddings",
            "MCP_EXTERNAL_EMBEDDING_MODEL": "all-MiniLM-L6-v2",
        }
        self.server = Mcp(["memory", "server"], os.environ | environment)
        self.keys = {}
        for memory in pair.memories:
            self._store(memory)

    def search(self, query: str) -> list[str]:
        answer = self.server.call("memory_search", query=query, mode="hybrid", limit=RESULTS)
        return [self.keys[found] for found in FOUND.findall(answer["content"][0]["text"])]

    def _store(self, memory: dict) -> None:
        try:
            answer = self.server.call("memory_store", content=memory["content"], conversation_id="peers")
        except RuntimeError as error:
            if "Duplicate content" not in str(error):
                raise
        else:
            self.keys[STORED.search(answer["content"][0]["text"])[1]] = memory["key"]

    def close(self) -> None:
        self.server.close()
        self.folder.cleanup()
