"""Files of examples as the shell reads them: a target, and features or columns that hold them."""

from __future__ import annotations

import contextlib
import itertools
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._cli_arguments import option_of
from ._cli_encoder import ColumnEncoder
from ._cli_terminal import UsageError
from ._delimited import decoded_lines, separator_hint
from ._files import beginning_of_stdin, is_unseekable, opened_for_reading, opened_once
from ._named_columns import Columns, class_labels
from ._params import shown
from ._tables import Closing, Table, cell_blocks, joined, listed_columns, named_column
from .io import detect_format, load_svmlight_file

__all__ = [
    "Examples",
    "check_header",
    "check_options",
    "checked_targets",
    "column_blocks",
    "display_name",
    "format_of",
    "is_empty",
    "line_blocks",
    "make_encoder",
    "read_columns",
    "read_examples",
    "read_svmlight",
    "target_numbers",
    "whole_labels",
    "with_pipe_opened",
]

# So that no file has rows enough for the sum of the squares to overflow
_LARGEST_TARGET = float(np.sqrt(np.finfo(np.float64).max)) / 2.0**32
_TOO_LARGE = "so large that sums of squares overflow: divide the targets by a constant"
_COLUMN_OPTIONS = ("label", "text", "categorical", "numeric", "ngrams", "n_features")


class Examples(NamedTuple):
    """What a model is trained on.

    Attributes
    ----------
    X : csr_matrix or Columns
        Features of svmlight, or the columns of a table.
    y : ndarray
        Labels or numbers.
    encoder : ColumnEncoder or None
        Not fitted; makes features of the columns.
    name : str
        The name of the file in messages.
    """

    X: Any
    y: np.ndarray
    encoder: ColumnEncoder | None
    name: str


def format_of(args: Namespace) -> str:
    """Return the format of the data: as the user says, else as it looks."""
    return args.format or detect_format(args.data)


@contextlib.contextmanager
def with_pipe_opened(args: Namespace) -> Iterator[None]:
    """Have an open stream, which can be peeked at, in the place of the path of a pipe."""
    path = args.data
    if not is_unseekable(path):
        yield
        return
    with opened_once(path) as args.data:
        yield
    args.data = path


def is_empty(data: Any) -> bool:
    """Tell whether there is nothing to read, without consuming any of a pipe."""
    if hasattr(data, "peek"):
        return not data.peek(1)
    return not (beginning_of_stdin(1) if data == "-" else os.path.getsize(data))


def display_name(data: Any) -> str:
    """Return the name of a file in messages."""
    return "standard input" if data == "-" else getattr(data, "name", data)


def read_svmlight(args: Namespace) -> tuple[Any, np.ndarray]:
    """Read an svmlight file; column j has the index j, whether those begin at 0 or 1."""
    check_header(args, "svmlight")
    X, y = load_svmlight_file(args.data, zero_based=True)
    if X.shape[0] == 0:
        raise UsageError(f"{display_name(args.data)} has no examples.")
    return X, y


def check_header(args: Namespace, format: str) -> None:
    """Refuse --no-header where there is none anyway."""
    if args.no_header and format == "svmlight":
        raise UsageError("--no-header is for CSV and TSV; svmlight has no header.")
    if args.no_header and format not in ("csv", "tsv"):
        what = "JSON lines carry" if format == "jsonl" else "Parquet carries"
        raise UsageError(f"--no-header is for CSV and TSV; {what} the names of columns.")


def read_columns(args: Namespace, format: str) -> Columns:
    """Read a table."""
    check_header(args, format)
    table = joined(cell_blocks(args.data, format, header=not args.no_header))
    if not table.lines:
        raise _no_rows(args)
    return _named(args, format, table)


def column_blocks(
    args: Namespace, format: str, n_rows: int, wanted: Sequence[str] = (), absent: Any = None,
    *, required: Sequence[str] = (), closing: Closing | None = None,
) -> Iterator[Columns]:
    """Read a table in blocks, none of which is empty.

    Those of JSON lines have the columns `wanted` and `required`, with `absent` where a key is. That
    a key which is `required` never occurs is an error once all is read. `closing` is that of
    `cell_blocks`.
    """
    check_header(args, format)
    is_first, lacking = True, dict.fromkeys(required if format == "jsonl" else ())
    there: dict[str, None] = {}
    for table in cell_blocks(
        args.data, format, header=not args.no_header, columns=wanted if format == "jsonl" else (),
        n_rows=n_rows, absent=absent, closing=closing,
    ):
        if not table.lines:
            continue
        if lacking:
            there |= dict.fromkeys(table.columns)
            lacking = {name: None for name in lacking if name not in there}
        if format == "jsonl":
            for name in required:
                table.columns.setdefault(name, [absent] * len(table.lines))
        is_first = False
        yield _named(args, format, table)
    if is_first:
        raise _no_rows(args)
    for name in lacking:
        named_column(dict.fromkeys(there, ()), name, display_name(args.data))


def _no_rows(args: Namespace) -> UsageError:
    """Return the error for a table without rows."""
    return UsageError(f"{display_name(args.data)} has no rows after its header.")


def _named(args: Namespace, format: str, table: Table) -> Columns:
    """Return a table, or a block of one, that knows where its names come from."""
    has_header = format in ("csv", "tsv") and not args.no_header
    return Columns(table.columns, table.lines, table.name, has_header, table.unit)


def line_blocks(args: Namespace, n_rows: int) -> Iterator[Columns]:
    """Read a file in which each line is one text, in blocks."""
    with opened_for_reading(args.data) as (stream, name):
        lines, start = decoded_lines(stream, name), 1
        while texts := [line.removesuffix("\n") for line in itertools.islice(lines, n_rows)]:
            yield Columns({"text": texts}, list(range(start, start + len(texts))), name)
            start += len(texts)
        if start == 1:
            raise UsageError(f"{name} is empty.")


def read_examples(args: Namespace, is_regression: bool) -> Examples:
    """Read what a model is to be trained on."""
    format, name = format_of(args), display_name(args.data)
    check_options(args, format, name)
    if format == "svmlight":
        X, y = read_svmlight(args)
        y = checked_targets(y, name) if is_regression else whole_labels(y, name)
        return Examples(X, y, None, name)
    table = read_columns(args, format)
    encoder = make_encoder(args, table)
    y = target_numbers(table, args.label) if is_regression else class_labels(table, args.label)
    return Examples(table, y, encoder, name)


def check_options(args: Namespace, format: str, name: str) -> None:
    """Refuse options that would have no effect."""
    if format == "svmlight":
        given = [option for option in _COLUMN_OPTIONS if getattr(args, option) is not None]
        if given:
            raise UsageError(
                f"{option_of(given[0])} is for tables, but {name} is read as svmlight, which has "
                "the label at the start of each line and numbered features (--format tells "
                "otherwise)."
            )
        return
    if args.text is None:
        for option in ("ngrams", "n_features"):
            if getattr(args, option) is not None:
                raise UsageError(f"{option_of(option)} needs --text: it is about hashed words.")


def make_encoder(args: Namespace, table: Columns) -> ColumnEncoder:
    """Return an encoder of the columns that the options name, which have to be in the table."""
    name = table.name
    if args.label is None:
        there = listed_columns(list(table.columns))
        hint = separator_hint(list(table.columns))
        raise UsageError(f"--label must name the column to predict; {name} has {there}{hint}.")
    table.column(args.label)
    if args.text is None and args.categorical is None and args.numeric is None:
        there = listed_columns([column for column in table.columns if column != args.label])
        raise UsageError(
            "say what to learn from: --text COL, --categorical COL,... or --numeric COL,...; "
            f"{name} has {there}."
        )
    options = {"ngram_range": args.ngrams, "n_features": args.n_features}
    return ColumnEncoder(
        text=args.text,
        categorical=args.categorical or (),
        numeric=args.numeric or (),
        label=args.label,
        **{name: value for name, value in options.items() if value is not None},
    )


def target_numbers(table: Columns, name: str) -> np.ndarray:
    """Return a column of targets as numbers; ValueError with the line for what is none."""
    y = table.numbers(name)
    wrong = np.abs(y) > _LARGEST_TARGET
    if wrong.any():
        row = int(wrong.argmax())
        raise table.error_at(row, f"{name!r} holds {shown(y[row])}, {_TOO_LARGE}")
    return y


def checked_targets(y: np.ndarray, name: str) -> np.ndarray:
    """Return the targets of an svmlight file, which are finite; UsageError if any is too large."""
    wrong = np.abs(y) > _LARGEST_TARGET
    if wrong.any():
        raise UsageError(f"{name} has the target {shown(y[wrong][0])}, {_TOO_LARGE}.")
    return y


def whole_labels(y: np.ndarray, name: str) -> np.ndarray:
    """Return the labels of an svmlight file as integers."""
    whole = y.astype(np.int64)
    wrong = whole != y
    if wrong.any():
        raise UsageError(
            f"{name} has the label {shown(y[wrong][0])}, which is no class; for numbers choose a "
            "loss of regression, such as --loss squared_error."
        )
    return whole
