"""Solvers by name: what each needs, which one "auto" takes, and the refusal of the others."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._far_columns import all_near_zero
from ._prepare import only_occurring
from ._problem import Fit, Problem
from ._square_newton import Table

__all__ = [
    "FAR", "PEER_SOLVERS", "SOLVERS", "Solver", "chosen", "is_little", "solve",
    "solve_all",
]  # fmt: skip

# Names that scikit-learn's estimators take. All exact solvers end at the same certified optimum,
# so any of them means "auto" here.
PEER_SOLVERS = (
    "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "svd", "cholesky", "lsqr",
    "sparse_cg",
)  # fmt: skip
# Passes after which dual coordinate descent is too slow for a smooth loss
FAR = 60
_FEW_COLUMNS = 2000
# Multiplications of a Hessian below which a further Newton step costs next to nothing
_LITTLE_WORK = 5e7
_LAST_DIGITS = 1e-15
_SMOOTH = frozenset({
    "log_loss", "squared_hinge", "squared_error", "huber", "squared_epsilon_insensitive",
    "modified_huber",
})  # fmt: skip
_BY_ROWS = frozenset({
    "log_loss", "squared_hinge", "hinge", "squared_error", "epsilon_insensitive",
    "squared_epsilon_insensitive",
})  # fmt: skip


@dataclass(frozen=True)
class Solver:
    """What a solver can do; its module has `solve(problem, tol, max_iter, seed, start)`."""

    module: str
    losses: frozenset[str]
    takes_l1: bool = False
    needs_l1: bool = False
    needs_l2: bool = False
    takes_positive: bool = False

    def refusal(self, problem: Any) -> str:
        """Why the solver can't have this problem, or nothing."""
        if problem.loss not in self.losses:
            return f"is not for the loss {problem.loss!r}"
        if problem.l1 > 0 and not self.takes_l1:
            return "takes no L1 penalty"
        if problem.l1 == 0 and self.needs_l1:
            return "needs an L1 penalty"
        if problem.l2 == 0 and self.needs_l2:
            return "needs an L2 penalty"
        if problem.positive and not self.takes_positive:
            return "takes no positive=True"
        return ""

    @property
    def run(self) -> Callable[..., Any]:
        """Its function, loaded on first use."""
        return importlib.import_module(self.module, __package__).solve


SOLVERS = {
    "dual_cd": Solver("._dual_cd", _BY_ROWS, needs_l2=True),
    "primal_cd": Solver(
        "._primal_cd", _SMOOTH - {"huber", "modified_huber"}, takes_l1=True, takes_positive=True
    ),
    "newton": Solver("._newton", _SMOOTH),
    "direct": Solver("._direct", frozenset({"squared_error"})),
}


def solve(problem: Problem, solver: str, tol: float, max_iter: int, seed: np.ndarray,
          start: Fit | None = None) -> Fit:
    """The optimum of a problem to a relative duality gap of `tol`, or what `max_iter` allows."""
    return solve_all([problem], solver, tol, max_iter, [seed], [start])[0]


def solve_all(problems: list[Problem], solver: str, tol: float, max_iter: int,
              seeds: list[np.ndarray], starts: list[Fit | None],
              n_jobs: int | None = None) -> list[Fit]:
    """The same for problems that differ in their targets alone."""
    def near(problems: list[Problem], starts: list[Fit | None]) -> list[Fit]:
        automatic = solver == "auto" or solver in PEER_SOLVERS
        name = choose(problems[0]) if automatic else solver
        # what they share
        little = automatic and name == "newton" and is_little(*problems[0].X.shape)
        table = Table(problems[0]) if little and Table.suits(problems[0]) else None
        tasks = [
            partial(_solved, problem, name, automatic, table, tol, max_iter, seed, start)
            for problem, seed, start in zip(problems, seeds, starts, strict=True)
        ]
        return _parallel.run(tasks, n_jobs)

    # an answer that is not finite is refused where it would be published
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _on_occurring(
            problems, starts, lambda some, begin: all_near_zero(some, begin, near))


def _on_occurring(problems: list[Problem], starts: list[Fit | None],
                  solve: Callable[[list[Problem], list[Fit | None]], list[Fit]]) -> list[Fit]:
    """`solve` on the columns that occur, where most do not: any penalty makes the weights of the
    others 0, and neither the choice of a method nor a vector of weights need know of them."""
    X, first = problems[0].X, problems[0]
    if X.layout == "dense" or X.nnz >= X.shape[1] or not first.l1 + first.l2 > 0:
        return solve(problems, starts)
    kept, order = only_occurring(X)
    if order is None:
        return solve(problems, starts)
    width = kept.shape[1]
    begin = [start and replace(start, coef=order.brought(start.coef, width)) for start in starts]
    fits = solve([replace(problem, X=kept) for problem in problems], begin)
    return [replace(fit, coef=order.restored(fit.coef)) for fit in fits]


def _solved(problem: Problem, name: str, automatic: bool, table: Table | None, tol: float,
            max_iter: int, seed: np.ndarray, start: Fit | None) -> Fit:
    """The optimum of one of them."""
    run = chosen(name, problem, SOLVERS).run
    if automatic and name == "dual_cd" and problem.loss in _SMOOTH and max_iter > FAR:
        # where the penalty is too weak for it, another method goes on from there
        begun = run(problem, tol, FAR, seed, start, is_trial=True)
        if begun.converged:
            return begun
        rest = SOLVERS["newton"].run(problem, tol, max_iter - begun.n_iter, seed, begun)
        return replace(rest, n_iter=begun.n_iter + rest.n_iter)
    if automatic and name == "newton" and is_little(*problem.X.shape):
        before = 0
        if table is not None:
            start = table.solve(problem, tol, max_iter, start)
            before = start.n_iter
            if start.converged or before == max_iter:
                return start
        # on so little data the last digits cost next to nothing, and make answers reproducible
        fit = run(problem, min(tol, _LAST_DIGITS), max_iter - before, seed, start)
        return replace(fit, n_iter=before + fit.n_iter,
                       converged=fit.certificate.relative_gap <= tol)
    return run(problem, tol, max_iter, seed, start)


def chosen(name: str, problem: Any, solvers: dict[str, Solver]) -> Solver:
    """The solver of that name, if it can have this problem."""
    reason = solvers[name].refusal(problem)
    if reason:
        able = [other for other, needs in solvers.items() if not needs.refusal(problem)]
        raise ValueError(
            f"solver {name!r} {reason}: use solver 'auto'"
            + "".join(f" or {other!r}" for other in able) + "."
        )
    return solvers[name]


def choose(problem: Problem) -> str:
    """The solver that "auto" takes: the first that can, but Newton's method where rows are dense or
    columns few: there a weak penalty makes dual coordinate descent ten times slower, and a strong
    one hardly faster (measured)."""
    able = [name for name, needs in SOLVERS.items() if not needs.refusal(problem)]
    if "direct" in able:
        return "direct"
    few = problem.X.layout == "dense" or problem.X.shape[1] <= _FEW_COLUMNS
    return "newton" if "newton" in able and few else able[0]


def is_little(n: int, d: int) -> bool:
    """Whether a Hessian costs next to nothing."""
    return float(n) * d * d <= _LITTLE_WORK
