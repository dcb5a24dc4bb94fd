"""`learning_curve` and `validation_curve`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _parallel
from ._clone import clone
from ._exceptions import warn
from ._folds import checked_data, is_classifier, splits_of, warn_of_absent_classes
from ._folds_run import run
from ._params import Boolean, Instance, shown
from ._plan import Plan, rows_of_params
from ._routed import routed
from ._scored import check_run_options, finish_failures, run_scored, scores_of
from ._scoring import Scorers
from ._splitters import _generator, n_rows, take

__all__ = ["learning_curve", "validation_curve"]


def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    param_name: str,
    param_range: Any,
    groups: Any = None,
    cv: Any = None,
    scoring: str | Callable | None = None,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    error_score: float | str = np.nan,
    params: dict[str, Any] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test scores over the values of one parameter.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, pre_dispatch, verbose, error_score, params
        As in `cross_validate`.
    param_name : str
        The parameter, ``step__parameter`` in a pipeline.
    param_range : array-like of shape (n_values,)
        Its values.
    scoring : str, callable or None, default=None
        One score, as in `cross_validate`.

    Returns
    -------
    train_scores, test_scores : ndarray of shape (n_values, n_splits), dtype float64

    Raises
    ------
    ValueError
        If an argument is not valid or every fit failed.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> from fastlin.model_selection import validation_curve
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> train, test = validation_curve(
    ...     SGDClassifier(random_state=0), X, X[:, 0] > 0, param_name="alpha",
    ...     param_range=[1e-4, 1e-2, 1.0], cv=4,
    ... )
    >>> test.shape
    (3, 4)
    """
    Instance(str).check("param_name", param_name)
    values = list(param_range) if hasattr(param_range, "__iter__") else []
    if not values or isinstance(param_range, str):
        raise ValueError(f"param_range must be a list of at least one value, got "
                         f"{shown(param_range)}.")
    scorers = Scorers(estimator, scoring, error_score)
    check_run_options(verbose, pre_dispatch, default="all")
    plan, outcomes = run_scored(
        "validation_curve", estimator, X, y, [{param_name: value} for value in values], groups,
        scorers, cv, n_jobs, verbose, params, "2*n_jobs", train_scores=True,
    )  # fmt: skip
    shape = len(values), len(plan.splits)
    train, test = scores_of(outcomes, train=True), scores_of(outcomes)
    return _one(train).reshape(shape), _one(test).reshape(shape)


def _one(scores: dict[str, np.ndarray]) -> np.ndarray:
    """Return the only score."""
    if set(scores) != {"score"}:
        raise ValueError(f"scoring must give one score for a curve, got {sorted(scores)}.")
    return scores["score"]


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: str | Callable | None = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: float | str = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
) -> tuple[np.ndarray, ...]:
    """Return training and test scores over the number of rows to train on.

    The training parts of a fold are nested: each holds the smaller ones. All of them, over all
    folds, train in common passes where the estimator allows it.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, pre_dispatch, verbose, error_score, params
        As in `cross_validate`.
    train_sizes : array-like of shape (n_sizes,), default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Shares in (0, 1] of the first fold's training part, or, if they are integers, numbers of
        rows. Equal sizes count once, with a warning.
    scoring : str, callable or None, default=None
        One score, as in `cross_validate`.
    exploit_incremental_learning : bool, default=False
        Whether each larger training part is reached from the smaller one by `partial_fit`.
    shuffle : bool, default=False
        Whether the rows of a training part are shuffled before its first ones are taken.
    random_state : int, RandomState, Generator, SeedSequence or None, default=None
        Seed of that shuffle.
    return_times : bool, default=False
        Whether to return times too.

    Returns
    -------
    train_sizes_abs : ndarray of int, shape (n_sizes,)
        Numbers of rows, increasing.
    train_scores, test_scores : ndarray of shape (n_sizes, n_splits), dtype float64
    fit_times, score_times : ndarray of shape (n_sizes, n_splits), dtype float64
        Seconds; only with `return_times`.

    Raises
    ------
    ValueError
        If an argument is not valid or every fit failed.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> from fastlin.model_selection import learning_curve
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> sizes, train, test = learning_curve(
    ...     SGDClassifier(random_state=0), X, X[:, 0] > 0, train_sizes=[20, 80]
    ... )
    >>> sizes.tolist(), test.shape
    ([20, 80], (2, 5))
    """
    for name, value in (
        ("exploit_incremental_learning", exploit_incremental_learning),
        ("shuffle", shuffle),
        ("return_times", return_times),
    ):
        Boolean().check(name, value)
    check_run_options(verbose, pre_dispatch, default="all")
    scorers = Scorers(estimator, scoring, error_score)
    X, y = checked_data(X, y)
    arguments = routed("learning_curve", estimator, cv, scorers, params, groups)
    folds = splits_of(cv, estimator, X, y, arguments.split)
    sizes = _absolute_sizes(train_sizes, len(folds[0][0]))
    if shuffle:
        rng = _generator(random_state)
        folds = [(rng.permutation(train), test) for train, test in folds]
    parts = [(train[:size], test) for train, test in folds for size in sizes]
    if y is not None and is_classifier(estimator):
        names = [f"{fold} ({size} rows)" for fold in range(len(folds)) for size in sizes]
        warn_of_absent_classes(y, parts, names)
    plan = Plan(
        estimator, [{}], parts, X, y, scorers, arguments.fit, arguments.score, train_scores=True,
        n_jobs=n_jobs, verbose=verbose,
    )  # fmt: skip
    if exploit_incremental_learning:
        columns = _by_partial_fit(plan, folds, sizes)
    else:
        outcomes = run(plan)
        finish_failures(outcomes, scorers)
        times = [[o.fit_time for o in outcomes], [o.score_time for o in outcomes]]
        scores = [_one(scores_of(outcomes, train=True)), _one(scores_of(outcomes))]
        columns = [np.reshape(c, (len(folds), len(sizes))).T for c in (*scores, *times)]
    return (sizes, *columns[: 4 if return_times else 2])


def _absolute_sizes(train_sizes: Any, most: int) -> np.ndarray:
    """Return the numbers of rows that `train_sizes` means, increasing."""
    given = np.asarray(train_sizes)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iuf":
        raise ValueError(f"train_sizes must be a list of numbers, got {shown(train_sizes)}.")
    if given.dtype.kind == "f":
        if not ((given > 0) & (given <= 1)).all():
            raise ValueError(f"train_sizes must be shares in (0, 1], got {shown(train_sizes)}; "
                             "numbers of rows have to be integers.")
        sizes = np.clip((given * most).astype(np.int64), 1, most)
    else:
        sizes = given.astype(np.int64)
        if not ((sizes > 0) & (sizes <= most)).all():
            raise ValueError(f"train_sizes must be numbers of rows in [1, {most}], the training "
                             f"part of the first fold, got {shown(train_sizes)}.")
    unique = np.unique(sizes)
    if len(unique) < len(sizes):
        warn("UserWarning", f"train_sizes has {len(sizes)} entries, but only {len(unique)} are "
                            "different numbers of rows; each counts once.")
    return unique


def _by_partial_fit(plan: Plan, folds: list, sizes: np.ndarray) -> list[np.ndarray]:
    """Return train scores, test scores, fit times, score times, of shape (n_sizes, n_splits)."""
    if not hasattr(plan.estimator, "partial_fit"):
        raise ValueError(
            f"exploit_incremental_learning needs partial_fit, which {shown(plan.estimator)} lacks."
        )
    classes = np.unique(plan.y) if is_classifier(plan.estimator) else None
    tasks = [lambda fold=fold: _grown(plan, *fold, sizes, classes) for fold in folds]
    return list(np.array(_parallel.run(tasks, plan.n_jobs)).transpose(2, 1, 0))


def _grown(
    plan: Plan, train: np.ndarray, test: np.ndarray, sizes: np.ndarray, classes: Any
) -> list[tuple[float, ...]]:
    """Train on more and more rows of one fold; a row of four numbers for each size."""
    estimator, n = clone(plan.estimator), n_rows(plan.X)
    extra = {} if classes is None else {"classes": classes}

    def score(rows: np.ndarray) -> float:
        """Score some rows."""
        params = rows_of_params(plan.score_params, rows, n)
        scores = plan.scorers(estimator, take(plan.X, rows), take(plan.y, rows), params)
        return float(_one({name: np.array(one) for name, one in scores.items()}))

    result, before = [], 0
    for size in sizes:
        start = time.perf_counter()
        rows = train[before:size]
        targets = () if plan.y is None else (take(plan.y, rows),)
        params = rows_of_params(plan.fit_params, rows, n)
        estimator.partial_fit(take(plan.X, rows), *targets, **params, **extra)
        fitted = time.perf_counter()
        test_score = score(test)
        scored = time.perf_counter()
        result.append((score(train[:size]), test_score, fitted - start, scored - fitted))
        before = size
    return result
