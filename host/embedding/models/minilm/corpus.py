"""Cuts English texts for developers out of the packages in `corpus.txt`: what the token vectors are fitted to.

Documentation, change logs, docstrings, and the sentences in JSON files. Nothing in a package is run. The same packages give the
same texts in the same order; chance is a hash of the text.
"""

import ast
import collections
import gzip
import hashlib
import json
import multiprocessing
import re
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

# Of each package, so that none decides alone what words mean.
PER_PACKAGE = 2200
# Passages of several paragraphs, beside those.
PASSAGES_PER_PACKAGE = 150
PASSAGE_WORDS = range(50, 181)
# That begin with the same three words: `Returns a list ...`.
PER_BEGINNING = 12
WORDS = range(2, 121)
# A longer file is data.
MOST_BYTES = 3_000_000

PROSE = (".rst", ".md", ".txt")
NO_PROSE = re.compile(r"licen[cs]e|notice|copying|authors|contributors|top_level|record|requirements|cmakelists|/tests?/|/locales?/"
                      r"|/translations/(?!en)|vendor|sboms?/|/compliance/", re.I)  # fmt: skip
STOP = set("a an and are as at be by can for from has have if in is it its may must not of on or that the this to use used was when "
           "will with you your how what which who why".split())  # fmt: skip


def chance(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def files(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents, by name."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for info in sorted(wheel.infolist(), key=lambda info: info.filename):
                if info.file_size <= MOST_BYTES and is_read(info.filename):
                    yield info.filename, wheel.read(info)
                elif info.filename.startswith("botocore/data") and info.filename.endswith("service-2.json.gz"):
                    yield info.filename[:-3], gzip.decompress(wheel.read(info))
    else:
        with tarfile.open(archive) as sdist:
            for member in sorted(sdist.getmembers(), key=lambda member: member.name):
                if member.isfile() and member.size <= MOST_BYTES and is_read(member.name):
                    yield member.name, sdist.extractfile(member).read()


def is_read(name: str) -> bool:
    return name.endswith((*PROSE, ".py", ".json", ".yaml")) and not NO_PROSE.search(name)


def plain(text: str) -> str:
    """Without the marks of reStructuredText, Markdown and HTML."""
    text = re.sub(r"<[a-zA-Z/!][^>]*>", " ", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r":[\w:+.-]+:`~?\.?([^`<]*?)(\s*<[^`]*>)?`", r"\1", text)
    text = re.sub(r"`([^`<]*?)\s*<[^`]*>`_*", r"\1", text)
    text = re.sub(r"https?://\S+", " ", text)
    text = re.sub(r"`+_*|\*\*?|\|(?=\w)|(?<=\w)\|", "", text)
    text = text.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&quot;", '"')
    return re.sub(r"\s+", " ", text).strip()


def is_english(text: str) -> bool:
    words = re.findall(r"[A-Za-z][A-Za-z'-]*", text)
    if len(words) not in WORDS or sum(map(len, words)) < 0.7 * len(text.replace(" ", "")) or not text.isascii():
        return False
    stops = sum(word.lower() in STOP for word in words)
    return stops >= len(words) // 8 and len(set(words)) > len(words) // 3


def blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Paragraphs, items of lists, and titles (True) of a page. What is indented as code, and what is fenced, is not read."""
    fenced = False
    for block in re.split(r"\n[ \t]*\n", text.replace("\r", "")):
        lines = block.split("\n")
        fences = sum(line.lstrip().startswith(("```", "~~~")) for line in lines)
        was, fenced = fenced, fenced ^ (fences % 2 == 1)
        if was or fences or not block.strip():
            continue
        lines = [line for line in lines if not line.lstrip().startswith(("..", ">>>", "$ ", ":", "+-", "|"))]
        title = next((n for n, line in enumerate(lines) if n and re.fullmatch(r"([=~^\"'#*+.-])\1{3,}", line.strip())), 0)
        if title:
            yield True, lines[title - 1]
            lines = lines[title + 1 :]
        item = []
        for line in [*lines, "- "]:
            if match := re.match(r"#+ (.*)", line):
                yield True, match[1].rstrip("# ")
            elif match := re.match(r"\s*(?:[-*+•]|\d+[.)]|#\.)\s+(.*)|\s*(?:[-*])\s*$", line):
                if item:
                    yield False, " ".join(item)
                item = [match[1] or ""]
            elif not re.fullmatch(r"\W*", line):
                item.append(line)


def docstrings(source: bytes) -> Iterator[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            yield text


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def page(name: str, content: bytes) -> Iterator[tuple[bool, str]]:
    text = content.decode(errors="replace")
    if name.endswith(".py"):
        for text in docstrings(content):
            yield from blocks(text)
    elif name.endswith(".json"):
        try:
            value = json.loads(text)
        except ValueError:
            return
        for text in strings(value):
            if " " in text:
                yield from blocks(text if "<p>" not in text else text.replace("</p>", "\n\n").replace("<li>", "\n\n"))
    elif name.endswith(".yaml"):
        # Release notes: lists of paragraphs.
        if "releasenotes" in name:
            yield from blocks(re.sub(r"^\w+:.*|\|$", "", text, flags=re.M))
    else:
        yield from blocks(text)


def cut(text: str) -> str:
    """The whole paragraph, its first sentences, or one of them: texts of all lengths are wanted."""
    sentences = re.split(r"(?<=[.!?:]) (?=[A-Z])", text)
    number = chance(text)
    if len(sentences) == 1 or number % 3 == 0:
        return text
    if number % 3 == 1:
        return " ".join(sentences[: 1 + number // 3 % len(sentences)])
    return sentences[number // 3 % len(sentences)]


def texts(archive: Path) -> list[str]:
    """What one package gives, of its whole what chance chose."""
    found, passages = {}, set()
    for name, content in files(archive):
        passage = ""
        for is_title, text in page(name, content):
            whole = plain(text)
            text = cut(whole)
            key = " ".join(re.findall("[a-z0-9]+", text.lower()))
            if is_english(text) and (is_title or len(key.split()) > 3) and "Merge pull request" not in text:
                found.setdefault(key, text)
                passage = f"{passage} {whole}".strip()
                if len(passage.split()) in PASSAGE_WORDS and name.endswith(PROSE):
                    passages.add(passage)
                    passage = ""
                elif len(passage.split()) > PASSAGE_WORDS[0]:
                    passage = ""
    beginnings = collections.Counter()
    chosen = []
    for key in sorted(found, key=chance):
        beginning = tuple(key.split()[:3])
        beginnings[beginning] += 1
        if beginnings[beginning] <= PER_BEGINNING and len(chosen) < PER_PACKAGE:
            chosen.append(found[key])
    return chosen + sorted(passages, key=chance)[:PASSAGES_PER_PACKAGE]


def collect(folder: Path) -> list[str]:
    """The texts of all packages, each once."""
    archives = sorted(path for path in folder.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    with multiprocessing.Pool() as pool:
        return list(dict.fromkeys(text for part in pool.imap(texts, archives) for text in part))
