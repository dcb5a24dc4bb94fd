"""Which weights under an L1 penalty take turns: those that are not 0, and those worth the most."""

from __future__ import annotations

import numpy as np

from ._blocks import rmatvec
from ._problem import Problem
from ._quadratic import within

__all__ = ["first_of", "joined", "largest_l1", "stronger", "violations", "working_set"]

# The first working set has this share of all entries, or so many columns.
_FIRST, _LEAST_FIRST = 0.05, 20
# A penalty is weak from this share of the largest on, and how far apart those on the way to it are
_WEAK, _APART = 5e-3, 10.0


def largest_l1(problem: Problem) -> float:
    """The smallest l1 at which all weights are 0."""
    none = np.zeros(len(problem.y))
    pulls = problem.project(-problem.slopes(none + problem.best_intercept(none)))
    v = rmatvec(problem.X, problem.weighted(pulls))
    return float((v if problem.positive else np.abs(v)).max(initial=0.0))


def stronger(largest: float, l1: float) -> list[float]:
    """Penalties on the way from the largest to l1, which is left out."""
    if not l1 < _WEAK * largest < np.inf:
        return []
    count = max(1, int(np.log(largest / l1) / np.log(_APART)) - 1)
    return np.geomspace(largest, l1, count + 2)[1:-1].tolist()


def violations(problem: Problem, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """How far the slope along each weight is from what optimality allows; v = -(slope of the
    loss)."""
    far = v.copy() if problem.positive else np.abs(v)
    far -= problem.l1
    np.maximum(far, 0.0, out=far)
    # of many weights few are not 0
    on = np.flatnonzero(w)
    far[on] = np.abs(problem.l2 * w[on] - v[on] + problem.l1 * np.sign(w[on]))
    return far


def working_set(w: np.ndarray, worth: np.ndarray, smallest: int, fewest_new: int) -> np.ndarray:
    """The weights that are not 0, and as many again of those that are worth most, if not more."""
    support = w != 0
    present = int(support.sum())
    room = max(smallest - present, present, fewest_new)
    new = np.where(support, 0.0, worth)
    able = np.flatnonzero(new)
    if len(able) > room:
        able = able[np.argpartition(-new[able], room)[:room]]
    support[able] = True
    return np.flatnonzero(support)


def joined(first: np.ndarray, second: np.ndarray, d: int) -> np.ndarray:
    """The columns that are in either, in order; d are all."""
    held = np.zeros(d, bool)
    held[first] = held[second] = True
    return np.flatnonzero(held)


def first_of(chosen: np.ndarray, worth: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Those of a working set with which to begin where all weights are 0, given how many entries
    each column has: few, for what heavy columns have in common some of them explain, and the others
    would leave again."""
    order = chosen[np.argsort(-worth[chosen], kind="stable")]
    few = within(order, sizes[order], _FIRST * sizes.sum(dtype=np.int64))
    return np.sort(order[: max(_LEAST_FIRST, len(few))])
