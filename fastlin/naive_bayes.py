"""`MultinomialNB`, `BernoulliNB`, `ComplementNB`: naive Bayes on counts, in closed form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._base import Estimator
from ._core.rows import Rows
from ._counts import largest, smallest, smoothed_logs, smoothed_ratios
from ._naive_bayes import NaiveBayesMixin, checked_sum, derived, smoothing_of_all
from ._params import Boolean, Either, OneOf, Real

__all__ = ["BernoulliNB", "ComplementNB", "MultinomialNB"]

_ALPHA = """alpha : float or array-like of shape (n_features,), default=1.0
        What is added to each count, >= 0; 1 is add-one smoothing. With 0 probabilities may be 0;
        then the limit is taken, in which 0 * log(0) = 0.
    force_alpha : bool, default=True
        Whether alpha may lie below 1e-10; otherwise it is raised to that, with a warning."""
_PRIOR = """fit_prior : bool, default=True
        Whether the prior is the share of each class; otherwise all classes are alike.
    class_prior : array-like of shape (n_classes,), default=None
        The prior, in the order of `classes_`, in place of either."""
_FITTED = """class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithms of the prior; -inf for a class without weight.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    feature_count_ : ndarray of shape (n_classes, n_features)
        %s
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        %s
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, dtype object
        Their names, if X was a data frame whose column names are all strings."""


class MultinomialNB(NaiveBayesMixin, Estimator):
    __doc__ = f"""Naive Bayes for counts: a row is so many draws from the distribution of its class.

    ``P(feature j | class) = (count_j + alpha) / (sum of counts + alpha n_features)``; the score of
    a class is ``log P(class) + sum_j x_j log P(j | class)`` [1]_. Fractional counts such as tf-idf
    are taken as they are.

    Parameters
    ----------
    {_ALPHA}
    {_PRIOR}

    Attributes
    ----------
    {_FITTED % ("Weighted sum of each column over the rows of each class.",
                "log P(feature | class); -inf where alpha is 0 and a class lacks a feature.")}

    Notes
    -----
    With alpha 0 a class is out for a row with a feature that the class lacks; where all classes
    are, the prior decides. A class without counts takes all features for alike.

    References
    ----------
    .. [1] A. McCallum, K. Nigam, "A comparison of event models for naive Bayes text
       classification", AAAI workshop on learning for text categorization, 1998.

    Examples
    --------
    >>> from fastlin import HashingVectorizer, MultinomialNB, make_pipeline
    >>> text = ["cheap pills", "cheap watches", "lunch at noon", "see you at lunch"]
    >>> words = HashingVectorizer(alternate_sign=False, norm=None, n_features=2**10)
    >>> model = make_pipeline(words, MultinomialNB()).fit(text, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["pills at lunch", "cheap lunch pills"]).tolist()
    ['ham', 'spam']
    """

    _tags: ClassVar = {"positive_only": True}

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _derive(self, counts: np.ndarray, alpha: float | np.ndarray) -> dict[str, Any]:
        d = counts.shape[1]
        total = checked_sum(counts.sum(axis=1) + smoothing_of_all(alpha, d))
        empty = total == 0
        log_prob = smoothed_logs(counts, 1, 0.0, alpha, np.log(np.where(empty, 1.0, total)))
        log_prob[empty] = -np.log(d)
        if np.min(alpha) > 0:
            return derived(log_prob, log_prob, None)
        never = np.isinf(log_prob)
        return derived(log_prob, np.where(never, 0.0, log_prob), never.astype(np.float64))


class BernoulliNB(NaiveBayesMixin, Estimator):
    __doc__ = f"""Naive Bayes for features that are there or not.

    ``P(feature j | class) = (rows with j + alpha) / (rows + 2 alpha)``; the score of a class also
    counts the features that a row lacks [1]_.

    Parameters
    ----------
    {_ALPHA}
    binarize : float or None, default=0.0
        A feature is there if its value is above this threshold, >= 0. None takes values as they
        are; they must lie in [0, 1] in `fit`.
    {_PRIOR}

    Attributes
    ----------
    {_FITTED % ("Weight of the rows of each class that have each feature.",
                "log P(feature | class); -inf where alpha is 0 and a class lacks a feature.")}

    Notes
    -----
    With alpha 0 a class is out for a row with a feature that none of its rows has, or without one
    that all of its rows have; where all classes are, the prior decides.

    References
    ----------
    .. [1] A. McCallum, K. Nigam, "A comparison of event models for naive Bayes text
       classification", AAAI workshop on learning for text categorization, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import BernoulliNB
    >>> X = np.array([[1, 0, 0], [3, 1, 0], [0, 1, 1], [0, 0, 2]])
    >>> BernoulliNB().fit(X, ["a", "a", "b", "b"]).predict([[1, 1, 0]]).tolist()
    ['a']
    """

    _constraints: ClassVar = {"binarize": Either(Real(0), OneOf(None))}

    def __init__(self, *, alpha=1.0, force_alpha=True, binarize=0.0, fit_prior=True,
                 class_prior=None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _threshold(self) -> float | None:
        return self.binarize

    def _check_values(self, rows: Rows) -> None:
        if self.binarize is None and not (smallest(rows) >= 0 and largest(rows) <= 1):
            raise ValueError(
                "binarize=None needs values of X in [0, 1], but they lie in "
                f"[{smallest(rows):g}, {largest(rows):g}]; give the threshold above which a value "
                "counts as 1."
            )

    def _smoothed(self, alpha: float | np.ndarray) -> tuple:
        """(rows of each class, what is added to its counts, the logarithm of the sum)"""
        rows = self.class_count_[:, None]
        # of a class without rows each feature has probability 1/2, whatever alpha is
        some = np.where(rows == 0, 1.0, alpha)
        with np.errstate(over="ignore"):
            return rows, some, np.log(checked_sum(rows + 2.0 * some))

    def _log_prob(self, counts: np.ndarray, alpha: float | np.ndarray) -> np.ndarray:
        return self._logs(counts, 1, 0.0, alpha)

    def _logs(self, counts: np.ndarray, sign: int, whole: Any,
              alpha: float | np.ndarray) -> np.ndarray:
        """Logarithms of the probability that a feature is there (sign 1), or is not."""
        _, some, shift = self._smoothed(alpha)
        if shift.shape[1] == 1:
            return smoothed_logs(counts, sign, whole, some, shift[:, 0])
        logs = smoothed_logs(counts, sign, whole, some)
        logs -= shift
        return logs

    def _derive(self, counts: np.ndarray, alpha: float | np.ndarray) -> dict[str, Any]:
        rows, some, _ = self._smoothed(alpha)
        if some.min() > 0:
            ratios, lacks_all = smoothed_ratios(counts, rows, some)
            # a feature that no row has is absent with probability (rows + alpha) / (rows + 2 alpha)
            unseen = -np.log1p(some / (rows + some))
            times = counts.shape[1] // unseen.shape[1]
            return derived(None, ratios, None, lacks_all + times * unseen.sum(axis=1))
        present, absent = self._log_prob(counts, alpha), self._logs(counts, -1, rows, alpha)
        never, always = np.isinf(present), np.isinf(absent)
        absent[always] = 0.0  # a class is left only where these factors are 1
        difference = present - absent
        difference[never | always] = 0.0
        misses = never.astype(np.float64) - always
        return derived(
            present, difference, misses, absent.sum(axis=1), always.sum(axis=1, dtype=np.float64)
        )


class ComplementNB(NaiveBayesMixin, Estimator):
    __doc__ = f"""Naive Bayes on the complement of each class, for classes of different sizes.

    ``P(feature j | not class) = (count_j of the other classes + alpha) / (sum of these)``; the
    score of a class is ``-sum_j x_j log P(j | not class)``, and the prior is left out [1]_.

    Parameters
    ----------
    {_ALPHA}
    fit_prior : bool, default=True
        As `class_prior`: both are used only where there is a single class.
    class_prior : array-like of shape (n_classes,), default=None
        The prior, in the order of `classes_`.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.

    Attributes
    ----------
    {_FITTED % ("Weighted sum of each column over the rows of each class.",
                "The weights: -log P(feature | not class), or their shares with `norm`.")}
    feature_all_ : ndarray of shape (n_features,)
        Weighted sum of each column.

    Notes
    -----
    With alpha 0 the weight of a feature that no other class has is +inf. In the limit those classes
    of a row are left with the largest sum of such features, and their other features decide; of
    features that no row has, which all classes share, nothing but the finite part counts. With
    `norm` the shares of these features tend to equal ones, and those of others to 0.

    References
    ----------
    .. [1] J. D. M. Rennie, L. Shih, J. Teevan, D. R. Karger, "Tackling the poor assumptions of
       naive Bayes text classifiers", ICML, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import ComplementNB
    >>> X = np.array([[2, 0, 0], [3, 1, 0], [0, 1, 1], [0, 0, 2]])
    >>> ComplementNB().fit(X, ["a", "a", "b", "b"]).predict([[1, 1, 0]]).tolist()
    ['a']
    """

    _constraints: ClassVar = {"norm": Boolean()}
    _tags: ClassVar = {"positive_only": True}

    def __init__(self, *, alpha=1.0, force_alpha=True, fit_prior=True, class_prior=None,
                 norm=False):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    @property
    def feature_all_(self) -> np.ndarray:
        """Weighted sum of each column."""
        return self._follow()["all"]

    def _prior(self) -> np.ndarray:
        return self.class_log_prior_ if len(self.classes_) == 1 else np.zeros(len(self.classes_))

    def _derive(self, counts: np.ndarray, alpha: float | np.ndarray) -> dict[str, Any]:
        d, everything = counts.shape[1], checked_sum(counts.sum(axis=0))
        total = checked_sum(_of_others(counts.sum(axis=1)) + smoothing_of_all(alpha, d))
        empty = total == 0
        log_total = np.log(np.where(empty, 1.0, total))
        weights = smoothed_logs(counts, -1, everything, alpha, log_total, -1.0)
        weights[empty] = np.log(d)
        alone = np.isinf(weights) if np.min(alpha) == 0 else np.zeros((1, 1), dtype=bool)
        V, W = None, weights
        if self.norm:
            weights = W = _shares(weights, alone)
        elif alone.any():
            W = np.where(alone, log_total[:, None], weights)
            V = -(alone & ~alone.all(axis=0)).astype(np.float64)
        return {**derived(weights, W, V), "all": everything}


def _of_others(total: np.ndarray) -> np.ndarray:
    """For each number the sum of the others: nothing cancels, as it would in a difference."""
    before = np.concatenate([[0.0], np.cumsum(total)[:-1]])
    behind = np.concatenate([np.cumsum(total[::-1])[-2::-1], [0.0]])
    return before + behind


def _shares(weights: np.ndarray, alone: np.ndarray) -> np.ndarray:
    """Weights over the sum of their class; infinite ones are alike, and leave nothing to others."""
    infinite = alone.any(axis=1)
    finite = np.where(infinite[:, None], alone, weights) if alone.any() else weights
    # a single feature has weight 0 and the whole sum
    return np.ones_like(weights) if weights.shape[1] == 1 else finite / finite.sum(axis=1)[:, None]
