"""Soft labels in `fit` of classifiers whose loss takes them: softmax and sparsemax."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core.rows import Rows
from ._joint_fit import publish_joint, solve_joint
from ._joint_problem import Distributions
from ._reductions import keep_code
from ._shares import Shares, shares_of

__all__ = ["SoftLabelsMixin"]


class SoftLabelsMixin:
    """Before the mixin with `fit`: y may be a matrix of fractions that sum to 1 in each row."""

    def _read_target(self, y: Any, n_samples: int) -> Any:
        """A checked target."""
        shares = shares_of(y) if self._is_joint(3) else None
        if shares is None:
            return super()._read_target(y, n_samples)
        if len(shares) != n_samples:
            raise ValueError(
                f"X and y must have the same number of rows: X has {n_samples} and y has "
                f"{len(shares)}."
            )
        return shares

    def _fit_shares(self, rows: Rows, shares: Shares, weight: np.ndarray | None) -> None:
        """Fit to a distribution over the classes for each row."""
        if self.class_weight is not None:
            raise ValueError(
                "class_weight must be None for shares of classes, got "
                f"{self.class_weight!r}; use sample_weight."
            )
        K, target = shares.table.shape[1], Distributions.of_table(shares.table)
        mass = target.mass(np.empty(0) if weight is None else weight)
        if (mass > 0).sum() < 2:
            raise ValueError(
                "The number of classes has to be greater than one; rows with a weight above 0 have "
                "shares of one class only."
            )
        fit, present = solve_joint(self, rows, target, weight)
        publish_joint(self, fit, present, K, rows.dtype)
        self._warn([fit])
        self.classes_ = np.arange(K)
        keep_code(self, None)
