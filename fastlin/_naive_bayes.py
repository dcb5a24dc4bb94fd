"""What naive Bayes models share: counting, priors and predictions.

Counts are all that is learnt. What follows from them, `_derived`, is made by `fit` at once, and
after `partial_fit` when it is first asked for: so a stream pays for the entries of its rows and not
for the size of its vocabulary.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._base import ClassifierMixin
from ._core.rows import Rows
from ._counts import add_counts, in_the_limit, scores, smallest
from ._data import rows_of
from ._exceptions import warn
from ._memory import check_bytes
from ._params import ArrayLike, Boolean, Either, OneOf, Real
from ._probability import PROBABILITIES
from ._validation import (
    check_sample_weight,
    check_target,
    encode_known_labels,
    encode_labels,
    partial_fit_classes,
)

__all__ = ["NaiveBayesMixin", "checked_sum", "derived", "smoothing_of_all"]

# What force_alpha=False raises a smaller alpha to
_LEAST_ALPHA = 1e-10


class NaiveBayesMixin(ClassifierMixin):
    """Counting, priors and predictions; subclasses say what follows from the counts."""

    _constraints: ClassVar = {
        "alpha": Either(Real(0), ArrayLike(Real(0))),
        "force_alpha": Boolean(),
        "fit_prior": Boolean(),
        "class_prior": Either(ArrayLike(Real(0)), OneOf(None)),
    }
    _tags: ClassVar = {"poor_score": True}
    _check_fitted: Any
    _check_params: Any
    # (counts, alpha) to what `_follow` keeps, and to logarithms that it leaves out as scores do
    # without them: each model has its own
    _derive: Any
    _log_prob: Any
    _fitted_attribute = "class_log_prior_"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Count the rows of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted; a single class is allowed.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions; a class whose rows all weigh 0 is never predicted
            unless its prior is given.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid; the message says which and where.
        """
        rows, y, weight = self._begin(X, y, sample_weight, reset=True)
        classes, codes = encode_labels(y)
        self._learn(rows, codes, weight, classes, fresh=True)
        self._follow()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Count further rows: fitting in pieces gives what fitting at once does.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), optional
            All labels that will ever come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y or a weight is not valid, or `classes` is missing or changes; the
            model stays as it was.
        """
        first = not hasattr(self, "classes_")
        rows, y, weight = self._begin(X, y, sample_weight, reset=first)
        known = partial_fit_classes(self, classes)
        self._learn(rows, encode_known_labels(y, known), weight, known, fresh=first)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class; the first one wins a tie.

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
        codes = self._joint(X).argmax(axis=1)
        return self.classes_.take(codes)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log P(x, class), but for what all classes have in common.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype float64
            -inf for classes that are impossible. Where all are, the prior.
        """
        return self._joint(X)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype float64
            -inf for classes that are impossible.
        """
        return self._probabilities(X, log=True)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype float64
            Each row sums to 1, and its first largest entry is the predicted class.
        """
        return self._probabilities(X, log=False)

    def to_sklearn(self) -> Any:
        """Return the equal estimator of scikit-learn.

        Returns
        -------
        estimator
            Has the same parameters and attributes, and predicts alike, up to rounding.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If scikit-learn has no equal: where alpha 0 has left probabilities of 0, its answers are
            not numbers.
        ImportError
            If scikit-learn is not installed.
        """
        from ._to_sklearn import converted

        return converted(self)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """What the counts say of each feature in each class."""
        it = self._follow()
        if it["log_prob"] is None:
            it["log_prob"] = self._log_prob(self.feature_count_, self._alpha)
        return it["log_prob"]

    def _begin(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple:
        """(rows, checked target, weights or None)"""
        self._check_params()
        rows = rows_of(self, X, reset)
        y = check_target(y, self, n_samples=rows.shape[0])
        weight = check_sample_weight(sample_weight, rows.shape[0])
        self._check_values(rows)
        return rows, y, weight

    def _check_values(self, rows: Rows) -> None:
        """Refuse values that are no counts."""
        least = smallest(rows)
        if least < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: X holds {least:g}, but "
                "counts are >= 0. Use HashingVectorizer(alternate_sign=False), or another learner."
            )

    def _learn(self, rows: Rows, codes: np.ndarray, weight: np.ndarray | None,
               classes: np.ndarray, fresh: bool) -> None:
        """Add rows to the counts, or to none, and settle the prior."""
        alpha, given = self._smoothing(rows.shape[1]), self._given_prior(len(classes))
        if fresh:
            check_bytes(24 * len(classes) * rows.shape[1], rows.shape[1])
            counts = np.zeros(len(classes)), np.zeros((len(classes), rows.shape[1]))
        else:
            counts = self.class_count_, self.feature_count_
        _check_mass(counts[0], weight)
        counts = add_counts(rows, codes, weight, self._threshold(), *counts, fresh)
        self.classes_, self._alpha, self._derived = classes, alpha, None
        self.class_count_, self.feature_count_ = counts
        shares = self.class_count_ if self.fit_prior else np.ones(len(classes))
        with np.errstate(divide="ignore"):
            if given is None:
                self.class_log_prior_ = np.log(shares) - np.log(shares.sum())
            else:
                self.class_log_prior_ = np.log(given)

    def _smoothing(self, d: int) -> float | np.ndarray:
        """alpha as a number or of shape (d,)."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.ndim and alpha.shape != (d,):
            raise ValueError(
                f"alpha must be a number or hold one for each of the {d} features, got an array "
                f"of shape {alpha.shape}."
            )
        if not self.force_alpha and alpha.min() < _LEAST_ALPHA:
            warn(
                "UserWarning",
                f"alpha is below {_LEAST_ALPHA:g} and is raised to that; with force_alpha=True it "
                "is used as it is.",
            )
            alpha = np.maximum(alpha, _LEAST_ALPHA)
        return alpha.copy() if alpha.ndim else float(alpha)

    def _given_prior(self, n_classes: int) -> np.ndarray | None:
        """`class_prior`, checked against the classes."""
        if self.class_prior is None:
            return None
        prior = np.asarray(self.class_prior, dtype=np.float64)
        if prior.shape != (n_classes,) or not prior.any():
            raise ValueError(
                f"class_prior must hold a number for each of the {n_classes} classes, one of them "
                f"above 0, got {prior.tolist()}."
            )
        return prior

    def _threshold(self) -> float | None:
        """Above which a value counts as 1; None: values count as they are."""
        return None

    def _prior(self) -> np.ndarray:
        """What the scores of a row without entries begin with."""
        return self.class_log_prior_

    def _follow(self) -> dict[str, Any]:
        """What follows from the counts: `log_prob` or None, weights `W` and intercepts `b`, and,
        where probabilities are 0, how often (`V`, `base`)."""
        self._check_fitted()
        if self._derived is None:
            self._derived = self._derive(self.feature_count_, self._alpha)
        return self._derived

    def _joint(self, X: Any) -> np.ndarray:
        """Scores of shape (n_samples, n_classes)."""
        it, prior = self._follow(), self._prior()
        rows, threshold = rows_of(self, X, reset=False), self._threshold()
        z = _finite(scores(rows, threshold, it["W"], it["b"] + prior), prior)
        if it["V"] is None:
            return z
        return in_the_limit(z, scores(rows, threshold, it["V"], it["base"]), prior)

    def _probabilities(self, X: Any, log: bool) -> np.ndarray:
        """Of a softmax over the classes."""
        z = self._joint(X)
        if z.shape[1] == 1:
            return np.zeros_like(z) if log else np.ones_like(z)
        return PROBABILITIES["softmax"](z, log)


def _check_mass(class_count: np.ndarray, weight: np.ndarray | None) -> None:
    """Raise before anything is counted if the weights to come add up to infinity."""
    with np.errstate(over="ignore"):
        checked_sum(class_count.sum() + (0.0 if weight is None else weight.sum()))


def checked_sum(total: Any) -> Any:
    """Sums of counts and alpha, if they are finite."""
    if not np.isfinite(total).all():
        raise ValueError(
            "The counts are too large for a double: scale X, sample_weight or alpha down, and fit "
            "again."
        )
    return total


def smoothing_of_all(alpha: float | np.ndarray, d: int) -> float:
    """The sum of alpha over d features."""
    with np.errstate(over="ignore"):
        return float(checked_sum(np.sum(alpha) if np.ndim(alpha) else np.float64(alpha) * d))


def _finite(z: np.ndarray, b: np.ndarray) -> np.ndarray:
    """z, if nothing in it has overflowed."""
    if not np.isfinite(z).all():
        wrong = ~np.isfinite(z) & np.isfinite(b) | np.isnan(z)
        if wrong.any():
            raise ValueError(
                f"The response of row {int(wrong.any(axis=1).argmax())} is not a number: the "
                "values of X are too large for these weights. Scale the columns of X."
            )
    return z


def derived(log_prob: np.ndarray | None, W: np.ndarray, V: np.ndarray | None, b: Any = None,
             base: Any = None) -> dict[str, Any]:
    """A dict for `_follow`; `b` and `base` are zeros by default."""
    zeros = np.zeros(len(W))
    return {"log_prob": log_prob, "W": W, "b": zeros if b is None else b, "V": V,
            "base": zeros if base is None else base}  # fmt: skip
