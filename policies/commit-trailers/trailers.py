"""Reads the trailers of an agent's git commits: a fold over transcript lines, without the contract's types.

A commit takes two lines of the transcript: the agent's call of the tool `Bash` with the command, and later the result
of the tool. The content of the command is kept as pending until the result shows that the commit was created.
"""

import datetime
import json
import re
from typing import NamedTuple

# Limits of the state that is kept between calls. The host accepts at most 256 KiB.
MOST_PENDING = 50
MOST_MESSAGE = 4_000
# How many characters of a command are searched. A longer command writes files.
MOST_COMMAND = 64 << 10
MOST_NOTES = 100
MOST_VALUE = 300
MOST_STATE_BYTES = 200 << 10

MOST_TITLE = 200

# Messages of git and its hooks if there is no commit although the whole command succeeded (`git commit || true`).
_NOT_DONE = re.compile(
    r"nothing to commit|nothing added to commit|no changes added to commit|^(?:fatal|error):|hook .*failed|Aborting commit",
    re.MULTILINE,
)
_DONE = re.compile(r"^\s*\[(?P<branch>[^\]\n]+?)(?: \(root-commit\))? (?P<hash>[0-9a-f]{7,40})\]", re.MULTILINE)

# `git commit` where a command may start. Quoted text (`echo 'git commit'`) does not match.
_COMMIT = re.compile(
    r"(?:^|[;&|(\n]|\bthen\b|\bdo\b)\s*(?:[A-Za-z_]\w*=\S*\s+|(?:rtk|command|env|time|sudo)\s+)*"
    r"(?:\S*/)?git\s+(?:-[cC]\s*\S+\s+|--?[\w-]+(?:=\S+)?\s+)*commit(?=\s|$)"
)
_HEREDOC = r"<<-?[ \t]*(['\"]?)(\w+)\1[^\n]*\n(.*?)^[ \t]*\2[ \t]*$"
_REDIRECTED = re.compile(_HEREDOC, re.DOTALL | re.MULTILINE)
_SUBSTITUTED = re.compile(r"\$\(\s*cat\s*" + _HEREDOC + r"\s*\)", re.DOTALL | re.MULTILINE)
_TRAILER = re.compile(r"(?P<name>[A-Za-z][A-Za-z-]*)\s*: +(?P<value>\S.*)")


class Draft(NamedTuple):
    """A memory, as `app.py` passes it on."""

    key: str
    kind: str
    title: str
    content: str
    keywords: list[str]
    importance: float
    uuid: str | None
    at: int | None
    attributes: list[tuple[str, str]]


class Commit(NamedTuple):
    """The content of one `git commit` command."""

    subject: str
    trailers: list[tuple[str, str]]
    amends: bool


def words_of(command: str, at: int) -> tuple[list[str], str | None]:
    """Returns the words from `at` to the end of the simple command, as the shell reads them, and the here-document."""
    words: list[str] = []
    word: str | None = None
    given = None
    quote = ""
    while at < len(command):
        c = command[at]
        add = None
        if c == "$" and quote != "'" and (found := _SUBSTITUTED.match(command, at)):
            add = found[3].rstrip("\n")
            at = found.end() - 1
        elif quote:
            if c == quote:
                quote = ""
            elif c == "\\" and quote == '"' and command[at + 1 : at + 2] in ('"', "\\", "$", "`"):
                at += 1
                add = command[at]
            else:
                add = c
        elif c in "'\"":
            quote = c
            add = ""
        elif c == "\\":
            at += 1
            # A backslash at the end of a line joins it with the next one.
            add = command[at : at + 1].replace("\n", "")
        elif c == "<" and given is None and (found := _REDIRECTED.match(command, at)):
            given = found[3]
            at = found.end(2) + len(found[1]) - 1
        elif c in " \t":
            if word is not None:
                words.append(word)
            word = None
        elif c in ";&|)\n":
            break
        else:
            add = c
        if add is not None:
            word = (word or "") + add
        at += 1
    if word is not None:
        words.append(word)
    return words, given


def message_of(words: list[str], given: str | None) -> str:
    """Returns the message of `git commit`: each `-m` is a paragraph, or a here-document with `-F -`."""
    paragraphs: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--message" or re.fullmatch(r"-[a-zA-Z]*m", word):
            paragraphs.append(next(rest, ""))
        elif word.startswith("--message="):
            paragraphs.append(word.partition("=")[2])
        elif re.match(r"-[a-zA-Z]*m.", word) and not word.startswith("--"):
            paragraphs.append(word.partition("m")[2])
        elif word in ("-F-", "--file=-") or (word in ("-F", "--file") and next(rest, "") == "-"):
            paragraphs.append(given or "")
        elif word == "--":
            break
    return "\n\n".join(paragraph.strip() for paragraph in paragraphs)


def trailers_of(message: str) -> list[tuple[str, str]]:
    """Returns the trailers of every paragraph after the subject that contains nothing else.

    Git reads only the last paragraph, but agents add one of their own (`Co-Authored-By:`) below the team's.
    """
    found: list[tuple[str, str]] = []
    for paragraph in re.split(r"\n\s*\n", message.strip())[1:]:
        block: list[tuple[str, str]] = []
        for line in paragraph.splitlines():
            if line[:1] in (" ", "\t") and block:
                name, value = block[-1]
                block[-1] = (name, f"{value} {line.strip()}")
            elif trailer := _TRAILER.fullmatch(line.strip()):
                block.append((trailer["name"], trailer["value"].strip()))
            else:
                break
        else:
            found.extend(block)
    return found


def commit_of(command: str) -> Commit | None:
    """Returns the last `git commit` of a command that contains its message."""
    last = None
    command = command[:MOST_COMMAND]
    for start in _COMMIT.finditer(command):
        words, given = words_of(command, start.end())
        message = message_of(words, given)
        if message and "--dry-run" not in words:
            subject = message.strip().splitlines()[0].strip()
            last = Commit(subject, trailers_of(message[:MOST_MESSAGE]), "--amend" in words)
    return last


def milliseconds(timestamp: object) -> int | None:
    """Converts a transcript timestamp (`2026-02-23T10:11:12.345Z`) to milliseconds since the epoch."""
    try:
        at = datetime.datetime.fromisoformat(timestamp)
        return max(0, int(at.timestamp() * 1000)) if at.tzinfo else None
    except (TypeError, ValueError, OverflowError):
        return None


def clip(text: str, most: int) -> str:
    """Returns the text on one line of at most `most` characters."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def text_of(content: object) -> str:
    """Returns the text of a tool result: a string, or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [block.get("text") for block in content if isinstance(block, dict)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return ""


class Fold:
    """Turns lines into drafts. `state()` returns what must be kept between calls."""

    def __init__(self, state: str | None, wanted: list[str]):
        held = _object(state)
        self.wanted = {name.casefold(): name for name in wanted if isinstance(name, str) and name}
        self.pending: dict[str, dict] = {k: v for k, v in _dict(held.get("pending")).items() if isinstance(v, dict)}
        # Keys of the last commit's drafts, which an amended commit retracts.
        self.last: list[str] = _strings(held.get("last"))
        # Key, kind, text and rejected options of each current draft. The session's notes are made from them.
        self.notes: list[list] = [note for note in _list(held.get("notes")) if _is_note(note)]
        self.drafts: dict[str, Draft] = {}
        self.retracted: list[str] = []
        self.malformed = 0
        # What a line contains if it has a commit with a wanted trailer. `in` is a hundred times faster than parsing.
        self._signs = [f"{name}:" for name in self.wanted.values()]

    def state(self) -> str:
        """Returns the state for the next call, smaller than the contract's 256 KiB."""
        while True:
            held = {"pending": self.pending, "last": self.last, "notes": self.notes}
            text = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
            if len(text.encode("utf-8", "replace")) <= MOST_STATE_BYTES:
                return text
            for oldest in (self.notes, self.last):
                del oldest[: (len(oldest) + 1) // 2]
            for use in list(self.pending)[: (len(self.pending) + 1) // 2]:
                del self.pending[use]

    def line(self, text: str) -> None:
        """Processes one line of the transcript."""
        if text[:1] != "{" or text[-1:] != "}":
            self._read(text)
        elif "commit" in text and "tool_use" in text and self._has_sign(text):
            self._read(text)
        elif self.pending and "tool_result" in text and any(use in text for use in self.pending):
            self._read(text)

    def _has_sign(self, text: str) -> bool:
        if any(sign in text for sign in self._signs):
            return True
        # Names are case-insensitive. This is the slow path, taken for commits only.
        return "git" in text and "Bash" in text and any(sign.casefold() in text.casefold() for sign in self._signs)

    def _read(self, text: str) -> None:
        """Returns all records of a line. A crash may leave NUL bytes, and a lost newline puts two records on one line."""
        text = text.strip("\0\ufeff \t\r")
        at = 0
        while at < len(text):
            try:
                record, at = _DECODER.raw_decode(text, at)
            except (ValueError, RecursionError):
                self.malformed += 1
                return
            while text[at : at + 1].isspace():
                at += 1
            if isinstance(record, dict):
                self._record(record)

    def _record(self, record: dict) -> None:
        content = _dict(record.get("message")).get("content")
        for block in _list(content):
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use" and block.get("name") == "Bash":
                self._use(block, record)
            elif block.get("type") == "tool_result":
                self._result(block)

    def _use(self, block: dict, record: dict) -> None:
        use, command = block.get("id"), _dict(block.get("input")).get("command")
        if not isinstance(use, str) or not use or not isinstance(command, str):
            return
        commit = commit_of(command)
        if commit is None:
            return
        uuid = record.get("uuid")
        self.pending[use[:200]] = {
            "subject": clip(commit.subject, MOST_TITLE),
            "trailers": [[name, clip(value, MOST_VALUE)] for name, value in commit.trailers if name.casefold() in self.wanted],
            "amends": commit.amends,
            "uuid": uuid[:200] if isinstance(uuid, str) else None,
            "at": milliseconds(record.get("timestamp")),
        }
        while len(self.pending) > MOST_PENDING:
            del self.pending[next(iter(self.pending))]

    def _result(self, block: dict) -> None:
        use = block.get("tool_use_id")
        commit = self.pending.pop(use[:200], None) if isinstance(use, str) else None
        if commit is None or block.get("is_error") is True:
            return
        output = text_of(block.get("content"))
        done = _DONE.search(output)
        if done or not _NOT_DONE.search(output):
            self._commit(commit, done["hash"] if done else None)

    def _commit(self, commit: dict, hash_: str | None) -> None:
        trailers = [(t[0], t[1]) for t in _list(commit.get("trailers")) if isinstance(t, list) and len(t) == 2]
        trailers = [(n, v) for n, v in trailers if isinstance(n, str) and isinstance(v, str)]
        values: dict[str, list[str]] = {}
        for name, value in trailers:
            values.setdefault(name.casefold(), []).append(value)
        tickets, rejected = values.pop("ticket", []), values.pop("rejected", [])
        chosen = values.pop("decision", [])
        if rejected and not chosen:
            # Rejected options are worth knowing by themselves; the subject says what was done instead.
            chosen = [str(commit.get("subject"))]
        common = (commit, hash_, tickets)
        made = [self._draft("decision", "decision", value, rejected, *common) for value in chosen]
        for name, lessons in values.items():
            made += [self._draft(name, "learning", f"{self.wanted.get(name, name)}: {value}", [], *common) for value in lessons]
        if commit.get("amends") is True:
            self._take_back(set(self.last) - set(made))
        self.last = made

    def _draft(self, name, kind, what, rejected, commit, hash_, tickets) -> str:
        key = f"{name}: {what.casefold()[:160]}" if kind == "decision" else what.casefold()[:160]
        subject = str(commit.get("subject"))
        lines = [what, *(f"Rejected: {option}" for option in rejected)]
        lines += [] if what == subject else [f"Commit: {subject}"]
        lines += [f"Ticket: {', '.join(tickets)}"] if tickets else []
        attributes = [("commit", hash_)] if hash_ else []
        uuid, at = commit.get("uuid"), commit.get("at")
        self.drafts[key] = Draft(
            key=key,
            kind=kind,
            title=clip(what, MOST_TITLE),
            content="\n\n".join(lines),
            keywords=tickets,
            importance=0.8 if kind == "decision" else 0.7,
            uuid=uuid if isinstance(uuid, str) else None,
            at=at if isinstance(at, int) and at >= 0 else None,
            attributes=attributes + [("ticket", ticket) for ticket in tickets],
        )
        self.retracted = [taken for taken in self.retracted if taken != key]
        self.notes = [note for note in self.notes if note[0] != key]
        self.notes.append([key, kind, what, rejected])
        del self.notes[:-MOST_NOTES]
        return key

    def _take_back(self, keys: set[str]) -> None:
        for key in sorted(keys):
            self.drafts.pop(key, None)
            if key not in self.retracted:
                self.retracted.append(key)
        self.notes = [note for note in self.notes if note[0] not in keys]


_DECODER = json.JSONDecoder()


def _object(text: str | None) -> dict:
    try:
        return _dict(json.loads(text)) if text else {}
    except (ValueError, RecursionError):
        return {}


def _dict(value: object) -> dict:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list:
    return value if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [text for text in _list(value) if isinstance(text, str)]


def _is_note(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 4
        and all(isinstance(text, str) for text in value[:3])
        and isinstance(value[3], list)
        and _strings(value[3]) == value[3]
    )
