"""Several labels per row: each label is a binary problem of its own, whatever `multi_class` says.

A target is a matrix of zeros and ones with a column per label, dense or sparse, or a list with a
set of labels per row. The labels of a matrix are the numbers of its columns, or their names if it
is a data frame that has names; a later frame may have them in another order. Kept are the rows that
have each label, from which the target of a column is made when its learner is trained, and
forgotten thereafter: the matrix of 10,000 labels of a million rows is never there. A label that all
rows have, or none, leaves nothing to learn: its response is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._exceptions import warn
from ._kinds import is_sparse, names_of_columns
from ._params import shown
from ._targets import (
    check_target,
    encode_known_labels,
    encode_labels,
    listed,
    partial_fit_classes,
    refuse_masked,
)
from ._validation import effective_weight

__all__ = [
    "LabelColumn", "Labels", "above_thresholds", "as_array", "check_warm_start", "column_names",
    "constant_labels", "has_labels", "indicator_for", "is_multilabel", "keep_labels",
    "labels_in_stream", "labels_of_rows", "target_of",
]  # fmt: skip

_SETS = (set, frozenset)
_CONTAINERS = (*_SETS, list, tuple, np.ndarray)
# Of the binary problem of a label, which `class_weight` is about
_BOTH = np.array([0, 1])


@dataclass(frozen=True)
class LabelColumn:
    """The binary problem of a label: which of the n rows have it."""

    n: int
    rows: np.ndarray
    class_weight: Any

    def part(self, weight: np.ndarray | None) -> tuple:
        """(targets of +-1, weights or None, mask of the rows that take part or None)"""
        y = np.full(self.n, -1.0)
        y[self.rows] = 1.0
        if self.class_weight is None:
            return y, weight, None
        weight = effective_weight(self.class_weight, _BOTH, (y > 0).astype(np.int32), weight)
        return y, weight, weight > 0


@dataclass(frozen=True)
class Labels:
    """Which rows have each label: those of label k are `rows[ends[k] : ends[k + 1]]`."""

    classes: np.ndarray
    n: int
    ends: np.ndarray
    rows: np.ndarray
    by_number: bool

    def __len__(self) -> int:
        return self.n

    def columns(self, class_weight: Any) -> list[LabelColumn]:
        """The binary problem of each label."""
        parts = np.split(self.rows, self.ends[1:-1])
        return [LabelColumn(self.n, rows, class_weight) for rows in parts]

    def indicator(self) -> np.ndarray:
        """The matrix of zeros and ones."""
        matrix = np.zeros((self.n, len(self.classes)), dtype=np.int64)
        matrix[self.rows, np.repeat(np.arange(len(self.classes)), np.diff(self.ends))] = 1
        return matrix


def has_labels(estimator: Any) -> bool:
    """Whether an estimator was fitted to several labels per row."""
    return "thresholds_" in vars(estimator)


def is_multilabel(y: Any) -> bool:
    """Whether a target says more than one thing of each row, rightly or wrongly."""
    if is_sparse(y):
        return True
    if not isinstance(y, (list, tuple)):
        shape = getattr(y, "shape", ())
        if len(shape) == 2:
            return shape[1] != 1
        if len(shape) != 1 or getattr(getattr(y, "dtype", None), "kind", "") != "O":
            return False
        y = np.asarray(y).tolist()
    if not len(y) or not isinstance(y[0], _CONTAINERS):
        return False
    if any(isinstance(labels, _SETS) for labels in y):
        return True
    sizes = {
        len(labels) for labels in y if isinstance(labels, _CONTAINERS) and np.shape(labels) != ()
    }
    return bool(sizes) and sizes != {1}


def as_array(y: Any) -> np.ndarray:
    """A target as an array whose rows can be chosen; sets of labels stay what they are."""
    if isinstance(y, (list, tuple)) and is_multilabel(y) and _as_matrix(y) is None:
        held = np.empty(len(y), dtype=object)
        for place, labels in enumerate(y):
            held[place] = labels
        return held
    return np.asarray(y)


def target_of(estimator: Any, y: Any, n_samples: int, numeric: bool = False) -> Any:
    """A checked target: `Labels` of a classifier that takes them, else an array."""
    if estimator._merged_tags()["multi_label"] and is_multilabel(y):
        return _read(estimator, y, n_samples)
    return check_target(y, estimator, numeric=numeric, n_samples=n_samples)


def _read(estimator: Any, y: Any, n_samples: int | None) -> Labels:
    """The labels of a target that `is_multilabel`."""
    if is_sparse(y):
        labels = _of_sparse(y)
    else:
        refuse_masked(y, "y")
        matrix = _as_matrix(y)
        labels = _of_sets(estimator, y) if matrix is None else _of_dense(matrix, column_names(y))
    if n_samples is not None and labels.n != n_samples:
        raise ValueError(
            f"X and y must have the same number of rows: X has {n_samples} and y has {labels.n}."
        )
    return labels


def labels_of_rows(estimator: Any, y: Any) -> Labels:
    """The labels of a target that `is_multilabel`, of as many rows as there are."""
    return _read(estimator, y, None)


def _as_matrix(y: Any) -> np.ndarray | None:
    """A dense matrix of numbers; None for sets of labels."""
    try:
        matrix = np.asarray(y)
    except ValueError:
        return None  # rows of different lengths
    if matrix.ndim > 2:
        raise ValueError(f"y should be a 1d array, got an array of shape {matrix.shape}.")
    if matrix.dtype.kind == "c":
        raise ValueError("Complex data not supported: y holds complex numbers.")
    # lists of equally many names per row, or of none
    named = isinstance(y, (list, tuple)) and (matrix.dtype.kind in "OUS" or not matrix.size)
    return None if matrix.ndim == 1 or named else matrix


def column_names(y: Any) -> np.ndarray | None:
    """The names of the columns of a data frame, if all are strings and no two the same."""
    names = names_of_columns(y)
    if not names:
        return None
    told = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return np.array(names) if told else None


def _of_dense(matrix: np.ndarray, names: np.ndarray | None = None) -> Labels:
    """Of a matrix of zeros and ones."""
    ones = matrix == 1
    _refuse_other(matrix[~(ones | (matrix == 0))], matrix.shape)
    label, rows = np.nonzero(ones.T)
    return _by_number(len(matrix), matrix.shape[1], label, rows, names)


def _of_sparse(matrix: Any) -> Labels:
    """Of a sparse matrix of zeros and ones."""
    if matrix.ndim != 2:
        raise ValueError(f"y must be a matrix with a row per row of X, got shape {matrix.shape}.")
    matrix = matrix.tocsc(copy=True)
    matrix.sum_duplicates()
    ones = matrix.data == 1
    _refuse_other(matrix.data[~(ones | (matrix.data == 0))], matrix.shape)
    label = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))[ones]
    return _by_number(*matrix.shape, label, matrix.indices[ones])


def _refuse_other(values: np.ndarray, shape: tuple) -> None:
    """Raise for entries of a matrix that are neither 0 nor 1."""
    if len(values):
        raise ValueError(
            f"y should be a 1d array, or a matrix of zeros and ones with a column per label, got "
            f"{shown(values[0])} in an array of shape {shape}; fit one estimator per column of "
            "classes, or give labels as a list of sets."
        )


def _by_number(n: int, K: int, label: np.ndarray, rows: np.ndarray,
               names: np.ndarray | None = None) -> Labels:
    """Labels that are columns: their numbers, or their names."""
    classes = np.arange(K) if names is None else names
    return Labels(classes, n, _ends(label, K), rows.astype(np.int64), True)


def _in_order_of(labels: Labels, known: np.ndarray) -> Labels | None:
    """Labels that are columns, as those that are known; None if they are others. Columns without
    names, on either side, go by their numbers."""
    own = labels.classes
    if len(own) != len(known):
        return None
    if own.dtype.kind != "U" or known.dtype.kind != "U" or np.array_equal(own, known):
        return Labels(known, labels.n, labels.ends, labels.rows, True)
    place = {name: k for k, name in enumerate(own.tolist())}
    if set(place) != set(known.tolist()):
        return None
    parts = np.split(labels.rows, labels.ends[1:-1])
    parts = [parts[place[name]] for name in known.tolist()]
    ends = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return Labels(known, labels.n, ends, np.concatenate(parts), True)


def _ends(label: np.ndarray, K: int) -> np.ndarray:
    """Where the rows of each label begin and end, from the sorted labels of all."""
    return np.concatenate([[0], np.cumsum(np.bincount(label, minlength=K))])


def _flattened(y: Any) -> tuple[list, np.ndarray]:
    """(labels of all rows one after the other, each once per row; their rows)"""
    sets = y.tolist() if hasattr(y, "tolist") else list(y)
    flat, sizes = [], []
    for place, given in enumerate(sets):
        if not isinstance(given, _CONTAINERS) or getattr(given, "ndim", 1) != 1:
            raise ValueError(
                f"y must hold a set of labels for each row, as others, got {shown(given)} at "
                f"position {place}; a row without labels has set()."
            )
        try:
            own = dict.fromkeys(given.tolist() if isinstance(given, np.ndarray) else given)
        except TypeError as error:
            raise TypeError(f"y must hold labels that can be hashed: {error}.") from None
        flat.extend(own)
        sizes.append(len(own))
    return flat, np.repeat(np.arange(len(sizes)), sizes)


def _of_sets(estimator: Any, y: Any) -> Labels:
    """Of a set of labels per row."""
    flat, rows = _flattened(y)
    if not flat:
        return Labels(np.empty(0), len(y), np.zeros(1, np.int64), rows, False)
    classes, codes = encode_labels(check_target(flat, estimator))
    return _by_code(classes, codes, rows, len(y))


def _by_code(classes: np.ndarray, codes: np.ndarray, rows: np.ndarray, n: int) -> Labels:
    """Labels from the codes of all that rows have."""
    order = np.argsort(codes, kind="stable")
    return Labels(classes, n, _ends(codes, len(classes)), rows[order], False)


def labels_in_stream(estimator: Any, y: Any, given: Labels | Any, classes: Any,
                     grow: bool) -> Labels:
    """The labels of a batch of `partial_fit`, with a column for each that is announced."""
    if hasattr(estimator, "coef_") and has_labels(estimator) != isinstance(given, Labels):
        raise ValueError(
            "y must be as in the first call to partial_fit: "
            + ("a matrix of zeros and ones or a list of sets of labels."
               if has_labels(estimator) else "one label for each row.")
        )  # fmt: skip
    if not isinstance(given, Labels):
        return given
    if grow:
        raise ValueError(
            "grow must be False where rows have several labels, got True; announce all of them "
            "as classes in the first call."
        )
    known = getattr(estimator, "classes_", None)
    if given.by_number:
        expected = told = given.classes if known is None else known
        if classes is not None:
            told = encode_labels(check_target(classes, estimator))[0]
        ordered = _in_order_of(given, expected)
        if ordered is None or not np.array_equal(told, np.sort(expected)) and told is not expected:
            raise ValueError(
                f"y must have a column for each label, {listed(told.tolist())}, got a matrix of "
                f"{len(given.classes)} columns: {listed(given.classes.tolist())}."
            )
        return ordered
    known = partial_fit_classes(estimator, classes)
    flat, rows = _flattened(y)
    codes = np.zeros(0, np.int32)
    if flat:
        codes = encode_known_labels(check_target(flat, estimator), known)
    return _by_code(known, codes, rows, given.n)


def constant_labels(estimator: Any, labels: Labels, weight: np.ndarray | None,
                    share_rows: bool = False) -> np.ndarray:
    """+1 for labels that all rows with a weight have, -1 for those that none has; 0 for the others.

    Labels of which nothing can be learnt are warned of: where they share their rows, in one loss,
    only those that no row has.
    """
    if not len(labels.classes):
        raise ValueError("y must hold at least one label, but no row has any.")
    counted = np.ones(labels.n, bool) if weight is None else weight > 0
    having = np.add.reduceat(np.append(counted[labels.rows], False), labels.ends[:-1], dtype=int)
    having[np.diff(labels.ends) == 0] = 0
    lacking = int(counted.sum()) - having
    if isinstance(estimator.class_weight, dict):
        having = having * (estimator.class_weight.get(1, 1) > 0)
        lacking = lacking * (estimator.class_weight.get(0, 1) > 0)
    if ((having == 0) & (lacking == 0)).any():
        raise ValueError(
            f"class_weight must leave a weight above 0 to 0 or 1, got {estimator.class_weight!r}."
        )
    fixed = np.where(lacking == 0, 1, np.where(having == 0, -1, 0))
    for sign, text in ((1, "all rows have the labels"), (-1, "no row has the labels")):
        if (fixed == sign).any() and not (share_rows and sign > 0):
            warn(
                "UserWarning",
                f"{text} {listed(labels.classes[fixed == sign].tolist())}, as far as weights are "
                "above 0: what is predicted of them is the same for every row.",
            )
    return fixed


def check_warm_start(estimator: Any, labels: Labels) -> None:
    """Refuse to go on from weights of other labels."""
    if getattr(estimator, "warm_start", False) and hasattr(estimator, "coef_"):
        old = estimator.classes_
        if not has_labels(estimator) or not np.array_equal(old, labels.classes):
            raise ValueError(
                f"warm_start goes on from the labels {listed(old.tolist())}, but y holds "
                f"{listed(labels.classes.tolist())}, several per row; fit with warm_start=False."
            )


def keep_labels(estimator: Any, labels: Labels, fixed: np.ndarray) -> None:
    """Set the attributes of a model of several labels per row, once its weights are there."""
    estimator.classes_ = labels.classes
    estimator.coef_[fixed != 0] = 0
    estimator.intercept_[fixed != 0] = np.inf * fixed[fixed != 0]
    estimator.thresholds_ = np.zeros(len(labels.classes))


def above_thresholds(estimator: Any, z: np.ndarray) -> np.ndarray:
    """Which labels the responses z predict, as a matrix of zeros and ones."""
    try:
        thresholds = np.asarray(estimator.thresholds_, dtype=np.float64)
    except (TypeError, ValueError):
        thresholds = np.array(np.nan)
    if thresholds.shape not in ((), z.shape[1:]) or np.isnan(thresholds).any():
        raise ValueError(
            f"thresholds_ must hold a number for each of the {z.shape[1]} labels, got "
            f"{shown(estimator.thresholds_)}."
        )
    return (z > thresholds).astype(np.int64)


def indicator_for(estimator: Any, y: Any, n_samples: int) -> np.ndarray:
    """The matrix of zeros and ones that a model's prediction is compared with; rows that have a
    label which it does not know are no such row."""
    if not is_multilabel(y) and not (len(estimator.classes_) == 1 and np.ndim(y) == 2):
        raise ValueError(
            "y must be a matrix of zeros and ones or a list of sets of labels, as in fit, got "
            f"{shown(y)}."
        )
    if not is_multilabel(y):
        y = np.asarray(y)
        return _of_dense(y).indicator()
    labels, known = _read(estimator, y, n_samples), estimator.classes_
    if labels.by_number:
        ordered = _in_order_of(labels, known)
        if ordered is None:
            raise ValueError(
                f"y must have a column for each of the {len(known)} labels, got "
                f"{len(labels.classes)}: {listed(labels.classes.tolist())}."
            )
        return ordered.indicator()
    place = {label: k for k, label in enumerate(known.tolist())}
    columns = np.array([place.get(label, -1) for label in labels.classes.tolist()], np.intp)
    matrix, given = np.zeros((labels.n, len(known)), np.int64), labels.indicator()
    matrix[:, columns[columns >= 0]] = given[:, columns >= 0]
    matrix[given[:, columns < 0].any(axis=1)] = -1
    return matrix
