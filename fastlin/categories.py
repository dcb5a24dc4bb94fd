"""Categorical columns as 0/1 columns.

`OneHotEncoder` turns each column into as many columns as it has categories; in every row at most
one of them is 1. So a row of the result is a short list of column numbers, all that is ever
computed here: the matrix of global column numbers (`OneHotEncoder.column_numbers`, one int32 per
cell, -1 where nothing is set) is at once the index array of the CSR matrix or of the `Rows`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._base import Estimator, TransformerMixin
from ._category_plan import plan_column, positions_in
from ._columns import Coded, coded_columns, table_shape, without_missing
from ._core.rows import Rows
from ._exceptions import warn
from ._indicators import ones_result
from ._parallel import run
from ._params import (
    ArrayLike,
    Boolean,
    Callable,
    Constraint,
    Either,
    Instance,
    Integer,
    NumberType,
    OneOf,
    Real,
)
from ._validation import check_feature_names, check_n_features

__all__ = ["OneHotEncoder"]

_BLOCK = 4096
_MAX_COLUMNS = np.iinfo(np.int32).max


class OneHotEncoder(TransformerMixin, Estimator):
    """Encode categorical columns as one 0/1 column per category.

    Parameters
    ----------
    categories : "auto" or list of array-like, default="auto"
        The categories of each column in the order of their output columns; "auto" takes those
        seen by `fit`, sorted. Numbers must be sorted, NaN comes last.
    drop : {"first", "if_binary"}, array-like of shape (n_features,) or None, default=None
        Category to leave out of each column, so that the columns are not collinear: the first,
        the first of those columns only that have two categories, or the one given. Infrequent
        categories are grouped before.
    sparse_output : bool, default=True
        Whether `transform` returns a sparse result instead of a dense array.
    dtype : dtype, default=numpy.float64
        Type of the values.
    handle_unknown : {"error", "ignore", "infrequent_if_exist", "warn"}, default="error"
        What `transform` does with a category that `fit` has not seen: raise, encode it as zeros
        in all columns of its feature, or count it as infrequent if there is that group, else as
        zeros; "warn" is the same with a warning. Wherever an unknown category becomes zeros a
        warning says so (scikit-learn's "ignore" is silent).
    handle_missing : {"category", "ignore", "error"}, default="category"
        What None, NaN and NA are: categories like others, nothing (zeros in all columns of their
        feature), or a ValueError. Where `fit` has seen only one of None (of polars, Arrow, lists)
        and NaN (of pandas, NumPy) in a column, it stands for both in `transform`.
    min_frequency : int or float, default=None
        Categories seen less often than this (in this share of the rows, if a float) form the
        group of infrequent ones, which gets one output column, the last of its feature.
    max_categories : int, default=None
        Largest number of output columns per feature, the infrequent group included, before
        `drop`. The rarest categories go to that group.
    feature_name_combiner : "concat" or callable, default="concat"
        Called with the name of the feature and the category, returns the name of the output
        column. "concat" is ``feature + "_" + str(category)``.
    output : {"csr", "rows"}, default="csr"
        What a sparse result is: a `scipy.sparse.csr_matrix`, or `fastlin.Rows` without a value
        array (4 bytes per cell instead of 12), which every estimator of fastlin takes; numpy, and
        with it scikit-learn's ColumnTransformer, makes a dense array of it.
    n_jobs : int or None, default=None
        Threads; -1 takes one per core. The result does not depend on it.

    Attributes
    ----------
    categories_ : list of ndarray
        The categories of each column, dropped and infrequent ones included.
    drop_idx_ : ndarray of shape (n_features,), dtype object, or None
        Position in ``categories_[j]`` of the category dropped, None for columns that keep all. For
        the infrequent group, the first of its categories.
    infrequent_categories_ : list of ndarray or None
        The infrequent categories of each column; only with `min_frequency` or `max_categories`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X is a data frame whose column names are all strings.

    Notes
    -----
    Columns of data frames keep their own types; of the categories, missing values (None, NaN, NA)
    are the last. Categories of pandas, polars and Arrow columns are read from their dictionaries.

    Examples
    --------
    >>> from fastlin import OneHotEncoder
    >>> encoder = OneHotEncoder().fit([["red", 1], ["green", 3], ["red", 2]])
    >>> encoder.get_feature_names_out(["colour", "size"])
    array(['colour_green', 'colour_red', 'size_1', 'size_2', 'size_3'],
          dtype=object)
    >>> encoder.transform([["green", 2]]).toarray()
    array([[1., 0., 0., 1., 0.]])
    >>> encoder.inverse_transform([[0, 1, 1, 0, 0]])
    array([['red', 1]], dtype=object)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "categories": Either(OneOf("auto"), Instance(list, tuple)),
        "drop": Either(OneOf("first", "if_binary", None), ArrayLike()),
        "sparse_output": Boolean(),
        "dtype": Either(NumberType(), OneOf(None)),
        "handle_unknown": OneOf("error", "ignore", "infrequent_if_exist", "warn"),
        "handle_missing": OneOf("category", "ignore", "error"),
        "min_frequency": Either(Integer(1), Real(0, 1, closed="neither"), OneOf(None)),
        "max_categories": Either(Integer(1), OneOf(None)),
        "feature_name_combiner": Either(OneOf("concat"), Callable()),
        "output": OneOf("csr", "rows"),
        "n_jobs": Either(Integer(), OneOf(None)),
    }
    _tags: ClassVar[dict[str, Any]] = {"sparse": False, "categorical": True, "allow_nan": True}
    _fitted_attribute = "categories_"

    def __init__(
        self,
        *,
        categories="auto",
        drop=None,
        sparse_output=True,
        dtype=np.float64,
        handle_unknown="error",
        handle_missing="category",
        min_frequency=None,
        max_categories=None,
        feature_name_combiner="concat",
        output="csr",
        n_jobs=None,
    ):
        self.categories = categories
        self.drop = drop
        self.sparse_output = sparse_output
        self.dtype = dtype
        self.handle_unknown = handle_unknown
        self.handle_missing = handle_missing
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.feature_name_combiner = feature_name_combiner
        self.output = output
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> OneHotEncoder:
        """Learn the categories.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numbers, strings or any hashable objects.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is empty, not two-dimensional or has infinities; with given `categories`, if they
            repeat one, are out of order, or lack one of X while `handle_unknown` is "error"; if
            `drop` names no category or an infrequent one.
        TypeError
            If X is sparse, or strings and numbers are mixed within a column.
        """
        self._check_params()
        self._check_combinations()
        self._fit(self._coded(X, reset=True))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the categories of X and encode it; looks at X once.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            As for `fit`.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix, ndarray or Rows
            As `transform`.
        """
        self._check_params()
        self._check_combinations()
        columns = self._coded(X, reset=True)
        self._fit(columns)
        numbers = self._numbers_of(columns)
        # The codes are as large as the numbers: let them go before the result takes memory.
        del columns
        return self._assembled(numbers)

    def transform(self, X: Any) -> Any:
        """Encode X.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            As for `fit`.

        Returns
        -------
        csr_matrix, ndarray or Rows of shape (n_samples, n_output_columns)
            As `sparse_output` and `output` ask for.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            For a category that `fit` has not seen, with its column, if `handle_unknown` is
            "error"; for other columns than `fit` has seen.
        """
        return self._assembled(self.column_numbers(X))

    def column_numbers(self, X: Any) -> np.ndarray:
        """Return the number of the output column that is 1, for every cell.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features), dtype int32, C-contiguous
            Increasing along each row but for -1, which stands for a dropped or an unknown category.
        """
        self._check_fitted("transform")
        return self._numbers_of(self._coded(X, reset=False))

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Return the categories behind encoded rows.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_output_columns)
            What `transform` returned, or scores: the largest positive entry of each feature's
            columns decides.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Where a feature has no positive entry: its dropped category if it has one, else None
            if unknown or missing categories are encoded as zeros. An infrequent category is given
            as "infrequent_sklearn".

        Raises
        ------
        ValueError
            If X has the wrong number of columns, or a row without an entry that only an error
            can explain.
        """
        self._check_fitted("inverse_transform")
        best = self._best_entries(X)
        columns = [self._inverse_column(j, best[:, j]) for j in range(len(self._plans))]
        kinds = {column.dtype.kind for column in columns}
        same = len(kinds) == 1 or kinds <= set("iuf")
        result = np.empty(best.shape, np.result_type(*columns) if same else object)
        for j, column in enumerate(columns):
            result[:, j] = column
        return result

    @property
    def infrequent_categories_(self) -> list[np.ndarray | None]:
        """The infrequent categories of each column."""
        if "categories_" not in self.__dict__ or not self._groups():
            raise AttributeError(
                "infrequent_categories_ is there only after fit with "
                "min_frequency or max_categories."
            )
        return [
            None if plan.infrequent is None else categories[plan.infrequent]
            for plan, categories in zip(self._plans, self.categories_, strict=True)
        ]

    def _groups(self) -> bool:
        """Say whether infrequent categories are grouped."""
        return self.min_frequency is not None or self.max_categories is not None

    def _check_combinations(self) -> None:
        """Refuse parameters that contradict each other."""
        if self.output == "rows":
            if not self.sparse_output:
                raise ValueError("output='rows' needs sparse_output=True.")
            if np.dtype(self.dtype) not in (np.float32, np.float64):
                raise ValueError(
                    "output='rows' needs dtype float32 or float64, got "
                    f"{np.dtype(self.dtype).name}."
                )

    def _coded(self, X: Any, reset: bool) -> list[Coded]:
        """Check X and return its columns as codes and values."""
        check_feature_names(self, X, reset)
        if not reset and hasattr(X, "shape"):
            _, d = table_shape(X)
            check_n_features(self, d, reset)
        columns = coded_columns(X, self.n_jobs)
        check_n_features(self, len(columns), reset)
        if self.handle_missing == "category":
            return columns
        names = getattr(self, "feature_names_in_", [None] * len(columns))
        return [
            without_missing(column, self.handle_missing == "error", j, name)
            for j, (column, name) in enumerate(zip(columns, names, strict=True))
        ]

    def _fit(self, columns: list[Coded]) -> None:
        """Set what `fit` learns from coded columns."""
        d = len(columns)
        given = (
            self._per_column("categories", d)
            if not isinstance(self.categories, str)
            else [None] * d
        )
        drop = self.drop if self.drop is None or isinstance(self.drop, str) else list(self.drop)
        drops = self._per_column("drop", d) if isinstance(drop, list) else [drop] * d
        plans = [
            plan_column(column, j, self, given[j], drops[j], isinstance(drop, list))
            for j, column in enumerate(columns)
        ]
        starts = np.cumsum([0] + [plan.n_outputs for plan in plans])
        if starts[-1] > _MAX_COLUMNS:
            raise ValueError(
                f"X has {starts[-1]} categories, more than 32-bit column numbers can "
                "tell apart; set max_categories or hash them."
            )
        self._plans, self._starts = plans, starts
        self.drop_idx_ = None
        if self.drop is not None:
            self.drop_idx_ = np.empty(d, dtype=object)
            self.drop_idx_[:] = [plan.dropped for plan in plans]
        self.categories_ = [plan.categories for plan in plans]

    def _per_column(self, name: str, d: int) -> list:
        """Return a parameter that has one element per column."""
        values = list(getattr(self, name))
        if len(values) != d:
            raise ValueError(
                f"{name} must have one element per column of X: {d}, got {len(values)}."
            )
        return values

    def _numbers_of(self, columns: list[Coded]) -> np.ndarray:
        """Return the global column numbers of coded columns."""
        tables: list[np.ndarray] = []
        notes: list[str] = []
        for j, (column, plan) in enumerate(zip(columns, self._plans, strict=True)):
            position = positions_in(plan.categories, column.values)
            unknown = position < 0
            if unknown.any():
                self._report_unknown(j, column, unknown, notes)
            local = np.full(len(position) + 1, -1, np.int64)
            local[:-1][unknown] = plan.unknown
            local[:-1][~unknown] = plan.outputs[position[~unknown]]
            # The code -1, of a missing value that is ignored, finds the last.
            tables.append(np.where(local >= 0, local + self._starts[j], -1).astype(np.int32))
        _warn(notes)
        n = len(columns[0].codes)
        numbers = np.empty((n, len(columns)), np.int32)

        def fill(first: int, stop: int) -> None:
            """Number some rows, by blocks that stay in the cache while columns are written."""
            for start in range(first, stop, _BLOCK):
                block = slice(start, min(start + _BLOCK, stop))
                for j, (column, table) in enumerate(zip(columns, tables, strict=True)):
                    numbers[block, j] = table[column.codes[block]]

        run(
            [lambda k=k: fill(k, min(k + 32 * _BLOCK, n)) for k in range(0, n, 32 * _BLOCK)],
            self.n_jobs,
        )
        return numbers

    def _report_unknown(self, j: int, column: Coded, unknown: np.ndarray, notes: list[str]) -> None:
        """Raise for unknown categories, or note what became of them."""
        values = column.values[unknown].tolist()
        shown = ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")
        names = getattr(self, "feature_names_in_", None)
        name = "" if names is None else f" ({names[j]!r})"
        found = f"Found unknown categories [{shown}] in column {j}{name} during transform"
        if self.handle_unknown == "error":
            row = int(np.isin(column.codes, np.flatnonzero(unknown)).argmax())
            raise ValueError(
                f"{found}, first in row {row}; handle_unknown='ignore' encodes them as zeros."
            )
        if self._plans[j].unknown < 0:
            notes.append(f"{found}: they are encoded as all zeros")
        elif self.handle_unknown == "warn":
            notes.append(f"{found}: they are encoded as infrequent")

    def _from_places(self, places: np.ndarray) -> Any:
        """Encode rows whose categories are known by their places in `categories_`, -1 for none;
        for encoders that neither group nor drop any."""
        starts = np.asarray(self._starts[:-1], np.int32)
        return self._assembled(np.where(places < 0, np.int32(-1), places + starts))

    def _warn_of_unknown(self, values: list[list]) -> None:
        """Warn of categories that `transform` would find unknown, by column."""
        notes: list[str] = []
        for j, found in enumerate(values):
            if found:
                column = Coded(np.zeros(0, np.int32), np.array(found, dtype=object))
                self._report_unknown(j, column, np.ones(len(found), bool), notes)
        _warn(notes)

    def _assembled(self, numbers: np.ndarray) -> Any:
        """Turn column numbers into the kind of result asked for."""
        output = self.output if self.sparse_output else "dense"
        return ones_result(numbers, int(self._starts[-1]), self.dtype, output)

    def _best_entries(self, X: Any) -> np.ndarray:
        """Return for each row and feature the local number of the largest positive entry, or -1."""
        from scipy.sparse import csr_matrix, issparse

        if isinstance(X, Rows):
            X = X.to_csr()
        X = X if issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self._starts[-1]:
            raise ValueError(
                "Shape of the passed X data is not correct. Expected "
                f"{self._starts[-1]} columns, got shape {X.shape}."
            )
        X = csr_matrix(X)
        if not np.isfinite(X.data).all():
            raise ValueError("X must be finite, but it holds NaN or infinity.")
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        feature = np.searchsorted(self._starts, X.indices, side="right") - 1
        positive = X.data > 0
        row, feature, column, value = (a[positive] for a in (row, feature, X.indices, X.data))
        # Of equal values the first column wins: assign in ascending order of value.
        order = np.lexsort((-column, value))
        best = np.full((X.shape[0], len(self._plans)), -1, np.int64)
        best[row[order], feature[order]] = (column - self._starts[feature])[order]
        return best

    def _inverse_column(self, j: int, best: np.ndarray) -> np.ndarray:
        """Return the categories of one feature for local output numbers."""
        plan = self._plans[j]
        labels, nothing = plan.grouped(), best < 0
        place = plan.dropped_place()
        if place is not None:
            return labels[np.where(nothing, place, best + (best >= place))]
        if not nothing.any():
            return labels[best]
        ignores = self.handle_missing == "ignore"
        if not ignores and (self.handle_unknown == "error" or plan.unknown >= 0):
            rows = np.flatnonzero(nothing)
            raise ValueError(
                f"Samples {rows[:5].tolist()} can not be inverted: they have no entry "
                f"for feature {j}, which drops no category and knows no unknown ones."
            )
        return np.append(labels.astype(object), [None])[best]

    def _feature_names_out(self, names: np.ndarray) -> np.ndarray:
        """Return the names of the output columns."""
        given = self.feature_name_combiner
        combine = _concatenated if isinstance(given, str) else given
        out = [
            combine(name, category)
            for name, plan in zip(names, self._plans, strict=True)
            for category in plan.labels()
        ]
        wrong = next((name for name in out if not isinstance(name, str)), None)
        if wrong is not None:
            raise TypeError(
                "feature_name_combiner must return strings, but it returned "
                f"{type(wrong).__name__}."
            )
        return np.array(out, dtype=object)


def _warn(notes: list[str]) -> None:
    """Warn of what is noted, if anything is."""
    if notes:
        warn("UserWarning", "; ".join(notes) + ".")


def _concatenated(feature: str, category: Any) -> str:
    """Return the default name of an output column."""
    return f"{feature}_{category!s}"
