"""`Perceptron`: Rosenblatt's rule, with the last or the averaged weights, or all of them voting."""

from __future__ import annotations

from typing import Any, ClassVar

from ._docs import attributes, parameters
from ._linear import LinearClassifierMixin
from ._online import OnlineEstimator
from ._online_kinds import OnlineClassifierMixin
from ._params import Boolean, Either, Integer, OneOf, Real
from ._sgd import make_rule
from ._voted import VotedMixin

__all__ = ["Perceptron"]


class Perceptron(VotedMixin, OnlineClassifierMixin, LinearClassifierMixin, OnlineEstimator):
    __doc__ = f"""Perceptron.

    For each row with ``y (w.x + b) <= margin`` (y = +-1): ``w += eta0 y x``, ``b += eta0 y``. With
    several classes the rule is joint: where the class with the largest response is not y, the
    weights of y move towards x and those of the predicted class away from it.

    On separable data with ``|x| <= R`` and a separator of unit norm and margin g there are at most
    ``(R^2 + 1) / g^2`` mistakes (with an intercept), in any order [2]_.

    Parameters
    ----------
    {parameters("penalty", "alpha", "l1_ratio", "fit_intercept", "max_iter", "tol", "shuffle",
                "verbose", penalty=None)}
    eta0 : float, default=1.0
        Learning rate, > 0. Without a penalty and with margin 0 it only scales the weights.
    margin : float, default=0.0
        A row counts as a mistake up to this margin, >= 0.
    {parameters("multi_class", multi_class=("joint", ": the rule above"))}
    average : bool, int or "voted", default=False
        Whether `coef_` is the mean of the weights after each row, mistakes or not [3]_; a number is
        the first row that counts. "voted" lets every weight vector vote for its class, with the
        number of rows that it survived. That is no linear model: `decision_function` returns votes,
        `coef_` and `intercept_` are the last of the vectors, the model keeps a copy of the rows
        that were mistaken, and prediction goes through them. It needs penalty=None.
    {parameters("n_jobs", "random_state", "early_stopping", "validation_fraction",
                "n_iter_no_change", "class_weight", "warm_start", random_state=0)}

    Attributes
    ----------
    {attributes()}

    References
    ----------
    .. [1] F. Rosenblatt, "The perceptron: a probabilistic model for information storage and
       organization in the brain", Psychological Review 65, 1958.
    .. [2] A. B. J. Novikoff, "On convergence proofs on perceptrons", Symposium on the Mathematical
       Theory of Automata, 1962.
    .. [3] Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import Perceptron
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> Perceptron().fit(X, [0, 0, 0, 1]).predict(X)
    array([0, 0, 0, 1])
    """

    _constraints: ClassVar = {
        "penalty": OneOf("l2", "l1", "elasticnet", None),
        "alpha": Real(0),
        "l1_ratio": Either(Real(0, 1), OneOf(None)),
        "eta0": Real(0, closed="neither"),
        "margin": Real(0),
        "average": Either(Boolean(), Integer(1), OneOf("voted")),
    }

    def __init__(self, *, penalty=None, alpha=0.0001, l1_ratio=0.15, fit_intercept=True,
                 max_iter=1000, tol=1e-3, shuffle=True, verbose=0, eta0=1.0, margin=0.0,
                 multi_class="joint", average=False, n_jobs=None, random_state=0,
                 early_stopping=False, validation_fraction=0.1, n_iter_no_change=5,
                 class_weight=None, warm_start=False):
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.margin = margin
        self.multi_class = multi_class
        self.average = average
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    def _check_together(self) -> None:
        if self.average == "voted" and self.penalty is not None:
            raise ValueError(
                f"average 'voted' needs penalty None, got {self.penalty!r}: a weight that shrinks "
                "between mistakes is not in their record. Set penalty=None or average=True."
            )

    def _rule(self) -> dict[str, Any]:
        voted = self.average == "voted"
        rule = make_rule(
            "perceptron",
            loss_parameter=self.margin,
            penalty=self.penalty,
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            eta0=self.eta0,
            fit_intercept=self.fit_intercept,
            average=False if voted else self.average,
        )
        return {**rule, "voted": voted}
