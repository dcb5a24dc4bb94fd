"""Which solver takes a problem of several outputs, and the refusal of the others."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from . import _joint_dual, _joint_newton, _joint_primal, _joint_sets
from ._blocks import row_squares
from ._joint_problem import JointFit, JointProblem
from ._solve import PEER_SOLVERS, is_little

__all__ = ["JOINT_SOLVERS", "solve"]

JOINT_SOLVERS = ("dual_cd", "newton", "primal_cd")
# Bytes of the dual variables, one per row and class, up to which there are any
_MOST_DUAL_BYTES = 1 << 28
# Epochs after which dual coordinate ascent leaves a smooth loss to Newton's method
_FAR = 200
_FEW_COLUMNS = 1000
# The curvature of a row beside that of an L2 penalty, beyond which ascent takes hundreds of epochs
_WEAK = 300.0
# Bytes that descent by columns takes per row and class
_PER_RESPONSE = 80
_LAST_DIGITS = 1e-14


def solve(problem: JointProblem, solver: str, tol: float, max_iter: int, seed: np.ndarray,
          start: JointFit | None = None) -> JointFit:
    """The optimum of a problem to a relative duality gap of `tol`, or what `max_iter` allows."""
    # an answer that is not finite is refused where it would be published
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if solver in ("auto", *PEER_SOLVERS):
            return _automatic(problem, tol, max_iter, seed, start)
        reason = _refusal(problem, solver)
        if reason:
            able = [name for name in JOINT_SOLVERS if not _refusal(problem, name)]
            raise ValueError(
                f"solver {solver!r} {reason}: use solver 'auto'"
                + "".join(f" or {name!r}" for name in able) + "."
            )
        run = {"dual_cd": _joint_dual.solve, "newton": _joint_newton.solve,
               "primal_cd": _joint_sets.solve}[solver]
        return run(problem, tol, max_iter, seed, start)


def _refusal(problem: JointProblem, solver: str) -> str:
    """Why a solver can't have this problem, or nothing."""
    if solver == "direct":
        return f"is not for the loss {problem.loss!r}"
    if solver == "dual_cd":
        return "" if problem.l2 > 0 else "needs an L2 penalty"
    if problem.loss == "hinge":
        return "needs a smooth loss, and 'hinge' is not"
    if solver == "newton":
        return "takes no L1 penalty" if problem.l1 > 0 else ""
    return "" if problem.l1 > 0 else "needs an L1 penalty"


def _automatic(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
               start: JointFit | None) -> JointFit:
    """The solver by the penalty and the shape of the data: ascent by rows for sparse rows with an
    L2 penalty; Newton's method where rows are dense or columns few, where there are so many rows
    and classes that dual variables would take much memory, and where ascent turns out slow."""
    if problem.l1 > 0:
        return _sparse(problem, tol, max_iter, seed, start)
    n, d, K = *problem.X.shape, problem.n_classes
    if problem.loss == "hinge":
        return _joint_dual.solve(problem, tol, max_iter, seed, start)
    few = problem.X.layout == "dense" or d <= _FEW_COLUMNS
    large = n * K * problem.X.dtype.itemsize > _MOST_DUAL_BYTES
    newton = partial(_joint_newton.solve, problem, seed=seed)
    if problem.l2 == 0 or few or large:
        # on so little data the last digits cost next to nothing, and make answers reproducible
        ask = min(tol, _LAST_DIGITS) if is_little(n, d * K) else tol
        fit = newton(tol=ask, max_iter=max_iter, start=start)
        return replace(fit, converged=fit.converged or fit.certificate.relative_gap <= tol)
    begun = _joint_dual.solve(problem, tol, min(_FAR, max_iter), seed, start)
    if begun.converged or max_iter <= _FAR:
        return begun
    rest = newton(tol=tol, max_iter=max_iter - _FAR, start=begun)
    return replace(rest, n_iter=begun.n_iter + rest.n_iter)


def _sparse(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
            start: JointFit | None) -> JointFit:
    """Of those for an L1 penalty: for wide sparse rows ascent where the L2 penalty is not weak,
    else descent by columns; without the memory that both take, or else, Newton's method."""
    n, d, K = *problem.X.shape, problem.n_classes
    if problem.X.layout == "dense" or d <= _FEW_COLUMNS:
        return _joint_newton.solve(problem, tol, max_iter, seed, start)
    before, room = 0, _MOST_DUAL_BYTES / (n * K)
    strong = row_squares(problem.X).mean() <= _WEAK * problem.total_weight * problem.l2
    if strong and problem.X.dtype.itemsize <= room:
        start = _joint_dual.solve(problem, tol, min(_FAR, max_iter), seed, start)
        before = start.n_iter
        if start.converged or max_iter <= _FAR:
            return start
    descent = _joint_primal if _PER_RESPONSE <= room else _joint_sets
    fit = descent.solve(problem, tol, max_iter - before, seed, start)
    return replace(fit, n_iter=before + fit.n_iter)
