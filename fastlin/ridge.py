"""`Ridge` and `RidgeClassifier`: least squares with an L2 penalty, to their optimum."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._direct import DirectFit, solve_all
from ._docs import attributes, parameters
from ._exact import ExactClassifierMixin, ExactEstimator, ExactRegressorMixin
from ._leave_one_out import HeldOutMixin
from ._linear import LinearClassifierMixin, LinearRegressorMixin, responses
from ._params import Boolean, Either, Integer, OneOf, Real
from ._posterior import FEW_COLUMNS, covariance, kept_posterior, standard_deviation
from ._problem import Fit, Problem
from ._scaling import from_ridge_alpha
from ._solve import PEER_SOLVERS, SOLVERS, choose

__all__ = ["Ridge", "RidgeClassifier"]

_MOST_ITERATIONS = 10_000

_COMMON = f"""{parameters("fit_intercept")}
    copy_X : bool, default=True
        Accepted for scikit-learn's sake: X is never overwritten.
    max_iter : int or None, default=None
        Largest number of conjugate gradients or passes; None is {_MOST_ITERATIONS}. A factorisation
        takes one.
    tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0. A factorisation, which is all there is
        for up to 256 columns or rows, leaves only rounding."""

_SOLVER = """solver : str, default="auto"
        "auto" takes conjugate gradients for as long as they promise to cost less than factorising
        the smaller of the Gram matrices of columns and of rows, and factorises that otherwise;
        sparse data that are large both ways leave no choice. "direct", "cholesky" and "svd"
        factorise at once, which leaves only rounding; "newton" always takes conjugate gradients,
        "dual_cd" coordinates of the dual and "primal_cd" of w. All lead to the same optimum, so
        scikit-learn's names "lsqr", "sparse_cg", "sag", "saga" and "lbfgs" mean "auto".
    positive : bool, default=False
        Whether w >= 0 is demanded."""

# Names that ask for a factorisation
_FACTORISING = ("direct", "cholesky", "svd")

_OPTIMUM = """solver_ : str
        The solver that was used: "direct" is a factorisation, "newton" conjugate gradients, "auto"
        different ones for the classes.
    objective_ : %s
        What is minimised, over ``2 sum(s)``.
    duality_gap_ : %s
        Distance to the optimum, at most: as a share of `objective_`."""


class _RidgeBase(ExactEstimator):
    """What regressor and classifier share."""

    _constraints: ClassVar = {
        "alpha": Real(0),
        "copy_X": Boolean(),
        "max_iter": Either(Integer(1), OneOf(None)),
        "solver": OneOf("auto", *SOLVERS, *PEER_SOLVERS),
        "positive": Boolean(),
    }

    def _max_iter(self) -> int:
        return _MOST_ITERATIONS if self.max_iter is None else self.max_iter

    def _terms(self, total_weight: float) -> dict[str, Any]:
        terms = from_ridge_alpha(float(self.alpha), total_weight)
        return {"loss": "squared_error", "positive": self.positive, **terms}

    def _fits(self, problems: list[Problem], seeds: list[np.ndarray],
              starts: list[Fit | None]) -> list[Fit]:
        fits = self._solved(problems, seeds, starts)
        names = {self._name_of(problems[0], fit) for fit in fits}
        self.solver_ = names.pop() if len(names) == 1 else "auto"
        return fits

    def _name_of(self, problem: Problem, fit: Fit) -> str:
        """The solver that a fit came from."""
        if isinstance(fit, DirectFit):
            return "direct"
        is_named = self.solver in SOLVERS and self.solver != "direct"
        name = self.solver if is_named else choose(problem)
        # which leaves to conjugate gradients what they do for less
        return "newton" if name == "direct" else name

    def _solved(self, problems: list[Problem], seeds: list[np.ndarray],
                starts: list[Fit | None]) -> list[Fit]:
        """The optima."""
        together = self.solver in ("auto", "direct", *PEER_SOLVERS)
        if together and not SOLVERS["direct"].refusal(problems[0]):
            return solve_all(problems, float(self.tol), self._max_iter(), seeds[0], starts,
                             factorise=self.solver in _FACTORISING)
        return super()._fits(problems, seeds, starts)


class Ridge(HeldOutMixin, ExactRegressorMixin, LinearRegressorMixin, _RidgeBase):
    __doc__ = f"""Ridge regression: least squares with an L2 penalty, and its posterior.

    It minimises over w and b ::

        sum_i s_i (y_i - w.x_i - b)^2 + alpha |w|_2^2

    b is never penalised. Its Bayesian view [2]_: with noise of variance v (`noise_variance`) in y,
    the prior N(0, sigma^2 I) of the weights with sigma^2 = v/alpha and a flat prior of b, the
    posterior of the weights is Gaussian. Its mean is w; its covariance, v times the inverse of
    sum_i s_i (x_i - c)(x_i - c)^T + alpha I with the mean c of the rows, is what
    `posterior_covariance` returns; ``predict(X, return_std=True)`` has the standard deviation of y
    at each row. The C of other estimators, which multiplies the loss, is that sigma^2 where v = 1
    and the loss is half the square: alpha = 1/C.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, >= 0; 0 gives the least squares of least norm.
    {_COMMON}
    {_SOLVER}
    {parameters("random_state", random_state=None)}
    noise_variance : float, "estimate" or None, default=None
        Variance of the noise in y, > 0, for `return_std`; "estimate" takes it from the residuals:
        their weighted sum of squares over the degrees of freedom left, ``sum(s) - trace(H)``,
        where H maps y to its fit. None is "estimate" for up to {FEW_COLUMNS} columns where a
        factorisation serves; elsewhere `fit` leaves out what `return_std` needs, a matrix of
        n_features x n_features.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, of the dtype of the rows.
    intercept_ : float
        The intercept.
    n_iter_ : int
        Iterations; 1 for a factorisation.
    {_OPTIMUM % ("float", "float")}
    {attributes("coef_", "intercept_", "classes_", "n_iter_", "t_", "trace_")}

    See Also
    --------
    RidgeCV : Chooses alpha by leave-one-out.

    References
    ----------
    .. [1] A. E. Hoerl, R. W. Kennard, "Ridge regression: biased estimation for nonorthogonal
       problems", Technometrics 12, 1970.
    .. [2] C. M. Bishop, "Pattern recognition and machine learning", 2006, section 3.3.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Ridge
    >>> X = np.arange(6.0)[:, None]
    >>> model = Ridge(alpha=0.1, noise_variance=1.0).fit(X, 3 * X[:, 0] + 1)
    >>> mean, std = model.predict(np.array([[2.5], [10.0]]), return_std=True)
    >>> mean.round(2)
    array([ 8.5 , 30.87])
    >>> bool(std[1] > std[0])
    True
    """

    _constraints: ClassVar = {
        "noise_variance": Either(Real(0, closed="right"), OneOf("estimate"), OneOf(None)),
    }

    def __init__(self, alpha=1.0, *, fit_intercept=True, copy_X=True, max_iter=None, tol=1e-4,
                 solver="auto", positive=False, random_state=None, noise_variance=None):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.noise_variance = noise_variance

    def _fits(self, problems: list[Problem], seeds: list[np.ndarray],
              starts: list[Fit | None]) -> list[Fit]:
        fits = super()._fits(problems, seeds, starts)
        self._posterior = kept_posterior(problems[0], fits[0], self.noise_variance)
        return fits

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return w.x + b, and on request how sure that is.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution as well: that of
            w.x + b under the posterior, and of the noise.

        Returns
        -------
        mean : ndarray of shape (n_samples,), dtype float64
        std : ndarray of shape (n_samples,), dtype float64
            With `return_std` only.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity; with `return_std`, if
            `fit` kept no posterior: the message says why.
        """
        Boolean().check("return_std", return_std)
        self._check_fitted()
        mean = responses(self, X)
        return (mean, standard_deviation(self, X)) if return_std else mean

    def posterior_covariance(self) -> np.ndarray:
        """Return the covariance of the weights under the posterior, whose mean is `coef_`.

        Returns
        -------
        ndarray of shape (n_features, n_features), dtype float64

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If `fit` kept no posterior: the message says why.

        Examples
        --------
        >>> from fastlin import Ridge
        >>> model = Ridge(alpha=1.0, fit_intercept=False, noise_variance=1.0)
        >>> model.fit([[1.0, 0.0], [0.0, 3.0]], [1.0, 2.0]).posterior_covariance()
        array([[0.5, 0. ],
               [0. , 0.1]])
        """
        self._check_fitted()
        return covariance(self)


class RidgeClassifier(ExactClassifierMixin, LinearClassifierMixin, _RidgeBase):
    __doc__ = f"""Classification by ridge regression on targets of -1 and 1.

    For two classes it minimises over w and b ::

        sum_i s_i (y_i - w.x_i - b)^2 + alpha |w|_2^2

    With more, each is set against the rest; all share one factorisation. b is never penalised.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, >= 0; 0 is least-squares classification.
    {_COMMON}
    {parameters("class_weight")}
    {_SOLVER}
    {parameters("random_state", random_state=None)}

    Attributes
    ----------
    {attributes("code_", "n_iter_", "t_", "trace_")}
    n_iter_ : ndarray of shape (1,) or (n_classes,), dtype int32
        Iterations; 1 for a factorisation.
    {_OPTIMUM % (("ndarray of shape (1,) or (n_classes,)",) * 2)}

    References
    ----------
    .. [1] R. Rifkin, G. Yeo, T. Poggio, "Regularized least-squares classification", Advances in
       learning theory, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import RidgeClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = RidgeClassifier().fit(X, ["no", "no", "no", "yes"])
    >>> model.predict([[2.0, 2.0]]).tolist()
    ['yes']
    """

    def __init__(self, alpha=1.0, *, fit_intercept=True, copy_X=True, max_iter=None, tol=1e-4,
                 class_weight=None, solver="auto", positive=False, random_state=None):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _solve_columns(self, rows: Any, columns: list, weight: np.ndarray | None,
                       places: list[int], n_outputs: int) -> None:
        if columns and self.class_weight is None:  # all share one factorisation
            targets = [column.part(None)[0] for column in columns]
            self._solve_all(rows, targets, weight, places, n_outputs)
        else:
            super()._solve_columns(rows, columns, weight, places, n_outputs)
