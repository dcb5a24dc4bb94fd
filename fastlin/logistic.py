"""`LogisticRegression`: the optimum of the penalised logistic loss, with its certificate."""

from __future__ import annotations

from typing import Any, ClassVar

from ._docs import attributes, parameters
from ._exact import ExactClassifierMixin, ExactEstimator
from ._exceptions import warn
from ._linear import LinearClassifierMixin
from ._multilabel import has_labels
from ._params import Boolean, Either, OneOf, Real
from ._reductions import CODES
from ._scaling import from_C
from ._soft_labels import SoftLabelsMixin
from ._solve import PEER_SOLVERS, SOLVERS

__all__ = ["LogisticRegression"]

_RATIOS = {"l2": 0.0, "l1": 1.0}


class LogisticRegression(
    SoftLabelsMixin, ExactClassifierMixin, LinearClassifierMixin, ExactEstimator
):
    __doc__ = f"""Logistic regression to its optimum, with a certificate.

    For two classes, y = +-1, it minimises over w and b ::

        C sum_i s_i log(1 + exp(-y_i (w.x_i + b))) + l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|_2^2

    until a duality gap proves that no other model is better by more than `tol`. b is never
    penalised. With K > 2 classes it minimises over W and b, for z_i = W x_i + b, the softmax form
    ::

        C sum_i s_i (log sum_k exp(z_ik) - z_iy) + l1_ratio |W|_1 + (1 - l1_ratio)/2 |W|_2^2

    and the intercepts, whose common part no response depends on, sum to 0.

    Parameters
    ----------
    penalty : {{"auto", "l2", "l1", "elasticnet"}} or None, default="auto"
        "auto" and "elasticnet" leave it to `l1_ratio`; "l2" and "l1" set that to 0 and 1, None is
        no penalty.
    C : float, default=1.0
        Inverse strength of the penalty, > 0; infinity is no penalty. The variance of a Gaussian
        prior of the weights, if ``l1_ratio=0``.
    l1_ratio : float, default=0.0
        Share of L1 in the penalty, in [0, 1].
    dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake: it names a way to the same optimum.
    tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0.
    {parameters("fit_intercept")}
    intercept_scaling : float, default=1
        Accepted for scikit-learn's sake; other values than 1 warn that b is free here.
    {parameters("class_weight")}
    {parameters("random_state", random_state=0)}
    solver : str, default="auto"
        "auto" chooses by the shape of the data and the penalty. "dual_cd" (L2; of a softmax with L1
        beside it too), "newton" (L2 or none) and "primal_cd" (L1, elastic net) force one. All lead
        to the same optimum, so scikit-learn's names "lbfgs", "liblinear", "newton-cg",
        "newton-cholesky", "sag" and "saga" mean "auto".
    max_iter : int, default=1000
        Largest number of iterations: passes over the data for "dual_cd", these and Newton steps
        for "primal_cd", Newton steps for "newton" and for "primal_cd" of a softmax.
    verbose : int, default=0
        Above 0 a line about each optimum goes to standard error.
    multi_class : {{"multinomial", "joint", "ovr", "ovo", "ecoc"}} or OutputCode, \
default="multinomial"
        More than two classes: "multinomial" and "joint" are one problem with a softmax; "ovr" sets
        each against the rest, which trains them side by side, "ovo" each against each other, and
        "ecoc" is an error-correcting code: see `OutputCode`.
    {parameters("warm_start")}
    {parameters("n_jobs")}

    Attributes
    ----------
    {attributes("n_iter_", "t_", "trace_")}
    n_iter_ : ndarray of shape (1,) or (n_outputs,), dtype int32
        Iterations that the solver took for each problem.
    objective_ : ndarray of shape (1,) or (n_outputs,)
        The mean loss plus the penalty: what is minimised, over ``C * sum(s)``.
    duality_gap_ : ndarray of shape (1,) or (n_outputs,)
        Distance to the optimum, at most: as a share of `objective_`. With several classes and no
        penalty the distance to the best model whose weights are not much longer.

    References
    ----------
    .. [1] H.-F. Yu, F.-L. Huang, C.-J. Lin, "Dual coordinate descent methods for logistic
       regression and maximum entropy models", Machine Learning 85, 2011.
    .. [2] C.-J. Lin, R. C. Weng, S. S. Keerthi, "Trust region Newton method for large-scale
       logistic regression", JMLR 9, 2008.
    .. [3] G.-X. Yuan, C.-H. Ho, C.-J. Lin, "An improved GLMNET for L1-regularized logistic
       regression", JMLR 13, 2012.

    Examples
    --------
    >>> from fastlin import LogisticRegression
    >>> from fastlin.datasets import load_mushrooms
    >>> from fastlin import OneHotEncoder
    >>> columns, poisonous = load_mushrooms(return_X_y=True)
    >>> X = OneHotEncoder(output="rows").fit_transform(columns)
    >>> model = LogisticRegression(C=1.0, tol=1e-6).fit(X, poisonous)
    >>> float(model.duality_gap_[0]) <= 1e-6
    True
    >>> round(model.score(X, poisonous), 3)
    1.0
    """

    _constraints: ClassVar = {
        "penalty": Either(OneOf("auto", "l2", "l1", "elasticnet"), OneOf(None)),
        "C": Real(0, closed="right", finite=False),
        "l1_ratio": Real(0, 1),
        "dual": Either(Boolean(), OneOf("auto")),
        "intercept_scaling": Real(0, closed="right"),
        "solver": OneOf("auto", *SOLVERS, *PEER_SOLVERS),
        "multi_class": Either(OneOf("multinomial", "joint"), CODES),
    }

    def __init__(self, penalty="auto", *, C=1.0, l1_ratio=0.0, dual="auto", tol=1e-4,
                 fit_intercept=True, intercept_scaling=1, class_weight=None, random_state=0,
                 solver="auto", max_iter=1000, verbose=0, multi_class="multinomial",
                 warm_start=False, n_jobs=None):
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.multi_class = multi_class
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _check_together(self) -> None:
        if self.intercept_scaling != 1:
            warn(
                "UserWarning",
                f"intercept_scaling={float(self.intercept_scaling):g} has no effect: the "
                "intercept is never penalised here.",
            )

    def _strength(self) -> tuple[float, float]:
        """l1_ratio and C, as `penalty` has them."""
        ratio = _RATIOS.get(self.penalty, self.l1_ratio)
        return float(ratio), float("inf") if self.penalty is None else float(self.C)

    def _terms(self, total_weight: float) -> dict[str, Any]:
        ratio, C = self._strength()
        return {"loss": "log_loss", **from_C(C, total_weight, ratio)}

    def _probability_kind(self) -> str:
        joint = self._is_joint(len(getattr(self, "classes_", ()))) and not has_labels(self)
        return "softmax" if joint else "sigmoid"
