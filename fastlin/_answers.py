"""Estimators that know their responses already: scores of models trained together need no X."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._linear import LinearClassifierMixin, LinearRegressorMixin

__all__ = ["answered"]


class _AnsweredClassifier(LinearClassifierMixin):
    """A fitted classifier and its responses to the rows that it will be asked about."""

    def __init__(self, estimator: Any, responses: np.ndarray):
        self._estimator, self._responses = estimator, responses
        self.classes_ = estimator.classes_

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the responses, whatever X is."""
        return self._responses

    def _probability_kind(self) -> str | None:
        """That of the estimator."""
        return self._estimator._probability_kind()


class _AnsweredRegressor(LinearRegressorMixin):
    """A fitted regressor and its responses to the rows that it will be asked about."""

    def __init__(self, estimator: Any, responses: np.ndarray):
        self._responses = responses

    def predict(self, X: Any) -> np.ndarray:
        """Return the responses, whatever X is."""
        return self._responses


def answered(estimator: Any, responses: np.ndarray) -> Any:
    """Return what answers like a fitted estimator, from its responses, without looking at X."""
    is_classifier = isinstance(estimator, LinearClassifierMixin)
    return (_AnsweredClassifier if is_classifier else _AnsweredRegressor)(estimator, responses)
