"""Describes a column: its type, its range, and a few of its values."""

import datetime
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal

from tables import Key, sort_key

# Maximum different values to count in a column. A column with more shows this number with a `+`.
DISTINCT_MAX = 1_000
# Number of most frequent values to show.
EXAMPLES = 3
_BOOLEANS = frozenset({"true", "false", "yes", "no"})


@dataclass
class Column:
    """Statistics of a column, updated row by row."""

    name: str
    filled: int = 0
    empty: int = 0
    _types: set[str] = field(default_factory=set)
    _values: Counter[str] = field(default_factory=Counter)
    _smallest: tuple[Key, str] | None = None
    _largest: tuple[Key, str] | None = None

    def add(self, cell: str) -> None:
        """Adds a cell."""
        if not cell:
            self.empty += 1
            return
        self.filled += 1
        if cell in self._values or len(self._values) < DISTINCT_MAX:
            self._values[cell] += 1
        # One text makes the column a text column, which has no range.
        if "text" not in self._types:
            key = sort_key(cell)
            self._types.add(_type_of(cell, key))
            self._smallest = min(self._smallest or (key, cell), (key, cell))
            self._largest = max(self._largest or (key, cell), (key, cell))

    @property
    def type(self) -> str:
        """The narrowest type that every cell has."""
        if not self._types:
            return "empty"
        if self._types <= {"integer", "number"}:
            return "number" if "number" in self._types else "integer"
        return self._types.pop() if len(self._types) == 1 else "text"

    def facts(self) -> list[str]:
        """Returns the description as a row of a table."""
        kind = self.type
        distinct = f"{len(self._values)}{'+' if len(self._values) == DISTINCT_MAX else ''}"
        span = ""
        if kind in ("integer", "number", "date") and self._smallest and self._largest:
            span = f"{self._smallest[1]} .. {self._largest[1]}"
        examples = ", ".join(value for value, _ in self._values.most_common(EXAMPLES))
        return [self.name, kind, str(self.filled), str(self.empty), distinct, span, examples]


def _type_of(cell: str, key: Key) -> str:
    is_text, _, folded = key
    if not is_text:
        return "number" if any(character in cell for character in ".eE") else "integer"
    if folded in _BOOLEANS:
        return "boolean"
    return "date" if _is_date(cell) else "text"


def _is_date(cell: str) -> bool:
    try:
        datetime.datetime.fromisoformat(cell)
    except ValueError:
        return False
    return True


def plain(value: Decimal) -> str:
    """Formats a number without an exponent and trailing zeros."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
