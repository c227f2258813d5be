"""Queries on a table: filters, groups, sorts and limits rows."""

import collections
import functools
import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Literal

from portcullis import Failed, Field, InvalidArguments

from columns import plain
from tables import Key, Row, Table, sort_key, summand

# Maximum number of groups. They fit easily into the memory of a call.
GROUPS_MAX = 10_000
# Digits of an average beyond those of the numbers themselves.
AVERAGE_PLACES = Decimal("0.0001")


@dataclass
class Condition:
    """A condition on a cell of each row. Numbers are compared by size, everything else as text.

    Attributes:
        column: The column.
        test: How to compare the cell with the value; ignores case.
        value: The value to compare with; omit it for `empty` and `not-empty`.
    """

    column: str
    test: Literal[
        "equals", "differs", "contains", "starts-with", "less", "at-most", "more", "at-least", "empty", "not-empty"
    ] = "equals"
    value: str | int | float | None = None


@dataclass
class Aggregate:
    """A number for each group.

    Attributes:
        function: What is computed. `count` counts rows; `distinct` counts different values of the column; `sum` and
            `average` leave out cells that are not plain numbers, and say how many.
        column: The column; omit it for `count`.
    """

    function: Literal["count", "sum", "average", "minimum", "maximum", "distinct"]
    column: str | None = None

    @property
    def name(self) -> str:
        """The name of the column in the answer."""
        return f"{self.function}({self.column})" if self.column else self.function


@dataclass
class Order:
    """A sort key of the answer.

    Attributes:
        column: A column of the answer, such as `city` or `sum(amount)`.
        descending: Whether to sort the largest first.
    """

    column: str
    descending: bool = False


@dataclass
class Question:
    """A complete query."""

    select: list[str]
    where: list[Condition]
    group_by: list[str]
    aggregates: list[Aggregate]
    sort: list[Order]
    limit: Annotated[int, Field(minimum=1)]


@dataclass
class Result:
    """The answer: a table, and the number of rows read, matched and found."""

    columns: list[str]
    rows: list[Row]
    read: int
    matched: int
    found: int
    # For each summed column, the number of cells that are not numbers.
    skipped: dict[str, int] = field(default_factory=dict)


@dataclass
class _Group:
    """The running aggregates of a group, over its filled cells."""

    rows: int = 0
    sums: dict[int, Decimal] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    skipped: Counter[int] = field(default_factory=Counter)
    smallest: dict[int, tuple[Key, str]] = field(default_factory=dict)
    largest: dict[int, tuple[Key, str]] = field(default_factory=dict)
    different: dict[int, set[str]] = field(default_factory=dict)

    def take(self, function: str, position: int, cell: str) -> None:
        """Adds a cell."""
        if not cell:
            return
        if function == "distinct":
            self.different.setdefault(position, set()).add(cell)
        elif function in ("minimum", "maximum"):
            seen = (sort_key(cell), cell)
            kept, choose = (self.smallest, min) if function == "minimum" else (self.largest, max)
            kept[position] = choose(kept.get(position, seen), seen)
        elif (value := summand(cell)) is not None:
            self.sums[position] = self.sums.get(position, Decimal(0)) + value
            self.numbers[position] = self.numbers.get(position, 0) + 1
        else:
            self.skipped[position] += 1

    def value(self, function: str, position: int) -> str:
        """Returns the aggregate as text."""
        count = self.numbers.get(position, 0)
        match function:
            case "sum":
                return plain(self.sums[position]) if count else ""
            case "average":
                return plain((self.sums[position] / count).quantize(AVERAGE_PLACES)) if count else ""
            case "minimum":
                return self.smallest[position][1] if position in self.smallest else ""
            case "maximum":
                return self.largest[position][1] if position in self.largest else ""
            case "distinct":
                return str(len(self.different.get(position, ())))
            case _:
                return str(self.rows)


def ask(table: Table, question: Question) -> Result:
    """Answers a question.

    Raises:
        InvalidArguments: A column does not exist, or the parts of the query do not fit together.
        Failed: There are too many groups.
    """
    matching = _Matching(table, question.where)
    skipped: dict[str, int] = {}
    if question.group_by or question.aggregates:
        if question.select:
            raise InvalidArguments("`select` cannot be used with `group_by` or `aggregates`: they set the columns")
        columns, rows, skipped = _grouped(table, question, matching)
        found = len(rows)
        rows = _first(Table(columns, iter(rows)), question)
    else:
        positions = [table.position(column) for column in question.select] or list(range(len(table.columns)))
        columns = [table.columns[position] for position in positions]
        whole = _first(Table(table.columns, matching), question)
        rows = [[row[position] for position in positions] for row in whole]
        # Read the remaining rows to count them.
        collections.deque(matching, maxlen=0)
        found = matching.matched
    return Result(columns, rows, matching.read, matching.matched, found, skipped)


class _Matching:
    """Iterates over the rows that meet all conditions, and counts them."""

    def __init__(self, table: Table, conditions: Iterable[Condition]) -> None:
        self._rows = table.rows
        self._tests = [(table.position(condition.column), _test(condition)) for condition in conditions]
        self.read = 0
        self.matched = 0

    def __iter__(self) -> "_Matching":
        return self

    def __next__(self) -> Row:
        for row in self._rows:
            self.read += 1
            if all(test(row[position]) for position, test in self._tests):
                self.matched += 1
                return row
        raise StopIteration


def _test(condition: Condition) -> Callable[[str], bool]:
    if condition.test == "empty":
        return lambda cell: not cell
    if condition.test == "not-empty":
        return bool
    if condition.value is None:
        raise InvalidArguments(f"the condition on `{condition.column}` needs a `value`")
    wanted = condition.value if isinstance(condition.value, str) else plain(Decimal(repr(condition.value)))
    key = sort_key(wanted)
    text = wanted.casefold()
    tests: dict[str, Callable[[str], bool]] = {
        "equals": lambda cell: sort_key(cell) == key,
        "differs": lambda cell: sort_key(cell) != key,
        "contains": lambda cell: text in cell.casefold(),
        "starts-with": lambda cell: cell.casefold().startswith(text),
        "less": lambda cell: _same_kind(cell, key) and sort_key(cell) < key,
        "at-most": lambda cell: _same_kind(cell, key) and sort_key(cell) <= key,
        "more": lambda cell: _same_kind(cell, key) and sort_key(cell) > key,
        "at-least": lambda cell: _same_kind(cell, key) and sort_key(cell) >= key,
    }
    return tests[condition.test]


def _same_kind(cell: str, key: Key) -> bool:
    """Returns whether a cell has the same kind as a key. Numbers, texts and empty cells are not comparable."""
    return sort_key(cell)[0] == key[0]


def _grouped(table: Table, question: Question, matching: Iterable[Row]) -> tuple[list[str], list[Row], dict[str, int]]:
    """Returns the columns and rows of the answer, and for each column the number of cells that are not numbers."""
    keys = [table.position(column) for column in question.group_by]
    aggregates = question.aggregates or [Aggregate("count")]
    wanted = [(aggregate.function, _aggregated(table, aggregate)) for aggregate in aggregates]
    # An average uses a sum, so compute shared aggregates only once.
    taken = {("sum" if function == "average" else function, at) for function, at in wanted if function != "count"}
    groups: dict[tuple[str, ...], _Group] = {} if keys else {(): _Group()}
    for row in matching:
        key = tuple(row[position] for position in keys)
        group = groups.get(key)
        if group is None:
            if len(groups) == GROUPS_MAX:
                raise Failed(f"there are more than {GROUPS_MAX} groups: group by a column with fewer values")
            group = groups[key] = _Group()
        group.rows += 1
        for function, position in taken:
            group.take(function, position, row[position])
    columns = [table.columns[position] for position in keys] + [aggregate.name for aggregate in aggregates]
    rows = [[*key, *(group.value(*each) for each in wanted)] for key, group in groups.items()]
    skipped = sum((group.skipped for group in groups.values()), Counter())
    return columns, rows, {table.columns[position]: cells for position, cells in skipped.items()}


def _aggregated(table: Table, aggregate: Aggregate) -> int:
    """Returns the position of an aggregate's column. `count` needs none."""
    if aggregate.function == "count":
        return 0
    if aggregate.column is None:
        raise InvalidArguments(f"`{aggregate.function}` needs a `column`")
    return table.position(aggregate.column)


@functools.total_ordering
class _Descending:
    """A key that sorts in descending order."""

    def __init__(self, key: Key) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __lt__(self, other: "_Descending") -> bool:
        return other.key < self.key


def _first(table: Table, question: Question) -> list[Row]:
    """Returns the first rows in the requested order, and keeps only those in memory."""
    if not question.sort:
        return list(itertools.islice(table.rows, question.limit))
    orders = [(table.position(order.column), order.descending) for order in question.sort]

    def key(row: Row) -> list[Key | _Descending]:
        return [_Descending(sort_key(row[at])) if descending else sort_key(row[at]) for at, descending in orders]

    return heapq.nsmallest(question.limit, table.rows, key)
