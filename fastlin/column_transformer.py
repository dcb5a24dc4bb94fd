"""Mixed tables: columns of several kinds, each with a transformer of its own, as one matrix."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ._base import TransformerMixin
from ._clone import clone
from ._columns import as_table, is_frame, table_shape
from ._core.rows import Rows
from ._delegation import passes
from ._exceptions import errors_about
from ._hstack import joined
from ._kinds import is_sparse
from ._named_parts import NamedParts, named_by_class, output_name, output_names
from ._parallel import run
from ._params import (
    Boolean,
    Callable,
    Constraint,
    Either,
    HasMethods,
    Instance,
    Integer,
    OneOf,
    shown,
)
from ._routing import columns_router, routing_is_on
from ._shared_steps import is_stateless
from ._table_columns import Choice, chosen_columns, places_by_name, select_columns
from ._validation import check_feature_names
from .pipeline import _fitted_transform

__all__ = ["ColumnTransformer", "make_column_transformer"]


class ColumnTransformer(TransformerMixin, NamedParts):
    """Encode columns of several kinds side by side.

    Numbers, categories and texts of one table each go through a transformer of their own; the
    results become one matrix. scikit-learn's class of the same name takes transformers of fastlin
    too; this one needs no scikit-learn, keeps ones and signs without values (`Rows.hstack`), and
    `fastlin.save` can store it.

    Parameters
    ----------
    transformers : list of (str, transformer, columns)
        Names, transformers ("passthrough" hands columns on as they are, "drop" leaves them out),
        and the columns of each: names, numbers, a slice, a mask, or a callable that gets X and
        returns one of these. A single name or number hands over the column itself instead of a
        table with one column, which is what text vectorizers take.
    remainder : {"drop", "passthrough"} or transformer, default="drop"
        What happens to columns that no transformer gets.
    n_jobs : int or None, default=None
        Threads; -1 takes one per core. The result does not depend on it.
    verbose_feature_names_out : bool, str or callable, default=True
        Whether output names begin with the name of the transformer and two underscores; or a
        format such as ``"{feature_name} of {transformer_name}"``, or what makes a name of the
        transformer's name and the column's.
    output : {"csr", "rows"}, default="csr"
        What the result is: a scipy matrix, or `fastlin.Rows`. Unless it is "rows", blocks that are
        all dense give a dense array.

    Attributes
    ----------
    transformers_ : list of (str, transformer, list of int)
        Names, fitted transformers, and the numbers of their columns; with those of `remainder`.
    named_transformers_ : dict
        The fitted transformers by name.
    output_indices_ : dict of str to slice
        Columns of the result by transformer and for "remainder"; ``slice(0, 0)`` of what is left
        out.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, dtype object
        Their names, if X is a data frame whose column names are all strings.

    See Also
    --------
    make_column_transformer : Makes up the names.
    Rows.hstack : What joins the blocks.

    Notes
    -----
    Fitted with names, it finds its columns by name: others may be there, in any order.

    Examples
    --------
    >>> from fastlin import ColumnTransformer, HashingVectorizer, OneHotEncoder
    >>> encoder = ColumnTransformer([
    ...     ("category", OneHotEncoder(), [0]),
    ...     ("text", HashingVectorizer(n_features=64, norm=None), 1),
    ... ], remainder="passthrough", output="rows")
    >>> encoder.fit_transform([["red", "a small red book", 1], ["blue", "blue ink", 2]])
    <Rows 2 x 67, csr, float64, 9 entries>
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "remainder": Either(OneOf("drop", "passthrough"), HasMethods("fit", "transform")),
        "n_jobs": Either(Integer(), OneOf(None)),
        "verbose_feature_names_out": Either(Boolean(), Instance(str), Callable()),
        "output": OneOf("csr", "rows"),
    }
    _tags: ClassVar[dict[str, Any]] = {
        "categorical": True, "string": True, "preserves_dtype": (),
    }  # fmt: skip
    _fitted_attribute = "transformers_"
    _parts = "transformers"

    def __init__(
        self,
        transformers,
        *,
        remainder="drop",
        n_jobs=None,
        verbose_feature_names_out=True,
        output="csr",
    ):
        self.transformers = transformers
        self.remainder = remainder
        self.n_jobs = n_jobs
        self.verbose_feature_names_out = verbose_feature_names_out
        self.output = output

    def fit(self, X: Any, y: Any = None, **params: Any) -> ColumnTransformer:
        """Fit each transformer on its columns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            The target, for transformers that use one.
        **params
            Metadata, such as `sample_weight`, for the transformers that ask for it; only where
            scikit-learn's metadata routing is on.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If `transformers` is not as described, a column is not there, or a transformer refuses
            its columns.
        """
        self.fit_transform(X, y, **params)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit each transformer on its columns, and return what they make of them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            The target, for transformers that use one.
        **params
            Metadata, such as `sample_weight`, for the transformers that ask for it; only where
            scikit-learn's metadata routing is on.

        Returns
        -------
        csr_matrix, ndarray or Rows
            As `transform`.
        """
        self._check_params()
        routed = self._routed(params, "fit_transform", "fit")
        check_feature_names(self, X, reset=True)
        X, n_columns = _table(X)
        choices = self._choices(X, n_columns)
        fresh = [
            (name, part if passes(part) else clone(part), choice) for name, part, choice in choices
        ]
        planned = [(*step, routed.get(step[0], {})) for step in fresh]
        blocks = run(
            [
                lambda p=part, c=choice, own=own: (
                    _as_they_are(X, c)
                    if passes(p)
                    else _fitted_transform(p, select_columns(X, c), y, own)
                )
                for _, part, choice, own in planned
            ],
            self.n_jobs,
        )
        self.n_features_in_ = n_columns
        fitted = [(name, part, choice.places) for name, part, choice in fresh]
        self._flat = [choice.is_flat for _, _, choice in fresh]
        widths = [_width(name, block) for (name, _, _), block in zip(fitted, blocks, strict=True)]
        ends = np.cumsum([0, *widths]).tolist()
        self.output_indices_ = {
            name: slice(*ends[place : place + 2]) for place, (name, _, _) in enumerate(fitted)
        }
        for name in [*(name for name, _, _ in self.transformers), "remainder"]:
            self.output_indices_.setdefault(name, slice(0, 0))
        result = self._joined([name for name, _, _ in fitted], blocks)
        self.transformers_ = fitted
        return result

    def transform(self, X: Any, **params: Any) -> Any:
        """Encode a table.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            With the columns that `fit` saw: by name, if it saw names and X has some, else by place.
        **params
            Metadata, such as `sample_weight`, for the transformers that ask for it; only where
            scikit-learn's metadata routing is on.

        Returns
        -------
        csr_matrix, ndarray or Rows of shape (n_samples, n_output_columns)
            As `output` says.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a column is missing, or a transformer refuses its columns.
        """
        self._check_fitted("transform")
        routed = self._routed(params, "transform", "transform")
        X, n_columns = _table(X)
        places = self._places(X, n_columns)
        chosen = [
            (part, Choice([places[j] for j in columns], flat), routed.get(name, {}))
            for (name, part, columns), flat in zip(self.transformers_, self._flat, strict=True)
        ]
        blocks = run(
            [
                lambda p=part, c=choice, own=own: (
                    _as_they_are(X, c) if passes(p) else p.transform(select_columns(X, c), **own)
                )
                for part, choice, own in chosen
            ],
            self.n_jobs,
        )
        return self._joined([name for name, _, _ in self.transformers_], blocks)

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's `MetadataRouter`: which metadata goes to which transformer.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        parts = [(name, part) for name, part, _ in self.transformers]
        return columns_router(self, [*parts, ("remainder", self.remainder)])

    def _routed(self, params: dict[str, Any], method: str, callee: str) -> dict[str, dict]:
        """Sort metadata by transformer, as scikit-learn's routing says."""
        if not params:
            return {}
        if not routing_is_on():
            raise TypeError(
                f"ColumnTransformer.{method} does not take {next(iter(params))}; which transformer "
                "it is for says scikit-learn's metadata routing: "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        from sklearn.utils.metadata_routing import process_routing

        found = process_routing(self, method, **params)
        return {name: dict(found.get(name, {}).get(callee, {})) for name in found}

    @property
    def named_transformers_(self) -> dict[str, Any]:
        """The fitted transformers by name."""
        return {name: part for name, part, _ in self.transformers_}

    def _check_params(self) -> None:
        """Check the list of transformers, then what has a constraint."""
        if not isinstance(self.transformers, (list, tuple)) or not self.transformers:
            raise ValueError(
                "transformers must be a list of at least one (name, transformer, columns), got "
                f"{shown(self.transformers)}."
            )
        seen = {"remainder"}
        for part in self.transformers:
            if not isinstance(part, (list, tuple)) or len(part) != 3:
                raise ValueError(
                    "transformers must hold tuples (name, transformer, columns), got "
                    f"{shown(part)}."
                )
            name, transformer, _ = part
            if not isinstance(name, str) or "__" in name or not name or name in seen:
                raise ValueError(
                    "transformers must have different names without '__' that are not 'remainder', "
                    f"got {shown(name)}."
                )
            seen.add(name)
            _check_transformer(name, transformer)
        super()._check_params()

    def _choices(self, X: Any, n_columns: int) -> list[tuple[str, Any, Choice]]:
        """Return name, transformer and columns of what has any, the remainder last."""
        names = _names(self)
        named = None if names is None else places_by_name(names)
        found, used = [], set()
        for name, part, columns in self.transformers:
            with errors_about(f"columns of the transformer {name!r}"):
                choice = chosen_columns(columns, named, n_columns, X)
            used.update(choice.places)
            if not _drops(part) and choice.places:
                found.append((name, part, choice))
        rest = [place for place in range(n_columns) if place not in used]
        if rest and not _drops(self.remainder):
            found.append(("remainder", self.remainder, Choice(rest, False)))
        if not found:
            raise ValueError("transformers drop all columns; at least one must stay.")
        return found

    def _places(self, X: Any, n_columns: int) -> dict[int, int]:
        """Return for each column that `fit` saw its place in X."""
        seen = SimpleNamespace()
        check_feature_names(seen, X, reset=True)
        names, fitted = _names(seen), _names(self)
        if names is None or fitted is None:
            if n_columns != self.n_features_in_:
                raise ValueError(
                    f"X has {n_columns} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input."
                )
            return {place: place for place in range(n_columns)}
        used = {place for _, _, columns in self.transformers_ for place in columns}
        named = places_by_name(names)
        missing = [fitted[place] for place in sorted(used) if fitted[place] not in named]
        if missing:
            raise ValueError(f"columns are missing: {shown(missing, 300)}.")
        return {place: named[fitted[place]][0] for place in used}

    def _joined(self, names: list[str], blocks: list[Any]) -> Any:
        """Put the blocks side by side."""
        pairs = [(n, b) for n, b in zip(names, blocks, strict=True) if _width(n, b)]
        if not pairs:
            raise ValueError("the transformers return no column.")
        rows = joined([b for _, b in pairs], [f"the transformer {name!r}" for name, _ in pairs])
        if self.output == "rows":
            return rows
        # What `joined` returns shares the arrays of a block that stands alone.
        return rows.toarray() if rows.layout == "dense" else rows.to_csr(copy=True)

    def _feature_names_out(self, names: np.ndarray) -> np.ndarray:
        """Return the names that the transformers give their columns."""
        out = []
        for name, part, columns in self.transformers_:
            extent = self.output_indices_[name]
            own = output_names(part, names[columns], extent.stop - extent.start)
            out += [output_name(self.verbose_feature_names_out, name, column) for column in own]
        if len(set(out)) < len(out):
            twice = [column for column, times in Counter(out).items() if times > 1][:5]
            raise ValueError(
                f"Output feature names are not unique: {twice}; set verbose_feature_names_out=True."
            )
        return np.array(out, dtype=object)

    def _is_stateless(self) -> bool:
        """Say whether no transformer learns from the rows; a search then runs them once."""
        parts = [part for _, part, _ in self.transformers] + [self.remainder]
        return all(passes(part) or _drops(part) or is_stateless(part) for part in parts)


def _table(X: Any) -> tuple[Any, int]:
    """Return X as something whose columns can be taken, and how many it has."""
    if isinstance(X, Rows):
        X = X.to_csr()
    if is_sparse(X):
        return X, X.shape[1]
    if not is_frame(X):
        X = as_table(X)
    return X, table_shape(X)[1]


def _names(estimator: Any) -> list[str] | None:
    """Return the names of the columns that an estimator saw."""
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else names.tolist()


def _drops(part: Any) -> bool:
    """Say whether columns are left out."""
    return isinstance(part, str) and part == "drop"


def _check_transformer(name: str, part: Any) -> None:
    """Raise TypeError for what cannot transform."""
    if passes(part) or _drops(part):
        return
    if isinstance(part, type):
        raise TypeError(f"The transformer {name} is the class {part.__name__}; pass an instance.")
    if not hasattr(part, "fit") or not hasattr(part, "transform"):
        raise TypeError(
            f"The transformer {name} must have fit and transform, or be 'passthrough' or 'drop', "
            f"got {shown(part)}."
        )


def _as_they_are(X: Any, choice: Choice) -> Any:
    """Return columns that are handed on; a single one too as a table."""
    return select_columns(X, Choice(choice.places, False))


def _width(name: str, block: Any) -> int:
    """Return the number of columns of what a transformer returned."""
    shape = getattr(block, "shape", ())
    if len(shape) != 2:
        raise ValueError(
            f"the transformer {name!r} must return a matrix with two dimensions, got "
            f"{type(block).__name__} of shape {tuple(shape)}."
        )
    return int(shape[1])


def make_column_transformer(
    *transformers: tuple[Any, Any],
    remainder: Any = "drop",
    n_jobs: int | None = None,
    verbose_feature_names_out: Any = True,
    output: str = "csr",
) -> ColumnTransformer:
    """Make a `ColumnTransformer` whose transformers are named after their classes.

    Parameters
    ----------
    *transformers : tuples (transformer, columns)
        Names are the classes in lower case; several of one class get the suffixes -1, -2, ...
    remainder, n_jobs, verbose_feature_names_out, output
        As for `ColumnTransformer`.

    Returns
    -------
    ColumnTransformer

    Raises
    ------
    ValueError
        If one of the transformers comes without its columns.

    Examples
    --------
    >>> import fastlin
    >>> encoder = fastlin.make_column_transformer(
    ...     (fastlin.OneHotEncoder(), ["colour"]), (fastlin.HashingVectorizer(), "text"))
    >>> [name for name, _, _ in encoder.transformers]
    ['onehotencoder', 'hashingvectorizer']
    """
    for part in transformers:
        if not isinstance(part, (tuple, list)) or len(part) != 2:
            raise ValueError(
                f"transformers must be tuples (transformer, columns), got {shown(part)}."
            )
    names = named_by_class([part for part, _ in transformers])
    named = [(name, *part) for name, part in zip(names, transformers, strict=True)]
    return ColumnTransformer(
        named,
        remainder=remainder,
        n_jobs=n_jobs,
        verbose_feature_names_out=verbose_feature_names_out,
        output=output,
    )
