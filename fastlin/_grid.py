"""Grids of parameters, and the table of what became of their points."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._exceptions import warn
from ._params import shown
from ._plan import Outcome
from ._scored import scores_of

__all__ = ["points_of", "results_table"]


def points_of(param_grid: Any) -> list[dict[str, Any]]:
    """Return the points of a grid, or of a list of grids, in scikit-learn's order.

    Raises
    ------
    TypeError, ValueError
        If the grid is not a dict from parameter to list of values, or a list of such.
    """
    grids = [param_grid] if isinstance(param_grid, Mapping) else param_grid
    if not isinstance(grids, Sequence) or isinstance(grids, str) or not grids:
        raise TypeError(
            f"param_grid must be a dict from parameter to values, or a list of such dicts, got "
            f"{shown(param_grid)}."
        )
    points = []
    for grid in grids:
        if not isinstance(grid, Mapping):
            raise TypeError(f"param_grid must hold dicts, got {shown(grid)}.")
        for name, values in grid.items():
            _check_values(name, values)
        names = sorted(grid)
        for values in itertools.product(*(grid[name] for name in names)):
            points.append(dict(zip(names, values, strict=True)))
    return points


def _check_values(name: Any, values: Any) -> None:
    """Raise if the values of one parameter are no list."""
    if not isinstance(name, str):
        raise TypeError(f"param_grid must have names of parameters as keys, got {shown(name)}.")
    if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
        raise TypeError(
            f"param_grid must give a list or an array of values for {name!r}, got {shown(values)}; "
            "put a single value into a list."
        )
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise ValueError(
            f"param_grid must give one-dimensional values for {name!r}, got an array of shape "
            f"{values.shape}."
        )
    if len(values) == 0:
        raise ValueError(f"param_grid must give at least one value for {name!r}, got none.")


def results_table(
    points: list[dict[str, Any]], n_splits: int, outcomes: list[Outcome], train_scores: bool
) -> dict[str, Any]:
    """Return `cv_results_`: names, order, types and ties as in scikit-learn."""
    results: dict[str, Any] = {}
    shape = len(points), n_splits
    for name in ("fit_time", "score_time"):
        times = np.array([getattr(outcome, name) for outcome in outcomes]).reshape(shape)
        results[f"mean_{name}"], results[f"std_{name}"] = times.mean(axis=1), times.std(axis=1)
    results.update(_parameter_columns(points))
    results["params"] = points
    test = scores_of(outcomes)
    train = scores_of(outcomes, train=True) if train_scores else {}
    for name, scores in test.items():
        mean = _add_scores(results, f"test_{name}", scores.reshape(shape))
        results[f"rank_test_{name}"] = _ranks(mean)
        if train_scores:
            _add_scores(results, f"train_{name}", train[name].reshape(shape))
    return results


def _add_scores(results: dict[str, Any], name: str, scores: np.ndarray) -> np.ndarray:
    """Add the columns of one score; returns the means over the splits."""
    for split in range(scores.shape[1]):
        results[f"split{split}_{name}"] = scores[:, split]
    with np.errstate(invalid="ignore"):
        mean, spread = scores.mean(axis=1), scores.std(axis=1)
    results[f"mean_{name}"], results[f"std_{name}"] = mean, spread
    if not np.isfinite(mean).all():
        what = name.partition("_")[0]
        warn("UserWarning", f"One or more of the {what} scores are non-finite: {mean}")
    return mean


def _ranks(mean: np.ndarray) -> np.ndarray:
    """Return 1 for the best; ties share the best rank, and NaN is behind all else."""
    known = np.where(np.isnan(mean), -np.inf, mean)
    if np.isnan(mean).all():
        return np.ones(len(mean), np.int32)
    worst = known[~np.isnan(mean)].min() - 1
    known = np.where(np.isnan(mean), worst, mean)
    return (1 + (known[None, :] > known[:, None]).sum(axis=1)).astype(np.int32)


def _parameter_columns(points: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a masked array for each parameter; masked where a point has no value of it."""
    values: dict[str, dict[int, Any]] = {}
    for place, point in enumerate(points):
        for name, value in point.items():
            values.setdefault(name, {})[place] = value
    columns = {}
    for name, by_place in values.items():
        column = np.ma.MaskedArray(np.empty(len(points), _dtype_of(by_place)), mask=True)
        for place, value in by_place.items():
            column[place] = value
        columns[f"param_{name}"] = column
    return columns


def _dtype_of(by_place: dict[int, Any]) -> Any:
    """Return the dtype of a column: that of numbers of one kind, else object."""
    try:
        array = np.array(list(by_place.values()))
    except ValueError:
        return object
    return array.dtype if array.ndim == 1 and array.dtype.kind != "U" else object
