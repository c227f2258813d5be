"""Parses docstrings in the style of Google, NumPy or Sphinx: the description and the text of each argument."""

import inspect
import re
from itertools import zip_longest

_ARGUMENTS = frozenset({"args", "arguments", "parameters", "other parameters", "attributes"})
_SECTIONS = _ARGUMENTS | {
    "raises", "returns", "yields", "example", "examples", "note", "notes", "references", "see also", "warning",
    "warnings", "warns",
}  # fmt: skip
# `name: words`, `name (type): words` or `*name: words`, in Google's style.
_GOOGLE = re.compile(r"\*{0,2}(?P<names>[A-Za-z_]\w*)(?:\s*\([^)]*\))?:\s*(?P<words>.*)")
# `name`, `name : type` or `one, other : type`, in NumPy's style; the words are on the lines below.
_NUMPY = re.compile(r"(?P<names>\*{0,2}[A-Za-z_]\w*(?:, ?\*{0,2}[A-Za-z_]\w*)*)(?:\s*:.*)?(?P<words>)")
_UNDERLINE = re.compile(r"-{3,}\s*")
# `:param name: words` or `:param type name: words`, in Sphinx's style, and its other fields.
_SPHINX = re.compile(
    r":(?:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(?P<names>[A-Za-z_]\w*)"
    r"|(?:type|raises?|except|exception)\s[^:]*|returns?|rtype|yields?|ytype):\s*(?P<words>.*)"
)


def parse(docstring: str | None) -> tuple[str, dict[str, str]]:
    """Returns the description, which ends at the first section, and the words of each argument."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    description: list[str] = []
    arguments: dict[str, str] = {}
    # The pattern of an argument in this section, and the arguments that the current words describe.
    entry: re.Pattern[str] | None = None
    names: list[str] = []
    is_description = True
    indent = 0
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        depth = len(line) - len(line.lstrip())
        heading, style = _heading(line, below)
        found = _SPHINX.match(line)
        if heading:
            is_description, names, entry = False, [], style if heading in _ARGUMENTS else None
            continue
        if found:
            is_description, names, entry = False, [], None
        elif is_description:
            description.append(line)
            continue
        elif entry and (not names or depth <= indent):
            found = entry.fullmatch(line.strip())
        elif not entry and depth == 0:
            names = []
        if found:
            names, indent = [name.strip(" *") for name in (found["names"] or "").split(",") if name], depth
        for name in names:
            arguments[name] = f"{arguments.get(name, '')} {found['words'] if found else line.strip()}".strip()
    return _unwrap("\n".join(description).strip()), arguments


def _heading(line: str, below: str) -> tuple[str, re.Pattern[str] | None]:
    """Returns the name of the section that begins at this line, or an empty text, and the pattern of its entries."""
    name = line.strip().lower()
    if line.startswith(" "):
        return "", None
    if name.endswith(":") and name[:-1] in _SECTIONS:
        return name[:-1], _GOOGLE
    return (name, _NUMPY) if name in _SECTIONS and _UNDERLINE.fullmatch(below) else ("", None)


def _unwrap(text: str) -> str:
    """Joins the lines of each paragraph, but keeps lists and indented text."""
    paragraphs = re.split(r"\n\s*\n", text)
    return "\n\n".join(
        paragraph if re.search(r"^(\s|[-*] )", paragraph, re.MULTILINE) else " ".join(paragraph.split())
        for paragraph in paragraphs
    )
