"""Newton's method for 1 <= p < inf with whole matrices, where proximal steps or conjugate gradients
see too little of how columns go together.

A step goes along the d with (H + diag(E)) d = -(g + v(w)), where H = sum_i h_i (x_i - c)(x_i - c)^T
is the curvature of the loss with the best b for each w, g its gradient, v(w) are the slopes of the
penalty and E about its curvatures. E > 0 makes d a direction of descent; which E makes the whole
step a good one hangs on p.

For p >= 2 the curvature vanishes with the weight, and steps from 0 would lead where the penalty is
beyond all bounds. Where the slope were v = -g, the weight would be u = (|g| / alpha)^(1/(p-1)): E
is taken at the larger of |w| and u, which are one at the optimum.

For p < 2 it has no bound near 0. The penalty of a weight becomes alpha/p r^p with
r = sqrt(w^2 + m^2), where m, the same for all weights once columns are scaled, falls to 0 as the
gap does. The curvature of that alone,

    alpha r^(p-2) (1 + (p - 2) w^2 / r^2),

leads far past 0 for p near 1. So the slope v is a variable of its own, of which
v r^(2-p) = alpha w is the equation, and steps solve both together, with w v / (alpha r^(p-1)) / r
in place of w^2 / r^2 (Chan, Golub & Mulet 1999, "A nonlinear primal-dual method for total
variation-based image restoration", SIAM Journal on Scientific Computing 20, for p = 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ._problem import Problem
from ._prox import Penalty
from ._prox_interior import Progress, solver

__all__ = ["Smoothed"]

# The fall of m after a step as long as this share of a whole one
_FALL, _LONG = 0.2, 0.5
# Steps without a fall of the gap that are the last
_MOST_STALLS = 12
# Curvatures of the penalty stay above this share of those of the loss
_LEAST = 1e-12


@dataclass
class Smoothed:
    """Weights and the slopes of the smoothed penalty, as `_prox_interior.Inside` for p = inf."""

    penalty: Penalty
    D: np.ndarray
    w: np.ndarray
    m: np.ndarray
    v: np.ndarray
    bend: np.ndarray  # E
    t: float = 0.0  # no bound
    progress: Progress = field(default_factory=lambda: Progress(_MOST_STALLS))

    @classmethod
    def around(cls, penalty: Penalty, w: np.ndarray, D: np.ndarray,
               gradient: np.ndarray) -> Smoothed:
        """At weights with a gradient; m is as large as the largest of them."""
        size = np.sqrt(D)
        largest = float((size * np.abs(w)).max(initial=0.0))
        largest = largest or float((np.abs(gradient) / size).max(initial=0.0))
        m = largest / size if penalty.p < 2 and largest > 0 else np.zeros_like(w)
        found = cls(penalty, D, w, m, w, w)
        found.v = found.slopes()
        return found

    def slopes(self) -> np.ndarray:
        """Those of the penalty."""
        r = np.hypot(self.w, self.m)
        return self.penalty.alpha * np.copysign(np.abs(self.w) * r ** (self.penalty.p - 2), self.w)

    def curvatures(self, gradient: np.ndarray) -> np.ndarray:
        """E"""
        alpha, p = self.penalty.alpha, self.penalty.p
        if p >= 2:
            u = np.maximum(np.abs(self.w), (np.abs(gradient) / alpha) ** (1 / (p - 1)))
            bend = alpha * (p - 1) * u ** (p - 2)
        else:
            r = np.hypot(self.w, self.m)
            share = np.clip(self.w / r * (self.v / (alpha * r ** (p - 1))), 0.0, 1.0)
            bend = alpha * r ** (p - 2) * (1 + (p - 2) * share)
        return np.maximum(bend, _LEAST * self.D)

    def direction(self, problem: Problem, z: np.ndarray, gradient: np.ndarray
                  ) -> tuple[np.ndarray, float, float]:
        """(of w, 0, the slope along it), at responses z"""
        self.bend, total = self.curvatures(gradient), gradient + self.slopes()
        h = problem.weighted(problem.curvatures(z))
        dw = -solver(problem, h, self.bend)(total[:, None])[:, 0]
        return dw, 0.0, float(total @ dw)

    def room(self, dw: np.ndarray, dt: float) -> float:
        """The longest step."""
        return 1.0

    def barrier(self, w: np.ndarray, t: float) -> float:
        """The penalty there less that here."""
        there, here = (np.hypot(at, self.m) ** self.penalty.p for at in (w, self.w))
        return self.penalty.alpha / self.penalty.p * float((there - here).sum())

    def moved(self, dw: np.ndarray, dt: float, length: float) -> Smoothed:
        """The point after a step, with the slopes that it aims at."""
        w = self.w + length * dw
        v = self.v + length * (self.slopes() + self.bend * dw - self.v)
        most = self.penalty.alpha * np.hypot(w, self.m) ** (self.penalty.p - 1)
        return replace(self, w=w, v=np.clip(v, -most, most))

    def aim(self, gap: float, length: float) -> None:
        """Let m fall after a step of such a length, if that was long."""
        self.progress.note(gap)
        if length >= _LONG:
            self.m = _FALL * self.m
