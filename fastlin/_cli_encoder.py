"""From the columns of a table to one matrix: what the shell's models begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ._base import Estimator, TransformerMixin
from ._category_hashes import category_text
from ._hstack import hstack
from ._named_columns import Columns, NamedArray
from ._params import ArrayLike, Constraint, Either, Instance, Integer, OneOf, is_nan
from .categories import OneHotEncoder
from .text import HashedNgram, HashingVectorizer

__all__ = ["ColumnEncoder"]

# Characters that are looked through for the n-grams behind hashed columns; that runs at the speed
# of Python (about a second for these), and a sample serves as well.
_EXPLAINED_CHARACTERS = 4_000_000
_NO_NUMBER = "; name it in --categorical if it holds categories"


def _category(value: Any) -> str:
    """Return a category as text, so that 1 in JSON and "1" in CSV are the same."""
    if isinstance(value, str):
        return value
    if value is None or is_nan(value):
        return ""
    text = category_text(value)
    return str(text).lower() if isinstance(value, (bool, np.bool_)) else str(text)


def _cells(table: Columns, names: list[str]) -> NamedArray:
    """Return columns of categories with their names, which `OneHotEncoder` has in its messages."""
    cells = np.empty((len(table), len(names)), dtype=object)
    for j, name in enumerate(names):
        cells[:, j] = [_category(value) for value in table.column(name)]
    return NamedArray(cells, names)


class ColumnEncoder(TransformerMixin, Estimator):
    """Encode columns of texts, categories and numbers as one matrix.

    Numbers are standardised, since learners that take steps need columns of one scale; categories
    become 0/1 columns (compared as text); a text becomes hashed n-gram counts.

    Parameters
    ----------
    text : str or None, default=None
        Name of the column that holds texts.
    categorical : list of str or "all", default=()
        Names of the columns that hold categories; "all" takes every column that is not used
        otherwise. A category that `fit` has not seen is encoded as zeros, with a warning.
    numeric : list of str or "all", default=()
        Names of the columns that hold numbers.
    label : str or None, default=None
        Name of the column with the target, which is never encoded.
    ngram_range : tuple (min_n, max_n), default=(1, 2)
        Lengths of the word n-grams.
    n_features : int, default=2**18
        Number of columns that n-grams are hashed to.

    Attributes
    ----------
    text_encoder_ : HashingVectorizer or None
        Encodes the texts.
    category_encoder_ : OneHotEncoder or None
        Encodes the categories.
    categorical_, numeric_ : list of str
        Names of the columns, "all" spelt out.
    mean_, scale_ : ndarray of shape (n_numeric,)
        What is subtracted from numeric columns, and by what they are divided then.
    ngrams_ : dict of int to HashedNgram
        The n-gram that stands for a column of the result, of those that `explain` was asked for.
    n_columns_ : int
        Columns of the result: numbers, then categories, then n-grams.

    Examples
    --------
    >>> from fastlin._cli_encoder import ColumnEncoder
    >>> encoder = ColumnEncoder(categorical=["colour"], numeric=["size"])
    >>> encoder.fit_transform({"colour": ["red", "blue"], "size": [1, 3]}).toarray()
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """

    _names = Either(OneOf("all"), ArrayLike(Instance(str)), Instance(tuple))
    _constraints: ClassVar[dict[str, Constraint]] = {
        "text": Either(Instance(str), OneOf(None)),
        "categorical": _names,
        "numeric": _names,
        "label": Either(Instance(str), OneOf(None)),
        "ngram_range": Instance(tuple, list),
        "n_features": Integer(1, 2**31 - 1),
    }
    _tags: ClassVar[dict[str, Any]] = {
        "two_d_array": False,
        "sparse": False,
        "string": True,
        "categorical": True,
    }
    _fitted_attribute = "n_columns_"

    def __init__(
        self,
        *,
        text=None,
        categorical=(),
        numeric=(),
        label=None,
        ngram_range=(1, 2),
        n_features=2**18,
    ):
        self.text = text
        self.categorical = categorical
        self.numeric = numeric
        self.label = label
        self.ngram_range = ngram_range
        self.n_features = n_features

    def fit(self, X: Any, y: Any = None) -> ColumnEncoder:
        """Learn categories, means and scales.

        Parameters
        ----------
        X : dict of str to sequence, data frame, or list of str
            The columns by name; the texts alone if no other column is used.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a column is missing, or a value in it is not of its kind.
        """
        return self.fit_blocks([self._table(X)])

    def fit_blocks(self, tables: Iterable[Columns]) -> ColumnEncoder:
        """Learn categories, means and scales of a table that comes in blocks of rows.

        Parameters
        ----------
        tables : iterable of Columns
            At least one; each with the same columns.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `fit`.
        """
        self._check_params()
        numbers: Any = None
        known: list[dict[str, None]] = []
        for table in tables:
            if numbers is None:
                self.numeric_ = self._chosen(table, "numeric")
                self.categorical_ = self._chosen(table, "categorical")
                self._check_columns()
                known = [{} for _ in self.categorical_]
            numbers = self._merged(numbers, table)
            for categories, name in zip(known, self.categorical_, strict=True):
                categories.update(dict.fromkeys(map(_category, table.column(name))))
        _, self.mean_, variance = numbers
        deviation = np.sqrt(variance)
        # Rounding leaves a constant column a tiny deviation.
        tiny = 8 * np.finfo(np.float64).eps * np.abs(self.mean_)
        self.scale_ = np.where(deviation > tiny, deviation, 1.0)
        self.category_encoder_ = self._encoder_of(known) if known else None
        widths = [len(self.numeric_), sum(map(len, known)), 0]
        self.text_encoder_ = None
        if self.text is not None:
            self.text_encoder_ = HashingVectorizer(
                ngram_range=tuple(self.ngram_range), n_features=self.n_features
            ).fit()
            widths[2] = int(self.n_features)
        self.ngrams_: dict[int, HashedNgram] = {}
        self.n_columns_ = sum(widths)
        return self

    def transform(self, X: Any) -> Any:
        """Encode a table.

        Parameters
        ----------
        X : dict of str to sequence, data frame, or list of str
            As for `fit`; further columns are ignored.

        Returns
        -------
        csr_matrix of shape (n_samples, n_columns_)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a column is missing, or a value in it is not of its kind.
        """
        self._check_fitted("transform")
        table = self._table(X)
        blocks = []
        if self.numeric_:
            numbers = np.column_stack([table.numbers(name, _NO_NUMBER) for name in self.numeric_])
            blocks.append((numbers - self.mean_) / self.scale_)
        if self.category_encoder_ is not None:
            blocks.append(self.category_encoder_.transform(_cells(table, self.categorical_)))
        if self.text_encoder_ is not None:
            blocks.append(self.text_encoder_.transform(table.texts(self.text)))
        return hstack(blocks).to_csr()

    def explain(self, X: Any, columns: Sequence[int]) -> None:
        """Remember the n-grams behind columns of the result.

        Parameters
        ----------
        X : dict of str to sequence, data frame, or list of str
            As for `transform`; if it is long, some of the rows are looked at.
        columns : sequence of int
            Columns of the result; those that hold no n-grams are passed over.
        """
        self._check_fitted("explain")
        first = self._first_hashed()
        wanted = [column - first for column in columns if column >= first]
        if self.text_encoder_ is None or not wanted:
            return
        texts = self._table(X).texts(self.text)
        step = 1 + sum(map(len, texts)) // _EXPLAINED_CHARACTERS
        found = self.text_encoder_.explain_columns(list(texts[::step]), wanted)
        self.ngrams_ = {column + first: ngrams[0] for column, ngrams in found.items() if ngrams}

    def name_of(self, column: int) -> tuple[str, int]:
        """Return the name of a column of the result, and the sign of what it stands for.

        Parameters
        ----------
        column : int
            Its place.

        Returns
        -------
        name : str
            The numeric column, "column=category", the n-gram in quotes, or the hash's place.
        sign : {-1, 1}
            -1 if the hash turns the sign of the n-gram.
        """
        if column < len(self.numeric_):
            return self.numeric_[column], 1
        first = self._first_hashed()
        if column >= first:
            known = self.ngrams_.get(column)
            if known is None:
                return f"{self.text}#{column - first}", 1
            return f'"{known.ngram}"', known.sign
        place = column - len(self.numeric_)
        for name, categories in zip(
            self.categorical_, self.category_encoder_.categories_, strict=True
        ):
            if place < len(categories):
                return f"{name}={categories[place]}", 1
            place -= len(categories)
        raise IndexError(f"there is no column {column}")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the result.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str, dtype object
        """
        self._check_fitted("get_feature_names_out")
        return np.array([self.name_of(column)[0] for column in range(self.n_columns_)], object)

    def _first_hashed(self) -> int:
        """Return the first column that holds n-grams."""
        return self.n_columns_ - (0 if self.text is None else int(self.n_features))

    def _table(self, X: Any) -> Columns:
        """Return what the user has as named columns."""
        if isinstance(X, Columns):
            return X
        if isinstance(X, Mapping):
            columns = {str(name): list(values) for name, values in X.items()}
        elif hasattr(X, "columns") and hasattr(X, "shape"):
            # A column of pandas or polars knows how to become Python objects.
            columns = {str(name): X[name].to_list() for name in X.columns}
        elif self.text is not None and not isinstance(X, (str, bytes)):
            columns = {self.text: list(X)}
        else:
            raise TypeError(
                "X must be a dict from column name to values or a data frame, got "
                f"{type(X).__name__}."
            )
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"X must have columns of one length, got {lengths}.")
        if not lengths or not next(iter(lengths.values())):
            raise ValueError("X must have at least one row, got none.")
        return Columns(columns, name="X")

    def _chosen(self, table: Columns, parameter: str) -> list[str]:
        """Return the names that a parameter stands for."""
        given = getattr(self, parameter)
        if not isinstance(given, str):
            return list(given)
        other = self.categorical if parameter == "numeric" else self.numeric
        if other == "all":
            raise ValueError("categorical and numeric cannot both be 'all'.")
        used = {self.text, self.label, *other}
        return [name for name in table.columns if name not in used]

    def _check_columns(self) -> None:
        """Raise if no column is used, or one twice."""
        if self.text is None and not self.numeric_ and not self.categorical_:
            raise ValueError("at least one of text, categorical and numeric must name a column.")
        names = [*self.numeric_, *self.categorical_, *([] if self.text is None else [self.text])]
        for name in names:
            if names.count(name) > 1 or name == self.label:
                what = "is the label" if name == self.label else "is named twice"
                raise ValueError(f"the column {name!r} {what}; each column has one use.")

    def _merged(self, before: Any, table: Columns) -> tuple:
        """(rows, means, variances) of the numbers of this block and of those before."""
        columns = [table.numbers(name, _NO_NUMBER) for name in self.numeric_]
        n = len(table)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.array([column.mean() for column in columns])
            variance = np.array([column.var() for column in columns])
            if before is not None:
                n0, mean0, variance0 = before
                share, step = n / (n0 + n), mean - mean0
                spread = step**2 * share * (1 - share)
                variance = variance0 + (variance - variance0) * share + spread
                n, mean = n0 + n, mean0 + step * share
        for name, one in zip(self.numeric_, variance, strict=True):
            if not np.isfinite(one):
                raise ValueError(
                    f"the column {name!r} holds numbers whose squares overflow: divide it by a "
                    "constant."
                )
        return n, mean, variance

    def _encoder_of(self, known: list[dict[str, None]]) -> OneHotEncoder:
        """An encoder that has seen these categories."""
        longest = max(map(len, known))
        table = Columns({
            name: [*found, *[next(iter(found))] * (longest - len(found))]
            for name, found in zip(self.categorical_, known, strict=True)
        })  # fmt: skip
        encoder = OneHotEncoder(handle_unknown="ignore", output="rows")
        return encoder.fit(_cells(table, self.categorical_))
