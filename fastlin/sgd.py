"""`SGDClassifier` and `SGDRegressor`: any loss of the table by stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._linear import LinearClassifierMixin, LinearRegressorMixin
from ._online import OnlineClassifierMixin, OnlineEstimator, OnlineRegressorMixin
from ._params import Boolean, ClassWeight, Either, Integer, OneOf, RandomState, Real
from ._sgd import LOSSES, MARGIN_LOSSES, TARGET_LOSSES, make_rule

__all__ = ["SGDClassifier", "SGDRegressor"]

_PROBABILITY_KINDS = {
    "log_loss": "sigmoid",
    "sigmoid_mse": "sigmoid",
    "modified_huber": "clipped",
}


class _SGD(OnlineEstimator):
    """Parameters that both estimators have."""

    _constraints: ClassVar = {
        "penalty": OneOf("l2", "l1", "elasticnet", None),
        "alpha": Real(0),
        "l1_ratio": Either(Real(0, 1), OneOf(None)),
        "fit_intercept": Boolean(),
        "max_iter": Integer(1),
        "tol": Either(Real(0), OneOf(None)),
        "shuffle": Either(Boolean(), OneOf("replacement")),
        "verbose": Either(Integer(0), Boolean()),
        "epsilon": Real(0),
        "quantile": Real(0, 1, closed="neither"),
        "random_state": RandomState(),
        "learning_rate": OneOf("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"),
        "eta0": Real(0, closed="neither"),
        "power_t": Real(),
        "early_stopping": Boolean(),
        "validation_fraction": Real(0, 1, closed="neither"),
        "n_iter_no_change": Integer(1),
        "warm_start": Boolean(),
        "average": Either(Boolean(), Integer(1)),
        "batch_size": Integer(1),
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
            if self.penalty is not None and self.alpha > 0 or self.batch_size != 1:
                raise ValueError(
                    f"learning_rate {self.learning_rate!r} takes passive-aggressive steps, which "
                    "have no penalty and no batches: set penalty=None and batch_size=1."
                )

    def _rule(self) -> dict[str, Any]:
        parameter = LOSSES[self.loss].parameter
        return make_rule(
            self.loss,
            loss_parameter=getattr(self, parameter, None) if parameter else None,
            penalty=self.penalty,
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            learning_rate=self.learning_rate,
            eta0=self.eta0,
            power_t=self.power_t,
            fit_intercept=self.fit_intercept,
            average=self.average,
            batch_size=self.batch_size,
        )


_PARAMETERS = """
    penalty : {"l2", "l1", "elasticnet"} or None, default="l2"
        The penalty ``alpha * (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)``; "l2" and "l1" fix
        `l1_ratio` to 0 and 1. The intercept is never penalised.
    alpha : float, default=1e-4
        Strength of the penalty, >= 0. Also the scale of the schedule "optimal".
    l1_ratio : float or None, default=0.15
        Share of L1 in the elastic net, in [0, 1]; not used by the other penalties.
    fit_intercept : bool, default=True
        Whether to fit b; it learns alike for dense and sparse rows.
    max_iter : int, default=1000
        Most passes over the rows in `fit`.
    tol : float or None, default=1e-3
        Training ends when the objective (the loss of each row before its step, plus the penalty),
        or the validation score, has not improved by `tol` for `n_iter_no_change` epochs. None
        runs `max_iter` epochs.
    shuffle : bool or "replacement", default=True
        Whether `fit` visits the rows in a new random order each epoch; "replacement" draws them
        with replacement. Data larger than a cache are shuffled in blocks of 64 rows and inside
        the blocks, unless the targets of neighbouring rows resemble each other.
    verbose : int, default=0
        Above 0 each epoch is reported on standard error."""

_MORE_PARAMETERS = """
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed of the orders and splits. The same seed gives the same bits for any `n_jobs`.
    learning_rate : {"constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"}, \
default="%s"
        Length of step t: ``eta0``; ``1 / (alpha (t0 + t - 1))`` with Bottou's ``t0``; ``eta0 /
        t^power_t``; ``eta0``, divided by 5 when training would otherwise end; or the
        passive-aggressive steps PA-I and PA-II with C = `eta0`. Without a penalty "optimal" uses
        1e-4 for alpha. A step of an unbounded loss (squares, exponential) is shortened where it
        would carry its own row past the loss's minimum.
    eta0 : float, default=0.01
        First step, > 0.
    power_t : float, default=%s
        Exponent of "invscaling".
    early_stopping : bool, default=False
        Whether to hold out `validation_fraction` of the rows%s and to end training by their
        score.
    validation_fraction : float, default=0.1
        Share of the rows held out, in (0, 1).
    n_iter_no_change : int, default=5
        Epochs without improvement before training ends.%s
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous one.
    average : bool or int, default=False
        Whether `coef_` is the mean of the weights after each step; a number is the first step
        that counts.
    batch_size : int, default=1
        Rows per step; their gradients are averaged."""

_REFERENCES = """
    References
    ----------
    .. [1] L. Bottou, "Large-scale machine learning with stochastic gradient descent", COMPSTAT
       2010.
    .. [2] Y. Tsuruoka, J. Tsujii, S. Ananiadou, "Stochastic gradient descent training for
       L1-regularized log-linear models with cumulative penalty", ACL 2009."""


class SGDClassifier(OnlineClassifierMixin, LinearClassifierMixin, _SGD):
    __doc__ = f"""Linear classifier trained by stochastic gradient descent.

    Minimises ``(1/S) sum_i s_i loss(w.x_i + b, y_i) + penalty(w)`` with sample weights s_i and their
    sum S. More than two classes are trained one against the rest.

    Parameters
    ----------
    loss : str, default="hinge"
        {", ".join(f'"{name}"' for name in MARGIN_LOSSES)} for the margin of a row; also the losses
        of `SGDRegressor` with y = +-1. "log_loss", "sigmoid_mse" and "modified_huber" have
        probabilities.{_PARAMETERS}
    epsilon : float, default=0.1
        Threshold of "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".
    quantile : float, default=0.5
        Quantile of the loss "quantile", in (0, 1).
    n_jobs : int or None, default=None
        Threads over the classes; -1 is all cores.{_MORE_PARAMETERS % (
            "optimal", "0.5", " (stratified by class)", '''
    class_weight : dict, "balanced" or None, default=None
        Weights by label, multiplied into the sample weights; "balanced" is n / (n_classes n_k).''')}

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,), dtype float64
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_iter_ : int
        Epochs run, the most of any class.
    t_ : float
        1 + the number of steps taken.
    trace_ : list of dict
        Per epoch: loss, objective, seconds, and the validation score if there is one; of the class
        that trained longest.
    n_features_in_ : int
        Columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X was a data frame.
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

    _constraints: ClassVar = {
        "loss": OneOf(*LOSSES),
        "n_jobs": Either(Integer(), OneOf(None)),
        "class_weight": ClassWeight(),
    }
    _passive_aggressive_loss = "hinge"

    def __init__(self, loss="hinge", *, penalty="l2", alpha=0.0001, l1_ratio=0.15,
                 fit_intercept=True, max_iter=1000, tol=1e-3, shuffle=True, verbose=0,
                 epsilon=0.1, quantile=0.5, n_jobs=None, random_state=None,
                 learning_rate="optimal", eta0=0.01, power_t=0.5, early_stopping=False,
                 validation_fraction=0.1, n_iter_no_change=5, class_weight=None,
                 warm_start=False, average=False, batch_size=1):
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
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average
        self.batch_size = batch_size

    def _probability_kind(self) -> str | None:
        return _PROBABILITY_KINDS.get(self.loss)


class SGDRegressor(OnlineRegressorMixin, LinearRegressorMixin, _SGD):
    __doc__ = f"""Linear regression by stochastic gradient descent.

    Minimises ``(1/S) sum_i s_i loss(w.x_i + b, y_i) + penalty(w)`` with sample weights s_i and their
    sum S.

    Parameters
    ----------
    loss : str, default="squared_error"
        {", ".join(f'"{name}"' for name in TARGET_LOSSES)}. The squared error is halved; see the
        table of losses in the README.{_PARAMETERS}
    epsilon : float, default=0.1
        Threshold of "huber", "epsilon_insensitive" and "squared_epsilon_insensitive".
    quantile : float, default=0.5
        Quantile of the loss "quantile", in (0, 1).{_MORE_PARAMETERS % (
            "invscaling", "0.25", "", "")}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights.
    intercept_ : ndarray of shape (1,), dtype float64
        Intercept.
    n_iter_ : int
        Epochs run.
    t_ : float
        1 + the number of steps taken.
    trace_ : list of dict
        Per epoch: loss, objective, seconds, and the validation score if there is one.
    n_features_in_ : int
        Columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X was a data frame.
{_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDRegressor
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> reg = SGDRegressor(penalty=None, random_state=0).fit(x, 3 * x.ravel() + 1)
    >>> bool(abs(reg.predict([[0.5]])[0] - 2.5) < 0.1)
    True
    """

    _constraints: ClassVar = {"loss": OneOf(*TARGET_LOSSES)}
    _passive_aggressive_loss = "epsilon_insensitive"

    def __init__(self, loss="squared_error", *, penalty="l2", alpha=0.0001, l1_ratio=0.15,
                 fit_intercept=True, max_iter=1000, tol=1e-3, shuffle=True, verbose=0,
                 epsilon=0.1, quantile=0.5, random_state=None, learning_rate="invscaling",
                 eta0=0.01, power_t=0.25, early_stopping=False, validation_fraction=0.1,
                 n_iter_no_change=5, warm_start=False, average=False, batch_size=1):
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
