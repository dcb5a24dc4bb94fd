"""`LinearSVC` and `LinearSVR`: support vector machines without kernels, to their optimum."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._docs import attributes, parameters
from ._exact import ExactClassifierMixin, ExactEstimator, ExactRegressorMixin
from ._exceptions import warn
from ._linear import LinearClassifierMixin, LinearRegressorMixin
from ._params import Boolean, Either, OneOf, Real
from ._problem import Fit
from ._reductions import CODES, JOINT
from ._scaling import from_C

__all__ = ["LinearSVC", "LinearSVR"]

_C = """C : float, default=1.0
        Inverse strength of the penalty, > 0."""

_COMMON = """tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0."""

_ACCEPTED = """dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake: it names a way to the same optimum."""

_SCALING = """intercept_scaling : float, default=%s
        Accepted for scikit-learn's sake; other values than 1 warn that b is free here."""

_LAST = f"""verbose : int, default=0
        Above 0 a line about each optimum goes to standard error.
    {parameters("random_state", random_state=0)}
    max_iter : int, default=1000
        Largest number of passes over the rows and, where these are slow, steps of Newton's method.
    {parameters("warm_start")}"""

_OBJECTIVE = """What is minimised, over ``C * sum(s)``: the mean loss plus the penalty."""
_GAP = """Distance to the optimum, at most: as a share of `objective_`."""

_REFERENCES = """References
    ----------
    .. [1] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan, "A dual coordinate
       descent method for large-scale linear SVM", ICML 2008.
    .. [2] S. Shalev-Shwartz, T. Zhang, "Stochastic dual coordinate ascent methods for regularized
       loss minimization", JMLR 14, 2013."""


class _SupportVectorMixin:
    """What both have in common; it comes before the mixins of their kinds."""

    intercept_scaling: float

    _constraints: ClassVar = {
        "C": Real(0, closed="right"),
        "dual": Either(Boolean(), OneOf("auto")),
        "intercept_scaling": Real(0, closed="right"),
    }

    def _check_together(self) -> None:
        if self.intercept_scaling != 1:
            warn(
                "UserWarning",
                f"intercept_scaling={float(self.intercept_scaling):g} has no effect: the "
                "intercept is never penalised here.",
            )

    def _penalty(self, total_weight: float, l1_ratio: float = 0.0) -> dict[str, float]:
        """l1 and l2, one of which is above 0: the losses without curvature need it."""
        terms = from_C(float(self.C), total_weight, l1_ratio)
        if not any(terms.values()):
            raise ValueError(
                f"C must be a number whose product with the sum of the weights, {total_weight:g}, "
                f"does not overflow, got {self.C:g}; lower it."
            )
        return terms


class LinearSVC(
    _SupportVectorMixin, ExactClassifierMixin, LinearClassifierMixin, ExactEstimator
):
    __doc__ = f"""Linear support vector classifier to its optimum, with a certificate.

    For two classes, y = +-1, it minimises over w and b ::

        1/2 |w|_2^2 + C sum_i s_i max(0, 1 - y_i (w.x_i + b))^k

    with k = 1 for the loss "hinge" and 2 for "squared_hinge", until a duality gap proves that no
    other model is better by more than `tol`; ``|w|_1`` takes the place of ``1/2 |w|_2^2`` for the
    penalty "l1". b is never penalised. With more classes there are several such problems, or, for
    ``multi_class="crammer_singer"``, all are one [3]_, with z_i = W x_i + b ::

        1/2 |W|_2^2 + C sum_i s_i max(0, 1 + max_{{k != y}} z_ik - z_iy)

    Parameters
    ----------
    penalty : {{"l2", "l1"}}, default="l2"
        "l1" gives sparse weights and needs the loss "squared_hinge".
    loss : {{"squared_hinge", "hinge"}}, default="squared_hinge"
        "hinge" is the standard support vector machine.
    {_ACCEPTED}
    {_COMMON}
    {_C}
    multi_class : {{"ovr", "ovo", "ecoc", "crammer_singer", "joint"}} or OutputCode, default="ovr"
        More than two classes: "ovr" sets each against the rest, "ovo" each against each other,
        "ecoc" is an error-correcting code (see `OutputCode`); "crammer_singer" and "joint" are one
        problem, for which `penalty` and `loss` are not looked at: they are "l2" and "hinge".
    {parameters("fit_intercept")}
    {_SCALING % "1"}
    {parameters("class_weight")}
    {_LAST}
    {parameters("n_jobs")}

    Attributes
    ----------
    {attributes("n_iter_", "t_", "trace_")}
    n_iter_ : int
        Passes over the rows; the largest number, where there is a problem for each class.
    objective_ : ndarray of shape (1,) or (n_outputs,)
        {_OBJECTIVE}
    duality_gap_ : ndarray of shape (1,) or (n_outputs,)
        {_GAP}

    {_REFERENCES}
    .. [3] K. Crammer, Y. Singer, "On the algorithmic implementation of multiclass kernel-based
       vector machines", JMLR 2, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LinearSVC
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = LinearSVC(loss="hinge", C=10.0, tol=1e-6).fit(X, [0, 0, 0, 1])
    >>> (model.coef_.round(2) + 0.0).tolist(), model.intercept_.round(2).tolist()
    ([[2.0, 2.0]], [-3.0])
    >>> bool(model.duality_gap_[0] <= 1e-6)
    True
    """

    _constraints: ClassVar = {
        "penalty": OneOf("l2", "l1"),
        "loss": OneOf("squared_hinge", "hinge"),
        "multi_class": Either(OneOf("crammer_singer", "joint"), CODES),
    }

    def __init__(self, penalty="l2", loss="squared_hinge", *, dual="auto", tol=1e-4, C=1.0,
                 multi_class="ovr", fit_intercept=True, intercept_scaling=1, class_weight=None,
                 verbose=0, random_state=0, max_iter=1000, warm_start=False, n_jobs=None):
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _has_joint_loss(self) -> bool:
        """Whether `multi_class` stands for penalty and loss too."""
        return isinstance(self.multi_class, str) and self.multi_class in JOINT

    def _counted(self, n_iter: np.ndarray) -> int:
        return int(n_iter.max())

    def _check_together(self) -> None:
        super()._check_together()
        if not self._has_joint_loss() and self.penalty == "l1" and self.loss == "hinge":
            raise ValueError(
                "penalty 'l1' needs loss 'squared_hinge', got 'hinge': use that loss or penalty "
                "'l2'."
            )

    def _terms(self, total_weight: float) -> dict[str, Any]:
        joint = self._has_joint_loss()
        ratio = 1.0 if self.penalty == "l1" and not joint else 0.0
        return {
            "loss": "hinge" if joint else self.loss, "loss_parameter": 1.0,
            **self._penalty(total_weight, ratio),
        }


class LinearSVR(_SupportVectorMixin, ExactRegressorMixin, LinearRegressorMixin, ExactEstimator):
    __doc__ = f"""Linear support vector regression to its optimum, with a certificate.

    It minimises over w and b ::

        1/2 |w|_2^2 + C sum_i s_i max(0, |y_i - w.x_i - b| - epsilon)^k

    with k = 1 for the loss "epsilon_insensitive" and 2 for "squared_epsilon_insensitive", until a
    duality gap proves that no other model is better by more than `tol`. b is never penalised.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors up to this size cost nothing, >= 0. The right one depends on the scale of y.
    {_COMMON}
    {_C}
    loss : {{"epsilon_insensitive", "squared_epsilon_insensitive"}}, default="epsilon_insensitive"
        "epsilon_insensitive" is the standard support vector regression.
    {parameters("fit_intercept")}
    {_SCALING % "1.0"}
    {_ACCEPTED}
    {_LAST}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights, of the dtype of the rows.
    intercept_ : ndarray of shape (1,), dtype float64
        The intercept.
    n_iter_ : int
        Passes over the rows.
    objective_ : float
        {_OBJECTIVE}
    duality_gap_ : float
        {_GAP}
    {attributes("coef_", "intercept_", "classes_", "n_iter_", "t_", "trace_")}

    {_REFERENCES}

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LinearSVR
    >>> X = np.arange(6.0)[:, None]
    >>> model = LinearSVR(C=100.0).fit(X, 3 * X[:, 0] + 1)
    >>> model.predict(np.array([[10.0]])).round(2)
    array([31.])
    """

    _constraints: ClassVar = {
        "epsilon": Real(0),
        "loss": OneOf("epsilon_insensitive", "squared_epsilon_insensitive"),
    }

    def __init__(self, *, epsilon=0.0, tol=1e-4, C=1.0, loss="epsilon_insensitive",
                 fit_intercept=True, intercept_scaling=1.0, dual="auto", verbose=0,
                 random_state=0, max_iter=1000, warm_start=False):
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _terms(self, total_weight: float) -> dict[str, Any]:
        return {
            "loss": self.loss, "loss_parameter": float(self.epsilon),
            **self._penalty(total_weight),
        }

    def _publish(self, fits: list[Fit], dtype: np.dtype, places: list[int],
                 n_outputs: int) -> None:
        super()._publish(fits, dtype, places, n_outputs)
        self.intercept_ = np.array([self.intercept_])
