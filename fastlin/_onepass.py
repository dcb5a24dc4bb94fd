"""Many estimators trained together on parts of the same rows: folds, grid points and classes.

Training on large sparse data waits for indices and for the weights of their columns. These are the
same for every fold, grid point and class, so up to 16 models go over the rows together (`_lanes`);
what does not share a kind (loss, schedule, averaging, an L1 penalty) goes in passes of its own, and
the passes are the tasks of threads. The rows are converted once and never copied per fold or model.

One order of all rows per epoch serves all models, each of which sees the rows of its own training
set in it. So a model equals the one trained alone on these rows in this order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _parallel
from ._aligned import huge_empty
from ._core.rows import Rows
from ._data import rows_of
from ._epochs import RowOrder, row_order
from ._exact_pass import fit_exact_together, fits_exactly_together
from ._fold_targets import Alone, Job, Targets
from ._folds import row_numbers
from ._lanes import LANES, Model, Pass, Stream, lane_bytes, lane_counts
from ._online import OnlineEstimator
from ._params import shown
from ._patterns import parted, rows_to_visit
from ._prepare import prepared
from ._present import widen, widened_responses
from ._random import spawn_seed
from ._reductions import is_reduced
from ._validation import check_sample_weight, check_target, encode_labels

__all__ = ["fit_side_by_side", "fit_together", "fits_side_by_side", "fits_together"]

_NO_WEIGHTS = np.empty(0)
# An epoch of a full pass in epochs of one model, by which the gain of a preparation is reckoned
_EPOCH_COSTS = 3
# Classes, and steps of an epoch, from which on one pass beats a fit per class
_FEWEST_CLASSES, _FEWEST_STEPS = 4, 1 << 14
_MODULES = ("fastlin.sgd", "fastlin.perceptron")


def fits_together(estimator: Any) -> bool:
    """Whether this estimator can be trained in one pass with others.

    Exactly SGDClassifier, SGDRegressor and Perceptron, with plain steps on single rows: no
    mini-batches, adaptive or passive-aggressive steps, early stopping, warm start, votes, codes of
    classes or progress reports. A value that is no valid parameter says False, so that `fit`
    reports it.
    """
    if fits_exactly_together(estimator):
        return True
    kind = type(estimator)
    if not isinstance(estimator, OnlineEstimator) or kind.__module__ not in _MODULES:
        return False
    try:
        estimator._check_params()
        estimator._check_together()
        plain = _is_plain(estimator)
    except (TypeError, ValueError):
        return False
    return plain and not estimator.warm_start and not estimator.verbose


def _is_plain(estimator: Any) -> bool:
    """Whether there are lanes for models of an online estimator whose parameters are valid."""
    rule = estimator._rule()
    plain = rule["batch_size"] == 1 and not rule["step_rule"] and not rule["optimizer"]
    other = rule.get("voted") or getattr(estimator, "early_stopping", False)
    return bool(plain and not other and not is_reduced(estimator))


def fits_side_by_side(estimator: Any, n: int, n_classes: int) -> bool:
    """Whether `fit` trains a model per class in one pass, on n rows; the parameters are valid.
    Neither storage nor values decide, which must not change a model. Averages of one model cost one
    pass in all (`Learner.put_off`), which beats lanes that keep theirs at each step."""
    several = n_classes >= _FEWEST_CLASSES and n * n_classes >= _FEWEST_STEPS
    if not several or estimator._is_joint(n_classes) or not _is_plain(estimator):
        return False
    return not estimator._rule()["average_from"]


def fit_side_by_side(estimator: Any, rows: Rows, classes: np.ndarray, codes: np.ndarray,
                     weight: np.ndarray | None, start: list, callback: Any) -> None:
    """Fit a classifier for which `fits_side_by_side`: each class against the rest, all in one order
    of the rows. `start` has a (W, b) or None for each."""
    job = Job(estimator, 0, None)
    everyone = [np.ones(len(rows), bool)]
    y, from_zero = codes.astype(np.float64), all(first is None for first in start)
    stream = _stream(rows, everyone, codes.astype(np.int32), y, classes, weight, [job], None,
                     from_zero, n_jobs=estimator.n_jobs)
    targets = Targets(stream, rows, y, classes)
    targets.lay_out(job)
    for model, first in zip(job.outputs, start, strict=True):
        model.plan, model.start = estimator._plan(callback), first
    _give_places(job, rows)
    passes = _passes(stream, [job], targets, True, estimator.n_jobs, None)
    _parallel.run(passes, estimator.n_jobs, lambda: [task.cancel() for task in passes])
    error = _finish(job, True)
    if error is not None:
        raise error


def fit_together(
    estimators: list[Any],
    X: Any,
    y: Any,
    train: list[np.ndarray],
    test: list[np.ndarray | None] | None = None,
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
    random_state: Any = None,
    keep: bool = True,
    among: np.ndarray | None = None,
) -> list[Any]:
    """Fit each estimator in place on its own rows of X.

    Parameters
    ----------
    estimators : list of M estimators
        Each a different object for which `fits_together`.
    X, y, sample_weight
        As `fit` of the estimators takes them.
    train, test : lists of M arrays of row numbers
        Rows to fit on and rows to give responses for; test, or one of its entries, may be None.
    n_jobs : int, optional
        Threads, as in `_parallel.n_threads`. Results don't depend on it.
    memory_limit : int, optional
        Bytes for the weights under way, default a quarter of the machine's memory. More models than
        fit are trained in further passes. Results don't depend on it.
    random_state
        Of the order of rows; None takes that of the first estimator.
    keep : bool, default=True
        Whether the estimators get their weights. If only responses are wanted, models go with
        their pass: an estimator gets `classes_` and what is to be said of its training. Exact
        ones, for which weights are no copy, get theirs in any case.
    among : bool array, optional
        The rows whose order is drawn, of which each model sees its own; default those that any of
        these models trains on. Models that share it train alike in calls of their own.

    Returns
    -------
    list of M
        Responses for X[test[m]], float64 of shape (n_test,) or (n_test, n_classes); None where
        test[m] is None; or the exception that ended model m, whose estimator stays unfitted.

    Raises
    ------
    ValueError, TypeError
        If X, y or an argument is not valid: what concerns all models.
    """
    test = [None] * len(estimators) if test is None else test
    _check_lists(estimators, train, test)
    _parallel.n_threads(n_jobs)
    rows, y, codes, labels, weight = _read(estimators, X, y, sample_weight)
    members, jobs = _jobs(estimators, train, test, len(rows))
    if fits_exactly_together(estimators[0]):
        return fit_exact_together(rows, members, jobs, codes, y, labels, weight, n_jobs,
                                  memory_limit, random_state, among)
    stream = _stream(rows, members, codes, y, labels, weight, jobs, random_state, among=among,
                     n_jobs=n_jobs)
    targets = Targets(stream, rows, y, labels)
    for job in jobs:
        try:
            targets.lay_out(job)
            if keep:
                _give_places(job, rows)
        except (TypeError, ValueError) as error:
            job.error = error
    passes = _passes(stream, jobs, targets, keep, n_jobs, memory_limit)
    tasks = passes + [output for job in jobs for output in job.outputs if type(output) is Alone]
    _parallel.run(tasks, n_jobs, lambda: [task.cancel() for task in tasks])
    return [_finish(job, keep) for job in jobs]


def _check_lists(estimators: list, train: list, test: list) -> None:
    """Refuse lists that don't fit each other, and what can't be trained together."""
    if not len(estimators) == len(train) == len(test) or not len(estimators):
        raise ValueError(
            "estimators, train and test must be lists of the same length, at least 1, got "
            f"{len(estimators)}, {len(train)} and {len(test)}."
        )
    if len({id(estimator) for estimator in estimators}) < len(estimators):
        raise ValueError("estimators must be different objects; clone those that come twice.")
    kinds = set()
    for estimator in estimators:
        kinds.add(exact := fits_exactly_together(estimator))
        if not exact and not fits_together(estimator):
            raise ValueError(f"estimators must be such that fits_together, got {shown(estimator)}.")
    if len(kinds) > 1:
        raise ValueError("estimators must all be exact ones, or none of them.")
    if len({estimator._estimator_type for estimator in estimators}) > 1:
        raise ValueError("estimators must be all classifiers or all regressors.")


def _read(estimators: list, X: Any, y: Any, sample_weight: Any) -> tuple:
    """(rows, y or codes as numbers, codes or None, labels or None, weights), read once for all."""
    first = estimators[0]
    rows = rows_of(first, X, reset=True)
    for other in estimators[1:]:
        rows_of(other, rows, reset=True)
        if hasattr(first, "feature_names_in_"):
            other.feature_names_in_ = first.feature_names_in_.copy()
    regression = first._estimator_type == "regressor"
    y = check_target(y, first, numeric=regression, n_samples=len(rows))
    weight = check_sample_weight(sample_weight, len(rows))
    if regression:
        return rows, y, None, None, weight
    labels, codes = encode_labels(y)
    return rows, codes.astype(np.float64), codes.astype(np.int32), labels, weight


def _jobs(estimators: list, train: list, test: list, n: int) -> tuple[list, list[Job]]:
    """(membership of the rows per distinct training set, jobs)."""
    members: list[np.ndarray] = []
    known_train: dict[int, int] = {}
    known_test: dict[int, np.ndarray] = {}
    known_bytes: dict[bytes, int] = {}
    jobs = []
    for m, (estimator, own, held) in enumerate(zip(estimators, train, test, strict=True)):
        if id(own) not in known_train:
            rows = row_numbers("train", m, own, n)
            member = np.zeros(n, bool)
            member[rows] = True
            if np.count_nonzero(member) < len(rows):
                raise ValueError(f"train[{m}] must not name a row twice; use sample_weight.")
            bits = np.packbits(member).tobytes()
            if bits not in known_bytes:
                known_bytes[bits] = len(members)
                members.append(member)
            known_train[id(own)] = known_bytes[bits]
        if held is not None and id(held) not in known_test:
            known_test[id(held)] = row_numbers("test", m, held, n)
        jobs.append(
            Job(estimator, known_train[id(own)], None if held is None else known_test[id(held)])
        )
    return members, jobs


def _stream(rows, members, codes, y, labels, weight, jobs, random_state, from_zero=True,
            among=None, n_jobs=None) -> Stream:
    """What all models share."""
    estimators = [job.estimator for job in jobs]
    state = estimators[0].random_state if random_state is None else random_state
    (seed,) = spawn_seed(state, 1)
    visited = rows_to_visit(members, among, weight)
    # made once, since it looks at all of y; none of these is ever advanced
    made: dict[str, RowOrder] = {}
    for estimator in estimators:
        shuffle = estimator.shuffle
        if str(shuffle) not in made:
            made[str(shuffle)] = row_order(rows, y, visited, shuffle, seed)

    def order(shuffle: bool | str) -> RowOrder:
        return made[str(shuffle)].fork()

    epochs = _EPOCH_COSTS * max(estimator._plan(None).sure_epochs for estimator in estimators)
    renumbered, columns = prepared(rows, LANES[-1], epochs, from_zero, 1, n_jobs)
    stream = Stream(
        renumbered, members, codes, 1 if labels is None else len(labels),
        y if labels is None else _NO_WEIGHTS, _NO_WEIGHTS if weight is None else weight, order,
    )  # fmt: skip
    if columns is not None:
        stream.place = columns.place
    return stream


def _give_places(job: Job, rows: Rows) -> None:
    """Let the models of a job leave their weights where its estimator has them, unless these are
    averages, have an L1 penalty to pay up, or are to be changed."""
    plain = not job.absent and all(
        type(out) is Model and out.width == 1 and not out.rule["average_from"]
        and not out.rule["l1"] for out in job.outputs
    )  # fmt: skip
    if plain:
        job.coef = huge_empty((len(job.outputs), rows.shape[1]), rows.dtype)
        for out, weights in zip(job.outputs, job.coef, strict=True):
            out.weights = weights


def _passes(stream: Stream, jobs: list[Job], targets: Targets, keep: bool, n_jobs: int | None,
            limit: int | None) -> list[Pass]:
    """The passes that train all models which share one."""
    models = [
        output for job in jobs if job.error is None for output in job.outputs
        if isinstance(output, Model)
    ]  # fmt: skip
    X = stream.X
    parts = parted(
        models, lane_counts(X.dtype), X.shape[1], lambda model: lane_bytes(model, X), n_jobs, limit
    )
    return [Pass(stream, part, n_lanes, targets, keep) for part, n_lanes in parts]


def _finish(job: Job, keep: bool) -> Any:
    """Give an estimator what its outputs have learnt; returns its responses or its exception."""
    error = job.error or next((out.error for out in job.outputs if out.error is not None), None)
    if error is not None:
        return error
    estimator = job.estimator
    if job.classes is not None:
        estimator.classes_ = job.classes
    if keep:
        estimator._finish(job.outputs)
        if job.present is not None:
            widen(estimator, job.classes, job.present)
        found = None
        if job.coef is not None:
            found = job.coef, np.concatenate([out.learner.intercepts for out in job.outputs])
        estimator._set_weights(*(() if job.classes is None else (job.absent,)), found=found)
    else:
        estimator._report(job.outputs)
    if job.test is None:
        return None
    p = [out.responses for out in job.outputs]
    responses = p[0] if len(p) == 1 else np.stack(p, axis=1)
    if job.present is not None:
        return widened_responses(responses, len(job.classes), job.present)
    for k in job.absent:
        responses[:, k] = -np.inf
    return responses
