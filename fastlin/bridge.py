"""`BridgeRegressor` and `BridgeClassifier`: penalties by any power of the weights."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import _parallel
from ._docs import attributes, parameters
from ._exact import ExactClassifierMixin, ExactEstimator, ExactRegressorMixin
from ._exceptions import warn_convergence
from ._far_columns import near_zero
from ._linear import LinearClassifierMixin, LinearRegressorMixin
from ._params import OneOf, Real
from ._problem import Fit, Problem
from ._prox import Penalty
from ._prox_grad import ProxFit, solve
from ._reductions import CODES

__all__ = ["BridgeClassifier", "BridgeRegressor"]

# |w|^p of smaller powers is a count but for rounding
_LEAST_POWER = 1e-3

_PENALTY = """with S = sum_i s_i. For ``p=0`` the penalty is alpha times the number of weights other
    than 0, for ``p=inf`` alpha max_j |w_j|. b is never penalised. ``p <= 1`` gives sparse weights,
    small p the sparsest and least biased, p > 1 does not; large p make the largest weights equal.
    For p >= 1 a duality gap proves that no other model is better by more than `tol`; for p < 1,
    where the problem is not convex, the answer is one that no change of a single weight improves,
    as far as a quadratic model of the loss can tell."""

_POWER = """p : float, default=1.5
        The power: 0 or a number >= 0.001; infinity too."""

_COMMON = f"""{parameters("fit_intercept")}
    max_iter : int, default=1000
        Largest number of steps, see `n_iter_`."""

_TOL = """tol : float, default=1e-4
        For p >= 1 the largest duality gap relative to the objective, for p < 1 the largest
        `optimality_`, > 0."""

_WARM = """warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous one, which must have had the same
        columns and classes; not where no weights at all are better. For p < 1 the answer depends
        on the start, 0 by default; those for falling p, each from the last, are often better."""

_RANDOM = """random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Accepted for the interface's sake: nothing here is drawn at random."""

_VERBOSE = """verbose : int, default=0
        Above 0 a line about each answer goes to standard error."""

_ANSWER = """n_iter_ : %s
        Steps, and for p >= 2 the products that those of Newton's method took.
    objective_ : %s
        What is minimised.
    duality_gap_ : %s
        Distance to the optimum, at most: as a share of `objective_`. Infinite for p < 1.
    optimality_ : %s
        How far the weights are from being stationary: the change that would be best for each weight
        alone (for p = inf for all at once), as a slope, relative to the largest slope at w = 0. It
        is 0 at an optimum."""

_REFERENCES = """.. [1] I. E. Frank, J. H. Friedman, "A statistical view of some chemometrics
       regression tools", Technometrics 35, 1993.
    .. [2] A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding algorithm for linear
       inverse problems", SIAM Journal on Imaging Sciences 2, 2009.
    .. [3] T. Blumensath, M. E. Davies, "Iterative hard thresholding for compressed sensing",
       Applied and Computational Harmonic Analysis 27, 2009.
    .. [4] Z. Xu, X. Chang, F. Xu, H. Zhang, "L1/2 regularization: a thresholding representation
       theory and a fast solver", IEEE Transactions on Neural Networks and Learning Systems 23,
       2012.
    .. [5] P. Gong, C. Zhang, Z. Lu, J. Huang, J. Ye, "A general iterative shrinkage and
       thresholding algorithm for non-convex regularized optimization problems", ICML 2013."""


class _Bridge(ExactEstimator):
    """What regressor and classifier share."""

    p: float
    alpha: float
    loss: str

    _constraints: ClassVar = {
        "alpha": Real(0, closed="right"),
        "p": Real(0, finite=False),
    }

    def _check_together(self) -> None:
        if 0 < self.p < _LEAST_POWER:
            raise ValueError(
                f"p must be 0 or a number >= {_LEAST_POWER:g}, got {float(self.p):g}; use p=0, "
                "which such powers come to."
            )

    def _penalty(self) -> Penalty:
        """The penalty, from the parameters."""
        return Penalty(float(self.alpha), float(self.p))

    def _terms(self, total_weight: float) -> dict[str, Any]:
        # the smooth part; no penalty of Problem's own
        parameter = float(getattr(self, "epsilon", 1.0))
        return {"loss": self.loss, "loss_parameter": parameter, "l1": 0.0, "l2": 0.0}

    def _fits(self, problems: list[Problem], seeds: list[np.ndarray],
              starts: list[Fit | None]) -> list[Fit]:
        tasks = [partial(self._solve, *each) for each in zip(problems, seeds, starts, strict=True)]
        return _parallel.run(tasks, getattr(self, "n_jobs", None))

    def _solve(self, problem: Problem, seed: np.ndarray, start: Fit | None) -> Fit:
        def near(problem: Problem, start: Fit | None) -> Fit:
            return solve(problem, self._penalty(), float(self.tol), self.max_iter, start)

        return near_zero(problem, start, near, self._penalty().value)

    def _is_reached(self, fit: Any) -> bool:
        # a penalty that is not convex has no gap
        return super()._is_reached(fit) if self._penalty().is_convex else fit.converged

    def _warn(self, fits: Any) -> None:
        if self._penalty().is_convex:
            super()._warn(fits)
            return
        super()._warn([fit for fit in fits if fit.converged])
        stopped = [fit for fit in fits if not fit.converged]
        if stopped:
            worst = max(stopped, key=lambda fit: fit.optimality)
            warn_convergence(
                f"{type(self).__name__} stopped after {worst.n_iter} iterations with an optimality "
                f"residual of {worst.optimality:.1e} > tol={float(self.tol):g}; raise max_iter "
                f"or tol{self._easier()}."
            )


class BridgeRegressor(ExactRegressorMixin, LinearRegressorMixin, _Bridge):
    __doc__ = f"""Linear regression with a penalty on the p-th powers of the weights.

    It minimises over w and b [1]_ ::

        1/S sum_i s_i loss(y_i, w.x_i + b) + alpha/p sum_j |w_j|^p

    {_PENALTY} With the squared error, which counts half,
    p = 1 is `Lasso`, and p = 2 `Ridge` with S times this alpha: both are faster there.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty, > 0.
    {_POWER}
    loss : {{"squared_error", "huber", "squared_epsilon_insensitive"}}, default="squared_error"
        The loss, which must be smooth.
    epsilon : float, default=0.1
        Threshold of the losses "huber" and "squared_epsilon_insensitive", > 0.
    {_COMMON}
    {_TOL}
    {_WARM}
    {_RANDOM}
    {_VERBOSE}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, of the dtype of the rows.
    intercept_ : float
        The intercept.
    {_ANSWER % ("int", "float", "float", "float")}
    {attributes("coef_", "intercept_", "classes_", "n_iter_", "t_", "trace_")}

    See Also
    --------
    Lasso : p = 1, by coordinate descent.
    Ridge : p = 2, in closed form.

    References
    ----------
    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import BridgeRegressor
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> y = 3 * X[:, 0] + 0.25 * X[:, 1] + 7
    >>> for p in (0, 0.5, 1, 2, np.inf):
    ...     print(p, BridgeRegressor(alpha=0.5, p=p, tol=1e-9).fit(X, y).coef_.round(3))
    0 [3. 0.]
    0.5 [2.695 0.   ]
    1 [2.5 0. ]
    2 [2.    0.167]
    inf [2.5  0.25]
    """

    _constraints: ClassVar = {
        "loss": OneOf("squared_error", "huber", "squared_epsilon_insensitive"),
        "epsilon": Real(0, closed="right"),
    }

    def __init__(self, alpha=1.0, *, p=1.5, loss="squared_error", epsilon=0.1, fit_intercept=True,
                 max_iter=1000, tol=1e-4, warm_start=False, random_state=None, verbose=0):
        self.alpha = alpha
        self.p = p
        self.loss = loss
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        super()._publish(fits, dtype, places, n_outputs)
        (fit,) = fits
        assert isinstance(fit, ProxFit)
        self.optimality_ = fit.optimality


class BridgeClassifier(ExactClassifierMixin, LinearClassifierMixin, _Bridge):
    __doc__ = f"""Linear classification with a penalty on the p-th powers of the weights.

    For two classes, y = +-1, it minimises over w and b [1]_ ::

        1/S sum_i s_i loss(y_i (w.x_i + b)) + alpha/p sum_j |w_j|^p

    {_PENALTY} With the logistic loss and p = 2 it is
    `LogisticRegression` with C = 1/(alpha S), and with p = 1 the same with ``l1_ratio=1``: that is
    faster there. More classes are several such problems.

    Parameters
    ----------
    alpha : float, default=0.01
        Strength of the penalty, > 0.
    {_POWER}
    loss : {{"log_loss", "squared_hinge", "modified_huber"}}, default="log_loss"
        The loss, which must be smooth. "log_loss" and "modified_huber" have probabilities.
    {_COMMON}
    {_TOL}
    {parameters("reduction")}
    {parameters("class_weight")}
    {_WARM}
    {_RANDOM}
    {_VERBOSE}
    {parameters("n_jobs")}

    Attributes
    ----------
    {attributes("n_iter_", "t_", "trace_")}
    {_ANSWER % ("ndarray of shape (1,) or (n_outputs,), dtype int32",
                *("ndarray of shape (1,) or (n_outputs,)",) * 3)}

    See Also
    --------
    LogisticRegression : p = 1 and p = 2.

    References
    ----------
    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import BridgeClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> y = X[:, 3] - X[:, 7] > 0.5
    >>> np.flatnonzero(BridgeClassifier(alpha=0.02, p=0.5).fit(X, y).coef_)
    array([3, 7])
    """

    _constraints: ClassVar = {
        "loss": OneOf("log_loss", "squared_hinge", "modified_huber"),
        "multi_class": CODES,
    }

    def __init__(self, alpha=0.01, *, p=1.5, loss="log_loss", fit_intercept=True, max_iter=1000,
                 tol=1e-4, multi_class="ovr", class_weight=None, warm_start=False,
                 random_state=None, verbose=0, n_jobs=None):
        self.alpha = alpha
        self.p = p
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        super()._publish(fits, dtype, places, n_outputs)
        self.optimality_ = np.zeros(n_outputs)
        self.optimality_[places] = [getattr(fit, "optimality", np.inf) for fit in fits]

    def _probability_kind(self) -> str | None:
        return {"log_loss": "sigmoid", "modified_huber": "clipped"}.get(self.loss)
