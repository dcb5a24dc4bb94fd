"""Text to sparse rows: hashed n-gram counts.

Documents go to C in blocks, as pointers to their own bytes where they are ASCII, so that no Python
object is made for a token; src_c/fl_text.h says what happens to them there. A document that is not
ASCII is lowered by Python first, since how a character lowers can hang on its neighbours, and
split by a bitmap of Python's own word characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ._analyzers import STANDARD_PATTERN, TextAnalysis, byte_classes, check_documents, word_bits
from ._base import Estimator
from ._core.text import DONE, FULL, TOO_LONG, TOO_MANY, TextHasher
from ._params import Boolean, Constraint, Integer, OneOf, shown

__all__ = ["HashedNgram", "HashingVectorizer"]

# Characters and documents handed to C at a time: enough to hide the cost of a call, and little
# memory for the encoded copies.
_BLOCK_SIZE = 1 << 20
_BLOCK_DOCUMENTS = 4096
_NORM_ORDER = {None: 0, "l1": 1, "l2": 2}


class FloatType(Constraint):
    """float64 or float32, in any way that numpy understands."""

    rule = "float64 or float32"

    def accepts(self, value):
        """Say whether a value is allowed."""
        try:
            return value is not None and np.dtype(value) in (np.float64, np.float32)
        except TypeError:
            return False

    def good_values(self):
        """Return examples that must be accepted."""
        return [np.float64, np.float32, "float32", float, np.dtype("f8")]

    def bad_values(self):
        """Return examples that must be refused."""
        return [None, int, np.int64, "float16", np.complex128, "no such type", 1]


class HashedNgram(NamedTuple):
    """An n-gram of a column of hashed text: see `HashingVectorizer.explain_columns`."""

    ngram: str
    sign: int
    frequency: int


class _Output:
    """The three arrays of a CSR matrix, growing as rows arrive."""

    def __init__(self, dtype: Any, n_rows: int | None):
        self.expected_rows = n_rows
        self.indptr = np.zeros(1024 if n_rows is None else n_rows + 1, np.int64)
        self.indices = np.empty(4096, np.int32)
        self.data = np.empty(4096, dtype)

    def take_rows(self, hasher: TextHasher, n_rows: int) -> None:
        """Fetch the rows of a loaded block; Ctrl-C is seen between the calls."""
        needed = hasher.n_rows + n_rows + 1
        if needed > len(self.indptr):
            _resize(self.indptr, max(needed, 2 * len(self.indptr)))
        while (status := hasher.advance(self.indptr, self.indices, self.data)) != DONE:
            _refuse(status, hasher.n_rows)
            if status == FULL:
                self._grow(hasher)

    def _grow(self, hasher: TextHasher) -> None:
        """Make room for the row that waits, and for as many more as the rows so far suggest."""
        size = len(self.indices)
        expected = 0
        if self.expected_rows is not None and hasher.n_rows:
            expected = int(1.05 * hasher.nnz / hasher.n_rows * self.expected_rows)
        size = max(min(expected, 4 * size), size + size // 4, hasher.nnz + hasher.pending_entries)
        self.indices = _enlarged(self.indices, hasher.nnz, size)
        self.data = _enlarged(self.data, hasher.nnz, size)

    def matrix(self, hasher: TextHasher, n_features: int) -> Any:
        """Return the CSR matrix; the arrays are cut to size, not copied."""
        from scipy.sparse import csr_matrix

        _resize(self.indices, hasher.nnz)
        _resize(self.data, hasher.nnz)
        indptr = self.indptr[: hasher.n_rows + 1]
        if hasher.nnz <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        shape = (hasher.n_rows, n_features)
        X = csr_matrix((self.data, self.indices, indptr), shape=shape, copy=False)
        X.has_canonical_format = True
        return X


def _resize(array: np.ndarray, size: int) -> None:
    """Resize in place; nobody else holds the array."""
    array.resize(size, refcheck=False)


def _enlarged(array: np.ndarray, used: int, size: int) -> np.ndarray:
    """Return an array of a larger size that begins with what is used of this one.

    Numpy asks for huge pages only where it allocates anew, which makes writing a large array much
    faster; where most would have to be copied, memory that moves by remapping is better.
    """
    if 2 * used > size:
        _resize(array, size)
        return array
    larger = np.empty(size, array.dtype)
    larger[:used] = array[:used]
    return larger


def _refuse(status: int, row: int) -> None:
    """Raise if a document is beyond what can be counted."""
    if status == TOO_MANY:
        raise ValueError(
            f"The document of row {row} has 2**31 n-grams or more; split it or narrow ngram_range."
        )
    if status == TOO_LONG:
        raise ValueError(
            f"The document of row {row} has a word or an n-gram of 2**29 bytes or more; split it."
        )


def _encode_features(features: Any, row: int) -> list[bytes]:
    """Return the features of a row in UTF-8."""
    if isinstance(features, (str, bytes)):
        raise TypeError(
            f"Row {row}: the analyzer must return an iterable of features, got {shown(features)}."
        )
    encoded = []
    for feature in features:
        if isinstance(feature, str):
            try:
                feature = feature.encode()
            except UnicodeEncodeError as error:
                error.reason += f" in the feature {feature!r} of row {row}"
                raise
        elif not isinstance(feature, bytes):
            raise TypeError(
                f"Row {row}: every feature must be str or bytes, got {shown(feature)}."
            )
        encoded.append(feature)
    return encoded


class HashingVectorizer(TextAnalysis, Estimator):
    r"""Turn documents into rows of hashed n-gram counts.

    There is no vocabulary: the column of an n-gram is its hash modulo `n_features`, so there is
    nothing to fit, memory does not grow with the number of different words, and any documents can
    be transformed at any time. Different n-grams may share a column. Columns and values are those
    of scikit-learn's class of the same name, bit for bit.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default="content"
        Whether documents are given as str or bytes, as paths, or as objects with `read`.
    encoding : str, default="utf-8"
        Encoding of documents that are bytes or come from files.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are not in `encoding`; as in `bytes.decode`.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Drop accents after lowering: "unicode" drops combining marks, "ascii" all that is not
        ASCII once characters are decomposed (NFKD).
    lowercase : bool, default=True
        Lower documents before they are split.
    preprocessor : callable or None, default=None
        Called in place of lowering and stripping accents.
    tokenizer : callable or None, default=None
        Called in place of finding `token_pattern`.
    stop_words : "english", list of str or None, default=None
        Words to leave out before n-grams are made; "english" is scikit-learn's list and needs
        scikit-learn.
    token_pattern : str or None, default=r"(?u)\\b\\w\\w+\\b"
        Regular expression of a word; with a group, the group is the word.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        Lengths of the n-grams, both ends included.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        Whether n-grams are of words, of characters, or of characters inside words; a callable
        maps a decoded document to its features, str or bytes.
    n_features : int, default=2**20
        Number of columns, from 1 to 2**31 - 1.
    binary : bool, default=False
        Give every column that occurs the value 1, before normalising.
    norm : {"l1", "l2"} or None, default="l2"
        Scale rows to this norm.
    alternate_sign : bool, default=True
        Count an n-gram as +1 or -1 by a bit of its hash, so that n-grams that share a column
        cancel on average and inner products are kept (Weinberger et al. 2009). Not used when
        `binary` is True.
    dtype : {float64, float32}, default=float64
        Type of the values.
    output : {"csr", "rows"}, default="csr"
        What `transform` returns: a scipy matrix, or `fastlin.Rows`, which hold no values where all
        are 1, or 1 and -1 (without `norm`, for instance), and so half the memory.

    Notes
    -----
    The standard analysis runs in C without the interpreter lock: `analyzer` "word", no
    `tokenizer`, no `stop_words` and the default `token_pattern`. Anything else takes a slower
    way in Python to the same result.

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
        "dtype": FloatType(),
        "output": OneOf("csr", "rows"),
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
        dtype=np.float64,
        output="csr",
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
        self.output = output
        self.dtype = dtype

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
        documents = check_documents(X)
        output = _Output(self.dtype, len(X) if hasattr(X, "__len__") else None)
        hasher = self._hasher()
        if self._is_standard():
            self._hash_documents(documents, hasher, output)
        else:
            self._hash_features(documents, hasher, output)
        if hasher.n_rows == 0:
            raise ValueError("X must have at least one document, got none.")
        matrix = output.matrix(hasher, int(self.n_features))
        if self.output == "csr":
            return matrix
        from ._data import compact_rows

        return compact_rows(matrix)

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
        hasher = self._hasher()
        analyse = self._build_text_analyzer()
        members = frozenset(wanted)
        # Only what falls into these columns is kept: a corpus has far more n-grams than that.
        places: dict[str | bytes, tuple[int, int]] = {}
        counts: Counter[str | bytes] = Counter()
        for row, document in enumerate(check_documents(X)):
            for feature in analyse(self._decode_row(document, row)):
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
        hashed = hasher.hash(_encode_features([feature], row)[0])
        column = hasher.column(hashed)
        if column not in members:
            return None
        return column, -1 if hashed < 0 and self.alternate_sign and not self.binary else 1

    def _hasher(self) -> TextHasher:
        """Return a new hasher for one pass over documents."""
        shortest, longest = self.ngram_range
        return TextHasher(
            byte_classes(bool(self.lowercase)), byte_classes(False), self.n_features,
            shortest, longest, self.alternate_sign, self.binary, _NORM_ORDER[self.norm],
        )

    def _hash_documents(self, documents: Iterator, hasher: TextHasher, output: _Output) -> None:
        """Let C split and hash: ASCII as it is, the rest preprocessed by Python."""
        c_preprocesses = self.preprocessor is None and not callable(self.strip_accents)
        preprocess = self.build_preprocessor()
        block: list[str | bytes] = []
        size = 0
        for row, document in enumerate(documents):
            text = document
            if type(text) is not str or self.input != "content":
                text = self._decode_row(document, row)
            if not (c_preprocesses and type(text) is str and text.isascii()):
                text = _encode_text(preprocess(text), row)
                hasher.set_word_bits(word_bits())
            block.append(text)
            size += len(text)
            if size >= _BLOCK_SIZE or len(block) == _BLOCK_DOCUMENTS:
                hasher.load(block)
                output.take_rows(hasher, len(block))
                block, size = [], 0
        hasher.load(block)
        output.take_rows(hasher, len(block))

    def _hash_features(self, documents: Iterator, hasher: TextHasher, output: _Output) -> None:
        """Let Python analyse, and C hash and count what it finds."""
        analyse = self._build_text_analyzer()
        for row, document in enumerate(documents):
            features = _encode_features(analyse(self._decode_row(document, row)), row)
            _refuse(hasher.load_features(features), row)
            output.take_rows(hasher, 1)


def _encode_text(text: Any, row: int) -> bytes:
    """Return preprocessed text in UTF-8; a lone surrogate parts words and is never hashed."""
    if not isinstance(text, str):
        raise TypeError(f"Row {row}: the preprocessor must return str, got {shown(text)}.")
    return text.encode("utf-8", "surrogatepass")
