"""Step 4: what a tokenizer of our own has to match: tokens.json.zst (texts and their reference ids) and
vectors.json (texts and the table's vectors). Seeded; texts come from the training packages and from below."""
import argparse
import gzip
import json
import pathlib
import random
import unicodedata

import zstandard

import table
from teacher import Teacher

SEED = 20240602
TEXTS = [
    "", " ", "\t\n\r ", "a", ".", "...", "!?", "'", "''", "\u00a0", "\u3000", "\u200b", "\ufeff", "\ufffd", "\0", "a\0b", "\x01\x02",
    "\x7f", "\x1b[31mred\x1b[0m", "a\u0085b", "a\u2028b\u2029c", "soft\u00adhyphen", "zero\u200dwidth\u200cjoiner",
    "\u202eright to left\u202c", "Hello, world!", "don't can't I'll we've", "HTTPServer2 snake_case CamelCase kebab-case",
    "src/main.rs:42: error[E0382]: borrow of moved value: `x`", "let x: Vec<u8> = vec![0; 16]; // sixteen bytes",
    "https://example.org/a/b?c=d&e=%20f#g", "user.name+tag@example.co.uk", "C:\\Users\\me\\file.txt", "192.168.0.1:8080 ::1",
    "3.14159 1,000,000 1e-9 0xFF 12:30 2023-05-07", "\u20ac5 \u00a35 \u00a55 $5 5\u00a2", "caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u00c5ngstr\u00f6m",
    "cafe\u0301 nai\u0308ve", "\u00df \u1e9e \u0130 \u0131 \u01c5 \u03c2\u03a3", "\ufb01 \ufb02 \u2460 \u00bd \u2122 \u212b", "\u1e69 \u0073\u0323\u0307",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0401\u043b\u043a\u0430 \u0439", "\u4f60\u597d\u4e16\u754c \u6771\u4eac hello\u4e16\u754c", "\u3053\u3093\u306b\u3061\u306f \u30ab\u30bf\u30ab\u30ca \uff76\uff9e",
    "\uc548\ub155\ud558\uc138\uc694", "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643", "\u05e9\u05dc\u05d5\u05dd", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0915\u093f", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\U0001f600 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f1e9\U0001f1ea", "ok\U0001f44dok", "\U0001d400\U0001d7d9 \U00020000\U0002a700",
    "\uff21\uff22\uff23\uff11\uff12\uff13\uff01", "\u201cquoted\u201d \u2018single\u2019 \u00abguillemets\u00bb \u2013 \u2014 \u2026", "a\u0300\u0301\u0302\u0303", "\u0301", "\u00b4 \u00a8 ^ ~ `",
    "x" * 99, "x" * 100, "x" * 101, "\u00e9" * 100, "\u00e9" * 101, "e\u0301" * 60, "ab" * 500, "word " * 300, "\u4e16" * 150, "-" * 200, "_" * 120,
    "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis", "Donaudampfschifffahrtsgesellschaft", "aaaaaaaaab zzzzzzzzzz qqqq",
    "[unused1] [cls] [ sep ] ##ing ## #", "<script>alert('x')</script>", "{\"key\": [1, 2.5, null, true]}", "SELECT * FROM t WHERE a='b';",
    "git commit -m \"fix: x\" && git push --force", "|a|b|\n|-|-|\n|1|2|", "1st 2nd 3rd 4\u00b0 5\u2032 6\u2033", "\u2200x\u2208\u211d: x\u00b2\u22650 \u2211 \u222b \u221e \u2260", "\u2192 \u2190 \u2191 \u2193 \u2713 \u2717 \u2605",
]
SAME_MEANING = [
    "the name of the pet", "Our office dog is called Biscuit", "How are failed charges tried again?",
    "Payment retries use exponential backoff", "Invoices live in PostgreSQL", "We moved to Berlin in March 2021.",
]


def character(rng) -> str:
    """A random character that Unicode 3.2 has: what later versions added, tokenizers disagree about."""
    while True:
        c = chr(rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x250, 0x3000), rng.randrange(0x3000, 0xD800), rng.randrange(0xF900, 0x10000), rng.randrange(0x1D400, 0x1D800), rng.randrange(0x20000, 0x2A6D7)]))
        if unicodedata.ucd_3_2_0.category(c) not in ("Cn", "Co", "Cs"):
            return c


def texts(kept, rng) -> list[str]:
    out = dict.fromkeys(TEXTS + SAME_MEANING)
    prose = [k[1] for k in kept]
    for s in rng.sample(prose, 900):
        out[s] = None
    for s in rng.sample(prose, 250):
        words = s.split()
        i = rng.randrange(len(words))
        words[i] = rng.choice(
            [words[i].upper(), words[i] + chr(rng.choice([0x301, 0x308, 0x327])), words[i] + character(rng), "_".join(words[i:]), "".join(words[i:]), words[i] + rng.choice(["\t", "\x00", "\u200b", "\u00a0", "\U0001f389", "\u4e2d"])]
        )
        out[" ".join(words)] = None
    while len(out) < 1500:
        out["".join(character(rng) for _ in range(rng.randrange(1, 12)))] = None
    while len(out) < 1750:
        own = rng.choice([(0x400, 0x500), (0x4E00, 0x9FA6), (0x3040, 0x3100), (0xAC00, 0xD7A4), (0x600, 0x6FF), (0x5D0, 0x5EB), (0x905, 0x94D), (0xE01, 0xE3B), (0x370, 0x400), (0xC0, 0x250), (0x1E00, 0x1EFA)])
        word = lambda: "".join(c for c in (chr(rng.randrange(*own)) for _ in range(rng.randrange(1, 9))) if unicodedata.ucd_3_2_0.category(c) != "Cn")
        out[" ".join(word() for _ in range(rng.randrange(1, 7)))] = None
    emoji = [*range(0x1F300, 0x1F5FB), *range(0x1F600, 0x1F641), *range(0x2600, 0x26FF)]
    while len(out) < 1830:
        out[" ".join(rng.choice(prose).split()[:4]) + rng.choice(["", " "]) + "".join(chr(rng.choice(emoji)) for _ in range(rng.randrange(1, 4)))] = None
    while len(out) < 2000:
        a = "".join(rng.choice("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789_-./:;(){}<>=+*&%$#@!?'\"\\ ") for _ in range(rng.randrange(3, 60)))
        out[a] = None
    return list(out)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("packages", type=pathlib.Path)
    p.add_argument("work", type=pathlib.Path)
    p.add_argument("table", type=pathlib.Path)
    p.add_argument("out", type=pathlib.Path)
    a = p.parse_args()
    here = pathlib.Path(__file__).parent
    recipe = json.loads((here / "sources.json").read_text())
    teacher = Teacher(a.packages / recipe["teacher"]["file"])
    with gzip.open(a.work / "sentences.json.gz") as f:
        kept = [k for k in json.load(f) if k[0] != "frames"]
    rng = random.Random(SEED)
    all_texts = texts(kept, rng)
    ids = teacher.ids(all_texts)
    lines = "".join(json.dumps({"text": t, "ids": i}, separators=(",", ":")) + "\n" for t, i in zip(all_texts, ids))
    (a.out / "tokens.jsonl.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress(lines.encode()))
    q, scale, words = table.read(a.table)
    row_of = {int(r): n for n, r in enumerate(table.rows_of(teacher.vocabulary))}
    pick = SAME_MEANING + TEXTS[:5] + TEXTS[22:42] + TEXTS[45:50] + rng.sample(all_texts[len(TEXTS) + 6 : 900], 14)
    v = table.vectors(teacher.ids(pick), q * scale[:, None], row_of)
    lines = "".join(json.dumps({"text": t, "vector": [round(float(x), 5) for x in u]}, separators=(",", ":")) + "\n" for t, u in zip(pick, v))
    (a.out / "vectors.jsonl.zst").write_bytes(zstandard.ZstdCompressor(level=19).compress(lines.encode()))
    print(len(all_texts), "texts with ids,", len(pick), "with vectors")


if __name__ == "__main__":
    main()
