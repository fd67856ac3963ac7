"""The text that the agent is shown. Plain Python: `python3 -m unittest` runs its tests without wasm."""

HEADING = "### Latest decisions\n"


def units(text: str) -> int:
    """The length as the budget counts it: in UTF-16 code units."""
    # Not by encoding: a codec is a module that Python would look for at run time, and there are no files.
    return len(text) + sum(c > "\uffff" for c in text)


def section(memories: list[tuple[str, str]], budget: int) -> tuple[str, list[str]]:
    """As many of the memories (identifier and title) as the budget allows, a line each, and which they are."""
    text, used = HEADING, []
    for identifier, title in memories:
        line = f"- {' '.join(title.split())}\n"
        if units(text) + units(line) > budget:
            break
        text += line
        used.append(identifier)
    return text, used
