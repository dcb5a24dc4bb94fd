"""`fit` of exact classifiers whose classes are one problem: softmax, sparsemax, Crammer-Singer.

Two classes have one response, the difference of the two: with W = (-w/2, w/2) the penalty
l2/2 |W|^2 is l2/4 |w|^2, so that twice the l2 makes it that of the binary form, and |W|_1 = |w|_1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._answered import check_finite, last_weights
from ._core.rows import Rows
from ._dual_kept import keep_duals, kept_dual
from ._joint_problem import Distributions, JointFit, JointProblem
from ._joint_solve import solve
from ._problem import Certificate
from ._random import spawn_seed
from ._row_slices import rows_taken

__all__ = ["fit_joint", "publish_joint", "solve_joint"]

_NO_WEIGHTS = np.empty(0)


def fit_joint(estimator: Any, rows: Rows, target: Distributions, weight: np.ndarray | None,
              as_pair: bool = True) -> None:
    """Solve, publish, and warn if that did not end at the optimum."""
    fit, present = solve_joint(estimator, rows, target, weight, as_pair)
    estimator._check_certificate(fit.certificate)
    publish_joint(estimator, fit, present, target.n_classes, rows.dtype, as_pair)
    estimator._warn([fit])


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
    start = _start(estimator, present, K, rows.shape[1], as_pair)
    fit = solve(problem, getattr(estimator, "solver", "auto"), float(estimator.tol),
                estimator._max_iter(), seed, start)
    # no response depends on what all intercepts have in common
    fit = replace(fit, intercept=fit.intercept - fit.intercept.mean())
    if not problem.l1 and not problem.l2:
        # what all classes have in common makes no difference, and no penalty decides about it
        fit = replace(fit, coef=fit.coef - fit.coef.mean(axis=0))
    return fit, present


def _start(estimator: Any, present: np.ndarray, K: int, d: int,
           as_pair: bool) -> JointFit | None:
    """What the solver starts from: the last answer with warm_start, else nothing."""
    n_outputs = 1 if K == 2 and as_pair else K
    last = last_weights(estimator, n_outputs, d)
    if last is None:
        return None
    coef, intercept = last
    if n_outputs < K:
        coef = np.concatenate([-0.5 * coef, 0.5 * coef])
        intercept = np.array([-0.5, 0.5]) * intercept
    coef, intercept = coef[present], intercept[present]
    if not np.isfinite(intercept).all():
        return None
    dual = kept_dual(estimator, 0, 1)
    if dual is not None and dual.shape[1:] != (len(present),):
        dual = None
    return JointFit(coef, intercept, 0, Certificate(np.inf, np.inf, np.inf), False, dual)


def publish_joint(estimator: Any, fit: JointFit, present: np.ndarray, K: int,
                  dtype: np.dtype, as_pair: bool = True) -> None:
    """Set the public attributes; classes without weight can't be predicted. With `as_pair` two
    classes are one output."""
    check_finite(fit.coef, fit.intercept, dtype, False)
    if K == 2 and as_pair:
        estimator.coef_ = (fit.coef[1:] - fit.coef[:1]).astype(dtype)
        estimator.intercept_ = fit.intercept[1:] - fit.intercept[:1]
    else:
        estimator.coef_ = np.zeros((K, fit.coef.shape[1]), dtype)
        estimator.intercept_ = np.full(K, -np.inf)
        estimator.coef_[present], estimator.intercept_[present] = fit.coef, fit.intercept
    keep_duals(estimator, [fit.dual])
    estimator.n_iter_ = estimator._counted(np.array([fit.n_iter], dtype=np.int32))
    estimator.objective_ = np.array([fit.certificate.objective])
    estimator.duality_gap_ = np.array([fit.certificate.relative_gap])
