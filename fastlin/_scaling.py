"""From the parameters that scikit-learn's users know to the objective of `_problem`.

    estimator                              its objective                         l1 + l2 there
    LogisticRegression, LinearSVC, -SVR    C sum_i s_i loss_i + penalty          1 / (C S)
    Ridge, RidgeClassifier                 sum_i s_i e_i^2 + alpha |w|^2         alpha / S
    Lasso, ElasticNet                      sum_i s_i e_i^2 / (2 S) + penalty     alpha

S is the sum of the weights s_i, and the squared error counts half in `_problem`.
"""

from __future__ import annotations

__all__ = ["from_C", "from_ridge_alpha"]


def from_C(C: float, total_weight: float, l1_ratio: float = 0.0) -> dict[str, float]:
    """l1 and l2 of `C sum_i s_i loss_i + l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2`; an infinite C is
    no penalty."""
    alpha = 1.0 / (C * total_weight)
    return {"l1": alpha * l1_ratio, "l2": alpha * (1.0 - l1_ratio)}


def from_ridge_alpha(alpha: float, total_weight: float) -> dict[str, float]:
    """l2 of `sum_i s_i e_i^2 + alpha |w|^2`."""
    return {"l1": 0.0, "l2": alpha / total_weight}
