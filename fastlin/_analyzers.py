"""From a document to its n-grams in Python: the rules of scikit-learn's text vectorizers.

The compiled path covers words, by the patterns of `_LEAST`, and characters; everything else runs
here. Both take from Python itself what a word character is, what white space, and how it lowers:
tables hand that knowledge to C, so no table of Unicode is kept anywhere.
"""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np

from ._exceptions import warn
from ._params import Boolean, Constraint, Either, Instance, OneOf, is_nan, shown
from ._params import Callable as CallableConstraint
from ._targets import refuse_lazy

__all__ = [
    "STANDARD_PATTERN",
    "NgramRange",
    "StopWords",
    "TextAnalysis",
    "byte_classes",
    "check_documents",
    "folded_bytes",
    "space_bits",
    "strip_accents_ascii",
    "strip_accents_unicode",
    "word_bits",
]

STANDARD_PATTERN = r"(?u)\b\w\w+\b"
_SPACES = re.compile(r"\s\s+")
# What src_c/fl_words.h calls them.
_SEPARATOR, _MULTIBYTE = 0, 1
_KINDS = {"word": 0, "char": 1, "char_wb": 2}
# Patterns of maximal runs of word characters, and how many these must be.
_LEAST = {
    flag + pattern: least
    for pattern, least in {r"\b\w\w+\b": 2, r"\w\w+": 2, r"\b\w+\b": 1, r"\w+": 1}.items()
    for flag in ("", "(?u)")
}


@functools.cache
def byte_classes(lowercase: bool) -> np.ndarray:
    """Return for each byte of UTF-8 the byte to hash, 0 if it parts words, 1 from 128 on."""
    table = np.full(256, _MULTIBYTE, np.uint8)
    for code in range(128):
        character = chr(code)
        kept = character.lower() if lowercase else character
        table[code] = ord(kept) if re.match(r"\w", character) else _SEPARATOR
    table.flags.writeable = False
    return table


@functools.cache
def folded_bytes(lowercase: bool) -> np.ndarray:
    """Return for each ASCII character how it is stored where characters are counted."""
    table = np.arange(256, dtype=np.uint8)
    if lowercase:
        table[:128] = [ord(chr(code).lower()) for code in range(128)]
    table.flags.writeable = False
    return table


@functools.cache
def lowered_characters() -> np.ndarray:
    """Return how characters of the first plane lower, as `lowered_utf8` takes it: 0 for those that
    do by their neighbours, to others than one of that plane, or have no UTF-8."""
    lowered = [chr(code).lower() for code in range(0x10000)]
    # A capital that lowers otherwise at the end of a word does so by what is around it.
    depends = [
        len(text) != 1 or text != chr(code) and f"a{chr(code)}".lower()[1:] != text
        for code, text in enumerate(lowered)
    ]
    codes = np.array([ord(text) if len(text) == 1 else 0 for text in lowered], np.uint32)
    tail = [np.uint32(0x80) | (codes >> np.uint32(bits) & np.uint32(0x3F)) for bits in (0, 6)]
    two = 0xC0 | codes >> 6 | tail[0] << 8 | 2 << 24
    three = 0xE0 | codes >> 12 | tail[1] << 8 | tail[0] << 16 | 3 << 24
    table = np.select([codes < 0x80, codes < 0x800], [codes | 1 << 24, two], three)
    is_surrogate = (codes >= 0xD800) & (codes < 0xE000)
    table[np.array(depends) | is_surrogate | (codes >= 0x10000)] = 0
    table = table.astype(np.uint32)
    table.flags.writeable = False
    return table


def word_bits() -> np.ndarray:
    r"""Return one bit for each code point, in uint64 words: does ``\w`` match it?"""
    return _bits(r"\w+")


def space_bits() -> np.ndarray:
    r"""Return one bit for each code point, in uint64 words: does ``\s`` match it?"""
    return _bits(r"\s+")


@functools.cache
def _bits(pattern: str) -> np.ndarray:
    """Return one bit for each code point that a pattern of runs matches."""
    n_code_points = 0x110000
    every = np.arange(n_code_points, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    matches = np.zeros(n_code_points, bool)
    for run in re.finditer(pattern, every):
        matches[run.start() : run.end()] = True
    bits = np.packbits(matches, bitorder="little").view("<u8").astype(np.uint64)
    bits.flags.writeable = False
    return bits


def strip_accents_unicode(text: str) -> str:
    """Decompose characters (NFKD) and drop the combining marks."""
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join([c for c in decomposed if not unicodedata.combining(c)])


def strip_accents_ascii(text: str) -> str:
    """Decompose characters (NFKD) and drop whatever is not ASCII."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def _word_ngrams(words: Iterable[str], shortest: int, longest: int) -> list[str]:
    """Return runs of words joined by spaces, short runs first."""
    words = list(words)
    ngrams = list(words) if shortest == 1 else []
    for n in range(max(shortest, 2), min(longest, len(words)) + 1):
        ngrams += [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    return ngrams


def _char_ngrams(text: str, shortest: int, longest: int) -> list[str]:
    """Return runs of characters, longer white space taken as one space."""
    text = _SPACES.sub(" ", text)
    return [
        text[i : i + n]
        for n in range(shortest, min(longest, len(text)) + 1)
        for i in range(len(text) - n + 1)
    ]


def _char_wb_ngrams(text: str, shortest: int, longest: int) -> list[str]:
    """Return runs of characters within words that have a space on either side."""
    ngrams = []
    for word in text.split():
        word = f" {word} "
        for n in range(shortest, longest + 1):
            if n >= len(word):
                # Once, however many lengths it is too short for.
                ngrams.append(word)
                break
            ngrams += [word[i : i + n] for i in range(len(word) - n + 1)]
    return ngrams


def _preprocess(text: str, lowercase: bool, strip_accents: Callable | None) -> str:
    """Lower, then strip accents."""
    if lowercase:
        text = text.lower()
    return text if strip_accents is None else strip_accents(text)


def _words(
    text: str, preprocess: Callable, tokenize: Callable, stop_words: frozenset | None,
    shortest: int, longest: int,
) -> list[str]:
    """Analyse a decoded document into word n-grams."""
    words = tokenize(preprocess(text))
    if stop_words is not None:
        words = [word for word in words if word not in stop_words]
    return _word_ngrams(words, shortest, longest)


def _characters(
    text: str, preprocess: Callable, ngrams: Callable, shortest: int, longest: int
) -> list[str]:
    """Analyse a decoded document into character n-grams."""
    return ngrams(preprocess(text), shortest, longest)


def _decode_and_analyse(document: Any, decode: Callable, analyse: Callable) -> Any:
    """Analyse a document as the user gave it."""
    return analyse(decode(document))


class NgramRange(Constraint):
    """A pair of integers, the shortest and the longest n-gram."""

    rule = "a pair of integers (min_n, max_n) with 1 <= min_n <= max_n < 2**31"

    def accepts(self, value):
        """Say whether a value is allowed."""
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            return False
        whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in value)
        return whole and 1 <= value[0] <= value[1] < 2**31

    def good_values(self):
        """Return examples that must be accepted."""
        return [(1, 1), (1, 2), [2, 3], (np.int64(1), np.int32(4))]

    def bad_values(self):
        """Return examples that must be refused."""
        return [None, 2, "12", (1,), (1, 2, 3), (0, 1), (2, 1), (1.0, 2.0), (True, 2), (1, 2**31)]


class StopWords(Constraint):
    """None, the name of scikit-learn's English list, or a collection of words."""

    rule = "None, 'english' or a list of str"

    def accepts(self, value):
        """Say whether a value is allowed."""
        if value is None or isinstance(value, str):
            return value is None or value == "english"
        kinds = (list, tuple, set, frozenset)
        return isinstance(value, kinds) and all(isinstance(word, str) for word in value)

    def good_values(self):
        """Return examples that must be accepted."""
        return [None, "english", ["a", "the"], {"und"}, ()]

    def bad_values(self):
        """Return examples that must be refused."""
        return ["german", b"english", [1], ["a", None], 1, True, {"a": 1}]


class TextAnalysis:
    """The parameters that say how a document becomes n-grams, and what is built from them."""

    input: str
    encoding: str
    decode_error: str
    strip_accents: str | Callable | None
    lowercase: bool
    preprocessor: Callable | None
    tokenizer: Callable | None
    stop_words: str | Iterable[str] | None
    token_pattern: str | None
    ngram_range: tuple[int, int]
    analyzer: str | Callable

    _constraints: ClassVar[dict[str, Constraint]] = {
        "input": OneOf("content", "filename", "file"),
        "encoding": Instance(str),
        "decode_error": OneOf("strict", "ignore", "replace"),
        "strip_accents": Either(OneOf(None, "ascii", "unicode"), CallableConstraint()),
        "lowercase": Boolean(),
        "preprocessor": Either(OneOf(None), CallableConstraint()),
        "tokenizer": Either(OneOf(None), CallableConstraint()),
        "stop_words": StopWords(),
        "token_pattern": Either(OneOf(None), Instance(str)),
        "ngram_range": NgramRange(),
        "analyzer": Either(OneOf("word", "char", "char_wb"), CallableConstraint()),
    }

    def _check_analysis(self) -> None:
        """Check what no single constraint sees, and warn of parameters that are not used."""
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ValueError(
                f"encoding must be one that Python knows, got {shown(self.encoding)}."
            ) from None
        for name in self._unused():
            warn(
                "UserWarning",
                f"{name} has no effect with analyzer={shown(self.analyzer)} and "
                f"tokenizer={shown(self.tokenizer)}.",
            )
        if self.analyzer == "word":
            self.build_tokenizer()
            self._check_stop_words()

    def _unused(self) -> list[str]:
        """Return the names of parameters that were set and that the analyzer does not use."""
        unused = []
        other_pattern = self.token_pattern not in (None, STANDARD_PATTERN)
        if callable(self.analyzer):
            unused += ["preprocessor"] * (self.preprocessor is not None)
            unused += ["ngram_range"] * (tuple(self.ngram_range) != (1, 1))
        if callable(self.analyzer) or self.analyzer != "word":
            unused += ["stop_words"] * (self.stop_words is not None)
            unused += ["tokenizer"] * (self.tokenizer is not None)
            unused += ["token_pattern"] * other_pattern
        elif self.tokenizer is not None:
            unused += ["token_pattern"] * other_pattern
        return unused

    def _check_stop_words(self) -> None:
        """Warn if the analysis turns a stop word into words that are none."""
        stop_words = self.get_stop_words()
        if not stop_words or self.preprocessor is not None or self.tokenizer is not None:
            return
        preprocess, tokenize = self.build_preprocessor(), self.build_tokenizer()
        left = {w for word in stop_words for w in tokenize(preprocess(word))} - stop_words
        if left:
            warn(
                "UserWarning",
                "stop_words must pass through the same preprocessing as documents; theirs leaves "
                f"{sorted(left)}, which are not stop words. Add these.",
            )

    def _is_standard(self) -> bool:
        """Say whether C finds the units, once a document is preprocessed."""
        if not isinstance(self.analyzer, str):
            return False
        return self.analyzer != "word" or (self.tokenizer is None and self.token_pattern in _LEAST)

    def _units(self) -> tuple[np.ndarray, np.ndarray, int, int]:
        """Return what says to C how text falls into units: how bytes are stored in raw and in
        preprocessed text, the kind, and the least length of a word."""
        kind = _KINDS[self.analyzer] if isinstance(self.analyzer, str) else 0
        table = folded_bytes if kind else byte_classes
        least = _LEAST.get(self.token_pattern or "", 2)
        return table(bool(self.lowercase)), table(False), kind, least

    def _compiled_stop_words(self) -> frozenset[str] | None:
        """Return the words that C is to leave out: where Python analyses, it does so itself."""
        return self.get_stop_words() if self._is_standard() and self.analyzer == "word" else None

    def _unit_bits(self) -> np.ndarray:
        """Return the bitmap of code points that the units need."""
        return word_bits() if callable(self.analyzer) or self.analyzer == "word" else space_bits()

    def decode(self, doc: Any) -> Any:
        """Read a document as `input` says and decode it if it is bytes.

        Parameters
        ----------
        doc : str, bytes, path or file object
            One document.

        Returns
        -------
        str
            Its text. What is neither str nor bytes is returned as it is, for an analyzer or a
            preprocessor that knows it.

        Raises
        ------
        TypeError
            If the document is NaN, or not what `input` says.
        UnicodeDecodeError
            If bytes are not in `encoding` and `decode_error` is "strict".
        """
        if isinstance(doc, float) and is_nan(doc):
            raise TypeError("a document must be str or bytes, got nan; replace missing ones by ''.")
        if self.input == "filename":
            with open(doc, "rb") as file:
                doc = file.read()
        elif self.input == "file":
            if not hasattr(doc, "read"):
                raise TypeError(f"input='file' needs objects with a read method, got {shown(doc)}.")
            doc = doc.read()
        return doc.decode(self.encoding, self.decode_error) if isinstance(doc, bytes) else doc

    def build_preprocessor(self) -> Callable[[Any], Any]:
        """Return the function from a decoded document to the text that is tokenised.

        Returns
        -------
        callable
            `preprocessor` if there is one, else what lowers and strips accents.
        """
        if self.preprocessor is not None:
            return self.preprocessor
        named = {"ascii": strip_accents_ascii, "unicode": strip_accents_unicode, None: None}
        strip = self.strip_accents if callable(self.strip_accents) else named[self.strip_accents]
        return functools.partial(_preprocess, lowercase=self.lowercase, strip_accents=strip)

    def build_tokenizer(self) -> Callable[[str], Any]:
        """Return the function from text to words.

        Returns
        -------
        callable
            `tokenizer` if there is one, else what finds `token_pattern`.

        Raises
        ------
        ValueError
            If `token_pattern` is not a regular expression, or has more than one group.
        """
        if self.tokenizer is not None:
            return self.tokenizer
        if self.token_pattern is None:
            raise ValueError("token_pattern must be a str when tokenizer is None, got None.")
        try:
            pattern = re.compile(self.token_pattern)
        except re.error as error:
            raise ValueError(
                f"token_pattern must be a regular expression, got {self.token_pattern!r}: {error}."
            ) from None
        if pattern.groups > 1:
            raise ValueError(
                f"token_pattern must have at most one capturing group, got {pattern.groups} in "
                f"{self.token_pattern!r}; write (?:...) for the others."
            )
        return pattern.findall

    def get_stop_words(self) -> frozenset[str] | None:
        """Return the words that are left out.

        Returns
        -------
        frozenset of str or None

        Raises
        ------
        ValueError
            If `stop_words` is "english" and scikit-learn, whose list that is, is not installed.
        """
        if self.stop_words != "english":
            return None if self.stop_words is None else frozenset(self.stop_words)
        try:
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
        except ImportError:
            raise ValueError(
                "stop_words='english' is the list of scikit-learn, which is not installed; "
                "pass a list of words."
            ) from None
        return ENGLISH_STOP_WORDS

    def build_analyzer(self) -> Callable[[Any], Any]:
        """Return the function from a document to the n-grams (features) that are counted.

        Returns
        -------
        callable
            Decodes, preprocesses, tokenises and makes n-grams.
        """
        return functools.partial(
            _decode_and_analyse, decode=self.decode, analyse=self._build_text_analyzer()
        )

    def _build_text_analyzer(self) -> Callable[[Any], Any]:
        """Return the function from a decoded document to its features."""
        if callable(self.analyzer):
            return self.analyzer
        shortest, longest = self.ngram_range
        lengths: dict[str, Any] = {"shortest": int(shortest), "longest": int(longest)}
        preprocess = self.build_preprocessor()
        if self.analyzer == "word":
            return functools.partial(
                _words, preprocess=preprocess, tokenize=self.build_tokenizer(),
                stop_words=self.get_stop_words(), **lengths,
            )
        ngrams = _char_ngrams if self.analyzer == "char" else _char_wb_ngrams
        return functools.partial(_characters, preprocess=preprocess, ngrams=ngrams, **lengths)

    def _decode_row(self, document: Any, row: int) -> Any:
        """Decode the document of a row; errors say which."""
        try:
            text = self.decode(document)
        except UnicodeDecodeError as error:
            error.reason += f" in the document of row {row}; see encoding and decode_error"
            raise
        except TypeError as error:
            raise TypeError(f"Row {row}: {error}") from None
        takes_any = callable(self.analyzer) or self.preprocessor is not None
        if not isinstance(text, str) and not takes_any:
            raise TypeError(
                f"Row {row}: a document must be str or bytes, got {shown(text)}; replace missing "
                "ones by ''."
            )
        return text


def check_documents(X: Any) -> Any:
    """Return a collection of documents, refusing what would be iterated by mistake."""
    if isinstance(X, (str, bytes)):
        # scikit-learn's type of error.
        raise ValueError(
            f"X must be an iterable of documents, got one {type(X).__name__}; pass a list with it."
        )
    refuse_lazy(X, "X")
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 1:
        raise ValueError(
            f"X must be a one-dimensional collection of documents, got {type(X).__name__} of shape "
            f"{shape}; pass one column of it."
        )
    try:
        if type(X).__module__.partition(".")[0] == "pyarrow":
            return iter(X.to_pylist())
        return iter(X)
    except TypeError:
        raise TypeError(f"X must be an iterable of documents, got {shown(X)}.") from None
