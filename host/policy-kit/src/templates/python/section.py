"""Writes the text that the agent is shown. Plain Python: `python3 -m unittest` tests it without wasm."""

HEADING = "### Latest decisions\n"


def units(text: str) -> int:
    """Returns the length in UTF-16 code units, as the budget counts it."""
    # Not by encoding: Python would look for the codec's module at run time, and there are no files.
    return len(text) + sum(c > "\uffff" for c in text)


def section(memories: list[tuple[str, str]], budget: int) -> tuple[str, list[str]]:
    """Returns one line for each memory (identifier and title), as many as the budget allows, and the identifiers used."""
    text, used = HEADING, []
    for identifier, title in memories:
        line = f"- {' '.join(title.split())}\n"
        if units(text) + units(line) > budget:
            break
        text += line
        used.append(identifier)
    return text, used
