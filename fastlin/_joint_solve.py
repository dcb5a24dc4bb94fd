"""Which solver takes a problem of several outputs; the counterpart of `_solve`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ._blocks import row_squares
from ._far_columns import near_zero
from ._joint_problem import JointFit, JointProblem
from ._solve import PEER_SOLVERS, SOLVERS, Solver, chosen, is_little

__all__ = ["JOINT_SOLVERS", "solve"]

_SMOOTH = frozenset({"log_loss", "sparsemax"})
# Bytes of the dual variables, one per row and class, up to which there are any
_MOST_DUAL_BYTES = 1 << 28
# Epochs after which dual coordinate ascent leaves a smooth loss to Newton's method
_FAR = 200
_FEW_COLUMNS = 1000
# Newton steps that sparsemax takes at most where classes overlap
_FEW_STEPS = 12
# and with an L1 penalty
_SOME_STEPS = 50
# Of the iterations that are left ascent has this share, the more the dearer Newton's steps are.
_SHARE, _LARGER_SHARE = 0.8, 0.95
# The curvature of a row beside that of an L2 penalty, beyond which ascent takes hundreds of epochs
_WEAK = 300.0
# Bytes that descent by columns takes per row and class
_PER_RESPONSE = 80
_LAST_DIGITS = 1e-14
# Multiplications of a product with the Hessian below which a hundred cost next to nothing
_LITTLE_WORK = 1e5


JOINT_SOLVERS = {
    "dual_cd": Solver("._joint_dual", _SMOOTH | {"hinge"}, takes_l1=True, needs_l2=True),
    "primal_cd": Solver("._joint_primal", _SMOOTH, takes_l1=True, needs_l1=True),
    "newton": Solver("._joint_newton", _SMOOTH),
}
_SETS = Solver("._joint_sets", _SMOOTH, takes_l1=True, needs_l1=True)


def solve(problem: JointProblem, solver: str, tol: float, max_iter: int, seed: np.ndarray,
          start: JointFit | None = None) -> JointFit:
    """The optimum of a problem to a relative duality gap of `tol`, or what `max_iter` allows."""
    # an answer that is not finite is refused where it would be published
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        def near(problem: JointProblem, start: JointFit | None) -> JointFit:
            return _solved(problem, solver, tol, max_iter, seed, start)

        return near_zero(problem, start, near)


def _solved(problem: JointProblem, solver: str, tol: float, max_iter: int, seed: np.ndarray,
            start: JointFit | None) -> JointFit:
    """`solve`, whatever numbers come up on the way."""
    if solver in ("auto", *PEER_SOLVERS):
        return _automatic(problem, tol, max_iter, seed, start)
    run = chosen(solver, problem, {**SOLVERS, **JOINT_SOLVERS}).run
    if solver == "primal_cd":
        run = _by_columns(problem)
    return run(problem, tol, max_iter, seed, start)


def _automatic(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
               start: JointFit | None) -> JointFit:
    """The solver by the penalty and the shape of the data: ascent by rows for sparse rows with an
    L2 penalty; Newton's method where rows are dense or columns few, where there are so many rows
    and classes that dual variables would take much memory, and where ascent turns out slow."""
    if problem.l1 > 0:
        return _sparse(problem, tol, max_iter, seed, start)
    n, d, K = *problem.X.shape, problem.n_classes
    if problem.loss == "hinge":
        return JOINT_SOLVERS["dual_cd"].run(problem, tol, max_iter, seed, start)
    few = problem.X.layout == "dense" or d <= _FEW_COLUMNS
    large = n * K * problem.X.dtype.itemsize > _MOST_DUAL_BYTES
    if problem.loss == "sparsemax" and problem.l2 > 0 and few and not large:
        return _sparsemax(problem, tol, max_iter, seed, start)
    newton = partial(JOINT_SOLVERS["newton"].run, problem, seed=seed)
    if problem.l2 == 0 or few or large:
        # on so little data the last digits cost next to nothing, and make answers reproducible
        ask = min(tol, _LAST_DIGITS) if n * d * K <= _LITTLE_WORK else tol
        fit = newton(tol=ask, max_iter=max_iter, start=start)
        return replace(fit, converged=fit.converged or fit.certificate.relative_gap <= tol)
    begun = JOINT_SOLVERS["dual_cd"].run(problem, tol, min(_FAR, max_iter), seed, start)
    if begun.converged or max_iter <= _FAR:
        return begun
    rest = newton(tol=tol, max_iter=max_iter - _FAR, start=begun)
    return replace(rest, n_iter=begun.n_iter + rest.n_iter)


def _sparsemax(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
               start: JointFit | None) -> JointFit:
    """Sparsemax on few columns. Newton's method takes few steps where classes overlap, and a
    hundred, each worth hundreds of epochs, where they hardly do: there ascent is at home."""
    (n, d), K = problem.X.shape, problem.n_classes
    ascent, newton = JOINT_SOLVERS["dual_cd"].run, JOINT_SOLVERS["newton"].run
    before, share = 0, _LARGER_SHARE
    if is_little(n, d * K):
        share = _SHARE
        most = min(_FEW_STEPS, max_iter)
        fit = newton(problem, min(tol, _LAST_DIGITS), most, seed, start)
        before = fit.n_iter
        if fit.certificate.relative_gap <= tol or max_iter <= most:
            return replace(fit, converged=fit.certificate.relative_gap <= tol)
    # not from where Newton's method is: far from the optimum its dual side is worse than nothing
    fit = ascent(problem, tol, max(1, int(share * (max_iter - before))), seed, start)
    before += fit.n_iter
    if not fit.converged and before < max_iter:
        fit = newton(problem, tol, max_iter - before, seed, fit)
        before += fit.n_iter
    return replace(fit, n_iter=before)


def _sparse(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
            start: JointFit | None) -> JointFit:
    """Of those for an L1 penalty: for wide sparse rows ascent where the L2 penalty is not weak,
    else descent by columns; without the memory that both take, or else, Newton's method."""
    n, d, K = *problem.X.shape, problem.n_classes
    if problem.X.layout == "dense" or d <= _FEW_COLUMNS:
        return _sparse_on_few(problem, tol, max_iter, seed, start)
    before, room = 0, _MOST_DUAL_BYTES / (n * K)
    strong = row_squares(problem.X).mean() <= _WEAK * problem.total_weight * problem.l2
    if strong and problem.X.dtype.itemsize <= room:
        start = JOINT_SOLVERS["dual_cd"].run(problem, tol, min(_FAR, max_iter), seed, start)
        before = start.n_iter
        if start.converged or max_iter <= _FAR:
            return start
    fit = _by_columns(problem)(problem, tol, max_iter - before, seed, start)
    return replace(fit, n_iter=before + fit.n_iter)


def _sparse_on_few(problem: JointProblem, tol: float, max_iter: int, seed: np.ndarray,
                   start: JointFit | None) -> JointFit:
    """Newton's method; and for sparsemax, whose curvature comes and goes with the classes of a row,
    an interior point method, first where its steps cost next to nothing."""
    from ._joint_sparse_interior import is_for
    from ._joint_sparse_interior import solve as inside

    newton, before = JOINT_SOLVERS["newton"].run, 0
    if not is_for(problem):
        return newton(problem, tol, max_iter, seed, start)
    if not is_little(problem.X.shape[0], problem.X.shape[1] * problem.n_classes):
        start = newton(problem, tol, min(_SOME_STEPS, max_iter), seed, start)
        before = start.n_iter
        if start.converged or before >= max_iter:
            return start
    fit = inside(problem, tol, max_iter - before)
    before += fit.n_iter
    if not fit.converged and before < max_iter:
        rest = newton(problem, tol, max_iter - before, seed, fit)
        before += rest.n_iter
        fit = min(fit, rest, key=lambda it: it.certificate.relative_gap)
    return replace(fit, n_iter=before)


def _by_columns(problem: JointProblem) -> Callable[..., JointFit]:
    """Descent by columns, or where its memory would be too much, Newton's method on sets of
    columns."""
    large = len(problem.target) * problem.n_classes * _PER_RESPONSE > _MOST_DUAL_BYTES
    return (_SETS if large else JOINT_SOLVERS["primal_cd"]).run
