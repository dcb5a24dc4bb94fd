"""Kernels of vectors: dot products of blocks of rows, and what becomes of them.

Dense rows go to BLAS. Of sparse ones a block is spread out and goes through all others at once, so
that each entry of these is read once for the whole block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from . import _parallel
from ._blocks import matvec, row_squares
from ._core import gram as _gram
from ._core.rows import Rows
from ._isa import ISA
from ._row_slices import rows_taken
from ._scores import score_rows
from ._strings import mirror

__all__ = ["Vectors", "dot_products", "gaussian", "in_strips", "in_triangle", "polynomial"]

# Numbers of a strip of the Gram matrix, and of rows that are spread out: some 50 ms, and 32 MB
_STRIP = 1 << 21
_SPREAD = 1 << 22
# Rows of a symmetric matrix at a time: half a block on the diagonal is made twice
_FEW_ROWS = 128
_EPS = float(np.finfo(np.float64).eps)
# The error of gamma |x - z|^2 that is taken
_CLOSE = 1e-6


class Vectors:
    """Rows in double, and what kernels of them need.

    Distances don't hang on the place of the origin, but their rounding does: dense rows are moved
    so that `centre` is there.
    """

    def __init__(self, X: Rows, centre: np.ndarray | None = None):
        self.X, self.centre = X, centre
        self.dense = X.values.reshape(X.shape) if X.layout == "dense" else None
        if self.dense is not None and centre is not None:
            self.dense = self.dense - centre
        self._squares: np.ndarray | None = None
        self._largest = 0.0

    def __len__(self) -> int:
        return len(self.X)

    @property
    def squares(self) -> np.ndarray:
        """|x_i - centre|^2 of each row"""
        return self.measure()

    def measure(self) -> np.ndarray:
        """The same; the first call takes a pass over the rows."""
        if self._squares is None:
            dense, centre = self.dense, self.centre
            if dense is not None:
                self._squares = np.einsum("ij,ij->i", dense, dense)
            else:
                self._squares = row_squares(self.X)
                if centre is not None:
                    self._largest = float(self._squares.max(initial=0.0))
                    self._squares += centre @ centre - 2 * matvec(self.X, centre)
            self._largest = max(self._largest, float(self._squares.max(initial=0.0)))
        return self._squares

    @property
    def rounding(self) -> float:
        """About what a squared distance from one of the rows may be wrong by."""
        self.measure()
        return 8 * _EPS * self._largest

    def taken(self, rows: np.ndarray) -> Vectors:
        """Some of the rows."""
        return Vectors(rows_taken(self.X, rows), self.centre)

    def spread(self, rows: slice | np.ndarray) -> np.ndarray:
        """Some rows as a dense array."""
        if self.dense is not None:
            return self.dense[rows]
        numbers = np.arange(len(self))[rows]
        dense = rows_taken(self.X, numbers).toarray()
        return dense if self.centre is None else dense - self.centre


def dot_products(A: Vectors, rows: slice | np.ndarray, B: Vectors,
                 out: np.ndarray | None = None, begin: int = 0) -> np.ndarray:
    """Products of some rows of A with the rows of B from one on."""
    if B.dense is not None:
        return np.matmul(A.spread(rows), B.dense[begin:].T, out=out)
    numbers = np.arange(len(A))[rows]
    others = rows_taken(B.X, np.arange(begin, len(B))) if begin else B.X
    out = np.empty((len(numbers), len(others))) if out is None else out
    step = max(1, _SPREAD // B.X.shape[1])
    for first in range(0, len(numbers), step):
        W = A.spread(numbers[first : first + step])
        out[first : first + step] = score_rows(others, W, np.zeros(len(W))).T
    return out


def polynomial(A: Vectors, rows: slice | np.ndarray, B: Vectors, degree: int, gamma: float,
               coef0: float, begin: int = 0) -> np.ndarray:
    """(gamma x.z + coef0)^degree of some rows of A with those of B from one on."""
    base = dot_products(A, rows, B, begin=begin)
    base *= gamma
    base += coef0
    out, rest = None, degree
    # by squaring: a power of numpy takes ten times as long
    while rest:
        if rest & 1:
            out = base.copy() if out is None else np.multiply(out, base, out)
        rest >>= 1
        if rest:
            base *= base
    return np.ones_like(base) if out is None else out


def gaussian(A: Vectors, rows: slice | np.ndarray, B: Vectors, gamma: float,
             out: np.ndarray | None = None, begin: int = 0) -> np.ndarray:
    """exp(-gamma |x - z|^2) of some rows of A with those of B from one on."""
    if gamma * max(A.rounding, B.rounding) > _CLOSE:
        raise ValueError(
            "rows of X lie so far from each other, or sparse ones from 0, that rounding hides "
            f"their distances at gamma={gamma:g}: scale the columns, or choose a lower gamma."
        )
    out = np.ascontiguousarray(dot_products(A, rows, B, out, begin))
    _gram.gaussian(ISA, out, gamma, np.ascontiguousarray(A.squares[rows]), B.squares[begin:])
    if A is B:
        numbers = np.arange(len(A))[rows]
        out[np.arange(len(numbers)), numbers - begin] = 1.0
    return out


def in_strips(block: Callable[[slice], np.ndarray], n_rows: int, n_columns: int,
              n_jobs: int | None) -> np.ndarray:
    """A matrix of which `block(rows)` gives some rows at a time."""
    out = np.empty((n_rows, n_columns))
    step = max(1, min(_STRIP // max(1, n_columns), -(-n_rows // _parallel.n_threads(n_jobs))))

    def fill(rows: slice) -> None:
        """A strip."""
        out[rows] = block(rows)

    tasks = [partial(fill, slice(k, min(k + step, n_rows))) for k in range(0, n_rows, step)]
    _parallel.run(tasks, n_jobs)
    return out


def in_triangle(block: Callable[[slice, int], np.ndarray], n: int,
                n_jobs: int | None) -> np.ndarray:
    """A symmetric matrix of which `block(rows, k)` gives some rows, from column k on."""
    out = np.empty((n, n))
    step = max(1, min(_STRIP // max(1, n), _FEW_ROWS))

    def fill(rows: slice) -> None:
        """A strip and its mirror image."""
        found, size = block(rows, rows.start), rows.stop - rows.start
        mirror(found[:, :size])
        out[rows, rows.start :] = found
        out[rows.stop :, rows] = found[:, size:].T

    tasks = [partial(fill, slice(k, min(k + step, n))) for k in range(0, n, step)]
    _parallel.run(tasks, n_jobs)
    return out
