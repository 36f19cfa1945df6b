"""`azure.py AZURITE ICM`: two stores meet by way of a container of Azurite, Azure's own emulator."""

import base64
import hashlib
import hmac
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import datetime, timezone

from checks import expect

# Known to everybody: those of the emulator.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
STARTS_WITHIN_S = 60


def free_port():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]


def make_container(endpoint, name):
    """Signed by hand: what Azure calls a shared key."""
    date = datetime.now(timezone.utc).strftime("%a, %d %b %Y %H:%M:%S GMT")
    version = "2021-08-06"
    words = f"PUT{chr(10) * 12}x-ms-date:{date}\nx-ms-version:{version}\n/{ACCOUNT}/{ACCOUNT}/{name}\nrestype:container"
    signature = hmac.new(base64.b64decode(KEY), words.encode(), hashlib.sha256).digest()
    signed = f"SharedKey {ACCOUNT}:{base64.b64encode(signature).decode()}"
    headers = {"x-ms-date": date, "x-ms-version": version, "Authorization": signed}
    url = f"{endpoint}/{name}?restype=container"
    with urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers)) as made:
        expect(made.status == 201, f"the container: {made.status}")


def await_server(port):
    ends = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < ends:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    sys.exit("Azurite does not answer")


def meet(icm, folder, endpoint):
    environment = {
        **os.environ,
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURE_STORAGE_ENDPOINT": endpoint,
    }

    def run(store, *args):
        command = [icm, "--db", f"{folder}/{store}", *args, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        expect(done.returncode == 0, f"icm {' '.join(args)}: {done.stderr}")
        return json.loads(done.stdout)

    def sync(store):
        moved = run(store, "sync", "az://box/my/icm")
        return moved["received"]["events"], moved["sent"]["events"]

    secret = run("a", "store", "-t", "t", "-c", "the safe opens with quartzite")["id"]
    run("b", "store", "-t", "t", "-c", "The house uses tabs")
    expect(sync("a") == (0, 3), "three events go")
    expect(sync("b") == (3, 4), "they come, and others go")
    expect(sync("a")[0] == 4, "those come")
    run("b", "redact", secret, "--yes")
    for store in "baba":
        sync(store)
    expect([sync(store) for store in "ab"] == [(0, 0)] * 2, "nothing is left")
    states = {run(store, "verify")["state_hash"] for store in "ab"}
    expect(len(states) == 1, f"one state: {states}")
    expect(run("a", "get", secret)["content"] is None, "the redaction came")


def main(azurite, icm):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        words = ["--silent", "--skipApiVersionCheck", "--location", folder, "--blobPort", str(port)]
        server = subprocess.Popen([azurite, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            await_server(port)
            endpoint = f"http://127.0.0.1:{port}/{ACCOUNT}"
            make_container(endpoint, "box")
            meet(icm, folder, endpoint)
        finally:
            server.terminate()
            server.wait()
    print("azure: two stores met")


main(*sys.argv[1:])
