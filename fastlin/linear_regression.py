"""`LinearRegression`: least squares without a penalty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._docs import attributes, parameters
from ._exact import ExactEstimator, ExactRegressorMixin
from ._leave_one_out import HeldOutMixin
from ._linear import LinearRegressorMixin
from ._params import Boolean
from ._problem import Fit

__all__ = ["LinearRegression"]

_MOST_ITERATIONS = 10_000


class LinearRegression(HeldOutMixin, ExactRegressorMixin, LinearRegressorMixin, ExactEstimator):
    __doc__ = f"""Least squares: the linear model with the smallest squared error.

    It minimises over w and b ::

        sum_i s_i (y_i - w.x_i - b)^2

    Of several solutions it takes the one with the least |w|_2. Dense rows are factorised, sparse
    ones where conjugate gradients do not end before that and they fit into memory as dense ones.

    Parameters
    ----------
    {parameters("fit_intercept")}
    copy_X : bool, default=True
        Accepted for scikit-learn's sake: X is never overwritten.
    tol : float, default=1e-6
        Largest distance to the optimum relative to the objective, > 0. A factorisation leaves only
        rounding.
    n_jobs : int or None, default=None
        Accepted for scikit-learn's sake: there is one target.
    positive : bool, default=False
        Whether w >= 0 is demanded.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, of the dtype of the rows.
    intercept_ : float
        The intercept.
    rank_ : int
        Rank of the centred rows, where they were factorised.
    singular_ : ndarray of shape (min(n_samples, n_features),)
        Their singular values, largest first, each row times the root of its weight; where they were
        factorised.
    n_iter_ : int
        Conjugate gradients; 1 for a factorisation.
    objective_ : float
        What is minimised, over ``2 sum(s)``.
    duality_gap_ : float
        Distance to the least objective of all models whose weights are at most twice as large, at
        most: as a share of `objective_`, or of a millionth of that of w = 0, b = 0 where the fit is
        as good as perfect.
    {attributes("coef_", "intercept_", "classes_", "n_iter_", "t_", "trace_")}

    References
    ----------
    .. [1] G. H. Golub, C. F. Van Loan, "Matrix computations", 4th edition, 2013, chapter 5.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LinearRegression
    >>> X = np.arange(6.0)[:, None]
    >>> model = LinearRegression().fit(X, 3 * X[:, 0] + 1)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([3.]), 1.0)
    """

    _constraints: ClassVar = {"copy_X": Boolean(), "positive": Boolean()}

    def __init__(self, *, fit_intercept=True, copy_X=True, tol=1e-6, n_jobs=None, positive=False):
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _max_iter(self) -> int:
        return _MOST_ITERATIONS

    def _terms(self, total_weight: float) -> dict[str, Any]:
        return {"loss": "squared_error", "positive": self.positive}

    def _easier(self) -> str:
        return ", or take Ridge with a small alpha"

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        super()._publish(fits, dtype, places, n_outputs)
        found = {f"{name}_": getattr(fits[0], name, None) for name in ("rank", "singular")}
        vars(self).pop("rank_", None)
        vars(self).pop("singular_", None)
        vars(self).update((name, value) for name, value in found.items() if value is not None)
