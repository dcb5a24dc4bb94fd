"""Counts to tf-idf: a term weighs more the oftener it is in a document, and the rarer elsewhere."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ._analyzers import STANDARD_PATTERN
from ._base import Estimator, TransformerMixin
from ._core.ngrams import normalise_rows
from ._data import rows_of
from ._exceptions import not_fitted
from ._parallel import run
from ._params import Boolean, Constraint, FloatType, OneOf, shown
from ._text_docs import ANALYSIS_NOTES, ANALYSIS_PARAMETERS, DF_PARAMETERS, N_JOBS
from ._text_rows import CsrArrays
from .count_vectorizer import CountVectorizer

__all__ = ["TfidfTransformer", "TfidfVectorizer"]

_NORM_ORDER = {"l1": 1, "l2": 2}
# Entries of the rows that are weighed together, while they lie in a cache.
_CUT = 1 << 16
_FLOATS = (np.float64, np.float32)
_WEIGHTING = """norm : {"l1", "l2"} or None, default="l2"
        Scale rows to this norm.
    use_idf : bool, default=True
        Multiply by the inverse document frequency ``ln(n / df) + 1``, where df of the n documents
        have the term (Sparck Jones 1972).
    smooth_idf : bool, default=True
        Count n and df as if one more document had every term, ``ln((1 + n) / (1 + df)) + 1``, so
        that none is divided by zero. With False a term that no document has gets an infinite idf,
        and `transform` raises once it meets that term.
    sublinear_tf : bool, default=False
        Replace a count c by ``1 + ln c``."""
_REFERENCE = """K. Sparck Jones. A statistical interpretation of term specificity and its
    application in retrieval. Journal of Documentation 28, 1972."""
_CONSTRAINTS: dict[str, Constraint] = {
    "norm": OneOf("l1", "l2", None),
    "use_idf": Boolean(),
    "smooth_idf": Boolean(),
    "sublinear_tf": Boolean(),
}


def inverse_frequencies(documents: np.ndarray, n_rows: int, smooth: bool, dtype: Any) -> np.ndarray:
    """Return the idf of terms that occur in so many of n_rows documents; all is of `dtype`, as in
    scikit-learn, so that results are the same bits."""
    df = documents.astype(dtype) + np.asarray(float(smooth), dtype)
    idf = np.full_like(df, n_rows + int(smooth))
    with np.errstate(divide="ignore"):
        idf /= df
    np.log(idf, out=idf)
    idf += 1.0
    return idf


class Weighted:
    """What both classes share: `idf_`, and how it weighs counts."""

    norm: str | None
    use_idf: bool
    sublinear_tf: bool
    # what has a weight each: what it is called, its names if it has any, how many
    _weights: Callable[[], tuple[str, list[str] | None, int]]

    @property
    def idf_(self) -> np.ndarray:
        """The inverse document frequencies."""
        if "idf_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no idf_ before fit with use_idf=True.")
        return vars(self)["idf_"]

    @idf_.setter
    def idf_(self, value: Any) -> None:
        if not self.use_idf:
            raise ValueError("idf_ cannot be set with use_idf=False, which makes no use of it.")
        idf, (kind, _, size) = np.array(value), self._weights()
        if idf.dtype.kind not in "biuf" or idf.shape != (size,) or np.isnan(idf).any():
            raise ValueError(
                f"idf_ must hold one number for each of the {size} {kind}s, got {shown(value)}."
            )
        vars(self)["idf_"] = idf.astype(idf.dtype if idf.dtype in _FLOATS else np.float64)

    def _weigh_by(self, idf: np.ndarray | None, rows: CsrArrays, n_jobs: int | None) -> None:
        """Turn the counts of rows into tf-idf, in place."""
        if idf is not None:
            factors = idf if len(idf) < len(rows.indices) else idf[rows.indices]
            if np.isinf(factors).any():
                self._refuse_unseen(rows.indices[np.isinf(idf[rows.indices])])
        indptr = rows.indptr.astype(np.int64, copy=False)
        cuts = np.searchsorted(indptr, np.arange(_CUT, indptr[-1], _CUT))
        edges = np.unique(np.concatenate([[0], cuts, [len(indptr) - 1]])).tolist()
        tasks = [
            functools.partial(self._weigh_rows, idf, rows, indptr[first : stop + 1])
            for first, stop in zip(edges[:-1], edges[1:], strict=True)
        ]
        run(tasks, n_jobs)

    def _weigh_rows(self, idf: np.ndarray | None, rows: CsrArrays, ends: np.ndarray) -> None:
        """Turn the counts of some rows into tf-idf."""
        data = rows.data[ends[0] : ends[-1]]
        if self.sublinear_tf:
            np.log(data, data)
            data += 1.0
        if idf is not None:
            data *= idf[rows.indices[ends[0] : ends[-1]]]
        if self.norm is not None:
            normalise_rows(ends - ends[0], data, _NORM_ORDER[self.norm])

    def _refuse_unseen(self, columns: np.ndarray) -> None:
        """Raise if there is an entry in a column of infinite weight."""
        if not len(columns):
            return
        kind, names, _ = self._weights()
        name = columns[0] if names is None else repr(names[columns[0]])
        raise ValueError(
            f"with smooth_idf=False the {kind} {name} has an infinite weight, since no document of "
            "fit had it; leave smooth_idf=True."
        )


class TfidfTransformer(Weighted, TransformerMixin, Estimator):
    __doc__ = f"""Weight a matrix of counts by how rare their columns are.

    Parameters
    ----------
    {_WEIGHTING}

    Attributes
    ----------
    idf_ : ndarray of shape (n_features,)
        The inverse document frequencies; only with `use_idf`.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X is a data frame whose column names are all strings.

    See Also
    --------
    TfidfVectorizer : The same from documents.

    References
    ----------
    {_REFERENCE}

    Examples
    --------
    >>> from fastlin import TfidfTransformer
    >>> transformer = TfidfTransformer(norm=None).fit([[1, 0], [3, 1]])
    >>> transformer.idf_.round(3).tolist()
    [1.0, 1.405]
    >>> transformer.transform([[2, 1]]).toarray().round(3).tolist()
    [[2.0, 1.405]]
    """

    _constraints: ClassVar[dict[str, Constraint]] = _CONSTRAINTS
    _tags: ClassVar[dict[str, Any]] = {"preserves_dtype": ("float64", "float32")}

    def __init__(self, *, norm="l2", use_idf=True, smooth_idf=True, sublinear_tf=False):
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def fit(self, X: Any, y: Any = None) -> TfidfTransformer:
        """Learn in how many rows each column is not zero.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            Counts.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is not allowed, or X is empty or has values that are not finite.
        """
        self._check_params()
        matrix = self._csr(X, reset=True)
        vars(self).pop("idf_", None)
        if self.use_idf:
            documents = np.bincount(matrix.indices, minlength=matrix.shape[1])
            vars(self)["idf_"] = inverse_frequencies(
                documents, matrix.shape[0], self.smooth_idf, matrix.dtype
            )
        return self

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weight counts.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            Counts.
        copy : bool, default=True
            Only for scikit-learn's sake: X is never changed.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_features)
            Of the dtype of X if that is float32, else float64.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns, or values that are not finite; with `sublinear_tf`
            also if it has negative ones, and without `smooth_idf` if it has a value in a column
            that was zero in `fit`.
        """
        self._check_fitted("transform")
        matrix = self._csr(X, reset=False)
        if self.sublinear_tf and len(matrix.data) and matrix.data.min() < 0:
            raise ValueError(
                f"X must have no negative counts with sublinear_tf=True, got {matrix.data.min():g}."
            )
        idf = vars(self).get("idf_")
        if idf is not None:
            idf = idf.astype(matrix.dtype, copy=False)
        self._weigh_by(idf, CsrArrays(matrix.indptr, matrix.indices, matrix.data), None)
        return matrix

    def _weights(self) -> tuple[str, list[str] | None, int]:
        """Return what has a weight each: columns of X."""
        self._check_fitted("setting idf_")
        names = getattr(self, "feature_names_in_", None)
        return "column", None if names is None else names.tolist(), self.n_features_in_

    def _csr(self, X: Any, reset: bool) -> Any:
        """Return X as a CSR matrix of its own, without zeros."""
        matrix = rows_of(self, X, reset).to_csr(copy=True)
        matrix.eliminate_zeros()
        return matrix


class TfidfVectorizer(Weighted, CountVectorizer):
    __doc__ = rf"""Turn documents into rows of tf-idf, a column for each n-gram.

    What `CountVectorizer` counts, weighted as `TfidfTransformer` does. Vocabulary and values are
    those of scikit-learn's class of the same name.

    Parameters
    ----------
    {ANALYSIS_PARAMETERS}
    {DF_PARAMETERS}
    binary : bool, default=False
        Let every n-gram that occurs count 1 before it is weighted.
    dtype : {{float64, float32}}, default=float64
        Type of the values.
    {_WEIGHTING}
    output : {{"csr", "rows"}}, default="csr"
        What `transform` returns: a scipy matrix, or `fastlin.Rows`.
    {N_JOBS}

    Attributes
    ----------
    vocabulary_ : dict of str to int
        The columns by n-gram; made when it is first asked for.
    fixed_vocabulary_ : bool
        Whether `vocabulary` was given.
    idf_ : ndarray of shape (n_features,)
        The inverse document frequencies; only with `use_idf`.

    See Also
    --------
    CountVectorizer : The counts alone.
    HashingVectorizer : Needs no vocabulary, and so no `fit`.

    Notes
    -----
    {ANALYSIS_NOTES}

    References
    ----------
    {_REFERENCE}

    Examples
    --------
    >>> from fastlin import TfidfVectorizer
    >>> vectorizer = TfidfVectorizer()
    >>> X = vectorizer.fit_transform(["spam and eggs", "spam, spam"])
    >>> X.toarray().round(2).tolist()
    [[0.63, 0.63, 0.45], [0.0, 0.0, 1.0]]
    >>> vectorizer.vocabulary_
    {{'and': 0, 'eggs': 1, 'spam': 2}}
    """

    _constraints: ClassVar[dict[str, Constraint]] = {**_CONSTRAINTS, "dtype": FloatType()}

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
        analyzer="word",
        stop_words=None,
        token_pattern=STANDARD_PATTERN,
        ngram_range=(1, 1),
        max_df=1.0,
        min_df=1,
        max_features=None,
        vocabulary=None,
        binary=False,
        dtype=np.float64,
        norm="l2",
        use_idf=True,
        smooth_idf=True,
        sublinear_tf=False,
        output="csr",
        n_jobs=None,
    ):
        super().__init__(
            input=input, encoding=encoding, decode_error=decode_error, strip_accents=strip_accents,
            lowercase=lowercase, preprocessor=preprocessor, tokenizer=tokenizer, analyzer=analyzer,
            stop_words=stop_words, token_pattern=token_pattern, ngram_range=ngram_range,
            max_df=max_df, min_df=min_df, max_features=max_features, vocabulary=vocabulary,
            binary=binary, dtype=dtype, output=output, n_jobs=n_jobs,
        )  # fmt: skip
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def fit(self, X: Any, y: Any = None) -> TfidfVectorizer:
        """Learn the vocabulary and the document frequencies.

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
        ValueError, TypeError
            As `CountVectorizer.fit`.
        """
        self._learn(X)
        return self

    def transform(self, X: Any) -> Any:
        """Return the tf-idf of documents.

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
            Before `fit`; also where `vocabulary` was given, unless `use_idf` is False.
        ValueError
            Without `smooth_idf`, if a document has an n-gram that none of `fit` had.
        """
        if self.use_idf and "idf_" not in vars(self):
            raise not_fitted(self, "transform")
        return super().transform(X)

    def _learn(self, X: Any) -> tuple[CsrArrays, np.ndarray]:
        """Learn the vocabulary and the weights."""
        rows, documents = super()._learn(X)
        vars(self).pop("idf_", None)
        if self.use_idf:
            n_rows = len(rows.indptr) - 1
            vars(self)["idf_"] = inverse_frequencies(
                documents, n_rows, self.smooth_idf, self.dtype
            )
        return rows, documents

    def _weigh(self, rows: CsrArrays) -> None:
        """Turn counts into tf-idf."""
        self._weigh_by(self.idf_ if self.use_idf else None, rows, self.n_jobs)

    def _weights(self) -> tuple[str, list[str] | None, int]:
        """Return what has a weight each: the n-grams of the vocabulary."""
        names = self._known("setting idf_").strings()
        return "n-gram", names, len(names)
