"""What `fit_stream` takes for a source, as blocks (X, y, weights or None)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ._data import checked_sparse_rows
from ._exceptions import errors_about
from ._files import is_unseekable, name_of_source, opened_for_reading, opened_once
from ._named_columns import CellColumns, Columns, NamedArray, class_labels
from ._params import shown
from ._svmlight import SvmlightReader
from ._tables import Closing, Table, cell_blocks, detect_format

__all__ = ["SourceOptions", "blocks_of", "is_file", "name_of_file", "svmlight_blocks"]

# Entries that the parser's arrays hold: a block of rows costs some 20 microseconds besides.
_ROOM = 1 << 17
_LATE_KEY = (
    "have it in the first row (null will do), or give an encoder that was fitted to a table with "
    "all columns"
)
_MAX_COLUMNS = np.iinfo(np.int32).max


class SourceOptions(NamedTuple):
    """How a source is read; `fit_stream` describes each."""

    format: str | None = None
    label: str | None = None
    encoder: Any = None
    header: bool = True
    n_features: int | None = None
    zero_based: bool | str = "auto"
    dtype: Any = np.float64
    is_regression: bool = False


def blocks_of(source: Any, options: SourceOptions) -> Iterator[tuple]:
    """Yield (X, y, weights or None) block by block."""
    if is_file(source):
        yield from _file_blocks(source, options)
        return
    if options.label is not None or options.encoder is not None or options.format is not None:
        given = next(
            name for name in ("label", "encoder", "format") if getattr(options, name) is not None
        )
        raise ValueError(
            f"{given} is for a source that is a file, got {type(source).__name__}, which has to "
            "give (X, y) itself."
        )
    blocks = source() if callable(source) else source
    if not isinstance(blocks, Iterable) or hasattr(blocks, "shape"):
        raise TypeError(
            "source must be a file or give blocks (X, y) or (X, y, sample_weight), one after the "
            f"other, got {type(blocks).__name__}."
        )
    for number, block in enumerate(blocks):
        if not isinstance(block, (tuple, list)) or len(block) not in (2, 3):
            raise TypeError(
                "source must give blocks (X, y) or (X, y, sample_weight); block "
                f"{number} is {shown(block)}."
            )
        yield (*block, None)[:3]


def is_file(source: Any) -> bool:
    """Whether a source is something to read bytes from."""
    kinds = (str, os.PathLike, bytes, bytearray, memoryview, int)
    return isinstance(source, kinds) or hasattr(source, "read")


def name_of_file(source: Any) -> str | None:
    """The name of a source in messages, if it is a file."""
    return name_of_source(source) if is_file(source) else None


def _file_blocks(source: Any, options: SourceOptions) -> Iterator[tuple]:
    """Blocks of a file."""
    format = options.format
    if format is None and is_unseekable(source):
        with opened_once(source) as stream:
            yield from _file_blocks(stream, options)
        return
    format = format or detect_format(source)
    if format == "svmlight":
        if options.label is not None or options.encoder is not None:
            raise ValueError(
                "label and encoder are for tables; svmlight has the label at the start of each "
                "line and numbered features."
            )
        for rows, y in svmlight_blocks(
            source, options.n_features, options.zero_based, options.dtype
        ):
            yield rows, y, None
        return
    if options.label is None:
        raise ValueError(f"label must name the column to predict of a {format} file, got None.")
    kinds: list[str | None] = []
    is_named, is_json = options.header or format not in ("csv", "tsv"), format == "jsonl"
    first = list(getattr(options.encoder, "feature_names_in_", ())) if is_json else []
    # an encoder that knows its columns says itself what it does with others
    closing = None if first else Closing((), _LATE_KEY)
    for table in cell_blocks(
        source, format, header=options.header, columns=[options.label, *first] if is_json else (),
        closing=closing,
    ):
        if table.lines:
            names = _feature_names(table, options.label, first)
            first = names if closing else first
            yield _encoded(table, names, options, is_named), _labels(table, options, kinds), None


def _feature_names(table: Table, label: str, first: list[str]) -> list[str]:
    """The columns of a block besides the label, of which some come first."""
    table.column(label)
    return [name for name in dict.fromkeys((*first, *table.columns)) if name != label]


def _encoded(table: Table, names: list[str], options: SourceOptions, is_named: bool) -> Any:
    """The features of a block of a table."""
    columns = CellColumns({
        name: table.columns[name] if options.encoder is None else list(table.columns[name])
        for name in names
    })  # fmt: skip
    encoder = options.encoder
    if encoder is not None:
        transform: Callable = encoder.transform if hasattr(encoder, "transform") else encoder
        with errors_about(f"{table.name}, from {table.unit} {table.lines[0]} on: the encoder"):
            return transform(columns)
    cells = _as_columns(table)
    if not columns:
        raise ValueError(f"{table.name} has no columns besides the label {options.label!r}.")
    remedy = "; say by encoder what becomes of columns that hold no numbers"
    numbers = [cells.numbers(name, remedy) for name in columns]
    X = np.column_stack(numbers).astype(options.dtype, copy=False)
    return NamedArray(X, names) if is_named else X


def _labels(table: Table, options: SourceOptions, kinds: list[str | None]) -> np.ndarray:
    """The targets of a block of a table; `kinds` are those of the labels of the blocks before."""
    columns = _as_columns(table)
    if options.is_regression:
        return columns.numbers(options.label)
    return class_labels(columns, options.label, kinds)


def _as_columns(table: Table) -> Columns:
    """A table that can say which value is wrong."""
    return Columns(table.columns, table.lines, table.name, unit=table.unit)


def svmlight_blocks(
    source: Any,
    n_features: int | None = None,
    zero_based: bool | str = "auto",
    dtype: Any = np.float64,
    watch: Callable[[float | None], None] | None = None,
    multilabel: bool = False,
) -> Iterator[tuple]:
    """Yield (Rows, labels) of some thousand rows each, with `multilabel` a tuple of labels per row;
    `watch` is told the share of the file that has been read, or None.

    Where `zero_based` is "auto", the first block that has entries decides.
    """
    with opened_for_reading(source) as (stream, name):
        shift = None if zero_based == "auto" else int(not zero_based)
        reader = SvmlightReader(
            stream, name, lowest_index=shift or 0, room=_ROOM, block_bytes=8 * _ROOM,
            multilabel=multilabel,
        )
        for block in reader:
            if shift is None and len(block.columns):
                shift = int(reader.min_index > 0)
            if shift and reader.min_index < shift:
                raise reader.error_of(
                    block, block.columns == 0,
                    "an index is 0, but those before began at 1: say zero_based=True",
                )
            d = max(reader.max_index + 1 - (shift or 0), 1)
            limit = _MAX_COLUMNS if n_features is None else n_features
            if d > limit:
                beyond = block.columns - (shift or 0) >= limit
                raise reader.error_of(
                    block, beyond,
                    f"the index {block.columns[beyond.argmax()]} is beyond "
                    + (f"n_features={n_features}" if n_features else "what 32-bit columns allow"),
                )
            indptr = np.zeros(len(block.row_ends) + 1, np.int64)
            indptr[1:] = block.row_ends
            rows = checked_sparse_rows(
                reader.converted(block, dtype), block.columns - np.int32(shift or 0), indptr,
                n_features or d,
            )
            yield rows, block.label_sets() if multilabel else block.labels.copy()
            if watch is not None:
                watch(reader.share())
