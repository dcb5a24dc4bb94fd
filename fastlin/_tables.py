"""Delimited tables, JSON lines and Parquet as named columns of Python values.

What stands in a file stays as it is: cells of CSV and TSV are strings (what is a number is for the
caller to say), JSON values are what `json` makes of them. Within the package, columns of CSV and
TSV are `Cells`, which become lists for users. Every row remembers the line it began on, so that a
later complaint about a value can still name it. Files are read in blocks of rows; a whole table is
all of them, joined.
"""

from __future__ import annotations

import errno
import io
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ._cells import Cells, joined_cells
from ._decimal import number_of
from ._delimited import checked_pieces, decoded_lines, delimited_columns, separator_hint
from ._files import (
    COMPRESSED,
    beginning_of_stdin,
    is_unseekable,
    opened_for_reading,
    opened_once,
    readable,
)
from ._params import Boolean, Either, Integer, OneOf, shown
from ._targets import listed

__all__ = [
    "Closing", "Table", "cell_blocks", "detect_format", "format_of_name", "joined",
    "listed_columns", "named_column", "read_table", "table_blocks",
]  # fmt: skip

_BY_EXTENSION = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_TABLES = ("csv", "tsv", "jsonl", "parquet")
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_SVMLIGHT_LINE = re.compile(r"\s*[-+.\d]\S*(\s+qid:\S+)?(\s+\d+:\S+)+\s*(#.*)?$")
_ROWS_AT_ONCE = 4096
_LOOK_AHEAD = 1 << 16
# Columns that a message lists
_MOST_NAMES = 30



class Table(NamedTuple):
    """Named columns of equal length.

    Attributes
    ----------
    columns : dict of str to list
        The values of each column, in the order of the file.
    lines : list of int
        The line of the file on which each row begins, from 1; of Parquet, the number of the row.
    name : str
        The file's name in messages.
    unit : {"line", "row"}
        What `lines` counts.
    """

    columns: dict[str, list]
    lines: list[int]
    name: str
    unit: str = "line"

    def column(self, name: str) -> list:
        """Return one column; ValueError that lists those there are if it is missing."""
        return named_column(self.columns, name, self.name)

    def error_at(self, row: int, message: str) -> ValueError:
        """Write the error for a row, with the line it begins on."""
        return ValueError(f"{self.name}, {self.unit} {self.lines[row]}: {message}.")


class Closing(NamedTuple):
    """That all columns of JSON lines are those of the first block, and some more.

    Attributes
    ----------
    names : sequence of str
        Keys that may come up later.
    remedy : str
        What to do about any other one, the end of the error.
    """

    names: Sequence[str]
    remedy: str

    def check(
        self, rows: list[dict], keys: Iterable[str], known: set[str], name: str,
        batch: list[tuple[int, str]],
    ) -> None:
        """Raise for the first key of a later block that is not known."""
        new = next((key for key in keys if key not in known), None)
        if new is not None:
            row = next(row for row, given in enumerate(rows) if new in given)
            raise ValueError(
                f"{name}, line {batch[row][0]}: the key {new!r} comes up too late to be a column, "
                f"for the rows before it are encoded by now; {self.remedy}."
            )


def listed_columns(names: Sequence[str]) -> str:
    """Write the names of columns for a message; a table has few, or more than anyone reads."""
    return listed(names, _MOST_NAMES)


def named_column(columns: Mapping[str, Sequence], name: str, file: str) -> Any:
    """Return one column; ValueError that lists those there are if it is missing."""
    if name not in columns:
        there = listed_columns(list(columns)) + separator_hint(list(columns))
        raise ValueError(f"{file} has no column {name!r}; its columns are {there}.")
    return columns[name]


def read_table(source: Any, format: str | None = None, *, header: bool | str = True) -> Table:
    """Read a CSV, TSV, JSON-lines or Parquet file.

    Parameters
    ----------
    source : str, path-like, binary file object, int or bytes
        As for `fastlin.io.load_svmlight_file`; "-" is standard input. UTF-8, with or without a
        byte order mark. Parquet needs pyarrow, and a file that can seek.
    format : {"csv", "tsv", "jsonl", "parquet"}, default=None
        By default what `detect_format` finds.
    header : bool or "auto", default=True
        Whether the first row of a CSV or TSV file holds the names of the columns; otherwise they
        are "0", "1", ... "auto" takes it for names if its cells are all different, none is empty
        or a number, and none occurs again in its own column. JSON lines carry their names.

    Returns
    -------
    Table
        Cells of CSV and TSV are strings; empty lines are skipped. JSON values are kept as they
        are, and None stands where an object lacks a key that others have.

    Raises
    ------
    ValueError
        With file and line for rows of different lengths, bad quoting, bad JSON and bad UTF-8; also
        for empty files, repeated names, damaged compressed files and svmlight files.
    TypeError
        If `source` is nothing of the above.

    Examples
    --------
    >>> from fastlin.io import read_table
    >>> table = read_table(b"text,label\\n\\"Hello, you\\",ham\\n", "csv")
    >>> table.columns
    {'text': ['Hello, you'], 'label': ['ham']}
    >>> read_table(b'{"a": 1}\\n{"b": [2]}\\n', "jsonl").columns
    {'a': [1, None], 'b': [None, [2]]}
    """
    Either(Boolean(), OneOf("auto")).check("header", header)
    # whether names occur again in their columns only the whole file tells
    table = _listed(joined(cell_blocks(source, format, header=bool(header) and header != "auto")))
    if header == "auto" and table.unit == "line" and list(table.columns) == _numbered(table):
        return _with_names(table)
    return table


def table_blocks(
    source: Any,
    format: str | None = None,
    *,
    header: bool = True,
    columns: Sequence[str] = (),
    n_rows: int = _ROWS_AT_ONCE,
) -> Iterator[Table]:
    """Read a CSV, TSV, JSON-lines or Parquet file in blocks of rows.

    Parameters
    ----------
    source, format
        As for `read_table`.
    header : bool, default=True
        Whether the first row of a CSV or TSV file holds the names of the columns; otherwise they
        are "0", "1", ...
    columns : sequence of str, default=()
        Columns that each block of JSON lines has, with None where no object has such a key. Of a
        Parquet file, the only ones that are read, if there are any.
    n_rows : int, default=4096
        Rows per block; the last block may have fewer. A row group of Parquet ends a block.

    Yields
    ------
    Table
        As `read_table` returns it; the first has no rows if the file holds nothing but a header.

    Raises
    ------
    ValueError, TypeError
        As `read_table`, when the block that is concerned is asked for.

    Examples
    --------
    >>> from fastlin.stream import table_blocks
    >>> [block.columns for block in table_blocks(b"a,b\\n1,2\\n3,4\\n5,6\\n", "csv", n_rows=2)]
    [{'a': ['1', '3'], 'b': ['2', '4']}, {'a': ['5'], 'b': ['6']}]
    """
    blocks = cell_blocks(source, format, header=header, columns=columns, n_rows=n_rows)
    return (_listed(block) for block in blocks)


def cell_blocks(
    source: Any,
    format: str | None = None,
    *,
    header: bool = True,
    columns: Sequence[str] = (),
    n_rows: int = _ROWS_AT_ONCE,
    absent: Any = None,
    closing: Closing | None = None,
) -> Iterator[Table]:
    """`table_blocks` with columns of CSV and TSV as `Cells`, and `absent` where an object of JSON
    lines lacks a key; with `closing`, further keys of JSON lines are an error."""
    OneOf(None, *_TABLES).check("format", format)
    Boolean().check("header", header)
    Integer(1).check("n_rows", n_rows)
    objects = partial(
        _json_blocks, wanted=list(columns), n_rows=int(n_rows), absent=absent, closing=closing
    )
    return _blocks(source, format, header, list(columns), int(n_rows), objects)


def _listed(table: Table) -> Table:
    """The table with lists for columns."""
    columns = {
        name: column.tolist() if isinstance(column, Cells) else column
        for name, column in table.columns.items()
    }
    return table._replace(columns=columns)


def _blocks(
    source: Any, format: str | None, header: bool, columns: list[str], n_rows: int,
    objects: Callable[[Iterable[str], str], Iterator[Table]],
) -> Iterator[Table]:
    """`table_blocks`, of checked arguments; `objects` makes blocks of JSON lines."""
    if format is None:
        format = format_of_name(source)
    if format is None and is_unseekable(source):
        with opened_once(source) as stream:
            yield from _blocks(stream, detect_format(stream), header, columns, n_rows, objects)
        return
    if format is None:
        format = detect_format(source)
    with opened_for_reading(source) as (stream, name):
        if format == "svmlight":
            raise ValueError(f"{name} is an svmlight file; read it with load_svmlight_file.")
        if format == "parquet":
            from ._parquet import parquet_blocks

            for values, numbers in parquet_blocks(stream, name, columns, n_rows):
                yield Table(values, numbers, name, "row")
        elif format == "jsonl":
            yield from objects(decoded_lines(stream, name), name)
        else:
            pieces = checked_pieces(stream, name)
            for named, numbers in delimited_columns(
                pieces, name, _DELIMITERS[format], header, n_rows
            ):
                yield Table(named, numbers, name)


def joined(blocks: Iterable[Table]) -> Table:
    """One table of all blocks; keys that come up late are None before."""
    blocks = iter(blocks)
    first = next(blocks)
    if first.columns and all(isinstance(column, Cells) for column in first.columns.values()):
        tables = [first, *blocks]
        lines = list(itertools.chain.from_iterable(table.lines for table in tables))
        return first._replace(
            columns=joined_cells([table.columns for table in tables]), lines=lines
        )
    return _joined_lists(itertools.chain([first], blocks))


def _joined_lists(blocks: Iterable[Table]) -> Table:
    """The same for lists."""
    columns: dict[str, list] = {}
    numbers: list[int] = []
    name, unit = "", "line"
    for block in blocks:
        name, unit = block.name, block.unit
        for key in block.columns:
            if key not in columns:
                columns[key] = [None] * len(numbers)
        nothing = [None] * len(block.lines)
        for key, column in columns.items():
            column.extend(block.columns.get(key, nothing))
        numbers += block.lines
    return Table(columns, numbers, name, unit)


def _numbered(table: Table) -> list[str]:
    """The names of columns that have none."""
    return list(map(str, range(len(table.columns))))


def _with_names(table: Table) -> Table:
    """The table with its first row for names, if that looks like some."""
    first = [column[0] for column in table.columns.values()]
    columns = [column[1:] for column in table.columns.values()]
    if any(not isinstance(cell, str) for cell in first) or not _are_names(first, columns):
        return table
    return Table(dict(zip(first, columns, strict=True)), table.lines[1:], table.name)


def detect_format(source: Any) -> str:
    """Tell the format of a file: "svmlight", "csv", "tsv", "jsonl" or "parquet".

    The extension decides (before .gz, .bz2 or .xz). For any other, such as .txt, and where there
    is no name, the first line that is neither empty nor a comment does: features mean svmlight, a
    brace JSON lines, a tab TSV, the bytes PAR1 Parquet, and anything else is CSV.

    Parameters
    ----------
    source : str, path-like, binary file object, int or bytes
        As for `fastlin.io.load_svmlight_file`. Nothing is consumed of an open file or of standard
        input ("-").

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If an open file can neither peek nor seek, or a path leads to a pipe.

    Examples
    --------
    >>> from fastlin.io import detect_format
    >>> detect_format("train.svm.gz")
    'svmlight'
    >>> detect_format(b"-1 3:0.5 9:1\\n")
    'svmlight'
    """
    known = format_of_name(source)
    if known is not None:
        return known
    if isinstance(source, str) and source == "-":
        return _format_of_text(beginning_of_stdin(_LOOK_AHEAD))
    if is_unseekable(source):
        raise ValueError(_cannot_tell(source))
    with opened_for_reading(source) as (stream, name), readable(stream, name):
        if hasattr(stream, "peek") and hasattr(source, "read"):
            return _format_of_text(stream.peek(_LOOK_AHEAD))
        try:
            position = stream.tell()
            text = stream.read(_LOOK_AHEAD)
            stream.seek(position)
        except (AttributeError, OSError) as error:
            is_unable = isinstance(error, (AttributeError, io.UnsupportedOperation))
            # Of a pipe, the system itself says that it cannot seek.
            if not is_unable and getattr(error, "errno", None) != errno.ESPIPE:
                raise
            raise ValueError(_cannot_tell(name)) from None
        return _format_of_text(text)


def _cannot_tell(name: Any) -> str:
    """Write that a format cannot be told without losing what was read."""
    return (
        f"the format of {name} can't be told without reading it; pass format='csv', 'tsv' or "
        "'jsonl'."
    )


def format_of_name(source: Any) -> str | None:
    """Return the format that a path's extension stands for, if it does."""
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return None
    stem, extension = os.path.splitext(os.fspath(source))
    if extension.lower() in COMPRESSED:
        extension = os.path.splitext(stem)[1]
    return _BY_EXTENSION.get(extension.lower())


def _format_of_text(text: bytes) -> str:
    """Return the format that the first line with content looks like."""
    if text.startswith(b"PAR1"):
        return "parquet"
    complete = b"\n" in text
    for line in text.decode("utf-8-sig", "replace").splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not complete and " " in line:
            # The last word may be cut.
            line = line.rpartition(" ")[0]
        if _SVMLIGHT_LINE.match(line):
            return "svmlight"
        if line.lstrip().startswith(("{", "[")):
            return "jsonl"
        return "tsv" if "\t" in line else "csv"
    return "csv"


def _are_names(first: list[str], columns: list[list[str]]) -> bool:
    """Tell whether the first row looks like the names of the columns."""
    if len(set(first)) < len(first):
        return False
    return not any(
        not cell.strip() or _is_number(cell) or cell in column
        for cell, column in zip(first, columns, strict=True)
    )


def _is_number(cell: str) -> bool:
    """Tell whether a cell reads as a number."""
    try:
        number_of(cell)
    except ValueError:
        return False
    return True


def _json_blocks(
    lines: Iterable[str], name: str, wanted: list[str], n_rows: int, absent: Any,
    closing: Closing | None,
) -> Iterator[Table]:
    """Read a file with one JSON object a line."""
    filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    is_empty = True
    while batch := list(itertools.islice(filled, n_rows)):
        rows = [_json_object(line, name, number) for number, line in batch]
        keys = dict.fromkeys(itertools.chain(*rows, wanted))
        if closing is not None and not is_empty:
            closing.check(rows, keys, {*wanted, *closing.names}, name, batch)
        columns = {key: [row.get(key, absent) for row in rows] for key in keys}
        yield Table(columns, [number for number, _ in batch], name)
        is_empty = False
        wanted = wanted if closing is None else list(keys)
    if is_empty:
        raise ValueError(f"{name} is empty.")


def _json_object(line: str, name: str, number: int) -> dict[str, Any]:
    """Parse one line, which must hold an object."""
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{name}, line {number}: bad JSON at character {error.colno}: {error.msg}."
        ) from None
    except ValueError as error:  # an integer of thousands of digits
        raise ValueError(f"{name}, line {number}: {error}.") from None
    except RecursionError:
        raise ValueError(f"{name}, line {number}: JSON is nested too deeply.") from None
    if not isinstance(row, dict):
        raise ValueError(
            f"{name}, line {number}: one JSON object a line is expected, got {shown(row)}."
        )
    return row
