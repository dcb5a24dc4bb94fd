"""The command `convert`: a file of examples in another format, row by row.

Nothing is held but a block of rows. What has to be known of all rows before the first is written
(categories, the columns of JSON lines, the width of svmlight) takes a pass of its own.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ._cli_data import (
    check_header,
    check_options,
    column_blocks,
    display_name,
    format_of,
    is_empty,
    with_pipe_opened,
)
from ._cli_stream import encoded_blocks
from ._cli_terminal import Progress, UsageError, is_same_file, spelt, write_texts
from ._delimited import delimited_text
from ._files import check_writable, is_unseekable
from ._named_columns import Columns, class_labels
from ._params import shown
from ._stream_source import svmlight_blocks
from ._svmlight_writer import checked_labels, checked_rows, lines_of
from ._tables import format_of_name

__all__ = ["convert"]

_ROWS_AT_ONCE = 4096
_TARGETS = ("svmlight", "csv", "tsv", "jsonl")
_FOR_FEATURES = ("label", "text", "categorical", "ngrams", "n_features", "classes")
# Beyond this many cells per row a table is the wrong place for rows of svmlight.
_MOST_COLUMNS = 100_000
# What stands for the value of a key that an object of JSON lines lacks
_ABSENT = object()


def convert(args: Namespace) -> int:
    """Run `fastlin convert`."""
    to = args.to or (format_of_name(args.out) if args.out != "-" else None)
    if to not in _TARGETS:
        raise UsageError(
            f"--to must say the format of OUT ({', '.join(_TARGETS)})"
            + (f"; {to} can only be read." if to else ", whose name does not tell.")
        )
    if is_same_file(args.out, args.data):
        raise UsageError(f"OUT must not be the file of the data, {args.data}.")
    if args.out != "-":
        check_writable(args.out)
    pipe = args.data == "-" or is_unseekable(args.data)
    with Progress() as progress, with_pipe_opened(args):
        if is_empty(args.data):
            raise UsageError(f"{display_name(args.data)} is empty.")
        output = _counted(_pieces(args, to, pipe, progress), args, progress)
        try:
            write_texts(args.out, output, progress)
        except UnicodeEncodeError as error:
            around = error.object[max(error.start - 20, 0) : error.end + 20]
            raise UsageError(
                f"{display_name(args.data)} has half of a surrogate pair, which no file of UTF-8 "
                f"can hold, in {around!r}."
            ) from None
    return 0


def _counted(
    pieces: Iterable[tuple[int, str]], args: Namespace, progress: Progress
) -> Iterator[str]:
    """The text of some pieces, said."""
    n_rows = 0
    for count, text in pieces:
        yield text
        n_rows += count
        progress.say(f"writing {args.out}: {n_rows:,} rows")


def _pieces(
    args: Namespace, to: str, pipe: bool, progress: Progress
) -> Iterator[tuple[int, str]]:
    """(number of rows, their text), one piece after the other."""
    source, name = format_of(args), display_name(args.data)
    if source != "svmlight" and to == "svmlight":
        check_options(args, source, name)
        yield from _encoded(args, source, progress)
        return
    _refuse_options(args, source, name)
    if source != "svmlight":
        yield from _table_texts(_tables(args, source, to, pipe), to)
    elif to == "svmlight":
        check_header(args, source)
        for X, y in _examples(args):
            yield len(y), "".join(lines_of(X, checked_labels(y, len(y), False), None, 0))
    else:
        check_header(args, source)
        yield from _table_texts(_dense(args, to, pipe), to)


def _refuse_options(args: Namespace, source: str, name: str) -> None:
    """Refuse options that would have no effect."""
    for option in (*_FOR_FEATURES, *(("numeric",) if source == "svmlight" else ())):
        if getattr(args, option) is not None:
            what = f"{name} is svmlight" if source == "svmlight" else "OUT is a table, too"
            raise UsageError(
                f"--{option.replace('_', '-')} is for a table that becomes svmlight, but {what}."
            )


def _examples(args: Namespace) -> Iterator[tuple[Any, np.ndarray]]:
    """Blocks of an svmlight file; column j has the index j, whether those begin at 0 or 1."""
    is_first = True
    for rows, y in svmlight_blocks(args.data, None, True):
        is_first = False
        yield rows.to_csr(), y
    if is_first:
        raise UsageError(f"{display_name(args.data)} has no examples.")


def _encoded(
    args: Namespace, source: str, progress: Progress
) -> Iterator[tuple[int, str]]:
    """A table as svmlight; the first column has the index 1."""

    def target(table: Columns, kinds: list[str | None]) -> np.ndarray:
        return _label_numbers(args, table, kinds)

    # numbers stay as they are: whoever reads the file may scale them, and other files alike
    _, blocks = encoded_blocks(args, source, _ROWS_AT_ONCE, target, progress, scales=False)
    for X, y in blocks:
        labels = checked_labels(y, len(y), False)
        yield len(y), "".join(lines_of(checked_rows(X), labels, None, 1))


def _label_numbers(args: Namespace, table: Columns, kinds: list[str | None]) -> np.ndarray:
    """The column of labels as numbers: those that it holds, or places among --classes."""
    if args.classes is None:
        return table.numbers(
            args.label, "; --classes A,B,... numbers labels from 0 in the order of these names"
        )
    place = {name: k for k, name in enumerate(args.classes)}
    labels = [spelt(label) for label in class_labels(table, args.label, kinds).tolist()]
    for row, label in enumerate(labels):
        if label not in place:
            raise table.error_at(row, f"the label {shown(label)} is none of --classes")
    return np.array([place[label] for label in labels])


def _tables(args: Namespace, source: str, to: str, pipe: bool) -> Iterator[dict[str, list]]:
    """The columns of a table, all in each block."""
    names: dict[str, None] = {}
    if source == "jsonl" and to != "jsonl":
        if pipe:
            raise UsageError(
                "JSON lines are read twice, since any line may bring another column; a pipe can't "
                "be: write it to a file first."
            )
        for block in column_blocks(args, source, _ROWS_AT_ONCE):
            names |= dict.fromkeys(block.columns)
    absent = _ABSENT if to == "jsonl" else None
    for table in column_blocks(args, source, _ROWS_AT_ONCE, tuple(names), absent):
        columns = {name: list(table.columns[name]) for name in names or table.columns}
        for name in columns if args.numeric == "all" else args.numeric or ():
            column = [None if value is _ABSENT else value for value in table.column(name)]
            table.columns[name] = column
            columns[name] = [_number(value) for value in table.numbers(name).tolist()]
        _refuse(table, columns, (bytes,) if to == "jsonl" else (bytes, dict, list))
        yield columns


def _refuse(table: Columns, columns: dict[str, list], kinds: tuple[type, ...]) -> None:
    """Refuse values of some kinds, which no cell can hold."""
    for name, values in columns.items():
        for row, value in enumerate(values):
            if isinstance(value, kinds):
                raise table.error_at(row, f"{name!r} holds {shown(value)}, which is no single cell")


def _dense(args: Namespace, to: str, pipe: bool) -> Iterator[dict[str, list]]:
    """An svmlight file as columns "label", "0", "1", ..."""
    if pipe:
        raise UsageError(
            f"svmlight is read twice to become {to}, for only its end tells how many columns there "
            "are; a pipe can't be: write it to a file first."
        )
    width = 0
    for X, _ in _examples(args):
        width = max(width, X.shape[1])
    if width > _MOST_COLUMNS:
        raise UsageError(
            f"{display_name(args.data)} has {width:,} columns; a table is written for up to "
            f"{_MOST_COLUMNS:,}."
        )
    step = max(1, (1 << 20) // width)
    for matrix, y in _examples(args):
        matrix.resize((matrix.shape[0], width))
        for start in range(0, len(y), step):
            cells = matrix[start : start + step].toarray().T.tolist()
            labels = [_number(value) for value in y[start : start + step].tolist()]
            columns = ([_number(value) for value in column] for column in cells)
            yield {"label": labels, **dict(zip(map(str, range(width)), columns, strict=True))}


def _number(value: float) -> float | int:
    """A number that is written without a point if it is whole."""
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def _table_texts(blocks: Iterable[dict[str, list]], to: str) -> Iterator[tuple[int, str]]:
    """Columns as text of a table."""
    is_first = True
    for columns in blocks:
        rows = list(zip(*columns.values(), strict=True))
        if to == "jsonl":
            # What JSON has no form for, such as a date, is a text, as it is in a cell.
            encoder = json.JSONEncoder(ensure_ascii=False, default=spelt)
            objects = [dict(zip(columns, row, strict=True)) for row in rows]
            given = ({k: v for k, v in each.items() if v is not _ABSENT} for each in objects)
            text = "".join(encoder.encode(each) + "\n" for each in given)
        else:
            cells: list[Iterable[str]] = [list(map(_cell, row)) for row in rows]
            if is_first:
                cells.insert(0, columns)
            text = delimited_text(cells, "\t" if to == "tsv" else ",")
        is_first = False
        yield len(rows), text


def _cell(value: Any) -> str:
    """A value as the text of a cell; None is an empty one."""
    return "" if value is None else value if isinstance(value, str) else spelt(value)
