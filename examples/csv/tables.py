"""Reads CSV files: the delimiter and the encoding are found out, and cells are texts until they are compared."""

import codecs
import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from portcullis import Denied, Failed, InvalidArguments

# How much of a file is looked at to find its delimiter: some hundred rows.
SAMPLE_CHARS = 32_768
DELIMITERS = ",;\t|"
# A cell that is longer is a document in quotes, or a quote that nobody closed.
CELL_CHARS_MAX = 1_000_000
# A table that is wider is no table that a model can ask about; each row of it would take the memory of its cells.
COLUMNS_MAX = 1_000
# Powers of ten of a number that is added up, up and down: so sums and averages fit the 28 digits that `decimal` has.
SUMMED_EXPONENT_MAX = 15

Row = list[str]
Key = tuple[int, Decimal, str]


# Cells in quotes, which may hold delimiters and lines.
_QUOTED = re.compile(r'(?:^|(?<=[\n,;\t|]))"(?:[^"]|"")*"')


@dataclass
class Table:
    """A CSV file that is being read. `cut` counts the rows so far that have more cells than there are columns."""

    columns: list[str]
    rows: Iterator[Row]
    cut: int = 0

    def position(self, column: str) -> int:
        """Where a column is.

        Raises:
            InvalidArguments: There is none of that name; the text says which there are.
        """
        if column in self.columns:
            return self.columns.index(column)
        matches = [index for index, name in enumerate(self.columns) if name.casefold() == column.strip().casefold()]
        if len(matches) != 1:
            raise InvalidArguments(f"there is no column `{column}`; there are {', '.join(self.columns)}")
        return matches[0]


@contextmanager
def opened(folder: Path, path: str) -> Iterator[Table]:
    """Opens a CSV file of the folder. Its first row names the columns.

    Raises:
        Failure: It cannot be read, or it is no CSV file.
    """
    try:
        with open(folder / path, encoding=_encoding(folder / path), errors="replace", newline="") as file:
            sample = file.read(SAMPLE_CHARS)
            file.seek(0)
            csv.field_size_limit(CELL_CHARS_MAX)
            reader = csv.reader(file, delimiter=_delimiter(sample))
            names = next(reader, None)
            if not names:
                raise Failed(f"{path} is empty")
            if len(names) > COLUMNS_MAX:
                raise Failed(f"{path} has {len(names)} columns; a table has at most {COLUMNS_MAX}")
            table = Table(_columns(names), iter(()))
            table.rows = _whole_rows(reader, table)
            yield table
    except PermissionError as error:
        raise Denied(f"{path} cannot be read: {error.strerror}") from error
    except OSError as error:
        raise InvalidArguments(f"{path} cannot be read: {error.strerror}; `files` lists what there is") from error
    except csv.Error as error:
        raise Failed(f"{path} is no CSV file: {error}") from error


def number(cell: str) -> Decimal | None:
    """The cell as a number with all of its digits, if it is one."""
    # Most texts are told by their first character; an exception for each cell would take its time.
    if not cell or cell[0] not in "+-.0123456789":
        return None
    try:
        value = Decimal(cell)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def summand(cell: str) -> Decimal | None:
    """The cell as a number, if it is one that can be added up: `1e999` cannot.

    Decimal, so that sums of prices come out as people add them.
    """
    value = number(cell)
    return value if value is not None and abs(value.adjusted()) <= SUMMED_EXPONENT_MAX else None


def sort_key(cell: str) -> Key:
    """Numbers by their size, then texts in the order of the alphabet, then what is empty."""
    if not cell:
        return (2, Decimal(0), "")
    value = number(cell)
    return (1, Decimal(0), cell.casefold()) if value is None else (0, value, "")


def _encoding(file: Path) -> str:
    with open(file, "rb") as stream:
        start = stream.read(SAMPLE_CHARS)
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        # The last character of the sample may be cut in two; that of the file may not.
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < SAMPLE_CHARS)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _delimiter(sample: str) -> str:
    first = _QUOTED.sub("", sample).partition("\n")[0]
    return max(DELIMITERS, key=first.count)


def _columns(names: Row) -> list[str]:
    """The names of the columns; a number takes the place of one that is missing or there twice."""
    columns: list[str] = []
    taken: set[str] = set()
    for position, name in enumerate(names, start=1):
        name = name.strip()
        columns.append(name if name and name not in taken else f"{name or 'column'} {position}")
        taken.add(columns[-1])
    return columns


def _whole_rows(reader: Iterator[Row], table: Table) -> Iterator[Row]:
    """The rows, each as long as the first; empty lines are left out."""
    width = len(table.columns)
    for row in reader:
        if row:
            cells = [cell.strip() for cell in row[:width]]
            table.cut += any(cell.strip() for cell in row[width:])
            yield cells + [""] * (width - len(cells))
