"""Passive-aggressive learners: each step goes just as far as its row needs."""

from __future__ import annotations

from typing import Any, ClassVar

from ._docs import attributes, parameters
from ._linear import LinearClassifierMixin, LinearRegressorMixin
from ._online import OnlineEstimator
from ._online_kinds import OnlineClassifierMixin, OnlineRegressorMixin
from ._params import OneOf, Real
from ._sgd import make_rule

__all__ = ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor"]

_C = """C : float, default=1.0
        Aggressiveness, > 0: the larger, the further one row may move the weights. It is the upper
        bound on tau in PA-I and enters that of PA-II as 1/(2C); ``numpy.inf`` gives the plain
        algorithm PA."""

_REFERENCES = """References
    ----------
    .. [1] K. Crammer, O. Dekel, J. Keshet, S. Shalev-Shwartz, Y. Singer, "Online
       passive-aggressive algorithms", JMLR 7, 2006."""

_COMMON = (
    "fit_intercept", "max_iter", "tol", "early_stopping", "validation_fraction",
    "n_iter_no_change", "shuffle", "verbose",
)  # fmt: skip


_CLASSIFIER_PARAMETERS = parameters(
    "n_jobs", "random_state", "multi_class", "warm_start", "class_weight", "average",
    random_state=None,
    multi_class=("ovr", ":\n        the margin of the true class against its strongest rival"),
)  # fmt: skip


class _PassiveAggressive(OnlineEstimator):
    """The rule of both estimators."""

    _constraints: ClassVar = {"C": Real(0, closed="neither", finite=False)}
    # public loss -> (loss whose value the step ends, kind of step)
    _steps: ClassVar[dict[str, tuple[str, str]]] = {}

    def _rule(self) -> dict[str, Any]:
        loss, kind = self._steps[self.loss]
        return make_rule(
            loss,
            loss_parameter=getattr(self, "epsilon", None),
            learning_rate=kind,
            eta0=self.C,
            fit_intercept=self.fit_intercept,
            average=self.average,
        )


class PassiveAggressiveClassifier(
    OnlineClassifierMixin, LinearClassifierMixin, _PassiveAggressive
):
    __doc__ = f"""Passive-aggressive classifier.

    For each row with hinge loss ``l = max(0, 1 - y (w.x + b)) > 0``: ``w += tau y x`` with ``tau =
    min(C, l / |x|^2)`` (PA-I) or ``l / (|x|^2 + 1/(2C))`` (PA-II); with an intercept ``|x|^2 + 1``
    takes the place of ``|x|^2``. Rows of zeros are skipped. A sample weight multiplies C.

    Parameters
    ----------
    {_C}
    {parameters(*_COMMON)}
    loss : {{"hinge", "squared_hinge"}}, default="hinge"
        The first stands for PA-I, the second for PA-II; the steps end the hinge loss in both.
    {_CLASSIFIER_PARAMETERS}

    Attributes
    ----------
    {attributes()}

    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import PassiveAggressiveClassifier
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> PassiveAggressiveClassifier(random_state=0).fit(X, [0, 0, 1, 1]).predict([[0.5, 2.0]])
    array([1])
    """

    _constraints: ClassVar = {"loss": OneOf("hinge", "squared_hinge")}
    _steps: ClassVar = {"hinge": ("hinge", "pa1"), "squared_hinge": ("hinge", "pa2")}

    def __init__(self, *, C=1.0, fit_intercept=True, max_iter=1000, tol=1e-3,
                 early_stopping=False, validation_fraction=0.1, n_iter_no_change=5, shuffle=True,
                 verbose=0, loss="hinge", n_jobs=None, random_state=None, multi_class="ovr",
                 warm_start=False, class_weight=None, average=False):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.multi_class = multi_class
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average


class PassiveAggressiveRegressor(OnlineRegressorMixin, LinearRegressorMixin, _PassiveAggressive):
    __doc__ = f"""Passive-aggressive regression.

    For each row with ``l = max(0, |y - p| - epsilon) > 0``, p = w.x + b: ``w += sign(y - p) tau x``
    with ``tau = min(C, l / |x|^2)`` (PA-I) or ``l / (|x|^2 + 1/(2C))`` (PA-II); with an intercept
    ``|x|^2 + 1`` takes the place of ``|x|^2``. Rows of zeros are skipped. A sample weight
    multiplies C.

    Parameters
    ----------
    {_C}
    {parameters(*_COMMON)}
    loss : {{"epsilon_insensitive", "squared_epsilon_insensitive"}}, default="epsilon_insensitive"
        The first stands for PA-I, the second for PA-II; the steps end the first loss in both.
    epsilon : float, default=0.1
        Errors up to this size cost nothing, >= 0.
    {parameters("random_state", "warm_start", "average", random_state=None)}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, of the dtype of the rows.
    intercept_ : ndarray of shape (1,), dtype float64
        Intercept.
    {attributes("coef_", "intercept_", "classes_")}

    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import PassiveAggressiveRegressor
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> reg = PassiveAggressiveRegressor(epsilon=0.01, random_state=0).fit(x, 3 * x.ravel() + 1)
    >>> bool(abs(reg.predict([[0.5]])[0] - 2.5) < 0.1)
    True
    """

    _constraints: ClassVar = {
        "loss": OneOf("epsilon_insensitive", "squared_epsilon_insensitive"),
        "epsilon": Real(0),
    }
    _steps: ClassVar = {
        "epsilon_insensitive": ("epsilon_insensitive", "pa1"),
        "squared_epsilon_insensitive": ("epsilon_insensitive", "pa2"),
    }

    def __init__(self, *, C=1.0, fit_intercept=True, max_iter=1000, tol=1e-3,
                 early_stopping=False, validation_fraction=0.1, n_iter_no_change=5, shuffle=True,
                 verbose=0, loss="epsilon_insensitive", epsilon=0.1, random_state=None,
                 warm_start=False, average=False):
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average
