"""What a `ColumnEncoder` learns from a table that comes in blocks of rows.

Blocks may be kept as they are seen: numbers, and for categories the order in which they came up.
What column a category goes to, and how numbers are scaled, is known after the last one; then they
are encoded without looking at the table again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._category_hashes import category_text
from ._cells import CellNumbers, Cells
from ._columns import Coded
from ._named_columns import CellColumns, Columns
from ._params import is_nan
from ._validation import check_feature_names, check_n_features
from .categories import OneHotEncoder
from .text import HashingVectorizer

__all__ = ["EncoderFit", "Seen", "category_strings", "numbers_of"]

_CATEGORIES = "; name it in --categorical if it holds categories"


class Seen(NamedTuple):
    """A block of rows before it is known what becomes of it.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_numeric)
    codes : ndarray of shape (n_rows, n_categorical), dtype int32
        Categories by the order in which they came up.
    texts : csr_matrix or None
        Hashed n-grams.
    """

    numbers: np.ndarray
    codes: np.ndarray
    texts: Any


def _category(value: Any) -> str:
    """Return a category as text, so that 1 in JSON and "1" in CSV are the same."""
    if isinstance(value, str):
        return value
    if value is None or is_nan(value):
        return ""
    text = category_text(value)
    return str(text).lower() if isinstance(value, (bool, np.bool_)) else str(text)


def category_strings(table: Columns, name: str) -> Any:
    """Return a column of categories as strings."""
    column = table.column(name)
    return column if isinstance(column, Cells) else list(map(_category, column))


def numbers_of(table: Columns, names: list[str], remedy: str) -> np.ndarray:
    """Return numeric columns side by side; `remedy` ends the error for what is no number."""
    numbers = np.empty((len(table), len(names)))
    for j, name in enumerate(names):
        numbers[:, j] = table.numbers(name, remedy)
    return numbers


class EncoderFit:
    """Fits an encoder to blocks with the same columns; `finish` ends that.

    Parameters
    ----------
    encoder : ColumnEncoder
        With checked parameters, and `numeric_` and `categorical_` set.
    scales : bool
        Whether numbers are standardised.
    """

    def __init__(self, encoder: Any, scales: bool):
        self.encoder, self._scales = encoder, scales
        self._known = [CellNumbers() for _ in encoder.categorical_]
        self._n, self._mean, self._variance = 0, np.zeros(0), np.zeros(0)
        encoder.text_encoder_ = None
        if encoder.text is not None:
            encoder.text_encoder_ = HashingVectorizer(
                ngram_range=tuple(encoder.ngram_range), n_features=encoder.n_features
            ).fit()

    def add(self, table: Columns) -> tuple[np.ndarray, np.ndarray]:
        """Learn from a block; returns its numbers and codes."""
        encoder = self.encoder
        numbers = numbers_of(table, encoder.numeric_, _CATEGORIES)
        self._merge(numbers)
        codes = np.empty((len(table), len(self._known)), np.int32)
        for j, (known, name) in enumerate(zip(self._known, encoder.categorical_, strict=True)):
            codes[:, j] = known.number(category_strings(table, name))
        return numbers, codes

    def see(self, table: Columns) -> Seen:
        """Learn from a block and return it as it is to be kept."""
        numbers, codes = self.add(table)
        encoder, texts = self.encoder, None
        if encoder.text_encoder_ is not None:
            texts = encoder.text_encoder_.transform(table.texts(encoder.text))
        return Seen(numbers, codes, texts)

    def finish(self) -> None:
        """Set what the encoder has learnt."""
        encoder = self.encoder
        deviation = np.sqrt(self._variance)
        # Rounding leaves a constant column a tiny deviation.
        tiny = 8 * np.finfo(np.float64).eps * np.abs(self._mean)
        if not self._scales:
            self._mean, deviation = np.zeros_like(self._mean), np.zeros_like(self._mean)
        encoder.mean_ = self._mean
        encoder.scale_ = np.where(deviation > tiny, deviation, 1.0)
        encoder.category_encoder_ = self._category_encoder() if self._known else None
        widths = [len(encoder.numeric_), sum(map(len, self._known)), 0]
        if encoder.text is not None:
            widths[2] = int(encoder.n_features)
        encoder.ngrams_ = {}
        encoder.n_columns_ = sum(widths)
        self._places = [
            np.argsort(known.find(categories.tolist())).astype(np.int32)
            for known, categories in zip(
                self._known, encoder.category_encoder_.categories_ if self._known else (),
                strict=True,
            )
        ]  # fmt: skip

    def encoded(self, seen: Seen) -> Any:
        """Return a block as the encoder would have encoded it."""
        codes = np.empty_like(seen.codes)
        for j, places in enumerate(self._places):
            codes[:, j] = places[seen.codes[:, j]]
        return self.encoder.assembled(seen.numbers, codes, seen.texts)

    def _merge(self, numbers: np.ndarray) -> None:
        """Take means and variances of the numbers of a block together with those before."""
        n = len(numbers)
        with np.errstate(over="ignore", invalid="ignore"):
            columns = np.ascontiguousarray(numbers.T)
            mean, variance = columns.mean(axis=1), columns.var(axis=1)
            if self._n:
                share, step = n / (self._n + n), mean - self._mean
                spread = step**2 * share * (1 - share)
                variance = self._variance + (variance - self._variance) * share + spread
                mean = self._mean + step * share
        for name, one in zip(self.encoder.numeric_, variance, strict=True):
            if not np.isfinite(one):
                raise ValueError(
                    f"the column {name!r} holds numbers whose squares overflow: divide it by a "
                    "constant."
                )
        self._n, self._mean, self._variance = self._n + n, mean, variance

    def _category_encoder(self) -> OneHotEncoder:
        """An encoder that has seen the categories."""
        columns = CellColumns(zip(
            self.encoder.categorical_, (known.values() for known in self._known), strict=True
        ))  # fmt: skip
        encoder = OneHotEncoder(handle_unknown="ignore", output="rows")
        check_feature_names(encoder, columns, reset=True)
        check_n_features(encoder, len(columns), reset=True)
        # Not as one table: columns have as many rows here as categories.
        encoder._fit([
            Coded(np.arange(len(found)), np.array(found, dtype=object))
            for found in columns.values()
        ])  # fmt: skip
        return encoder
