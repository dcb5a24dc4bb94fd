"""The objective of section "What there is" as a function of one vector: what methods that know
nothing of rows minimise.

Of one output the vector is (w, b), of K outputs (W, b) row by row; b is there only where it is
free. A gradient is one pass over the rows in either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._blocks import matvec, rmatvec
from ._joint_problem import JointProblem, least_subgradient
from ._problem import Problem

__all__ = ["JointObjective", "Objective", "SingleObjective"]


@dataclass(frozen=True)
class SingleObjective:
    """The objective of one output."""

    problem: Problem

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the weights."""
        return (self.problem.X.shape[1],)

    def joined(self, coef: np.ndarray, intercept: Any) -> np.ndarray:
        """The vector of weights and an intercept."""
        return np.append(coef, intercept) if self.problem.fit_intercept else coef.copy()

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, float]:
        """The opposite."""
        free = self.problem.fit_intercept
        return (theta[:-1], float(theta[-1])) if free else (theta, 0.0)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """(objective, gradient); with L1, or where the loss has a kink, a subgradient."""
        problem = self.problem
        w, b = self.split(theta)
        w = np.ascontiguousarray(w)
        values, slopes = problem.evaluated(matvec(problem.X, w, b))
        share = problem.weighted(np.ones(len(values)))
        slopes *= share
        gradient = with_penalty(problem, w, rmatvec(problem.X, slopes))
        objective = float(share @ values) + problem.penalty(w)
        return objective, self.joined(gradient, slopes.sum())


@dataclass(frozen=True)
class JointObjective:
    """The objective of K outputs."""

    problem: JointProblem

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the weights."""
        return self.problem.n_classes, self.problem.X.shape[1]

    def joined(self, coef: np.ndarray, intercept: Any) -> np.ndarray:
        """The vector of weights and intercepts."""
        if not self.problem.fit_intercept:
            return coef.ravel().copy()
        return np.concatenate([coef.ravel(), intercept])

    def split(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The opposite."""
        K, d = self.shape
        coef, intercept = theta[: K * d].reshape(K, d), theta[K * d :]
        return coef, intercept if len(intercept) else np.zeros(K)

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """(objective, gradient); with L1, or where the loss has a kink, a subgradient."""
        problem = self.problem
        coef, b = self.split(theta)
        W = problem.packed(coef)
        sums = problem.sums(W, b, with_gradient=True)
        gradient = with_penalty(problem, W, sums.gradient)
        objective = sums.mean_loss + problem.penalty(W)
        return objective, self.joined(problem.unpacked(gradient), sums.slope)


Objective = SingleObjective | JointObjective


def with_penalty(problem: Problem | JointProblem, w: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The least subgradient of loss and penalty, from the gradient of the mean loss."""
    if problem.l2:
        g = g + problem.l2 * w
    return least_subgradient(w, g, problem.l1)
