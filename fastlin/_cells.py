"""Columns of delimited text as they stand in it: lists of str where one is asked for, and numbers
and categories without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ._core import cells as core
from ._decimal import number_of

__all__ = ["Cells", "CellNumbers", "joined_cells"]

# Cells at a time, some milliseconds
_PIECE = 1 << 16


class Cells(Sequence):
    """A column of strings.

    Parameters
    ----------
    text : bytearray
        What the cells are slices of, and `core.PADDING` bytes more.
    begins : ndarray of shape (n_rows,), dtype int64
        The place of each row in the text.
    cells : ndarray of shape (n_rows, 2), dtype int32
        The place of each cell in its row, and its size.
    """

    def __init__(self, text: bytearray, begins: np.ndarray, cells: np.ndarray):
        self._parts = text, begins, cells

    def __len__(self) -> int:
        return len(self._parts[1])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.take(index).tolist()
        begin, size = self._parts[2][index].tolist()
        begin += int(self._parts[1][index])
        return self._parts[0][begin : begin + size].decode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self.tolist())

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, (list, Cells)) and self.tolist() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def take(self, rows: Any) -> Cells:
        """Some of the rows: a slice or an array of their numbers."""
        text, begins, cells = self._parts
        return Cells(text, np.ascontiguousarray(begins[rows]), cells[rows])

    def tolist(self) -> list[str]:
        """All cells."""
        found: list[str] = []
        for _, parts in self.pieces():
            found += core.strings_of(*parts)
        return found

    def numbers(self) -> np.ndarray:
        """The numbers that the cells hold; NaN for what is none."""
        numbers = np.empty(len(self))
        for rows, parts in self.pieces():
            out, row = numbers[rows], 0
            while (row := core.numbers_of(*parts, row, out)) < len(out):
                try:
                    out[row] = number_of(self[rows.start + row])
                except ValueError:
                    out[row] = np.nan
                row += 1
        return numbers

    def pieces(self) -> Iterator[tuple[slice, tuple[bytearray, np.ndarray, np.ndarray]]]:
        """Some rows after the other, and what kernels know them by."""
        text, begins, cells = self._parts
        for start in range(0, len(begins), _PIECE):
            rows = slice(start, start + _PIECE)
            yield rows, (text, begins[rows], cells[rows])


class CellNumbers:
    """Distinct strings by number, in the order in which they come up, of cells or of lists."""

    def __init__(self, values: Sequence[str] = ()):
        self._known = core.Numbered()
        self.number(values)

    def __len__(self) -> int:
        return len(self._known)

    def number(self, column: Sequence[str]) -> np.ndarray:
        """The number of each string, as int32; those that are new get the next ones."""
        return self._codes(column, self._known.number)

    def find(self, column: Sequence[str]) -> np.ndarray:
        """The number of each string, as int32; -1 for those that have none."""
        return self._codes(column, self._known.find)

    def values(self) -> list[str]:
        """The strings by number."""
        return self._known.values()

    @classmethod
    def _codes(cls, column: Sequence[str], kernel: Any) -> np.ndarray:
        """What a kernel says of each string."""
        if not isinstance(column, Cells):
            # strings that are objects already: a dict tells most of them apart
            distinct = list(dict.fromkeys(column))
            found = cls._codes(_cells_of(distinct), kernel)
            known = dict(zip(distinct, found.tolist(), strict=True))
            return np.fromiter(map(known.__getitem__, column), np.int32, len(column))
        codes = np.empty(len(column), np.int32)
        for rows, parts in column.pieces():
            kernel(*parts, codes[rows])
        return codes


def _cells_of(values: Sequence[str]) -> Cells:
    """Strings as cells."""
    encoded = [value.encode("utf-8", "surrogatepass") for value in values]
    cells = np.zeros((len(encoded), 2), np.int32)
    cells[:, 1] = list(map(len, encoded))
    ends = np.cumsum(cells[:, 1], dtype=np.int64)
    return Cells(bytearray(b"".join(encoded)) + bytes(core.PADDING), ends - cells[:, 1], cells)


def joined_cells(columns: Sequence[dict[str, Cells]]) -> dict[str, Cells]:
    """One table of several that have the same columns."""
    if len(columns) == 1:
        return columns[0]
    found, text, begins = {}, None, None
    for name in columns[0]:
        parts = [block[name]._parts for block in columns]
        if begins is None:
            # the columns of a block have their text and the places of rows in common
            starts = np.cumsum([0] + [len(part[0]) for part in parts])
            text = bytearray().join(part[0] for part in parts)
            shifted = [part[1] + start for part, start in zip(parts, starts[:-1], strict=True)]
            begins = np.concatenate(shifted)
        found[name] = Cells(text, begins, np.concatenate([part[2] for part in parts]))
    return found
