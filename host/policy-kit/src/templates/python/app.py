"""Connects `section.py` to the contract: turns memories and settings into a text. `build` makes the component from this file.

Run `componentize-py --wit-path wit --world context-builder-policy bindings .build/bindings` to see the classes of `wit_world`.
"""

import json

from componentize_py_types import Err
from guard import told
from section import section
from wit_world import exports
from wit_world.exports.context_builder import Context, Request
from wit_world.imports import memories, settings
from wit_world.imports.types import Failure_Internal


class ContextBuilder(exports.ContextBuilder):
    """The stage context-builder."""

    # An exception, or a result of a wrong type, becomes the contract's failure with its message and place.
    @told(lambda text: Err(Failure_Internal(text)))
    def build(self, request: Request) -> Context | None:
        # At a prompt the agent is told the memories found for it; this policy has nothing to add.
        if request.source == "prompt":
            return None
        most = int(json.loads(settings.get("most") or "5"))
        found = [(memory.id, memory.title) for memory in memories.recent(["decision"], most)]
        text, used = section(found, request.budget)
        return Context(text=text, used=used) if used else None
