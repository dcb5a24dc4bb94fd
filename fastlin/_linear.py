"""Prediction with a linear model: shared by every estimator with `coef_` and `intercept_`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import ClassifierMixin, RegressorMixin
from ._core.rows import Rows
from ._data import as_rows, rows_of
from ._probability import PROBABILITIES
from ._scores import score_rows

__all__ = ["LinearClassifierMixin", "LinearRegressorMixin"]


def responses(estimator: Any, X: Any) -> np.ndarray:
    """X W^T + b of shape (n_samples, n_outputs), in double."""
    estimator._check_fitted()
    rows = rows_of(estimator, X, reset=False)
    coef = np.atleast_2d(estimator.coef_)
    if coef.shape[1] != rows.shape[1]:
        raise ValueError(
            f"coef_ of this {type(estimator).__name__} has {coef.shape[1]} columns and X has "
            f"{rows.shape[1]}: the last call of fit did not end; fit again."
        )
    if coef.dtype not in (np.float32, np.float64):
        coef = coef.astype(np.float64)
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), (len(coef),))
    if rows.dtype != coef.dtype:
        rows, coef = _common_type(rows, coef)
    return score_rows(rows, coef, intercept)


def _common_type(rows: Rows, coef: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Rows and weights of one type: double, if either is."""
    if coef.dtype == np.float32 and rows.dtype == np.float64:
        return rows, coef.astype(np.float64)
    return as_rows(rows, coef.dtype), coef


class LinearClassifierMixin(ClassifierMixin):
    """`decision_function`, `predict` and probabilities from `coef_`, `intercept_`, `classes_`."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the responses w.x + b.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            For two classes one column: positive means ``classes_[1]``.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        z = responses(self, X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest response; the first one wins a tie.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,), dtype of the labels

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        z = self.decision_function(X)
        codes = (z > 0).astype(np.intp) if z.ndim == 1 else z.argmax(axis=1)
        return self.classes_[codes]

    def _probability_kind(self) -> str | None:
        """The row of `PROBABILITIES` that turns responses into probabilities, or None."""
        return None

    def _probabilities(self, log: bool) -> Any:
        """The method behind `predict_proba` and `predict_log_proba`."""
        kind = self._probability_kind()
        if kind is None:
            raise AttributeError(
                f"probabilities are not available for loss={self.loss!r}; use 'log_loss', or "
                "calibrate the classifier."
                if hasattr(self, "loss")
                else f"{type(self).__name__} has no probabilities; calibrate it, or use "
                "SGDClassifier(loss='log_loss')."
            )

        def predict_proba(X: Any) -> np.ndarray:
            """Return probabilities of shape (n_samples, n_classes); each row sums to 1."""
            return PROBABILITIES[kind](self.decision_function(X), log)

        return predict_proba

    @property
    def predict_proba(self) -> Any:
        """Class probabilities, a method ``predict_proba(X)``.

        Returns an ndarray of shape (n_samples, n_classes) whose rows sum to 1 and whose largest
        entry is the predicted class. There for losses that define probabilities; AttributeError
        for the others. One-vs-rest probabilities are normalised in the log domain.
        """
        return self._probabilities(log=False)

    @property
    def predict_log_proba(self) -> Any:
        """Logarithms of the class probabilities, a method ``predict_log_proba(X)``."""
        return self._probabilities(log=True)


class LinearRegressorMixin(RegressorMixin):
    """`predict` from `coef_` and `intercept_`."""

    def predict(self, X: Any) -> np.ndarray:
        """Return w.x + b.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,), dtype float64

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        return responses(self, X)[:, 0]
