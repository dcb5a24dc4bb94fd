"""Exact estimators trained together on parts of the same rows: folds, grid points and classes.

The counterpart of `_onepass` for estimators that solve their problem. Folds of dense
rows take Newton steps together (`_shared_newton`); models whose solver is dual coordinate descent,
and those that the first leaves, go through the rows up to 24 at a time (`_dual_lanes`), grouped by
the strength of their penalty, since those with a weak one need more epochs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from . import _parallel
from ._blocks import matvec, rmatvec, row_squares
from ._core.rows import Rows
from ._data import as_rows
from ._dual_lanes import SPARE_LANES, DualPass
from ._dual_models import Centre, DualModel, DualStream, Rooms
from ._epochs import row_order
from ._exact import ExactClassifierMixin, check_size
from ._far_columns import Shift
from ._fold_targets import Job, Targets
from ._joint_pass import JointTask
from ._lanes import LANES
from ._patterns import parted, rows_to_visit
from ._prepare import prepared, with_columns_of
from ._problem import Problem
from ._random import spawn_seed
from ._reductions import is_reduced
from ._row_centre import fits_single
from ._row_slices import rows_taken
from ._shared_newton import shared_passes
from ._solve import PEER_SOLVERS, solve

__all__ = ["fit_classes", "fit_exact_together", "fits_exactly_together"]

# Rows whose mean is the centre
_SAMPLE = 4096
# The hinge loss, whose dual variables stand at corners, needs shrinking: `_dual_cd`, one by one.
_LOSSES = ("log_loss", "squared_hinge")
# Epochs that a preparation of the rows is reckoned for
_USUAL_EPOCHS = 8
# Models whose tolerance is tighter are solved alone, in double.
_TIGHTEST = 1e-8


def fits_exactly_together(estimator: Any) -> bool:
    """Whether this estimator's problems can be solved side by side with others.

    A value that is no valid parameter says False, so that `fit` reports it.
    """
    if not isinstance(estimator, ExactClassifierMixin) or is_reduced(estimator):
        return False
    try:
        estimator._check_params()
        terms = estimator._terms(1.0)
    except (TypeError, ValueError):
        return False
    by_rows = terms["loss"] in _LOSSES and terms["l1"] == 0 and terms["l2"] > 0
    free = getattr(estimator, "solver", "auto") in ("auto", *PEER_SOLVERS)
    return bool(by_rows and free and estimator.tol >= _TIGHTEST
                and not getattr(estimator, "warm_start", False))


class _ExactTargets(Targets):
    """Targets and weights of exact models: weights count as they are given."""

    def _factor(self, total: np.ndarray | None) -> float:
        return 1.0

    def _joint(self, job: Job, present: np.ndarray, table: np.ndarray) -> JointTask:
        return JointTask(self.stream, job, present, table)

    def _model(self, job: Job, table: np.ndarray, target: np.ndarray,
               width: int = 1) -> DualModel:
        estimator = job.estimator
        terms = estimator._terms(1.0)
        return DualModel(
            terms["loss"], 1.0 / terms["l2"], estimator.fit_intercept, job.fold, table, target,
            job.test, float(estimator.tol), estimator._max_iter(),
        )  # fmt: skip


def fit_exact_together(rows, members, jobs: list[Job], codes, y, labels, weight, n_jobs,
                       memory_limit: int | None, random_state: Any,
                       among: np.ndarray | None = None) -> list[Any]:
    """`_onepass.fit_together` for exact estimators, given what that has read."""
    check_size(rows)
    stream = _stream(rows, members, codes, y, labels, weight, jobs, random_state, among)
    targets = _ExactTargets(stream, rows, y, labels)
    for job in jobs:
        try:
            targets.lay_out(job)
        except (TypeError, ValueError) as error:
            job.error = error
    joint = [job.outputs[0] for job in jobs if _is_joint(job)]
    models = [
        job.outputs[k] for job in jobs
        if job.error is None and not _is_joint(job) for k in _places(job)
    ]
    _parallel.run(joint, n_jobs)
    tame = bool(models) and _is_tame(rows)
    shared = shared_passes(stream, models, n_jobs) if tame else []
    _parallel.run(shared, n_jobs, lambda: [task.cancel() for task in shared])
    beside = [model for model in models if model.fit is None]
    if beside and tame:
        _prepare(stream, n_jobs)
        for intercept in {model.fit_intercept for model in beside}:
            stream.centre(intercept)  # before there are threads
    if stream.work is not None:
        passes = _passes(stream, beside, n_jobs, memory_limit)
        _parallel.spread(passes, n_jobs, sum(task.widest for task in passes))
        # what follows goes by the rows themselves
        del passes
        stream.work = stream.exact = None
    slow = [
        partial(_go_on_alone, stream, model, seed)
        for model, seed in zip(models, spawn_seed(0, len(models)), strict=True)
        if model.fit is None or not model.fit.converged and model.n_iter < model.max_iter
    ]
    _parallel.run(slow, n_jobs)
    return [_finish(job, rows.dtype) for job in jobs]


def _is_joint(job: Job) -> bool:
    """Whether the classes of a job are one problem."""
    return len(job.outputs) == 1 and type(job.outputs[0]) is JointTask


def _places(job: Job) -> list[int]:
    """Which outputs of a job there is something to learn for: not those of absent classes."""
    n = len(job.outputs)
    return [k for k in range(n) if n == 1 or k not in job.absent]


def fit_classes(estimator: Any, rows: Rows, classes: np.ndarray, codes: np.ndarray,
                weight: np.ndarray | None) -> None:
    """Fit a classifier of several classes, each against the rest, on all rows."""
    job = Job(estimator, 0, None)
    members = [np.ones(len(rows), bool)]
    (answer,) = fit_exact_together(
        rows, members, [job], codes.astype(np.int32), codes.astype(np.float64), classes, weight,
        estimator.n_jobs, None, None,
    )  # fmt: skip
    if isinstance(answer, Exception):
        raise answer


def _go_on_alone(stream: DualStream, model: DualModel, seed: np.ndarray) -> None:
    """Finish a model that no pass has, in double: one whose penalty is too weak for dual coordinate
    descent, or whose tolerance is beyond float32 weights."""
    s = model.class_weight[stream.codes] * stream.memberships[model.fold]
    if len(stream.sample_weight):
        s = s * stream.sample_weight
    kept = np.flatnonzero(s)
    problem = Problem(
        X=rows_taken(stream.X, kept), y=model.class_target[stream.codes[kept]], loss=model.loss,
        l2=1.0 / (model.C * s.sum()), weight=s[kept], loss_parameter=1.0,
        fit_intercept=model.fit_intercept,
    )  # fmt: skip
    begun, done = model.fit, 0 if model.fit is None else model.n_iter
    if begun is not None:
        begun = replace(begun, coef=begun.coef.astype(np.float64, copy=False))
    fit = solve(problem, "newton", model.tol, model.max_iter - done, seed, begun)
    model.fit = replace(fit, n_iter=done + fit.n_iter)
    if model.test is not None:
        model.responses = matvec(stream.X, fit.coef, fit.intercept)[model.test]


def _is_tame(rows: Rows) -> bool:
    """Whether values are neither too large nor too far from 0 for sums of their squares."""
    return fits_single(rows) and Shift.of(rows) is None


def _prepare(stream: DualStream, n_jobs: int | None) -> None:
    """The rows that descent and certificates run on."""
    rows = stream.X
    stream.work, columns = prepared(
        as_rows(rows, np.float32), LANES[-1], _USUAL_EPOCHS, n_jobs=n_jobs
    )
    stream.exact = rows
    if columns is not None:
        stream.exact, stream.place = with_columns_of(stream.work, rows), columns.place


def _stream(rows, members, codes, y, labels, weight, jobs, random_state, among) -> DualStream:
    """What all models share."""
    state = jobs[0].estimator.random_state if random_state is None else random_state
    (seed,) = spawn_seed(state, 1)
    order = row_order(rows, y, rows_to_visit(members, among, weight), True, seed)
    made: dict[bool, Centre] = {}

    def centre(fit_intercept: bool) -> Centre:
        if fit_intercept not in made:
            made[fit_intercept] = _centre(rows, fit_intercept)
        return made[fit_intercept]

    empty = np.empty(0)
    return DualStream(
        rows, None, None, members, codes, len(labels), empty if weight is None else weight, order,
        centre,
    )  # fmt: skip


def _centre(rows: Any, fit_intercept: bool) -> Centre:
    """The mean row, and how the rows lie about it."""
    n, q = len(rows), row_squares(rows)
    if not fit_intercept:
        return Centre(q, np.zeros(n), 0.0)
    # any vector is exact; that of a sample is about as near
    sample = np.arange(0, n, max(1, n // _SAMPLE))
    part = rows_taken(rows, sample)
    c = rmatvec(part, np.full(len(part), 1.0 / len(part)))
    k, square = matvec(rows, c), float(c @ c)
    return Centre(np.maximum(q + square - 2 * k, 0.0), k, square)


def _passes(stream: DualStream, models: list[DualModel], n_jobs: int | None,
            limit: int | None) -> list[DualPass]:
    """The passes of all models, those of like strength of penalty together."""
    d = stream.X.shape[1]
    ordered = sorted(models, key=lambda model: model.C)
    # weights in float32, and in double while the answers are certified
    parts = parted(ordered, list(LANES), d, lambda model: 12 * d, n_jobs, limit, SPARE_LANES)
    # those that take longest begin first
    rooms = Rooms()
    return [DualPass(stream, part, rooms) for part, _ in reversed(parts)]


def _finish(job: Job, dtype: np.dtype) -> Any:
    """Give an estimator its answers; returns its responses or its exception."""
    if job.error is not None:
        return job.error
    if _is_joint(job):
        task = job.outputs[0]
        if task.error is not None:
            return task.error
        job.estimator.classes_ = job.classes
        job.estimator._warn([task.fit])
        return task.responses
    estimator, n, places = job.estimator, len(job.outputs), _places(job)
    fits = [job.outputs[k].fit for k in places]
    estimator._publish(fits, dtype, places, n)
    estimator.classes_ = job.classes
    estimator._warn(fits)
    if job.test is None:
        return None
    responses = np.full((len(job.test), n), -np.inf)
    for k in places:
        responses[:, k] = job.outputs[k].responses
    return responses[:, 0] if n == 1 else responses
