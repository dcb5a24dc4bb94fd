"""What stands behind `LassoCV`, `ElasticNetCV` and `regularization_path`: data, folds, threads.

One transposed copy of the rows serves all folds, shares of L1 and penalties; a thread takes the
path of one fold and share.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from . import _parallel
from ._core.rows import Rows
from ._data import as_rows
from ._exact import check_size, check_squares
from ._exceptions import warn_convergence
from ._far_columns import Shift
from ._folds import splits_by
from ._params import ArrayLike, Boolean, Constraint, Either, Integer, OneOf, Real
from ._paths import alpha_grid, fold_errors, path
from ._problem import Fit, Problem
from ._row_slices import rows_taken
from ._transpose import Columns
from ._validation import check_sample_weight, check_target, encode_labels, listed

__all__ = ["SearchedPathMixin", "regularization_path_of"]

_NO_WEIGHTS = np.empty(0)
_MOST_POINTS = 100_000
# The losses' own parameters: the margin of the squared hinge
_PARAMETERS = {"squared_error": 0.0, "log_loss": 0.0, "squared_hinge": 1.0}
_CONSTRAINTS: dict[str, Constraint] = {
    "loss": OneOf(*_PARAMETERS),
    "l1_ratio": Real(0, 1),
    "alphas": Either(Integer(1), ArrayLike(Real(0))),
    "eps": Real(0, 1, closed="neither"),
    "fit_intercept": Boolean(),
    "positive": Boolean(),
    "tol": Real(0, closed="right"),
    "max_iter": Integer(1),
}
# What the messages of the checks of y call the caller.
_CALLER = type("regularization_path", (), {})()


def grids(problem: Problem, alphas: Any, ratios: list[float], eps: float) -> list[np.ndarray]:
    """The penalties for each share of L1, the largest first."""
    if isinstance(alphas, (int, np.integer)):
        check_count("alphas", alphas)
        return [alpha_grid(problem, ratio, eps, int(alphas)) for ratio in ratios]
    given = np.sort(np.asarray(alphas, dtype=np.float64).ravel())[::-1]
    if not len(given):
        raise ValueError("alphas must hold at least one number, got none.")
    return [given] * len(ratios)


def check_count(name: str, count: Any) -> None:
    """Refuse a grid that nobody waits for, and no memory holds."""
    if count > _MOST_POINTS:
        raise ValueError(f"{name} must ask for at most {_MOST_POINTS:,} values, got {count}.")


def warn_of(name: str, fits: list[Fit], tol: float) -> None:
    """A ConvergenceWarning with the largest gap, if some answer on a path is not good enough."""
    stopped = [fit.certificate.relative_gap for fit in fits if not fit.converged]
    if stopped:
        warn_convergence(
            f"{name} stopped {len(stopped)} of {len(fits)} searches with a duality gap of up to "
            f"{max(stopped):.1e} of the objective > tol={float(tol):g}; raise max_iter, tol or the "
            "smallest alpha."
        )


class SearchedPathMixin:
    """`fit` of estimators that choose alpha, and l1_ratio where there are several."""

    _one_ratio: ClassVar[bool]
    _constraints: ClassVar[dict[str, Constraint]] = {
    }

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """Choose the penalty and fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows; float32 gives float32 weights, everything else float64.
        y : array-like of shape (n_samples,)
            The targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights that count as repetitions, in the fits and in the errors on each fold.
        groups : array-like of shape (n_samples,), optional
            What `cv` may not tear apart, for a splitter that asks for it (`GroupKFold`).

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X, y, a weight or a fold is not valid; the message says which and
            where.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` ended a search; the message states the gap reached.
        """
        me: Any = self
        rows, y, weight = me._begin(X, y, sample_weight)
        shift = Shift.of(rows) if me.fit_intercept else None
        rows = rows if shift is None else shift.taken_off(rows)
        problem = Problem(X=rows, y=y, weight=_NO_WEIGHTS if weight is None else weight,
                          loss="squared_error", fit_intercept=bool(me.fit_intercept),
                          positive=bool(me.positive))
        # folds share one transpose, and threads one that stays as it is
        columns = Columns(rows)
        if _parallel.n_threads(me.n_jobs) > 1:
            columns.need_all()
        ratios = [1.0] if self._one_ratio else np.atleast_1d(me.l1_ratio).astype(float).tolist()
        if not ratios:
            raise ValueError("l1_ratio must hold at least one number, got none.")
        alphas = grids(problem, me.alphas, ratios, float(me.eps))
        splits = splits_by(me.cv, self, rows, y, groups)
        errors, fits = self._errors(problem, columns, splits, ratios, alphas)
        mean = errors.mean(axis=1)
        best, place = np.unravel_index(int(np.argmin(mean)), mean.shape)
        me.alpha_ = float(alphas[best][place])
        if not self._one_ratio:
            me.l1_ratio_ = ratios[best]
        single = len(ratios) == 1 or not isinstance(me.alphas, (int, np.integer))
        me.alphas_ = alphas[0].copy() if single else np.array(alphas)
        me.mse_path_ = np.squeeze(np.moveaxis(errors, 2, 1))
        (answer,) = path(problem, columns, ratios[best], np.array([me.alpha_]), float(me.tol),
                         me.max_iter)
        if shift is not None:
            answer = shift.put_back(answer, rows.dtype)
        me._publish([answer], rows.dtype, [0], 1)
        warn_of(type(self).__name__, [*fits, answer], me.tol)
        return self

    def _errors(self, problem: Problem, columns: Columns, splits: list[Any], ratios: list[float],
                alphas: list[np.ndarray]) -> tuple[np.ndarray, list[Fit]]:
        """Mean squared errors of shape (n_l1_ratio, n_folds, n_alphas), and the worst answer of
        each path."""
        me: Any = self
        tested = [test for _, test in splits]
        check_folds(splits, problem)
        tasks = [
            partial(fold_errors, problem, columns, train, test, ratio, grid, float(me.tol),
                    me.max_iter)
            for ratio, grid in zip(ratios, alphas, strict=True)
            for train, test in splits
        ]
        results = _parallel.run(tasks, me.n_jobs)
        errors = np.array([error for error, _ in results])
        return errors.reshape(len(ratios), len(tested), -1), [fit for _, fit in results]


def check_folds(splits: list[Any], problem: Problem) -> None:
    """Refuse folds that leave nothing to train or to test on."""
    weight = problem.weight if len(problem.weight) else np.ones(len(problem.y))
    for k, pair in enumerate(splits):
        for rows, what in zip(pair, ("train", "test"), strict=True):
            if not weight[rows].sum() > 0:
                raise ValueError(f"cv must give each fold rows with a weight to {what} on; fold "
                                 f"{k} has none.")


def regularization_path_of(X: Any, y: Any, sample_weight: Any,
                           **options: Any) -> tuple[np.ndarray, ...]:
    """The fields of a `RegularizationPath`."""
    for name, constraint in _CONSTRAINTS.items():
        constraint.check(name, options[name])
    rows = as_rows(X)
    check_size(rows)
    shift = Shift.of(rows) if options["fit_intercept"] else None
    rows = rows if shift is None else shift.taken_off(rows)
    problem = _problem(rows, y, sample_weight, options)
    ratio, tol = float(options["l1_ratio"]), float(options["tol"])
    (alphas,) = grids(problem, options["alphas"], [ratio], float(options["eps"]))
    coefs = np.empty((len(alphas), rows.shape[1]), rows.dtype)
    fits = []
    for k, fit in enumerate(path(problem, None, ratio, alphas, tol, options["max_iter"])):
        if shift is not None:
            fit = shift.put_back(fit, rows.dtype)
        coefs[k] = fit.coef
        fits.append(replace(fit, coef=_NO_WEIGHTS))
    warn_of("regularization_path", fits, tol)
    return (
        alphas, coefs.T, np.array([fit.intercept for fit in fits]),
        np.array([fit.certificate.gap for fit in fits]),
        np.array([fit.certificate.objective for fit in fits]),
        np.array([fit.n_iter for fit in fits], dtype=np.int64),
    )  # fmt: skip


def _problem(rows: Rows, y: Any, sample_weight: Any, options: dict[str, Any]) -> Problem:
    """The problem without its penalty, rows of weight 0 left out."""
    loss = options["loss"]
    numeric = loss == "squared_error"
    target = check_target(y, _CALLER, numeric=numeric, n_samples=rows.shape[0])
    weight = check_sample_weight(sample_weight, rows.shape[0])
    if numeric:
        check_squares(target)
    else:
        classes, codes = encode_labels(target)
        if len(classes) != 2:
            raise ValueError(f"y must hold two classes for loss {loss!r}, got {len(classes)}: "
                             f"{listed(classes.tolist())}.")
        target = np.where(codes == 1, 1.0, -1.0)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        rows, weight, target = rows_taken(rows, kept), weight[kept], target[kept]
    if not numeric and options["fit_intercept"] and (target == target[0]).all():
        raise ValueError("sample_weight must leave rows of both classes, got rows of one.")
    return Problem(X=rows, y=target, weight=_NO_WEIGHTS if weight is None else weight, loss=loss,
                   loss_parameter=_PARAMETERS[loss], positive=bool(options["positive"]),
                   fit_intercept=bool(options["fit_intercept"]))
