"""Some columns of whatever table X is: which are meant, and those themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._columns import as_table
from ._kinds import is_sparse
from ._params import is_bool, shown

__all__ = ["Choice", "chosen_columns", "places_by_name", "select_columns"]


class Choice(NamedTuple):
    """Numbers of columns, and whether the one column is handed over without its table."""

    places: list[int]
    is_flat: bool


def places_by_name(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of the columns of each name."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    return places


def chosen_columns(
    columns: Any, named: dict[str, list[int]] | None, n_columns: int, X: Any
) -> Choice:
    """Return what a user means by columns.

    Parameters
    ----------
    columns : str, int, slice, array-like of str, int or bool, or callable
        A single str or int means one column as a sequence of its own, which is what text
        vectorizers take; everything else a table. A callable is called with X.
    named : dict of str to list of int, or None
        Places of the columns of X by name, if it has any.
    n_columns : int
        How many columns X has.
    X : array-like or data frame

    Raises
    ------
    ValueError, TypeError
        If there is no such column, or it is no way to name one.
    """
    if callable(columns):
        columns = columns(X)
    if isinstance(columns, slice):
        return Choice(_places_of_slice(columns, named, n_columns), False)
    if isinstance(columns, str) or not hasattr(columns, "__len__"):
        return Choice([_place(columns, named, n_columns)], True)
    columns = list(columns)
    if columns and all(map(is_bool, columns)):
        if len(columns) != n_columns:
            raise ValueError(
                f"a mask of columns must have {n_columns} elements, got {shown(columns)}."
            )
        return Choice(np.flatnonzero(columns).tolist(), False)
    return Choice([_place(column, named, n_columns) for column in columns], False)


def _place(column: Any, named: dict[str, list[int]] | None, n_columns: int) -> int:
    """Return the number of one column."""
    if isinstance(column, str):
        if named is None:
            raise ValueError(f"X has no column names, so {column!r} names none; use numbers.")
        if column not in named:
            raise ValueError(
                f"X has no column {column!r}; its columns are {shown(list(named), 300)}."
            )
        if len(named[column]) > 1:
            raise ValueError(f"X has {len(named[column])} columns {column!r}; use numbers.")
        return named[column][0]
    if isinstance(column, (int, np.integer)) and not is_bool(column):
        if not -n_columns <= column < n_columns:
            raise ValueError(f"X has no column {column}; it has {n_columns} columns.")
        return int(column) % n_columns
    raise TypeError(
        "columns must be given by names, numbers, a slice, a mask or a callable, got "
        f"{shown(column)}."
    )


def _places_of_slice(
    columns: slice, named: dict[str, list[int]] | None, n_columns: int
) -> list[int]:
    """Return the numbers behind a slice; one of names includes its end, as in pandas."""
    start, stop = columns.start, columns.stop
    if isinstance(start, str):
        start = _place(start, named, n_columns)
    if isinstance(stop, str):
        stop = _place(stop, named, n_columns) + 1
    return list(range(n_columns))[slice(start, stop, columns.step)]


def select_columns(X: Any, choice: Choice) -> Any:
    """Return columns of a table in its own kind; a single flat one as a series or 1d array."""
    places = choice.places
    if hasattr(X, "iloc"):
        return X.iloc[:, places[0] if choice.is_flat else places]
    if hasattr(X, "to_series") and hasattr(X, "get_columns"):
        if choice.is_flat:
            return X.to_series(places[0])
        return X.select([X.columns[place] for place in places])
    if hasattr(X, "column_names"):
        return X.column(places[0]) if choice.is_flat else X.select(places)
    if is_sparse(X):
        if choice.is_flat:
            raise ValueError(
                f"a single column of a sparse X must stay a table: write [{places[0]}] for "
                f"{places[0]}."
            )
        return X.tocsr()[:, places]
    X = as_table(X)
    return X[:, places[0] if choice.is_flat else places]
