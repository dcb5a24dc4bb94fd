"""Prediction with a linear model: shared by every estimator with `coef_` and `intercept_`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._base import ClassifierMixin, RegressorMixin
from ._core import respond as _respond
from ._core.rows import Rows
from ._data import as_rows, rows_of
from ._multilabel import above_thresholds, has_labels
from ._probability import PROBABILITIES, of_each_label
from ._reductions import decoded, is_reduced
from ._scorer import scorer_of
from ._scores import score_rows
from ._sparse_weights import SparsifyMixin, dense_weights, has_sparse_weights, sparse_products

__all__ = ["LinearClassifierMixin", "LinearRegressorMixin", "responses", "responses_to_rows"]


# Products per call of a kernel: about 50 ms.
_PRODUCTS_PER_CALL = 1 << 23


def responses(estimator: Any, X: Any) -> np.ndarray:
    """X W^T + b in double: of shape (n_samples,) for one output, else (n_samples, n_outputs).

    Plain arrays and CSR matrices of the weights' own type go straight to a kernel that checks them
    on its way; whatever that one doesn't take, wrong input above all, goes through the door.
    """
    fields = vars(estimator)
    z = _respond.at_once(fields, X, _PRODUCTS_PER_CALL)
    if z is not None:
        return z
    estimator._check_fitted()
    W, b = estimator.coef_, estimator.intercept_
    if np.ndim(b) == 0:
        b = np.array([b], dtype=np.float64)
    # arrays without names are no concern of a model without names; coef_ may have been set by hand
    whole = type(W) is type(b) is np.ndarray and W.ndim and W.size == b.size * W.shape[-1] > 0
    if whole and "feature_names_in_" not in fields:
        if type(X) is np.ndarray and X.ndim == 2 and X.shape[1] == W.shape[-1]:
            z = _dense_responses(X, W, b)
        elif _respond.is_csr(X):
            z = _csr_responses(X, W, b)
    return _checked_responses(estimator, X) if z is None else z


def _dense_responses(X: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The responses to a dense matrix in pieces, or None."""
    n, piece = len(X), 1 + _PRODUCTS_PER_CALL // W.size
    out = np.empty(n if len(b) == 1 else (n, len(b)))
    for start in range(0, n, piece):
        if not _respond.dense(X, W, b, out, start, min(start + piece, n)):
            return None
    return out if n else None


def _csr_responses(X: Any, W: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """The responses to a CSR matrix, or None. Neither the order of a row's columns nor a column
    that comes twice makes a difference here."""
    values, indices, indptr, d = X.data, X.indices, X.indptr, W.shape[-1]
    n, K = len(indptr) - 1, len(b)
    if X.shape != (n, d):
        return None
    products = len(values) * K
    # turning the weights round costs as much as visiting each of them
    by_feature = K > 1 and products > W.size
    out, W = np.empty(n if K == 1 else (n, K)), np.ascontiguousarray(W.T) if by_feature else W
    piece = 1 + n * _PRODUCTS_PER_CALL // max(products, 1)
    for start in range(0, n, piece):
        span = start, min(start + piece, n)
        if not _respond.csr(values, indices, indptr, d, W, by_feature, b, out, *span):
            return None
    return out if n else None


def _checked_responses(estimator: Any, X: Any) -> np.ndarray:
    """The responses to anything that the door lets in."""
    return responses_to_rows(estimator, rows_of(estimator, X, reset=False))


def responses_to_rows(estimator: Any, rows: Rows) -> np.ndarray:
    """The responses to rows that are behind the door."""
    is_sparse = has_sparse_weights(estimator)
    coef = estimator.coef_ if is_sparse else dense_weights(estimator)
    if coef.shape[1] != rows.shape[1]:
        raise ValueError(
            f"coef_ of this {type(estimator).__name__} has {coef.shape[1]} columns and X has "
            f"{rows.shape[1]}: the last call of fit did not end; fit again."
        )
    K = coef.shape[0]
    intercept = np.broadcast_to(np.asarray(estimator.intercept_, dtype=np.float64), (K,))
    if is_sparse:
        z = sparse_products(rows, coef, intercept)
        return z[:, 0] if K == 1 else z
    if coef.dtype not in (np.float32, np.float64):
        coef = coef.astype(np.float64)
    if rows.dtype != coef.dtype:
        rows, coef = _common_type(rows, coef)
    z = score_rows(rows, coef, intercept)
    return z[:, 0] if z.shape[1] == 1 else z


def _common_type(rows: Rows, coef: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Rows and weights of one type: double, if either is."""
    if coef.dtype == np.float32 and rows.dtype == np.float64:
        return rows, coef.astype(np.float64)
    return as_rows(rows, coef.dtype), coef


class LinearClassifierMixin(SparsifyMixin, ClassifierMixin):
    """`decision_function`, `predict` and probabilities from `coef_`, `intercept_`, `classes_`."""

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the responses w.x + b, or what a code of classes makes of them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to score.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes), dtype float64
            For two classes one column: positive means ``classes_[1]``. Of several labels per row a
            column for each. With ``multi_class="ovo"``
            the votes for each class, to which the sums of the responses add less than 1/3 to break
            ties; with an error-correcting code minus the distance from the class's row, which is
            the sum of losses or the number of wrong signs.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        z, fields = responses(self, X), vars(self)
        return self._decoded(z) if "code_" in fields or "thresholds_" in fields else z

    def _has_code(self) -> bool:
        """Whether the responses are those of the columns of a code."""
        return "code_" in vars(self) and len(self.classes_) > 2

    def _decoded(self, z: np.ndarray) -> np.ndarray:
        """Scores of the classes from the responses of learners."""
        if has_labels(self):
            return z.reshape(len(z), -1)
        return decoded(self, z) if self._has_code() else z

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest response; the first one wins a tie. Of several labels
        per row, those whose response is above their threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,), dtype of the labels
            Of several labels per row an int64 matrix of zeros and ones, of shape (n_samples,
            n_classes).

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity.
        """
        z = self.decision_function(X)
        if has_labels(self):
            return above_thresholds(self, z)
        return self.classes_[_respond.codes(z)]

    def predict_labels(self, X: Any) -> list[set]:
        """Return the predicted labels of each row, of a model that was fitted to several per row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        list of n_samples sets
            Of entries of ``classes_``, those that `predict` has a 1 for.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If the model was fitted to one label per row, or X is not valid.

        Examples
        --------
        >>> import numpy as np
        >>> from fastlin import LogisticRegression
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> y = [set(), {"b"}, {"a"}, {"a", "b"}]
        >>> sorted(LogisticRegression(C=100.0).fit(X, y).predict_labels([[2.0, 2.0]])[0])
        ['a', 'b']
        """
        self._check_fitted("predict_labels")
        if not has_labels(self):
            raise ValueError(
                "predict_labels is for models of several labels per row, but this one was fitted "
                "to one; use predict."
            )
        names = self.classes_.tolist()
        return [{names[k] for k in np.flatnonzero(row)} for row in self.predict(X)]

    def scorer(self) -> Any:
        """Return a compiled, read-only copy of the model that scores one row per call.

        For services that get one row at a time: ``s(x)`` and ``s(indices, data)`` return the
        response (a float, or an array of shape (n_classes,)) of a dense or a sparse row in some 0.2
        microseconds, ``s.predict`` of the same arguments returns the class.

        Returns
        -------
        Scorer
            Takes arrays of float64 or float32 (and int32 or int64 indices, where a column that
            comes twice adds up) and converts nothing; ValueError or TypeError for anything else.
            What is trained later doesn't change it.

        Raises
        ------
        NotFittedError
            Before `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from fastlin import Perceptron
        >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> scorer = Perceptron().fit(X, [0, 0, 0, 1]).scorer()
        >>> int(scorer.predict(np.array([1.0, 1.0])))
        1
        """
        return scorer_of(self)

    def to_sklearn(self) -> Any:
        """Return the equal estimator of scikit-learn.

        Returns
        -------
        estimator
            Predicts alike, up to rounding, and has the same parameters where scikit-learn has them.
            Softmax models become its LogisticRegression, passive-aggressive ones its SGDClassifier
            with the schedule "pa1" or "pa2".

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If scikit-learn has no equal: of votes, of sparsemax probabilities of several classes,
            of error-correcting codes, and of thresholds other than 0.
        ImportError
            If scikit-learn is not installed.
        """
        from ._to_sklearn import converted

        return converted(self)

    def _probability_kind(self) -> str | None:
        """The row of `PROBABILITIES` that turns responses into probabilities, or None."""
        return None

    def _probabilities(self, log: bool) -> Any:
        """The method behind `predict_proba` and `predict_log_proba`."""
        fitted = hasattr(self, "classes_")
        if self._has_code() if fitted else is_reduced(self):
            raise AttributeError(
                f"probabilities are not available for multi_class={self.multi_class!r}; use 'ovr', "
                "or calibrate the classifier."
            )
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
            """Return probabilities of shape (n_samples, n_classes); each row sums to 1, but where
            rows have several labels."""
            z = self.decision_function(X)
            return of_each_label(kind, z, log) if has_labels(self) else PROBABILITIES[kind](z, log)

        return predict_proba

    @property
    def predict_proba(self) -> Any:
        """Class probabilities, a method ``predict_proba(X)``.

        Returns an ndarray of shape (n_samples, n_classes) whose rows sum to 1 and whose largest
        entry is the predicted class. There for losses that define probabilities; AttributeError
        for the others. One-vs-rest probabilities are normalised in the log domain. Of several
        labels per row each has a probability of its own, and thresholds have no say in them.
        """
        return self._probabilities(log=False)

    @property
    def predict_log_proba(self) -> Any:
        """Logarithms of the class probabilities, a method ``predict_log_proba(X)``."""
        return self._probabilities(log=True)


class LinearRegressorMixin(RegressorMixin):
    """`predict` from `coef_` and `intercept_`."""

    def scorer(self) -> Any:
        """Return a compiled, read-only copy of the model that scores one row per call.

        For services that get one row at a time: ``s(x)`` and ``s(indices, data)`` return the
        prediction (a float) of a dense or a sparse row in some 0.2 microseconds, ``s.predict`` of
        the same arguments returns the same.

        Returns
        -------
        Scorer
            Takes arrays of float64 or float32 (and int32 or int64 indices, where a column that
            comes twice adds up) and converts nothing; ValueError or TypeError for anything else.
            What is trained later doesn't change it.

        Raises
        ------
        NotFittedError
            Before `fit`.

        Examples
        --------
        >>> import numpy as np
        >>> from fastlin import SGDRegressor
        >>> x = np.linspace(-1, 1, 50)[:, None]
        >>> model = SGDRegressor(penalty=None, eta0=0.1, random_state=0)
        >>> scorer = model.fit(x, 3 * x.ravel() + 1).scorer()
        >>> abs(scorer(np.array([0.5])) - 2.5) < 0.1
        True
        """
        return scorer_of(self)

    def to_sklearn(self) -> Any:
        """Return the equal estimator of scikit-learn.

        Returns
        -------
        estimator
            Predicts alike, up to rounding, and has the same parameters where scikit-learn has them.
            Quantile models become its QuantileRegressor, passive-aggressive ones its SGDRegressor
            with the schedule "pa1" or "pa2".

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If scikit-learn has no equal.
        ImportError
            If scikit-learn is not installed.
        """
        from ._to_sklearn import converted

        return converted(self)

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
        return responses(self, X)
