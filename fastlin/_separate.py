"""The search for a separating hyperplane, and at once for a proof that there is none.

Two classes, y = +-1. For weights l >= 0 of the rows that sum to 1, and sum_i l_i y_i = 0 where b
is free, any w of length 1 and any b have

    min_i y_i (w.x_i + b) <= sum_i l_i y_i (w.x_i + b) = w.v <= |v|,      v = sum_i l_i y_i x_i:

|v| bounds every margin from above, and a hyperplane's own margin is a bound from below (Gordan 1873
has the case |v| = 0: then the convex hulls of the classes meet). Both come from one minimisation,

    P = (1/n) sum_i max(0, 1 - y_i (w.x_i + b))^2 + l2/2 |w|^2.

Its slopes, scaled, are such l, since at the optimum v is l2 w times a number. Its minimum at l2 = 0
is attained, unlike that of a logistic loss: it is 0 where the classes are separable, else v = 0
there. So l2 falls by steps until either bound decides.

K classes: w_y.x + b_y has to lead every other class, which are n (K - 1) conditions on vectors of
K d entries, x_i in the place of y_i and -x_i in that of the other class. They are not laid out: the
sparsemax loss is 0 where the leads are 1 at least, piecewise quadratic, and its slopes p_ik are
weights of (row, other class) pairs. With |W|_F = 1 the least lead is at most |V|_F. Two of the
classes that can't be told from each other settle the matter, so those that pull at each other most
are looked at on their own: that is cheaper by far than to solve for all with a small l2.

Columns may be so unlike that the large ones hide the others from a search: 1e8 plus a sum of small
ones. So where they are, the columns are brought to like spread first, which changes no verdict. A
hyperplane found there is one for the columns as they are, though not the one of the largest margin,
which is looked for after that; and so are weights.

Columns far from 0 are brought near it first, by differences that are exact: products with the rows
as they are would have no digits left for what tells the classes apart.

A hyperplane that was found separates: its margin is larger than all that rounding can have added.
Where neither bound decides on few rows and columns, the simplex method has the last word.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._blocks import matvec, rmatvec
from ._centred import squares_about
from ._column_scales import columns_times, largest_entries, unlike_spreads
from ._core.rows import Rows
from ._far_columns import Shift
from ._joint_problem import Distributions, JointFit, JointProblem, feasible
from ._joint_solve import solve as solve_joint
from ._problem import Fit, Problem
from ._random import spawn_seed
from ._row_slices import rows_taken
from ._scores import longest_square, score_rows
from ._solve import solve

__all__ = ["Bounds", "searched"]

# l2 as a share of the largest square of a row, from the mean where b is free
_FIRST, _LAST = 1e-2, 1e-15
# How well the first problems are solved, and all others at best
_ROUGHLY, _EXACTLY = 1e-3, 1e-12
# Squares of smaller values, times l2, are no numbers of full precision
_LEAST_VALUE = 1e-140
# Pairs of classes that are looked at after each problem
_PAIRS = 4
# Entries of the matrix of a linear programme that is solved in the end
_FEW_ENTRIES = 300_000
# Iterations that improve the margin of a hyperplane found on columns of like spread
_IMPROVED = 500


@dataclass(frozen=True)
class Bounds:
    """A hyperplane with its margin, and weights with what they say of every margin."""

    W: np.ndarray  # (1, d) or (K, d), of norm 1 or 0
    b: np.ndarray
    margin: float
    weights: np.ndarray  # (n,) or (n, K), of sum 1
    bound: float
    n_iter: int = 0

    def with_the_better(self, other: Bounds) -> Bounds:
        """The larger margin and the smaller bound of the two."""
        best = self
        if other.margin > self.margin:
            best = replace(best, W=other.W, b=other.b, margin=other.margin)
        if other.bound < self.bound:
            best = replace(best, weights=other.weights, bound=other.bound)
        return replace(best, n_iter=self.n_iter + other.n_iter)

    def is_decided(self, least: float, close: float) -> bool:
        """Whether a verdict is known, and the margin at least such a share of the largest."""
        return self.bound <= least if self.margin <= 0 else self.margin >= close * self.bound


def searched(X: Rows, codes: np.ndarray, n_classes: int, fit_intercept: bool, tol: float,
             max_iter: int) -> tuple[Bounds, float, bool | None]:
    """(bounds that decide, or what `max_iter` iterations lead to, the size of the rows, the
    verdict)"""
    kind = _Pair if n_classes == 2 else _Several
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        shift = Shift.of(X) if fit_intercept else None
    if shift is not None:
        near = searched(shift.taken_off(X), codes, n_classes, True, tol, max_iter)
        return kind(X, codes, n_classes, True).of_near(*near, shift)
    search = kind(X, codes, n_classes, fit_intercept)
    factors = unlike_spreads(X, search.centre, search.size)
    found, overlap = search.nothing(), True
    if factors is not None:
        alike = kind(columns_times(X, factors), codes, n_classes, fit_intercept)
        there = alike.answered(alike.nothing(), tol, max_iter, 0.0)
        found, overlap = search.of_alike(there, factors), there.bound <= tol * alike.size
        if found.margin > 0:
            max_iter = min(max_iter, found.n_iter + _IMPROVED)
    if factors is None or found.margin > 0 or found.bound > tol * search.size:
        found = search.answered(found, tol, max_iter, search.close)
    verdict = True if found.margin > 0 else None
    if verdict is None and overlap and found.bound <= tol * search.size:
        verdict = False
    return found, search.size, verdict


class _Search:
    """The rows, and what is the same for any number of classes."""

    def __init__(self, X: Rows, codes: np.ndarray, n_classes: int, fit_intercept: bool):
        self.X, self.codes, self.K, self.free = X, codes, n_classes, fit_intercept
        n = len(X)
        longest = longest_square(X)
        widest = X.shape[1] if X.indptr is None else int(np.diff(X.indptr).max(initial=0))
        self.rounding = (widest + 8) * np.finfo(np.float64).eps
        centre = rmatvec(X, np.full(n, 1 / n)) if fit_intercept else np.zeros(X.shape[1])
        self.centre = centre
        self.reach: np.ndarray | None = None  # of each column, where that is worth knowing
        largest = float(squares_about(X, centre).max())
        # differences of that size are rounding
        self.size = float(np.sqrt(largest)) if largest > self.rounding**2 * longest else 0.0
        most = 1.0 if X.values is None else float(np.abs(X.values).max(initial=0.0))
        if 0 < most < _LEAST_VALUE or 0 < self.size < _LEAST_VALUE:
            raise ValueError(
                f"X holds values up to {most:.2g} that differ by {self.size:.2g}: their squares "
                "underflow. Scale the columns of X."
            )
        self.longest = float(np.sqrt(longest))
        (self.seed,) = spawn_seed(0, 1)

    def answered(self, found: Bounds, tol: float, max_iter: int, close: float) -> Bounds:
        """The bounds that a search from what is known leads to, by any means."""
        least = tol * self.size
        found = self.descended(found, least, max_iter, close)
        undecided = found.margin <= 0 and found.bound > least
        if undecided and self.size > 0 and self.entries <= _FEW_ENTRIES:
            found = found.with_the_better(self.by_simplex())
        return found

    def of_alike(self, found: Bounds, factors: np.ndarray) -> Bounds:
        """What was found on columns with such factors, for those without."""
        self.reach = largest_entries(self.X)
        bound = self.length(found.weights) if np.isfinite(found.bound) else np.inf
        W, b, margin = self.margin_of(found.W * factors, found.b)
        return Bounds(W, b, margin, found.weights, bound, found.n_iter)

    def of_near(self, found: Bounds, size: float, verdict: bool | None, shift: Shift
                ) -> tuple[Bounds, float, bool | None]:
        """What was found on rows near 0, for those as they are. Weights cancel what was taken off:
        only the hyperplane may be worse, for want of digits."""
        b = found.b - found.W[:, shift.columns] @ shift.by
        W, b, margin = self.margin_of(found.W, b)
        verdict = None if verdict and not margin > 0 else verdict
        return replace(found, W=W, b=b, margin=margin), size, verdict

    def descended(self, found: Bounds, least: float, max_iter: int, close: float) -> Bounds:
        """The bounds after l2 has fallen far enough for a verdict, or as far as it may."""
        fit, share = None, _FIRST
        twins = self.twins()
        if twins is not None:
            found = found.with_the_better(self.of_twins(*twins))
        while not found.is_decided(least, close) and share >= _LAST and found.n_iter < max_iter:
            l2 = share * max(self.size, 1e-100) ** 2
            fit = self.solved(l2, min(self.at_once, max_iter - found.n_iter), fit)
            found = found.with_the_better(self.bounds(fit))
            if found.margin <= 0:
                found = found.with_the_better(self.of_parts(found, least, max_iter - found.n_iter))
            share *= self.fall
        return found

    def twins(self) -> tuple[int, int] | None:
        """Two equal rows of different classes, if there are any: the plainest obstacle, and where
        columns are many the hardest to find by descent. Equal rows have equal products."""
        z = matvec(self.X, np.random.default_rng(0).normal(size=self.X.shape[1]))
        order = np.lexsort((self.codes, z))
        next_to = (np.diff(z[order]) == 0) & (np.diff(self.codes[order]) != 0)
        at = np.flatnonzero(next_to)
        return (int(order[at[0]]), int(order[at[0] + 1])) if len(at) else None

    def margin_of(self, W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """(W of norm 1, b, the margin less what rounding may have added)"""
        largest = float(np.abs(W).max(initial=0.0))
        if not 0 < largest < np.inf or not np.isfinite(b).all():
            return np.zeros_like(W), np.zeros_like(b), -np.inf
        W = W / largest
        norm = float(np.linalg.norm(W))
        W, b = W / norm, b / (largest * norm)
        b = self.centred(W, b)
        most = self.longest
        if self.reach is not None:
            most = min(most, float((np.abs(W) @ self.reach).max()))
        doubt = 2 * self.rounding * (most + float(np.abs(b).max(initial=0.0)))
        least = self.least(W, b)
        return W, b, float(least - doubt if least > 0 else least)

    def bounds(self, fit: Any) -> Bounds:
        """What an answer says."""
        W, b, margin = self.margin_of(np.atleast_2d(fit.coef), np.atleast_1d(fit.intercept))
        weights, bound = self.pulls(fit)
        return Bounds(W, b, margin, weights, bound, int(fit.n_iter))

    def tolerance(self, l2: float, last: Any) -> float:
        """How well a problem has to be solved for its slopes to be of use."""
        if last is None:
            return _ROUGHLY
        # the gradient that is left must be small beside l2 w
        penalty = 0.5 * l2 * float(np.sum(last.coef * last.coef))
        share = penalty / max(last.certificate.objective, 1e-300)
        return float(np.clip(1e-2 * share, _EXACTLY, _ROUGHLY))

    def by_simplex(self) -> Bounds:
        """The hyperplane with the largest least lead among entries in [-1, 1], by linear
        programming, and the weights that prove it."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, hstack

        A, size = self.conditions() / self.size, self.X.shape[1]
        n, m = A.shape
        # leads >= t, as large a t as possible
        done = linprog(
            np.append(np.zeros(m), -1.0), method="highs",
            A_ub=hstack([-A, csr_array(np.ones((n, 1)))], format="csr"), b_ub=np.zeros(n),
            bounds=[(-1, 1)] * m + [(None, None)],
        )  # fmt: skip
        if done.status != 0:
            return self.nothing()
        u, prices = done.x[:m], np.maximum(-done.ineqlin.marginals, 0.0)
        places = m // (size + self.free)
        W, b = u[: places * size].reshape(places, size), u[places * size :] * self.size
        W, b, margin = self.margin_of(W, b if self.free else np.zeros(places))
        weights, bound = self.of_conditions(prices)
        return Bounds(W, b, margin, weights, bound)


class _Pair(_Search):
    """Two classes."""

    # iterations on one problem, how far l2 falls, and the share of the largest margin asked for
    at_once, fall, close = 10_000, 0.03, 0.9

    def __init__(self, X: Rows, codes: np.ndarray, n_classes: int, fit_intercept: bool):
        super().__init__(X, codes, n_classes, fit_intercept)
        self.y = np.where(codes == 1, 1.0, -1.0)
        self.entries = X.nnz + len(X)

    def of_parts(self, found: Bounds, least: float, max_iter: int) -> Bounds:
        """There are none."""
        return replace(found, n_iter=0)

    def nothing(self) -> Bounds:
        """What is known before a search."""
        weights, bound = self._scaled(np.ones(len(self.y)))
        return Bounds(np.zeros((1, self.X.shape[1])), np.zeros(1), -np.inf, weights, bound)

    def of_twins(self, one: int, other: int) -> Bounds:
        """What two equal rows say."""
        weights = np.zeros(len(self.y))
        weights[[one, other]] = 1.0
        return replace(self.nothing(), weights=self._scaled(weights)[0],
                       bound=self._scaled(weights)[1])

    def solved(self, l2: float, max_iter: int, last: Fit | None) -> Fit:
        """The optimum of P."""
        problem = Problem(X=self.X, y=self.y, loss="squared_hinge", loss_parameter=1.0, l2=l2,
                          fit_intercept=self.free)
        return solve(problem, "auto", self.tolerance(l2, last), max_iter, self.seed, last)

    def pulls(self, fit: Fit) -> tuple[np.ndarray, float]:
        """(weights, bound) from the slopes."""
        return self._scaled(np.maximum(0.0, 1 - self.y * matvec(self.X, fit.coef, fit.intercept)))

    def _scaled(self, weights: np.ndarray) -> tuple[np.ndarray, float]:
        """(the weights with the sums that they must have, |v|)"""
        sums = np.bincount(self.codes, weights, 2) if self.free else np.full(2, weights.sum())
        if not (sums > 0).all():
            return weights, np.inf
        weights = weights / (2 * sums if self.free else sums)[self.codes]
        return weights, self.length(weights)

    def length(self, weights: np.ndarray) -> float:
        """|v| of weights."""
        return float(np.linalg.norm(rmatvec(self.X, weights * self.y)))

    def centred(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The intercept in the middle of the gap."""
        if not self.free:
            return b
        z = matvec(self.X, W[0])
        return np.array([-0.5 * (z[self.codes == 1].min() + z[self.codes == 0].max())])

    def least(self, W: np.ndarray, b: np.ndarray) -> float:
        """The smallest y_i (w.x_i + b)."""
        return float((self.y * matvec(self.X, W[0], float(b[0]))).min())

    def conditions(self) -> Any:
        """The rows y_i (x_i, size)."""
        from scipy.sparse import csr_array, hstack

        A = self.X.to_csr()
        if self.free:
            A = hstack([A, np.full((len(self.y), 1), self.size)])
        return csr_array(A.multiply(self.y[:, None]))

    def of_conditions(self, prices: np.ndarray) -> tuple[np.ndarray, float]:
        """(weights, bound) from the prices of the conditions."""
        return self._scaled(prices)


class _Several(_Search):
    """More classes."""

    at_once, fall, close = 200, 0.2, 0.1

    def __init__(self, X: Rows, codes: np.ndarray, n_classes: int, fit_intercept: bool):
        super().__init__(X, codes, n_classes, fit_intercept)
        self.problem = JointProblem(
            X=X, target=Distributions.of_codes(codes, n_classes), loss="sparsemax",
            fit_intercept=fit_intercept,
        )  # fmt: skip
        self.entries = 2 * (X.nnz + len(X)) * (n_classes - 1)
        self.separable_pairs = np.eye(n_classes, dtype=bool)

    def of_parts(self, found: Bounds, least: float, max_iter: int) -> Bounds:
        """What those pairs of classes say that pull at each other most, if not looked at before."""
        pull = np.zeros((self.K, self.K))
        np.add.at(pull, self.codes, found.weights)
        pull = np.where(self.separable_pairs, -1.0, pull + pull.T)
        found = replace(found, n_iter=0)
        for _ in range(_PAIRS):
            one, other = (int(k) for k in np.unravel_index(pull.argmax(), pull.shape))
            if pull[one, other] <= 0 or found.n_iter >= max_iter:
                break
            pull[one, other] = pull[other, one] = -1.0
            part = self._of_pair(one, other, least, max_iter - found.n_iter)
            self.separable_pairs[[one, other], [other, one]] = part.margin > 0
            found = found.with_the_better(replace(part, margin=-np.inf))
            if found.bound <= least:
                break
        return found

    def _of_pair(self, one: int, other: int, least: float, max_iter: int) -> Bounds:
        """The bounds of two classes alone; |V| is sqrt(2) times their |v|."""
        rows = np.flatnonzero((self.codes == one) | (self.codes == other))
        codes = (self.codes[rows] == other).astype(np.int32)
        pair = _Pair(rows_taken(self.X, rows), codes, 2, self.free)
        part = pair.descended(pair.nothing(), least / np.sqrt(2), max_iter, 0.0)
        weights = np.zeros((len(self.X), self.K))
        weights[rows, np.where(codes == 1, one, other)] = part.weights
        return replace(part, weights=weights, bound=float(np.sqrt(2)) * part.bound)

    def nothing(self) -> Bounds:
        """What is known before a search."""
        shape = self.K, self.X.shape[1]
        weights = np.full((len(self.X), self.K), 1 / self.K)
        return Bounds(np.zeros(shape), np.zeros(self.K), -np.inf, *self._scaled(weights))

    def of_twins(self, one: int, other: int) -> Bounds:
        """What two equal rows say."""
        weights = np.zeros((len(self.X), self.K))
        weights[[one, other], self.codes[[other, one]]] = 0.5
        return replace(self.nothing(), weights=weights, bound=self.length(weights))

    def solved(self, l2: float, max_iter: int, last: JointFit | None) -> JointFit:
        """The optimum with the sparsemax loss."""
        start = None if last is None else replace(last, dual=None)
        return solve_joint(replace(self.problem, l2=l2), "auto", self.tolerance(l2, last), max_iter,
                           self.seed, start)

    def pulls(self, fit: JointFit) -> tuple[np.ndarray, float]:
        """(weights, bound) from the slopes."""
        z = score_rows(self.X, np.ascontiguousarray(fit.coef), fit.intercept)
        _, p = self.problem.evaluated(self._wide(z), np.arange(len(z)))
        return self._scaled(p)

    def _wide(self, z: np.ndarray) -> np.ndarray:
        """Responses as kernels have them."""
        out = np.zeros((len(z), self.problem.width))
        out[:, : self.K] = z
        return out

    def _scaled(self, p: np.ndarray) -> tuple[np.ndarray, float]:
        """(weights of pairs, |V|) from distributions p over the classes of each row"""
        n, every = len(p), np.arange(len(p))
        own = every, self.codes
        if self.free:
            # as much leaves a class as comes to it
            p = feasible(p, p.mean(axis=0), self.problem.class_shares())
        weights = p.copy()
        weights[own] = 0.0
        total = float(weights.sum())
        if not total > 0:
            return np.full((n, self.K), np.nan), np.inf
        weights /= total
        return weights, self.length(weights)

    def length(self, weights: np.ndarray) -> float:
        """|V| of weights of pairs."""
        pull = -weights
        pull[np.arange(len(pull)), self.codes] += weights.sum(axis=1)
        return float(np.linalg.norm(self.problem.added(lambda rows: pull[rows])))

    def centred(self, W: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The intercepts with a mean of 0."""
        return b - b.mean() if self.free else b

    def least(self, W: np.ndarray, b: np.ndarray) -> float:
        """The smallest lead."""
        z = score_rows(self.X, np.ascontiguousarray(W), b).copy()
        at = np.arange(len(z)), self.codes
        own = z[at]
        z[at] = -np.inf
        return float((own - z.max(axis=1)).min())

    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(row, other class) of each condition."""
        other = np.ones((len(self.X), self.K), dtype=bool)
        other[np.arange(len(self.X)), self.codes] = False
        rows, classes = np.nonzero(other)
        return rows, classes

    def conditions(self) -> Any:
        """x_i in the place of its class, -x_i in that of the other, and so the intercepts."""
        from scipy.sparse import csr_array, hstack, kron

        rows, others = self._pairs()
        X, each = self.X.to_csr()[rows], np.arange(len(rows))
        signs = csr_array((len(rows), self.K))
        signs = csr_array((np.ones(len(rows)), (each, self.codes[rows])), shape=signs.shape)
        signs = signs - csr_array((np.ones(len(rows)), (each, others)), shape=signs.shape)
        blocks = [X.multiply(signs[:, [k]].toarray()) for k in range(self.K)]
        if self.free:
            blocks.append(kron(signs, np.array([[self.size]])))
        return csr_array(hstack(blocks))

    def of_conditions(self, prices: np.ndarray) -> tuple[np.ndarray, float]:
        """(weights, bound) from the prices of the conditions."""
        if not prices.sum() > 0:
            return self.nothing().weights, np.inf
        # distributions of which so much lies with the other classes
        weights = np.zeros((len(self.X), self.K))
        weights[self._pairs()] = prices
        weights /= max(weights.sum(axis=1).max(), 1e-300)
        weights[np.arange(len(weights)), self.codes] = 1 - weights.sum(axis=1)
        return self._scaled(np.maximum(weights, 0.0))
