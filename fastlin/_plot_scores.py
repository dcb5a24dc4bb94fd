"""Pictures of scores: over the number of rows, and over a parameter of a search."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._exceptions import not_fitted
from ._folds import kind_of
from ._params import OneOf, shown
from ._plot_axes import axes_of
from ._targets import listed

__all__ = ["cv_curve", "learning_curve"]

_PARTS = (("train", "C1", "training rows"), ("test", "C0", "held-out rows"))


def _band(ax: Any, x: Any, scores: np.ndarray, color: str, label: str) -> None:
    """Draw the mean of each row of scores, and one standard deviation around it."""
    mean, spread = np.nanmean(scores, axis=1), np.nanstd(scores, axis=1)
    ax.plot(x, mean, "o-", color=color, label=label, markersize=4)
    ax.fill_between(x, mean - spread, mean + spread, color=color, alpha=0.15, linewidth=0)


def _finish(ax: Any, x: str, y: str) -> None:
    """Say what is drawn."""
    ax.set_xlabel(x)
    ax.set_ylabel(f"{y} (mean \u00b1 sd over the folds)")
    ax.legend(frameon=False)


def learning_curve(estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any) -> Any:
    """Draw training and test scores over the number of rows to train on.

    Lines are means over the folds, bands one standard deviation around them.

    Parameters
    ----------
    estimator : estimator
        Not fitted; it is cloned and stays as it is.
    X : array, sparse matrix, Rows, frame or list of n_samples
        The data.
    y : array-like of shape (n_samples,)
        The target.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    **options
        Further arguments of `fastlin.learning_curve`, such as `train_sizes`, `cv`, `scoring` and
        `n_jobs`.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] C. Cortes, L. D. Jackel, S. A. Solla, V. Vapnik, J. S. Denker, "Learning curves:
       asymptotic values and rate of convergence", NIPS 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import SGDClassifier, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> ax = plot.learning_curve(SGDClassifier(random_state=0), X, X[:, 0] > 0)  # doctest: +SKIP
    >>> ax.figure.savefig("learning.png")  # doctest: +SKIP
    """
    from .model_selection import learning_curve as scores_over_sizes

    if options.pop("return_times", False):
        raise ValueError("return_times=True has no place in a picture of scores; leave it out.")
    ax = axes_of(ax)
    sizes, train, test = scores_over_sizes(estimator, X, y, **options)
    for scores, (_, color, label) in zip((train, test), _PARTS, strict=True):
        _band(ax, sizes, scores, color, label)
    _finish(ax, "rows to train on", _score_name(options.get("scoring"), estimator))
    return ax


def _score_name(scoring: Any, estimator: Any) -> str:
    """Name a score as the label of an axis."""
    if isinstance(scoring, str):
        return scoring.replace("_", " ")
    if scoring is not None:
        return str(getattr(scoring, "__name__", "score"))
    return {"classifier": "accuracy", "regressor": "R2"}.get(kind_of(estimator) or "", "score")


def cv_curve(
    search: Any, param: str | None = None, *, metric: str | None = None, ax: Any = None
) -> Any:
    """Draw the scores of a search over one of its parameters, with their spread over the folds.

    At each value of the parameter the best point of the grid counts, so that further parameters
    are at their best there. The vertical line marks the best point of all.

    Parameters
    ----------
    search : GridSearchCV
        Fitted; that of scikit-learn will do, too.
    param : str, default=None
        The parameter, as in `param_grid`; by default the only one with several values.
    metric : str, default=None
        Which score, if there are several; by default the one that `refit` names.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Axes
        With a logarithmic axis for positive numbers whose largest is 10 times the smallest or more.

    Raises
    ------
    NotFittedError
        If `search` is not fitted.
    ValueError
        If there is no such parameter or score.
    ImportError
        If matplotlib is not installed.

    References
    ----------
    .. [1] M. Stone, "Cross-validatory choice and assessment of statistical predictions", Journal of
       the Royal Statistical Society B 36, 1974.

    Examples
    --------
    >>> import numpy as np
    >>> from fastlin import GridSearchCV, SGDClassifier, plot
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> search = GridSearchCV(SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2, 1.0]})
    >>> ax = plot.cv_curve(search.fit(X, X[:, 0] > 0), "alpha")  # doctest: +SKIP
    """
    if not hasattr(search, "cv_results_"):
        raise not_fitted(search, "cv_curve")
    results = search.cv_results_
    param = _varied(results) if param is None else param
    if f"param_{param}" not in results:
        names = [name[6:] for name in results if name.startswith("param_")]
        raise ValueError(f"param must be one of {listed(names)}, got {shown(param)}.")
    metric = _metric(search, metric)
    ax = axes_of(ax)
    values, places = _best_by_value(results, param, metric)
    x = _positions(ax, values)
    for part, color, label in _PARTS:
        splits = [f"split{k}_{part}_{metric}" for k in range(search.n_splits_)]
        if splits[0] in results:
            _band(ax, x, np.array([results[name][places] for name in splits]).T, color, label)
    best = int(np.nanargmax(results[f"mean_test_{metric}"][places]))
    ax.axvline(x[best], color="0.5", linestyle=":", linewidth=1)
    name = _score_name(search.scoring if metric == "score" else metric, search)
    _finish(ax, param, name)
    return ax


def _varied(results: dict[str, Any]) -> str:
    """Return the only parameter that has several values."""
    names = [name for name in results if name.startswith("param_")]
    several = [name[6:] for name in names if len({repr(v) for v in results[name]}) > 1]
    if len(several) == 1:
        return several[0]
    if len(names) == 1:
        return names[0][6:]
    raise ValueError(f"param must say which parameter to draw: {listed(several or names)}.")


def _metric(search: Any, metric: str | None) -> str:
    """Return the name of the score to draw."""
    names = [key[10:] for key in search.cv_results_ if key.startswith("mean_test_")]
    if metric is None:
        metric = search.refit if search.refit in names else names[0]
    OneOf(*names).check("metric", metric)
    return metric


def _best_by_value(
    results: dict[str, Any], param: str, metric: str
) -> tuple[list[Any], np.ndarray]:
    """Return the values of a parameter, in order, and for each the place of its best point."""
    column, mean = results[f"param_{param}"], results[f"mean_test_{metric}"]
    best: dict[str, tuple[Any, int]] = {}
    for place in range(len(column)):
        value = column[place]
        if np.ma.is_masked(value):
            continue
        before = best.get(repr(value))
        if before is None or not mean[place] <= mean[before[1]]:
            best[repr(value)] = (value, place)
    if not best or np.isnan(mean[[place for _, place in best.values()]]).all():
        raise ValueError(f"there is no score to draw over {param!r}: every fit failed.")
    found = list(best.values())
    if all(_is_number(value) for value, _ in found):
        found.sort(key=lambda pair: pair[0])
    return [value for value, _ in found], np.array([place for _, place in found])


def _is_number(value: Any) -> bool:
    """Say whether a value has a place on an axis of numbers."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def _positions(ax: Any, values: list[Any]) -> list[Any]:
    """Return where values stand on the axis: numbers as they are, all else side by side."""
    if not all(_is_number(value) for value in values):
        ax.set_xticks(range(len(values)), [str(value) for value in values])
        return list(range(len(values)))
    if min(values) > 0 and max(values) >= 10 * min(values):
        ax.set_xscale("log")
    return values
