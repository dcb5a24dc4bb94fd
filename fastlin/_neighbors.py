"""Exact nearest neighbours by brute force, in blocks of queries.

Inner products of all pairs come first: from the columns of sparse training rows (of a query only
the entries are visited, and of a column only the rows that have it), or as products of dense blocks
about the mean of the training rows. They settle which few rows can be near at all; the distances of
these are summed up from differences (fl_neighbors.h). The cosine distance of two rows is half the
squared distance of the rows brought to length 1.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ._blocks import in_pieces, row_squares
from ._core import neighbors as _kernel
from ._core.rows import Rows
from ._data import as_rows
from ._parallel import Cancelled, is_cancelled, run
from ._transpose import transposed

__all__ = ["Searcher"]

# Products held at a time by each thread: 8 MB for dense blocks; half a megabyte stays in the cache
_DENSE_PRODUCTS, _SPARSE_PRODUCTS = 1 << 20, 1 << 16
# Rows of a block of dense training rows, and up to how many bytes all are kept about their mean
_BLOCK, _KEPT = 2048, 1 << 26
# Values between these have squares that neither overflow nor vanish
_SMALL, _LARGE = 1e-100, 1e100
_EPS = np.finfo(np.float64).eps
_NO_ENTRIES = np.empty(0, np.int32)


class Searcher:
    """Training rows, prepared for questions about their nearest neighbours."""

    def __init__(self, rows: Rows, cosine: bool):
        self.rows, self.cosine = rows, cosine
        self.prepared = self._prepared(_unit_rows(rows, 0) if cosine else rows)

    def search(self, queries: Rows, k: int, left_out: bool, n_jobs: int | None
               ) -> tuple[np.ndarray, np.ndarray]:
        """(distances, numbers) of the k nearest rows to each query, of shape (n_queries, k). With
        `left_out` the queries are the training rows, and no row is near to itself."""
        prepared, scale = self.prepared, 1.0
        if self.cosine:
            queries = _unit_rows(queries, 1)
        else:
            scale = _scale(self.rows, queries)
            if scale != 1.0:
                queries = _scaled(queries, scale)
                prepared = self._prepared(_scaled(self.rows, scale))
        distance = np.empty((len(queries), k))
        number = np.empty((len(queries), k), np.int64)
        prepared.search(queries, self.cosine, left_out, distance, number, n_jobs)
        if self.cosine:
            distance /= 2.0
        else:
            np.sqrt(distance, out=distance)
            distance /= scale
        return distance, number

    def _prepared(self, rows: Rows) -> _Dense | _Sparse:
        """What is kept of rows in their layout."""
        return (_Dense if rows.layout == "dense" else _Sparse)(rows)


class _Prepared:
    """Rows, and the inner products with them: `_squares` gives |q|^2 of queries, as the products
    have it, and `_products` fills q.x of some queries and all rows."""

    rows: Rows
    square: np.ndarray
    held: int

    def search(self, queries: Rows, unit: bool, left_out: bool, distance: np.ndarray,
               number: np.ndarray, n_jobs: int | None) -> None:
        """Fill both arrays; `unit`: all rows have length 1."""
        step = max(1, min(self.held // len(self.rows), 1024))
        own = self._squares(queries)
        work = partial(self._some, queries, own, unit, left_out, distance, number)
        pieces = [(start, min(start + step, len(queries)))
                  for start in range(0, len(queries), step)]
        # few tasks, of whole blocks: each makes room once
        tasks = np.array_split(np.arange(len(pieces)), min(len(pieces), 64))
        run([partial(work, [pieces[p] for p in task]) for task in tasks], n_jobs)

    def _some(self, queries: Rows, own: np.ndarray, unit: bool, left_out: bool,
              distance: np.ndarray, number: np.ndarray, pieces: list[tuple[int, int]]) -> None:
        """Fill the rows of some pieces."""
        n, d = self.rows.shape
        product = np.empty((pieces[0][1] - pieces[0][0], n))
        entries = np.empty(0 if self.rows.layout == "dense" else _longest(queries), np.int32)
        room, candidates = np.empty(len(entries) or d), np.empty(n, np.int64)
        error = 2 * _EPS * (len(room) + self._terms() + 8)
        for start, stop in pieces:
            if is_cancelled():
                raise Cancelled
            self._products(queries, entries, room, product, start, stop)
            _kernel.nearest(queries, self.rows, own, self.square, product, error, unit, left_out,
                            entries, room, candidates, distance, number, start, stop)

    def _terms(self) -> int:
        """The most terms in a sum over a training row."""
        return _longest(self.rows)


class _Sparse(_Prepared):
    """Sparse rows and their columns."""

    held = _SPARSE_PRODUCTS

    def __init__(self, rows: Rows):
        self.rows, self.square, self.columns = rows, row_squares(rows), transposed(rows)

    def _squares(self, queries: Rows) -> np.ndarray:
        return row_squares(queries)

    def _products(self, queries: Rows, entries: np.ndarray, room: np.ndarray, out: np.ndarray,
                  start: int, stop: int) -> None:
        _kernel.products(queries, self.columns, entries, room, out, start, stop)


class _Dense(_Prepared):
    """Dense rows and their mean, about which inner products lose least to rounding."""

    held = _DENSE_PRODUCTS

    def __init__(self, rows: Rows):
        self.rows = rows
        self.mean = rows.values.reshape(rows.shape).mean(axis=0, dtype=np.float64)
        self.square = self._squares(rows)
        small = rows.shape[0] * rows.shape[1] * 8 <= _KEPT
        self.kept = self._centred(rows, 0, len(rows)) if small else None

    def _centred(self, rows: Rows, start: int, stop: int) -> np.ndarray:
        """Some rows about the mean, in double."""
        if rows.layout == "dense":
            return rows.values.reshape(rows.shape)[start:stop] - self.mean
        return rows[start:stop].toarray() - self.mean

    def _squares(self, queries: Rows) -> np.ndarray:
        out = np.empty(len(queries))

        def some(start: int, stop: int) -> None:
            for first in range(start, stop, _BLOCK):
                last = min(first + _BLOCK, stop)
                block = self._centred(queries, first, last)
                np.einsum("ij,ij->i", block, block, out=out[first:last])

        in_pieces(queries, some)
        return out

    def _products(self, queries: Rows, entries: np.ndarray, room: np.ndarray, out: np.ndarray,
                  start: int, stop: int) -> None:
        block = self._centred(queries, start, stop)
        for first in range(0, len(self.rows), _BLOCK):
            last = min(first + _BLOCK, len(self.rows))
            centred = (self._centred(self.rows, first, last) if self.kept is None
                       else self.kept[first:last])
            np.matmul(block, centred.T, out=out[: stop - start, first:last])


def _longest(rows: Rows) -> int:
    """Entries of the longest row, at least 1."""
    if rows.layout == "dense":
        return rows.shape[1]
    if rows.indptr is None:
        return max(1, rows.width)
    return max(1, int(np.diff(rows.indptr).max(initial=0)))


def _largest(rows: Rows) -> float:
    """The largest absolute value."""
    if rows.values is None:
        return 1.0
    return max(float(rows.values.max(initial=0)), -float(rows.values.min(initial=0)))


def _scale(rows: Rows, queries: Rows) -> float:
    """A power of 2 by which squares of both neither overflow nor vanish."""
    largest = max(_largest(rows), _largest(queries))
    if largest == 0 or _SMALL < largest < _LARGE:
        return 1.0
    return 2.0 ** -max(int(np.frexp(largest)[1]), -1000)


def _scaled(rows: Rows, scale: float) -> Rows:
    """All values times a number, in double."""
    if rows.layout == "dense":
        return as_rows(rows.values.reshape(rows.shape).astype(np.float64) * scale)
    return as_rows(rows.to_csr().astype(np.float64) * scale)


def _unit_rows(rows: Rows, place: int) -> Rows:
    """Rows of length 1 in double, with two more columns. A row without entries gets a 1 in one of
    them, `place` saying which: so it is at right angles to every row that came from other data."""
    n, d = rows.shape
    if rows.layout == "dense":
        unit = np.zeros((n, d + 2))
        values = rows.values.reshape(n, d)
        largest = np.abs(values).max(axis=1).astype(np.float64)
        np.divide(values, np.where(largest > 0, largest, 1.0)[:, None], out=unit[:, :d])
        length = np.empty(n)
        for start in range(0, n, _BLOCK):
            block = unit[start : start + _BLOCK]
            owner = np.repeat(np.arange(len(block)), d + 2)
            # one after the other, as those of sparse rows
            length[start : start + _BLOCK] = np.bincount(owner, np.square(block).ravel())
        length = np.sqrt(length)
        unit /= np.where(length > 0, length, 1.0)[:, None]
        unit[length == 0, d + place] = 1.0
        return as_rows(unit)
    from scipy.sparse import csr_matrix

    matrix = rows.to_csr()
    owner, values = np.repeat(np.arange(n), np.diff(matrix.indptr)), matrix.data.astype(np.float64)
    largest = np.zeros(n)
    np.maximum.at(largest, owner, np.abs(values))
    values /= np.where(largest > 0, largest, 1.0)[owner]
    length = np.sqrt(np.bincount(owner, values * values, n))
    values /= np.where(length > 0, length, 1.0)[owner]
    unit = csr_matrix((values, matrix.indices, matrix.indptr), shape=(n, d + 2))
    nothing = np.flatnonzero(length == 0)
    if len(nothing):
        columns = np.full(len(nothing), d + place)
        unit = unit + csr_matrix((np.ones(len(nothing)), (nothing, columns)), shape=unit.shape)
    return as_rows(unit)
