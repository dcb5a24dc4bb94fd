"""`SGDClassifier` and `SGDRegressor`: any loss of the table by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

from ._docs import attributes, parameters, quoted
from ._linear import LinearClassifierMixin, LinearRegressorMixin
from ._multilabel import has_labels
from ._online import OnlineEstimator
from ._online_kinds import OnlineClassifierMixin, OnlineRegressorMixin
from ._params import Either, Integer, OneOf, Real
from ._reductions import JOINT
from ._sgd import JOINT_LOSSES, LOSSES, MARGIN_LOSSES, OPTIMIZERS, TARGET_LOSSES, make_rule

__all__ = ["SGDClassifier", "SGDRegressor"]

_PROBABILITY_KINDS = {
    "log_loss": "sigmoid",
    "sigmoid_mse": "sigmoid",
    "modified_huber": "clipped",
    "sparsemax": "clipped",
}
_JOINT_PROBABILITY_KINDS = {"log_loss": "softmax", "sparsemax": "sparsemax"}


class _SGD(OnlineEstimator):
    """Parameters that both estimators have."""

    _constraints: ClassVar = {
        "penalty": OneOf("l2", "l1", "elasticnet", None),
        "alpha": Real(0),
        "l1_ratio": Either(Real(0, 1), OneOf(None)),
        "epsilon": Real(0),
        "quantile": Real(0, 1, closed="neither"),
        "learning_rate": OneOf("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"),
        "eta0": Real(0, closed="neither"),
        "power_t": Real(),
        "batch_size": Integer(1),
        "optimizer": OneOf(*OPTIMIZERS),
    }
    # the loss whose steps pa1 and pa2 take
    _passive_aggressive_loss = ""

    def _check_together(self) -> None:
        if self.learning_rate in ("pa1", "pa2"):
            wanted = self._passive_aggressive_loss
            if self.loss != wanted:
                raise ValueError(
                    f"learning_rate {self.learning_rate!r} needs loss {wanted!r}, got "
                    f"{self.loss!r}."
                )
            plain = self.batch_size == 1 and self.optimizer == "sgd"
            if self.penalty is not None and self.alpha > 0 or not plain:
                raise ValueError(
                    f"learning_rate {self.learning_rate!r} takes passive-aggressive steps, which "
                    "have no penalty, no batches and no other optimizer: set penalty=None, "
                    "batch_size=1 and optimizer='sgd'."
                )

    def _rule(self) -> dict[str, Any]:
        parameter = LOSSES[self.loss].parameter
        return make_rule(
            self.loss,
            loss_parameter=getattr(self, parameter, None) if parameter else None,
            penalty=self.penalty,
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            learning_rate=self._schedule(),
            eta0=self.eta0,
            power_t=self.power_t,
            fit_intercept=self.fit_intercept,
            average=self.average,
            batch_size=self.batch_size,
            optimizer=self.optimizer,
        )

    def _schedule(self) -> str:
        """The schedule; "optimal" is one of plain SGD, and its place is taken by "constant"."""
        adaptive = self.optimizer != "sgd" and self.learning_rate == "optimal"
        return "constant" if adaptive else self.learning_rate


_COMMON = (
    "alpha", "l1_ratio", "fit_intercept", "max_iter", "tol", "shuffle", "verbose", "epsilon",
    "quantile",
)  # fmt: skip
_STOPPING = ("early_stopping", "validation_fraction", "n_iter_no_change")

_STEPS = """learning_rate : {"constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"}, \
default="%s"
        How the length eta of step t = 1, 2, ... is found:

        - "constant": ``eta0``;
        - "optimal": ``1 / (alpha (t0 + t - 1))``, ``t0 = alpha^(-3/4)`` [1]_; without a penalty
          1e-4 takes the place of alpha;
        - "invscaling": ``eta0 / t^power_t``;
        - "adaptive": ``eta0``, divided by 5 each time training would otherwise end, until it is
          below 1e-6;
        - "pa1", "pa2": as far as the passive-aggressive rules PA-I and PA-II with ``C = eta0`` go,
          for the loss %s without a penalty.

        A step is shortened where it would carry its own row past the minimum of a loss whose slope
        is unbounded (squares, exponential).
    eta0 : float, default=0.01
        First step, > 0.
    power_t : float, default=%s
        Exponent of "invscaling"."""

_CLASSIFIER_PARAMETERS = parameters(
    *_STOPPING, "multi_class", "class_weight", "warm_start", "average", "batch_size", "optimizer",
    multi_class=(
        "ovr",
        """,
        which "log_loss" (softmax), "sparsemax", "hinge" (Crammer-Singer) and "perceptron" have""",
    ),
)  # fmt: skip

_REFERENCES = """References
    ----------
    .. [1] L. Bottou, "Large-scale machine learning with stochastic gradient descent", COMPSTAT
       2010.
    .. [2] Y. Tsuruoka, J. Tsujii, S. Ananiadou, "Stochastic gradient descent training for
       L1-regularized log-linear models with cumulative penalty", ACL 2009."""


class SGDClassifier(OnlineClassifierMixin, LinearClassifierMixin, _SGD):
    __doc__ = f"""Linear classifier trained by stochastic gradient descent.

    Minimises ``(1/S) sum_i s_i loss(w.x_i + b, y_i) + penalty(w)`` with sample weights s_i and
    their sum S.

    Parameters
    ----------
    loss : str, default="hinge"
        A loss of the margin of a row:
        {quoted(MARGIN_LOSSES)};
        or one of `SGDRegressor`, with y = +-1. "log_loss", "sigmoid_mse", "modified_huber" and
        "sparsemax" have probabilities. The README has a table of formulas.
    {parameters("penalty", *_COMMON, "n_jobs", "random_state", penalty="l2", random_state=None)}
    {_STEPS % ("optimal", '"hinge"', "0.5")}
    {_CLASSIFIER_PARAMETERS}

    Attributes
    ----------
    {attributes()}

    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> y = np.array([1, 1, 2, 2])
    >>> clf = SGDClassifier(loss="log_loss", random_state=0).fit(X, y)
    >>> clf.predict([[-0.8, -1.0]])
    array([1])
    """

    _constraints: ClassVar = {"loss": OneOf(*LOSSES)}
    _passive_aggressive_loss = "hinge"

    def __init__(self, loss="hinge", *, penalty="l2", alpha=0.0001, l1_ratio=0.15,
                 fit_intercept=True, max_iter=1000, tol=1e-3, shuffle=True, verbose=0,
                 epsilon=0.1, quantile=0.5, n_jobs=None, random_state=None,
                 learning_rate="optimal", eta0=0.01, power_t=0.5, early_stopping=False,
                 validation_fraction=0.1, n_iter_no_change=5, multi_class="ovr",
                 class_weight=None, warm_start=False, average=False, batch_size=1,
                 optimizer="sgd"):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.quantile = quantile
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.multi_class = multi_class
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size
        self.optimizer = optimizer

    def _is_joint(self, n_classes: int) -> bool:
        joint = super()._is_joint(n_classes)
        if joint and self.loss not in JOINT_LOSSES:
            raise ValueError(
                f"multi_class {self.multi_class!r} needs a loss with a joint form "
                f"({', '.join(map(repr, JOINT_LOSSES))}), got {self.loss!r}; use 'ovr'."
            )
        return joint

    def _probability_kind(self) -> str | None:
        # before fit the number of classes is not known; the set of losses is the same for two
        several = len(getattr(self, "classes_", ())) > 2 and not has_labels(self)
        joint = several and self.multi_class in JOINT
        return (_JOINT_PROBABILITY_KINDS if joint else _PROBABILITY_KINDS).get(self.loss)


class SGDRegressor(OnlineRegressorMixin, LinearRegressorMixin, _SGD):
    __doc__ = f"""Linear regression by stochastic gradient descent.

    Minimises ``(1/S) sum_i s_i loss(w.x_i + b, y_i) + penalty(w)`` with sample weights s_i and
    their sum S.

    Parameters
    ----------
    loss : str, default="squared_error"
        {quoted(TARGET_LOSSES)}.
        The squared error is halved. The README has a table of formulas.
    {parameters("penalty", *_COMMON, "random_state", penalty="l2", random_state=None)}
    {_STEPS % ("invscaling", '"epsilon_insensitive"', "0.25")}
    {parameters(*_STOPPING, "warm_start", "average", "batch_size", "optimizer")}

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
    >>> from fastlin import SGDRegressor
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> reg = SGDRegressor(penalty=None, eta0=0.1, random_state=0).fit(x, 3 * x.ravel() + 1)
    >>> bool(abs(reg.predict([[0.5]])[0] - 2.5) < 0.1)
    True
    """

    _constraints: ClassVar = {"loss": OneOf(*TARGET_LOSSES)}
    _passive_aggressive_loss = "epsilon_insensitive"

    def __init__(self, loss="squared_error", *, penalty="l2", alpha=0.0001, l1_ratio=0.15,
                 fit_intercept=True, max_iter=1000, tol=1e-3, shuffle=True, verbose=0,
                 epsilon=0.1, quantile=0.5, random_state=None, learning_rate="invscaling",
                 eta0=0.01, power_t=0.25, early_stopping=False, validation_fraction=0.1,
                 n_iter_no_change=5, warm_start=False, average=False, batch_size=1,
                 optimizer="sgd"):
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.quantile = quantile
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size
        self.optimizer = optimizer
