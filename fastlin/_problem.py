"""The problem that every exact solver solves, what it answers, and the certificate of an answer.

    minimise over (w, b)   P = (1/S) sum_i s_i loss(x_i.w + b, y_i) + l1 |w|_1 + (l2/2) |w|_2^2

with S = sum_i s_i. For any dual variables a, one per row, with sum_i s_i a_i = 0 where b is free,

    P >= D(a) = -(1/S) sum_i s_i loss*(-a_i) - penalty*(v),      v = (1/S) sum_i s_i a_i x_i,

where loss* and penalty* are conjugates (Fenchel; Rockafellar 1970, "Convex Analysis", section 31).
At the optimum a_i is minus the slope of the loss and P = D: P - D bounds how far any answer is from
the optimum, and is what `tol` bounds relative to P. Everything here is in double.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ._blocks import matvec, rmatvec
from ._core import losses as _losses
from ._core import primal_cd as _primal_cd
from ._core.rows import Rows
from ._isa import ISA

__all__ = ["LEAST_WITHOUT_PENALTY", "Certificate", "Fit", "Problem"]

LOSS_CODES = {row[0]: row[1] for row in _losses.table()}
_NO_WEIGHTS = np.empty(0)
# Steps of the search for b: bisection alone ends in 80.
_MOST_STEPS = 200
# Sums below this share of the sum of sizes are rounding
_ROUNDING = 1e-16
# The curvature of the logistic loss counts as at least this share of its slope: where all margins
# are far from 0, a step of Newton's method would be next to infinite
_LEAST_BEND = 1e-17
# Losses of y times the response
_OF_MARGINS = ("log_loss", "hinge", "squared_hinge")
# Shares of P at w = 0 that gaps are relative to at least
LEAST, LEAST_WITHOUT_PENALTY = 1e-12, 1e-6


@dataclass(frozen=True)
class Problem:
    """What is to be minimised; the arrays are checked, of float64, and never written to."""

    X: Rows
    y: np.ndarray  # +-1, or numbers
    loss: str
    l1: float = 0.0
    l2: float = 0.0
    # sample weights, all above 0 (rows of weight 0 are removed before); empty: all 1
    weight: np.ndarray = field(default_factory=lambda: _NO_WEIGHTS)
    loss_parameter: float = 0.0
    fit_intercept: bool = True
    positive: bool = False  # w >= 0

    @property
    def code(self) -> int:
        """The loss's number in the kernels."""
        return LOSS_CODES[self.loss]

    @property
    def total_weight(self) -> float:
        """S"""
        return float(self.weight.sum()) if len(self.weight) else float(len(self.y))

    def weighted(self, values: np.ndarray) -> np.ndarray:
        """s_i values_i / S"""
        return values * (self.weight / self.total_weight if len(self.weight) else
                         1.0 / len(self.y))

    # the loss at responses z = Xw + b

    def mean_loss(self, z: np.ndarray) -> float:
        """(1/S) sum_i s_i loss(z_i, y_i)"""
        if self.loss == "log_loss":
            return self.expanded(z)[0]
        total = _losses.total(self.code, self.loss_parameter, z, self.y, self.weight)
        return float(total / self.total_weight)

    def evaluated(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The loss of each row and d loss / d z, without weights."""
        value, slope = np.empty_like(z), np.empty_like(z)
        _losses.evaluate(self.code, self.loss_parameter, z, self.y, value, slope)
        return value, slope

    def expanded(self, z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The mean loss, and of each row s_i/S times d loss / d z and times d^2 loss / d z^2."""
        return self._expanded(z, self.weight, 1.0 / self.total_weight)

    def slopes(self, z: np.ndarray) -> np.ndarray:
        """d loss / d z of each row, without its weight."""
        return self._expanded(z, _NO_WEIGHTS, 1.0)[1]

    def curvatures(self, z: np.ndarray) -> np.ndarray:
        """d^2 loss / d z^2 of each row, without its weight."""
        return self._expanded(z, _NO_WEIGHTS, 1.0)[2]

    def _expanded(self, z: np.ndarray, weight: np.ndarray, share: float
                  ) -> tuple[float, np.ndarray, np.ndarray]:
        """The sum of losses, slopes and curvatures, times `share` and these weights."""
        pull, bend = np.empty_like(z), np.empty_like(z)
        least = _LEAST_BEND if self.loss == "log_loss" else 0.0
        value = _primal_cd.expand(ISA, self.code, self.loss_parameter, z, self.y, weight, share,
                                  least, pull, bend)
        return value, np.negative(pull, out=pull), bend

    # both sides

    def penalty(self, w: np.ndarray) -> float:
        """l1 |w|_1 + (l2/2) |w|^2"""
        # without a penalty weights may be so large that their squares overflow
        square = 0.5 * self.l2 * float(w @ w) if self.l2 else 0.0
        return square + (self.l1 * float(np.abs(w).sum()) if self.l1 else 0.0)

    def primal(self, z: np.ndarray, w: np.ndarray) -> float:
        """P at w, given the responses z."""
        return self.mean_loss(z) + self.penalty(w)

    def value(self, w: np.ndarray, b: float) -> float:
        """P at (w, b)."""
        return self.primal(matvec(self.X, w, b), w)

    def without_weights(self) -> tuple[float, float]:
        """(b, P) of the best that there is at w = 0."""
        few = self.without_rows()
        zero = np.zeros(len(few.y))
        b = few.best_intercept(zero)
        return b, few.mean_loss(zero + b)

    def without_rows(self) -> Problem:
        """A problem of few rows with the same mean loss where w = 0."""
        if self.loss not in _OF_MARGINS:
            return self
        y, weight = np.array([-1.0, 1.0]), self.weight
        mass = np.array([
            float(weight[self.y == k].sum()) if len(weight) else float((self.y == k).sum())
            for k in y
        ])
        kept = mass > 0
        return replace(self, y=y[kept], weight=mass[kept])

    def dual(self, a: np.ndarray, v: np.ndarray) -> float:
        """D at a, given v = (1/S) sum_i s_i a_i x_i; -inf where a is not feasible.

        sum_i s_i a_i = 0 is the caller's to see to (`project`).
        """
        total = self._total_conjugate(a)
        if self.l2 > 0 and self.l1 == 0 and not self.positive:
            penalty = float(v @ v) / (2 * self.l2)
            return float(-total / self.total_weight - penalty)
        size = v if self.positive else np.abs(v)
        if self.l2 == 0:
            # a rounding above l1 is none
            if size.max(initial=0.0) > self.l1 * (1 + 1e-12):
                return -np.inf
            penalty = 0.0
        else:
            excess = np.maximum(size - self.l1, 0.0)
            penalty = float(excess @ excess) / (2 * self.l2)
        return float(-total / self.total_weight - penalty)

    def _total_conjugate(self, a: np.ndarray) -> float:
        """sum_i s_i loss*(-a_i)"""
        if self.loss == "log_loss" and len(a):
            t = a * self.y
            if not (t.min() >= 0 and t.max() <= 1):
                return np.inf
            return _primal_cd.log_loss_conjugate(ISA, a, self.y, self.weight, 1.0)
        return _losses.total_conjugate(self.code, self.loss_parameter, a, self.y, self.weight)

    def dual_of_squares(self, v: np.ndarray, square: float, along: float) -> float:
        """D of the squared error at the best multiple of r_i = (s_i/S) (y_i - z_i), which sum to 0
        where b is free, given v = X^T r, sum_i (s_i/S) (y_i - z_i)^2 and r.y."""
        size = v if self.positive else np.abs(v)
        largest = float(size.max(initial=0.0))
        most = self.l1 / largest if largest > 0 else np.inf
        scale = float(np.clip(along / square if square > 0 else 1.0, 0.0, most))
        value = scale * along - 0.5 * scale * scale * square
        if self.l2 > 0:
            excess = np.maximum(size - self.l1, 0.0)
            value = max(value, along - 0.5 * square - float(excess @ excess) / (2 * self.l2))
        return value

    def project(self, a: np.ndarray) -> np.ndarray:
        """Dual variables with sum_i s_i a_i = 0: those of the sign with the larger sum shrink.

        0 is in the domain of the conjugate of every loss that is bounded below, and so is what lies
        between it and a.
        """
        if not self.fit_intercept:
            return a
        mass = a if not len(self.weight) else a * self.weight
        up, down = float(mass[mass > 0].sum()), float(-mass[mass < 0].sum())
        if up == down:
            return a
        larger, ratio = (a > 0, down / up) if up > down else (a < 0, up / down)
        return np.where(larger, a * ratio, a)

    def best_intercept(self, z: np.ndarray) -> float:
        """argmin_b of the mean loss at responses z + b; 0 where there is no intercept."""
        if not self.fit_intercept:
            return 0.0
        if _losses.bend(self.code) == 0:
            return self._best_intercept_of_lines(z)
        b, low, high, step = 0.0, -np.inf, np.inf, 1.0
        for _ in range(_MOST_STEPS):
            _, pulls, bends = self.expanded(z + b)
            slope = float(pulls.sum())
            if abs(slope) <= _ROUNDING * float(np.abs(pulls).sum()):
                break
            low, high = (b, high) if slope < 0 else (low, b)
            bend = float(bends.sum())
            new = b - slope / bend if bend > 0 else np.nan
            if not low < new < high:
                # outside of what is known: walk on in growing steps, or halve
                new = 0.5 * (low + high) if np.isfinite(high - low) else b - np.sign(slope) * step
                step *= 2
            if abs(new - b) <= 1e-15 * (1 + abs(b)):
                break
            b = new
        return float(b)

    def _best_intercept_of_lines(self, z: np.ndarray) -> float:
        """The same for a loss made of lines: its slope in b jumps at known places."""
        weight = self.weight if len(self.weight) else np.ones(len(z))
        if self.loss == "epsilon_insensitive":
            e = self.y - z
            places = np.concatenate([e - self.loss_parameter, e + self.loss_parameter])
            jumps, begin = np.concatenate([weight, weight]), -weight.sum()
        elif self.loss == "quantile":
            places, jumps, begin = self.y - z, weight, -self.loss_parameter * weight.sum()
        else:
            margin = self.loss_parameter
            places, jumps, begin = self.y * margin - z, weight, -weight[self.y > 0].sum()
        order = np.argsort(places, kind="stable")
        slope = begin + np.cumsum(jumps[order])
        # rounding of the sum must not turn a flat stretch into a rise
        k = int(np.searchsorted(slope, -1e-12 * jumps.sum()))
        last = min(k, len(order) - 1)
        here = places[order[last]]
        flat = abs(slope[last]) <= 1e-12 * jumps.sum() and last + 1 < len(order)
        return float(0.5 * (here + places[order[last + 1]]) if flat else here)


@dataclass(frozen=True)
class Certificate:
    """How good an answer is: P, P - D, and the gap relative to P.

    No loss and no penalty is below 0, so that 0 is a lower bound of P as well as D is: the relative
    gap is that of the better one, but where nothing is known of D it is infinite. What P - D is
    relative to is P, or a share of P at w = 0 below which P counts as rounding: `LEAST`, or without
    a penalty, where rows may be met exactly, `LEAST_WITHOUT_PENALTY`.
    """

    objective: float
    gap: float
    relative_gap: float

    @classmethod
    def of(cls, objective: float, dual: float, zero: float, least: float = LEAST) -> Certificate:
        """From P, D and P at w = 0, of which `least` is the least that a gap is relative to."""
        gap = objective - dual
        if not gap < np.inf:  # what has overflowed proves nothing
            return cls(objective, np.inf, np.inf)
        gap = max(0.0, gap)
        return cls(objective, gap, min(gap, objective) / max(objective, least * zero, 1e-300))

    @staticmethod
    def progress(objective: float, dual: float, zero: float) -> float:
        """P - D relative to P, whatever it is: how far an ascent is."""
        gap = objective - dual
        return max(0.0, gap) / max(objective, LEAST * zero, 1e-300) if gap < np.inf else np.inf

    @classmethod
    def measured(cls, problem: Problem, w: np.ndarray, b: float,
                 a: np.ndarray | None = None) -> Certificate:
        """The certificate of (w, b) with the dual variables a; by default minus the slopes, which
        is what they are at the optimum of a smooth loss."""
        z = matvec(problem.X, w, b)
        a = problem.project(-problem.slopes(z) if a is None else a)
        v = rmatvec(problem.X, problem.weighted(a))
        if problem.l2 == 0 and problem.l1 > 0:
            largest = (v if problem.positive else np.abs(v)).max(initial=0.0)
            if largest > problem.l1:
                a, v = a * (problem.l1 / largest), v * (problem.l1 / largest)
        zero = problem.mean_loss(np.zeros(len(problem.y)))
        return cls.of(problem.primal(z, w), problem.dual(a, v), zero)


@dataclass(frozen=True)
class Fit:
    """What a solver answers."""

    coef: np.ndarray  # float64; of models side by side, of the type of X
    intercept: float
    n_iter: int
    certificate: Certificate
    converged: bool
    # dual variables, where the solver has them: a warm start
    dual: np.ndarray | None = None
