"""`cloudevents_package.py ICM`: what `icm log export --format cloudevents` writes, as the CloudEvents SDK reads it."""

import subprocess
import sys
import tempfile

from checks import expect

from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent


def main(icm):
    with tempfile.TemporaryDirectory() as store:

        def run(*args):
            done = subprocess.run([icm, "--db", store, *args], capture_output=True, text=True)
            expect(done.returncode == 0, f"icm {' '.join(args)}: {done.stderr}")
            return done.stdout

        run("store", "-t", "t", "-c", "Invoices live in PostgreSQL — ü")
        run("store", "-t", "t", "-c", "a secret plan", "--key", "k")
        run("recall", "where do invoices live")
        run("forget", "-t", "t", "--yes")
        run("redact", "--match", "secret plan", "--yes")
        lines = run("log", "export", "--format", "cloudevents", "-").splitlines()
        expect(len(lines) >= 7, f"{len(lines)} events")
        types = set()
        for nth, line in enumerate(lines, 1):
            # It raises where an attribute breaks a rule.
            event = JSONFormat().read(CloudEvent, line)
            expect(event.get_specversion() == "1.0", line)
            expect(event.get_source().startswith("icm://origin/"), line)
            expect(event.get_time() is not None, line)
            expect(event.get_extension("position") == str(nth), line)
            expect(set(event.get_data()) >= {"facts", "payload", "body"}, line)
            types.add(event.get_type())
        expect({"icm.memory.stored.v1", "icm.memory.recalled.v1", "icm.log.redacted.v1"} <= types, types)
    print(f"cloudevents: {len(lines)} events read")


main(sys.argv[1])
