"""From the columns of a table to one matrix: what the shell's models begin with."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ._base import Estimator, TransformerMixin
from ._cells import CellNumbers
from ._encoder_fit import EncoderFit, category_strings, numbers_of
from ._hstack import hstack
from ._named_columns import Columns
from ._params import ArrayLike, Constraint, Either, Instance, Integer, OneOf
from ._targets import listed

__all__ = ["ColumnEncoder"]

# Characters that are looked through for the n-grams behind hashed columns; that runs at the speed
# of Python (about a second for these), and a sample serves as well.
_EXPLAINED_CHARACTERS = 4_000_000
# What to do about a cell that is no number once a column was learnt as numbers
_LEARNT = (
    "; the model learnt numbers there: fill one in, leave the row out, or train a model with the "
    "column in --categorical"
)


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
        tables = iter(tables)
        first = next(tables)
        fit = self.fit_begun(first)
        for table in itertools.chain([first], tables):
            fit.add(table)
        fit.finish()
        return self

    def fit_begun(self, table: Columns, scales: bool = True) -> EncoderFit:
        """Begin to learn from blocks with the columns of this one, which is not yet learnt from;
        numbers stay as they are unless it `scales`."""
        self._check_params()
        self.numeric_ = self._chosen(table, "numeric")
        self.categorical_ = self._chosen(table, "categorical")
        self._check_columns()
        return EncoderFit(self, scales)

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
        texts = None
        if self.text_encoder_ is not None:
            texts = self.text_encoder_.transform(table.texts(self.text))
        return self.assembled(numbers_of(table, self.numeric_, _LEARNT), self._places(table), texts)

    def assembled(self, numbers: np.ndarray, places: np.ndarray, texts: Any) -> Any:
        """Put numbers, categories and texts side by side.

        Parameters
        ----------
        numbers : ndarray of shape (n_samples, n_numeric)
        places : ndarray of shape (n_samples, n_categorical), dtype int32
            The place of each category among those of its column; -1 for none.
        texts : csr_matrix or None

        Returns
        -------
        csr_matrix of shape (n_samples, n_columns_)
        """
        blocks = []
        if self.numeric_:
            blocks.append((numbers - self.mean_) / self.scale_)
        if self.category_encoder_ is not None:
            blocks.append(self.category_encoder_._from_places(places))
        if texts is not None:
            blocks.append(texts)
        return hstack(blocks).to_csr()

    def _places(self, table: Columns) -> np.ndarray:
        """The places of categories; those that are new are warned of."""
        places = np.empty((len(table), len(self.categorical_)), np.int32)
        unknown = []
        for j, (known, name) in enumerate(zip(self._lookups(), self.categorical_, strict=True)):
            column = category_strings(table, name)
            places[:, j] = known.find(column)
            new = np.flatnonzero(places[:, j] < 0).tolist()
            unknown.append(list(dict.fromkeys(column[row] for row in new)))
        if self.category_encoder_ is not None:
            self.category_encoder_._warn_of_unknown(unknown)
        return places

    def _lookups(self) -> list[CellNumbers]:
        """The categories of each column, to be looked up; made once."""
        if self.category_encoder_ is None:
            return []
        made_of, lookups = vars(self).get("_lookup", (None, None))
        if made_of is not self.category_encoder_:
            lookups = [CellNumbers(known.tolist()) for known in self.category_encoder_.categories_]
            self._lookup = self.category_encoder_, lookups
        return lookups

    def __getstate__(self) -> dict[str, Any]:
        # Compiled tables are made again when they are needed.
        return {name: value for name, value in super().__getstate__().items() if name != "_lookup"}

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
        place, starts = column - len(self.numeric_), self.category_encoder_._starts
        j = bisect.bisect_right(starts, place) - 1
        category = self.category_encoder_.categories_[j][place - starts[j]]
        return f"{self.categorical_[j]}={category}", 1

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
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"X must have columns of one length, got {listed(sorted(lengths))}.")
        if not lengths or not lengths.pop():
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
        taken = {self.label}
        for name in names:
            if name in taken:
                what = "is the label" if name == self.label else "is named twice"
                raise ValueError(f"the column {name!r} {what}; each column has one use.")
            taken.add(name)
