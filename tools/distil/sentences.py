"""Training sentences out of the packages of sources.json, cleaned, deduplicated and held out by hash."""
import ast
import gzip
import hashlib
import html.parser
import io
import json
import pathlib
import re
import subprocess
import tarfile
import zipfile

import talk

TOKENS_MIN, TOKENS_MAX = 4, 60
HELD_OUT = 2000
MOST = 120_000
SEED = 20240601
TALK, FRAMES_EACH = 24000, 1


def sentences(text: str):
    """Sentences of a plain paragraph that read like prose."""
    text = re.sub(r":\w+:`~?([^`<]+?)(?:\s*<[^>]*>)?`", r"\1", text)
    text = re.sub(r"`([^`<]+?)\s*<[^>]*>`_+", r"\1", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"[`*]+|\|", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    for s in re.split(r"(?<=[.!?])\s+(?=[A-Z\"'(\d])", text):
        s = s.strip(" -\u00b6>#\"")
        words = re.findall(r"[A-Za-z]{2,}", s)
        letters = sum(c.isalpha() or c == " " for c in s)
        if len(words) >= 4 and len(s) <= 400 and letters >= 0.8 * len(s) and ">>>" not in s and "::" not in s:
            yield s


def paragraphs(doc: str):
    return (p for p in re.split(r"\n\s*\n", doc) if not re.search(r"^\s*(>>>|\.\.|[-=~^]{4,})", p, re.M))


class _Prose(html.parser.HTMLParser):
    """Paragraphs and list items of an HTML page, without its code blocks."""

    KEEP, DROP = {"p", "li", "dd", "td", "h1", "h2", "h3"}, {"pre", "script", "style", "nav", "head", "footer"}

    def __init__(self):
        super().__init__()
        self.parts, self.text, self.drop = [], [], 0

    def handle_starttag(self, tag, attrs):
        if tag in self.DROP:
            self.drop += 1
        elif tag in self.KEEP:
            self._flush()

    def handle_endtag(self, tag):
        if tag in self.DROP:
            self.drop = max(0, self.drop - 1)
        elif tag in self.KEEP:
            self._flush()

    def handle_data(self, data):
        if not self.drop:
            self.text.append(data)

    def _flush(self):
        self.parts.append("".join(self.text))
        self.text = []


def prose(page: str):
    page = re.sub(r"<(nav|footer|head|script|style)\b.*?</\1>", "", page, flags=re.S)
    p = _Prose()
    p.feed(page)
    p._flush()
    for part in p.parts:
        yield from sentences(part)


def files_of_deb(path: pathlib.Path):
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as t:
        for m in sorted((m for m in t if m.isfile()), key=lambda m: m.name):
            yield m.name, lambda m=m: t.extractfile(m).read()


def files_of_wheel(path: pathlib.Path):
    with zipfile.ZipFile(path) as z:
        for n in sorted(z.namelist()):
            yield n, lambda n=n: z.read(n)


def docstrings(files, _source):
    for name, read in files:
        if not name.endswith(".py") or "/tests/" in name or "/_vendor/" in name:
            continue
        try:
            tree = ast.parse(read())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                for p in paragraphs(ast.get_docstring(node) or ""):
                    yield from sentences(p)


def service_models(files, _source):
    """The `documentation` of every operation and shape in botocore's service descriptions."""

    def walk(x):
        if isinstance(x, dict):
            for k, v in x.items():
                if k == "documentation" and isinstance(v, str):
                    yield from prose(v)
                else:
                    yield from walk(v)
        elif isinstance(x, list):
            for v in x:
                yield from walk(v)

    for name, read in files:
        if re.search(r"service-2\.json(\.gz)?$", name):
            raw = read()
            yield from walk(json.loads(gzip.decompress(raw) if name.endswith("gz") else raw))


def interface_texts(files, _source):
    """What the screens of Home Assistant's integrations say, in English."""

    def walk(x):
        if isinstance(x, str):
            if "{" not in x and "[%" not in x:
                yield from sentences(x)
        elif isinstance(x, dict):
            for v in x.values():
                yield from walk(v)

    for name, read in files:
        if name.endswith("translations/en.json"):
            yield from walk(json.loads(read()))


def pages(files, source):
    for name, read in files:
        if re.search(source["match"], name):
            raw = read()
            yield from prose((gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8", "replace"))


def rest(files, source):
    for name, read in files:
        if re.search(source["match"], name):
            raw = read()
            text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8", "replace")
            for p in paragraphs(text):
                yield from sentences(p)


def wordnet(files, source):
    """Examples first, then glosses with the word they explain."""
    glosses = []
    for name, read in files:
        if not re.search(r"/data\.(noun|verb|adj|adv)$", name):
            continue
        for line in read().decode("latin-1").splitlines():
            if line.startswith("  "):
                continue
            head, _, gloss = line.partition(" | ")
            word = head.split(" ")[4].replace("_", " ")
            for example in re.findall(r'"([^"]+)"', gloss):
                yield example.strip()
            meaning = re.sub(r'"[^"]*"', "", gloss).strip(" ;")
            if meaning:
                glosses.append(f"{word}: {meaning}")
    if source["glosses"]:
        yield from by_hash(glosses)[: source["glosses"]]


def dictionary(files, source):
    for name, read in files:
        if name.endswith(".dict.dz"):
            text = gzip.decompress(read()).decode("utf-8", "replace")
            for p in paragraphs(re.sub(r"[{}]", "", text)):
                yield from sentences(p)


def messages(files, source):
    """Texts inside a program: runs of printable bytes."""
    for name, read in files:
        if name.endswith(source["match"]):
            for run in re.findall(rb"[\x20-\x7e\n]{20,}", read()):
                yield from sentences(run.decode())


READERS = {f.__name__: f for f in (docstrings, service_models, interface_texts, pages, rest, wordnet, dictionary, messages)}


def by_hash(items, salt="", text=lambda s: s):
    """The split has a salt of its own: what the caps of the sources let through has small hashes already."""
    return sorted(items, key=lambda i: hashlib.sha256((salt + text(i)).encode()).digest())


def collect(folder: pathlib.Path, sources: list[dict], teacher):
    """(group, text, ids, source) of what is kept, in the order of the texts' hashes."""
    seen, kept = set(), []

    def take(name, group, texts, most):
        fresh = []
        for s in dict.fromkeys(texts):
            key = re.sub(r"\W+", " ", s.lower()).strip()
            if key not in seen:
                seen.add(key)
                fresh.append(s)
        fresh = by_hash(fresh)[: most * 2] if most else by_hash(fresh)
        n = 0
        for s, ids in zip(fresh, teacher.ids(fresh)):
            if TOKENS_MIN <= len(ids) <= TOKENS_MAX and (not most or n < most):
                kept.append((group, s, ids, name))
                n += 1

    for source in sources:
        path = folder / source["file"]
        files = files_of_deb(path) if path.suffix == ".deb" else files_of_wheel(path)
        texts = list(READERS[source["reader"]](files, source))
        take(source["name"], source["group"], texts, source.get("most", 0))
    take("talk.py, talk", "grammar", talk.talk(TALK, SEED), 0)
    take("talk.py, frames", "frames", talk.frames(teacher.vocabulary, FRAMES_EACH, SEED), 0)
    return by_hash(kept, salt="split:", text=lambda k: k[1])[:MOST]


def split(kept):
    """The first 2,000 sentences from packages, by hash, are held out; the rest is for the fit."""
    held, train = [], []
    for k in kept:
        own = k[0] in ("grammar", "frames")
        (held if not own and len(held) < HELD_OUT else train).append(k)
    return train, held
