"""Rows of text on their way from the kernels to a matrix."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ._aligned import huge_empty
from ._core.documents import DONE, FULL, TOO_LARGE, TOO_LONG, TOO_MANY, CountedRows
from ._core.ngrams import RowCounter
from ._core.text import TextHasher, begin_pages
from ._parallel import Cancelled, is_cancelled, run
from ._params import shown

__all__ = [
    "BlocksOutput", "CsrArrays", "RowsOutput", "as_output", "encode_features", "features_of",
    "refuse",
]  # fmt: skip


# Entries after which rows are enough to tell from how many there will be, and how many are asked
# for at once then.
_TRIAL, _PLENTY = 1 << 16, 1 << 24
# Blocks of the present size ahead of which pages are begun.
_AHEAD = 4


class CsrArrays(NamedTuple):
    """The three arrays of a CSR matrix."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


def _expected(nnz: int, n_rows: int, n_more: int) -> int:
    """How many entries more rows are likely to have, by those so far, and a tenth."""
    return int(1.1 * nnz / n_rows * n_more)


class RowsOutput:
    """The three arrays of a CSR matrix, growing as rows arrive."""

    def __init__(self, dtype: Any, n_rows: int | None):
        self.expected_rows = n_rows
        self.indptr = np.zeros(1024 if n_rows is None else n_rows + 1, np.int64)
        self.indices = np.empty(4096, np.int32)
        self.data = np.empty(4096, dtype)

    def take_rows(self, hasher: TextHasher, n_rows: int) -> None:
        """Fetch the rows of a loaded block; Ctrl-C is seen between the calls."""
        needed = hasher.n_rows + n_rows + 1
        if needed > len(self.indptr):
            _resize(self.indptr, max(needed, 2 * len(self.indptr)))
        while (status := hasher.advance(self.indptr, self.indices, self.data)) != DONE:
            refuse(status, hasher.n_rows)
            if is_cancelled():
                raise Cancelled
            if status == FULL:
                self._grow(hasher)

    def _grow(self, hasher: TextHasher) -> None:
        """Make room for the row that waits, and for as many more as the rows so far suggest."""
        size = len(self.indices)
        expected = 0
        if self.expected_rows is not None and hasher.n_rows:
            expected = _expected(hasher.nnz, hasher.n_rows, self.expected_rows)
        # The first rows say little; later, memory that is not used in the end costs nothing.
        most = _TRIAL if size < _TRIAL else max(16 * size, _PLENTY)
        size = max(min(expected, most), size + size // 4, hasher.nnz + hasher.pending_entries)
        self.indices = _enlarged(self.indices, hasher.nnz, size)
        self.data = _enlarged(self.data, hasher.nnz, size)

    def arrays(self, hasher: TextHasher) -> CsrArrays:
        """Return the three arrays, cut to size."""
        _resize(self.indices, hasher.nnz)
        _resize(self.data, hasher.nnz)
        return CsrArrays(self.indptr[: hasher.n_rows + 1], self.indices, self.data)


class _Segment:
    """Rows of some blocks, the last of which may not be written yet. Memory that is not used in the
    end stays behind them: of new one, nobody has touched that."""

    def __init__(self, size: int, dtype: Any):
        self.ends = [np.zeros(1, np.int64)]
        self.indices = huge_empty((size,), np.dtype(np.int32))
        self.data = huge_empty((size,), np.dtype(dtype))
        self.used = self.begun = 0
        self._beginning = threading.Lock()

    def begin(self, last: int, ahead: int) -> None:
        """Begin the pages of entries up to `last`, and up to `ahead`, which is no less, if no other
        thread is at it: two at a time take twice as long. Nothing is written behind `begun`."""
        if self._beginning.acquire(blocking=last > self.begun):
            try:
                if ahead > self.begun:
                    for array in (self.indices, self.data):
                        begin_pages(array[self.begun : ahead].view(np.uint8))
                    self.begun = ahead
            finally:
                self._beginning.release()

    def arrays(self) -> CsrArrays:
        """Return the three arrays, cut to size."""
        used = slice(self.used)
        return CsrArrays(np.concatenate(self.ends), self.indices[used], self.data[used])


class BlocksOutput:
    """The three arrays of a CSR matrix, to which threads add blocks of rows as they finish them.

    A block gets its place once the lengths of all before it are known, and is written there while
    its entries still lie in a cache. So all threads write the matrix, once, and none waits for
    another.

    Parameters
    ----------
    dtype : dtype
    n_rows : int or None
        How many there will be, if known.
    most : int, default=0
        How many entries there will be at most, if known.
    """

    def __init__(self, dtype: Any, n_rows: int | None, most: int = 0):
        self._dtype, self._expected_rows = dtype, n_rows
        self._lock = threading.Lock()
        self._segments: list[_Segment] = []
        self._free: list[CountedRows] = []
        # Blocks that others stand before, which are still on their way.
        self._held: dict[int, CountedRows] = {}
        self._next = self._n_rows = self._nnz = 0
        if most:
            # In the caller's thread, which may have memory left from the last matrix: pages that
            # threads get anew take up to a third of their time in a virtual machine.
            self._segments.append(_Segment(most, dtype))

    def take(
        self, counter: TextHasher | RowCounter, number: int, n_rows: int, first_row: int
    ) -> None:
        """Count what has been loaded, the block of a number from 0 on, whose first row is
        `first_row`; Ctrl-C is seen between the calls."""
        with self._lock:
            rows = self._free.pop() if self._free else CountedRows()
        rows.begin(n_rows)
        while (status := counter.count(rows)) != DONE:
            refuse(status, first_row + rows.n_rows)
            if is_cancelled():
                raise Cancelled
        placed = []
        with self._lock:
            self._held[number] = rows
            while (rows := self._held.pop(self._next, None)) is not None:
                placed.append((rows, *self._place(rows)))
                self._next += 1
        for rows, segment, first, last, ahead in placed:
            segment.begin(last, ahead)
            counter.write(rows, segment.indices[first:last], segment.data[first:last])
        with self._lock:
            self._free += [rows for rows, *_ in placed]

    def _place(self, rows: CountedRows) -> tuple[_Segment, int, int, int]:
        """Say where rows go, the next in order, and up to where pages are to be begun: for blocks
        to come too, so that they are there when another thread needs them."""
        nnz = rows.nnz
        self._n_rows += rows.n_rows
        self._nnz += nnz
        if not self._segments or self._segments[-1].used + nnz > len(self._segments[-1].data):
            size = self._nnz
            if self._expected_rows is not None and self._n_rows:
                # Memory that is not used in the end costs nothing.
                left = self._expected_rows - self._n_rows
                expected = nnz + _expected(self._nnz, self._n_rows, left)
                size = max(nnz, min(expected, max(16 * self._nnz, _PLENTY)))
            self._segments.append(_Segment(size, self._dtype))
        segment = self._segments[-1]
        first = segment.used
        segment.ends.append(rows.ends[1:] + first)
        segment.used += nnz
        ahead = segment.used + _AHEAD * nnz
        if self._expected_rows is not None and self._n_rows:
            left = self._nnz * (self._expected_rows - self._n_rows) // self._n_rows
            ahead = min(ahead, segment.used + max(left, 0))
        return segment, first, segment.used, ahead

    def arrays(self, n_jobs: int | None) -> CsrArrays:
        """Return the three arrays, once all blocks are put."""
        if not self._segments:
            return _Segment(0, self._dtype).arrays()
        return _joined([segment.arrays() for segment in self._segments], n_jobs)


def as_output(arrays: CsrArrays, n_features: int, output: str) -> Any:
    """Return a matrix in the container asked for, "csr" or "rows"."""
    from ._data import canonical_csr, compact_rows

    matrix = canonical_csr(arrays.data, arrays.indices, arrays.indptr, n_features)
    return matrix if output == "csr" else compact_rows(matrix)


def _joined(parts: list[CsrArrays], n_jobs: int | None) -> CsrArrays:
    """Put parts of a matrix one below the other, each copied by a thread."""
    if len(parts) == 1:
        return parts[0]
    row_ends = np.cumsum([0] + [len(part.indptr) - 1 for part in parts])
    ends = np.cumsum([0] + [len(part.indices) for part in parts])
    whole = CsrArrays(
        np.zeros(row_ends[-1] + 1, np.int64), np.empty(ends[-1], np.int32),
        np.empty(ends[-1], parts[0].data.dtype),
    )

    def copy(k: int) -> None:
        rows = slice(row_ends[k] + 1, row_ends[k + 1] + 1)
        np.add(parts[k].indptr[1:], ends[k], out=whole.indptr[rows])
        whole.indices[ends[k] : ends[k + 1]] = parts[k].indices
        whole.data[ends[k] : ends[k + 1]] = parts[k].data

    run([functools.partial(copy, k) for k in range(len(parts))], n_jobs)
    return whole


def _resize(array: np.ndarray, size: int) -> None:
    """Resize in place; nobody else holds the array."""
    array.resize(size, refcheck=False)


def _enlarged(array: np.ndarray, used: int, size: int) -> np.ndarray:
    """Return an array of a larger size that begins with what is used of this one.

    Numpy asks for huge pages only where it allocates anew, which makes writing a large array much
    faster; where most would have to be copied, memory that moves by remapping is better.
    """
    if 2 * used > size:
        _resize(array, size)
        return array
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


def refuse(status: int, row: int) -> None:
    """Raise if a document, or the vocabulary with it, is beyond what can be counted."""
    if status == TOO_LARGE:
        raise ValueError(
            "the vocabulary has 2**31 n-grams, or words of 2**32 bytes, and cannot grow; narrow "
            "ngram_range, or use HashingVectorizer, which needs none."
        )
    if status == TOO_MANY:
        raise ValueError(
            f"The document of row {row} has 2**31 n-grams or more; split it or narrow ngram_range."
        )
    if status == TOO_LONG:
        raise ValueError(
            f"The document of row {row} has a word or an n-gram of 2**29 bytes or more; split it."
        )


def features_of(row: int, answer: Any) -> Iterable:
    """The features in what a caller's analyzer or tokenizer answered."""
    if isinstance(answer, (str, bytes)) or not isinstance(answer, Iterable):
        raise TypeError(
            f"Row {row}: the analyzer must return an iterable of features, got {shown(answer)}."
        )
    return answer


def encode_features(features: Any, row: int, errors: str = "strict") -> list[bytes]:
    """Return the features of a row in UTF-8."""
    encoded = []
    for feature in features_of(row, features):
        if isinstance(feature, str):
            try:
                feature = feature.encode("utf-8", errors)
            except UnicodeEncodeError as error:
                error.reason += f" in the feature {feature!r} of row {row}"
                raise
        elif not isinstance(feature, bytes):
            raise TypeError(
                f"Row {row}: every feature must be str or bytes, got {shown(feature)}."
            )
        encoded.append(feature)
    return encoded
