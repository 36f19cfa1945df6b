"""What the Python clients share: what a failure is, and where the server is."""

import os
import sys


def expect(condition, what):
    if not condition:
        print(f"failed: {what}", file=sys.stderr, flush=True)
        # An exception would come out wrapped in the task groups of the client.
        os._exit(1)


def serve_args(store, *more):
    return ["--db", store, "serve", "--toolsets", "all", "--structured", *more]


def authorization():
    return {"Authorization": f"Bearer {os.environ['ICM_TOKEN']}"}
