"""Ways to a minimum side by side: gradient descent, conjugate gradients, L-BFGS, Newton's method,
stochastic gradients and adaptive steps, on one objective and the same kernels.

Estimators are for models; this is for looking at how methods get there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ._core.rows import Rows
from ._data import as_rows
from ._exact import check_size, check_squares
from ._joint_problem import Distributions, JointProblem
from ._online import shaped
from ._optim_methods import METHODS, OPTIONS, Ended, Method, Search, Stopped
from ._optim_objective import JointObjective, Objective, SingleObjective
from ._params import Boolean, Integer, OneOf, RandomState, Real, shown
from ._params import Callable as CallableValue
from ._problem import Problem
from ._random import spawn_seed
from ._row_slices import rows_taken
from ._sgd import LOSSES, is_smooth
from ._solve import SOLVERS
from ._validation import check_sample_weight, check_target, encode_labels, listed

__all__ = ["Minimum", "Trace", "minimize"]

_NO_WEIGHTS = np.empty(0)
# Joint losses whose value and gradient there are for K outputs
_JOINT = ("log_loss", "sparsemax", "hinge")
_CHECKS = {
    "loss": OneOf(*LOSSES), "method": OneOf(*METHODS), "alpha": Real(0), "l1_ratio": Real(0, 1),
    "fit_intercept": Boolean(), "tol": Real(0), "random_state": RandomState(),
}  # fmt: skip
# What the messages of the checks of y call the caller
_CALLER = type("minimize", (), {})()


class Trace(NamedTuple):
    """How a search went: entry 0 is the start, entry k the point after iteration k.

    Attributes
    ----------
    objective : ndarray of shape (n_iter + 1,)
        The objective there, in double; of an averaged model that of the averages.
    passes : ndarray of shape (n_iter + 1,)
        Passes over the rows until then, where one is the work of a gradient: an epoch of steps on
        rows, a product with the Hessian, or a trial of a line search is one too.
    seconds : ndarray of shape (n_iter + 1,)
        Seconds until then; what only serves this trace, and the callback, are left out.
    """

    objective: np.ndarray
    passes: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True)
class Minimum:
    """Where a search ended.

    Attributes
    ----------
    coef : ndarray of shape (n_features,) or (n_classes, n_features), dtype float64
        Weights.
    intercept : float or ndarray of shape (n_classes,)
        Intercept; those of several classes have mean 0.
    objective : float
        The objective there.
    gradient_norm : float
        Largest absolute entry of its gradient, that in the intercept included; with an L1 penalty
        or where the loss has a kink, of a subgradient.
    n_iter : int
        Iterations, or epochs of steps on rows.
    converged : bool
        Whether `gradient_norm` is at most `tol`.
    message : str
        Why the search ended.
    trace : Trace
        Objective against passes over the rows and seconds.
    classes : ndarray of shape (n_classes,) or None
        The labels in y, sorted; of two the second one is +1. None for losses of numbers.
    """

    coef: np.ndarray
    intercept: Any
    objective: float
    gradient_norm: float
    n_iter: int
    converged: bool
    message: str
    trace: Trace
    classes: np.ndarray | None = None


def minimize(loss: str, X: Any, y: Any, *, method: str = "lbfgs", alpha: float = 0.0001,
             l1_ratio: float = 0.0, fit_intercept: bool = True,
             loss_parameter: float | None = None, sample_weight: Any = None,
             coef_init: Any = None, intercept_init: Any = None, max_iter: int | None = None,
             tol: float = 1e-6, random_state: Any = None,
             callback: Callable[[dict[str, Any]], Any] | None = None,
             **options: Any) -> Minimum:
    """Minimise the objective of the linear learners by a method of your choice.

    With the weights s_i of the rows and their sum S the objective is ::

        1/S sum_i s_i loss(y_i, w.x_i + b) + alpha (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|_2^2)

    Parameters
    ----------
    loss : str
        A loss of `SGDClassifier` or `SGDRegressor`; the README has a table of formulas. Of more
        than two classes "log_loss" is a softmax, and there are "sparsemax" and "hinge" (Crammer
        and Singer's), the last for steps on rows only.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Labels for losses of a margin, numbers for losses of an error.
    method : str, default="lbfgs"
        For smooth losses without L1:

        - "gd": gradient descent, steps found by trial [1]_;
        - "cg": nonlinear conjugate gradients of Polak and Ribiere with restarts [2]_, a line search
          for Wolfe's conditions (scipy's);
        - "lbfgs": limited-memory BFGS [3]_ (scipy's);
        - "newton": truncated Newton steps, those of `LogisticRegression(solver="newton")`.

        For every loss, with L1 too, steps on single rows or batches: "sgd", "adagrad" [4]_,
        "adadelta" [5]_, "rmsprop", "adam" [6]_.
    alpha : float, default=0.0001
        Strength of the penalty, >= 0.
    l1_ratio : float, default=0.0
        Share of L1 in it, in [0, 1].
    fit_intercept : bool, default=True
        Whether to fit b, which is never penalised.
    loss_parameter : float, default=None
        The loss's own parameter: `epsilon` or `quantile`, as in `SGDRegressor`; by default its
        default there.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that count as repetitions; 0 removes a row.
    coef_init : array-like of the shape of `coef`, default=None
        Where to start; zeros by default. "newton" starts there if it is better than zeros.
    intercept_init : float or array-like of the shape of `intercept`, default=None
        The same for the intercept.
    max_iter : int, default=None
        Most iterations; by default 1000, and 100 epochs of steps on rows.
    tol : float, default=1e-6
        Largest absolute entry of the gradient at which to end, >= 0.
    random_state : int, Generator, RandomState, SeedSequence or None, default=None
        Seed of the order of rows.
    callback : callable, default=None
        Called at the start and after each iteration with a dict of "iteration", "objective",
        "passes" and "seconds"; what it raises ends the search.
    **options
        Of "lbfgs": `memory`, pairs kept (10). Of steps on rows: `learning_rate`, "constant",
        "optimal" or "invscaling" (for "sgd" "optimal", or "invscaling" where the loss is one of an
        error; "constant" for "adagrad" and "adadelta", else "invscaling"); `eta0`, the first step
        (0.1; "adadelta" 1); `power_t` (0.5), of "invscaling" only; `batch_size` (1); `shuffle`
        (True); `average` (False). They mean what they do in `SGDClassifier`.

    Returns
    -------
    Minimum
        Weights, objective, gradient, and the trace of the search.

    Raises
    ------
    ValueError
        If an argument is not valid, or a method can't have this loss or penalty.
    TypeError
        If an option is not one of the method.

    Notes
    -----
    "sigmoid_mse" is not convex: methods end where its gradient vanishes. "rmsprop", "adadelta" and
    "adam" need not reach an optimum even of a convex objective [7]_; "sgd" and "adagrad" do, with
    decreasing steps, as slowly as their noise asks for.

    References
    ----------
    .. [1] L. Armijo, "Minimization of functions having Lipschitz continuous first partial
       derivatives", Pacific Journal of Mathematics 16, 1966.
    .. [2] J. C. Gilbert, J. Nocedal, "Global convergence properties of conjugate gradient methods
       for optimization", SIAM Journal on Optimization 2, 1992.
    .. [3] D. C. Liu, J. Nocedal, "On the limited memory BFGS method for large scale optimization",
       Mathematical Programming 45, 1989.
    .. [4] J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", JMLR 12, 2011.
    .. [5] M. D. Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.
    .. [6] D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.
    .. [7] S. J. Reddi, S. Kale, S. Kumar, "On the convergence of Adam and beyond", ICLR 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin.optim import minimize
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 7.0])
    >>> found = minimize("squared_error", X, y, alpha=0.0)
    >>> found.coef.round(3), round(found.intercept, 3), found.converged
    (array([2.]), 1.0, True)
    >>> print(f"{found.trace.objective[0]:.1f} {abs(found.trace.objective[-1]):.1f}")
    10.5 0.0
    """
    given = {"loss": loss, "method": method, "alpha": alpha, "l1_ratio": l1_ratio,
             "fit_intercept": fit_intercept, "tol": tol, "random_state": random_state}
    for name, value in given.items():
        _CHECKS[name].check(name, value)
    if max_iter is not None:
        Integer(1).check("max_iter", max_iter)
    if callback is not None:
        CallableValue().check("callback", callback)
    way = METHODS[method]
    settings = _settings(method, way, loss, options)
    rows = as_rows(X)
    check_size(rows)
    target, classes, weight, rows = _target(loss, rows, y, sample_weight)
    common = {"X": rows, "loss": loss, "weight": weight, "fit_intercept": bool(fit_intercept),
              "l1": float(alpha * l1_ratio), "l2": float(alpha * (1 - l1_ratio))}
    parameter = _parameter(loss, loss_parameter)
    objective: Objective
    if isinstance(target, Distributions):
        objective = JointObjective(JointProblem(target=target, **common))
    else:
        objective = SingleObjective(Problem(y=target, loss_parameter=parameter, **common))
    _refuse(method, way, objective)
    if way.takes_steps:
        settings["seed"] = spawn_seed(random_state, 1)[0]
    start = _start(objective, coef_init, intercept_init)
    search = Search(objective, float(tol), int(max_iter or way.max_iter), callback)
    return _run(search, way, start, settings, classes)


def _run(search: Search, way: Method, start: np.ndarray, settings: dict[str, Any],
         classes: np.ndarray | None) -> Minimum:
    """Search, and say what was found."""
    # trials of a line search may overflow; where a search arrives is checked
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        try:
            way.run(search, start, **settings)
        except Ended as ended:
            message, converged = ended.message, ended.converged
        except Stopped as stopped:
            raise stopped.error from None
    theta, value, gradient = search.best
    coef, intercept = search.objective.split(theta)
    joint = isinstance(search.objective, JointObjective)
    return Minimum(
        coef=coef.copy(), intercept=intercept - intercept.mean() if joint else intercept,
        objective=value, gradient_norm=float(np.abs(gradient).max(initial=0.0)),
        n_iter=len(search.trace) - 1, converged=converged, message=message,
        trace=Trace(*np.array(search.trace).T.copy()), classes=classes,
    )  # fmt: skip


def _settings(method: str, way: Method, loss: str,
              options: dict[str, Any]) -> dict[str, Any]:
    """The options of a method: those given, checked, else its defaults."""
    for name, value in options.items():
        if name not in way.options:
            known = f"only {listed(list(way.options))}" if way.options else "no options"
            raise TypeError(f"method {method!r} takes {known}, got {name}={shown(value)}.")
        OPTIONS[name].check(name, value)
    settings = {**way.options, **options}
    if method == "sgd" and "learning_rate" not in options and not LOSSES[loss].is_margin:
        settings["learning_rate"] = "invscaling"
    rate = settings.get("learning_rate")
    if rate == "optimal" and method != "sgd":
        raise ValueError(
            f"learning_rate 'optimal' is that of method 'sgd'; set it to 'constant' or "
            f"'invscaling' for {method!r}."
        )
    idle = {"optimal": ("eta0", "power_t"), "constant": ("power_t",)}.get(rate, ())
    for name in idle:
        if name in options:
            raise ValueError(
                f"{name} has no part in learning_rate {rate!r}; set learning_rate='invscaling', "
                f"or leave {name} out."
            )
    return settings


def _parameter(loss: str, given: float | None) -> float:
    """The loss's own parameter."""
    row = LOSSES[loss]
    if given is None:
        return float(row.default)
    if not row.parameter:
        raise ValueError(
            f"loss_parameter must be None for loss {loss!r}, which has none, got {shown(given)}."
        )
    rule = Real(0, 1, closed="neither") if row.parameter == "quantile" else Real(0)
    rule.check("loss_parameter", given)
    return float(given)


def _target(loss: str, rows: Rows, y: Any, sample_weight: Any) -> tuple:
    """(numbers, +-1 or distributions over classes, the classes, weights, rows that have any)"""
    numeric = not LOSSES[loss].is_margin
    target = check_target(y, _CALLER, numeric=numeric, n_samples=rows.shape[0])
    weight = check_sample_weight(sample_weight, rows.shape[0])
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        rows, weight, target = rows_taken(rows, kept), weight[kept], target[kept]
    weight = _NO_WEIGHTS if weight is None else weight
    if numeric:
        check_squares(target)
        return target, None, weight, rows
    classes, codes = encode_labels(target)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes in rows of a weight above 0, got "
            f"{listed(classes.tolist())}."
        )
    if len(classes) == 2:
        return np.where(codes == 1, 1.0, -1.0), classes, weight, rows
    if loss not in _JOINT:
        raise ValueError(
            f"loss {loss!r} is for two classes, and y holds {len(classes)}: use one of "
            f"{listed(list(_JOINT))}."
        )
    return Distributions.of_codes(codes, len(classes)), classes, weight, rows


def _refuse(method: str, way: Method, objective: Objective) -> None:
    """Say what a method can't do."""
    problem = objective.problem
    others = listed([name for name, other in METHODS.items() if not other.needs_smooth])
    joint = isinstance(objective, JointObjective)
    smooth = is_smooth(problem.loss)
    if way.needs_smooth and not smooth:
        raise ValueError(
            f"method {method!r} needs a smooth loss; {problem.loss!r} is not: use method {others}, "
            f"or loss {listed([name for name in LOSSES if is_smooth(name)])}."
        )
    if way.needs_smooth and problem.l1:
        raise ValueError(
            f"method {method!r} takes no L1 penalty: set l1_ratio=0, or use method {others}."
        )
    if method == "newton" and not joint and problem.loss not in SOLVERS["newton"].losses:
        raise ValueError(
            f"method 'newton' is not for the loss {problem.loss!r}: use method 'lbfgs', or loss "
            f"{listed(sorted(SOLVERS['newton'].losses))}."
        )


def _start(objective: Objective, coef_init: Any, intercept_init: Any) -> np.ndarray:
    """The vector to start from."""
    free = objective.problem.fit_intercept
    if intercept_init is not None and not free:
        raise ValueError("intercept_init must be None where fit_intercept is False.")
    return objective.joined(
        shaped("coef_init", coef_init, objective.shape),
        shaped("intercept_init", intercept_init, objective.shape[:-1]),
    )
