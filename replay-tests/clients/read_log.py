"""An independent reader of a store's log, written from schemas/envelope.md alone.

    python read_log.py STORE

prints one JSON object per event on stdout (own and foreign chains, segment by segment), everything
that does not hold on stderr, and ends with 0 when all holds, 3 when something does not. Needs
Python 3.11 and the packages blake3 and msgpack; crc32c is used when it is there.
"""

import json
import os
import re
import sys
from dataclasses import dataclass, field

import msgpack
from blake3 import blake3

try:
    from crc32c import crc32c
except ImportError:
    def _crc_table():
        table = []
        for byte in range(256):
            for _ in range(8):
                byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
            table.append(byte)
        return table

    _TABLE = _crc_table()

    def crc32c(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc = _TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
        return crc ^ 0xFFFFFFFF


FORMAT = 1
MAGIC = b"\x89ICM\r\n\x1a\n"
HEAD_LEN = range(72, 295_120 + 1)
BODY_LEN_MAX = 1_048_592
PLACE_MAX = 2**63 - 1
ORIGIN_NAME = re.compile(r"[0-9a-f]{32}")
SEGMENT_NAME = re.compile(r"([0-9]{20})-([0-9a-f]{16})\.icmlog")
CRITICAL = 0x8000

WRITTEN_OR_READ = {
    0x8101: "memory.stored", 0x8102: "memory.updated", 0x0105: "memory.recalled",
    0x8106: "memory.forgotten", 0x8107: "memory.revived", 0x810A: "memory.consolidated", 0x8F01: "log.origin_started",
    0x0F02: "log.actor_named", 0x8F03: "log.imported",
    0x8F04: "log.undone", 0x8F05: "log.redacted", 0x8F06: "log.repaired", 0x8103: "memory.linked",
    0x8104: "memory.unlinked",
}
RESERVED = {
    0x8108: "memory.decayed",
    0x8109: "memory.pruned", 0x0201: "memoir.created",
    0x0202: "memoir.described", 0x0203: "memoir.forgotten", 0x0204: "memoir.revived",
    0x0301: "concept.added", 0x0302: "concept.refined", 0x0303: "concept.labelled",
    0x0304: "concept.unlabelled", 0x0305: "concept.linked", 0x0306: "concept.unlinked",
    0x0307: "concept.forgotten", 0x0308: "concept.revived", 0x0401: "feedback.recorded",
    0x0402: "feedback.applied", 0x0501: "transcript.session_started",
    0x0502: "transcript.message_recorded",
}
FIELDS = ["topic", "content", "raw_excerpt", "importance", "scope", "key", "source", "occurred_at",
          "metadata", "expires", "trust"]
SCOPES = {1: "global", 2: "project", 3: "session"}
IMPORTANCES = {1: "low", 2: "medium", 3: "high", 4: "critical"}
TRUSTS = {1: "user", 2: "agent", 3: "external"}

problems = 0


def problem(where, what):
    global problems
    problems += 1
    print(f"{where}: {what}", file=sys.stderr)


def keyed(context, data):
    return blake3(data, key=blake3(context).digest()).digest()


def u(data, at, length):
    return int.from_bytes(data[at:at + length], "little")


class Unreadable(Exception):
    """Facts that are not what their kind says."""


def code(table, value, optional=False):
    if value == 0 and optional:
        return None
    if value not in table:
        raise Unreadable(f"unknown code {value}")
    return table[value]


def items(data, start, count, length):
    if start + count * length > len(data):
        raise Unreadable("a list longer than the facts")
    return [data[start + i * length:start + (i + 1) * length] for i in range(count)]


def need(data, length):
    if len(data) < length:
        raise Unreadable("too short")


def written(bits):
    return [name for bit, name in enumerate(FIELDS) if bits >> bit & 1]


def read_facts(kind, data):
    if kind == "memory.stored":
        need(data, 48)
        return {"fields": written(u(data, 0, 4)), "causal_length": u(data, 4, 4),
                "scope_kind": code(SCOPES, data[8]), "importance": code(IMPORTANCES, data[9]),
                "trust": code(TRUSTS, data[10]), "keyword_count": u(data, 12, 2),
                "name": data[16:32].hex(), "scope_id": data[32:48].hex()}
    if kind == "memory.updated":
        need(data, 48)
        removed = items(data, 48, u(data, 10, 2), 4)
        return {"fields": written(u(data, 0, 4)),
                "scope_kind": code(SCOPES, data[4], True),
                "importance": code(IMPORTANCES, data[5], True),
                "trust": code(TRUSTS, data[6], True), "keywords_added": u(data, 8, 2),
                "name": data[16:32].hex(), "scope_id": data[32:48].hex(),
                "removed": [{"reference": u(r, 0, 2), "index": u(r, 2, 2)} for r in removed]}
    if kind == "memory.recalled":
        need(data, 48)
        results = items(data, 48, u(data, 40, 2), 18)
        return {"basis_position": u(data, 0, 8), "basis_event": data[8:40].hex(),
                "results": [{"id": r[:16].hex(), "rank": u(r, 16, 2)} for r in results]}
    if kind == "memory.consolidated":
        need(data, 56)
        covers = items(data, 56, u(data, 48, 4), 20)
        return {"stored": read_facts("memory.stored", data[:48]),
                "covers": [{"id": c[:16].hex(), "causal_length": u(c, 16, 4)} for c in covers]}
    if kind == "memory.linked":
        need(data, 24)
        return {"other": data[:16].hex(), "relation": u(data, 16, 2)}
    if kind in ("memory.forgotten", "memory.revived"):
        need(data, 8)
        return {"causal_length": u(data, 0, 4)}
    if kind == "log.origin_started":
        need(data, 56)
        if data[:56] == bytes(56):
            return {"continues": None}
        return {"continues": {"origin": data[:16].hex(), "seq": u(data, 16, 8),
                              "event": data[24:56].hex()}}
    if kind in ("log.actor_named", "memory.unlinked"):
        return {}
    if kind == "log.imported":
        need(data, 8)
        ranges = []
        for r in items(data, 8, u(data, 0, 4), 96):
            first, last = u(r, 80, 8), u(r, 88, 8)
            if not 1 <= first <= last <= PLACE_MAX or (first == 1) != (r[16:48] == bytes(32)):
                raise Unreadable("a range that no chain has")
            ranges.append({"origin": r[:16].hex(), "base": r[16:48].hex(), "head": r[48:80].hex(),
                           "from_seq": first, "to_seq": last})
        return {"ranges": ranges}
    if kind == "log.redacted":
        need(data, 8)
        return {"subjects": [i.hex() for i in items(data, 8, u(data, 0, 4), 16)]}
    if kind == "log.repaired":
        need(data, 8)
        holes = []
        for h in items(data, 8, u(data, 0, 4), 96):
            first, last = u(h, 80, 8), u(h, 88, 8)
            if not (first >= 1 and first - 1 <= last <= PLACE_MAX):
                raise Unreadable("a hole that no chain has")
            if (first == 1) != (h[16:48] == bytes(32)):
                raise Unreadable("a hole that no chain has")
            before = holes and (holes[-1]["origin"], holes[-1]["from_seq"], holes[-1]["to_seq"])
            if before and before >= (h[:16].hex(), first, last):
                raise Unreadable("holes that are not in order")
            holes.append({"origin": h[:16].hex(), "last_good": h[16:48].hex(),
                          "next_good": h[48:80].hex(), "from_seq": first, "to_seq": last})
        return {"holes": holes}
    if kind == "log.undone":
        need(data, 8)
        ranges = []
        for r in items(data, 8, u(data, 0, 4), 64):
            first, last = u(r, 16, 8), u(r, 24, 8)
            if not 1 <= first <= last <= PLACE_MAX:
                raise Unreadable("a range that no chain has")
            if ranges and (ranges[-1]["origin"], ranges[-1]["to_seq"]) >= (r[:16].hex(), first):
                raise Unreadable("ranges that are not in order")
            ranges.append({"origin": r[:16].hex(), "from_seq": first, "to_seq": last,
                           "head": r[32:64].hex()})
        return {"ranges": ranges}
    return None


@dataclass
class Chain:
    """What a chain must go on with."""
    seq: int = 1
    prev: bytes = bytes(32)
    time: int = -1
    position: int | None = None
    batch: tuple | None = None
    cut: bool = False
    gaps: list = field(default_factory=list)
    ids: dict = field(default_factory=dict)
    continues: dict | None = None


def read_header(where, data, origin, first_seq):
    if len(data) < 64 or data[:8] != MAGIC or crc32c(data[:60]) != u(data, 60, 4):
        problem(where, "not the header of a segment")
        return False
    form, oldest = u(data, 8, 2), u(data, 10, 2)
    if oldest > FORMAT:
        problem(where, f"newer format: its oldest reader is {oldest}")
        return False
    reserved = data[12:16] + data[40:60]
    if not 1 <= oldest <= form or (form <= FORMAT and any(reserved)):
        problem(where, "newer format: reserved bytes or formats that format 1 does not have")
        return False
    if data[16:32] != origin or u(data, 32, 8) != first_seq:
        problem(where, "the header names another origin or event than the names do")
        return False
    return True


def first_of(data):
    """`prev` and id of the first record, as far as there is one."""
    head_len = u(data, 68, 4)
    head = data[88:88 + head_len]
    if head_len not in HEAD_LEN or len(head) < head_len:
        return None, None
    return head[32:64], keyed(b"icm event id v1", head).hex()


def explained(gap, holes):
    """Whether a hole holds the gap, and stands beside the same events where it ends with it."""
    _, origin, last, following, first, final = gap
    return any(
        h["origin"] == origin and h["from_seq"] <= first and final <= h["to_seq"]
        and (h["from_seq"] != first or h["last_good"] == last)
        and (h["to_seq"] != final or h["next_good"] in (following, bytes(32).hex()))
        for h in holes)


def gone(origin, seq, holes):
    return any(h["origin"] == origin and h["from_seq"] <= seq <= h["to_seq"] for h in holes)


def read_segment(path, where, origin, first_seq, first_id, chain):
    """Yields the events of a segment."""
    with open(path, "rb") as file:
        data = file.read()
    if not read_header(where, data, origin, first_seq):
        return
    first_prev, first_event = first_of(data)
    if first_seq != chain.seq or (first_prev is not None and first_prev != chain.prev):
        # Whether a repair explains it is known once everything has been read.
        chain.gaps.append((where, origin.hex(), (chain.prev or bytes(32)).hex(), first_event,
                           chain.seq, first_seq - 1))
        chain.seq, chain.prev, chain.batch, chain.position = first_seq, None, None, None
        chain.cut = True
    at = 64
    while at < len(data):
        if data[at:at + 8] == bytes(len(data[at:at + 8])) or u(data, at + 4, 4) == 0:
            if any(data[at:]):
                problem(where, f"bad record at {at}")
            return
        here = f"{where} at {at}"
        head_len, body_len = u(data, at + 4, 4), u(data, at + 8, 4)
        end = at + 28 + head_len + body_len
        if head_len not in HEAD_LEN or body_len > BODY_LEN_MAX or end > len(data):
            problem(here, "bad record")
            return
        head = data[at + 24:at + 24 + head_len]
        first_good = crc32c(data[at + 4:at + 24 + head_len]) == u(data, at, 4)
        if u(head, 4, 4) != head_len or not first_good:
            problem(here, "bad record")
            return
        state = data[at + 12]
        if state not in (1, 2) or any(data[at + 13:at + 16]):
            problem(here, "newer format: the record's state")
            return
        if (state == 1 and body_len < 16) or (state == 2 and body_len != 0):
            problem(here, "bad record")
            return
        body = data[end - body_len:end]
        second_good = crc32c(body) == u(data, at + 24 + head_len, 4)
        synced = u(data, at + 16, 8)
        event = read_event(here, head, state, body, second_good, origin, chain)
        if synced >= chain.seq:
            problem(here, "it says that it was durable before it was written")
        if at == 64 and not event["id"].startswith(first_id):
            problem(here, "the name says another first event")
        event |= {"offset": at, "length": end - at, "synced": synced, "segment": where}
        chain.ids[chain.seq] = event["id"]
        chain.prev = bytes.fromhex(event["id"])
        chain.seq += 1
        yield event
        at = end


def read_event(here, head, state, body, second_good, origin, chain):
    event_id = keyed(b"icm event id v1", head)
    seq, prev, time = u(head, 24, 8), head[32:64], u(head, 64, 8)
    if head[8:24] != origin:
        problem(here, "another origin's event")
    if seq != chain.seq:
        problem(here, f"seq {seq} stands where {chain.seq} should")
        chain.seq = seq
    if chain.prev is not None and prev != chain.prev:
        problem(here, "prev is not the event before")
    if time <= chain.time:
        problem(here, "time does not rise")
    chain.time = time
    event = {"id": event_id.hex(), "origin": head[8:24].hex(), "seq": seq, "prev": prev.hex(),
             "time_ms": time >> 16, "time_counter": time & 0xFFFF, "format": u(head, 0, 2)}
    if event["format"] != FORMAT:
        problem(here, f"newer format: the head has format {event['format']}")
        chain.batch = chain.position = None
        return event
    refs, facts_len = u(head, 86, 2), u(head, 92, 4)
    fits = len(head) >= 208 and 208 + 32 * refs + facts_len == len(head)
    if not fits or refs > 1_024 or facts_len > 262_144:
        problem(here, "the head's parts do not fit its length")
        chain.batch = chain.position = None
        return event
    if any(head[2:4]) or head[85] or head[84] != 1:
        problem(here, "newer format: reserved bytes or codec")
    position, kind_code, version = u(head, 72, 8), u(head, 80, 2), u(head, 82, 2)
    index, count = u(head, 88, 2), u(head, 90, 2)
    if not (1 <= seq <= PLACE_MAX and 1 <= position <= PLACE_MAX and index < count):
        problem(here, "newer format: a number that format 1 does not allow")
    command = head[112:128].hex()
    if chain.batch is None:
        follows = index == 0
    else:
        follows = (index, count, command) == chain.batch
    if not follows and not chain.cut:
        problem(here, "out of place in its batch")
    chain.cut = False
    chain.batch = (index + 1, count, command) if index + 1 < count else None

    name = WRITTEN_OR_READ.get(kind_code)
    known = name is not None and version == 1
    if not known and kind_code & CRITICAL:
        problem(here, f"newer format: kind {kind_code:04x} version {version}")
    facts_bytes, facts = head[208 + 32 * refs:], None
    if known:
        try:
            facts = read_facts(name, facts_bytes)
        except Unreadable as why:
            problem(here, f"unreadable facts: {why}")
    imported = 0
    if name == "log.imported" and facts:
        imported = sum(r["to_seq"] - r["from_seq"] + 1 for r in facts["ranges"])
    if name == "log.origin_started" and facts and seq == 1:
        chain.continues = facts["continues"]
        if chain.continues is None:
            chain.position = 0
    if chain.position is not None and position != chain.position + 1 + imported:
        problem(here, f"position {position} after {chain.position}")
    chain.position = position

    payload = None
    if state == 2:
        body_state = "withheld" if second_good else "damaged"
    elif second_good and keyed(b"icm payload commitment v1", body) == head[144:176]:
        body_state = "present"
        payload = msgpack.unpackb(body[16:], strict_map_key=True)
    else:
        body_state = "damaged"
    if body_state == "damaged":
        problem(here, "damaged body")
    return event | {
        "position": position, "kind": name or RESERVED.get(kind_code, f"unknown.{kind_code:04x}"),
        "kind_version": version, "critical": bool(kind_code & CRITICAL),
        "batch_index": index, "batch_count": count, "subject": head[96:112].hex(),
        "command": command, "actor": head[128:144].hex(), "session": head[176:192].hex(),
        "request": head[192:208].hex(),
        "refs": [head[208 + 32 * i:240 + 32 * i].hex() for i in range(refs)],
        "facts": facts, "body": body_state, "payload": payload,
    }


def read_slot(data):
    slots = []
    for at in (0, 512):
        slot = data[at:at + 96]
        if len(slot) == 96 and slot[:4] == b"ACK1" and crc32c(slot[8:]) == u(slot, 4, 4):
            slots.append(slot)
    return max(slots, key=lambda slot: u(slot, 8, 8), default=None)


def check_store_file(store):
    try:
        with open(os.path.join(store, "store.toml"), encoding="utf-8", newline="") as file:
            text = file.read().replace("\r\n", "\n")
    except FileNotFoundError:
        problem("store.toml", "missing")
        return
    check = re.search(r"^# check ([0-9a-f]{8})$", text, re.M)
    start = text.find("\nformat") + 1
    if not check or int(check[1], 16) != crc32c(text[start:].encode()):
        problem("store.toml", "its check does not fit")


def main(store):
    check_store_file(store)
    log, chains, holes = os.path.join(store, "log"), {}, []
    for origin_name in sorted(os.listdir(log)):
        folder = os.path.join(log, origin_name)
        if not ORIGIN_NAME.fullmatch(origin_name) or not os.path.isdir(folder):
            problem(f"log/{origin_name}", "a stray")
            continue
        chain = chains[origin_name] = Chain()
        for segment in sorted(os.listdir(folder)):
            where = f"log/{origin_name}/{segment}"
            name = SEGMENT_NAME.fullmatch(segment)
            if not name:
                problem(where, "a stray")
                continue
            origin, path = bytes.fromhex(origin_name), os.path.join(folder, segment)
            for event in read_segment(path, where, origin, int(name[1]), name[2], chain):
                print(json.dumps(event, ensure_ascii=False))
                if event.get("kind") == "log.repaired" and event["facts"]:
                    holes += event["facts"]["holes"]
    for origin_name, chain in chains.items():
        if chain.batch and not gone(origin_name, chain.seq, holes):
            problem(f"log/{origin_name}", "the last batch lacks its last event")
        for gap in chain.gaps:
            if not explained(gap, holes):
                problem(gap[0], f"gap between segments: events {gap[4]} to {gap[5]}, unexplained")
        older = chain.continues
        if older and gone(older["origin"], older["seq"], holes):
            continue
        if older and chains.get(older["origin"], Chain()).ids.get(older["seq"]) != older["event"]:
            problem(f"log/{origin_name}", "what it continues is not there")
    try:
        with open(os.path.join(store, "acked"), "rb") as file:
            slot = read_slot(file.read())
    except FileNotFoundError:
        slot = None
    if slot:
        chain = chains.get(slot[16:32].hex(), Chain())
        lost = gone(slot[16:32].hex(), u(slot, 32, 8), holes)
        if not lost and chain.ids.get(u(slot, 32, 8)) != slot[40:72].hex():
            problem("acked", "the acknowledged event is not there")
    return 3 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    assert crc32c(b"123456789") == 0xE3069283
    assert keyed(b"icm event id v1", b"head").hex().startswith("00e32e8edc585cfa")
    sys.exit(main(sys.argv[1]))
