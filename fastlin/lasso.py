"""`Lasso`, `ElasticNet`, their cross-validated forms, and paths of L1-penalised models."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from ._docs import attributes, parameters
from ._exact import ExactEstimator, ExactRegressorMixin
from ._lasso_cv import SearchedPathMixin, regularization_path_of
from ._lasso_paths import enet_path
from ._linear import LinearRegressorMixin
from ._params import ArrayLike, Boolean, Either, Integer, OneOf, Real
from ._problem import Fit

__all__ = ["ElasticNet", "ElasticNetCV", "Lasso", "LassoCV", "RegularizationPath",
           "regularization_path"]  # fmt: skip

_IDLE = """precompute : {kind}, default={default!r}
        Accepted for scikit-learn's sake: no Gram matrix is needed here.
    max_iter : int, default=1000
        Largest number of turns over the weights of the working sets; where the path is followed
        (dense columns of at most 128 rows [4]_), half as many events of it come before any turn.
    tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0."""
_LAST = """positive : bool, default=False
        Whether no weight may be negative.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Accepted for scikit-learn's sake: nothing here is drawn at random.
    selection : {"cyclic", "random"}, default="cyclic"
        Accepted for scikit-learn's sake: the order of the steps doesn't change the optimum, and
        here it is always cyclic."""
_COPY = """copy_X : bool, default=True
        Accepted for scikit-learn's sake: X is never written to."""
_WARM = """warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous one, which must have had the same
        columns; not where no weights at all are better."""
_ANSWER = """coef_ : ndarray of shape (n_features,)
        Weights, of the dtype of the rows.
    intercept_ : float
        Intercept.
    sparse_coef_ : csr_matrix of shape (1, n_features)
        The weights as a sparse matrix.
    n_iter_ : int
        Turns over the weights of the working sets, >= 1; where the path is followed, its events
        count as well.
    objective_ : float
        The objective at these weights.
    dual_gap_ : float
        How far it is above the smallest possible, at most.
    duality_gap_ : float
        The same as a share of `objective_`: what `tol` bounds. Where alpha is 0 there is no bound,
        and both hold an estimate from the slopes along the single weights.
    {others}"""
_OTHERS = attributes("coef_", "intercept_", "classes_", "n_iter_", "t_", "trace_")
_CV_PARAMETERS = """eps : float, default=1e-3
        The smallest alpha of a grid as a share of the largest, in (0, 1).
    alphas : int or array-like of float, default=100
        How many alphas in geometric steps, from the smallest that leaves no weight down; or the
        alphas themselves, >= 0."""
_CV_LAST = """cv : int, splitter, iterable or None, default=None
        Folds: a number (of runs of rows), anything with `split`, or pairs of rows to train and to
        test on; None is 5.
    verbose : bool or int, default={default!r}
        Accepted for scikit-learn's sake: nothing is printed.
    n_jobs : int or None, default=None
        Threads over the folds; -1 is all cores. The result does not depend on it."""
_CV_ANSWER = """alpha_ : float
        The alpha with the smallest mean error, on which the model is fitted again.
    alphas_ : ndarray of shape (n_alphas,){or_more}
        The alphas tried, the largest first.
    mse_path_ : ndarray of shape (n_alphas, n_folds){more}
        Mean squared error on each left-out fold."""
_REFERENCES = """.. [1] R. Tibshirani, "Regression shrinkage and selection via the lasso",
       Journal of the Royal Statistical Society B 58, 1996.
    .. [2] J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear
       models via coordinate descent", Journal of Statistical Software 33, 2010.
    .. [3] M. Massias, A. Gramfort, J. Salmon, "Celer: a fast solver for the lasso with dual
       extrapolation", ICML 2018.
    .. [4] M. R. Osborne, B. Presnell, B. A. Turlach, "A new approach to variable selection in
       least squares problems", IMA Journal of Numerical Analysis 20, 2000."""


class _SparseCoefMixin:
    """`sparse_coef_`, and what the lasso family publishes beside the others."""

    coef_: np.ndarray

    @property
    def sparse_coef_(self) -> Any:
        """The weights as a scipy CSR matrix of shape (1, n_features)."""
        from scipy.sparse import csr_matrix

        self._check_fitted()  # type: ignore[attr-defined]
        return csr_matrix(self.coef_)

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        super()._publish(fits, dtype, places, n_outputs)  # type: ignore[misc]
        self.dual_gap_ = fits[0].certificate.gap


class ElasticNet(_SparseCoefMixin, ExactRegressorMixin, LinearRegressorMixin, ExactEstimator):
    __doc__ = f"""Least squares with L1 and L2 penalties, to the optimum, with a certificate.

    Minimises over w and b, with the weights s_i of the rows and S = sum_i s_i, ::

        1/(2 S) sum_i s_i (y_i - w.x_i - b)^2
            + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|_2^2)

    until a duality gap proves that no other model is better by more than `tol`. b is never
    penalised. At an alpha of ``max_j |sum_i s_i (x_ij - mean_j) y_i| / (S l1_ratio)`` and above all
    weights are exactly 0.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, >= 0.
    l1_ratio : float, default=0.5
        Share of L1 in the penalty, in [0, 1].
    {parameters("fit_intercept")}
    {_IDLE.format(kind="bool or array-like", default=False)}
    {_COPY}
    {_WARM}
    {_LAST}

    Attributes
    ----------
    {_ANSWER.format(others=_OTHERS)}

    References
    ----------
    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import ElasticNet
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> model = ElasticNet(alpha=0.5, l1_ratio=0.3, tol=1e-9).fit(X, X.ravel())
    >>> model.coef_.round(5)
    array([0.5082])
    """

    _constraints: ClassVar = {
        "alpha": Real(0),
        "l1_ratio": Real(0, 1),
        "precompute": Either(Boolean(), ArrayLike()),
        "copy_X": Boolean(),
        "positive": Boolean(),
        "selection": OneOf("cyclic", "random"),
    }
    solver = "primal_cd"
    path = staticmethod(enet_path)

    def __init__(self, alpha=1.0, *, l1_ratio=0.5, fit_intercept=True, precompute=False,
                 max_iter=1000, copy_X=True, tol=1e-4, warm_start=False, positive=False,
                 random_state=None, selection="cyclic"):
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _terms(self, total_weight: float) -> dict[str, Any]:
        ratio = self._ratio()
        return {"loss": "squared_error", "l1": float(self.alpha) * ratio,
                "l2": float(self.alpha) * (1.0 - ratio), "positive": bool(self.positive)}

    def _ratio(self) -> float:
        """The share of L1."""
        return float(self.l1_ratio)


class Lasso(ElasticNet):
    __doc__ = f"""Least squares with an L1 penalty, to the optimum, with a certificate.

    Minimises over w and b, with the weights s_i of the rows and S = sum_i s_i, ::

        1/(2 S) sum_i s_i (y_i - w.x_i - b)^2 + alpha |w|_1

    until a duality gap proves that no other model is better by more than `tol`. b is never
    penalised. At an alpha of ``max_j |sum_i s_i (x_ij - mean_j) y_i| / S`` and above all weights
    are exactly 0.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, >= 0.
    {parameters("fit_intercept")}
    {_IDLE.format(kind="bool or array-like", default=False)}
    {_COPY}
    {_WARM}
    {_LAST}

    Attributes
    ----------
    {_ANSWER.format(others=_OTHERS)}

    References
    ----------
    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Lasso
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> model = Lasso(alpha=0.5).fit(X, 3 * X[:, 0] + 0.25 * X[:, 1] + 7)
    >>> model.coef_, model.intercept_
    (array([2.5, 0. ]), 7.0)
    """

    def __init__(self, alpha=1.0, *, fit_intercept=True, precompute=False, copy_X=True,
                 max_iter=1000, tol=1e-4, warm_start=False, positive=False, random_state=None,
                 selection="cyclic"):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _ratio(self) -> float:
        return 1.0


class ElasticNetCV(_SparseCoefMixin, SearchedPathMixin, LinearRegressorMixin, ExactEstimator):
    __doc__ = f"""`ElasticNet` with alpha and l1_ratio chosen by cross-validation along paths.

    For each `l1_ratio` and each fold the model is solved for one alpha after the other, from the
    largest on, each from the last. The pair with the smallest mean squared error, averaged over the
    folds, is solved on all rows.

    Parameters
    ----------
    l1_ratio : float or array-like of float, default=0.5
        Share of L1 in the penalty, in [0, 1]; several are compared.
    {_CV_PARAMETERS}
    {parameters("fit_intercept")}
    {_IDLE.format(kind='bool, "auto" or array-like', default="auto").replace("'", '"')}
    {_CV_LAST.format(default=0)}
    {_COPY}
    {_LAST}

    Attributes
    ----------
    {_CV_ANSWER.format(or_more=" or (n_l1_ratio, n_alphas)", more=" or (n_l1_ratio, ...)")}
    l1_ratio_ : float
        The share of L1 with the smallest mean error.
    {_ANSWER.format(others=_OTHERS)}

    References
    ----------
    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import ElasticNetCV
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> y = X[:, 0] - X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape
    (1.0, (2, 100, 5))
    """

    _constraints: ClassVar = {
        "l1_ratio": Either(Real(0, 1), ArrayLike(Real(0, 1))),
        "eps": Real(0, 1, closed="neither"),
        "alphas": Either(Integer(1), ArrayLike(Real(0))),
        "precompute": Either(Boolean(), OneOf("auto"), ArrayLike()),
        "copy_X": Boolean(),
        "positive": Boolean(),
        "selection": OneOf("cyclic", "random"),
    }
    _one_ratio = False

    def __init__(self, *, l1_ratio=0.5, eps=1e-3, alphas=100, fit_intercept=True,
                 precompute="auto", max_iter=1000, tol=1e-4, cv=None, copy_X=True, verbose=0,
                 n_jobs=None, positive=False, random_state=None, selection="cyclic"):
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class LassoCV(ElasticNetCV):
    __doc__ = f"""`Lasso` with alpha chosen by cross-validation along a path.

    For each fold the model is solved for one alpha after the other, from the largest on, each from
    the last. The alpha with the smallest mean squared error, averaged over the folds, is solved on
    all rows.

    Parameters
    ----------
    {_CV_PARAMETERS}
    {parameters("fit_intercept")}
    {_IDLE.format(kind='bool, "auto" or array-like', default="auto").replace("'", '"')}
    {_COPY}
    {_CV_LAST.format(default=False)}
    {_LAST}

    Attributes
    ----------
    {_CV_ANSWER.format(or_more="", more="")}
    {_ANSWER.format(others=_OTHERS)}

    References
    ----------
    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LassoCV
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> y = X[:, 0] - X[:, 1] + 0.1 * np.random.default_rng(1).normal(size=100)
    >>> np.flatnonzero(abs(LassoCV(cv=4).fit(X, y).coef_) > 0.1)
    array([0, 1])
    """

    _one_ratio = True

    def __init__(self, *, eps=1e-3, alphas=100, fit_intercept=True, precompute="auto",
                 max_iter=1000, tol=1e-4, copy_X=True, cv=None, verbose=False, n_jobs=None,
                 positive=False, random_state=None, selection="cyclic"):
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class RegularizationPath(NamedTuple):
    """What `regularization_path` returns: a model for each alpha.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        The penalties, the largest first.
    coefs : ndarray of shape (n_features, n_alphas)
        The weights, of the dtype of the rows.
    intercepts : ndarray of shape (n_alphas,)
        The intercepts.
    dual_gaps : ndarray of shape (n_alphas,)
        How far each objective is above the smallest possible, at most.
    objectives : ndarray of shape (n_alphas,)
        Mean loss plus penalty.
    n_iters : ndarray of shape (n_alphas,), dtype int64
        Turns over the weights of the working sets.

    Examples
    --------
    >>> from fastlin import regularization_path
    >>> regularization_path([[1.0], [-1.0]], [1.0, -1.0], alphas=[0.5, 2.0]).coefs
    array([[0. , 0.5]])
    """

    alphas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray
    dual_gaps: np.ndarray
    objectives: np.ndarray
    n_iters: np.ndarray


def regularization_path(X: Any, y: Any, *, loss: str = "squared_error", l1_ratio: float = 1.0,
                        alphas: Any = 100, eps: float = 1e-3, fit_intercept: bool = True,
                        positive: bool = False, sample_weight: Any = None, tol: float = 1e-4,
                        max_iter: int = 1000) -> RegularizationPath:
    """Solve an L1-penalised problem for many strengths of the penalty, from the largest on.

    Each alpha minimises, with the weights s_i of the rows and S = sum_i s_i, ::

        1/S sum_i s_i loss(y_i, w.x_i + b) + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|_2^2)

    from the answer for the last alpha on, where the squared error counts half.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows; float32 gives float32 weights, everything else float64.
    y : array-like of shape (n_samples,)
        Numbers, or labels of two classes for "log_loss" and "squared_hinge".
    loss : {"squared_error", "log_loss", "squared_hinge"}, default="squared_error"
        The loss.
    l1_ratio : float, default=1.0
        Share of L1 in the penalty, in [0, 1].
    alphas : int or array-like of float, default=100
        How many alphas in geometric steps, from the smallest that leaves no weight down; or the
        alphas themselves, >= 0.
    eps : float, default=1e-3
        The smallest alpha of a grid as a share of the largest, in (0, 1).
    fit_intercept : bool, default=True
        Whether to fit b, which is never penalised.
    positive : bool, default=False
        Whether no weight may be negative.
    sample_weight : array-like of shape (n_samples,), optional
        Weights that count as repetitions; 0 removes a row.
    tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0.
    max_iter : int, default=1000
        As in `Lasso`, for each alpha.

    Returns
    -------
    RegularizationPath
        A tuple (alphas, coefs, intercepts, dual_gaps, objectives, n_iters).

    Raises
    ------
    ValueError
        If an argument is not valid; the message says which and where.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` ended a search; the message states the largest gap.

    References
    ----------
    J. Friedman, T. Hastie, R. Tibshirani, "Regularization paths for generalized linear models via
    coordinate descent", Journal of Statistical Software 33, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import regularization_path
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> path = regularization_path(X, [2.5, 1.5, -1.5, -2.5], alphas=[0.25, 1.0, 2.0])
    >>> path.alphas, path.coefs
    (array([2.  , 1.  , 0.25]), array([[0.  , 1.  , 1.75],
           [0.  , 0.  , 0.25]]))
    """
    fields = regularization_path_of(
        X, y, loss=loss, l1_ratio=l1_ratio, alphas=alphas, eps=eps, fit_intercept=fit_intercept,
        positive=positive, sample_weight=sample_weight, tol=tol, max_iter=max_iter,
    )
    return RegularizationPath(*fields)
