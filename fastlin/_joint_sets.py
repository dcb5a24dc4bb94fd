"""Working sets of columns for K outputs with an L1 penalty: where most columns have no weight,
Newton's method sees only those that have one or want one (as for one output in `_primal_cd`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import _joint_newton as _newton
from ._joint_problem import JointFit, JointProblem
from ._row_slices import columns_taken

__all__ = ["solve"]

# Columns in the first set, and how much larger than the columns with weights a set may be
_FIRST, _GROWTH = 200, 2
# A set is solved to this share of the gap of all columns, or of tol.
_SHARE, _LAST_SHARE = 0.1, 0.5
_MOST_SETS = 200


def solve(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
          start: JointFit | None = None) -> JointFit:
    """Minimise until the relative gap is at most `tol`, or for `max_iter` Newton steps."""
    whole = _newton.Descent(problem, tol, start)
    n_iter, gap = 0, 1.0
    for _ in range(_MOST_SETS):
        certificate = whole.measure()
        last, gap = gap, certificate.relative_gap
        if gap <= tol or n_iter >= max_iter:
            break
        chosen = _chosen(problem, whole)
        part = replace(problem, X=columns_taken(problem.X, chosen))
        begun = problem.unpacked(whole.point.W)
        inner = max(_SHARE * gap, _LAST_SHARE * tol) if gap < last else _LAST_SHARE * tol
        fit = _newton.solve(
            part, inner, max_iter - n_iter, seed,
            JointFit(begun[:, chosen], whole.point.b, 0, certificate, False),
        )  # fmt: skip
        n_iter += max(fit.n_iter, 1)
        begun[:, chosen] = fit.coef
        whole.move_to(problem.packed(begun), fit.intercept)
    return whole.fit(n_iter)


def _chosen(problem: JointProblem, whole: _newton.Descent) -> np.ndarray:
    """The columns that have weights, and those whose gradients are the largest beyond l1."""
    width = problem.n_classes
    used, excess = np.zeros(problem.X.shape[1], bool), np.zeros(problem.X.shape[1])
    for start, view in problem.groups(whole.point.W):
        used |= (view[:, : width - start] != 0).any(axis=1)
    for start, view in problem.groups(whole.point.gradient):
        np.maximum(excess, np.abs(view[:, : width - start]).max(axis=1), out=excess)
    wanted = np.flatnonzero(~used & (excess > problem.l1))
    room = max(_FIRST, (_GROWTH - 1) * int(used.sum()))
    if len(wanted) > room:
        wanted = wanted[np.argpartition(-excess[wanted], room)[:room]]
    used[wanted] = True
    return np.flatnonzero(used)
