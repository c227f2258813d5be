"""Reads a docstring: what it says first, and what it says of each argument."""

import inspect
import re

_ARGUMENTS = frozenset({"args:", "arguments:", "parameters:", "attributes:"})
_SECTIONS = _ARGUMENTS | {
    "raises:", "returns:", "yields:", "example:", "examples:", "note:", "notes:", "see also:", "warning:", "warnings:",
}  # fmt: skip
# `name: words`, `name (type): words` or `*name: words`, as Google's style has it.
_ENTRY = re.compile(r"\*{0,2}(?P<name>[A-Za-z_]\w*)(?:\s*\([^)]*\))?:\s*(?P<words>.*)")


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Returns the description, which ends at the first section, and the words of the section `Args:`."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    description: list[str] = []
    arguments: dict[str, str] = {}
    section = ""
    name = ""
    indent = 0
    for line in lines:
        heading = line.strip().lower()
        if not line.startswith(" ") and heading in _SECTIONS:
            section, name = heading, ""
        elif not section:
            description.append(line)
        elif section in _ARGUMENTS and line.strip():
            depth = len(line) - len(line.lstrip())
            entry = _ENTRY.match(line.strip())
            if entry and (not name or depth <= indent):
                name, indent = entry["name"], depth
                arguments[name] = entry["words"].strip()
            elif name:
                arguments[name] = f"{arguments[name]} {line.strip()}".strip()
    return _unwrap("\n".join(description).strip()), arguments


def _unwrap(text: str) -> str:
    """Joins the lines of each paragraph, but keeps lists and what is indented."""
    paragraphs = re.split(r"\n\s*\n", text)
    return "\n\n".join(
        paragraph if re.search(r"^(\s|[-*] )", paragraph, re.MULTILINE) else " ".join(paragraph.split())
        for paragraph in paragraphs
    )
