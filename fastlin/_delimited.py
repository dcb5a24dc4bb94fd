"""Delimited text: bytes to rows to columns of cells, and rows back to text.

A block of rows is the text that they stand in, and where in it their cells are, which compiled code
finds (`_core.cells`). No cell becomes a Python object before somebody asks for it.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np

from ._cells import Cells
from ._core import cells as core
from ._files import readable

__all__ = [
    "checked_pieces", "decoded_lines", "delimited_columns", "delimited_text", "first_repeated",
    "separator_hint",
]  # fmt: skip

_PIECE = 1 << 18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Rows, and cells of the first one, that there is room for at first
_ROWS_AT_FIRST = 4096
_CELLS_AT_FIRST = 256
_MESSAGES = {
    core.AFTER_QUOTE: "{delimiter!r} expected after '\"' in field {n}",
    core.AFTER_RETURN: "field {n} has a carriage return in it, but no quotes around it",
    core.LONG: "the row is longer than 2 GiB; is a quote not closed?",
}


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


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that stood before, or None if all are different."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def checked_pieces(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Yield the bytes of a UTF-8 stream in pieces of whole lines, some hundred kilobytes or more
    each; those before a line that is not UTF-8, then the error for it."""
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
            yield from _checked(piece, name, number)
            number += piece.count(b"\n")


def _checked(piece: bytes, name: str, number: int) -> Iterator[bytes]:
    """Some lines as they are; those before one that is not UTF-8, then the error for it."""
    try:
        if not piece.isascii():
            piece.decode("utf-8")
    except UnicodeDecodeError as error:
        start = piece.rfind(b"\n", 0, error.start) + 1
        yield piece[:start]
        place = error.start - start + 1
        raise ValueError(
            f"{name}, line {number + piece.count(10, 0, start)}: not UTF-8 (byte "
            f"{piece[error.start]:#04x} at position {place})."
        ) from None
    yield piece


def decoded_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 stream with their ends, which are newlines and nothing else."""
    # one loop of Python per piece, not per line
    return itertools.chain.from_iterable(
        io.StringIO(piece.decode("utf-8"), newline="\n") for piece in checked_pieces(stream, name)
    )


class _RowReader:
    """Takes rows from pieces of text.

    Parameters
    ----------
    pieces : iterator of bytes
        Whole lines, all but the last of which end with a newline.
    name : str
        The file's name in messages.
    delimiter : str
        One character of ASCII.
    """

    def __init__(self, pieces: Iterator[bytes], name: str, delimiter: str):
        self._pieces, self._name, self._delimiter = pieces, name, delimiter
        self._parser = core.Parser(ord(delimiter))
        self._text, self._start, self._end = bytearray(core.PADDING), 0, 0
        self._first: Any = None
        self._hint = ""

    def first(self) -> tuple[list[str], int] | None:
        """The cells of the first row, which tells how many the others have, and its line."""
        room = _CELLS_AT_FIRST
        while True:
            begins, lines = np.empty((2, 1), np.int64)
            cells = np.empty((room, 2), np.int32)
            self._take(begins, lines, cells)
            if self._parser.n_rows:
                self._first = begins, lines, cells[: self._parser.width]
                found = [self._cells(begins, cells[None, :], j) for j in range(self._parser.width)]
                names = [cell[0] for cell in found]
                self._hint = separator_hint(names)
                return names, int(lines[0])
            if self._start == self._end:
                return None
            room *= 4

    def block(self, n_rows: int, keeps_first: bool) -> tuple[list[Cells], list[int]]:
        """The cells of up to n_rows further rows by column, and the lines on which they begin; the
        first row may be one of them."""
        width, room = self._parser.width, min(n_rows, _ROWS_AT_FIRST)
        begins, lines = np.empty(room, np.int64), np.empty(room, np.int64)
        cells = np.empty((room * width, 2), np.int32)
        self._parser.n_rows = 0
        if keeps_first:
            begins[:1], lines[:1], cells[:width] = self._first
            self._parser.n_rows = 1
        else:
            self._drop_text()
        while not self._take(begins, lines, cells) and room < n_rows:
            more = min(room, n_rows - room)
            begins = np.concatenate([begins, np.empty(more, np.int64)])
            lines = np.concatenate([lines, np.empty(more, np.int64)])
            cells = np.concatenate([cells, np.empty((more * width, 2), np.int32)])
            room += more
        n = self._parser.n_rows
        table = cells.reshape(-1, width, 2)[:n]
        return [self._cells(begins[:n], table, j) for j in range(width)], lines[:n].tolist()

    def _cells(self, begins: np.ndarray, table: np.ndarray, j: int) -> Cells:
        """One column."""
        return Cells(self._text, begins, table[:, j])

    def _drop_text(self) -> None:
        """Go on with a text of one's own that holds what is not parsed; columns keep the other."""
        self._text = self._text[self._start : self._end] + bytes(core.PADDING)
        self._start, self._end = 0, len(self._text) - core.PADDING

    def _take(self, begins: np.ndarray, lines: np.ndarray, cells: np.ndarray) -> bool:
        """Fill the arrays; whether that took all the text there is."""
        while True:
            status, self._start = self._parser.parse(
                self._text, self._start, self._end, begins, lines, cells
            )
            if status == core.FULL:
                return False
            if status != core.DONE:
                raise self._error(status)
            if not self._read():
                if self._start < self._end:
                    what = f"unexpected end of data, in field {self._parser.n_found + 1}"
                    raise self._error_at(f"{what} whose quote is not closed")
                return True

    def _read(self) -> bool:
        """Append text: as much as a row that is begun has, so that long ones are read in time."""
        end = goal = self._end
        goal += max(end - self._start, 1)
        for piece in self._pieces:
            self._text[self._end :] = piece
            self._end += len(piece)
            if piece and piece[-1] != 10:
                self._text.append(10)
                self._end += 1
            self._text += bytes(core.PADDING)
            if self._end >= goal:
                break
        return self._end > end

    def _error(self, status: int) -> ValueError:
        """The error for the row that begins at the place reached."""
        found = self._parser.n_found
        if status == core.WIDTH:
            return self._error_at(
                f"{found} fields where the first row has {self._parser.width}{self._hint}"
            )
        return self._error_at(_MESSAGES[status].format(delimiter=self._delimiter, n=found))

    def _error_at(self, message: str) -> ValueError:
        """The error for the row that begins at the place reached."""
        return ValueError(f"{self._name}, line {self._parser.n_lines + 1}: {message}.")


def delimited_columns(
    pieces: Iterator[bytes], name: str, delimiter: str, header: bool, n_rows: int
) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """Yield (columns, the lines on which their rows begin) of CSV or TSV, n_rows at a time."""
    reader = _RowReader(pieces, name, delimiter)
    first = reader.first()
    if first is None:
        raise ValueError(f"{name} is empty.")
    names, line = first
    if not header:
        names = list(map(str, range(len(names))))
    repeated = first_repeated(names)
    if repeated is not None:
        raise ValueError(
            f"{name}, line {line}: two columns have the name {repeated!r}; if "
            "the first row is no header, say header=False."
        )
    columns, numbers = reader.block(n_rows, not header)
    while True:
        yield dict(zip(names, columns, strict=True)), numbers
        columns, numbers = reader.block(n_rows, False)
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
