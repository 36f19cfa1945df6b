#!/usr/bin/env python3
"""Answer POST /v1/embeddings on 127.0.0.1:PORT as OpenAI's API does, with all-MiniLM-L6-v2.

    PEERS_MODEL=WHEEL serve.py PORT

Peers that want an embedder over HTTP get this one, so all of them have the same meaning.
"""

import json
import sys
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from minilm import one

vector = lru_cache(maxsize=100_000)(lambda text: [round(float(number), 7) for number in one(text)])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # One packet an answer. Unbuffered, each answer waits 40 ms for an acknowledgement.

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        data = [{"object": "embedding", "index": place, "embedding": vector(text)} for place, text in enumerate(texts)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        body = json.dumps({"object": "list", "model": asked.get("model"), "data": data, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
