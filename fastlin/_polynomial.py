"""Terms of a polynomial in the columns of `Rows`: how many there are, and the matrix of them.

Rows are worked on in pieces, of which several may run at once. Listed terms go straight to their
places, since their number follows from the number of entries of a row; hashed ones, whose number
shows only when equal columns have been added up, go to arrays of each piece.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import chain, combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from ._core import polynomial as _kernel
from ._core.rows import Rows, make_rows
from ._memory import available_memory, spelt_size
from ._parallel import Cancelled, is_cancelled, run

__all__ = ["Terms", "hashed", "listed"]

_WIDEST, _WIDEST_ROWS = np.iinfo(np.int64).max, np.iinfo(np.int32).max
# Terms per call of a kernel: about 20 ms
_LISTED, _HASHED = 1 << 23, 1 << 21
_NO_NARROW, _NO_WIDE = np.empty(0, np.int32), np.empty(0, np.int64)
_REMEDY = "set n_features to hash the terms to a fixed number of columns, or lower degree"


class Terms(NamedTuple):
    """Which products of d columns there are: of degrees least ... most, and the constant."""

    d: int
    least: int
    most: int
    distinct: bool
    bias: bool

    def of_degree(self, k: int, m: int) -> int:
        """How many products of k of m columns."""
        return math.comb(m, k) if self.distinct else math.comb(m + k - 1, k)

    def of(self, m: int) -> int:
        """How many terms m columns have."""
        if self.distinct:
            degrees = range(self.least, min(self.most, m) + 1)
            return self.bias + sum(self.of_degree(k, m) for k in degrees)
        # sum_{k <= n} C(m + k - 1, k) = C(m + n, n)
        below = self.least - 1
        return self.bias + math.comb(m + self.most, m) - math.comb(m + below, m)

    def width(self) -> int:
        """How many terms all columns have."""
        width = self.of(self.d)
        if width > _WIDEST:
            raise ValueError(
                f"A polynomial of degree {self.most} in {self.d} columns has {width:.2e} terms, "
                f"more than 64-bit column numbers can tell apart; {_REMEDY}."
            )
        return width

    def highest(self) -> np.ndarray:
        """The last column of each degree."""
        last, out = int(self.bias) - 1, np.zeros(self.most + 1, np.int64)
        for k in range(self.least, self.most + 1):
            last += self.of_degree(k, self.d)
            out[k] = last
        return out

    def factors(self, k: int) -> Any:
        """The columns of each term of degree k, in order."""
        choose = combinations if self.distinct else combinations_with_replacement
        return choose(range(self.d), k)

    def powers(self) -> np.ndarray:
        """The exponent of each column in each term."""
        n_terms = self.width()
        _check_room(n_terms, n_terms * self.d * 8)
        powers = np.zeros((n_terms, self.d), np.int64)
        at = int(self.bias)
        for k in range(self.least, self.most + 1):
            columns = np.fromiter(chain.from_iterable(self.factors(k)), np.int64).reshape(-1, k)
            for factor in columns.T:
                # one term at each place: no place comes twice
                powers[np.arange(at, at + len(columns)), factor] += 1
            at += len(columns)
        return powers

    def names(self, columns: Sequence[str]) -> list[str]:
        """How each term is written."""
        n_terms = self.width()
        _check_room(n_terms, n_terms * 64)
        names = ["1"] if self.bias else []
        for k in range(self.least, self.most + 1):
            names += [_name_of(factors, columns) for factors in self.factors(k)]
        return names


def _name_of(factors: Sequence[int], columns: Sequence[str]) -> str:
    """A product as text."""
    powers: dict[int, int] = {}
    for j in factors:
        powers[j] = powers.get(j, 0) + 1
    return " ".join(columns[j] if e == 1 else f"{columns[j]}^{e}" for j, e in powers.items())


def _check_room(n_terms: int, needed: int) -> None:
    """Raise if so many terms don't fit into memory."""
    free = available_memory() if needed > 1 << 26 else None
    if free is not None and needed > free:
        raise ValueError(
            f"The {n_terms:,} terms need {spelt_size(needed)} of memory, of which "
            f"{spelt_size(free)} are available; transform fewer rows at a time, or {_REMEDY}."
        )


def _row_sizes(X: Rows) -> np.ndarray:
    """How many entries of each row are not 0."""
    n, d = X.shape
    if X.layout == "dense":
        return np.count_nonzero(X.values.reshape(n, d), axis=1)
    if X.indptr is None:
        return np.full(n, X.width, np.int64)
    if X.values is None or np.count_nonzero(X.values) == len(X.values):
        return np.diff(X.indptr)
    before = np.concatenate([[0], np.cumsum(X.values != 0)])
    return np.diff(before[X.indptr])


def _terms_per_row(terms: Terms, sizes: np.ndarray, most: int) -> np.ndarray:
    """How many terms each row has, or `most` of them."""
    table = np.zeros(int(sizes.max(initial=0)) + 1, np.int64)
    for m in np.flatnonzero(np.bincount(sizes)).tolist():
        table[m] = min(terms.of(m), most)
    return table[sizes]


def _starts(per_row: np.ndarray, itemsize: int) -> np.ndarray:
    """Where the terms of each row begin; raises if they don't fit into memory."""
    # the exact sum might not fit 64 bits
    total = float(per_row.sum(dtype=np.float64))
    _check_room(int(total), int(total * itemsize))
    starts = np.zeros(len(per_row) + 1, np.int64)
    np.cumsum(per_row, out=starts[1:])
    return starts


def _pieces(per_row: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Runs of rows with about `size` terms, or one row with more."""
    before = np.concatenate([[0.0], np.cumsum(per_row, dtype=np.float64)])
    pieces, start, n = [], 0, len(per_row)
    while start < n:
        stop = int(np.searchsorted(before, before[start] + size, "right")) - 1
        stop = min(max(stop, start + 1), n)
        pieces.append((start, stop))
        start = stop
    return pieces


def _room(terms: Terms, longest: int, dtype: np.dtype) -> tuple:
    """Arrays that a kernel works in: numbers, keys, entries, products and values."""
    k, longest = terms.most, longest + _kernel.STEP
    # what is read behind the entries is a number, too
    return (np.empty(k * (2 + longest) + 1, np.int64), np.empty(max(k, 1), np.uint64),
            np.zeros(longest, np.int32), np.zeros(k + longest, dtype))  # fmt: skip


def _check_finite(X: Rows, terms: Terms, values: np.ndarray) -> None:
    """Raise if a product has overflowed."""
    if X.values is None or not values.size:
        return
    largest = max(float(X.values.max()), -float(X.values.min()), 1.0)
    if math.log(largest) * terms.most + math.log(values.size) < math.log(np.finfo(X.dtype).max):
        return
    if not np.isfinite(values).all():
        raise ValueError(
            f"A term of degree {terms.most} is too large for {X.dtype}: the largest value of X is "
            f"{largest:g}; scale the columns of X, or lower degree."
        )


def listed(X: Rows, terms: Terms, as_rows: bool, order: str, n_jobs: int | None) -> Any:
    """The terms of each row, in a column each: an array of dense rows, else a CSR matrix."""
    width = terms.width()
    if as_rows and width > _WIDEST_ROWS:
        raise ValueError(
            f"output='rows' has 32-bit column numbers, too few for {width} terms; {_REMEDY}."
        )
    dense = X.layout == "dense"
    sizes = np.full(len(X), X.shape[1]) if dense else _row_sizes(X)
    if dense:
        _check_room(width, width * len(X) * X.dtype.itemsize)
        return _listed_densely(X, terms, width, as_rows, order, n_jobs)
    per_row = _terms_per_row(terms, sizes, _WIDEST)
    starts = _starts(per_row, 4 + X.dtype.itemsize)
    total = int(starts[-1])
    narrow = width <= _WIDEST_ROWS and (as_rows or total <= _WIDEST_ROWS)
    columns = np.empty(total, np.int32 if narrow else np.int64)
    ones = X.layout == "ones"
    values = np.empty(0 if ones else total, X.dtype)
    longest = int(sizes.max(initial=0))
    to = (columns, _NO_WIDE) if narrow else (_NO_NARROW, columns)
    run([partial(_list_piece, X, terms, starts[begin:], longest, *to, values, begin, end)
         for begin, end in _pieces(per_row, _LISTED)], n_jobs)  # fmt: skip
    _check_finite(X, terms, values)
    if as_rows:
        kind = "ones" if ones else "csr"
        return make_rows(kind, len(X), width, None if ones else values, columns, starts, X.dtype)
    return _matrix(np.ones(total, X.dtype) if ones else values, columns, starts, width)


def _list_piece(X: Rows, terms: Terms, starts: np.ndarray, longest: int, narrow: np.ndarray,
                wide: np.ndarray, values: np.ndarray, start: int, stop: int) -> None:
    """Write the terms of some rows."""
    if is_cancelled():
        raise Cancelled
    _kernel.list_terms(X, terms.distinct, terms.bias, terms.least, terms.highest(),
                       starts[: stop - start + 1], *_room(terms, longest, X.dtype), narrow, wide,
                       values, start, stop)


def _listed_densely(X: Rows, terms: Terms, width: int, as_rows: bool, order: str,
                    n_jobs: int | None) -> Any:
    """All terms of dense rows, zeros as well."""
    n = len(X)
    out = np.empty((n, width), X.dtype, order="C" if as_rows else order)
    whole = out.flags.c_contiguous

    def fill(start: int, stop: int) -> None:
        starts = np.arange(stop - start + 1) * width
        part = out[start:stop].reshape(-1) if whole else np.empty(starts[-1], X.dtype)
        _list_piece(X, terms, starts, X.shape[1], _NO_NARROW, _NO_WIDE, part, start, stop)
        if not whole:
            out[start:stop] = part.reshape(stop - start, width)

    pieces = _pieces(np.full(n, width), _LISTED)
    run([partial(fill, *piece) for piece in pieces], n_jobs)
    _check_finite(X, terms, out)
    return make_rows("dense", n, width, out, None, None, X.dtype) if as_rows else out


def hashed(X: Rows, terms: Terms, n_features: int, signs: bool, as_rows: bool,
           n_jobs: int | None) -> Any:
    """The terms of each row added up in the columns that they hash to."""
    sizes = _row_sizes(X)
    effort = _terms_per_row(terms, sizes, _WIDEST)
    most = np.minimum(effort, n_features)
    _starts(most, 4 + X.dtype.itemsize)
    work = partial(_hash_piece, X, terms, n_features, signs, sizes, effort, most)
    parts = run([partial(work, *piece) for piece in _pieces(effort, _HASHED)], n_jobs)
    counts, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    starts = np.zeros(len(X) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    _check_finite(X, terms, values)
    if as_rows:
        return make_rows("csr", len(X), n_features, values, columns, starts, X.dtype)
    return _matrix(values, columns, starts, n_features)


def _hash_piece(X: Rows, terms: Terms, n_features: int, signs: bool, sizes: np.ndarray,
                effort: np.ndarray, most: np.ndarray, start: int, stop: int) -> tuple:
    """(terms per row, columns, values) of some rows."""
    room = _room(terms, int(sizes[start:stop].max(initial=0)), X.dtype)
    # room as fl_polynomial.h asks for
    slots = 3 * int(most[start:stop].max(initial=0)) + 1
    table, sums = np.full(slots, -1, np.int32), np.zeros(slots)
    size = int(most[start:stop].sum())
    columns, values = np.empty(size + 1, np.int32), np.empty(size + 1, X.dtype)
    least, ends = terms.least, np.empty(len(X), np.int64)
    if effort[start] > 2 * _HASHED:
        _hash_long_row(X, terms, n_features, signs, start, int(sizes[start]), int(most[start]),
                       (*room, table, sums))
        least = terms.most + 1  # they are in the table
    elif is_cancelled():
        raise Cancelled
    end = _kernel.hash_terms(X, terms.distinct, terms.bias, least, terms.most, signs, n_features,
                             most, *room, table, sums, columns, values, ends, 0, start, stop)
    counts = np.diff(ends[start:stop], prepend=0)
    return counts, columns[:end].copy(), values[:end].copy()


def _hash_long_row(X: Rows, terms: Terms, n_features: int, signs: bool, i: int, size: int,
                   most: int, room: tuple) -> None:
    """Add the terms of one row to the table, some first factors at a time."""
    for k in range(terms.least, terms.most + 1):
        step = max(1, size * _HASHED // max(1, terms.of_degree(k, size)))
        for first in range(0, size, step):
            if is_cancelled():
                raise Cancelled
            _kernel.hash_some_terms(X, terms.distinct, k, signs, n_features, most, *room, i, first,
                                    first + step)


def _matrix(values: np.ndarray, columns: np.ndarray, starts: np.ndarray, width: int) -> Any:
    """A CSR matrix with one type of index."""
    from scipy.sparse import csr_matrix

    kind = columns.dtype
    if len(columns) > _WIDEST_ROWS:
        kind = np.dtype(np.int64)
    arrays = values, columns.astype(kind, copy=False), starts.astype(kind, copy=False)
    X = csr_matrix(arrays, shape=(len(starts) - 1, width))
    X.has_canonical_format = True
    return X
