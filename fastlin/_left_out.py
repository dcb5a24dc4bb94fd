"""`leave_one_out`: the response to each row of a model that has not seen it.

How it is done without a fit for each row stands in `_leave_one_out`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._blocks import matvec
from ._clone import clone
from ._direct import MOST_ORDER
from ._folds import is_classifier
from ._leave_one_out import approximate, held_out_of_targets
from ._multilabel import is_multilabel
from ._params import Boolean, OneOf, shown
from ._problem import Problem
from ._random import spawn_seed
from ._reductions import is_reduced
from ._row_slices import rows_taken
from ._splitters import n_rows, take
from ._targets import check_target, encode_labels
from ._validation import check_sample_weight, effective_weight, listed

__all__ = ["leave_one_out"]

_METHODS = ("auto", "exact", "approximate", "brute")
_BENT = ("log_loss", "squared_hinge", "squared_epsilon_insensitive")


class _Unavailable(Exception):
    """There is only the long way; the message says why."""


def leave_one_out(estimator: Any, X: Any, y: Any, sample_weight: Any = None,
                  method: str = "auto", *, return_error: bool = False) -> Any:
    """Respond to each row by a model that was trained on all the others.

    Parameters
    ----------
    estimator : estimator
        What to train; it is cloned, so that it stays as it is.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows, at least two.
    y : array-like of shape (n_samples,)
        Targets or labels.
    sample_weight : array-like of shape (n_samples,), optional
        Weights that count as repetitions. Leaving out a row leaves out all of its weight; a row of
        weight 0 is answered by the model of all the others.
    method : {"auto", "exact", "approximate", "brute"}, default="auto"
        "exact" is the closed form of `Ridge`, `RidgeClassifier` and `LinearRegression`, from one
        factorisation. "approximate" is one step of Newton's method per row from the one optimum of
        `LogisticRegression`, `LinearSVC` and `LinearSVR` with smooth losses and L2 penalties: the
        error falls as rows grow in number, and is large where one row matters much, as under weak
        penalties with more columns than rows. "brute" fits once per row, whatever the estimator.
        "auto" is the first of these that there is.
    return_error : bool, default=False
        Whether to return the error as well. For "approximate" that costs four fits, half of them
        without the rows whose responses move most.

    Returns
    -------
    responses : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Predictions of regressors; decision values of classifiers, with a column per class if there
        are more than two. A class without rows other than the one left out gets -inf.
    error : float
        With `return_error` only: the largest error of "approximate" on the rows where it was
        measured; no bound for the others, and 0 for the other methods.

    Raises
    ------
    ValueError
        If an argument is not valid, if `method` does not suit the estimator (the message says why),
        or if one of two classes has a single row.

    Warns
    -----
    ConvergenceWarning
        If a fit was stopped by `max_iter`.

    References
    ----------
    .. [1] G. H. Golub, M. Heath, G. Wahba, "Generalized cross-validation as a method for choosing a
       good ridge parameter", Technometrics 21, 1979.
    .. [2] K. Rahnama Rad, A. Maleki, "A scalable estimate of the out-of-sample prediction error via
       approximate leave-one-out cross-validation", JRSS B 82, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import LogisticRegression, leave_one_out
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] + rng.normal(size=200) > 0
    >>> z, error = leave_one_out(LogisticRegression(tol=1e-9), X, y, return_error=True)
    >>> bool(error < 0.01)
    True
    >>> share_right = np.mean((z > 0) == y)
    """
    OneOf(*_METHODS).check("method", method)
    Boolean().check("return_error", return_error)
    if n_rows(X) < 2:
        raise ValueError(f"leave_one_out needs at least 2 rows, got n_samples={n_rows(X)}.")
    if is_multilabel(y):
        raise ValueError(
            "y must hold one label for each row in leave_one_out; for several use "
            "cross_val_predict(..., cv=LeaveOneOut(), method='decision_function')."
        )
    error = 0.0
    try:
        if method == "brute":
            raise _Unavailable
        responses, error = _by_one_fit(estimator, X, y, sample_weight, method, return_error)
    except _Unavailable as reason:
        if method in ("exact", "approximate"):
            raise ValueError(f"method {method!r} is not available: {reason}; use method 'brute'."
                             ) from None
        responses = _by_many_fits(estimator, X, y, sample_weight)
    return (responses, error) if return_error else responses


def _way_of(estimator: Any) -> str:
    """The method that an estimator has, as far as its class says."""
    from .linear_regression import LinearRegression
    from .logistic import LogisticRegression
    from .logistic_cv import LogisticRegressionCV
    from .ridge import Ridge, RidgeClassifier
    from .svm import LinearSVC, LinearSVR

    if isinstance(estimator, (Ridge, RidgeClassifier, LinearRegression)):
        return "exact"
    # one that chooses C as well chooses another without a row
    chooses = isinstance(estimator, LogisticRegressionCV)
    smooth = isinstance(estimator, (LogisticRegression, LinearSVC, LinearSVR)) and not chooses
    return "approximate" if smooth else ""


def _by_one_fit(estimator: Any, X: Any, y: Any, sample_weight: Any, method: str,
                with_error: bool) -> tuple[np.ndarray, float]:
    """(responses, error) without refits."""
    way, name = _way_of(estimator), type(estimator).__name__
    if not way or method not in ("auto", way):
        raise _Unavailable(f"{name} has " + (f"the method {way!r}" if way else "no such form"))
    twin = clone(estimator)
    rows, y, weight = twin._begin(X, y, sample_weight)
    if is_classifier(twin):
        if twin.class_weight == "balanced":
            raise _Unavailable("class_weight='balanced' weighs rows otherwise when one is left out")
        classes, codes = encode_labels(y)
        if twin._is_joint(len(classes)):
            raise _Unavailable("all classes are one problem")
        if is_reduced(twin, len(classes)):
            raise _Unavailable("classes are the rows of a code")
        weight = effective_weight(twin.class_weight, classes, codes, weight)
        lonely = _lonely(classes, codes, weight)
        positive = [1] if len(classes) == 2 else range(len(classes))
        targets = [np.where(codes == k, 1.0, -1.0) for k in positive]
    else:
        targets, lonely = [y], []
    problem = Problem(
        X=rows, y=targets[0], weight=np.empty(0) if weight is None else weight,
        fit_intercept=twin.fit_intercept,
        **twin._terms(float(len(y)) if weight is None else float(weight.sum())),
    )  # fmt: skip
    if problem.l1 > 0 or problem.positive:
        raise _Unavailable("penalty 'l1' and positive=True are not smooth")
    if way == "exact":
        out, error = held_out_of_targets(problem, targets), 0.0
        if out is None:
            raise _Unavailable("columns that depend on each other need a penalty, columns of far "
                               "larger scale than others lose them to rounding, and n_samples or "
                               f"n_features must be at most {MOST_ORDER}")
    else:
        out, error = _approximated(twin, problem, targets, with_error)
    for k, row in lonely:
        out[row, k] = -np.inf
    return (out[:, 0] if len(targets) == 1 else out), error


def _lonely(classes: np.ndarray, codes: np.ndarray, weight: np.ndarray | None
            ) -> list[tuple[int, np.ndarray]]:
    """(class, rows whose models have no row of it); fewer than two other classes are an error."""
    there = np.ones(len(codes), bool) if weight is None else weight > 0
    count = np.bincount(codes, there, len(classes)).astype(int)
    left = int((count > 0).sum())
    if left < 2 or left == 2 and (count == 1).any():
        raise ValueError(
            "leave_one_out needs two classes without any one row; the classes "
            f"{listed(classes.tolist())} have {listed(count.tolist())} rows of weight above 0."
        )
    few = [(k, np.flatnonzero((codes == k) & there)) for k in np.flatnonzero(count == 1).tolist()]
    return few + [(k, np.arange(len(codes))) for k in np.flatnonzero(count == 0).tolist()]


def _approximated(twin: Any, problem: Problem, targets: list[np.ndarray], with_error: bool
                  ) -> tuple[np.ndarray, float]:
    """(responses, largest error found) by one Newton step."""
    n, d = problem.X.shape
    if problem.loss not in _BENT:
        raise _Unavailable(f"the loss {problem.loss!r} is not smooth")
    if min(n, d) > MOST_ORDER or problem.l2 == 0 and d >= n:
        raise _Unavailable(f"n_samples or n_features must be at most {MOST_ORDER}, and without a "
                           "penalty n_features below n_samples")
    weight = problem.weight
    there = weight > 0 if len(weight) else np.ones(n, bool)
    kept, others = np.flatnonzero(there), np.flatnonzero(~there)
    inner = problem
    if len(others):
        inner = replace(problem, X=rows_taken(problem.X, kept), weight=weight[kept])
    problems = [replace(inner, y=target[kept]) for target in targets]
    seeds = spawn_seed(getattr(twin, "random_state", None), len(targets))
    fits = twin._fits(problems, seeds, [None] * len(targets))
    twin._warn(fits)
    out, error = np.empty((n, len(targets))), 0.0
    for k, (one, fit) in enumerate(zip(problems, fits, strict=True)):
        found = approximate(one, fit) if with_error else approximate(one, fit, 0)
        out[kept, k], error = found.responses, max(error, found.error)
        if len(others):
            out[others, k] = matvec(rows_taken(problem.X, others), fit.coef, fit.intercept)
    return out, error


def _by_many_fits(estimator: Any, X: Any, y: Any, sample_weight: Any) -> np.ndarray:
    """Responses of models that were fitted without each row."""
    n, classes = n_rows(X), np.empty(0)
    weight = check_sample_weight(sample_weight, n)
    if is_classifier(estimator):
        y = check_target(y, estimator, numeric=False, n_samples=n)
        classes, codes = encode_labels(y)
        _lonely(classes, codes, weight)
    else:
        y = np.asarray(y)
    several = len(classes) > 2
    out = np.full((n, len(classes)) if several else n, -np.inf)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        given = {} if weight is None else {"sample_weight": weight[rest]}
        model = clone(estimator).fit(take(X, rest), y[rest], **given)
        row = take(X, np.array([i]))
        if not len(classes):
            out[i] = model.predict(row)[0]
            continue
        if not hasattr(model, "decision_function"):
            raise ValueError(f"estimator must have decision_function, got {shown(estimator)}.")
        z = model.decision_function(row)[0]
        if not several:
            out[i] = z
        else:
            z = np.array([-z, z]) if np.ndim(z) == 0 else z
            out[i, np.searchsorted(classes, model.classes_)] = z
    return out
