"""Leave-one-out without refits.

**Ridge and least squares.** With p_i = s_i/S, rows centred by c where b is free, and the
eigenvalues L and eigenvectors V of sum_i p_i (x_i - c)(x_i - c)^T, the residual e_i of a row under
the model trained without it is its residual under the full one over 1 - h_i,

    h_i = p_i (sum_k ((x_i - c).v_k)^2 / (L_k + l2) + 1 if b is free),

for every l2 at once (Golub, Heath & Wahba 1979, "Generalized cross-validation"; the 1 is 1/n for
equal weights). With fewer rows than columns the eigenvectors of the kernel matrix give the same:
e_i is a_i over the i-th diagonal entry of (K + l2 I)^-1, with a = (K + l2 I)^-1 y. The penalty
alpha = S l2 stays what it is when a row goes. Columns of very unlike spread take a factor for each
l2 in place of eigenvectors (`Graded`).

**Other smooth losses.** One Newton step from the optimum z of all rows (Rad & Maleki 2020, "A
scalable estimate of the out-of-sample prediction error via approximate leave-one-out", JRSS B):

    z_i + q_i loss'(z_i) / (1 - q_i loss''(z_i)),
    q_i = p_i ((x_i - c)^T (H + l2 I)^-1 (x_i - c) + 1/sum_k p_k loss''(z_k)),

the last term if b is free, with H and c of `_newton`.

It is exact for the squared error; how far it is off for others is measured on some rows, by fits
without them.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _newton
from ._blocks import matvec
from ._centred import Centred, blocks, gram, kernel_matrix
from ._cholesky import cholesky
from ._clone import clone
from ._direct import (
    MOST_ORDER,
    ByColumns,
    ByGradedRows,
    Factor,
    answer,
    in_their_type,
    solve,
)
from ._graded import GradedKernel, dominating
from ._lapack import lapack, matmul
from ._problem import Fit, Problem
from ._row_slices import rows_taken

__all__ = [
    "Approximation", "HeldOutMixin", "LeftOut", "approximate", "held_out", "held_out_of_targets",
    "left_out",
]  # fmt: skip

_EPS = float(np.finfo(np.float64).eps)
# A row of at least this leverage is all that determines a weight: it is left out in earnest
_FULL_LEVERAGE = 1 - 1e-9
# Variances of columns, in falling order, this many times as large leave eigenvalues digits enough
_UNLIKE = 1e10
# The gap of the full model above which rounding may be all that is left of those without a row
_CERTAIN = 1e-4
_SEED = np.zeros(4, np.uint64)
# Rows that are left out in earnest
_CHECKED = 4

Responding = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class LeftOut(ABC):
    """A least-squares problem without each of its rows, from the smaller of its two matrices."""

    def __init__(self, problem: Problem, rows: Centred):
        self.problem, self.rows = problem, rows
        self.mean = float(rows.share @ problem.y) if problem.fit_intercept else 0.0
        self.root = np.sqrt(rows.share)
        self.by_rows = problem.X.shape[0] < problem.X.shape[1]

    def of_target(self, y: np.ndarray) -> LeftOut:
        """The same for another target."""
        other = copy.copy(self)
        other.problem = replace(self.problem, y=y)
        other.mean = float(self.rows.share @ y) if self.problem.fit_intercept else 0.0
        return other

    def residuals(self, l2: np.ndarray, by_units: bool = False) -> np.ndarray:
        """y_i minus the answer of the model trained without row i, of shape (n, n_l2).

        With `by_units` a row of weight above 1 counts as so many, of which one is left out.
        """
        n = len(self.problem.y)
        if n == 1:
            return np.repeat(self.problem.y[:, None], len(l2), axis=1)
        # of its weight, what a row loses
        weight = self.problem.weight if by_units else np.empty(0)
        share = 1 / np.maximum(weight, 1.0) if len(weight) else np.ones(n)
        way = self._from_kernel if self.by_rows else self._from_gram
        return way(l2, share[:, None])

    def _from_kernel(self, l2: np.ndarray, share: np.ndarray) -> np.ndarray:
        """The residuals, of fewer rows than columns."""
        a, part = self.inverted(l2, self.root * (self.problem.y - self.mean))
        if share.min() < 1:
            part = share * part + (1 - share) / l2
        return a / (part * self.root[:, None])

    def _from_gram(self, l2: np.ndarray, share: np.ndarray) -> np.ndarray:
        """The residuals, of at least as many rows as columns."""
        target, n = self.problem.y - self.mean, len(self.problem.y)
        respond = self.responding(l2, self.rows.rmatvec(self.rows.share * target))
        out = np.empty((n, len(l2)))
        for start, block in blocks(self.rows.X, np.ones(n), self.rows.centre):
            part = slice(start, start + len(block))
            z, leverage = respond(block)
            residual = target[part, None] - z
            leverage += self.problem.fit_intercept
            leverage *= self.rows.share[part, None] * share[part]
            free = leverage < _FULL_LEVERAGE
            out[part] = residual / np.where(free, 1 - leverage, np.nan)
        for i in np.flatnonzero(np.isnan(out).any(axis=1)):
            # the whole row: so much leverage has no other of its kind
            out[i] = self.problem.y[i] - self._refits(int(i), l2)
        return out

    @abstractmethod
    def inverted(self, l2: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(K + l2 I)^-1 r and the diagonal of this inverse, of shape (n, n_l2)."""

    @abstractmethod
    def responding(self, l2: np.ndarray, right: np.ndarray) -> Responding:
        """x -> (x^T M right, x^T M x) for centred rows x, of shape (rows, n_l2), with M the inverse
        of G + l2 I."""

    @abstractmethod
    def factor(self, l2: float) -> Factor:
        """What solves for one strength."""

    @abstractmethod
    def is_singular(self) -> bool:
        """Whether the columns depend on each other, or nearly so, without a penalty."""

    def _refits(self, i: int, l2: np.ndarray) -> np.ndarray:
        """Answers to row i of models that are fitted without it."""
        problem = self.problem
        rest = np.delete(np.arange(len(problem.y)), i)
        without = replace(
            problem, X=rows_taken(problem.X, rest), y=problem.y[rest],
            weight=problem.weight[rest] if len(problem.weight) else problem.weight,
        )  # fmt: skip
        factor = problem.total_weight / without.total_weight
        fits = [solve(replace(without, l2=one * factor), 1.0, 1, _SEED) for one in l2]
        row = rows_taken(problem.X, np.array([i]))
        return np.array([matvec(row, fit.coef, fit.intercept)[0] for fit in fits])

    def fit(self, l2: float, tol: float) -> Fit:
        """The answer for one strength."""
        problem = replace(self.problem, l2=l2)
        return in_their_type(problem, [answer(problem, self.rows, self.factor(l2), tol)])[0]


def left_out(problem: Problem, l2: np.ndarray) -> LeftOut:
    """The problem without each of its rows, for penalties that are among these."""
    n, d = problem.X.shape
    if min(n, d) > MOST_ORDER:
        raise ValueError(
            f"leave-one-out factorises a matrix of min(n_samples, n_features) = {min(n, d)} > "
            f"{MOST_ORDER} columns; use cv=5 or another number of folds."
        )
    rows, least = Centred(problem), float(l2.min())
    if n < d:
        columns = dominating(rows, least, problem.fit_intercept)
        if len(columns):
            return Graded(problem, rows, GradedKernel(rows, columns, problem.fit_intercept))
        return Spectrum(problem, rows)
    square = rows.spread[rows.spread > 0] ** 2
    unlike = len(square) and square.max() > _UNLIKE * max(least, float(square.min()))
    return Graded(problem, rows) if unlike else Spectrum(problem, rows)


class Spectrum(LeftOut):
    """By eigenvalues and eigenvectors, of which all strengths share one set."""

    def __init__(self, problem: Problem, rows: Centred):
        super().__init__(problem, rows)
        self.lost = self.by_rows and problem.fit_intercept
        if self.by_rows:
            matrix = rows.kernel()
            if self.lost:
                # sqrt(p) is a null vector of the centred kernel, and stands for b: away with it
                matrix += (10 * np.trace(matrix) + 1) * np.outer(self.root, self.root)
            values, self.vectors = _eigh(matrix)
        else:
            # the small eigenvalues of a matrix that falls along its diagonal keep their digits
            order = np.argsort(-rows.spread, kind="stable")
            values, vectors = _eigh(rows.gram()[np.ix_(order, order)])
            self.vectors = np.empty_like(vectors)
            self.vectors[order] = vectors
        self.values = np.maximum(values, 0.0)

    def inverse(self, l2: np.ndarray) -> np.ndarray:
        """1 / (L_k + l2) of shape (order, n_l2); 0 for what is null up to rounding."""
        largest = self.values[-2:][0] if self.lost else self.values[-1]
        size = self.values[:, None] + l2
        kept = size > len(self.values) * _EPS * largest
        out = np.where(kept, 1.0, 0.0) / np.where(kept, size, 1.0)
        if self.lost:
            out[-1] = 0.0
        return out

    def inverted(self, l2: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Q, inverse = self.vectors, self.inverse(l2)
        return Q @ (inverse * (Q.T @ r)[:, None]), (Q * Q) @ inverse

    def responding(self, l2: np.ndarray, right: np.ndarray) -> Responding:
        inverse = self.inverse(l2)
        answers = inverse * (self.vectors.T @ right)[:, None]

        def respond(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """Along the eigenvectors."""
            block = matmul(block, self.vectors)
            z = block @ answers
            block *= block
            return z, block @ inverse

        return respond

    def factor(self, l2: float) -> Factor:
        return _Spectral(self, l2)

    def is_singular(self) -> bool:
        return bool(self.values[0] <= 1e-12 * self.values[-1])


class Graded(LeftOut):
    """By a Cholesky factor for each strength: of columns so unlike that eigenvalues of the largest
    leave those of the smallest no digits, where a factor scales them all alike (`_graded`)."""

    def __init__(self, problem: Problem, rows: Centred, kernel: GradedKernel | None = None):
        super().__init__(problem, rows)
        self.kernel = kernel
        self.gram = rows.gram() if kernel is None else None
        # of one strength each, which targets share
        self.factors: dict[float, Any] = {}
        self.diagonals: dict[float, np.ndarray] = {}

    def factor(self, l2: float) -> Any:
        def made() -> Factor:
            if self.kernel is None:
                return ByColumns(self.rows, l2, self.gram)
            return ByGradedRows(self.rows, l2, self.kernel)

        return _kept(self.factors, l2, made)

    def residuals(self, l2: np.ndarray, by_units: bool = False) -> np.ndarray:
        # one after the other: their factors need not fit into memory together
        return np.hstack([super(Graded, self).residuals(one, by_units)
                          for one in np.split(l2, len(l2))])

    def inverted(self, l2: np.ndarray, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kernel, solve = self.kernel, self.factor(l2[0]).solve_scaled
        assert kernel is not None
        a = kernel.vector(solve(kernel.coordinates(r)))
        part = _kept(self.diagonals, float(l2[0]),
                     lambda: kernel.diagonal(solve(np.eye(len(kernel.matrix)))))
        return a[:, None], part[:, None]

    def responding(self, l2: np.ndarray, right: np.ndarray) -> Responding:
        solve = self.factor(l2[0]).solve_scaled
        w = solve(right)
        # what the first answer leaves of the right side, lost to rounding
        w += solve(right - self._product(w) - l2[0] * w)

        def respond(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            """By the factor."""
            leverage = np.einsum("ij,ji->i", block, solve(np.ascontiguousarray(block.T)))
            return (block @ w)[:, None], leverage[:, None]

        return respond

    def _product(self, w: np.ndarray) -> np.ndarray:
        """G w"""
        return self.rows.rmatvec(self.rows.share * self.rows.matvec(w))

    def is_singular(self) -> bool:
        return bool(self.factor(0.0).rcond <= 1e-12)


def _kept(kept: dict[float, Any], l2: float, make: Callable[[], Any]) -> Any:
    """What there is for one strength, made unless it is kept; that of others is not."""
    if l2 not in kept:
        kept.clear()
        kept[l2] = make()
    return kept[l2]


class _Spectral(Factor):
    """By eigenvectors; the state is w."""

    def __init__(self, spectrum: Spectrum, l2: float):
        super().__init__(spectrum.rows)
        self.spectrum, self.l2 = spectrum, l2
        self.by_value = spectrum.inverse(np.array([l2]))[:, 0]

    def nothing(self) -> np.ndarray:
        return np.zeros(self.rows.X.shape[0 if self.spectrum.by_rows else 1])

    def weights(self, state: np.ndarray) -> np.ndarray:
        if self.spectrum.by_rows:
            return self.rows.rmatvec(self.spectrum.root * state)
        return state

    def dual(self, state: np.ndarray) -> np.ndarray | None:
        if self.spectrum.by_rows and self.l2 > 0:
            return self.l2 * state / self.spectrum.root
        return None

    def step(self, residual: np.ndarray, state: np.ndarray) -> np.ndarray:
        spectrum, rows = self.spectrum, self.rows
        if spectrum.by_rows:
            right = spectrum.root * residual - self.l2 * state
        else:
            right = rows.rmatvec(rows.share * residual) - self.l2 * state
        V = spectrum.vectors
        return V @ (self.by_value * (V.T @ right))


def _eigh(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, ascending, and eigenvectors."""
    from scipy.linalg import eigh

    return lapack(eigh, matrix, overwrite_a=True)


def held_out(problem: Problem) -> np.ndarray | None:
    """The answer to each row of a least-squares model trained without it, or None where that has no
    closed form (with L1, with w >= 0, without a penalty where columns depend on each other), or
    where rounding would spoil it, as the gap of the full model tells."""
    found = held_out_of_targets(problem, [problem.y])
    return None if found is None else found[:, 0]


def held_out_of_targets(problem: Problem, targets: list[np.ndarray]) -> np.ndarray | None:
    """The same for several targets in place of y, which share the factorisation, as columns."""
    n, d = problem.X.shape
    plain = problem.loss == "squared_error" and problem.l1 == 0 and not problem.positive
    if not plain or min(n, d) > MOST_ORDER or (problem.l2 == 0 and n <= d):
        return None
    kept = np.flatnonzero(problem.weight) if len(problem.weight) else np.arange(n)
    if len(kept) < 2:
        return None
    whole = problem
    if len(kept) < n:
        problem = replace(
            problem, X=rows_taken(problem.X, kept), y=problem.y[kept], weight=problem.weight[kept]
        )
    way = left_out(problem, np.array([problem.l2]))
    if problem.l2 == 0 and way.is_singular():
        return None
    out = np.empty((n, len(targets)))
    others = np.flatnonzero(whole.weight == 0) if len(kept) < n else np.empty(0, np.int64)
    for k, target in enumerate(targets):
        one = way.of_target(target[kept])
        fit = one.fit(problem.l2, _CERTAIN)
        if not fit.converged:
            return None
        out[kept, k] = target[kept] - one.residuals(np.array([problem.l2]))[:, 0]
        if len(others):
            out[others, k] = matvec(rows_taken(whole.X, others), fit.coef, fit.intercept)
    return out


class HeldOutMixin:
    """For regressors that minimise the squared error: what `_held_out` of the searches asks."""

    def _held_out(self, X: Any, y: Any, sample_weight: Any) -> np.ndarray | None:
        """The answer to each row of the model trained without it, or None."""
        twin = clone(self)
        rows, y, weight = twin._begin(X, y, sample_weight)
        weight = np.empty(0) if weight is None else weight
        total = float(weight.sum()) if len(weight) else float(len(y))
        return held_out(Problem(X=rows, y=y, weight=weight, fit_intercept=twin.fit_intercept,
                                **twin._terms(total)))


@dataclass(frozen=True)
class Approximation:
    """Responses to each row of models trained without it, by one Newton step."""

    responses: np.ndarray
    checked: np.ndarray  # rows that were left out in earnest
    exact: np.ndarray  # and the responses to them

    @property
    def error(self) -> float:
        """The largest error found."""
        return float(np.abs(self.responses[self.checked] - self.exact).max(initial=0.0))


def approximate(problem: Problem, fit: Fit, n_checked: int = _CHECKED) -> Approximation:
    """Approximate leave-one-out of an optimum, and its error on `n_checked` rows.

    Half of those are the rows whose responses move most, where the step is the least exact; the
    others lie evenly among the rest.
    """
    X, n = problem.X, len(problem.y)
    z = matvec(X, fit.coef, fit.intercept)
    share = problem.weighted(np.ones(n))
    curvatures = problem.curvatures(z)
    step = _influence(problem, share, share * curvatures) * share
    responses = z + step * problem.slopes(z) / np.maximum(1 - step * curvatures, 1 - _FULL_LEVERAGE)
    checked = np.arange(n if n <= n_checked else 0)
    if 0 < n_checked < n:
        order = np.argsort(-np.abs(responses - z), kind="stable")
        most, rest = order[: n_checked // 2], order[n_checked // 2 :]
        even = rest[np.linspace(0, len(rest) - 1, n_checked - n_checked // 2).astype(int)]
        checked = np.unique(np.concatenate([most, even]))
    exact = np.array([_left_out(problem, fit, int(i)) for i in checked])
    return Approximation(responses, checked, exact)


def _influence(problem: Problem, share: np.ndarray, h: np.ndarray) -> np.ndarray:
    """(x_i - c)^T (H + l2 I)^-1 (x_i - c), and 1 over the sum of h where b is free."""
    X, (n, d) = problem.X, problem.X.shape
    if min(n, d) > MOST_ORDER:
        raise ValueError(
            f"approximate leave-one-out factorises a matrix of min(n_samples, n_features) = "
            f"{min(n, d)} > {MOST_ORDER} columns; use folds."
        )
    mass = float(h.sum())
    free = problem.fit_intercept and mass > 0
    centre = Centred(replace(problem, weight=h)).centre if free else np.zeros(d)
    out = np.full(n, 1 / mass if free else 0.0)
    if n >= d or problem.l2 == 0:
        solve, _ = cholesky(gram(X, h, centre), problem.l2)
        # of d columns by triangles, so that of n rows it is one product
        inverse = solve(np.eye(d))
        for start, block in blocks(X, np.ones(n), centre):
            out[start : start + len(block)] += np.einsum("ij,ij->i", block @ inverse, block)
        return out
    # (l2 I + A^T A)^-1 = (I - A^T (l2 I + A A^T)^-1 A) / l2, with A = sqrt(h) (X - c)
    K, root = kernel_matrix(X, np.ones(n), centre), np.sqrt(h)
    squares = np.diagonal(K).copy()
    K *= root[:, None]
    inverse, _ = cholesky(K * root, problem.l2)
    out += (squares - (K * inverse(K)).sum(axis=0)) / problem.l2
    return out


def _left_out(problem: Problem, fit: Fit, i: int) -> float:
    """The response to row i of the model trained without it."""
    n, total = len(problem.y), problem.total_weight
    # without weight it is not there, and nothing is copied
    weight = problem.weight.copy() if len(problem.weight) else np.ones(n)
    gone, weight[i] = weight[i], 0.0
    without = replace(problem, weight=weight, l2=problem.l2 * total / (total - gone))
    other = _newton.solve(without, 1e-8, 100, _SEED, fit)
    return float(matvec(rows_taken(problem.X, np.array([i])), other.coef, other.intercept)[0])
