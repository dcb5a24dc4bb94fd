"""Which weights under an L1 penalty take turns: those that are not 0, and those worth the most."""

from __future__ import annotations

import numpy as np

from ._problem import Problem

__all__ = ["violations", "working_set"]


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
