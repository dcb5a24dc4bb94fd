"""Weights as a sparse matrix: to and fro, and what is computed with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core.rows import Rows

__all__ = ["SparsifyMixin", "dense_weights", "has_sparse_weights", "sparse_products"]


def has_sparse_weights(estimator: Any) -> bool:
    """Whether `coef_` is a sparse matrix."""
    return hasattr(getattr(estimator, "coef_", None), "tocsr")


def dense_weights(estimator: Any) -> np.ndarray:
    """`coef_` as an array of shape (n_outputs, n_features)."""
    coef = estimator.coef_
    return np.atleast_2d(coef.toarray() if has_sparse_weights(estimator) else coef)


def sparse_products(rows: Rows, coef: Any, intercept: np.ndarray) -> np.ndarray:
    """X W^T + b in double with sparse W, whose zeros cost nothing."""
    X = rows.toarray() if rows.layout == "dense" else rows.to_csr()
    z = X @ coef.T.astype(np.float64)
    return (z.toarray() if hasattr(z, "toarray") else np.asarray(z)) + intercept


class SparsifyMixin:
    """`sparsify` and `densify`, as scikit-learn's linear classifiers have them."""

    coef_: Any

    def sparsify(self) -> Any:
        """Turn `coef_` into a sparse matrix, which is smaller where most weights are 0.

        Predictions stay the same, up to rounding. `fit`, `partial_fit` and `densify` make an array
        of it again. Estimators that `partial_fit` trains keep dense weights beside it to go on
        from.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.

        Examples
        --------
        >>> from fastlin import LinearSVC
        >>> model = LinearSVC().fit([[1.0, 0.0], [-1.0, 0.0]], [1, 0]).sparsify()
        >>> model.coef_.nnz, model.predict([[3.0, 5.0]])
        (1, array([1]))
        """
        from scipy.sparse import csr_matrix

        self._check_fitted("sparsify")  # type: ignore[attr-defined]
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Any:
        """Turn `coef_` back into an array.

        Returns
        -------
        self

        Raises
        ------
        NotFittedError
            Before `fit`.
        """
        self._check_fitted("densify")  # type: ignore[attr-defined]
        self.coef_ = dense_weights(self)
        return self
