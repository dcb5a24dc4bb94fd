"""`SparsemaxClassifier`: probabilities with exact zeros, to the optimum of their loss."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._core.rows import Rows
from ._docs import attributes, parameters
from ._exact import ExactClassifierMixin, ExactEstimator
from ._joint_fit import fit_joint
from ._joint_problem import Distributions
from ._joint_solve import JOINT_SOLVERS
from ._linear import LinearClassifierMixin
from ._multilabel import Labels, check_warm_start, constant_labels, has_labels, keep_labels
from ._params import OneOf, Real
from ._probability import sparsemax, sparsemax_threshold
from ._scaling import from_C
from ._soft_labels import SoftLabelsMixin
from ._solve import PEER_SOLVERS

__all__ = ["SparsemaxClassifier"]


class SparsemaxClassifier(
    SoftLabelsMixin, ExactClassifierMixin, LinearClassifierMixin, ExactEstimator
):
    __doc__ = f"""Linear classifier whose probabilities may be 0, to its optimum with a certificate.

    The probabilities p of a row are the Euclidean projection of its responses z = W x + b on the
    simplex: p_k = max(0, z_k - tau), where tau makes them sum to 1. It minimises over W and b ::

        C sum_i s_i loss(z_i, q_i) + l1_ratio |W|_1 + (1 - l1_ratio)/2 |W|_2^2
        loss(z, q) = -q.z + 1/2 sum_{{k in S}} (z_k^2 - tau^2) + 1/2 |q|^2

    until a duality gap proves that no other model is better by more than `tol`. S is the set of
    classes with p_k > 0; q has a 1 at the class of the row or, of several labels per row, the same
    share for each of them, and rows without labels don't count. The gradient of the loss in z is
    p - q. Two classes have one response, w.x + b, the difference of theirs, and the loss is a
    quarter of the modified Huber loss. b is never penalised; intercepts of several classes sum to
    0.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, > 0; infinity is no penalty.
    l1_ratio : float, default=0.0
        Share of L1 in the penalty, in [0, 1].
    tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0.
    {parameters("fit_intercept")}
    {parameters("class_weight")}
    {parameters("random_state", random_state=0)}
    solver : str, default="auto"
        "auto" chooses by the shape of the data and the penalty. "dual_cd" (L2, or both), "newton"
        (L2 or none) and "primal_cd" (L1, elastic net) force one. All lead to the same optimum.
    max_iter : int, default=1000
        Largest number of iterations: passes over the data for "dual_cd", Newton steps for the
        others. On few columns "auto" takes a few steps of Newton's method where they are cheap,
        then ascends by rows, and goes back to Newton's method where that is slow; with an L1
        penalty it takes steps of an interior point method, and Newton's where these are dear.
    verbose : int, default=0
        Above 0 a line about the optimum goes to standard error.
    {parameters("warm_start")}

    Attributes
    ----------
    {attributes("code_", "n_iter_", "t_", "trace_")}
    n_iter_ : ndarray of shape (1,), dtype int32
        Iterations that the solver took.
    objective_ : ndarray of shape (1,)
        The mean loss plus the penalty: what is minimised, over ``C * sum(s)``.
    duality_gap_ : ndarray of shape (1,)
        Distance to the optimum, at most: as a share of `objective_`. Without a penalty the distance
        to the best model whose weights are not much longer.

    References
    ----------
    .. [1] A. F. T. Martins, R. F. Astudillo, "From softmax to sparsemax: a sparse model of
       attention and multi-label classification", ICML 2016.
    .. [2] M. Blondel, A. F. T. Martins, V. Niculae, "Learning with Fenchel-Young losses", JMLR 21,
       2020.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SparsemaxClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 0.9], [0.9, 0.0]])
    >>> model = SparsemaxClassifier(C=10.0).fit(X, ["none", "up", "right", "up", "right"])
    >>> model.predict_proba([[0.0, 2.0]]).round(2).tolist()
    [[0.0, 0.0, 1.0]]

    Several labels per row; what is predicted are those with a probability above 0:

    >>> labels = [set(), {{"up"}}, {{"right"}}, {{"up"}}, {{"right"}}]
    >>> model.fit(X, labels).predict_labels([[0.0, 2.0], [2.0, 0.0]])
    [{{'up'}}, {{'right'}}]
    """

    _tags: ClassVar = {"zero_probabilities": True}
    _constraints: ClassVar = {
        "C": Real(0, closed="right", finite=False),
        "l1_ratio": Real(0, 1),
        "solver": OneOf("auto", *JOINT_SOLVERS, *PEER_SOLVERS),
    }

    def __init__(self, C=1.0, *, l1_ratio=0.0, tol=1e-4, fit_intercept=True, class_weight=None,
                 random_state=0, solver="auto", max_iter=1000, verbose=0, warm_start=False):
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start

    def _is_joint(self, n_classes: int) -> bool:
        return True

    def _terms(self, total_weight: float) -> dict[str, Any]:
        return {"loss": "sparsemax", **from_C(float(self.C), total_weight, float(self.l1_ratio))}

    def _probability_kind(self) -> str:
        return "sparsemax"

    def _fit_labels(self, rows: Rows, labels: Labels, weight: np.ndarray | None) -> None:
        """Fit to several labels per row: each row has the same share for each of its labels."""
        if self.class_weight is not None:
            raise ValueError(
                "class_weight must be None for several labels per row, which share one loss, got "
                f"{self.class_weight!r}; use sample_weight."
            )
        check_warm_start(self, labels)
        target = Distributions.of_labels(labels)
        some = np.diff(target.first) > 0
        if weight is not None or not some.all():
            weight = some.astype(np.float64) if weight is None else weight * some
        if (target.mass(np.empty(0) if weight is None else weight) > 0).sum() < 2:
            raise ValueError(
                "y must hold at least two labels in rows with a weight above 0: the probabilities "
                "of a row sum to 1."
            )
        fixed = constant_labels(self, labels, weight, share_rows=True)
        fit_joint(self, rows, target, weight, as_pair=False)
        keep_labels(self, labels, np.minimum(fixed, 0))

    def _decoded(self, z: np.ndarray) -> np.ndarray:
        """Of several labels per row the responses over the threshold of the simplex."""
        if not has_labels(self):
            return z
        return z - sparsemax_threshold(z)[:, None]

    def _probabilities(self, log: bool) -> Any:
        """The method behind `predict_proba` and `predict_log_proba`."""

        def predict_proba(X: Any) -> np.ndarray:
            """Return probabilities of shape (n_samples, n_classes); each row sums to 1."""
            return sparsemax(self.decision_function(X), log)

        return predict_proba
