"""basic-memory: a note a memory, `basic-memory reindex`, then `search_notes` of its MCP server.

`Text` is its search by words. `Hybrid` is its default search; its default model is a download, so its
`litellm` provider asks serve.py on this machine, and its floor of 0.55, which is made for that model,
is off.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from sets import RESULTS, Pair
from stdio import Mcp

WORDS = {"semantic_search_enabled": "false"}
MEANING = {
    "semantic_search_enabled": "true",
    "semantic_embedding_provider": "litellm",
    "semantic_embedding_model": "openai/all-MiniLM-L6-v2",
    "semantic_embedding_api_base": os.environ.get("PEERS_EMBEDDER", ""),
    "semantic_embedding_api_key": "unused",
    "semantic_embedding_dimensions": "384",
    "semantic_embedding_forward_dimensions": "false",
    "semantic_embedding_batch_size": "64",
    "semantic_embedding_sync_batch_size": "64",
    "semantic_min_similarity": "0.0",
}


class Text:
    settings, search_type = WORDS, "text"

    def __init__(self, pair: Pair):
        self.folder = tempfile.TemporaryDirectory()
        home = Path(self.folder.name)
        self.environment = os.environ | {"HOME": str(home), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        self.environment |= {f"BASIC_MEMORY_{name.upper()}": value for name, value in self.settings.items()}
        notes = home / "basic-memory"
        notes.mkdir()
        self.keys = {}
        for place, memory in enumerate(pair.memories):
            name = f"m{place:05}"
            self.keys[f"{name}.md"] = memory["key"]
            note = f"---\ntitle: {name}\ntype: note\n---\n\n{memory['content']}\n"
            (notes / f"{name}.md").write_text(note, encoding="utf-8")
        made = subprocess.run(["basic-memory", "reindex"], env=self.environment, capture_output=True, text=True)
        if made.returncode or "0 failed" not in made.stdout:
            raise RuntimeError(f"basic-memory reindex: {made.stdout}{made.stderr}")
        self.server = Mcp(["basic-memory", "mcp"], self.environment)

    def search(self, query: str) -> list[str]:
        asked = {"query": query, "page_size": RESULTS, "search_type": self.search_type, "output_format": "json"}
        answer = self.server.call("search_notes", **asked)["content"][0]["text"]
        if not answer.startswith("{"):
            print(f"basic-memory: {answer[:200]!r}", flush=True)
            return []
        return [self.keys[result["file_path"]] for result in json.loads(answer)["results"]]

    def close(self) -> None:
        self.server.close()
        self.folder.cleanup()


class Hybrid(Text):
    settings, search_type = MEANING, "hybrid"
