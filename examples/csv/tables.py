"""Reads CSV files. Detects the delimiter and the encoding; cells are texts until they are compared."""

import codecs
import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

from portcullis import Denied, Failed, InvalidArguments

# Number of characters to detect the delimiter from: some hundred rows.
SAMPLE_CHARS = 32_768
DELIMITERS = ",;\t|"
# Maximum length of a cell. A longer one is probably an unclosed quote.
CELL_CHARS_MAX = 1_000_000
# Maximum number of columns. A model cannot query a wider table, and each row would take too much memory.
COLUMNS_MAX = 1_000
# Maximum absolute exponent of a number to sum, so that sums and averages fit the 28 digits of `decimal`.
SUMMED_EXPONENT_MAX = 15

Row = list[str]
Key = tuple[int, Decimal, str]


# Cells in quotes, which may hold delimiters and lines.
_QUOTED = re.compile(r'(?:^|(?<=[\n,;\t|]))"(?:[^"]|"")*"')


@dataclass
class Table:
    """An open CSV file. `cut` counts the rows so far that have more cells than columns."""

    columns: list[str]
    rows: Iterator[Row]
    cut: int = 0

    def position(self, column: str) -> int:
        """Returns the position of a column.

        Raises:
            InvalidArguments: The column does not exist; the text lists the columns.
        """
        if column in self.columns:
            return self.columns.index(column)
        matches = [index for index, name in enumerate(self.columns) if name.casefold() == column.strip().casefold()]
        if len(matches) != 1:
            raise InvalidArguments(f"there is no column `{column}`; the columns are {', '.join(self.columns)}")
        return matches[0]


@contextmanager
def opened(folder: Path, path: str) -> Iterator[Table]:
    """Opens a CSV file of the folder. Its first row names the columns.

    Raises:
        Failure: It cannot be read, or it is not a CSV file.
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
        raise InvalidArguments(f"{path} cannot be read: {error.strerror}; use `files` to list the files") from error
    except csv.Error as error:
        raise Failed(f"{path} is not a CSV file: {error}") from error


def number(cell: str) -> Decimal | None:
    """Parses a cell as a number with all digits; None if it is not a number."""
    # Check the first character first: an exception for each text cell would be slow.
    if not cell or cell[0] not in "+-.0123456789":
        return None
    try:
        value = Decimal(cell)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def summand(cell: str) -> Decimal | None:
    """Parses a cell as a number that can be summed; None for others such as `1e999`.

    Uses Decimal, so that sums of prices are exact.
    """
    value = number(cell)
    return value if value is not None and abs(value.adjusted()) <= SUMMED_EXPONENT_MAX else None


def sort_key(cell: str) -> Key:
    """Returns a sort key: numbers by size, then texts in alphabetical order, then empty cells."""
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
    """Returns the names of the columns. Missing and duplicate names get a number."""
    columns: list[str] = []
    taken: set[str] = set()
    for position, name in enumerate(names, start=1):
        name = name.strip()
        columns.append(name if name and name not in taken else f"{name or 'column'} {position}")
        taken.add(columns[-1])
    return columns


def _whole_rows(reader: Iterator[Row], table: Table) -> Iterator[Row]:
    """Yields the rows, each as long as the first. Skips empty lines."""
    width = len(table.columns)
    for row in reader:
        if row:
            cells = [cell.strip() for cell in row[:width]]
            table.cut += any(cell.strip() for cell in row[width:])
            yield cells + [""] * (width - len(cells))
