"""What a one-hot encoder knows of one column: its categories and where each of them goes."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

import numpy as np

from ._columns import Coded, is_missing, missing_mask

__all__ = ["INFREQUENT", "ColumnPlan", "plan_column", "positions_in"]

# The name that scikit-learn gives to the group, in feature names and inverse transforms.
INFREQUENT = "infrequent_sklearn"


class ColumnPlan(NamedTuple):
    """One column of the encoder.

    Attributes
    ----------
    categories : ndarray of shape (n_categories,)
        In the order of their output columns, but for infrequent ones.
    outputs : ndarray of shape (n_categories,), dtype int64
        Output column of each category within this feature; -1 if it is dropped.
    n_outputs : int
        Number of output columns.
    unknown : int
        Output column of unknown categories; -1 for none.
    infrequent : ndarray or None
        Positions of the infrequent categories, which share the last output column.
    dropped : int or None
        Position of the dropped category.
    """

    categories: np.ndarray
    outputs: np.ndarray
    n_outputs: int
    unknown: int
    infrequent: np.ndarray | None
    dropped: int | None

    def grouped(self) -> np.ndarray:
        """Return the labels of the frequent categories, then that of the infrequent group."""
        if self.infrequent is None:
            return self.categories
        frequent = np.delete(self.categories, self.infrequent)
        return np.append(frequent.astype(object), INFREQUENT)

    def dropped_place(self) -> int | None:
        """Return the place of what is dropped among the grouped labels."""
        if self.dropped is None or self.infrequent is None:
            return self.dropped
        if self.dropped in self.infrequent:
            return len(self.categories) - len(self.infrequent)
        return self.dropped - int(np.sum(self.infrequent < self.dropped))

    def labels(self) -> np.ndarray:
        """Return the label of each output column."""
        place = self.dropped_place()
        return self.grouped() if place is None else np.delete(self.grouped(), place)


def plan_column(
    column: Coded, j: int, encoder: Any, given: Any, drop: Any, drops_value: bool
) -> ColumnPlan:
    """Decide on the categories of a column, in what order, which are grouped and which is dropped.

    Parameters
    ----------
    column : Coded
        What `fit` sees.
    j : int
        Number of the column.
    encoder : OneHotEncoder
        Its parameters count.
    given : array-like or None
        Categories given by the user.
    drop : {"first", "if_binary"}, a category or None
        What to drop; a category if `drops_value`.
    """
    if given is None:
        categories = sorted_categories(column.values, j)
    else:
        categories = _given_categories(given, column.values, j)
        lacking = positions_in(categories, column.values) < 0
        if encoder.handle_unknown == "error" and lacking.any():
            raise ValueError(
                f"Found unknown categories {column.values[lacking].tolist()} in column "
                f"{j} during fit; add them to categories or set handle_unknown."
            )
    infrequent = _infrequent(column, categories, encoder.min_frequency, encoder.max_categories)
    outputs = np.arange(len(categories))
    if infrequent is not None:
        frequent = np.ones(len(categories), bool)
        frequent[infrequent] = False
        outputs = np.where(frequent, np.cumsum(frequent) - 1, frequent.sum())
    n_outputs = int(outputs.max(initial=-1)) + 1
    dropped = _dropped(drop, drops_value, categories, outputs, infrequent, j)
    groups_unknown = encoder.handle_unknown in ("infrequent_if_exist", "warn")
    unknown = n_outputs - 1 if groups_unknown and infrequent is not None else -1
    if dropped is not None:
        gone = outputs[dropped]
        outputs = np.where(outputs == gone, -1, outputs - (outputs > gone))
        unknown = -1 if unknown == gone else unknown - (unknown > gone)
        n_outputs -= 1
    return ColumnPlan(categories, outputs, n_outputs, unknown, infrequent, dropped)


def sorted_categories(values: np.ndarray, j: int) -> np.ndarray:
    """Sort distinct values; None and NaN come last, in this order."""
    if values.dtype != object:
        return np.sort(values)
    lost = missing_mask(values.tolist())
    present, missing = values[~lost].tolist(), values[lost].tolist()
    try:
        present.sort()
    except TypeError:
        kinds = sorted({type(value).__name__ for value in present})
        raise TypeError(
            "Encoders require their input argument must be uniformly strings or "
            f"numbers. Got {kinds} in column {j}."
        ) from None
    missing.sort(key=lambda value: value is not None)
    result = np.empty(len(values), dtype=object)
    result[:] = present + missing
    return result


def _given_categories(given: Any, values: np.ndarray, j: int) -> np.ndarray:
    """Check the categories that the user gives for a column."""
    categories = _as_column_type(given, values.dtype)
    if categories.ndim != 1 or len(categories) == 0:
        raise ValueError(
            f"categories[{j}] must be a list of at least one category, got shape "
            f"{categories.shape}."
        )
    if categories.dtype == object and values.dtype.kind != "S" and isinstance(categories[0], bytes):
        raise ValueError(
            f"categories[{j}] are bytes, but column {j} of X holds {type(values[0]).__name__}."
        )
    cells = categories.tolist()
    if any(value is not None and is_missing(value) for value in cells[:-1]):
        raise ValueError(f"NaN must be the last of categories[{j}].")
    if len(set(cells)) < len(cells):
        raise ValueError(f"categories[{j}] holds a category twice.")
    if categories.dtype.kind in "biufMm":
        present = categories[categories == categories]  # noqa: PLR0124
        if (present[1:] <= present[:-1]).any():
            raise ValueError(
                f"Unsorted categories are not supported for numerical categories: sort "
                f"categories[{j}]."
            )
    return categories


def _as_column_type(given: Any, dtype: np.dtype) -> np.ndarray:
    """Return categories in the type of their column, or in one that holds both."""
    if dtype.kind in "OU":
        return np.array(given, dtype=object)
    categories = np.array(given)
    if categories.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        return categories if categories.dtype.kind == dtype.kind else np.array(given, dtype=object)
    with np.errstate(all="ignore"):
        converted = categories.astype(dtype)
    same = (converted == categories) | (converted != converted)  # noqa: PLR0124
    return converted if same.all() else categories.astype(np.result_type(categories, dtype))


def positions_in(categories: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the position of each value among the categories; -1 for those that are not there.

    Libraries of tables disagree whether what is missing is None or NaN: where only one of them is a
    category, it stands for both."""
    kind = categories.dtype.kind
    if len(categories) == 0:
        return np.full(len(values), -1, np.int64)
    # Not between kinds: an integer and the nearest float must not pass for equal.
    if kind == values.dtype.kind and kind in "biufMm":
        # Sorted, with NaN at the end, which is where numpy sorts it.
        place = np.minimum(np.searchsorted(categories, values), len(categories) - 1)
        found = categories[place]
        both_nan = (found != found) & (values != values)  # noqa: PLR0124
        return np.where((found == values) | both_nan, place, -1)
    cells = categories.tolist()
    numbered = dict(zip(cells, range(len(cells)), strict=True))
    nan = len(cells) - 1 if cells[-1] is not None and is_missing(cells[-1]) else -1
    missing = nan if nan >= 0 else numbered.get(None, -1)
    places = [numbered.get(value, -1) for value in values.tolist()]
    # NaN differs from itself, so it is looked for only among what was not found.
    return np.array(
        [
            missing if place < 0 and is_missing(value) else place
            for place, value in zip(places, values.tolist(), strict=True)
        ],
        dtype=np.int64,
    )


def _infrequent(
    column: Coded, categories: np.ndarray, min_frequency: float | None, max_categories: int | None
) -> np.ndarray | None:
    """Return the positions of the categories that are grouped, or None."""
    if min_frequency is None and max_categories is None:
        return None
    counts = np.zeros(len(categories), np.int64)
    position = positions_in(categories, column.values)
    seen = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    counts[position[position >= 0]] = seen[position >= 0]
    rare = np.zeros(len(categories), bool)
    if min_frequency is not None:
        share = not isinstance(min_frequency, numbers.Integral)
        rare = counts < (min_frequency * len(column.codes) if share else min_frequency)
    # The group takes one of the columns.
    if max_categories is not None and max_categories < len(categories) - rare.sum() + 1:
        by_count = np.argsort(counts, kind="stable")
        rare[by_count[: len(categories) - (max_categories - 1)]] = True
    return np.flatnonzero(rare) if rare.any() else None


def _dropped(
    drop: Any,
    drops_value: bool,
    categories: np.ndarray,
    outputs: np.ndarray,
    infrequent: np.ndarray | None,
    j: int,
) -> int | None:
    """Return the position of the category that is dropped, or None."""
    if not drops_value:
        binary = outputs.max(initial=-1) == 1
        drops = (drop == "first" and len(categories) > 0) or (drop == "if_binary" and binary)
        return int(np.argmax(outputs == 0)) if drops else None
    value = np.empty(1, dtype=object)
    value[0] = drop
    position = int(positions_in(categories, value)[0])
    if position < 0:
        raise ValueError(
            f"drop names the category {drop!r} for column {j}, which has only "
            f"{categories.tolist()}."
        )
    if infrequent is not None and position in infrequent:
        raise ValueError(
            f"Unable to drop category {drop!r} from feature {j} because it is infrequent."
        )
    return position
