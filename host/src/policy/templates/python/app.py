"""The contract around `section.py`: memories and settings come in, a text goes out. `build` makes the component of this file.

Run `componentize-py --wit-path wit --world context-builder-policy bindings .build/bindings` to see the classes of `wit_world`.
"""

import json

from section import section
from wit_world import exports
from wit_world.exports.context_builder import Context, Request
from wit_world.imports import memories, settings


class ContextBuilder(exports.ContextBuilder):
    """Stage 4."""

    def build(self, request: Request) -> Context | None:
        # At a prompt the agent is told what was found for it; this policy has nothing to add.
        if request.source == "prompt":
            return None
        most = json.loads(settings.get("most") or "5")
        found = [(memory.id, memory.title) for memory in memories.recent(["decision"], most)]
        text, used = section(found, request.budget)
        return Context(text=text, used=used) if used else None
