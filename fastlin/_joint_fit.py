"""`fit` of exact classifiers whose classes are one problem: softmax, sparsemax, Crammer-Singer.

Two classes have one response, the difference of the two: with W = (-w/2, w/2) the penalty
l2/2 |W|^2 is l2/4 |w|^2, so that twice the l2 makes it that of the binary form, and |W|_1 = |w|_1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core.rows import Rows
from ._joint_problem import Distributions, JointFit, JointProblem
from ._joint_solve import solve
from ._problem import Certificate
from ._random import spawn_seed
from ._row_slices import rows_taken

__all__ = ["publish_joint", "solve_joint"]

_NO_WEIGHTS = np.empty(0)


def solve_joint(estimator: Any, rows: Rows, target: Distributions,
                weight: np.ndarray | None, as_pair: bool = True) -> tuple[JointFit, np.ndarray]:
    """(the optimum for all classes that have weight, their numbers); with `as_pair` two classes are
    one output."""
    K = target.n_classes
    weight = _NO_WEIGHTS if weight is None else weight
    if len(weight) and not weight.all():
        kept = np.flatnonzero(weight)
        rows, weight, target = rows_taken(rows, kept), weight[kept], target.taken(kept)
    present = np.flatnonzero(target.mass(weight) > 0)
    if len(present) < K:
        place = np.full(K, -1, dtype=np.int32)
        place[present] = np.arange(len(present))
        target = Distributions(
            target.first, place[target.classes], target.shares, len(present)
        )
    total = float(weight.sum()) if len(weight) else float(rows.shape[0])
    terms = estimator._terms(total)
    problem = JointProblem(
        X=rows, target=target, loss=estimator._joint_loss(), l1=terms["l1"],
        l2=terms["l2"] * (2.0 if len(present) == 2 and as_pair else 1.0), weight=weight,
        fit_intercept=estimator.fit_intercept,
    )  # fmt: skip
    (seed,) = spawn_seed(estimator.random_state, 1)
    start = _start(estimator, present, K, rows.shape[1])
    fit = solve(problem, getattr(estimator, "solver", "auto"), float(estimator.tol),
                estimator._max_iter(), seed, start)
    return fit, present


def _start(estimator: Any, present: np.ndarray, K: int, d: int) -> JointFit | None:
    """What the solver starts from: the last answer with warm_start, else nothing."""
    if not getattr(estimator, "warm_start", False) or not hasattr(estimator, "coef_"):
        return None
    coef = np.atleast_2d(estimator.coef_).astype(np.float64)
    n_outputs = 1 if K == 2 and len(coef) == 1 else K
    if coef.shape != (n_outputs, d):
        raise ValueError(
            f"warm_start goes on from coef_ of shape {coef.shape}, but this fit has "
            f"{(n_outputs, d)}; fit with warm_start=False."
        )
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=float), (n_outputs,))
    if n_outputs < K:
        coef = np.concatenate([-0.5 * coef, 0.5 * coef])
        intercept = np.array([-0.5, 0.5]) * intercept
    coef, intercept = coef[present], intercept[present]
    if not np.isfinite(intercept).all():
        return None
    return JointFit(coef, intercept.copy(), 0, Certificate(np.inf, np.inf, np.inf), False)


def publish_joint(estimator: Any, fit: JointFit, present: np.ndarray, K: int,
                  dtype: np.dtype, as_pair: bool = True) -> None:
    """Set the public attributes; classes without weight can't be predicted. Two
    classes are one output, with `as_pair`."""
    most = np.finfo(dtype).max
    if not (np.abs(fit.coef).max(initial=0.0) <= most and np.isfinite(fit.intercept).all()):
        raise ValueError(
            f"Floating-point overflow: no finite weights were found in {np.dtype(dtype).name}. "
            "Scale and centre the columns of X."
        )
    if K == 2 and as_pair:
        estimator.coef_ = (fit.coef[1:] - fit.coef[:1]).astype(dtype)
        estimator.intercept_ = fit.intercept[1:] - fit.intercept[:1]
    else:
        estimator.coef_ = np.zeros((K, fit.coef.shape[1]), dtype)
        estimator.intercept_ = np.full(K, -np.inf)
        estimator.coef_[present], estimator.intercept_[present] = fit.coef, fit.intercept
    estimator.n_iter_ = estimator._counted(np.array([fit.n_iter], dtype=np.int32))
    estimator.objective_ = np.array([fit.certificate.objective])
    estimator.duality_gap_ = np.array([fit.certificate.relative_gap])
