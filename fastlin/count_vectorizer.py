"""Text to sparse rows: n-gram counts by a vocabulary."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ._analyzers import STANDARD_PATTERN, TextAnalysis
from ._base import Estimator
from ._data import as_rows
from ._exceptions import not_fitted, warn
from ._ngram_counts import Frequencies, count_by, learn
from ._params import Boolean, Constraint, Either, Integer, NumberType, OneOf, Real
from ._text_docs import ANALYSIS_NOTES, ANALYSIS_PARAMETERS, DF_PARAMETERS, N_JOBS
from ._text_rows import CsrArrays, as_output
from ._vocabulary import Vocabulary

__all__ = ["CountVectorizer"]


class Terms(Constraint):
    """None, or different n-grams, in order or with their columns."""

    rule = (
        "None, a collection of different str, or a mapping from str to the columns 0, 1, ..., each "
        "once"
    )

    def accepts(self, value):
        """Say whether a value is allowed."""
        if value is None:
            return True
        if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
            return False
        if not hasattr(value, "__len__") or len(value) == 0:
            return False
        terms = list(value)
        if not all(isinstance(term, str) for term in terms) or len(set(terms)) != len(terms):
            return False
        if not isinstance(value, Mapping):
            return True
        columns = list(value.values())
        whole = all(isinstance(c, numbers.Integral) for c in columns)
        return whole and sorted(columns) == list(range(len(columns)))

    def good_values(self):
        """Return examples that must be accepted."""
        return [None, ["a", "b c"], {"a", "b"}, ("a",), {"a": 1, "b": 0}, np.array(["a", "b"])]

    def bad_values(self):
        """Return examples that must be refused."""
        return ["words", [], {}, ["a", "a"], [1], {"a": 1}, {"a": 0, "b": 0}, {"a": "b"}, 3,
                iter(["a"])]


def in_order(terms: Any) -> list[str]:
    """Return n-grams that were given in the order of their columns."""
    if isinstance(terms, Mapping):
        return sorted(map(str, terms), key=terms.__getitem__)
    return sorted(terms) if isinstance(terms, (set, frozenset)) else [str(term) for term in terms]


class CountVectorizer(TextAnalysis, Estimator):
    __doc__ = rf"""Turn documents into rows of n-gram counts, a column for each n-gram.

    `fit` collects the n-grams of the documents; the columns are in their order, by code points.
    Vocabulary and counts are those of scikit-learn's class of the same name.

    Parameters
    ----------
    {ANALYSIS_PARAMETERS}
    {DF_PARAMETERS}
    binary : bool, default=False
        Give every n-gram that occurs the value 1.
    dtype : dtype, default=numpy.int64
        Type of the values, real numbers.
    output : {{"csr", "rows"}}, default="csr"
        What `transform` returns: a scipy matrix, or `fastlin.Rows`, which hold no values where all
        are 1 (with `binary`), and so half the memory.
    {N_JOBS}

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The columns by n-gram; made when it is first asked for.
    fixed_vocabulary_ : bool
        Whether `vocabulary` was given.

    See Also
    --------
    HashingVectorizer : Needs no vocabulary, and so no `fit`.
    TfidfVectorizer : Counts that are weighted by how rare an n-gram is.

    Notes
    -----
    {ANALYSIS_NOTES}

    Examples
    --------
    >>> from fastlin import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["The cat sat.", "The cat, the mat."]).toarray()
    array([[1, 0, 1, 1],
           [1, 1, 0, 2]])
    >>> vectorizer.get_feature_names_out().tolist()
    ['cat', 'mat', 'sat', 'the']
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "max_df": Either(Integer(1), Real(0, 1)),
        "min_df": Either(Integer(1), Real(0, 1)),
        "max_features": Either(Integer(1), OneOf(None)),
        "vocabulary": Terms(),
        "binary": Boolean(),
        "dtype": NumberType(),
        "output": OneOf("csr", "rows"),
        "n_jobs": Either(Integer(), OneOf(None)),
    }
    _tags: ClassVar[dict[str, Any]] = {
        "two_d_array": False,
        "string": True,
        "sparse": False,
        "preserves_dtype": (),
    }
    _fitted_attribute = "fixed_vocabulary_"

    def __init__(
        self,
        *,
        input="content",
        encoding="utf-8",
        decode_error="strict",
        strip_accents=None,
        lowercase=True,
        preprocessor=None,
        tokenizer=None,
        stop_words=None,
        token_pattern=STANDARD_PATTERN,
        ngram_range=(1, 1),
        analyzer="word",
        max_df=1.0,
        min_df=1,
        max_features=None,
        vocabulary=None,
        binary=False,
        dtype=np.int64,
        output="csr",
        n_jobs=None,
    ):
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.output = output
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> CountVectorizer:
        """Learn the vocabulary.

        Parameters
        ----------
        X : iterable of str, bytes, paths or file objects, of length n_samples
            The documents, as `input` says.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is not allowed, if there is no document, or if no n-gram is found or
            left.
        TypeError
            If a document is missing (None, NaN) or not text; the message has its row.
        """
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the vocabulary and count by it; reads the documents once.

        Parameters
        ----------
        X : iterable of documents of length n_samples
            As for `fit`.
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix or Rows of shape (n_samples, n_features)
            As `transform`.
        """
        return self._assembled(self._learn(X)[0])

    def transform(self, X: Any) -> Any:
        """Count the n-grams of the vocabulary; others are left out.

        Parameters
        ----------
        X : iterable of documents of length n_samples
            As for `fit`.

        Returns
        -------
        scipy.sparse.csr_matrix or Rows of shape (n_samples, n_features)
            Of `dtype`, columns ascending within rows.

        Raises
        ------
        NotFittedError
            Before `fit`, unless `vocabulary` was given.
        """
        self._check_params()
        self._check_analysis()
        rows = count_by(self, X, self._known("transform"), self.n_jobs, self._count_dtype())
        return self._assembled(rows)

    def inverse_transform(self, X: Any) -> list[np.ndarray]:
        """Return the n-grams of rows.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            What `transform` returned.

        Returns
        -------
        list of ndarray of str
            For each row the n-grams whose values are not zero, in the order of columns.

        Raises
        ------
        ValueError
            If X has another number of columns.
        """
        terms = self._known("inverse_transform").strings()
        rows = as_rows(X)
        if rows.shape[1] != len(terms):
            raise ValueError(
                f"X has {rows.shape[1]} columns but the vocabulary of this {type(self).__name__} "
                f"has {len(terms)} n-grams."
            )
        matrix = rows.to_csr()
        occurs = matrix.data != 0
        ends = np.append(0, np.cumsum(occurs))[matrix.indptr[1:-1]]
        pieces = np.split(matrix.indices[occurs], ends)
        return [np.array([terms[j] for j in piece], dtype=str) for piece in pieces]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the n-grams in the order of their columns.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of str objects of shape (n_features,)
        """
        return np.array(self._known("get_feature_names_out").strings(), dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The columns by n-gram."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{type(self).__name__} has no vocabulary_ before fit.")
        return self._known("vocabulary_").mapping()

    def __getstate__(self) -> dict[str, Any]:
        # A compiled table is made again when it is needed.
        return {name: value for name, value in super().__getstate__().items() if name != "_lookup"}

    def _known(self, method: str) -> Vocabulary:
        """Return the vocabulary, that which was given if nothing was fitted."""
        if not self.__sklearn_is_fitted__():
            if self.vocabulary is None:
                raise not_fitted(self, method)
            self._check_params()
            self._take(Vocabulary.of(in_order(self.vocabulary)), fixed=True)
        if not isinstance(vars(self).get("_lookup"), Vocabulary):
            self._lookup = Vocabulary(self._names, self._name_ends)
        return self._lookup

    def _take(self, vocabulary: Vocabulary, fixed: bool) -> None:
        """Remember a vocabulary."""
        self._names, self._name_ends = vocabulary.names, vocabulary.ends
        self._lookup = vocabulary
        self.fixed_vocabulary_ = fixed

    def _learn(self, X: Any) -> tuple[CsrArrays, np.ndarray]:
        """Learn the vocabulary; returns the counts, and in how many rows each n-gram occurs."""
        self._check_params()
        self._check_analysis()
        if self.vocabulary is None:
            with_totals = self.max_features is not None
            keeps_all = isinstance(self.min_df, numbers.Integral) and self.min_df <= 1
            vocabulary, rows, documents = learn(
                self, X, self.n_jobs, with_totals, self._choose, keeps_all, self._count_dtype()
            )
            self._take(vocabulary, fixed=False)
            return rows, documents
        vocabulary = Vocabulary.of(in_order(self.vocabulary))
        if self.lowercase and any(any(map(str.isupper, term)) for term in vocabulary.strings()):
            warn(
                "UserWarning",
                "vocabulary has n-grams with capital letters, which no document has once it is "
                "lowered; lower them or set lowercase=False.",
            )
        rows = count_by(self, X, vocabulary, self.n_jobs, self._count_dtype())
        self._take(vocabulary, fixed=True)
        return rows, np.bincount(rows.indices, minlength=len(vocabulary))

    def _choose(self, frequencies: Frequencies, n_rows: int) -> np.ndarray:
        """Say which n-grams are kept: by how many documents have them, and by how often they occur
        once that is known."""
        most, least = (
            bound if isinstance(bound, numbers.Integral) else bound * n_rows
            for bound in (self.max_df, self.min_df)
        )
        if most < least:
            raise ValueError(
                f"max_df must not be less than min_df, got {self.max_df} and {self.min_df}: at "
                f"most {most:g} and at least {least:g} of {n_rows} documents."
            )
        documents, total = frequencies
        kept = documents >= math.ceil(least)
        if most < n_rows:
            kept &= documents <= math.floor(most)
        if not kept.any():
            raise ValueError(
                f"no n-gram is left: each of the {len(kept)} is in fewer documents than min_df="
                f"{self.min_df} or in more than max_df={self.max_df} allows; lower min_df or raise "
                "max_df."
            )
        if total is None or len(total) <= self.max_features:
            return kept
        counts = (documents if self.binary else total).astype(np.dtype(self.dtype))
        kept = np.zeros(len(counts), bool)
        # The order of scikit-learn among those that are equally frequent.
        kept[(-counts.astype(np.int64)).argsort()[: self.max_features]] = True
        return kept

    def _count_dtype(self) -> Any:
        """Return what counts come in: the dtype of the values, or int32 where that is narrower."""
        dtype = np.dtype(self.dtype)
        is_narrow = dtype.kind in "iu" and np.iinfo(dtype).max < np.iinfo(np.int32).max
        return np.dtype(np.int32) if self.binary or is_narrow else dtype

    def _assembled(self, rows: CsrArrays) -> Any:
        """Return counts in the form asked for."""
        dtype = np.dtype(self.dtype)
        most = 0 if rows.data.dtype == dtype or self.binary else int(rows.data.max(initial=0))
        if dtype.kind in "iu" and most > np.iinfo(dtype).max:
            raise ValueError(
                f"dtype {dtype} holds counts of at most {np.iinfo(dtype).max}, but a document has "
                f"one of its n-grams {most} times; take a wider dtype."
            )
        data = np.ones(len(rows.data)) if self.binary else rows.data
        rows = rows._replace(data=data.astype(dtype, copy=False))
        self._weigh(rows)
        return as_output(rows, len(self._name_ends), self.output)

    def _weigh(self, rows: CsrArrays) -> None:
        """Weight counts in place; here they stay."""
