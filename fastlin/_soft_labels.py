"""Soft labels: a distribution over the classes for each row, in place of one class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._core.rows import Rows
from ._joint_fit import fit_joint
from ._joint_problem import Distributions
from ._labels import fractions
from ._metrics import score_shares
from ._multilabel import column_names, has_labels
from ._reductions import keep_code
from ._validation import listed

__all__ = ["Shares", "SoftLabelsMixin"]

# By so much the shares of a row may miss 1: float32 and rounded decimals
_ROUNDING = 1e-4


@dataclass(frozen=True)
class Shares:
    """table[i, k] is the share of class k in row i; each row sums to about 1."""

    table: np.ndarray
    names: np.ndarray | None = None  # of the classes, if it is a data frame's


class SoftLabelsMixin:
    """Before the mixin with `fit`: y may be a matrix of fractions that sum to 1 in each row."""

    def _read_target(self, y: Any, n_samples: int) -> Any:
        """A checked target."""
        takes = self._is_joint(3) and self._merged_tags()["multi_label"]
        table = fractions(y) if takes else None
        if table is None:
            return super()._read_target(y, n_samples)
        if len(table) != n_samples:
            raise ValueError(
                f"X and y must have the same number of rows: X has {n_samples} and y has "
                f"{len(table)}."
            )
        wrong = np.flatnonzero(~(np.abs(table.sum(axis=1) - 1) <= _ROUNDING))
        if len(wrong):
            raise ValueError(
                "y must be a 1d array of classes, a matrix of zeros and ones with a column per "
                "label, or one of shares of classes that sum to 1 in each row; got fractions that "
                f"sum to {table[wrong[0]].sum():g} in row {wrong[0]}: divide them by their sum."
            )
        return Shares(table, column_names(y))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of `predict` on these data.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to predict.
        y : array-like of shape (n_samples,)
            Their labels; of several per row a matrix of zeros and ones or a list of sets, and a row
            counts as right if it is in all of them. Or shares of the classes, of shape (n_samples,
            n_classes): what counts is the share of the class that is predicted.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions.

        Returns
        -------
        float
        """
        table = None if has_labels(self) else fractions(y)
        if table is None:
            return super().score(X, y, sample_weight)
        table = _in_order_of(table, column_names(y), self.classes_)
        return score_shares("accuracy", self, X, table, sample_weight)

    def _fit_shares(self, rows: Rows, shares: Shares, weight: np.ndarray | None) -> None:
        """Fit to a distribution over the classes for each row."""
        if self.class_weight is not None:
            raise ValueError(
                "class_weight must be None for shares of classes, got "
                f"{self.class_weight!r}; use sample_weight."
            )
        target = Distributions.of_table(shares.table)
        mass = target.mass(np.empty(0) if weight is None else weight)
        if (mass > 0).sum() < 2:
            raise ValueError(
                "The number of classes has to be greater than one; rows with a weight above 0 have "
                "shares of one class only."
            )
        fit_joint(self, rows, target, weight)
        self.classes_ = np.arange(target.n_classes) if shares.names is None else shares.names
        keep_code(self, None)


def _in_order_of(table: np.ndarray, names: np.ndarray | None, classes: np.ndarray) -> np.ndarray:
    """Shares by the classes of a model; columns without names, on either side, go by number."""
    if names is None or classes.dtype.kind != "U":
        return table
    place = {name: k for k, name in enumerate(names.tolist())}
    if set(place) != set(classes.tolist()):
        raise ValueError(
            f"y must have a column for each class, {listed(classes.tolist())}, got "
            f"{listed(names.tolist())}."
        )
    return table[:, [place[name] for name in classes.tolist()]]
