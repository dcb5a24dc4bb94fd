"""Methods of `fastlin.optim.minimize`: each goes from a point to better ones and reports them.

Gradient descent is here; conjugate gradients (Polak-Ribiere+) and L-BFGS are scipy's, on our
gradients; Newton's method and the steps on single rows are those of the estimators.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np

from ._epochs import SHORTER_STEPS, row_order
from ._joint_newton import Descent as JointDescent
from ._joint_problem import JointFit, JointProblem
from ._learner import make_learner
from ._memory import check_room
from ._newton import Descent
from ._online import relative_weight
from ._optim_objective import JointObjective, Objective
from ._parallel import Cancelled, is_cancelled
from ._params import Boolean, Constraint, Either, Integer, OneOf, Real
from ._problem import Certificate, Fit
from ._sgd import make_rule

__all__ = ["METHODS", "Ended", "Method", "Search", "Stopped"]

_NOTHING = Certificate(np.inf, np.inf, np.inf)
# A fall of the objective below this share is a rounding
_ROUNDING = 1e-15
# Steps of gradient descent: how a step grows after a success and shrinks after a failure
_GROWTH, _SHRINKAGE, _MOST_TRIALS = 2.0, 0.5, 60


class Ended(Exception):
    """Raised where a search ends; carries why."""

    def __init__(self, message: str, converged: bool = False):
        super().__init__(message)
        self.message, self.converged = message, converged


class Stopped(Exception):
    """Carries a StopIteration of the caller's."""

    def __init__(self, error: StopIteration):
        super().__init__()
        self.error = error


@dataclass
class Search:
    """A search under way: the objective, the points reached, what they have cost."""

    objective: Objective
    tol: float
    max_iter: int
    callback: Callable[[dict[str, Any]], Any] | None = None
    passes: float = 0.0
    trace: list[tuple[float, float, float]] = field(default_factory=list)
    best: tuple[np.ndarray, float, np.ndarray] | None = None
    began: float = field(default_factory=time.perf_counter)
    _last: tuple[np.ndarray, float, np.ndarray] | None = None

    def evaluate(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """(objective, gradient), at the cost of a pass over the rows unless asked twice."""
        if self._last is None or not np.array_equal(self._last[0], theta):
            self.passes += 1
            self._last = (theta.copy(), *self.objective(theta))
        return self._last[1:]

    def arrive(self, theta: np.ndarray, value: float, gradient: np.ndarray) -> None:
        """Report the point that an iteration ends at."""
        stopped = time.perf_counter()
        seconds = stopped - self.began
        self.trace.append((float(value), self.passes, seconds))
        self.best = theta.copy(), float(value), gradient
        n_iter = len(self.trace) - 1
        if self.callback is not None:
            try:
                self.callback({"iteration": n_iter, "objective": float(value),
                               "passes": self.passes, "seconds": seconds})
            except StopIteration as error:
                # scipy would take it for an end of its own
                raise Stopped(error) from None
        if is_cancelled():
            raise Cancelled
        if not np.isfinite(value):
            if n_iter == 0:
                raise ValueError(
                    "The objective overflows at the start: pass coef_init nearer to 0, or scale "
                    "the columns of X."
                )
            _raise_overflow()
        if np.abs(gradient).max(initial=0.0) <= self.tol:
            raise Ended("the gradient is within tol", converged=True)
        if n_iter >= self.max_iter:
            raise Ended(f"stopped after max_iter={self.max_iter} iterations")
        self.began += time.perf_counter() - stopped

    def look(self, theta: np.ndarray) -> None:
        """Report a point whose objective is not known yet; to find out is no part of the search's
        cost."""
        last = self._last
        if last is None or not np.array_equal(last[0], theta):
            stopped = time.perf_counter()
            last = (theta, *self.objective(theta))
            self.began += time.perf_counter() - stopped
        self.arrive(*last)


def _raise_overflow() -> None:
    """Say that a search has left the numbers."""
    raise ValueError(
        "Floating-point overflow: the steps are too long for these data. " + SHORTER_STEPS
    )


def gradient_descent(search: Search, theta: np.ndarray) -> None:
    """Steps against the gradient, of a length t that is found by trial: half of the fall that the
    slope promises is asked for, which every t <= 1/L gives where L bounds the curvature (Armijo
    1966, "Minimization of functions having Lipschitz continuous first partial derivatives")."""
    value, gradient = search.evaluate(theta)
    search.arrive(theta, value, gradient)
    t = 1.0 / max(float(np.linalg.norm(gradient)), 1e-300)
    while True:
        square, growth = float(gradient @ gradient), _GROWTH
        for _ in range(_MOST_TRIALS):
            new = theta - t * gradient
            there, slopes = search.evaluate(new)
            # where differences of the objective are roundings, its slope tells the near side of
            # the minimum from the far one
            near = there <= value and float(slopes @ gradient) >= 0
            if there <= value - 0.5 * t * square or near:
                break
            t, growth = t * _SHRINKAGE, 1.0
        else:
            raise Ended("no step lowers the objective: its differences are roundings")
        theta, value, gradient = new, there, slopes
        search.arrive(theta, value, gradient)
        t *= growth


def by_scipy(search: Search, theta: np.ndarray, *, name: str, **options: Any) -> None:
    """L-BFGS (Liu & Nocedal 1989, by the code of Byrd, Lu, Nocedal & Zhu 1995) or conjugate
    gradients (Polak & Ribiere 1969, with the restarts of Gilbert & Nocedal 1992)."""
    from scipy import optimize

    search.began = time.perf_counter()  # the import has no part in it
    search.arrive(theta, *search.evaluate(theta))
    # what ends the search is decided where it arrives
    given = {"gtol": 0.0, "maxiter": 2**31 - 2, **options}
    if name == "L-BFGS-B":
        given |= {"ftol": 0.0, "maxfun": 2**31 - 2}
    found = optimize.minimize(
        search.evaluate, theta, jac=True, method=name, callback=search.look, options=given,
    )
    raise Ended(f"no step lowers the objective: {found.message}")


def newton(search: Search, theta: np.ndarray) -> None:
    """Newton's method with preconditioned conjugate gradients: `_newton`, `_joint_newton`."""
    coef, intercept = search.objective.split(theta)
    if isinstance(search.objective, JointObjective):
        _joint_newton(search, coef, intercept)
    problem, stalls = search.objective.problem, 0
    descent = Descent(problem, _ROUNDING, Fit(coef, intercept, 0, _NOTHING, False))
    while stalls < 2:
        descent.look()
        search.passes += 1
        gradient = descent.gradient + descent.centre * descent.slope_b
        search.arrive(
            search.objective.joined(descent.w, descent.b), descent.objective,
            search.objective.joined(gradient, descent.slope_b),
        )
        search.passes += descent.precondition is None
        products, moved = descent.step(search.max_iter * sum(problem.X.shape))
        search.passes += products
        stalls = 0 if moved else stalls + 1
    raise Ended("no step lowers the objective: its differences are roundings")


@dataclass(frozen=True)
class _Counted(JointProblem):
    """A problem that tells a search of its passes over the rows."""

    search: Search | None = None

    def blocks(self):
        """Numbers of the rows, in pieces."""
        self.search.passes += 1
        return super().blocks()


def _joint_newton(search: Search, coef: np.ndarray, intercept: np.ndarray) -> None:
    """The same for K outputs."""
    given, stalls = search.objective.problem, 0
    problem = _Counted(**{part.name: getattr(given, part.name) for part in fields(given)},
                       search=search)
    start = JointFit(coef, intercept, 0, _NOTHING, False)
    descent = JointDescent(problem, _ROUNDING, start if coef.any() or intercept.any() else None)
    while stalls < 2:
        point = descent.point
        search.arrive(
            search.objective.joined(problem.unpacked(point.W), point.b), point.objective,
            search.objective.joined(problem.unpacked(point.gradient), point.slope),
        )
        stalls = 0 if descent.step() else stalls + 1
    raise Ended("no step lowers the objective: its differences are roundings")


def steps_on_rows(search: Search, theta: np.ndarray, *, optimizer: str, seed: np.ndarray,
                  learning_rate: str, eta0: float, power_t: float, batch_size: int,
                  shuffle: bool | str, average: bool | int) -> None:
    """Epochs of one step per row or batch, as those of `SGDClassifier` and `SGDRegressor`."""
    problem, joint = search.objective.problem, isinstance(search.objective, JointObjective)
    X, alpha = problem.X, problem.l1 + problem.l2
    rule = make_rule(
        problem.loss, loss_parameter=None if joint else problem.loss_parameter,
        penalty="elasticnet" if alpha else None, alpha=alpha,
        l1_ratio=problem.l1 / alpha if alpha else 0.0, learning_rate=learning_rate, eta0=eta0,
        power_t=power_t, fit_intercept=problem.fit_intercept, average=average,
        batch_size=batch_size, optimizer=optimizer,
    )
    n_outputs = problem.n_classes if joint else 1
    check_room(X.shape[1], n_outputs, X.dtype.itemsize, rule)
    learner = make_learner(X.shape[1], X.dtype, rule, n_outputs)
    coef, intercept = search.objective.split(theta)
    learner.start_from(np.atleast_2d(coef), np.atleast_1d(intercept))
    y = problem.target.classes.astype(np.float64) if joint else problem.y
    weight, _ = relative_weight(problem.weight if len(problem.weight) else None, len(y))
    order = row_order(X, y, np.arange(len(y)), shuffle, seed)
    search.look(theta)
    while True:
        learner.visit(X, y, weight, order.next(), order.fetch)
        search.passes += 1
        if not learner.is_finite():
            _raise_overflow()
        W, b = learner.weights()
        W = W.astype(np.float64)
        search.look(search.objective.joined(W if joint else W[0], b))


@dataclass(frozen=True)
class Method:
    """How a method goes, what it needs, and its options with their defaults."""

    run: Callable[..., None]
    options: dict[str, Any] = field(default_factory=dict)
    needs_smooth: bool = True
    max_iter: int = 1000
    takes_steps: bool = False


# Options of all methods: what may be given for them
OPTIONS: dict[str, Constraint] = {
    "memory": Integer(1),
    "learning_rate": OneOf("constant", "optimal", "invscaling"),
    "eta0": Real(0, closed="neither"),
    "power_t": Real(),
    "batch_size": Integer(1),
    "shuffle": Either(Boolean(), OneOf("replacement")),
    "average": Either(Boolean(), Integer(1)),
}


def _lbfgs(search: Search, theta: np.ndarray, *, memory: int) -> None:
    """L-BFGS with so many pairs."""
    by_scipy(search, theta, name="L-BFGS-B", maxcor=memory)


def _steps(optimizer: str, learning_rate: str, eta0: float) -> Method:
    """A method of steps on rows."""
    options = {"learning_rate": learning_rate, "eta0": eta0, "power_t": 0.5, "batch_size": 1,
               "shuffle": True, "average": False}
    return Method(partial(steps_on_rows, optimizer=optimizer), options, needs_smooth=False,
                  max_iter=100, takes_steps=True)


METHODS = {
    "gd": Method(gradient_descent),
    "cg": Method(partial(by_scipy, name="CG")),
    "lbfgs": Method(_lbfgs, {"memory": 10}),
    "newton": Method(newton),
    "sgd": _steps("sgd", "optimal", 0.1),
    "adagrad": _steps("adagrad", "constant", 0.1),
    "adadelta": _steps("adadelta", "constant", 1.0),
    "rmsprop": _steps("rmsprop", "invscaling", 0.1),
    "adam": _steps("adam", "invscaling", 0.1),
}
