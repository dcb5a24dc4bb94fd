"""`KernelPerceptron`, `KernelSVC`, `KernelLogisticRegression`: linear learners in the space of a
kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._exceptions import warn_convergence
from ._gram_rows import GramRows
from ._kernel_machine import DualMachine, KernelMachine
from ._kernel_perceptron import learn_by_mistakes
from ._params import Boolean, Either, Integer, OneOf, Real
from ._probability import PROBABILITIES
from ._random import spawn_seed

__all__ = ["KernelLogisticRegression", "KernelPerceptron", "KernelSVC"]

_KERNEL = """kernel : {"rbf", "linear", "poly", "precomputed", "string", "spectrum", "tree"} or \
callable, default="rbf"
        The kernel: of vectors ``exp(-gamma |x - z|^2)``, ``x.z`` or ``(gamma x.z + coef0)^degree``;
        "precomputed": X is the Gram matrix; of sequences and trees those of `fastlin.kernels`. A
        callable gets two lists (or arrays) of samples and returns their Gram matrix, which must be
        symmetric and positive semi-definite for what is said of the optimum to hold.
    degree : int, default=3
        Power of "poly", >= 0.
    gamma : {"scale", "auto"} or float, default="scale"
        Of "rbf" and "poly": "scale" is 1 / (n_features X.var()), "auto" is 1 / n_features. Sample
        weights count as repetitions in the variance, where scikit-learn does not look at them.
    coef0 : float, default=0.0
        Of "poly".
    kernel_params : dict, default=None
        Further arguments of "string" and "spectrum" (`length`, `decay`, `normalize`), "tree"
        (`decay`, `normalize`) or a callable."""
_LAST = """cache_size : float, default=200
        Memory for rows of the Gram matrix, in MB. What does not fit is computed again when needed;
        where samples are left out for a time, up to twice as much is held for a moment, and by the
        hinge with a C of 1e4 or more up to three times as much.
    class_weight : dict, "balanced" or None, default=None
        Weights by label, multiplied into the sample weights; "balanced" gives every class the same
        total: n / (n_classes n_k) to each of its n_k samples.
    random_state : int, Generator, RandomState, SeedSequence or None, default=0
        Seed of the order of the samples, where they are visited in random order.
    n_jobs : int or None, default=None
        Threads for Gram matrices, and over classes; -1 is all cores."""
_DUAL = """tol : float, default=1e-4
        Largest duality gap relative to the objective, > 0.
    max_iter : int, default=1000
        Largest number of passes, which are as many steps as there are samples."""
_FITTED = """support_ : ndarray of shape (n_support,), dtype int32
        Numbers of the samples whose coefficients are not 0.
    support_vectors_ : ndarray or CSR matrix of shape (n_support, n_features), or list
        These samples; of shape (0, 0) for "precomputed".
    n_support_ : ndarray of shape (n_classes,)
        How many of each class there are.
    dual_coef_ : ndarray of shape (n_outputs, n_support)
        Their coefficients; one row for two classes, else one for each class.
    coef_ : ndarray of shape (n_outputs, n_features)
        The weights, for the kernel "linear" only.
    intercept_ : ndarray of shape (n_outputs,)
        The intercepts.
    gamma_ : float
        What `gamma` stood for.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of columns of X, where it is a matrix.
    feature_names_in_ : ndarray of str, dtype object
        Their names, if X was a data frame whose column names are all strings."""
_CERTIFIED = """n_iter_ : ndarray of shape (n_outputs,), dtype int32
        Passes of each problem.
    objective_ : ndarray of shape (n_outputs,)
        What is minimised, over ``C * sum(s)``: the mean loss plus the penalty.
    duality_gap_ : ndarray of shape (n_outputs,)
        Distance to the optimum, at most: as a share of `objective_`."""


class KernelPerceptron(KernelMachine):
    __doc__ = f"""Perceptron in the space of a kernel.

    For each sample that is a mistake, y (f(x) + b) <= 0: its coefficient in
    ``f(x) = sum_i a_i K(x_i, x)`` grows by y, and so does b [1]_. With several classes the rule is
    joint, as in `Perceptron`: that of the class rises and that of the predicted one falls. With
    kernel "linear" it makes the steps of `Perceptron`.

    Parameters
    ----------
    {_KERNEL}
    average : bool, default=False
        Whether the model is the mean of those after each sample, mistake or not [2]_.
    fit_intercept : bool, default=True
        Whether to learn b.
    max_iter : int, default=1000
        Largest number of passes over the samples.
    tol : float or None, default=1e-3
        Training ends when a pass has no mistake, or when the mean loss has not fallen by more than
        `tol` for `n_iter_no_change` passes. None runs `max_iter` passes.
    n_iter_no_change : int, default=5
        Passes without improvement before training ends.
    shuffle : bool, default=True
        Whether each pass is in a new random order.
    {_LAST}

    Attributes
    ----------
    {_FITTED}
    n_iter_ : int
        Passes over the samples.
    n_mistakes_ : int
        Mistakes in all of them.

    References
    ----------
    .. [1] M. A. Aizerman, E. M. Braverman, L. I. Rozonoer, "Theoretical foundations of the
       potential function method in pattern recognition learning", Automation and Remote Control
       25, 1964.
    .. [2] Y. Freund, R. E. Schapire, "Large margin classification using the perceptron algorithm",
       Machine Learning 37, 1999.

    Examples
    --------
    >>> from fastlin import KernelPerceptron
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> KernelPerceptron(kernel="poly", degree=2, coef0=1).fit(X, [0, 1, 1, 0]).predict(X)
    array([0, 1, 1, 0])
    """

    _constraints: ClassVar = {
        "average": Boolean(),
        "fit_intercept": Boolean(),
        "tol": Either(Real(0), OneOf(None)),
        "n_iter_no_change": Integer(1),
        "shuffle": Boolean(),
    }

    def __init__(self, *, kernel="rbf", degree=3, gamma="scale", coef0=0.0, kernel_params=None,
                 average=False, fit_intercept=True, max_iter=1000, tol=1e-3, n_iter_no_change=5,
                 shuffle=True, cache_size=200, class_weight=None, random_state=0, n_jobs=None):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, gram: GramRows, codes: np.ndarray, weight: np.ndarray, n_outputs: int,
               places: list[int]) -> tuple[np.ndarray, np.ndarray]:
        (seed,) = spawn_seed(self.random_state, 1)
        # a class without rows is no rival
        number = np.arange(2)
        if n_outputs > 1:
            number = np.cumsum(np.isin(np.arange(n_outputs), places)) - 1
        learnt = learn_by_mistakes(
            gram, number[codes], weight / weight.mean(), len(places), self.fit_intercept,
            self.average, self.max_iter, self.tol, self.n_iter_no_change, self.shuffle, seed,
        )
        self.n_iter_, self.n_mistakes_ = learnt.n_iter, learnt.n_mistakes
        if not learnt.converged:
            warn_convergence(
                f"KernelPerceptron stopped after {learnt.n_iter} epochs, before its mean loss had "
                f"ceased to fall by tol={float(self.tol):g}; raise max_iter or tol."
            )
        coef, b = np.zeros((n_outputs, gram.n)), np.full(n_outputs, -np.inf)
        coef[places], b[places] = learnt.a, learnt.b
        return coef, b


class KernelSVC(DualMachine):
    __doc__ = f"""Support vector classifier with a kernel, to its optimum, with a certificate.

    For two classes, y = +-1, it minimises over w in the space of the kernel and b ::

        1/2 |w|^2 + C sum_i s_i max(0, 1 - y_i (w.phi(x_i) + b))^k

    with k = 1 for the loss "hinge" and 2 for "squared_hinge", until a duality gap proves that no
    other model is better by more than `tol`. b is never penalised. With more classes each is set
    against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, > 0.
    {_KERNEL}
    loss : {{"hinge", "squared_hinge"}}, default="hinge"
        "hinge" is the standard support vector machine.
    {_DUAL}
    {_LAST}

    Attributes
    ----------
    {_FITTED}
    {_CERTIFIED}

    See Also
    --------
    LinearSVC : Without kernels, for many samples.

    References
    ----------
    .. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin, "Working set selection using second order information
       for training support vector machines", JMLR 6, 2005.

    Examples
    --------
    >>> from fastlin import KernelSVC
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> model = KernelSVC(C=10.0).fit(X, [0, 1, 1, 0])
    >>> model.predict(X), bool(model.duality_gap_[0] <= 1e-4)
    (array([0, 1, 1, 0]), True)
    >>> words = ["banana", "bandana", "cabana", "kiwi", "kiwano", "wiki"]
    >>> strings = KernelSVC(kernel="string", kernel_params={{"length": 2}})
    >>> strings.fit(words, [1, 1, 1, 0, 0, 0]).predict(["anana", "kiki"])
    array([1, 0])
    """

    _constraints: ClassVar = {"loss": OneOf("hinge", "squared_hinge")}

    def __init__(self, *, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0,
                 kernel_params=None, loss="hinge", tol=1e-4, max_iter=1000, cache_size=200,
                 class_weight=None, random_state=0, n_jobs=None):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.loss = loss
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self) -> str:
        return self.loss


class KernelLogisticRegression(DualMachine):
    __doc__ = f"""Logistic regression with a kernel, to its optimum, with a certificate.

    For two classes, y = +-1, it minimises over w in the space of the kernel and b ::

        1/2 |w|^2 + C sum_i s_i log(1 + exp(-y_i (w.phi(x_i) + b)))

    until a duality gap proves that no other model is better by more than `tol`. b is never
    penalised. With more classes each is set against the rest. Unlike those of `KernelSVC`, no
    coefficient is 0: every sample is a support vector.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty, > 0.
    {_KERNEL}
    {_DUAL}
    {_LAST}

    Attributes
    ----------
    {_FITTED}
    {_CERTIFIED}

    References
    ----------
    .. [1] S. S. Keerthi, K. B. Duan, S. K. Shevade, A. N. Poo, "A fast dual algorithm for kernel
       logistic regression", Machine Learning 61, 2005.
    .. [2] H.-F. Yu, F.-L. Huang, C.-J. Lin, "Dual coordinate descent methods for logistic
       regression and maximum entropy models", Machine Learning 85, 2011.

    Examples
    --------
    >>> from fastlin import KernelLogisticRegression
    >>> X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    >>> model = KernelLogisticRegression(C=100.0).fit(X, [0, 1, 1, 0])
    >>> model.predict(X), model.predict_proba([[0.0, 1.0]]).round(1)
    (array([0, 1, 1, 0]), array([[0., 1.]]))
    """

    _needs_all = True

    def __init__(self, *, C=1.0, kernel="rbf", degree=3, gamma="scale", coef0=0.0,
                 kernel_params=None, tol=1e-4, max_iter=1000, cache_size=200, class_weight=None,
                 random_state=0, n_jobs=None):
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _loss(self) -> str:
        return "log_loss"

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of samples
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype float64
            Each row sums to 1; those of more than two classes are normalised.
        """
        return PROBABILITIES["sigmoid"](self.decision_function(X), False)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return logarithms of the class probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or list of samples
            As in `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), dtype float64
        """
        return PROBABILITIES["sigmoid"](self.decision_function(X), True)
