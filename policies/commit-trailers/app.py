"""Implements the contract on top of `trailers.py`: lines and settings come in, an extraction goes out."""

import json

from componentize_py_types import Err
from trailers import Fold
from wit_world import exports
from wit_world.exports.extractor import Extraction, Request
from wit_world.imports import settings
from wit_world.imports.transcript import Reader
from wit_world.imports.types import Decision, Draft, Failure_Internal, Origin, SessionNotes

WANTED = ["Decision", "Rejected", "Constraint", "Ticket"]

# How many bytes to read in each call of the host. Calls are expensive, and a mebibyte per call keeps them few.
MOST_BYTES = 1 << 20


def _wanted() -> list[str]:
    found = json.loads(settings.get("trailers") or "null")
    return found if isinstance(found, list) else WANTED


def _notes(fold: Fold) -> SessionNotes:
    decisions = [Decision(what=note[2], why="", rejected=note[3]) for note in fold.notes if note[1] == "decision"]
    learnings = [note[2] for note in fold.notes if note[1] == "learning"]
    return SessionNotes(
        original_request="",
        current_objective="",
        outcome="",
        started=None,
        ended=None,
        turns=0,
        done=[],
        current=[],
        pending=[],
        decisions=decisions,
        discoveries=[],
        learnings=learnings,
        preferences=[],
        changes=[],
        commits=[],
        blockers=[],
        errors=[],
        attributes=[],
    )


class Extractor(exports.Extractor):
    """Stage 1: the extractor."""

    def extract(self, request: Request, transcript: Reader) -> Extraction:
        try:
            return _extract(request, transcript)
        except Exception as error:
            # An uncaught exception ends the call without a message, because there is no output for a traceback.
            raise Err(Failure_Internal(f"{type(error).__name__}: {error}")) from None


def _extract(request: Request, transcript: Reader) -> Extraction:
    fold = Fold(request.state, _wanted())
    consumed = 0
    while lines := transcript.read_lines(MOST_BYTES):
        for line in lines:
            fold.line(line.text)
        consumed = lines[-1].end
    drafts = [
        Draft(
            key=draft.key,
            kind=draft.kind,
            title=draft.title,
            content=draft.content,
            keywords=draft.keywords,
            files=[],
            importance=draft.importance,
            origin=Origin(line_uuid=draft.uuid, at=draft.at),
            attributes=draft.attributes,
        )
        for draft in fold.drafts.values()
    ]
    return Extraction(
        drafts=drafts,
        retracted=fold.retracted,
        notes=_notes(fold),
        state=fold.state(),
        consumed=consumed,
        malformed=fold.malformed,
    )
