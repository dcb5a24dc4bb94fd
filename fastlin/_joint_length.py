"""How long the weights of K outputs are best, their direction given.

Where classes hardly overlap, what is missing of the margins after a rough solution is large beside
a weak penalty, and a little more length makes up for it.
"""

from __future__ import annotations

import numpy as np

from ._joint_problem import JointProblem

__all__ = ["best_length"]

# Looks at the slope, where the loss bends
_MOST_LOOKS = 30
# The slope, as a share of that of the penalty, that is none
_FLAT = 1e-6


def best_length(problem: JointProblem, z: np.ndarray, square: float) -> tuple[float, float]:
    """(t, the mean loss there): t >= 0 minimises the objective at (t W, t b) of the hinge or
    sparsemax with L2 alone, z being the responses and `square` |W|^2."""
    share = problem.shares_of(np.arange(len(z)))
    if problem.loss == "hinge":
        return _of_hinge(problem, z, share, problem.l2 * square)
    return _of_sparsemax(problem, z, share, problem.l2 * square)


def _of_hinge(problem: JointProblem, z: np.ndarray, share: np.ndarray,
              bend: float) -> tuple[float, float]:
    """The slope is bend t less the sum of the margins m_i t < 1: linear between t = 1 / m_i."""
    rows = np.arange(len(z))
    own = problem.target.classes[problem.target.first[:-1]]
    rest = z.copy()
    rest[rows, own] = -np.inf
    margin = z[rows, own] - rest.max(axis=1)
    t = _where_rising(margin, share, bend)
    return t, float(share @ np.maximum(0.0, 1.0 - t * margin))


def _where_rising(margin: np.ndarray, share: np.ndarray, bend: float) -> float:
    """Where the slope gets above 0."""
    wide = np.flatnonzero(margin > 0)
    wide = wide[np.argsort(-margin[wide], kind="stable")]
    ends, pull = 1.0 / margin[wide], share[wide] * margin[wide]
    # of the rows that end at each place or after it, and of those that never do
    never = float(share @ np.minimum(margin, 0.0))
    left = np.append(np.cumsum(pull[::-1])[::-1], 0.0) + never
    if not left[0] > 0:
        return 0.0
    k = int(np.argmax(bend * ends >= left[1:]))
    return min(float(ends[k]), float(left[k]) / max(bend, 1e-300))


def _of_sparsemax(problem: JointProblem, z: np.ndarray, share: np.ndarray,
                  bend: float) -> tuple[float, float]:
    """By false position (Dowell & Jarratt 1971, the Illinois method), as the slope only rises."""
    q = problem.target.table(np.arange(len(z)))

    def look(t: float) -> tuple[float, float]:
        value, p = problem.evaluated(t * z, np.arange(len(z)))
        slope = float(share @ np.einsum("ik,ik->i", p - q, z)) + bend * t
        return float(share @ value), slope

    loss, slope = look(1.0)
    best = (loss + 0.5 * bend, 1.0, loss)
    low, high = (0.0, -np.inf), (np.inf, np.inf)
    t, before, flat = 1.0, 0.0, _FLAT * bend
    for _ in range(_MOST_LOOKS):
        if not abs(slope) > flat:
            break
        # an end that stays twice has its slope halved
        stays = slope * before > 0
        if slope < 0:
            low, high = (t, slope), (high[0], high[1] * (0.5 if stays else 1.0))
        else:
            low, high = (low[0], low[1] * (0.5 if stays else 1.0)), (t, slope)
        before = slope
        if high[1] == np.inf:
            t = 2.0 * low[0]
        elif low[1] == -np.inf:
            t = 0.5 * high[0]
        else:
            t = low[0] + (high[0] - low[0]) * low[1] / (low[1] - high[1])
        loss, slope = look(t)
        best = min(best, (loss + 0.5 * bend * t * t, t, loss))
    return best[1], best[2]
