"""Delimited text: bytes to lines to columns of strings, and rows back to text.

Loops of Python run over pieces of text and over batches of rows, not over lines, which would take
twice the time of the csv module itself.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import threading
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from ._files import readable

__all__ = [
    "decoded_lines", "delimited_columns", "delimited_text", "separator_hint", "unlimited_fields",
]  # fmt: skip

_PIECE = 1 << 18
_ROWS_IN_CACHE = 256
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_field_limit_lock = threading.Lock()
# Readers under way, and the limit on cells that was there before the first of them.
_field_limit = {"readers": 0, "before": 0}


def separator_hint(cells: list[str]) -> str:
    """Return what to say of a first row of one cell that holds what separates others elsewhere."""
    if len(cells) != 1:
        return ""
    if "\t" in cells[0]:
        return " (the fields seem to be separated by tabs: format='tsv')"
    if ";" in cells[0]:
        return " (the fields seem to be separated by ';': write the file with commas)"
    if "," in cells[0]:
        return " (the fields seem to be separated by commas: format='csv')"
    return ""


def decoded_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream with their ends."""
    return itertools.chain.from_iterable(_decoded_pieces(stream, name))


def _decoded_pieces(stream: BinaryIO, name: str) -> Iterator[Iterable[str]]:
    """Yield what gives some lines after the other: one loop of Python per piece, not per line."""
    read = getattr(stream, "read1", stream.readline)
    number, parts, goes_on = 1, [], True
    with readable(stream, name):
        while goes_on:
            data = read(_PIECE)
            if not isinstance(data, bytes):
                raise TypeError(
                    f"{name} must be opened in binary mode: reading it gives "
                    f"{type(data).__name__} instead of bytes."
                )
            goes_on, end = bool(data), data.rfind(b"\n") + 1
            if goes_on and not end:
                parts.append(data)
                continue
            piece = b"".join([*parts, data[:end]])
            parts = [data[end:]]
            if number == 1 and piece:
                piece = piece.removeprefix(_BYTE_ORDER_MARK)
            # lines end with this character only
            yield from map(_lines_of, _decoded(piece, name, number))
            number += piece.count(b"\n")


def _lines_of(text: str) -> Iterable[str]:
    """The lines of a text with their ends, which are newlines and nothing else."""
    return io.StringIO(text, newline="\n")


def _decoded(piece: bytes, name: str, number: int) -> Iterator[str]:
    """The text of some lines; of those before one that is not UTF-8, then the error for it."""
    try:
        yield piece.decode("utf-8")
    except UnicodeDecodeError as error:
        start = piece.rfind(b"\n", 0, error.start) + 1
        text = piece[:start].decode("utf-8")
        yield text
        place = error.start - start + 1
        raise ValueError(
            f"{name}, line {number + text.count(chr(10))}: not UTF-8 (byte "
            f"{piece[error.start]:#04x} at position {place})."
        ) from None


@contextlib.contextmanager
def unlimited_fields() -> Iterator[None]:
    """Lift the csv module's limit of 131,072 characters per cell while files are read.

    The limit is global: the first reader lifts it, the last one restores it.
    """
    with _field_limit_lock:
        if not _field_limit["readers"]:
            _field_limit["before"] = csv.field_size_limit(2**31 - 1)
        _field_limit["readers"] += 1
    try:
        yield
    finally:
        with _field_limit_lock:
            _field_limit["readers"] -= 1
            if not _field_limit["readers"]:
                csv.field_size_limit(_field_limit["before"])


def _columns_of(
    lines: Iterable[str], name: str, delimiter: str, n_rows: int, n_first: int
) -> Iterator[tuple[list[int], list[list[str]]]]:
    """Yield (lines on which they begin, columns) of n_first, then n_rows rows that are not empty,
    and in the end what is left; all are equally long."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    width, wanted, hint = 0, n_first, ""
    numbers: list[int] = []
    columns: list[list[str]] = []
    while True:
        begin, batch, fault = reader.line_num + 1, [], None
        try:
            # few at a time, so that rows don't leave the cache, nor keep the collector of garbage
            # busy, before they are in columns; what the batch holds is kept when the reader fails
            n = min(_ROWS_IN_CACHE, wanted - len(numbers))
            batch.extend(itertools.islice(reader, n))
        except csv.Error as error:
            fault = error
        is_last = len(batch) < n
        own, begin = _line_numbers(batch, begin, reader.line_num if fault is None else 0)
        if not all(batch):
            own = list(itertools.compress(own, batch))
            batch = list(filter(None, batch))
        if batch and not width:
            width, hint = len(batch[0]), separator_hint(batch[0])
            columns = [[] for _ in range(width)]
        if batch and set(map(len, batch)) != {width}:
            line, row = next(pair for pair in zip(own, batch, strict=True) if len(pair[1]) != width)
            raise ValueError(
                f"{name}, line {line}: {len(row)} fields where the first row has {width}{hint}."
            )
        if fault is not None:
            raise ValueError(f"{name}, line {begin}: {fault}.") from None
        numbers += own
        for column, cells in zip(columns, zip(*batch, strict=True), strict=False):
            column.extend(cells)
        if is_last or len(numbers) == wanted:
            yield numbers, columns
            numbers, columns, wanted = [], [[] for _ in range(width)], n_rows
        if is_last:
            return


def _line_numbers(rows: list[list[str]], begin: int, last: int) -> tuple[list[int], int]:
    """(the lines on which rows begin, the line after them), if the first begins on line `begin`,
    and the last ends on line `last`, where that is known."""
    if last - begin + 1 == len(rows):
        return list(range(begin, last + 1)), last + 1
    numbers = []
    for row in rows:
        numbers.append(begin)
        begin += 1 + sum(cell.count("\n") for cell in row)
    return numbers, begin


def delimited_columns(
    lines: Iterable[str], name: str, delimiter: str, header: bool, n_rows: int
) -> Iterator[tuple[dict[str, list[str]], list[int]]]:
    """Yield (columns, the lines on which their rows begin) of CSV or TSV, n_rows at a time."""
    batches = _columns_of(lines, name, delimiter, n_rows, n_rows + header)
    numbers, columns = next(batches)
    if not numbers:
        raise ValueError(f"{name} is empty.")
    names = [column[0] for column in columns] if header else list(map(str, range(len(columns))))
    repeated = [cell for i, cell in enumerate(names) if cell in names[:i]]
    if repeated:
        raise ValueError(
            f"{name}, line {numbers[0]}: two columns have the name {repeated[0]!r}; if "
            "the first row is no header, say header=False."
        )
    if header:
        numbers, columns = numbers[1:], [column[1:] for column in columns]
    while True:
        yield dict(zip(names, columns, strict=True)), numbers
        numbers, columns = next(batches, ([], []))
        if not numbers:
            return


class _Lines(list[str]):
    """Rows as `csv.writer` writes them, with other ends."""

    def write(self, row: str) -> None:
        """Keep a row."""
        self.append(row[:-2] + "\n")


def delimited_text(rows: Iterable[Iterable[str]], delimiter: str = ",") -> str:
    """Return rows as text whose lines end with newlines, such as `delimited_columns` reads."""
    lines = _Lines()
    # Cells are quoted for the characters of the ends of lines: a return alone needs quotes, too.
    csv.writer(lines, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return "".join(lines)
