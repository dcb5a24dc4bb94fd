"""Leave-one-out without refits.

**Ridge and least squares.** With p_i = s_i/S, rows centred by c where b is free, and the
eigenvalues L and eigenvectors V of sum_i p_i (x_i - c)(x_i - c)^T, the residual e_i of a row under
the model trained without it is its residual under the full one over 1 - h_i,

    h_i = p_i (sum_k ((x_i - c).v_k)^2 / (L_k + l2) + 1 if b is free),

for every l2 at once (Golub, Heath & Wahba 1979, "Generalized cross-validation"; the 1 is 1/n for
equal weights). With fewer rows than columns the eigenvectors of the kernel matrix give the same:
e_i is a_i over the i-th diagonal entry of (K + l2 I)^-1, with a = (K + l2 I)^-1 y. The penalty
alpha = S l2 stays what it is when a row goes.

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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _newton
from ._blocks import matvec
from ._centred import Centred, blocks, gram, kernel_matrix
from ._cholesky import cholesky
from ._clone import clone
from ._direct import MOST_ORDER, Factor, answer, in_their_type, solve
from ._lapack import lapack, matmul
from ._problem import Fit, Problem
from ._row_slices import rows_taken

__all__ = [
    "Approximation", "HeldOutMixin", "Spectrum", "approximate", "held_out", "held_out_of_targets",
]  # fmt: skip

_EPS = float(np.finfo(np.float64).eps)
# A row of at least this leverage is all that determines a weight: it is left out in earnest
_FULL_LEVERAGE = 1 - 1e-9
_SEED = np.zeros(4, np.uint64)
# Rows that are left out in earnest
_CHECKED = 4


class Spectrum:
    """Eigenvalues and eigenvectors of the smaller of a least-squares problem's two matrices."""

    def __init__(self, problem: Problem):
        n, d = problem.X.shape
        if min(n, d) > MOST_ORDER:
            raise ValueError(
                f"leave-one-out factorises a matrix of min(n_samples, n_features) = {min(n, d)} > "
                f"{MOST_ORDER} columns; use cv=5 or another number of folds."
            )
        self.problem, self.rows = problem, Centred(problem)
        self.mean = float(self.rows.share @ problem.y) if problem.fit_intercept else 0.0
        self.root = np.sqrt(self.rows.share)
        self.by_rows = n < d
        matrix = self.rows.kernel() if self.by_rows else self.rows.gram()
        self.lost = False
        if self.by_rows and problem.fit_intercept:
            # sqrt(p) is a null vector of the centred kernel, and stands for b: away with it
            self.lost = True
            matrix += (10 * np.trace(matrix) + 1) * np.outer(self.root, self.root)
        values, self.vectors = _eigh(matrix)
        self.values = np.maximum(values, 0.0)

    def of_target(self, y: np.ndarray) -> Spectrum:
        """The same for another target."""
        other = copy.copy(self)
        other.problem = replace(self.problem, y=y)
        other.mean = float(self.rows.share @ y) if self.problem.fit_intercept else 0.0
        return other

    def inverse(self, l2: np.ndarray) -> np.ndarray:
        """1 / (L_k + l2) of shape (order, n_l2); 0 for what is null up to rounding."""
        largest = self.values[-2:][0] if self.lost else self.values[-1]
        size = self.values[:, None] + l2
        kept = size > len(self.values) * _EPS * largest
        out = np.where(kept, 1.0, 0.0) / np.where(kept, size, 1.0)
        if self.lost:
            out[-1] = 0.0
        return out

    def residuals(self, l2: np.ndarray, by_units: bool = False) -> np.ndarray:
        """y_i minus the answer of the model trained without row i, of shape (n, n_l2).

        With `by_units` a row of weight above 1 counts as so many, of which one is left out.
        """
        n, inverse, target = len(self.problem.y), self.inverse(l2), self.problem.y - self.mean
        if n == 1:
            return np.repeat(self.problem.y[:, None], len(l2), axis=1)
        # of its weight, what a row loses
        weight = self.problem.weight if by_units else np.empty(0)
        share = 1 / np.maximum(weight, 1.0) if len(weight) else np.ones(n)
        share = share[:, None]
        if self.by_rows:
            Q = self.vectors
            a = Q @ (inverse * (Q.T @ (self.root * target))[:, None])
            part = (Q * Q) @ inverse
            if share.min() < 1:
                part = share * part + (1 - share) / l2
            return a / (part * self.root[:, None])
        along = self.vectors.T @ self.rows.rmatvec(self.rows.share * target)
        answers = inverse * along[:, None]
        out = np.empty((n, len(l2)))
        for start, block in blocks(self.rows.X, np.ones(n), self.rows.centre):
            part = slice(start, start + len(block))
            block = matmul(block, self.vectors)
            residual = target[part, None] - block @ answers
            block *= block
            leverage = block @ inverse
            leverage += self.problem.fit_intercept
            leverage *= self.rows.share[part, None] * share[part]
            free = leverage < _FULL_LEVERAGE
            out[part] = residual / np.where(free, 1 - leverage, np.nan)
        for i in np.flatnonzero(np.isnan(out).any(axis=1)):
            # the whole row: so much leverage has no other of its kind
            out[i] = self.problem.y[i] - self._refits(int(i), l2)
        return out

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
        return in_their_type(problem, [answer(problem, self.rows, _Spectral(self, l2), tol)])[0]


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
    closed form: with L1, with w >= 0, without a penalty where columns depend on each other."""
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
    spectrum = Spectrum(problem)
    if problem.l2 == 0 and spectrum.values[0] <= 1e-12 * spectrum.values[-1]:
        return None
    out = np.empty((n, len(targets)))
    others = np.flatnonzero(whole.weight == 0) if len(kept) < n else np.empty(0, np.int64)
    for k, target in enumerate(targets):
        one = spectrum.of_target(target[kept])
        out[kept, k] = target[kept] - one.residuals(np.array([problem.l2]))[:, 0]
        if len(others):
            fit = one.fit(problem.l2, 1.0)
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
