"""The quadratic model of a loss of K outputs on a working set of weights, and its minimum with an
L1 penalty: turns of coordinate descent find which weights are 0, conjugate gradients on those that
are not go where turns alone would take hundreds. They are preconditioned by the factors of the
blocks of one class: with the diagonal alone, columns that are alike took most of the time.
`fl_joint_primal.h` has the model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ._cholesky import cholesky
from ._core import joint_primal as _primal
from ._core.rows import Rows
from ._gram import products
from ._joint_problem import JointProblem
from ._parallel import Cancelled, is_cancelled

__all__ = ["Model", "WorkingSet"]

# Entries per call of a kernel: about 20 ms
_PIECE = 4_000_000
# Turns between two Newton steps on the weights that are not 0, and the most of both
_TURNS, _ROUNDS = 4, 3
# A model is left when a turn gains less than this share of what its first one gained.
_OF_FIRST_TURN = 0.01
# Classes with more weights than this, or than rows, are not factored.
_LARGEST_BLOCK = 600
# Keeps factors of columns that are alike regular: a share of the diagonal
_RIDGE = 1e-6
_MOST_PRODUCTS, _ACCURACY = 60, 0.1
_SIZES = (1.0, 0.3, 0.1)
_ROUNDING = 1e-15


class WorkingSet:
    """Weights that take part, class by class: the weight at m is of class of[m] and column
    chosen[m]."""

    def __init__(self, columns: Rows, of: np.ndarray, chosen: np.ndarray, n_classes: int):
        self.columns, self.n_classes = columns, n_classes
        self.of, self.chosen = np.ascontiguousarray(of), np.ascontiguousarray(chosen)
        self.first = np.searchsorted(of, np.arange(n_classes + 1))
        if columns.indptr is None:
            sizes = np.full(len(of), columns.shape[1])
        else:
            sizes = np.diff(columns.indptr)[chosen]
        ends = np.concatenate([[0], np.cumsum(sizes)])[self.first]
        cuts = np.searchsorted(ends, np.arange(0, ends[-1] + 1, _PIECE), "right") - 1
        cuts = np.unique(np.r_[0, cuts, n_classes])
        self.pieces = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.of)

    def taken(self, some: np.ndarray) -> WorkingSet:
        """A part of it."""
        return WorkingSet(self.columns, self.of[some], self.chosen[some], self.n_classes)

    def over(self, kernel: Callable[..., object], *arguments: np.ndarray) -> None:
        """Call a kernel for all classes."""
        for start, stop in self.pieces:
            if is_cancelled():
                raise Cancelled
            kernel(self.columns, self.chosen, self.first, *arguments, start, stop)

    def gathered(self, r: np.ndarray) -> np.ndarray:
        """x_j.r_k of each weight"""
        out = np.empty(len(self))
        self.over(_primal.gather, r, out)
        return out


class Model:
    """The model where the gradient in the responses is r and h the header's, both of shape (K, n);
    `damping` is that of coordinates beside the squares that `sizes` weighs."""

    def __init__(self, problem: JointProblem, part: WorkingSet, r: np.ndarray, h: np.ndarray,
                 sizes: np.ndarray, begun: np.ndarray, damping: float):
        self.problem, self.part, self.h, self.begun = problem, part, h, begun
        self.total = h.sum(axis=0)
        self.e = np.divide(1.0, self.total, out=np.zeros(h.shape[1]), where=self.total > 1e-300)
        self.g, self.g_b = part.gathered(r), r.sum(axis=1)
        self.bend, size = np.empty((2, len(part)))
        part.over(_primal.bends, sizes, h, self.e, self.bend, size)
        self.bend_b = np.maximum((h * (1.0 - self.e * h)).sum(axis=1), 0.0)
        self.bend_b *= problem.fit_intercept
        self.damping = damping * size
        self.w, self.b = begun.copy(), np.zeros(len(h))
        self.t, self.m = np.zeros_like(h), np.zeros(h.shape[1])

    def descend(self, enough: float) -> None:
        """Go near the minimum, until a turn gains no more than `enough`."""
        first = 0.0
        for k in range(_ROUNDS):
            for _ in range(_TURNS):
                fall = self._turn()
                first = max(first, fall)
                if not fall > max(_OF_FIRST_TURN * first, enough):
                    return
            if k < _ROUNDS - 1:
                self._along_the_face()

    def _turn(self) -> float:
        """A step along each weight and intercept: by how much the model fell."""
        part, problem, fall = self.part, self.problem, 0.0
        for start, stop in part.pieces:
            if is_cancelled():
                raise Cancelled
            fall += _primal.settle(self.h, self.e, self.g_b, self.bend_b, self.b, self.t, self.m,
                                   start, stop)
            fall += _primal.descend(part.columns, part.chosen, part.first, problem.l1, problem.l2,
                                    self.h, self.e, self.g, self.bend, self.damping, self.begun,
                                    self.w, self.t, self.m, start, stop)
        return fall

    # all weights that are not 0 at once

    def _along_the_face(self) -> None:
        """A step of Newton's method on the weights that are not 0, which those that would change
        sign end at 0."""
        on = np.flatnonzero(self.w)
        if not len(on):
            return
        d, d_b = self._direction(on)
        before = self.w, self.b, self.t, self.m
        value = self._value() + _ROUNDING * self.problem.penalty(self.w)
        towards = self.w[on] * d < 0
        reach = float((-self.w[on][towards] / d[towards]).min(initial=1.0))
        for size in (*_SIZES, reach):
            w = before[0].copy()
            w[on] += size * d
            w[w * before[0] < 0] = 0.0
            self.w, self.b = w, before[1] + size * d_b
            self.t, self.m = self._responses(self.part, w - self.begun, self.b)
            # weights that were cut off at 0 leave the others in the wrong place: a turn mends that
            self._turn()
            if self._value() <= value:
                return
        self.w, self.b, self.t, self.m = before

    def _responses(self, part: WorkingSet, d: np.ndarray,
                   d_b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """t and m of a change of some weights and of the intercepts."""
        t = np.repeat(d_b[:, None], self.h.shape[1], axis=1)
        part.over(_primal.spread, d, t)
        return t, self.e * np.einsum("ki,ki->i", self.h, t)

    def _value(self) -> float:
        """The model with its penalty."""
        d = self.w - self.begun
        square = float(np.einsum("ki,ki,ki->", self.h, self.t, self.t))
        square += float((d * d) @ self.damping) - float((self.m * self.m) @ self.total)
        linear = float(self.g @ d) + float(self.g_b @ self.b)
        return linear + 0.5 * square + self.problem.penalty(self.w)

    def _direction(self, on: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(d, d_b) by preconditioned conjugate gradients."""
        part, l1, l2 = self.part.taken(on), self.problem.l1, self.problem.l2
        w, more = self.w[on], self.damping[on] + l2
        pull = self.h * (self.t - self.m)
        r = -(self.g[on] + part.gathered(pull) + self.damping[on] * (w - self.begun[on]) + l2 * w
              + l1 * np.sign(w))
        r_b = -(self.g_b + pull.sum(axis=1)) * self.problem.fit_intercept
        inverse = self._inverse(part, self.bend[on], more)
        inverse_b = np.divide(1.0, self.bend_b, out=np.zeros_like(self.bend_b),
                              where=self.bend_b > 0)
        d, d_b = np.zeros_like(r), np.zeros_like(r_b)
        y, y_b = inverse(r), inverse_b * r_b
        rho = first = float(r @ y) + float(r_b @ y_b)
        v, v_b = y.copy(), y_b.copy()
        for _ in range(_MOST_PRODUCTS):
            if not rho > _ACCURACY**2 * first:
                break
            t, m = self._responses(part, v, v_b)
            t -= m
            t *= self.h
            out, out_b = part.gathered(t) + more * v, t.sum(axis=1) * self.problem.fit_intercept
            curvature = float(v @ out) + float(v_b @ out_b)
            if not curvature > 0:
                break
            alpha = rho / curvature
            d += alpha * v
            d_b += alpha * v_b
            r -= alpha * out
            r_b -= alpha * out_b
            y, y_b = inverse(r), inverse_b * r_b
            rho, last = float(r @ y) + float(r_b @ y_b), rho
            v = y + (rho / last) * v
            v_b = y_b + (rho / last) * v_b
        return d, d_b

    def _inverse(self, part: WorkingSet, bend: np.ndarray, more: np.ndarray
                 ) -> Callable[[np.ndarray], np.ndarray]:
        """About the inverse of the Hessian: its blocks of one class, or the diagonal of those that
        are large."""
        first, solvers = part.first, []
        for k in range(part.n_classes):
            one = slice(first[k], first[k + 1])
            if one.stop - one.start > min(_LARGEST_BLOCK, self.h.shape[1]):
                solvers.append((one, _by_diagonal(bend[one] + more[one])))
            elif one.stop > one.start:
                own = self.h[k] * np.maximum(1.0 - self.e * self.h[k], 0.0)
                block = products(self.problem.X, part.columns, part.chosen[one], own)
                place = np.diag_indices_from(block)
                block[place] += _RIDGE * block[place] + more[one]
                solvers.append((one, cholesky(block, 0.0)[0]))

        def inverse(r: np.ndarray) -> np.ndarray:
            out = np.empty_like(r)
            for one, solve in solvers:
                out[one] = solve(r[one])
            return out

        return inverse


def _by_diagonal(bend: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """How to divide by curvatures; by 0: to 0."""
    inverse = np.divide(1.0, bend, out=np.zeros_like(bend), where=bend > 0)
    return lambda r: inverse * r
