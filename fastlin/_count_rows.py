"""Rows of counts: from the numbers of n-grams to the columns of a matrix.

Documents are counted some thousand tokens at a time, to memory that stays in a cache, and written
to their place in the matrix once the rows before them are counted (`BlocksOutput`).
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ._core.ngrams import RowCounter
from ._gram_levels import Level
from ._parallel import run
from ._text_rows import BlocksOutput, CsrArrays

__all__ = ["Counting", "Found", "counted", "sources_of"]

# What kernels write counts in.
_COUNTED = tuple(np.dtype(kind) for kind in (np.int32, np.int64, np.float32, np.float64))

# Numbers by position, their columns, and of how many units these are.
_Source = tuple[np.ndarray, np.ndarray, int]


class Found(NamedTuple):
    """The numbers that some rows have, those of row i up to ends[i], and the table's place."""

    first_row: int
    numbers: np.ndarray
    ends: np.ndarray
    table: int


class Counting:
    """Rows of counts on their way to a matrix.

    Parameters
    ----------
    n_columns : int
    dtype : dtype
        What counts are returned in.
    n_rows, most : int
        As for `BlocksOutput`.
    """

    def __init__(self, n_columns: int, dtype: Any, n_rows: int, most: int):
        self._n_columns, self._dtype = n_columns, np.dtype(dtype)
        kernel = self._dtype if self._dtype in _COUNTED else np.dtype(np.int64)
        self._output = BlocksOutput(kernel, n_rows, most)
        self._free: list[RowCounter] = []

    def take(
        self, number: int, sources: list[_Source], ends: np.ndarray, first: int, stop: int,
        first_row: int,
    ) -> None:
        """Count documents first to stop - 1 of what they were found in, of which row `first_row` is
        the first: the part of a number from 0 on."""
        try:
            counter = self._free.pop()
        except IndexError:
            counter = RowCounter(self._n_columns)
        counter.load(sources, ends, first, stop)
        self._output.take(counter, number, stop - first, first_row)
        self._free.append(counter)

    def take_found(self, number: int, found: Found, columns: np.ndarray) -> None:
        """Count what was found, the part of a number."""
        n_rows = len(found.ends)
        source = (found.numbers, columns, 1)
        self.take(number, [source], found.ends, 0, n_rows, found.first_row)

    def rows(self, n_jobs: int | None) -> CsrArrays:
        """Return the matrix, once all parts are taken."""
        rows = self._output.arrays(n_jobs)
        return rows._replace(data=rows.data.astype(self._dtype, copy=False))


def counted(
    found: list[Found], columns: list[np.ndarray], n_columns: int, n_jobs: int | None, dtype: Any
) -> CsrArrays:
    """Count the columns of all rows."""
    most = sum(len(part.numbers) for part in found)
    counting = Counting(n_columns, dtype, sum(len(part.ends) for part in found), most)
    tasks = [
        functools.partial(counting.take_found, k, part, columns[part.table])
        for k, part in enumerate(found)
    ]
    run(tasks, n_jobs)
    return counting.rows(n_jobs)


def sources_of(levels: list[Level], shortest: int, columns: np.ndarray) -> list[_Source]:
    """Return what rows of n-grams of `shortest` units or more are counted from; `columns` are those
    of all numbers, which those of a level are behind those below."""
    begins = np.cumsum([0, *map(len, levels)]).tolist()
    return [
        (level.ids, columns[begins[k] : begins[k + 1]], k + 1)
        for k, level in enumerate(levels) if k + 1 >= shortest
    ]
