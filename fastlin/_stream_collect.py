"""From the blocks of a source to a cache: rows checked, labels numbered, weights counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ._core.rows import Rows
from ._data import as_rows, own_rows
from ._exceptions import errors_about
from ._multilabel import Labels, target_of
from ._online_kinds import label_kind
from ._stream_cache import StreamCache
from ._validation import (
    check_feature_names,
    check_n_features,
    check_sample_weight,
    check_target,
    encode_known_labels,
    encode_labels,
    listed,
)

__all__ = ["ClassNumbers", "collect"]


class ClassNumbers:
    """Class labels by number: in the order in which they come up, or that of `classes`.

    Parameters
    ----------
    estimator : classifier
    classes : array-like or None
        All labels that may come; None finds them.
    """

    def __init__(self, estimator: Any, classes: Any = None):
        self._known = None
        if classes is not None:
            self._known = encode_labels(check_target(classes, estimator))[0]
            if len(self._known) < 2:
                raise ValueError(
                    f"classes must hold at least two classes, got {listed(self._known.tolist())}."
                )
        self._numbers: dict[Any, int] = {}
        self._found: list[np.ndarray] = []
        self._mass = np.zeros(0 if self._known is None else len(self._known))

    def encode(self, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        """The numbers of some labels, as int32; their weights are added up."""
        if self._known is not None:
            codes = encode_known_labels(y, self._known)
        else:
            own, codes = encode_labels(y)
            if self._found and label_kind(self._found[0]) != label_kind(own):
                raise TypeError(
                    "y must hold labels of one kind, all strings, all numbers or all booleans; "
                    f"{own.dtype} comes after {self._found[0].dtype}."
                )
            labels = own.tolist()
            new = [k for k, label in enumerate(labels) if label not in self._numbers]
            for k in new:
                self._numbers[labels[k]] = len(self._numbers)
            if new:
                self._found.append(own[new])
            codes = np.array([self._numbers[label] for label in labels])[codes]
        n = max(len(self._mass), len(self._numbers))
        mass = np.bincount(codes, weight, n).astype(np.float64)
        mass[: len(self._mass)] += self._mass
        self._mass = mass
        return codes.astype(np.int32)

    def finish(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(sorted classes, the place of each number among them, weight of each class)"""
        if self._known is not None:
            return self._known, np.arange(len(self._known)), self._mass
        classes, place = encode_labels(np.concatenate(self._found))
        mass = np.zeros(len(classes))
        mass[place] = self._mass
        return classes, place, mass


def collect(
    estimator: Any,
    blocks: Iterable[tuple],
    cache: StreamCache,
    *,
    numbers: ClassNumbers | None,
    dtype: Any = None,
    n_features: int | None = None,
    widens: bool = False,
    watch: Callable[[int], None] | None = None,
    name: str | None = None,
) -> None:
    """Bring blocks (X, y, weights or None) into a cache, and finish it.

    Parameters
    ----------
    estimator : estimator
        Gets the names and the number of columns.
    numbers : ClassNumbers or None
        None for a regression.
    dtype : dtype, optional
        Of the values; by default that of the first block decides.
    n_features : int, optional
        The number of columns; by default that of the first block or, if it `widens`, of the widest.
    watch : callable, optional
        Told the number of rows after each block.
    name : str, optional
        Of the file that the blocks are read from, for messages.
    """
    for number, (X, y, weight) in enumerate(blocks):
        place = f"In block {number} of the source"
        if name is not None:
            place = f"In {name}, from row {cache.n_rows + 1:,} on"
        with errors_about(place):
            check_feature_names(estimator, X, reset=not number)
            rows = _rows_of(X, cache.dtype or dtype)
            expected = n_features if widens or not number else cache.n_columns
            if expected is not None and not widens and rows.shape[1] != expected:
                raise ValueError(f"X has {rows.shape[1]} features, but {expected} are expected.")
            y = target_of(estimator, y, len(rows), numeric=numbers is None)
            if isinstance(y, Labels):
                raise ValueError(
                    "y must hold one label per row in fit_stream; partial_fit takes several."
                )
            weight = _weight_of(weight, len(rows))
            coded = y.astype(np.float64) if numbers is None else numbers.encode(y, weight)
            cache.append(rows, coded, weight)
        if watch is not None:
            watch(cache.n_rows)
    if not cache.n_rows:
        raise ValueError("source must give at least one row, got none.")
    cache.finish()
    if n_features is not None:
        cache.n_columns = n_features
    check_n_features(estimator, cache.n_columns, reset=True)


def _rows_of(X: Any, dtype: Any) -> Rows:
    """Rows that the caller cannot change any more; `Rows` are immutable."""
    return as_rows(X, dtype) if isinstance(X, Rows) else own_rows(X, dtype)


def _weight_of(weight: Any, n: int) -> np.ndarray | None:
    """Checked weights of a block, which may all be zero as long as other blocks have some."""
    if weight is None:
        return None
    array = np.asarray(weight)
    if array.shape == (n,) and array.dtype.kind in "biuf" and not array.any():
        return np.zeros(n)
    return np.array(check_sample_weight(weight, n))
