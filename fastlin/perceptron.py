"""`Perceptron`: Rosenblatt's rule, with the last or the averaged weights, or all of them voting."""

from __future__ import annotations

from typing import Any, ClassVar

from ._linear import LinearClassifierMixin
from ._online import MULTI_CLASS, OnlineClassifierMixin, OnlineEstimator
from ._params import Boolean, ClassWeight, Either, Integer, OneOf, RandomState, Real
from ._sgd import make_rule
from ._voted import VotedMixin

__all__ = ["Perceptron"]


class Perceptron(VotedMixin, OnlineClassifierMixin, LinearClassifierMixin, OnlineEstimator):
    """Perceptron.

    For each row with ``y (w.x + b) <= margin`` (y = +-1): ``w += eta0 y x``, ``b += eta0 y``. With K
    classes the rule is joint: where the class with the largest response is not y, the weights of y
    move towards x and those of the predicted class away from it.

    On separable data with ``|x| <= R`` and a separator of unit norm and margin g there are at most
    ``(R^2 + 1) / g^2`` mistakes (with an intercept), in any order [2]_.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        Penalty, as in `SGDClassifier`.
    alpha : float, default=1e-4
        Strength of the penalty, >= 0.
    l1_ratio : float or None, default=0.15
        Share of L1 in the elastic net, in [0, 1].
    fit_intercept : bool, default=True
        Whether to fit b.
    max_iter : int, default=1000
        Most passes over the rows in `fit`.
    tol : float or None, default=1e-3
        Training ends when the mean perceptron criterion, or the validation score, has not improved
        by `tol` for `n_iter_no_change` epochs. None runs `max_iter` epochs.
    shuffle : bool or "replacement", default=True
        Whether `fit` visits the rows in a new random order each epoch; "replacement" draws them
        with replacement.
    verbose : int, default=0
        Above 0 each epoch is reported on standard error.
    eta0 : float, default=1.0
        Learning rate, > 0. Without a penalty and with margin 0 it only scales the weights.
    margin : float, default=0.0
        A row counts as a mistake up to this margin, >= 0.
    multi_class : {"joint", "ovr"}, default="joint"
        More than two classes: the joint rule, or one against the rest.
    average : bool, int or "voted", default=False
        Whether `coef_` is the mean of the weights after each row, mistakes or not [3]_; a number is
        the first row that counts. "voted" lets every weight vector vote for its class, with the
        number of rows that it survived: no linear model, so `decision_function` returns votes and
        prediction costs about as much as a pass over the rows that were mistaken, of which the
        model keeps a copy. `coef_` and `intercept_` are then the last of the vectors. It needs
        penalty=None.
    n_jobs : int or None, default=None
        Threads over the classes of "ovr"; -1 is all cores.
    random_state : int, Generator, RandomState, SeedSequence or None, default=0
        Seed of the orders and splits.
    early_stopping : bool, default=False
        Whether to hold out `validation_fraction` of the rows, stratified by class, and to end
        training by their score.
    validation_fraction : float, default=0.1
        Share of the rows held out, in (0, 1).
    n_iter_no_change : int, default=5
        Epochs without improvement before training ends.
    class_weight : dict, "balanced" or None, default=None
        Weights by label, multiplied into the sample weights.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the previous one.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights; one row for two classes.
    intercept_ : ndarray of shape (1,) or (n_classes,), dtype float64
        Intercepts.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_iter_ : int
        Epochs run.
    t_ : float
        1 + the number of rows visited.
    trace_ : list of dict
        Per epoch: loss, objective, seconds, and the validation score if there is one.
    n_features_in_ : int
        Columns seen by `fit`.
    feature_names_in_ : ndarray of str
        Their names, where X was a data frame.

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
        "fit_intercept": Boolean(),
        "max_iter": Integer(1),
        "tol": Either(Real(0), OneOf(None)),
        "shuffle": Either(Boolean(), OneOf("replacement")),
        "verbose": Either(Integer(0), Boolean()),
        "eta0": Real(0, closed="neither"),
        "margin": Real(0),
        "multi_class": OneOf(*MULTI_CLASS),
        "average": Either(Boolean(), Integer(1), OneOf("voted")),
        "n_jobs": Either(Integer(), OneOf(None)),
        "random_state": RandomState(),
        "early_stopping": Boolean(),
        "validation_fraction": Real(0, 1, closed="neither"),
        "n_iter_no_change": Integer(1),
        "class_weight": ClassWeight(),
        "warm_start": Boolean(),
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
