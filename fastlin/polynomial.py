"""`PolynomialFeatures`: products of columns as columns of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ._base import Estimator, TransformerMixin
from ._data import rows_of
from ._params import Boolean, Constraint, Either, Integer, OneOf
from ._polynomial import Terms, hashed, listed
from ._validation import check_feature_names_in

__all__ = ["PolynomialFeatures"]


class _Degrees(Constraint):
    """A pair of degrees."""

    rule = "a pair (min_degree, max_degree) of integers with 0 <= min_degree <= max_degree"

    def accepts(self, value):
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            return False
        return all(map(Integer(0).accepts, value)) and value[0] <= value[1]

    def good_values(self):
        return [(0, 1), (2, 2), [1, 3]]

    def bad_values(self):
        return [(2, 1), (-1, 2), (1,), (1, 2, 3), (1.5, 2), "12"]


class PolynomialFeatures(TransformerMixin, Estimator):
    """Products of columns as columns of their own, listed or hashed.

    A row (a, b) becomes (1, a, b, a^2, ab, b^2) with degree 2. What is linear in these is a
    polynomial in a and b: XOR, circles and ellipses, and conjunctions of 0/1 columns
    (`interaction_only`) are within reach of every linear learner. The products of a sparse row are
    made from its entries alone.

    Parameters
    ----------
    degree : int or pair (min_degree, max_degree), default=2
        The largest degree, >= 0, or the least and the largest one. The constant hangs on
        `include_bias` alone.
    interaction_only : bool, default=False
        Whether a column comes at most once in a product: conjunctions of 0/1 columns.
    include_bias : bool, default=True
        Whether the first column is the constant 1; learners that fit an intercept don't need it.
    order : {"C", "F"}, default="C"
        Memory order of a dense result.
    n_features : int or None, default=None
        Hash the products to so many columns (at most 2^31 - 1), which add up what falls on them:
        for more products than memory, or column numbers, can hold [1]_. The result is sparse.
    alternate_sign : bool, default=True
        Whether the hash also gives a sign to each product, so that inner products are kept on
        average; used only with `n_features`.
    output : {"csr", "rows"}, default="csr"
        What a sparse result is: a `scipy.sparse.csr_matrix` (64-bit column numbers where 32 bits
        are too few), or `fastlin.Rows`, which holds no values if X is all ones; it makes Rows of a
        dense result as well.
    n_jobs : int or None, default=None
        Threads over the rows; -1 is all cores. The result does not depend on it.

    Attributes
    ----------
    n_output_features_ : int
        Number of columns of the result.
    powers_ : ndarray of shape (n_output_features_, n_features_in_)
        Exponent of each input column in each output column; not with `n_features`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, dtype object
        Their names, if X was a data frame whose column names are all strings.

    Notes
    -----
    Dense X gives a dense result, a sparse one a sparse result, in scikit-learn's order of columns.
    A row with m entries has m (m + 1) / 2 products of degree 2. Products round alike for dense and
    sparse rows. The columns of hashed products depend on their factors alone, not on the degree or
    the number of columns of X.

    Gaussian and other kernels come by scikit-learn's samplers, random Fourier features or
    landmarks, in the same place::

        from sklearn.kernel_approximation import Nystroem, RBFSampler

        from fastlin import LogisticRegression, make_pipeline

        make_pipeline(RBFSampler(gamma=0.5, n_components=200), LogisticRegression()).fit(X, y)
        make_pipeline(Nystroem(gamma=0.5, n_components=100), LogisticRegression()).fit(X, y)

    References
    ----------
    .. [1] K. Weinberger, A. Dasgupta, J. Langford, A. Smola, J. Attenberg, "Feature hashing for
       large scale multitask learning", ICML 2009.

    Examples
    --------
    No line separates XOR; with the product of both columns a perceptron learns it:

    >>> import numpy as np
    >>> from fastlin import Perceptron, PolynomialFeatures, make_pipeline
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> xor = [0, 1, 1, 0]
    >>> Perceptron(tol=None, max_iter=50).fit(X, xor).score(X, xor) < 1
    True
    >>> conjunctions = PolynomialFeatures(interaction_only=True, include_bias=False)
    >>> model = make_pipeline(conjunctions, Perceptron(tol=None, max_iter=50)).fit(X, xor)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    >>> conjunctions.fit(X).get_feature_names_out(["rain", "sun"])
    array(['rain', 'sun', 'rain sun'], dtype=object)

    Products of a wide sparse matrix, hashed:

    >>> from scipy.sparse import random
    >>> wide = random(100, 1_000_000, density=1e-5, format="csr", random_state=0)
    >>> PolynomialFeatures(3, n_features=2**20).fit_transform(wide).shape
    (100, 1048576)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "degree": Either(Integer(0), _Degrees()),
        "interaction_only": Boolean(),
        "include_bias": Boolean(),
        "order": OneOf("C", "F"),
        "n_features": Either(Integer(1, 2**31 - 1), OneOf(None)),
        "alternate_sign": Boolean(),
        "output": OneOf("csr", "rows"),
        "n_jobs": Either(Integer(), OneOf(None)),
    }
    _tags: ClassVar[dict[str, Any]] = {"preserves_dtype": ("float64", "float32")}

    def __init__(self, degree=2, *, interaction_only=False, include_bias=True, order="C",
                 n_features=None, alternate_sign=True, output="csr", n_jobs=None):
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order
        self.n_features = n_features
        self.alternate_sign = alternate_sign
        self.output = output
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> PolynomialFeatures:
        """Learn the number of columns.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter or X is not valid, if there would be no column, or more than 64-bit
            numbers can tell apart.
        """
        self._check_params()
        self._check_width(rows_of(self, X, reset=True).shape[1])
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, then transform the same rows, which are checked once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : None
            Ignored.

        Returns
        -------
        ndarray, csr_matrix or Rows
            As `transform`.
        """
        self._check_params()
        rows = rows_of(self, X, reset=True)
        self._check_width(rows.shape[1])
        return self._products(rows)

    def transform(self, X: Any) -> Any:
        """Return the products.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray, csr_matrix or Rows of shape (n_samples, n_output_features_)
            float32 if X is, else float64.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns, holds NaN or infinity, if a product overflows, or
            if the result does not fit into memory.
        """
        self._check_fitted("transform")
        return self._products(rows_of(self, X, reset=False))

    @property
    def powers_(self) -> np.ndarray:
        """Exponent of each input column in each output column."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("powers_ is there only after fit.")
        if self.n_features is not None:
            raise AttributeError(
                f"powers_ is not there with n_features={self.n_features}: a hashed column stands "
                "for many products; set n_features=None."
            )
        return self._terms().powers()

    @property
    def n_output_features_(self) -> int:
        """Number of columns of the result."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("n_output_features_ is there only after fit.")
        return self._terms().width() if self.n_features is None else int(self.n_features)

    def _check_width(self, d: int) -> None:
        """Refuse products that leave no column, or too many."""
        terms = self._terms()
        if terms.of(d) == 0:
            raise ValueError(
                f"degree={self.degree!r} with interaction_only={self.interaction_only} and "
                f"include_bias={self.include_bias} leaves no products of the {d} columns of X; "
                "set include_bias=True, or a degree from 1 to the number of columns."
            )
        if self.n_features is None:
            terms.width()

    def _terms(self) -> Terms:
        """The products of the columns of X."""
        least, most = self.degree if isinstance(self.degree, Sequence) else (1, self.degree)
        distinct, d = bool(self.interaction_only), self.n_features_in_
        # products of more columns than there are
        most = min(int(most), d) if distinct else int(most)
        return Terms(d, max(1, int(least)), most, distinct, bool(self.include_bias))

    def _products(self, rows: Any) -> Any:
        """The result for checked rows."""
        terms, as_rows = self._terms(), self.output == "rows"
        if self.n_features is None:
            return listed(rows, terms, as_rows, self.order, self.n_jobs)
        signs = bool(self.alternate_sign)
        return hashed(rows, terms, int(self.n_features), signs, as_rows, self.n_jobs)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input columns; by default those seen by `fit`, else x0, x1, ...

        Returns
        -------
        ndarray of str, dtype object
            "1", "x0", "x0^2", "x0 x1" and so on; hashed columns are numbered.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If `input_features` are not as many, or not the same, as those seen by `fit`.
        """
        self._check_fitted("get_feature_names_out")
        names = check_feature_names_in(self, input_features)
        if self.n_features is not None:
            numbered = [f"polynomialfeatures{j}" for j in range(self.n_features)]
            return np.array(numbered, dtype=object)
        return np.array(self._terms().names(names), dtype=object)
