"""Columns that lie far from 0 beside their spread, brought near it.

Years, timestamps, identifiers: a column of 1e8 plus noise leaves eight digits of the noise to any
sum of its products, and none to their squares. With a free intercept no optimum depends on what is
taken off a column: only b does, by w.c. So such columns are solved for as x_j - c_j with c_j about
their mean, in a copy; differences of numbers within a factor of two are exact (Sterbenz 1974,
"Floating-point computation"). Sparse rows keep their places: a column so far from 0 has an entry in
each row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ._core.rows import Rows, make_rows
from ._data import as_rows
from ._joint_problem import JointFit, JointProblem
from ._parallel import Cancelled, is_cancelled
from ._problem import Fit, Problem
from ._row_centre import fits_single

__all__ = ["Shift", "all_near_zero", "near_zero", "rounded"]

# A mean this many times the spread is far. Up to it squares keep ten digits. Where there is to be
# a copy, columns this far move too.
_FAR, _NOT_NEAR = 1e3, 10.0
# Rows that a first look takes, and the share of these numbers that it takes for them
_SAMPLE, _PERHAPS = 64, 0.25
# What sums of losses may differ by, as a share
_ROUNDING = 1e-12
# Entries looked at at once: few enough to stay in the cache
_BLOCK = 1 << 16

_Problem = TypeVar("_Problem", Problem, JointProblem)
_Fit = TypeVar("_Fit", Fit, JointFit)


def near_zero(problem: _Problem, start: _Fit | None,
              solve: Callable[[_Problem, _Fit | None], _Fit],
              penalty: Callable[[np.ndarray], float] | None = None) -> _Fit:
    """`solve` with the far columns of the problem near 0, and its answer for them as they are;
    `penalty` is what the problem doesn't have itself."""
    return all_near_zero(
        [problem], [start], lambda near, begin: [solve(near[0], begin[0])], penalty
    )[0]


def all_near_zero(problems: list[_Problem], starts: list[_Fit | None],
                  solve: Callable[[list[_Problem], list[_Fit | None]], list[_Fit]],
                  penalty: Callable[[np.ndarray], float] | None = None) -> list[_Fit]:
    """The same for several problems on the same rows, which are in double where their squares would
    not fit single precision."""
    X, dtype = problems[0].X, problems[0].X.dtype
    if dtype == np.float32 and not fits_single(X):
        X = as_rows(X, np.float64)
        problems = [replace(problem, X=X) for problem in problems]
    shift = Shift.of(X) if problems[0].fit_intercept else None
    if shift is not None:
        X = shift.taken_off(X)
        problems = [replace(problem, X=X) for problem in problems]
        starts = [start and shift.moved(start, 1.0) for start in starts]
    starts = [
        start and _worthwhile(problem, start, penalty)
        for problem, start in zip(problems, starts, strict=True)
    ]
    fits = solve(problems, starts)
    return fits if shift is None else [shift.put_back(fit, dtype) for fit in fits]


def _worthwhile(problem: _Problem, start: _Fit,
                penalty: Callable[[np.ndarray], float] | None) -> _Fit | None:
    """A start, unless no weights are better than its: so far away a quadratic model holds for next
    to no step, and rounding leaves nothing of small weights beside large ones. Dual variables stay
    feasible, and are kept."""
    coef = np.maximum(start.coef, 0.0) if problem.positive else start.coef
    beside = penalty(coef.ravel()) if penalty else 0.0
    b, nothing = problem.without_weights()
    if problem.value(coef, start.intercept) + beside <= nothing * (1 + _ROUNDING):
        return start
    if start.dual is None:
        return None
    return replace(start, coef=np.zeros_like(coef), intercept=b)


def rounded(fit: _Fit, dtype: np.dtype, columns: np.ndarray | slice, centre: np.ndarray) -> _Fit:
    """An answer whose weights of some columns, which lie about that centre, are numbers of the type
    that is published: b makes up for what they lose."""
    coef = fit.coef.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        coef[..., columns] = coef[..., columns].astype(dtype)
        if not np.isfinite(coef).all():
            return fit  # refused where it would be published
        lost = (fit.coef - coef)[..., columns] @ centre
    return replace(fit, coef=coef, intercept=fit.intercept + lost)


@dataclass(frozen=True)
class Shift:
    """What is taken off some columns."""

    columns: np.ndarray  # their numbers, ascending
    by: np.ndarray  # float64, but numbers of the rows' type

    @classmethod
    def of(cls, X: Rows) -> Shift | None:
        """Whatever brings the far columns of X near 0; None if there are none."""
        if X.values is None or X.shape[0] < 2 or not X.shape[1]:
            return None
        perhaps = _candidates(X)
        if perhaps is None:
            return None
        counts, squares = perhaps._seen(X)
        whole, variance = counts == len(X), squares / len(X)
        if not (whole & (perhaps.by**2 > _FAR**2 * variance)).any():
            return None
        moved = whole & (perhaps.by**2 > _NOT_NEAR**2 * variance)
        return cls(perhaps.columns[moved], perhaps.by[moved])

    def taken_off(self, X: Rows) -> Rows:
        """X with these columns nearer to 0: values are copied, places shared."""
        n, d = X.shape
        by = self.by.astype(X.dtype)
        if X.layout == "dense":
            values = X.values.reshape(n, d).copy()
            values[:, self.columns] -= by
            return make_rows("dense", n, d, values, None, None, X.dtype)
        values = X.values.copy()
        for start, hits, k in self._entries(X):
            values[start : start + len(hits)][hits] -= by[k]
        return make_rows(X.layout, n, d, values, X.indices, X.indptr, X.dtype)

    def moved(self, fit: _Fit, sign: float) -> _Fit:
        """The same responses with the columns moved to 0 (1), or back (-1)."""
        along = fit.coef[..., self.columns] @ self.by
        return replace(fit, intercept=fit.intercept + sign * along)

    def put_back(self, fit: _Fit, dtype: np.dtype) -> _Fit:
        """An answer for the columns as they were, with weights as numbers of that type."""
        return rounded(self.moved(fit, -1.0), dtype, self.columns, self.by)

    def _seen(self, X: Rows) -> tuple[np.ndarray, np.ndarray]:
        """(entries, sum of (x - c)^2) of each of the columns."""
        counts, squares = np.zeros(len(self.columns)), np.zeros(len(self.columns))
        if X.layout == "dense":
            values = X.values.reshape(X.shape)
            step = max(1, _BLOCK // X.shape[1])
            for start in range(0, len(X), step):
                if is_cancelled():
                    raise Cancelled
                off = values[start : start + step, self.columns] - self.by
                squares += np.square(off).sum(axis=0)
            return counts + len(X), squares
        for start, hits, k in self._entries(X):
            off = X.values[start : start + len(hits)][hits] - self.by[k]
            counts += np.bincount(k, minlength=len(counts))
            squares += np.bincount(k, off * off, len(counts))
        return counts, squares

    def _entries(self, X: Rows):
        """Yield (first entry, which of the next are in these columns, in the how many-th)."""
        place = np.full(X.shape[1], -1, np.int32)
        place[self.columns] = np.arange(len(self.columns))
        for start in range(0, X.nnz, _BLOCK):
            if is_cancelled():
                raise Cancelled
            k = place[X.indices[start : min(start + _BLOCK, X.nnz)]]
            hits = k >= 0
            yield start, hits, k[hits]


def _candidates(X: Rows) -> Shift | None:
    """The columns that look far in some rows, and their means there."""
    rows = np.unique(np.linspace(0, len(X) - 1, _SAMPLE).astype(np.int64))
    columns, values, square = _in_all(X, rows)
    if not len(columns):
        return None
    centre = values[0]
    off = values - centre
    spread = off.std(axis=0)
    mean = centre + off.mean(axis=0)
    # what a row is beside the columns that stand still, which matter only where they drown it
    still = spread == 0
    rest = max(square - float((mean[still] ** 2).sum()), 0.0)
    rest = float((spread**2).sum()) if rest < 1e-10 * square else rest
    least = np.where(still, np.sqrt(rest), spread)
    size = np.abs(mean) / np.maximum(least, np.finfo(np.float64).tiny)
    if not (size > _PERHAPS * _FAR).any():
        return None
    chosen = size > _PERHAPS * _NOT_NEAR
    return Shift(columns[chosen], mean[chosen].astype(X.dtype).astype(np.float64))


def _in_all(X: Rows, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """(columns with an entry in each of these rows, these entries, mean square of the rows)"""
    if X.layout == "dense":
        values = np.empty((len(rows), X.shape[1]))
        values[:] = X.values.reshape(X.shape)[rows]
        return np.arange(X.shape[1]), values, float(np.square(values).sum() / len(rows))
    bounds = [slice(int(X.indptr[i]), int(X.indptr[i + 1])) for i in rows]
    columns = X.indices[min(bounds, key=lambda part: part.stop - part.start)]
    for part in bounds:
        columns = columns[_places(X.indices[part], columns) >= 0]
        if not len(columns):
            return columns, np.empty((len(rows), 0)), 0.0
    columns = np.sort(columns)
    values, square = np.empty((len(rows), len(columns))), 0.0
    for row, part in enumerate(bounds):
        own = X.values[part]
        square += float(np.square(own, dtype=np.float64).sum()) / len(rows)
        values[row] = own[_places(X.indices[part], columns)]
    return columns, values, square


def _places(indices: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Where each of these columns stands among the indices of a row, or -1."""
    if not len(indices):
        return np.full(len(columns), -1)
    order = np.argsort(indices, kind="stable")
    place = order[np.searchsorted(indices, columns, sorter=order) % len(indices)]
    return np.where(indices[place] == columns, place, -1)
