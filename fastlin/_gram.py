"""Coordinate descent on a quadratic model by its Gram matrix ("covariance updates").

Where columns resemble each other, coordinate descent takes many turns. For up to some hundred
columns the products of all pairs are worth their price, that of some twenty turns: with them a turn
no longer touches the rows (Friedman, Hastie & Tibshirani 2010). The matrix grows as columns join.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._centred import DENSE_SHARE, Centred, is_denselike
from ._core import primal_cd as _primal
from ._core.rows import Rows
from ._lapack import factored, matmul
from ._parallel import Cancelled, is_cancelled
from ._problem import Certificate, Fit, Problem
from ._quadratic import Model, add_columns, entries_of, slopes_along
from ._row_slices import columns_taken, rows_taken
from ._scores import rows_per_call
from ._solve import is_little

__all__ = ["MOST_TURNS", "Gram", "GramPath", "is_for_products", "products"]

# Columns at most, and where the matrix and what solving with it takes, as much again, would be more
# than 4 bytes per entry of X: up to 8 MB there
_MOST_COLUMNS, _MOST_OF_FEW, _ENTRIES_PER_PAIR = 1024, 720, 4
_MOST_HEAVY = 256
# The price, in entries of turns, below which the matrix is next to nothing: few rows with many
# columns
_LITTLE = 1e5
# Products of pairs in the time of one entry of a turn, by BLAS and by entries, and entries of a
# turn in the time of finding the wanted ones among as many of sparse rows
_DENSE_SPEED, _SPARSE_SPEED = 8.0, 3.0
_SEARCHED = 0.33
# A column whose mean is so large beside its spread loses too many digits in products.
_FAR_FROM_ZERO = 1e6
# Multiplications per call of the kernel: some 20 ms
_PER_CALL = 2e7
# Shares of its diagonal that a matrix gets more until it has a factor
_RIDGES = (1e-13, 1e-10, 1e-7)
# Places where weights get to 0 between two turns
_MOST_FACES = 100
# A turn that lowers the objective by no more than this share of it is the last.
_NOTHING = 1e-16
# Turns by products of all pairs on one penalty
MOST_TURNS = 300
# What rounding may leave of the squares of the target
_NOISE = 1e-13
# Entries of a block of dense rows, and rows that make adding up its products cheap beside them
_BLOCK, _MANY = 1 << 17, 256


def products(X: Rows, columns: Rows, chosen: np.ndarray, h: np.ndarray) -> np.ndarray:
    """sum_i h_i x_ia x_ib of the pairs of chosen columns, for h >= 0, without a copy of them;
    `columns` is the transpose of X."""
    n, size = len(X), len(chosen)
    out = np.zeros((size, size))
    if columns.layout != "dense" and entries_of(columns, chosen) <= DENSE_SHARE * n * size:
        slot = np.full(X.shape[1], -1, np.int32)
        slot[chosen] = np.arange(size)
        add_products(X, slot, h, 0.0, 0, out)
        out += np.tril(out.T, -1) + np.triu(out.T, 1)
        return out
    rows = _rows_of_block(size)
    for start in range(0, n, rows):
        if is_cancelled():
            raise Cancelled
        run = np.arange(start, min(start + rows, n))
        block = columns_taken(rows_taken(X, run), chosen).toarray()
        block = block.astype(np.float64, copy=False)
        block *= np.sqrt(h[run])[:, None]
        out += matmul(block.T, block)
    return out


def is_for_products(X: Rows) -> bool:
    """Whether the products of all columns cost next to nothing."""
    return X.shape[1] <= _MOST_HEAVY and is_little(*X.shape) and is_denselike(X)


class GramPath:
    """The squared error with one penalty after the other by the products of all pairs of columns:
    on little data what counts else is the price of a call."""

    def __init__(self, problem: Problem, l1: np.ndarray, l2: np.ndarray):
        rows = Centred(problem)
        self._mean = float(rows.share @ problem.y) if problem.fit_intercept else 0.0
        target = problem.y - self._mean
        pull = rows.share * target
        # minus the slopes at 0, and the mean square there
        q, self._centre, self._square = rows.rmatvec(pull), rows.centre, float(pull @ target)
        G = rows.gram()
        self.coef = np.zeros((len(l1), len(q)))
        self.objective, self.gap = np.zeros((2, len(l1)))
        self.turns = np.zeros(len(l1), np.int64)
        self._data = G, q, self._square, np.arange(len(q)), l1, l2, problem.positive
        self._w, self._v = np.zeros((2, len(q)))
        self._per_call = max(1, int(_PER_CALL / max(1, G.size)))

    def go_on(self, k: int, w: np.ndarray, tol: float, most: int) -> int:
        """From penalty k on, with the weights w, to the first after one whose gap is too large
        after `most` turns, or to the end."""
        self._w[:] = w
        while k < len(self.gap):
            if is_cancelled():
                raise Cancelled
            k = _primal.gram_path(
                *self._data, tol, _NOISE, most, self._per_call, self._w, self._v, self.coef,
                self.objective, self.gap, self.turns, k,
            )
            if not self.is_good(k - 1, tol):
                break
        return k

    def is_good(self, k: int, tol: float) -> bool:
        """Whether the answer for penalty k is as good as asked for, whatever rounding hides."""
        return bool(self.gap[k] + _NOISE * self._square <= tol * self.objective[k])

    def fit(self, k: int, tol: float) -> Fit:
        """The answer for penalty k."""
        gap, objective, w = float(self.gap[k]), float(self.objective[k]), self.coef[k]
        certificate = Certificate.of(objective, objective - gap, 0.5 * self._square)
        b = self._mean - float(self._centre @ w)
        return Fit(w, b, int(self.turns[k]), certificate, self.is_good(k, tol))


def _rows_of_block(columns: int) -> int:
    """Rows whose products are found at once."""
    return max(_BLOCK // max(1, columns), min(_MANY, columns))


def add_products(X: Rows, slot: np.ndarray, h: np.ndarray, each: float, first: int,
                 out: np.ndarray, some: np.ndarray | None = None) -> None:
    """Add the products of columns with slots from `first` on, with each other at either of the two
    places of a pair, and with those before; `some` are the rows that hold any of them."""
    some = np.arange(len(X)) if some is None else some
    longest = X.width if X.indptr is None else int(np.diff(X.indptr).max(initial=0))
    places, values = np.empty(longest, np.int32), np.empty(longest)
    piece = max(1, rows_per_call(X) // 8)
    for start in range(0, len(some), piece):
        if is_cancelled():
            raise Cancelled
        _primal.gram(X, slot, h, each, first, out, places, values, some, start,
                     min(start + piece, len(some)))


def rows_of(columns: Rows, chosen: np.ndarray) -> np.ndarray:
    """The rows with entries in chosen columns of sparse ones."""
    held = np.zeros(columns.shape[1], bool)
    for j in chosen:
        rows = columns.indices[columns.indptr[j] : columns.indptr[j + 1]]
        # those of -1 in hashed data are complements
        held[rows ^ (rows >> 31) if columns.layout == "signed" else rows] = True
    return np.flatnonzero(held)


class Gram:
    """The Gram matrix of columns of a model, centred where there is an intercept.

    Whether turns alone would do soon is not known: so the matrix is made when turns, whose entries
    `spent` counts, have taken as long as it takes. That is at most twice the best way.
    """

    def __init__(self, X: Rows, model: Model, spent: float = 0.0):
        self._X, self._model, self.spent = X, model, spent
        of_entries = int(np.sqrt(X.nnz / _ENTRIES_PER_PAIR))
        self._most = min(_MOST_COLUMNS, max(_MOST_OF_FEW, of_entries))
        self._forget()

    def _forget(self) -> None:
        """Begin without columns."""
        self._slot = np.full(self._X.shape[1], -1, np.int32)
        self._members = np.empty(0, np.int64)
        self.matrix = np.zeros((0, 0))

    def admits(self, chosen: np.ndarray) -> bool:
        """Whether these columns have their products, or get them now because it pays."""
        new = chosen[self._slot[chosen] < 0]
        if not len(new):
            return True
        model = self._model
        model.need(chosen)
        if len(chosen) > self._most or (
            model.total * model.mean[chosen] ** 2 > _FAR_FROM_ZERO * model.curvature[chosen]
        ).any():
            return False
        if len(self._members) + len(new) > self._most:
            self._forget()
            new = chosen
        columns = model.columns
        dense = columns.layout == "dense"
        others = entries_of(columns, np.r_[self._members, new]) / columns.shape[1]
        held = entries_of(columns, new)
        looked = 0.0 if dense else self._X.nnz * min(1.0, held / len(self._X))
        price = held * others / (_DENSE_SPEED if dense else _SPARSE_SPEED) + looked / _SEARCHED
        if price > max(self.spent, _LITTLE):
            return False
        self.spent -= price
        self._add(new)
        return True

    def has(self, chosen: np.ndarray) -> bool:
        """Whether these columns have their products."""
        return bool((self._slot[chosen] >= 0).all())

    def heaviest(self, chosen: np.ndarray) -> np.ndarray:
        """Those of the chosen columns with the most entries: if turns are slow, it is they that
        resemble each other."""
        columns = self._model.columns
        if columns.indptr is None or len(chosen) <= _MOST_HEAVY:
            return chosen[:_MOST_HEAVY]
        sizes = columns.indptr[chosen + 1] - columns.indptr[chosen]
        return np.sort(chosen[np.argpartition(-sizes, _MOST_HEAVY)[:_MOST_HEAVY]])

    def _add(self, new: np.ndarray) -> None:
        """Multiply new columns with each other and with those that are there."""
        model, first = self._model, len(self._members)
        self._members = np.r_[self._members, new]
        size = len(self._members)
        self._slot[new] = np.arange(first, size)
        matrix = np.zeros((size, size))
        matrix[:first, :first] = self.matrix
        self.matrix, fresh = matrix, matrix[first:]
        if self._X.layout == "dense":
            self._add_dense(fresh, new)
        else:
            add_products(self._X, self._slot, model.h, model.each, first, matrix,
                         rows_of(model.columns, new))
            corner = fresh[:, first:]
            corner += np.tril(corner.T, -1) + np.triu(corner.T, 1)
        mean = model.mean[self._members]
        fresh -= model.total * np.outer(mean[first:], mean)
        matrix[:first, first:] = fresh[:, :first].T
        np.fill_diagonal(matrix, model.curvature[self._members])

    def _add_dense(self, out: np.ndarray, new: np.ndarray) -> None:
        """Products of new columns with all, from blocks of rows of theirs."""
        model, members = self._model, self._members
        values, n = model.columns.values.reshape(model.columns.shape), len(self._X)
        step = _rows_of_block(len(members))
        for start in range(0, n, step):
            if is_cancelled():
                raise Cancelled
            rows = slice(start, start + step)
            left = values[new, rows].astype(np.float64)
            left *= model.h[rows] if len(model.h) else model.each
            out += left @ values[members, rows].astype(np.float64, copy=False).T

    def descend(self, chosen: np.ndarray, l1: float, l2: float, positive: bool, w: np.ndarray,
                r: np.ndarray, most: int, goal: float,
                dual: Callable[[np.ndarray, float, float], float] | None = None
                ) -> tuple[int, float]:
        """Turns over chosen columns until their duality gap, or without a dual the decrease of a
        turn, is down to the goal; `w` and `r`, which has to be centred, change with them:
        (how many, change of the intercept)."""
        places = self._slot[chosen].astype(np.int64)
        inside = w[self._members]
        before = inside.copy()
        v = slopes_along(self._model.columns, self._members, self._model.pieces(self._members), r)
        square = self._model.square(r) if dual else 0.0
        turns, enough = 0, 0.3 * goal
        per_call = int(np.clip(_PER_CALL / max(1, len(places) * len(inside)), 1, 20))
        while turns < most:
            if is_cancelled():
                raise Cancelled
            done, decrease, square = _primal.descend_gram(
                self.matrix, places, l1, l2, positive, inside, v, square,
                min(per_call, most - turns), enough,
            )
            turns += done
            if dual is None:
                if decrease <= enough:
                    break
            else:
                own = inside[places]
                primal = (0.5 * square + l1 * float(np.abs(own).sum())
                          + 0.5 * l2 * float(own @ own))
                gap = primal - dual(v[places], square, float(own @ v[places]) + square)
                if gap <= goal or decrease <= _NOTHING * primal:
                    break
            square = self._to_face_minimum(places, l1, l2, positive, inside, v, square)
            if decrease <= enough:
                enough *= 0.01
        return turns, self._carry_over(inside, before, w, r)

    def _to_face_minimum(self, places: np.ndarray, l1: float, l2: float, positive: bool,
                         inside: np.ndarray, v: np.ndarray, square: float) -> float:
        """Go where the weights that are not 0 would be best if no sign changed, without those that
        get to 0 on the way: what is left of sum_i r_i^2 / h_i. Turns alone would take long where
        columns resemble each other."""
        some = places[inside[places] != 0]
        factor = self._factor(some, l2)
        if factor is None:
            return square
        room, per_call = np.empty((2, len(v))), max(1, int(_PER_CALL / (len(some) * len(v))))
        for start in range(0, _MOST_FACES, per_call):
            if is_cancelled():
                raise Cancelled
            square, whole = _primal.to_face_minimum(
                self.matrix, some, l1, l2, positive, inside, v, square, factor, *room,
                min(per_call, _MOST_FACES - start))
            if whole:
                break
            # the kernel has moved those that are left to the front, where R has them, too
            some = places[inside[places] != 0]
        return square

    def _factor(self, some: np.ndarray, l2: float) -> np.ndarray | None:
        """R such that R^T R is the matrix of some columns plus l2 I, or next to it where columns
        depend on each other; None where it can't be made."""
        if not len(some):
            return None
        from scipy.linalg.lapack import dpotrf

        for ridge in _RIDGES:
            # the factor is written over its one copy, of what may be 8 MB
            bend = self.matrix[np.ix_(some, some)]
            diagonal = np.einsum("ii->i", bend)  # a view, which may be written to
            diagonal += l2
            diagonal *= 1 + ridge
            factor, refused = factored(dpotrf, bend.T, overwrite_a=1)
            if not refused:
                return factor.T
        return None

    def _carry_over(self, inside: np.ndarray, before: np.ndarray, w: np.ndarray,
                    r: np.ndarray) -> float:
        """Write the new weights, and take what they explain off the residuals: what the intercept
        takes."""
        change = np.zeros(len(w))
        change[self._members] = inside - before
        w[self._members] = inside
        z = np.zeros(len(r))
        add_columns(self._model.columns, self._members, change, z)
        r -= z * (self._model.h if len(self._model.h) else self._model.each)
        return self._model.centre(r, float(r.sum()))
