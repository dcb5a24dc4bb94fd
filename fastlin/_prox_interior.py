"""The largest weight as the penalty, from inside: an interior point method for p = inf.

    minimise over (w, t)   loss(w) + alpha t,   -t <= w_j <= t

Proximal steps for p = inf need a thousand times more turns as the penalty gets weaker: which
weights are the largest is settled last. Where the smaller of the numbers of rows and columns is
moderate, some twenty steps of Newton's method on the conditions

    g + p - m = 0,   alpha = sum_j (p_j + m_j),   p_j (t - w_j) = m_j (t + w_j) = mu

end at any gap: with multipliers p, m > 0 of the two bounds, g the gradient of the loss with the
best b for each w, and mu falling with the gap (Boyd & Vandenberghe 2004, "Convex optimization",
section 11.7; Kim, Koh, Lustig, Boyd & Gorinevsky 2007, "An interior-point method for large-scale
l1-regularized least squares", IEEE Journal of Selected Topics in Signal Processing 1, has the rule
for mu). Steps go down on the barrier's function

    loss(w) + alpha t - mu sum_j (log(t - w_j) + log(t + w_j)),

of which they are directions of descent. With E = p / (t - w) + m / (t + w) the matrix is
H + diag(E), beside a border for t, where H = sum_i h_i (x_i - c)(x_i - c)^T; with more columns than
rows it is solved through the rows: (I + A diag(1/E) A^T), A having the rows sqrt(h_i)(x_i - c).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ._blocks import matvec, rmatvec
from ._centred import gram, kernel_matrix
from ._cholesky import cholesky
from ._column_scales import columns_times
from ._core.rows import Rows
from ._problem import Problem

__all__ = ["Inside", "Progress", "solver", "steps_before"]

# The smaller of the numbers of rows and columns at most, a number of steps that is enough, and what
# a multiplication of theirs takes beside an entry of a proximal step
_MOST, _ENOUGH, _CHEAP = 2500, 12, 0.008
# Proximal steps that come before in any case, and how many products count as one
_FIRST, _PRODUCTS = 20, 3
# How far t is from the largest weight at first, and the share of the way to a bound
_ROOM, _NEARLY = 0.1, 0.99
# mu aims at this share of the gap, where steps are as long as that
_FALL, _LONG = 0.1, 0.5
# Steps without such a fall of the gap that are the last
_MOST_STALLS, _BETTER = 8, 0.9
# Refinements of a solution through the rows
_AGAIN = 2
# Multipliers stay within this factor of mu over the room that is left
_APART = 1e10
_SMALLEST = 1e-300


def steps_before(X: Rows, p: float, max_iter: int) -> int:
    """After how many steps, of proximal ones, those with whole matrices are worth these, or
    `max_iter`."""
    least = min(X.shape)
    # for p = 1 with more columns than rows, which weights are 0 would take most of them
    if least > _MOST or (p == 1 and least < X.shape[1]):
        return max_iter
    work = least + least**3 / (3 * max(1, X.nnz))
    more = int(_ENOUGH * _CHEAP * work)
    # on small matrices always as many, so that rows that are weighted take the steps of those that
    # are repeated
    steps = min(_FIRST + (more if more > _FIRST else 0), max_iter // 2)
    # products of conjugate gradients cost less than steps
    return min(_PRODUCTS * steps, max_iter * 4 // 5) if 2 <= p < np.inf else steps


@dataclass
class Progress:
    """The least gap so far, and the steps since that did not better it."""

    most_stalls: int
    least: float = np.inf
    stalls: int = 0

    def note(self, gap: float) -> None:
        """Look at the gap after a step."""
        better = gap < _BETTER * self.least
        self.least, self.stalls = (gap, 0) if better else (self.least, self.stalls + 1)

    @property
    def is_stuck(self) -> bool:
        """Whether steps lead nowhere any more, as roundings make them in the end."""
        return self.stalls >= self.most_stalls


@dataclass
class Inside:
    """A point between the bounds, and the multipliers of these."""

    alpha: float
    w: np.ndarray
    t: float
    mu: float
    upper: np.ndarray  # p
    lower: np.ndarray  # m
    progress: Progress = field(default_factory=lambda: Progress(_MOST_STALLS))

    @classmethod
    def around(cls, alpha: float, w: np.ndarray, gap: float) -> Inside:
        """Bounds about weights whose gap is given, with multipliers that sum to alpha."""
        largest = float(np.abs(w).max(initial=0.0))
        t = largest + min(_ROOM * largest, gap / alpha) if largest else gap / alpha
        above, below = 1 / (t - w), 1 / (t + w)
        mu = max(alpha / float((above + below).sum()), _SMALLEST)
        return cls(alpha, w, t, mu, mu * above, mu * below)

    def barrier(self, w: np.ndarray, t: float) -> float:
        """alpha t less mu times the logarithms of the room there, relative to that here."""
        ratio = (t - w) / (self.t - self.w), (t + w) / (self.t + self.w)
        return self.alpha * (t - self.t) - self.mu * float(np.log(ratio).sum())

    def direction(self, problem: Problem, z: np.ndarray, gradient: np.ndarray
                  ) -> tuple[np.ndarray, float, float]:
        """(of w, of t, the slope of the barrier's function along both), at responses z"""
        above, below = self.t - self.w, self.t + self.w
        p, m = self.upper / above, self.lower / below
        pull = gradient + self.mu * (1 / above - 1 / below)
        pull_t = self.alpha - self.mu * float((1 / above + 1 / below).sum())
        solve = solver(problem, problem.weighted(problem.curvatures(z)), p + m)
        one, other = solve(np.stack([pull, p - m], axis=1)).T
        # what is left of the border: sum (p + m) - (p - m)^2 / (p + m) is 4 p m / (p + m)
        bend = float((4 * p * m / (p + m)).sum() + (p - m) @ ((p - m) / (p + m) - other))
        dt = -(pull_t + float((p - m) @ one)) / bend if bend > 0 else 0.0
        dw = other * dt - one
        return dw, dt, float(pull @ dw) + pull_t * dt

    def room(self, dw: np.ndarray, dt: float) -> float:
        """The longest step, up to 1, that stays inside."""
        above, below = self.t - self.w, self.t + self.w
        toward = max(float(((dw - dt) / above).max()), float((-(dw + dt) / below).max()))
        return min(1.0, _NEARLY / toward) if toward > 0 else 1.0

    def moved(self, dw: np.ndarray, dt: float, length: float) -> Inside:
        """The point after a step, with multipliers as near to their own as they may be."""
        above, below = self.t - self.w, self.t + self.w
        mu, w, t = self.mu, self.w + length * dw, self.t + length * dt
        up = mu / above - self.upper - self.upper / above * (dt - dw)
        down = mu / below - self.lower - self.lower / below * (dt + dw)
        least = min(float((up / self.upper).min()), float((down / self.lower).min()))
        share = min(1.0, -_NEARLY / least) if least < 0 else 1.0
        at_upper, at_lower = mu / (t - w), mu / (t + w)
        upper = np.clip(self.upper + share * up, at_upper / _APART, at_upper * _APART)
        lower = np.clip(self.lower + share * down, at_lower / _APART, at_lower * _APART)
        return replace(self, w=w, t=t, upper=upper, lower=lower)

    def aim(self, gap: float, length: float) -> None:
        """Let mu fall after a step of such a length, if that was long."""
        self.progress.note(gap)
        if length >= _LONG:
            self.mu = max(min(self.mu, _FALL * gap / (2 * len(self.w))), _SMALLEST)


def solver(problem: Problem, h: np.ndarray, E: np.ndarray
           ) -> Callable[[np.ndarray], np.ndarray]:
    """How to solve with sum_i h_i (x_i - c)(x_i - c)^T + diag(E), of columns."""
    X, (n, d), mass = problem.X, problem.X.shape, float(h.sum())
    centre = np.zeros(d)
    if problem.fit_intercept and mass > 0:
        centre = rmatvec(X, h) / mass
    if d <= n:
        matrix = gram(X, h, centre)
        matrix[np.diag_indices(d)] += E
        return cholesky(matrix, 0.0)[0]
    scale, root = 1 / np.sqrt(E), np.sqrt(h)
    scaled, middle = columns_times(X, scale), centre * scale
    inner = cholesky(kernel_matrix(scaled, h, middle), 1.0)[0]

    def across(r: np.ndarray) -> np.ndarray:
        """A r"""
        return root * matvec(scaled, r, -float(middle @ r))

    def back(q: np.ndarray) -> np.ndarray:
        """A^T q"""
        return rmatvec(scaled, root * q) - middle * float(root @ q)

    def solve(right: np.ndarray) -> np.ndarray:
        """Through the rows: (I + A^T A)^-1 = I - A^T (I + A A^T)^-1 A, whose difference may cost
        all digits: what is left over is solved for again."""
        out = np.empty_like(right)
        for k, column in enumerate(right.T):
            r = scale * column
            x = r - back(inner(across(r)))
            for _ in range(_AGAIN):
                left = r - x - back(across(x))
                x += left - back(inner(across(left)))
            out[:, k] = scale * x
        return out

    return solve
