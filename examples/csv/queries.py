"""Questions to a table: which rows, in which groups, in which order, and how many."""

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

# Groups that an answer is put together from: what fits the memory of a call with room to spare.
GROUPS_MAX = 10_000
# Digits of an average beyond those of the numbers themselves.
AVERAGE_PLACES = Decimal("0.0001")


@dataclass
class Condition:
    """What holds for a cell of each row that counts. Numbers are compared by size, everything else as text.

    Attributes:
        column: The column.
        test: How the cell is compared with the value; upper and lower case are the same.
        value: What it is compared with; left out for `empty` and `not-empty`.
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
            `average` leave out cells that are no plain numbers, and say how many.
        column: The column; left out for `count`.
    """

    function: Literal["count", "sum", "average", "minimum", "maximum", "distinct"]
    column: str | None = None

    @property
    def name(self) -> str:
        """What the column of the answer is called."""
        return f"{self.function}({self.column})" if self.column else self.function


@dataclass
class Order:
    """What the rows of the answer are sorted by.

    Attributes:
        column: A column of the answer, such as `city` or `sum(amount)`.
        descending: The largest first.
    """

    column: str
    descending: bool = False


@dataclass
class Question:
    """Everything that is asked of a table."""

    select: list[str]
    where: list[Condition]
    group_by: list[str]
    aggregates: list[Aggregate]
    sort: list[Order]
    limit: Annotated[int, Field(minimum=1)]


@dataclass
class Result:
    """The answer: a table of its own, and how much more there is."""

    columns: list[str]
    rows: list[Row]
    read: int
    matched: int
    found: int
    # For each column that is added up, the cells that are no numbers.
    skipped: dict[str, int] = field(default_factory=dict)


@dataclass
class _Group:
    """What is known of the rows of a group so far: for each function and column, of the cells that are filled."""

    rows: int = 0
    sums: dict[int, Decimal] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    skipped: Counter[int] = field(default_factory=Counter)
    smallest: dict[int, tuple[Key, str]] = field(default_factory=dict)
    largest: dict[int, tuple[Key, str]] = field(default_factory=dict)
    different: dict[int, set[str]] = field(default_factory=dict)

    def take(self, function: str, position: int, cell: str) -> None:
        """Takes one more cell."""
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
        """What the answer says."""
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
        InvalidArguments: A column is not there, or the parts of the question do not fit together.
        Failed: There is more than fits.
    """
    matching = _Matching(table, question.where)
    skipped: dict[str, int] = {}
    if question.group_by or question.aggregates:
        if question.select:
            raise InvalidArguments("`select` is for rows: with `group_by` or `aggregates` the answer has their columns")
        columns, rows, skipped = _grouped(table, question, matching)
        found = len(rows)
        rows = _first(Table(columns, iter(rows)), question)
    else:
        positions = [table.position(column) for column in question.select] or list(range(len(table.columns)))
        columns = [table.columns[position] for position in positions]
        whole = _first(Table(table.columns, matching), question)
        rows = [[row[position] for position in positions] for row in whole]
        # The rest go by to be counted.
        collections.deque(matching, maxlen=0)
        found = matching.matched
    return Result(columns, rows, matching.read, matching.matched, found, skipped)


class _Matching:
    """The rows that meet all conditions, counted as they go by."""

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
    """A number is neither less nor more than a text, and nothing is either."""
    return sort_key(cell)[0] == key[0]


def _grouped(table: Table, question: Question, matching: Iterable[Row]) -> tuple[list[str], list[Row], dict[str, int]]:
    """The columns and rows of the answer, and how many cells of which columns could not be added up."""
    keys = [table.position(column) for column in question.group_by]
    aggregates = question.aggregates or [Aggregate("count")]
    wanted = [(aggregate.function, _aggregated(table, aggregate)) for aggregate in aggregates]
    # An average is made of a sum: what several functions need is taken once.
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
    """Where the column of an aggregate is; rows are counted in none."""
    if aggregate.function == "count":
        return 0
    if aggregate.column is None:
        raise InvalidArguments(f"`{aggregate.function}` needs a `column`")
    return table.position(aggregate.column)


@functools.total_ordering
class _Descending:
    """A key that sorts the other way round."""

    def __init__(self, key: Key) -> None:
        self.key = key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Descending) and self.key == other.key

    def __lt__(self, other: "_Descending") -> bool:
        return other.key < self.key


def _first(table: Table, question: Question) -> list[Row]:
    """The rows that come first in the order asked for. No more of them are held."""
    if not question.sort:
        return list(itertools.islice(table.rows, question.limit))
    orders = [(table.position(order.column), order.descending) for order in question.sort]

    def key(row: Row) -> list[Key | _Descending]:
        return [_Descending(sort_key(row[at])) if descending else sort_key(row[at]) for at, descending in orders]

    return heapq.nsmallest(question.limit, table.rows, key)
