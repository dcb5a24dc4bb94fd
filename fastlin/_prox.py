"""The penalties alpha/p |w|_p^p, their conjugates and their proximal maps.

    p = 0           alpha times the number of weights other than 0
    0 < p < inf     alpha/p sum_j |w_j|^p
    p = inf         alpha max_j |w_j|

The proximal map of u with weights c is argmin_w sum_j c_j/2 (w_j - u_j)^2 + penalty(w). For p < 1,
where there may be two minima, 0 wins a tie. For p = 1/2 it is the half thresholding of Xu, Chang,
Xu & Zhang 2012 ("L1/2 regularization: a thresholding representation theory and a fast solver", IEEE
Transactions on Neural Networks and Learning Systems 23); for p = inf, by Moreau's identity, what a
projection on the L1 ball leaves (Parikh & Boyd 2014, "Proximal algorithms", section 6.5). Other p
lead to one equation, x^m + a x = u with m >= 1, or to w - u + l w^(p-1) = 0 with p < 1: both are
solved by Newton's method from the side on which it cannot overshoot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Penalty"]

# Newton's method from these starts ends in about ten steps; small m takes fewer.
_MOST_STEPS = 100
_ENOUGH = 4e-16


@dataclass(frozen=True)
class Penalty:
    """alpha > 0 and p >= 0."""

    alpha: float
    p: float

    @property
    def is_convex(self) -> bool:
        """Whether a stationary point is the optimum."""
        return self.p >= 1

    def each(self, w: np.ndarray) -> np.ndarray:
        """The penalty of each weight; not for p = inf."""
        if self.p == 0:
            return self.alpha * (w != 0)
        return self.alpha / self.p * np.abs(w) ** self.p

    def value(self, w: np.ndarray) -> float:
        """The penalty of all."""
        if np.isinf(self.p):
            return self.alpha * float(np.abs(w).max(initial=0.0))
        return float(self.each(w).sum())

    def prox(self, u: np.ndarray, c: np.ndarray) -> np.ndarray:
        """argmin_w sum_j c_j/2 (w_j - u_j)^2 + penalty(w), for c > 0"""
        size, p = np.abs(u), self.p
        if np.isinf(p):
            return np.copysign(np.minimum(size, _level(size, c, self.alpha)), u)
        step = self.alpha / c
        if p == 0:
            return np.where(size > np.sqrt(2 * step), u, 0.0)
        if p == 1:
            return np.copysign(np.maximum(size - step, 0.0), u)
        if p == 2:
            return u / (1 + step)
        out, at = np.zeros_like(u), np.flatnonzero(size > _threshold(step, p))
        solved = _half if p == 0.5 else _concave if p < 1 else _convex
        out[at] = solved(size[at], step[at], p)
        return np.copysign(out, u)

    def conjugate(self, v: np.ndarray) -> float:
        """sup_w (v.w - penalty(w)), for p >= 1"""
        size, p = np.abs(v), self.p
        # a rounding above alpha is none
        most = self.alpha * (1 + 1e-12)
        if p == 1:
            return 0.0 if size.max(initial=0.0) <= most else np.inf
        if np.isinf(p):
            return 0.0 if size.sum() <= most else np.inf
        q = p / (p - 1)
        return float(self.alpha / q * ((size / self.alpha) ** q).sum())

    def shrinkage(self, v: np.ndarray) -> float:
        """A factor t <= 1 for which the conjugate at t v is moderate."""
        size = np.abs(v)
        norm = float(size.sum() if np.isinf(self.p) else size.max(initial=0.0))
        return min(1.0, self.alpha / norm) if norm > 0 else 1.0


def _threshold(step: np.ndarray, p: float) -> np.ndarray:
    """The size of u up to which 0 is the answer."""
    if p > 1:
        return np.zeros_like(step)
    # where both minima are equal: w^2/2 = l w^p (1/p - 1)
    w = (2 * step * (1 - p) / p) ** (1 / (2 - p))
    return w + step * w ** (p - 1)


def _half(u: np.ndarray, step: np.ndarray, p: float) -> np.ndarray:
    """The larger root of w - u + l / sqrt(w) = 0: with w = x^2 a cubic in x."""
    angle = np.arccos(np.maximum(-1.0, -1.5 * np.sqrt(3.0) * step / u**1.5))
    return 4 / 3 * u * np.cos(angle / 3) ** 2


def _concave(u: np.ndarray, step: np.ndarray, p: float) -> np.ndarray:
    """The larger root of w - u + l w^(p-1) = 0, a convex function of w that is above 0 at u."""
    w = u.copy()
    for _ in range(_MOST_STEPS):
        bent = step * w ** (p - 1)
        new = w - (w - u + bent) / (1 + (p - 1) * bent / w)
        done = np.all(w - new <= _ENOUGH * w)
        w = np.minimum(w, new)
        if done:
            break
    return w


def _convex(u: np.ndarray, step: np.ndarray, p: float) -> np.ndarray:
    """The root of w + l w^(p-1) = u; for p < 2 in s = w^(p-1), where it is as convex."""
    if p > 2:
        # (u/l)^(1/(p-1)) and u bound the root, and w^(p-1) + w/l = u/l
        return _root(u / step, 1 / step, p - 1)
    s = _root(u, step, 1 / (p - 1))
    w = s ** (1 / (p - 1))
    # the power costs digits where it is large
    return np.where(w > 0.5 * u, u - step * s, w)


def _root(u: np.ndarray, a: np.ndarray, m: float) -> np.ndarray:
    """The root of x^m + a x = u for m > 1, from above."""
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        x = np.fmin(u / a, u ** (1 / m))
        for _ in range(_MOST_STEPS):
            power = x ** (m - 1)
            new = x - (x * power + a * x - u) / (m * power + a)
            new = np.where(np.isfinite(new), np.minimum(new, x), x)
            if np.all(x - new <= _ENOUGH * x):
                return new
            x = new
    return x


def _level(size: np.ndarray, c: np.ndarray, alpha: float) -> float:
    """The t >= 0 with sum_j c_j max(0, |u_j| - t) = alpha; 0 where the sum is smaller at 0.

    The sum is convex and falls: Newton's method comes from below, never too far, and leaves sizes
    behind that count no more (Michelot 1986, "A finite algorithm for finding the projection of a
    point onto the canonical simplex", Journal of Optimization Theory and Applications 50).
    """
    t = 0.0
    while len(size):
        new = (float(c @ size) - alpha) / float(c.sum())
        if not new > t:
            break
        t = new
        above = size > t
        if above.all():
            break
        size, c = size[above], c[above]
    return t
