"""Text to sparse rows: hashed n-gram counts.

Documents go to C in blocks (`_text_blocks`), as pointers to their own bytes where they are ASCII,
so that no Python object is made for a token; src_c/fl_text.h says what happens to them there.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ._analyzers import STANDARD_PATTERN, TextAnalysis, check_documents
from ._base import Estimator
from ._core.ngrams import NgramTable
from ._core.text import TextHasher
from ._isa import ISA
from ._parallel import feed, n_threads
from ._params import Boolean, Constraint, Either, FloatType, Integer, OneOf
from ._text_blocks import NumberedBlock, numbered, text_blocks
from ._text_docs import ANALYSIS_NOTES, ANALYSIS_PARAMETERS, N_JOBS
from ._text_rows import (
    BlocksOutput,
    CsrArrays,
    RowsOutput,
    as_output,
    encode_features,
    features_of,
    refuse,
)  # fmt: skip
from ._vocabulary import word_table

__all__ = ["HashedNgram", "HashingVectorizer"]

_NORM_ORDER = {None: 0, "l1": 1, "l2": 2}


class HashedNgram(NamedTuple):
    """An n-gram of a column of hashed text: see `HashingVectorizer.explain_columns`."""

    ngram: str
    sign: int
    frequency: int


class HashingVectorizer(TextAnalysis, Estimator):
    __doc__ = rf"""Turn documents into rows of hashed n-gram counts.

    There is no vocabulary: the column of an n-gram is its hash modulo `n_features`, so there is
    nothing to fit, memory does not grow with the number of different words, and any documents can
    be transformed at any time. Different n-grams may share a column. Columns and values are those
    of scikit-learn's class of the same name, bit for bit, unless `hash` is "fast".

    Parameters
    ----------
    {ANALYSIS_PARAMETERS}
    n_features : int, default=2**20
        Number of columns, from 1 to 2**31 - 1.
    binary : bool, default=False
        Give every column that occurs the value 1, before normalising.
    norm : {{"l1", "l2"}} or None, default="l2"
        Scale rows to this norm.
    alternate_sign : bool, default=True
        Count an n-gram as +1 or -1 by a bit of its hash, so that n-grams that share a column
        cancel on average and inner products are kept (Weinberger et al. 2009). Not used when
        `binary` is True.
    hash : {{"murmur3", "fast"}}, default="murmur3"
        What columns come from: scikit-learn's hash of the text of an n-gram, or one of this library
        (see Notes) that makes the hash of an n-gram out of those of its words and takes less time.
        A model needs the one that it was trained with.
    dtype : {{float64, float32}}, default=float64
        Type of the values.
    output : {{"csr", "rows"}}, default="csr"
        What `transform` returns: a scipy matrix, or `fastlin.Rows`, which hold no values where all
        are 1, or 1 and -1 (without `norm`, for instance), and so half the memory.
    {N_JOBS}

    Notes
    -----
    {ANALYSIS_NOTES}

    The fast hash of an n-gram depends on its text alone, on every platform. It is split at each
    space into words w_1, ..., w_k. The UTF-8 bytes of a word, followed by zeros up to a length of
    7 modulo 8 and by a byte with their number modulo 8, are numbers x_1, ..., x_m of eight bytes,
    the first byte lowest. With mix(z) = z xor floor(z / 2^32), products modulo 2^64 and
    S = 0xbb67ae8584caa73b,

    - H(w) = s_m, where s_j = mix((s_(j-1) xor x_j) * 0x9e3779b97f4a7c15) and s_0 = S;
    - h = h_k, where h_i = mix((h_(i-1) xor H(w_i)) * 0x6a09e667f3bcc909) and h_0 = S.

    The column is floor(floor(h / 2^32) * n_features / 2^32), the sign negative if bit 31 of h is 1.

    Where the signs of n-grams cancel exactly, scikit-learn stores a zero; here nothing is stored.
    The matrices are equal, the stored patterns may differ in this.

    References
    ----------
    K. Weinberger, A. Dasgupta, J. Langford, A. Smola, J. Attenberg. Feature hashing for large
    scale multitask learning. ICML 2009.

    Examples
    --------
    >>> from fastlin.text import HashingVectorizer
    >>> vectorizer = HashingVectorizer(n_features=16, norm=None, alternate_sign=False)
    >>> X = vectorizer.transform(["The cat sat.", "The cat, the mat, the hat."])
    >>> X.shape
    (2, 16)
    >>> X.sum(axis=1).tolist()
    [[3.0], [6.0]]
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_features": Integer(1, 2**31 - 1),
        "binary": Boolean(),
        "norm": OneOf("l1", "l2", None),
        "alternate_sign": Boolean(),
        "hash": OneOf("murmur3", "fast"),
        "dtype": FloatType(),
        "output": OneOf("csr", "rows"),
        "n_jobs": Either(Integer(), OneOf(None)),
    }
    _tags: ClassVar[dict[str, Any]] = {
        "two_d_array": False,
        "string": True,
        "sparse": False,
        "requires_fit": False,
        "preserves_dtype": (),
    }
    _fitted_attribute = None

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
        n_features=2**20,
        binary=False,
        norm="l2",
        alternate_sign=True,
        hash="murmur3",
        dtype=np.float64,
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
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.hash = hash
        self.output = output
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Any = None, y: Any = None) -> HashingVectorizer:
        """Check the parameters; there is nothing to learn.

        Parameters
        ----------
        X : iterable of documents, optional
            Not read, except to refuse a single str.
        y : ignored

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is not allowed; the message names it.
        """
        self._check_params()
        self._check_analysis()
        if X is not None:
            check_documents(X)
        return self

    def partial_fit(self, X: Any = None, y: Any = None) -> HashingVectorizer:
        """Check the parameters, as `fit` does.

        Parameters
        ----------
        X : iterable of documents, optional
            Not read, except to refuse a single str.
        y : ignored

        Returns
        -------
        self
        """
        return self.fit(X, y)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return what `transform` returns.

        Parameters
        ----------
        X : iterable of documents of length n_samples
        y : ignored

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_features)
        """
        return self.transform(X)

    def transform(self, X: Any) -> Any:
        """Return the hashed n-gram counts of documents.

        Parameters
        ----------
        X : iterable of str, bytes, paths or file objects, of length n_samples
            The documents, as `input` says.

        Returns
        -------
        scipy.sparse.csr_matrix or Rows of shape (n_samples, n_features)
            Of `dtype`, columns ascending within rows, indices int32.

        Raises
        ------
        ValueError
            If there is no document, if X is a single str, or if a parameter is not allowed.
        TypeError
            If a document is missing (None, NaN) or not text; the message has its row.
        UnicodeDecodeError
            If bytes are not in `encoding`; the message has the row.
        """
        self._check_params()
        self._check_analysis()
        if self._is_standard():
            arrays = self._hash_documents(X)
        else:
            arrays = self._hash_features(check_documents(X))
        if len(arrays.indptr) == 1:
            raise ValueError("X must have at least one document, got none.")
        return as_output(arrays, int(self.n_features), self.output)

    def explain_columns(
        self, X: Any, columns: Iterable[int], top: int = 1
    ) -> dict[int, list[HashedNgram]]:
        """Find the most frequent n-grams that fall into some columns.

        Hashing keeps no names; the documents that a model was trained on bring them back. The
        weight of an n-gram is that of its column times its sign.

        Parameters
        ----------
        X : iterable of documents
            As for `transform`; this runs at the speed of Python.
        columns : iterable of int
            Columns to explain.
        top : int, default=1
            Most n-grams to return for a column.

        Returns
        -------
        dict of int to list of HashedNgram
            For each column its n-grams with sign and frequency, most frequent first, equally
            frequent ones in alphabetical order. The list is empty if none falls there.

        Raises
        ------
        ValueError
            If a column is not in [0, n_features), or `top` is below 1.

        Examples
        --------
        >>> from fastlin.text import HashingVectorizer
        >>> vectorizer = HashingVectorizer(n_features=2**20)
        >>> X = vectorizer.transform(["spam and ham"])
        >>> sorted(found[0].ngram for found in
        ...        vectorizer.explain_columns(["spam and ham"], X.indices).values())
        ['and', 'ham', 'spam']
        """
        self._check_params()
        Integer(1).check("top", top)
        wanted = sorted({int(column) for column in columns})
        for column in wanted[:1] + wanted[-1:]:
            Integer(0, int(self.n_features) - 1).check("columns", column)
        hasher = self._hasher(None)
        analyse = self._build_text_analyzer()
        members = frozenset(wanted)
        # Only what falls into these columns is kept: a corpus has far more n-grams than that.
        places: dict[str | bytes, tuple[int, int]] = {}
        counts: Counter[str | bytes] = Counter()
        for row, document in enumerate(check_documents(X)):
            for feature in features_of(row, analyse(self._decode_row(document, row))):
                if feature not in places:
                    place = self._place(feature, row, hasher, members)
                    if place is None:
                        continue
                    places[feature] = place
                counts[feature] += 1
        found: dict[int, list[HashedNgram]] = {column: [] for column in wanted}
        for feature, count in sorted(counts.items(), key=lambda item: (-item[1], str(item[0]))):
            column, sign = places[feature]
            if len(found[column]) < top:
                text = feature if isinstance(feature, str) else feature.decode("utf-8", "replace")
                found[column].append(HashedNgram(text, sign, count))
        return found

    def _place(
        self, feature: Any, row: int, hasher: TextHasher, members: frozenset[int]
    ) -> tuple[int, int] | None:
        """Return column and sign of a feature if it falls into one of the columns asked for."""
        column, is_negative = hasher.place(hasher.hash(encode_features([feature], row)[0]))
        if column not in members:
            return None
        return column, -1 if is_negative and not self.binary else 1

    def _hasher(self, stop_words: NgramTable | None) -> TextHasher:
        """Return a new hasher for one pass over documents."""
        raw, done, kind, least = self._units()
        shortest, longest = self.ngram_range
        hasher = TextHasher(
            raw, done, kind, least, stop_words, self.n_features, shortest, longest,
            self.alternate_sign, self.binary, _NORM_ORDER[self.norm], self.hash == "fast",
            ISA,
        )
        hasher.set_word_bits(self._unit_bits())
        return hasher

    def _hash_documents(self, X: Any) -> CsrArrays:
        """Let C split and hash."""
        strict = self.analyzer != "word"
        blocks = text_blocks(self, X, "strict" if strict else "surrogatepass")
        n_rows = len(X) if hasattr(X, "__len__") else None
        threads = n_threads(self.n_jobs)
        # Threads share the table, which nothing changes.
        stop_words = word_table(self._compiled_stop_words())
        if threads == 1:
            hasher, output = self._hasher(stop_words), RowsOutput(self.dtype, n_rows)
            for block in blocks:
                hasher.load(block)
                output.take_rows(hasher, block.n_documents)
            return output.arrays(hasher)
        whole = BlocksOutput(self.dtype, n_rows)
        feed(numbered(blocks), functools.partial(self._hash_fed, whole, stop_words), threads)
        return whole.arrays(threads)

    def _hash_fed(
        self, whole: BlocksOutput, stop_words: NgramTable | None, fed: Iterator[NumberedBlock]
    ) -> None:
        """Hash the blocks that a thread gets."""
        hasher = self._hasher(stop_words)
        for number, first_row, block in fed:
            hasher.load(block)
            whole.take(hasher, number, block.n_documents, first_row)

    def _hash_features(self, documents: Iterator) -> CsrArrays:
        """Let Python analyse, and C hash and count what it finds."""
        # Python leaves out the stop words.
        hasher, output = self._hasher(None), RowsOutput(self.dtype, None)
        analyse = self._build_text_analyzer()
        for row, document in enumerate(documents):
            features = encode_features(analyse(self._decode_row(document, row)), row)
            refuse(hasher.load_features(features), row)
            output.take_rows(hasher, 1)
        return output.arrays(hasher)
