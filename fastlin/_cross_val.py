"""`cross_validate`, `cross_val_score` and `cross_val_predict`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._folds import checked_data, has_classes, splits_of, warn_of_absent_classes
from ._folds import is_classifier as _is_classifier
from ._folds_run import run
from ._params import Boolean, OneOf
from ._plan import Outcome, Plan
from ._routed import routed
from ._scored import check_run_options, run_scored, scores_of
from ._scoring import Scorers
from ._splitters import n_rows
from ._targets import encode_labels, listed

__all__ = ["cross_val_predict", "cross_val_score", "cross_validate", "held_out"]

_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: float | str = np.nan,
) -> dict[str, Any]:
    """Fit on each training part and score on the rest, with times, by one or several scores.

    Models that can be trained together are, in one pass over the data for all folds.

    Parameters
    ----------
    estimator : estimator
        Of fastlin or any other with scikit-learn's interface; it is cloned and stays as it is. In
        a pipeline, steps that learn nothing run once on all rows.
    X : array, sparse matrix, Rows, frame or list of n_samples
        The data.
    y : array-like of shape (n_samples,), default=None
        The target.
    groups : array-like of shape (n_samples,), default=None
        Passed to the splitter.
    scoring : str, callable, list, tuple, dict or None, default=None
        None uses the estimator's `score`: accuracy or R^2. A callable takes (estimator, X, y) and
        returns a number, or a dict of numbers. A list of names or a dict from name to scorer asks
        for several. Known by name are "accuracy", "balanced_accuracy", "f1", "f1_macro",
        "precision", "recall", "roc_auc", "neg_log_loss", "r2", "neg_mean_squared_error",
        "neg_root_mean_squared_error" and "neg_mean_absolute_error", and those of scikit-learn once
        ``sklearn.metrics`` is imported.
    cv : int, splitter, iterable or None, default=None
        Number of folds (None is 5), stratified for classifiers and never shuffled; an object with
        `split`, such as those of scikit-learn; or pairs of rows, as numbers or masks.
    n_jobs : int or None, default=None
        Threads over the folds; -1 is all cores. The scores do not depend on it.
    verbose : int, default=0
        2 and more print a line for each fit.
    params : dict, default=None
        Arguments of `fit`; those with one value for each row are split like y. As in
        scikit-learn no scorer gets them: with `sample_weight` models are trained with weights and
        scored without, unlike those of searches. Under scikit-learn's metadata routing its router
        decides.
    pre_dispatch : int, str or None, default="2*n_jobs"
        For code written for scikit-learn: threads share the data, so there is nothing to hold
        back. Another value than the default warns.
    return_train_score : bool, default=False
        Whether to score the training parts too.
    return_estimator : bool, default=False
        Whether to return the fitted estimators.
    return_indices : bool, default=False
        Whether to return the rows of each split.
    error_score : float or "raise", default=nan
        The score of a fold whose fit or score failed, with a warning; "raise" raises the error.

    Returns
    -------
    dict
        ``test_score``, or ``test_<name>`` of several scores, ``fit_time`` and ``score_time``
        (seconds; models trained together share their time evenly), arrays of shape (n_splits,);
        on request ``train_score`` or ``train_<name>``, ``estimator`` (a list) and ``indices``
        (a dict of tuples, ``train`` and ``test``).

    Raises
    ------
    ValueError
        If an argument is not valid or every fit failed.

    Warns
    -----
    UserWarning
        If the training part of a fold lacks a class; the message lists the folds. Such rows count
        as errors, since a class that was not seen is never predicted.
    FitFailedWarning
        If some fits failed.

    Notes
    -----
    Models trained together visit the rows in one order, drawn from the `random_state` of the
    estimator; `GridSearchCV` says what follows.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> from fastlin.model_selection import cross_validate
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> scores = cross_validate(
    ...     SGDClassifier(random_state=0), X, X[:, 0] > 0, scoring=["accuracy", "roc_auc"]
    ... )
    >>> sorted(scores)
    ['fit_time', 'score_time', 'test_accuracy', 'test_roc_auc']
    """
    for name, value in (
        ("return_train_score", return_train_score),
        ("return_estimator", return_estimator),
        ("return_indices", return_indices),
    ):
        Boolean().check(name, value)
    scorers = Scorers(estimator, scoring, error_score)
    plan, outcomes = run_scored(
        "cross_validate", estimator, X, y, [{}], groups, scorers, cv, n_jobs, verbose, params,
        pre_dispatch, train_scores=return_train_score, keep=return_estimator,
    )  # fmt: skip
    result: dict[str, Any] = {
        "fit_time": np.array([outcome.fit_time for outcome in outcomes]),
        "score_time": np.array([outcome.score_time for outcome in outcomes]),
    }
    if return_estimator:
        result["estimator"] = [outcome.estimator for outcome in outcomes]
    if return_indices:
        train, test = zip(*plan.splits, strict=True)
        result["indices"] = {"train": train, "test": test}
    for name, values in scores_of(outcomes).items():
        result[f"test_{name}"] = values
        if return_train_score:
            result[f"train_{name}"] = scores_of(outcomes, train=True)[name]
    return result


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: str | Callable | None = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: float | str = np.nan,
) -> np.ndarray:
    """Fit on each training part and score on the rest.

    Parameters
    ----------
    estimator, X, y, groups, cv, n_jobs, verbose, params, pre_dispatch, error_score
        As in `cross_validate`.
    scoring : str, callable or None, default=None
        One score, as in `cross_validate`.

    Returns
    -------
    ndarray of shape (n_splits,), dtype float64

    Raises
    ------
    ValueError
        If an argument is not valid or every fit failed.

    Warns
    -----
    UserWarning
        If the training part of a fold lacks a class; the message lists the folds. Such rows count
        as errors, since a class that was not seen is never predicted.
    FitFailedWarning
        If some fits failed.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> from fastlin.model_selection import cross_val_score
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> y = X[:, 0] > 0
    >>> bool(cross_val_score(SGDClassifier(random_state=0), X, y).mean() > 0.9)
    True
    """
    scorers = Scorers(estimator, scoring, error_score)
    _, outcomes = run_scored(
        "cross_val_score", estimator, X, y, [{}], groups, scorers, cv, n_jobs, verbose, params,
        pre_dispatch,
    )  # fmt: skip
    scores = scores_of(outcomes)
    if set(scores) != {"score"}:
        raise ValueError(
            f"scoring must give one score in cross_val_score, got {listed(sorted(scores))}; use "
            "cross_validate."
        )
    return scores["score"]


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
) -> Any:
    """Predict each row by a model that was trained without it.

    Parameters
    ----------
    estimator, X, y, groups, n_jobs, verbose, params, pre_dispatch
        As in `cross_validate`.
    cv : int, splitter, iterable or None, default=None
        As in `cross_validate`; each row must be in one test part, neither in none nor in two.
    method : {"predict", "predict_proba", "predict_log_proba", "decision_function"}, \
default="predict"
        The method that answers.

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
        Columns stand for the sorted labels of y. A class that a training part lacks gets the
        probability 0, or the lowest number of the dtype as logarithm or decision value; two classes
        out of more get the decision values -z and z.

    Raises
    ------
    ValueError
        If an argument is not valid, or the test parts are no partition of the rows. What a fit
        raises is raised too.

    Warns
    -----
    UserWarning
        If the training part of a fold lacks a class; the message lists the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier
    >>> from fastlin.model_selection import cross_val_predict
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> y = X[:, 0] > 0
    >>> held_out = cross_val_predict(SGDClassifier(random_state=0), X, y)
    >>> bool(np.mean(held_out == y) > 0.9)
    True
    """
    OneOf(*_METHODS).check("method", method)
    check_run_options(verbose, pre_dispatch)
    X, y = checked_data(X, y)
    arguments = routed("cross_val_predict", estimator, cv, None, params, groups)
    splits = splits_of(cv, estimator, X, y, arguments.split)
    answers, _ = held_out(
        estimator, X, y, splits, method, fit_params=arguments.fit, n_jobs=n_jobs, verbose=verbose
    )
    return answers


def held_out(
    estimator: Any, X: Any, y: Any, splits: list, method: str, **more: Any
) -> tuple[Any, list[Outcome]]:
    """Return the answers to each row of a model trained without it, and the outcomes."""
    rows, n = np.concatenate([test for _, test in splits]), n_rows(X)
    if len(rows) != n or (np.bincount(rows, minlength=n) != 1).any():
        raise ValueError("cv must test each row exactly once, to give each its prediction; such "
                         "partitions are what KFold and StratifiedKFold make.")
    if y is not None and _is_classifier(estimator):
        warn_of_absent_classes(y, splits)
    outcomes = run(Plan(estimator, [{}], splits, X, y, method=method, **more))
    if method != "predict" and has_classes(y):
        classes = encode_labels(np.asarray(y).ravel())[0]
        for outcome in outcomes:
            outcome.answers = _by_class(outcome, classes, method)
    return _in_order([outcome.answers for outcome in outcomes], np.argsort(rows)), outcomes


def _by_class(outcome: Outcome, classes: np.ndarray, method: str) -> np.ndarray:
    """Return answers with a column for each class of all the data."""
    known, answers = outcome.classes, outcome.answers
    if known is None or len(known) == len(classes):
        return answers
    if answers.ndim == 1:
        answers = np.column_stack([-answers, answers])
    if answers.shape[1] != len(known):
        raise ValueError(
            f"{method} gave {answers.shape[1]} columns for the {len(known)} classes of the "
            f"training part of fold {outcome.split}, which lacks others; stratify the folds."
        )
    lowest = 0 if method == "predict_proba" else np.finfo(answers.dtype).min
    full = np.full((len(answers), len(classes)), lowest, answers.dtype)
    full[:, np.searchsorted(classes, known)] = answers
    return full


def _in_order(parts: list, order: np.ndarray) -> Any:
    """Join the answers of the folds and put them into the order of the rows."""
    if isinstance(parts[0], list):
        return [_in_order(list(column), order) for column in zip(*parts, strict=True)]
    if hasattr(parts[0], "tocsr"):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")[order].asformat(parts[0].format)
    return np.concatenate([np.asarray(part) for part in parts])[order]
