"""The plugin csv: answers questions about CSV files."""

from collections.abc import Mapping
from typing import Annotated

from portcullis import Context, Field, Plugin

from columns import Column
from queries import Aggregate, Condition, Order, Question, ask
from tables import Row, Table, opened

plugin = Plugin("csv", version="0.1.0", description="Answers questions about CSV files.")
plugin.directory("files", "The folder of the CSV files.")

# Maximum files to list.
FILES_MAX = 200
# Maximum and default number of rows in an answer.
ROWS_SHOWN_MAX = 200
ROWS_SHOWN = 20
# Maximum characters of a cell to show.
CELL_SHOWN_CHARS = 120
# Number of rows between two progress reports.
ROWS_PER_REPORT = 50_000


@plugin.tool(requires=["read"], read_only=True, idempotent=True)
def files(context: Context) -> str:
    """Lists the CSV files in the folder and below it, with their sizes."""
    folder = context.directory("files")
    # `is_file` also skips dangling links.
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".csv", ".tsv") and path.is_file())
    if not found:
        return "There is no CSV file in the folder."
    rows = [[str(path.relative_to(folder)), str(path.stat().st_size)] for path in found[:FILES_MAX]]
    rest = f"\n\n{len(found) - FILES_MAX} more are not shown." if len(found) > FILES_MAX else ""
    return _markdown(["file", "bytes"], rows) + rest


@plugin.tool(requires=["read"], read_only=True, idempotent=True)
def describe(path: str, context: Context) -> str:
    """Describes a CSV file: its number of rows, and for each column the type, how many cells are filled, the range of
    its values and the most frequent ones. Call this before you query a file.

    Args:
        path: The file, as `files` lists it.
    """
    with opened(context.directory("files"), path) as table:
        columns = [Column(name) for name in table.columns]
        rows = 0
        for row in table.rows:
            rows += 1
            for column, cell in zip(columns, row, strict=True):
                column.add(cell)
            if rows % ROWS_PER_REPORT == 0:
                context.check_cancelled()
                context.progress(f"read {rows} rows")
    heads = ["column", "type", "filled", "empty", "different", "range", "most frequent"]
    facts = _markdown(heads, [column.facts() for column in columns])
    return f"{path}: {rows} rows, {len(columns)} columns\n\n{facts}{_left_out(table)}"


@plugin.tool(requires=["read"], read_only=True, idempotent=True)
def query(
    path: str,
    context: Context,
    select: list[str] | None = None,
    where: list[Condition] | None = None,
    group_by: list[str] | None = None,
    aggregates: list[Aggregate] | None = None,
    sort: list[Order] | None = None,
    limit: Annotated[int, Field(minimum=1, maximum=ROWS_SHOWN_MAX)] = ROWS_SHOWN,
) -> str:
    """Answers a question about a CSV file with a table: rows that meet conditions, or numbers for groups of them.

    Example: where [{"column": "year", "test": "at-least", "value": 2020}], group_by ["city"], aggregates [{"function":
    "sum", "column": "amount"}], sort [{"column": "sum(amount)", "descending": true}], limit 5.

    Args:
        path: The file, as `files` lists it.
        select: The columns of the answer; all by default.
        where: The conditions; a row must meet all of them.
        group_by: The columns whose values make a group.
        aggregates: The numbers for each group, or for all rows without `group_by`.
        sort: The order of the answer; later entries break ties of earlier ones.
        limit: How many rows to show.
    """
    question = Question(select or [], where or [], group_by or [], aggregates or [], sort or [], limit)
    with opened(context.directory("files"), path) as table:
        result = ask(table, question)
        left_out = _left_out(table, result.skipped)
    what = "group" if question.group_by else "row"
    found = f"{result.found} {what}{'' if result.found == 1 else 's'}"
    shown = f"{len(result.rows)} of {found}" if len(result.rows) < result.found else found
    return (
        f"{shown}; {result.matched} of {result.read} rows match\n\n{_markdown(result.columns, result.rows)}{left_out}"
    )


def _left_out(table: Table, skipped: Mapping[str, int] | None = None) -> str:
    """Returns notes about what the answer leaves out."""
    notes = [
        f"In `{column}`, {cells} {'cell is not a plain number and is' if cells == 1 else 'cells are not plain numbers and are'} "
        "left out of sums and averages."
        for column, cells in (skipped or {}).items()
    ]
    if table.cut:
        rows = "1 row has" if table.cut == 1 else f"{table.cut} rows have"
        notes.append(f"{rows} more cells than the file has columns; what is beyond them is left out.")
    return "".join(f"\n\n{note}" for note in notes)


def _markdown(heads: list[str], rows: list[Row]) -> str:
    """Formats a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(cell: str) -> str:
    text = " ".join(cell.split()).replace("|", "\\|")
    return text if len(text) <= CELL_SHOWN_CHARS else text[: CELL_SHOWN_CHARS - 1] + "…"
