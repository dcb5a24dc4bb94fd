"""Columns of a table whose complaints about a value name the line that it stands on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._cells import CellNumbers, Cells
from ._decimal import as_float64, number_of
from ._params import shown
from ._tables import named_column

__all__ = ["CellColumns", "Columns", "NamedArray", "class_labels"]


class Columns:
    """Named columns of equal length, with the place of each row in its file.

    Parameters
    ----------
    columns : dict of str to list
        Values by column.
    lines : list of int, optional
        The line of the file on which each row begins.
    name : str, optional
        The file's name in messages.
    has_header : bool, default=False
        Whether the names of the columns come from the first line of the file.
    unit : {"line", "row"}, default="line"
        What `lines` counts.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence],
        lines: list[int] | None = None,
        name: str = "the table",
        has_header: bool = False,
        unit: str = "line",
    ):
        self.columns, self.lines, self.name = columns, lines, name
        self.has_header, self.unit = has_header, unit

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def take_rows(self, rows: np.ndarray) -> Columns:
        """Return some of the rows."""
        places = rows.tolist()
        columns = {
            name: values.take(rows) if isinstance(values, Cells) else [values[k] for k in places]
            for name, values in self.columns.items()
        }
        lines = None if self.lines is None else [self.lines[row] for row in places]
        return Columns(columns, lines, self.name, self.has_header, self.unit)

    def column(self, name: str) -> Sequence:
        """Return one column; ValueError that lists those there are if it is missing."""
        return named_column(self.columns, name, self.name)

    def error_at(self, row: int, message: str) -> ValueError:
        """Return the error for a row, with its line if that is known."""
        place = f"row {row}" if self.lines is None else f"{self.unit} {self.lines[row]}"
        return ValueError(f"{self.name}, {place}: {message}.")

    def numbers(self, name: str, remedy: str = "") -> np.ndarray:
        """Return a column as float64; ValueError with the line for what is no finite number."""
        values = self.column(name)
        try:
            if isinstance(values, Cells):
                numbers = values.numbers()
            else:
                numbers = as_float64(values)
        except (TypeError, ValueError, OverflowError):
            numbers = np.array([_number(value) for value in values])
        wrong = ~np.isfinite(numbers)
        if wrong.any():
            row = int(wrong.argmax())
            what = shown(values[row]) if values[row] not in (None, "") else "nothing"
            place = list(self.columns).index(name) + 1
            if self.has_header and not self._looks_named():
                remedy = f"; say --no-header if the first line holds data{remedy}"
            message = f"{name!r} (column {place}) must be a finite number, but it holds {what}"
            raise self.error_at(row, message + remedy)
        return numbers

    def _looks_named(self) -> bool:
        """Tell whether the names of the columns look like names, and not like one of the rows."""
        return not any(
            math.isfinite(_number(name)) or name in values for name, values in self.columns.items()
        )

    def texts(self, name: str) -> Sequence[str]:
        """Return a column of texts; ValueError with the line for what is none."""
        values = self.column(name)
        if isinstance(values, Cells):
            return values.tolist()
        for row, value in enumerate(values):
            if not isinstance(value, str):
                what = "nothing" if value is None else shown(value)
                raise self.error_at(row, f"{name!r} must be a text, but it holds {what}")
        return values


class NamedArray:
    """An array whose columns have names, which estimators take over as they do those of a frame.

    Parameters
    ----------
    array : ndarray of shape (n_samples, n_features)
    names : list of str
    """

    def __init__(self, array: np.ndarray, names: list[str]):
        self.column_names, self.shape = names, array.shape
        self._array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self._array


class CellColumns(dict):
    """The columns of a block of a table, name -> list of cells, which encoders take for a table.

    To the transformers here it is a table with names, such as a data frame; to numpy an array of
    objects; and ``pandas.DataFrame(columns)`` makes a data frame of it.
    """

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(next(iter(self.values()), ())), len(self)

    def column(self, place: int) -> list:
        """The cells of one column."""
        return self[self.column_names[place]]

    def select(self, places: Sequence[int]) -> CellColumns:
        """A table of some columns."""
        names = self.column_names
        return CellColumns({names[place]: self[names[place]] for place in places})

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        n, d = self.shape
        cells = np.empty((n, d), dtype=object)
        for j, column in enumerate(self.values()):
            cells[:, j] = np.fromiter(column, object, n)
        return cells if dtype is None else cells.astype(dtype)


def class_labels(table: Columns, name: str, kinds: list[str | None] | None = None) -> np.ndarray:
    """Return a column of classes: all strings, all booleans or all whole numbers.

    Of a table in blocks, `kinds` is a list that is passed with all of them: it is given the kind of
    the first labels, which those of later blocks have to be of, too.
    """
    values = table.column(name)
    kinds = [] if kinds is None else kinds
    if not kinds:
        kinds.append(_kind_of(values[0]))
    first = kinds[0]
    if isinstance(values, Cells):
        known = CellNumbers()
        codes = known.number(values)
        labels = known.values()
        if "" in labels:
            row = int((codes == labels.index("")).argmax())
            raise table.error_at(row, f"the label {name!r} is missing")
        return np.array(labels)[codes]
    for row, value in enumerate(values):
        if value is None or value == "":
            raise table.error_at(row, f"the label {name!r} is missing")
        kind = _kind_of(value)
        if kind is None:
            raise table.error_at(row, f"the label {name!r} is no class: {shown(value)}")
        if kind != first:
            raise table.error_at(
                row,
                f"the label {name!r} is a {kind}, {shown(value)}, where a {first} stood before",
            )
    if first == "boolean":
        return np.array([str(value).lower() for value in values])
    return np.array(values) if first == "string" else np.array([int(value) for value in values])


def _number(value: Any) -> float:
    """Return a number, NaN for what is none."""
    try:
        return number_of(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _kind_of(label: Any) -> str | None:
    """Name the kind of a label; None for what cannot be one."""
    if isinstance(label, str):
        return "string"
    if isinstance(label, bool):
        return "boolean"
    whole = isinstance(label, int) or isinstance(label, float) and label.is_integer()
    return "number" if whole else None
