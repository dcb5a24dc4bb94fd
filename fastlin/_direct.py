"""Least squares and ridge regression by one factorisation in double, or by less where less will do.

With rows centred by their weighted mean where b is free, p_i = s_i/S and A = sqrt(p_i) (x_i - c),

    (A^T A + l2 I) w = A^T r      or, for fewer rows than columns,     w = A^T (A A^T + l2 I)^-1 r,

r_i = sqrt(p_i) (y_i - mean). Columns are scaled to equal length before the Cholesky factorisation,
which costs no accuracy and shows how near to singular they are; in a matrix of rows, columns that
dominate the others stay apart (`_graded`). The normal equations square the condition of A;
corrections by the true residual, at two passes over the rows each, give the lost digits back
(Golub & Van Loan 2013, "Matrix computations", section 5.3.8). What is too near to singular goes to
the singular value decomposition of A: the solution of least norm.

Where matrices are of some size, conjugate gradients have the first try (`_cg`, or `_newton` without
a penalty, of sparse rows): for as long as they promise to end before a factorisation would. Then,
of dense rows, a factor in single precision as their preconditioner: at half the price two or three
steps usually do (Carson & Higham 2018 have the theory of such mixtures). What is left needs all the
digits, and gets them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _cg, _newton
from ._centred import ROUNDING, Centred, is_denselike, measured
from ._cholesky import cholesky, rough_inverse
from ._core.rows import Rows
from ._far_columns import rounded
from ._graded import GradedKernel, dominating
from ._lapack import lapack
from ._problem import Fit, Problem

__all__ = [
    "MOST_ORDER", "ByColumns", "ByGradedRows", "DirectFit", "Factor", "answer", "in_their_type",
    "solve", "solve_all",
]  # fmt: skip

# Largest order of the matrix that is factorised, and the multiplications that may go into it for
# each stored entry: beyond them conjugate gradients cost less
MOST_ORDER = 6000
_WORTH = 4000
# Order up to which a factorisation is always made, which much else can be read from
_SMALL_ORDER = 256
# Multiplications of pairs by BLAS in the time of one entry in a step of conjugate gradients
_PRODUCTS_PER_STEP = 16
# Conjugate gradients behind a factor in single precision
_MOST_ROUGH = 30
# Entries of the densest copy of sparse rows, for a decomposition without a penalty
_DENSE_COPY = 1 << 25
# Reciprocal condition number of the scaled matrix from which corrections give all digits
_WELL = 1e-10
_CORRECTIONS = 8
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class DirectFit(Fit):
    """With what a decomposition tells about the centred rows, unweighted scale included."""

    rank: int | None = None
    singular: np.ndarray | None = None  # of sqrt(s_i) (x_i - c)
    factor: Any = None  # of A^T A + l2 I, where that is what was factorised


def solve(problem: Problem, tol: float, max_iter: int, seed: np.ndarray,
          start: Fit | None = None) -> Fit:
    """The optimum by one factorisation, or by conjugate gradients where that costs less."""
    return solve_all([problem], tol, max_iter, seed, [start])[0]


def solve_all(problems: list[Problem], tol: float, max_iter: int, seed: np.ndarray,
              starts: list[Fit | None], factorise: bool = False) -> list[Fit]:
    """The same for problems that differ in their targets only: they share the factorisation. With
    `factorise` nothing else is tried before, if the data are such that there is a factorisation."""
    fits = _solved(problems, tol, max_iter, seed, starts, factorise)
    return in_their_type(problems[0], fits)


def in_their_type(problem: Problem, fits: list[Fit]) -> list[Fit]:
    """Answers for these rows with weights of their type, in which they are published."""
    X = problem.X
    if not problem.fit_intercept or X.dtype == np.float64:
        return fits
    centre = Centred(problem).centre
    return [rounded(fit, X.dtype, slice(None), centre) for fit in fits]


def _solved(problems: list[Problem], tol: float, max_iter: int, seed: np.ndarray,
            starts: list[Fit | None], factorise: bool) -> list[Fit]:
    """The answers in double."""
    first = problems[0]
    if not _is_worth_it(first):
        return [_cg.solve(problem, tol, max_iter) if problem.l2 > 0 else
                _newton.solve(problem, tol, max_iter, seed, start)
                for problem, start in zip(problems, starts, strict=True)]
    fits = [] if factorise else _without_a_factor(problems, tol, max_iter, seed)
    if fits:
        return fits
    rows = Centred(first)
    if first.l2 == 0:
        factor: Factor = _factor_without_penalty(rows)
    else:
        factor = _factor_with_penalty(rows, first.l2, first.fit_intercept)
    return [answer(problem, rows, factor, tol) for problem in problems]


def _is_worth_it(problem: Problem) -> bool:
    """Whether a factorisation costs less than conjugate gradients would."""
    n, d = problem.X.shape
    order = min(n, d)
    if problem.l2 == 0 and not is_denselike(problem.X):
        return n * d <= _DENSE_COPY and order <= MOST_ORDER
    if order > MOST_ORDER:
        return False
    if is_denselike(problem.X):
        return True
    return _pairs(problem.X) + order**3 / 8 <= _WORTH * problem.X.nnz


def _pairs(X: Rows) -> float:
    """Multiplications of the Gram matrix of sparse rows: each pair of entries of a row, or each
    entry with each row."""
    n, d = X.shape
    size = X.nnz / n
    return X.nnz * (size if d <= n else n * size / d)


def _without_a_factor(problems: list[Problem], tol: float, max_iter: int,
                      seed: np.ndarray) -> list[Fit]:
    """The answers, if conjugate gradients find all of them in less than a factorisation takes."""
    first = problems[0]
    n, d = first.X.shape
    if min(n, d) <= _SMALL_ORDER:
        return []
    most = min(max_iter, int(_price(first.X) / len(problems)))
    if first.l2 == 0:
        if is_denselike(first.X):
            return []
        fits = [_newton.solve(problem, tol, most, seed) for problem in problems]
        return fits if all(fit.converged for fit in fits) else []
    fits = _by_cg(problems, tol, most)
    if fits or n < d or not is_denselike(first.X):
        return fits
    inverse = rough_inverse(Centred(first), first.l2)
    return _by_cg(problems, tol, min(max_iter, _MOST_ROUGH), inverse) if inverse else []


def _by_cg(problems: list[Problem], tol: float, most: int,
           inverse: Callable[[np.ndarray], np.ndarray] | None = None) -> list[Fit]:
    """The answers by at most so many conjugate gradients each, or nothing."""
    fits: list[Fit] = []
    for problem in problems:
        fits.append(_cg.solve(problem, tol, most, True, inverse))
        if not fits[-1].converged:
            return []
    return fits


def _price(X: Rows) -> float:
    """A factorisation's, in steps of conjugate gradients."""
    n, d = X.shape
    order, entries = min(n, d), X.nnz
    if is_denselike(X):
        return order * (0.5 + order / max(n, d) / 6) / _PRODUCTS_PER_STEP
    return (_pairs(X) / 4 + order**3 / 100) / entries


def answer(problem: Problem, rows: Centred, factor: Factor, tol: float) -> Fit:
    """Solve for one target, and correct until the digits are there."""
    mean = float(rows.share @ problem.y) if problem.fit_intercept else 0.0
    target = problem.y - mean
    state, residual, best = factor.nothing(), target, None
    for _ in range(1 + _CORRECTIONS):
        state = state + factor.step(residual, state)
        w = factor.weights(state)
        z = rows.matvec(w)
        residual = target - z
        certificate = measured(problem, rows, w, z + mean, factor.dual(state))
        better = best is None or certificate.gap < 0.5 * best[1].gap
        if best is None or certificate.objective <= best[1].objective:
            best = w, certificate
        if not better or certificate.gap <= 100 * _EPS * certificate.objective:
            break
    w, certificate = best
    return DirectFit(
        w, mean - float(rows.centre @ w), 1, certificate,
        certificate.relative_gap <= max(tol, ROUNDING),
        rank=factor.rank, singular=factor.singular,
        factor=factor if isinstance(factor, ByColumns) else None,
    )  # fmt: skip


class Factor(ABC):
    """(A^T A + l2 I)^-1 in some form; what it solves for, `state`, is w unless it says other."""

    rank: int | None = None
    singular: np.ndarray | None = None

    def __init__(self, rows: Centred):
        self.rows = rows

    def nothing(self) -> np.ndarray:
        """The state of w = 0."""
        return np.zeros(self.rows.X.shape[1])

    def weights(self, state: np.ndarray) -> np.ndarray:
        """w"""
        return state

    def dual(self, state: np.ndarray) -> np.ndarray | None:
        """The dual variables, if they are what is solved for."""
        return None

    @abstractmethod
    def step(self, residual: np.ndarray, state: np.ndarray) -> np.ndarray:
        """What to add to the state, whose residuals are y - mean - (X - c) w."""


class ByColumns(Factor):
    """Cholesky of A^T A + l2 I."""

    def __init__(self, rows: Centred, l2: float, gram: np.ndarray | None = None):
        super().__init__(rows)
        self.l2 = l2
        matrix = rows.gram() if gram is None else gram.copy()
        self.solve_scaled, self.rcond = cholesky(matrix, l2)

    def step(self, residual: np.ndarray, state: np.ndarray) -> np.ndarray:
        rows = self.rows
        return self.solve_scaled(rows.rmatvec(rows.share * residual) - self.l2 * state)


class _ByRows(Factor):
    """Cholesky of A A^T + l2 I; the state is a with w = A^T a."""

    def __init__(self, rows: Centred, l2: float):
        super().__init__(rows)
        self.l2, self.root = l2, np.sqrt(rows.share)
        matrix = rows.kernel()
        if rows.centre.any():
            # centring has made sqrt(p) a null vector, which no right side has a part in
            matrix += float(np.diagonal(matrix).mean()) * np.outer(self.root, self.root)
        self.solve_scaled, _ = cholesky(matrix, l2)

    def nothing(self) -> np.ndarray:
        return np.zeros(self.rows.X.shape[0])

    def weights(self, state: np.ndarray) -> np.ndarray:
        return self.rows.rmatvec(self.root * state)

    def dual(self, state: np.ndarray) -> np.ndarray | None:
        return self.l2 * state / self.root

    def step(self, residual: np.ndarray, state: np.ndarray) -> np.ndarray:
        return self.solve_scaled(self.root * residual - self.l2 * state)


class ByGradedRows(Factor):
    """The same of columns that dominate the others; the state is a in the coordinates of Q."""

    def __init__(self, rows: Centred, l2: float, kernel: GradedKernel):
        super().__init__(rows)
        self.l2, self.kernel = l2, kernel
        self.solve_scaled, _ = cholesky(kernel.matrix.copy(), l2)

    def nothing(self) -> np.ndarray:
        return np.zeros(len(self.kernel.matrix))

    def weights(self, state: np.ndarray) -> np.ndarray:
        return self.kernel.weights(state)

    def dual(self, state: np.ndarray) -> np.ndarray | None:
        return self.l2 * self.kernel.vector(state) / self.kernel.root

    def step(self, residual: np.ndarray, state: np.ndarray) -> np.ndarray:
        kernel = self.kernel
        return self.solve_scaled(kernel.coordinates(kernel.root * residual) - self.l2 * state)


class _Full(ByColumns):
    """The same without a penalty: the columns are independent."""

    def __init__(self, rows: Centred, matrix: np.ndarray, solve_scaled: Callable, rcond: float):
        from scipy.linalg import eigvalsh

        self.rows, self.l2, self.solve_scaled, self.rcond = rows, 0.0, solve_scaled, rcond
        values = lapack(eigvalsh, matrix)[::-1]
        self.rank = len(values)
        self.singular = np.sqrt(np.maximum(values, 0.0) / rows.scale_of_share)


class _Decomposed(Factor):
    """Without a penalty, by the singular values of A: the solution of least norm."""

    def __init__(self, rows: Centred):
        from scipy.linalg import svd

        super().__init__(rows)
        self.root = np.sqrt(rows.share)
        self.U, values, self.Vt = lapack(svd, rows.dense(), full_matrices=False)
        # centring has cost the values themselves some digits
        size = max(float(values[0]), float(np.linalg.norm(rows.centre)))
        kept = values > max(rows.X.shape) * _EPS * size
        self.rank = int(kept.sum())
        self.singular = values / np.sqrt(rows.scale_of_share)
        self.inverse = np.where(kept, 1.0, 0.0) / np.where(kept, values, 1.0)

    def step(self, residual: np.ndarray, state: np.ndarray) -> np.ndarray:
        return self.Vt.T @ (self.inverse * (self.U.T @ (self.root * residual)))


def _factor_with_penalty(rows: Centred, l2: float, fit_intercept: bool) -> Factor:
    """Cholesky of the smaller matrix."""
    n, d = rows.X.shape
    if n >= d:
        return ByColumns(rows, l2)
    columns = dominating(rows, l2, fit_intercept)
    if len(columns):
        return ByGradedRows(rows, l2, GradedKernel(rows, columns, fit_intercept))
    return _ByRows(rows, l2)


def _factor_without_penalty(rows: Centred) -> Factor:
    """Cholesky where the columns are clearly independent, singular values elsewhere."""
    n, d = rows.X.shape
    if n > d and (rows.spread > 0).all():
        matrix = rows.gram()
        solve_scaled, rcond = cholesky(matrix.copy(), 0.0)
        if rcond > _WELL:
            return _Full(rows, matrix, solve_scaled, rcond)
    return _Decomposed(rows)
