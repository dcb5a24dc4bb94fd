"""Newton's method for losses made of lines, by the proximal point method on their dual.

Coordinate ascent on the hinge or epsilon-insensitive loss needs thousands of epochs where rows are
many times more numerous than columns, or C is large: many variables stay off the corners of their
box, and each moves a little at a time. The proximal point method on the dual (Rockafellar 1976,
"Augmented Lagrangians and applications of the proximal point algorithm in convex programming",
Mathematics of Operations Research 1) maximises

    D(a') - (h / 2) (1/S) sum_i s_i (a'_i - a_i)^2,    then a <- a', h smaller.

The dual of this is smooth: each loss is replaced by its envelope

    e_i(p) = max_a' -a' p - loss*(-a') - (h / 2) (a' - a_i)^2,    e_i' = -a',    e_i'' in {0, 1/h},

whose maximiser is the step of coordinate ascent with that h. So

    minimise over w:  Phi(w) = min_b (l2/2) |w|^2 + (1/S) sum_i s_i e_i(x_i.w + b)

by Newton's method (semi-smooth: Li, Sun & Toh 2018, "A highly efficient semismooth Newton augmented
Lagrangian method for solving Lasso problems", SIAM J. Optimization 28). b is found exactly for
each w, which makes every a' feasible. The curvature comes from the few rows off the corners, and
conjugate gradients solve for the step with products of these rows alone; where both they are few
and fewer than columns, their kernel matrix does (Woodbury's identity).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._blocks import matvec, rmatvec
from ._centred import gram, kernel_matrix
from ._cholesky import cholesky
from ._core import dual_cd as _dual_cd
from ._core import losses as _losses
from ._core.rows import Rows
from ._parallel import Cancelled, is_cancelled
from ._problem import Problem
from ._row_slices import rows_in_single, rows_taken

__all__ = ["ascend"]

# h falls by the factor when the envelope's gradient is small enough, which is this share of the
# gap: then the envelope, not Newton's method, holds the gap up.
_FALL, _INNER = 5.0, 0.1
# A fall of the gap that needs no smaller h
_QUICK = 0.25
# Trials of the length of a step: halved so often, then divided by 10, since fewer free rows than
# columns leave directions that only the penalty bends, and long rows make that next to nothing
_HALVINGS, _MOST_TRIALS = 10, 25
_MOST_PRODUCTS = 300
# Trials of a search for b, and rows that a call of it visits: some 20 ms
_MOST_SEARCHES, _ROWS_PER_CALL = 100, 1 << 21
# Columns of dense rows whose products cost less than those of conjugate gradients
_FEW_COLUMNS = 64
# Free rows whose kernel matrix costs less than they do, if columns are more
_FEW_ROWS = 400


@dataclass
class _Point:
    """w with the best b, responses z = Xw + b, the variables a' and the value of Phi."""

    w: np.ndarray
    b: float
    z: np.ndarray
    a: np.ndarray
    value: float


def ascend(problem: Problem, a: np.ndarray, w: np.ndarray, b: float, h: float,
           offer: Callable[[np.ndarray, float, np.ndarray, np.ndarray, np.ndarray],
                           tuple[float, bool]],
           most: int) -> tuple[np.ndarray, int]:
    """Go on from the dual variables a, and w and b near what they lead to.

    `offer(w, b, z, a', v)` is told of each point and returns its gap and whether it is good enough;
    v is the sum of the rows that a' leads to. Returns the last variables and the number of Newton
    steps, at most `most`.
    """
    z, last, failed = matvec(problem.X, w), np.inf, False
    point = _point(problem, w, z, b, a, h)
    for step in range(1, most + 1):
        v = rmatvec(problem.X, problem.weighted(point.a))
        gap, good = offer(point.w, point.b, point.z, point.a, v)
        if good:
            return point.a, step
        slope = problem.l2 * point.w - v
        if float(slope @ slope) / problem.l2 <= _INNER * gap:
            # a fixed h ends after a few turns as well, and keeps the curvature moderate
            a, h = point.a, h if gap < _QUICK * last else h / _FALL
            last = gap
            point = _point(problem, point.w, point.z - point.b, point.b, a, h)
            v = rmatvec(problem.X, problem.weighted(point.a))
            slope = problem.l2 * point.w - v
        new = _newton(problem, point, slope, a, h)
        if new is None:
            # rounding hides what a step gains: a larger h bends less
            if failed:
                return point.a, step
            failed, a, h = True, point.a, h * _FALL**2
            new = _point(problem, point.w, point.z - point.b, point.b, a, h)
        else:
            failed = False
        point = new
    return point.a, most


def _point(problem: Problem, w: np.ndarray, z: np.ndarray, b: float, a: np.ndarray,
           h: float) -> _Point:
    """The point at w, given z = Xw; b is where the search for the best one begins."""
    moved, share = np.empty_like(a), problem.weighted(np.ones(len(a)))
    code, parameter, y = problem.code, problem.loss_parameter, problem.y
    if problem.fit_intercept:
        b = _balanced(problem, z, b, a, share, h, moved)
    else:
        b = 0.0
        _dual_cd.steps(code, parameter, z, y, a, h, moved)
    p, change = z + b, moved - a
    conjugate = _losses.total_conjugate(code, parameter, moved, y, problem.weight)
    mean = -share @ (moved * p + 0.5 * h * change * change)
    value = 0.5 * problem.l2 * float(w @ w) + float(mean) - conjugate / problem.total_weight
    return _Point(w, b, p, moved, value)


def _balanced(problem: Problem, z: np.ndarray, b: float, a: np.ndarray, share: np.ndarray,
              h: float, moved: np.ndarray) -> float:
    """The best b from a start, and `moved` there."""
    code, parameter, y = problem.code, problem.loss_parameter, problem.y
    bracket, left = np.array([-np.inf, np.inf, h]), _MOST_SEARCHES
    piece, found = max(1, _ROWS_PER_CALL // max(1, len(y))), False
    while left and not found:
        if is_cancelled():
            raise Cancelled
        most = min(left, piece)
        left -= most
        b, found = _dual_cd.balance(code, parameter, z, b, y, a, share, h, moved, bracket, most)
    if not found:
        _dual_cd.steps(code, parameter, z + b, y, a, h, moved)
    return b


def _is_free(a: np.ndarray) -> np.ndarray:
    """Which variables are at no corner, as numbers."""
    size = np.abs(a)
    return ((size > 0) & (size < 1)).astype(float)


def _newton(problem: Problem, point: _Point, slope: np.ndarray, a: np.ndarray,
            h: float) -> _Point | None:
    """The point after a step, or None if none goes down."""
    is_free = _is_free(point.a)
    free = np.flatnonzero(is_free)
    bends = problem.weighted(is_free)[free] / h
    if problem.X.shape[1] <= _FEW_COLUMNS and problem.X.layout == "dense":
        d = _solve_few(problem, free, bends, -slope)
    elif len(free) <= min(_FEW_ROWS, problem.X.shape[1]):
        d = _solve_few_rows(problem, free, bends, -slope)
    else:
        # single precision is enough for a direction
        d = _solve(problem, rows_in_single(problem.X, free), bends, -slope)
    fall = float(slope @ d)
    change = matvec(problem.X, d)
    length = 1.0
    for k in range(_MOST_TRIALS):
        new = _point(problem, point.w + length * d, point.z - point.b + length * change, point.b,
                     a, h)
        if new.value <= point.value + 1e-4 * length * fall + 1e-15 * abs(point.value):
            return new
        length *= 0.5 if k < _HALVINGS else 0.1
    return None


def _solve_few(problem: Problem, free: np.ndarray, bends: np.ndarray,
               right: np.ndarray) -> np.ndarray:
    """The same as `_solve` for few columns: by the matrix itself."""
    if not len(free):
        return right / problem.l2
    X = rows_taken(problem.X, free)
    centre = rmatvec(X, bends) / bends.sum() if problem.fit_intercept else np.zeros(X.shape[1])
    return cholesky(gram(X, bends, centre), problem.l2)[0](right)


def _solve_few_rows(problem: Problem, free: np.ndarray, bends: np.ndarray,
                    right: np.ndarray) -> np.ndarray:
    """The same as `_solve` for few free rows. With B = diag(bends)^(1/2) (X - 1 c^T),

        (l2 + B^T B)^-1 r = (r - B^T (l2 + B B^T)^-1 B r) / l2.
    """
    if not len(free):
        return right / problem.l2
    X, root = rows_taken(problem.X, free), np.sqrt(bends)
    centre = rmatvec(X, bends) / bends.sum() if problem.fit_intercept else np.zeros(X.shape[1])
    inverse = cholesky(kernel_matrix(X, bends, centre), problem.l2)[0]
    q = root * inverse(root * matvec(X, right, -float(centre @ right)))
    return (right - rmatvec(X, q) + q.sum() * centre) / problem.l2


def _solve(problem: Problem, X: Rows, bends: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Conjugate gradients for (l2 + X^T diag(bends) X, less what b takes up) d = right."""
    total = bends.sum()

    def product(d: np.ndarray) -> np.ndarray:
        if len(bends) == 0:
            return problem.l2 * d
        p = matvec(X, d)
        if problem.fit_intercept:
            p -= (bends @ p) / total
        return problem.l2 * d + rmatvec(X, bends * p)

    d, r = np.zeros_like(right), right.copy()
    direction, square = r.copy(), float(r @ r)
    enough = 1e-3 * square
    for _ in range(_MOST_PRODUCTS):
        if square <= enough * 1e-3 or square == 0:
            break
        q = product(direction)
        bend = float(direction @ q)
        # squares of small numbers may vanish
        if not 0 < bend < np.inf:
            break
        length = square / bend
        d += length * direction
        r -= length * q
        square, before = float(r @ r), square
        direction = r + (square / before) * direction
    return d
