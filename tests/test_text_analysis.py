"""Ways to give documents, analyses other than the standard one, and what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from text_reference import assert_same, peer, random_documents

from fastlin._params import constraints_of, unconstrained
from fastlin.count_vectorizer import CountVectorizer
from fastlin.text import HashingVectorizer

# ---- other analyses, by Python ----

ANALYSES = [
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (2, 5), "lowercase": False},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (1, 9)},
    {"token_pattern": r"\w+", "ngram_range": (1, 2)},
    {"token_pattern": r"(\w)\w+"},
    {"tokenizer": str.split, "token_pattern": None, "ngram_range": (2, 3)},
    {"stop_words": ["abc", "x_y"], "ngram_range": (1, 2), "lowercase": False},
    {"preprocessor": str.upper, "ngram_range": (1, 2)},
    {"strip_accents": str.swapcase},
    {"analyzer": lambda text: [w.encode("utf-16") for w in text.split()]},
]


@pytest.mark.parametrize("params", ANALYSES, ids=str)
def test_other_analyses_equal_scikit_learn(params):
    documents = [*random_documents(15, seed=7, longest=40), "abc, x_y zz", "  ", "\n a \t\t b "]
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))
    expected = pytest.importorskip("sklearn.feature_extraction.text").HashingVectorizer(**params)
    ours, theirs = HashingVectorizer(**params).build_analyzer(), expected.build_analyzer()
    for document in documents:
        assert list(ours(document)) == list(theirs(document))


def test_english_stop_words_are_those_of_scikit_learn():
    documents = ["this is not the end of it", "spam and eggs"]
    params = {"stop_words": "english", "ngram_range": (1, 2)}
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))


def test_inconsistent_stop_words_warn():
    with pytest.warns(UserWarning, match=r"\['don'\]"):
        HashingVectorizer(stop_words=["don't"]).fit()


@pytest.mark.parametrize(("params", "unused"), [
    ({"analyzer": "char", "stop_words": ["a"]}, "stop_words"),
    ({"analyzer": "char", "tokenizer": str.split}, "tokenizer"),
    ({"analyzer": "char_wb", "token_pattern": r"\w"}, "token_pattern"),
    ({"tokenizer": str.split, "token_pattern": r"\w"}, "token_pattern"),
    ({"analyzer": str.split, "ngram_range": (1, 2)}, "ngram_range"),
    ({"analyzer": str.split, "preprocessor": str.lower}, "preprocessor"),
])
def test_a_parameter_that_is_not_used_warns(params, unused):
    with pytest.warns(UserWarning, match=f"{unused} has no effect"):
        HashingVectorizer(**params).transform(["a text"])


# ---- ways to give documents ----


def test_bytes_files_and_names(tmp_path):
    texts = ["Ein Käse", "plain words", "naïve café"]
    expected = HashingVectorizer().transform(texts)
    for encoding in ("utf-8", "latin-1", "utf-16"):
        raw = [text.encode(encoding) for text in texts]
        assert_same(HashingVectorizer(encoding=encoding).transform(raw), expected)
        files = [io.BytesIO(data) for data in raw]
        assert_same(HashingVectorizer(input="file", encoding=encoding).transform(files), expected)
        names = [tmp_path / f"{i}.txt" for i in range(3)]
        for name, data in zip(names, raw, strict=True):
            name.write_bytes(data)
        by_name = HashingVectorizer(input="filename", encoding=encoding)
        assert_same(by_name.transform(names), expected)
        assert_same(by_name.transform([str(name) for name in names]), expected)
    assert_same(HashingVectorizer(input="file").transform(map(io.StringIO, texts)), expected)


def test_any_iterable_of_documents():
    pandas = pytest.importorskip("pandas")
    texts = ["one two", "Three four", "drei vièr"]
    expected = HashingVectorizer().transform(texts)
    for X in (tuple(texts), iter(texts), np.array(texts), np.array(texts, object),
              pandas.Series(texts), pandas.Series(texts, dtype="string")):
        assert_same(HashingVectorizer().transform(X), expected)


def test_decode_errors():
    raw = [b"good", b"caf\xe9 au lait"]
    with pytest.raises(UnicodeDecodeError, match="row 1"):
        HashingVectorizer().transform(raw)
    for how in ("ignore", "replace"):
        assert_same(HashingVectorizer(decode_error=how).transform(raw),
                    peer(raw, decode_error=how))


# ---- what is refused ----


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, 3, ["a"]])
@pytest.mark.parametrize("params", [{}, {"stop_words": ["a"]}, {"analyzer": "char"}])
def test_a_missing_document_is_named(missing, params):
    with pytest.raises(TypeError, match="Row 1: .*must be str or bytes"):
        HashingVectorizer(**params).transform(["hello", missing])


def test_missing_from_a_series():
    pandas = pytest.importorskip("pandas")
    for missing in (None, np.nan, pandas.NA):
        with pytest.raises(TypeError, match="Row 1"):
            HashingVectorizer().transform(pandas.Series(["hello", missing], dtype=object))


def test_what_is_not_a_collection_of_documents():
    for method in ("fit", "transform", "fit_transform", "partial_fit"):
        with pytest.raises(ValueError, match="got one str"):
            getattr(HashingVectorizer(), method)("a single text")
    with pytest.raises(ValueError, match="got one bytes"):
        HashingVectorizer().transform(b"a single text")
    with pytest.raises(TypeError, match="iterable of documents, got 3"):
        HashingVectorizer().transform(3)
    for X in (np.array([["a", "b"]]), np.array("a"), csr_matrix((2, 2))):
        with pytest.raises(ValueError, match="one-dimensional"):
            HashingVectorizer().transform(X)
    frame = pytest.importorskip("pandas").DataFrame({"text": ["a"]})
    with pytest.raises(ValueError, match=r"DataFrame of shape \(1, 1\); pass one column"):
        HashingVectorizer().transform(frame)
    for nothing in ([], iter(())):
        with pytest.raises(ValueError, match="at least one document"):
            HashingVectorizer().transform(nothing)


def test_what_callables_may_return():
    with pytest.raises(TypeError, match="Row 0: the preprocessor must return str, got 3"):
        HashingVectorizer(preprocessor=lambda _: 3).transform(["a"])
    with pytest.raises(TypeError, match="Row 0: every feature must be str or bytes, got 1"):
        HashingVectorizer(tokenizer=lambda _: [1]).transform(["a"])
    for answer in "a b", b"a", None, 3:  # as a whole, not its letters
        for vectorizer in HashingVectorizer, CountVectorizer:
            wrong = vectorizer(analyzer=lambda _, answer=answer: answer)
            with pytest.raises(TypeError, match="Row 0: the analyzer must return an iterable"):
                wrong.fit_transform(["a"])
    with pytest.raises(TypeError, match="read method"):
        HashingVectorizer(input="file").transform(["a.txt"])


def test_every_parameter_is_constrained_and_named():
    assert unconstrained(HashingVectorizer) == []
    for name, constraint in constraints_of(HashingVectorizer).items():
        for bad in constraint.bad_values():
            with pytest.raises(ValueError, match=name):
                HashingVectorizer(**{name: bad}).fit()
            with pytest.raises(ValueError, match=name):
                HashingVectorizer(**{name: bad}).transform(["some text"])


@pytest.mark.parametrize(("params", "words"), [
    ({"token_pattern": "("}, "token_pattern must be a regular expression"),
    ({"token_pattern": r"(\w)(\w)"}, "at most one capturing group"),
    ({"token_pattern": None}, "token_pattern must be a str when tokenizer is None"),
    ({"encoding": "klingon"}, "encoding must be one that Python knows"),
])
def test_parameters_that_pass_their_constraint_but_not_the_check(params, words):
    with pytest.raises(ValueError, match=words):
        HashingVectorizer(**params).fit()
