"""Three small estimators on fastlin's base classes, with closed forms in NumPy.

They exist to show that the base by itself meets scikit-learn's conventions.
"""

import numpy as np
from scipy import sparse

from fastlin._base import ClassifierMixin, Estimator, RegressorMixin, TransformerMixin
from fastlin._params import Boolean, ClassWeight, Either, OneOf, RandomState, Real
from fastlin._random import spawn_seed
from fastlin._validation import (
    check_feature_names,
    check_n_features,
    check_sample_weight,
    check_target,
    effective_weight,
    encode_known_labels,
    encode_labels,
    partial_fit_classes,
)


def checked_rows(estimator, X, reset):
    """Check X as briefly as scikit-learn's checks allow; return a float array or CSR matrix."""
    check_feature_names(estimator, X, reset)
    if sparse.issparse(X):
        X = sparse.csr_matrix(X)
        values = X.data
    else:
        X = values = np.asarray(X)
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    X = X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"X must be 2-dimensional, got {X.ndim}. Reshape your data.")
    for n, noun in zip(X.shape, ("sample", "feature")):
        if n == 0:
            raise ValueError(
                f"Found array with 0 {noun}(s) (shape={X.shape}) while a minimum of 1 is required."
            )
    values = X.data if sparse.issparse(X) else X
    if not np.isfinite(values).all():
        raise ValueError("X contains NaN or infinity")
    check_n_features(estimator, X.shape[1], reset)
    return X


def ridge(X, Y, weight, alpha):
    """Solve weighted least squares with a free intercept; return one (d + 1)-column per output."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    X = np.column_stack([X.toarray() if sparse.issparse(X) else X, np.ones(X.shape[0])])
    penalty = np.diag([alpha] * (X.shape[1] - 1) + [1e-12])
    return np.linalg.solve(X.T @ (weight[:, None] * X) + penalty, X.T @ (weight[:, None] * Y))


class ToyClassifier(ClassifierMixin, Estimator):
    """Ridge on targets of -1 and 1, one column per class."""

    _fitted_attribute = "coef_"
    _constraints = {
        "alpha": Real(0, closed="neither"),
        "class_weight": ClassWeight(),
        "random_state": RandomState(),
    }

    def __init__(self, alpha=1.0, *, class_weight=None, random_state=None):
        self.alpha = alpha
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self._check_params()
        X = checked_rows(self, X, reset=True)
        y = check_target(y, self, n_samples=X.shape[0])
        self.classes_, codes = encode_labels(y)
        self._solve(X, codes, sample_weight)
        return self

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self._check_params()
        first = not hasattr(self, "classes_")
        classes = partial_fit_classes(self, classes)
        X = checked_rows(self, X, reset=first)
        y = check_target(y, self, n_samples=X.shape[0])
        codes = encode_known_labels(y, classes)
        self.classes_ = classes
        self._solve(X, codes, sample_weight)
        return self

    def _solve(self, X, codes, sample_weight):
        weight = check_sample_weight(sample_weight, X.shape[0])
        present = codes if weight is None else codes[weight > 0]
        if len(self.classes_) < 2 or (present == present[0]).all():
            raise ValueError("y must hold at least two classes, got one class.")
        self.seed_ = spawn_seed(self.random_state, 1)[0]
        weight = effective_weight(self.class_weight, self.classes_, codes, weight)
        signs = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        solution = ridge(X, signs, weight, self.alpha)
        self.intercept_ = solution[-1]
        self.coef_ = solution[:-1].T

    def decision_function(self, X):
        self._check_fitted("decision_function")
        scores = checked_rows(self, X, reset=False) @ self.coef_.T + self.intercept_
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def predict_proba(self, X):
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict(self, X):
        scores = self.decision_function(X)
        return self.classes_[
            (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        ]


class ToyRegressor(RegressorMixin, Estimator):
    """Ridge."""

    _fitted_attribute = "coef_"
    _constraints = {"alpha": Either(OneOf("auto"), Real(0, closed="neither"))}

    def __init__(self, alpha="auto"):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        self._check_params()
        X = checked_rows(self, X, reset=True)
        y = check_target(y, self, numeric=True, n_samples=X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0])
        solution = ridge(X, y[:, None], weight, 1e-6 if self.alpha == "auto" else self.alpha)
        self.intercept_ = solution[-1, 0]
        self.coef_ = solution[:-1, 0]
        return self

    def predict(self, X):
        self._check_fitted("predict")
        return checked_rows(self, X, reset=False) @ self.coef_ + self.intercept_


class ToyTransformer(TransformerMixin, Estimator):
    """Division of each column by its largest absolute value."""

    _fitted_attribute = "scale_"
    _constraints = {"scale": Boolean()}

    def __init__(self, scale=True):
        self.scale = scale

    def fit(self, X, y=None):
        self._check_params()
        X = checked_rows(self, X, reset=True)
        largest = abs(X).max(axis=0)
        largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
        self.scale_ = np.where(largest > 0, largest, 1.0) if self.scale else np.ones(X.shape[1])
        return self

    def transform(self, X):
        self._check_fitted("transform")
        X = checked_rows(self, X, reset=False)
        return X @ sparse.diags(1 / self.scale_) if sparse.issparse(X) else X / self.scale_
