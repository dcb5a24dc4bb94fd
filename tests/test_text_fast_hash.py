"""HashingVectorizer(hash="fast") against its definition, written anew in Python."""

from __future__ import annotations

import io
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from text_reference import assert_same, random_documents

import fastlin
from fastlin._analyzers import byte_classes
from fastlin._core.text import TextHasher
from fastlin.text import HashingVectorizer

LAST = 2**64 - 1


def mixed(z):
    z &= LAST
    return z ^ z >> 32


def fast_hash(text: bytes) -> int:
    """The definition in the docstring, word by word."""
    h = start = 0xBB67AE8584CAA73B
    for word in text.split(b" "):
        s, rest = start, len(word) % 8
        padded = word + bytes(7 - rest) + bytes([rest])
        for i in range(0, len(padded), 8):
            s = mixed((s ^ int.from_bytes(padded[i : i + 8], "little")) * 0x9E3779B97F4A7C15)
        h = mixed((h ^ s) * 0x6A09E667F3BCC909)
    return h


def reference(documents, n_features=2**20, alternate_sign=True, binary=False, **params):
    """Counts by a dict of what the analyzer finds."""
    analyse = HashingVectorizer(**params).build_analyzer()
    indptr, indices, data = [0], [], []
    for document in documents:
        counts = Counter()
        for feature in analyse(document):
            h = fast_hash(feature if isinstance(feature, bytes) else feature.encode())
            counts[(h >> 32) * n_features >> 32] += -1 if alternate_sign and h >> 31 & 1 else 1
        row = {c: 1 if binary else v for c, v in sorted(counts.items()) if binary or v}
        indices += row
        data += row.values()
        indptr.append(len(indices))
    return csr_matrix((np.array(data, float), indices, indptr), (len(documents), n_features))


def hasher_of(n_features, alternate_sign=True):
    tables = byte_classes(True), byte_classes(False)
    return TextHasher(*tables, 0, 2, None, n_features, 1, 1, alternate_sign, False, 0, True, 0)


@given(st.one_of(st.binary(max_size=40), st.text(" ab\x00", max_size=40).map(str.encode)))
def test_the_hash_of_any_bytes(data):
    assert hasher_of(10).hash(data) == fast_hash(data)


@pytest.mark.parametrize("n_features", [1, 2, 3, 2**20, 10**6, 2**31 - 1])
def test_the_column_of_every_hash(n_features):
    hasher = hasher_of(n_features)
    for h in (0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, LAST - 2**31, LAST):
        column = (h >> 32) * n_features >> 32
        assert column < n_features
        assert hasher.place(h) == (column, bool(h >> 31 & 1))
        assert hasher_of(n_features, False).place(h) == (column, False)


SETTINGS = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 4), "n_features": 1000},
    {"ngram_range": (30, 34), "binary": True},
    {"ngram_range": (32, 32), "n_features": 7},
    {"ngram_range": (1, 2), "stop_words": ["aa", "xyz", "bb"], "n_features": 2**31 - 1},
    {"analyzer": "char", "ngram_range": (1, 12), "alternate_sign": False},
    {"analyzer": "char_wb", "ngram_range": (2, 5), "n_features": 50},
    {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 3)},
    {"tokenizer": lambda text: text.split(","), "token_pattern": None, "ngram_range": (1, 2)},
    {"analyzer": lambda text: [text[:9], b"\xff a  b", "", " "]},
    {"strip_accents": "unicode", "token_pattern": r"(?u)\b\w+\b", "n_features": 1},
]
DOCUMENTS = [
    *random_documents(12, seed=5, longest=120),
    "", "one", "Ünïcödé wörds  and\tspaces, xyz aa bb; \U0001f600 \U0001f600",
    "x" * 7 + " " + "y" * 8,
    " ".join("a" * k for k in range(1, 40)), "spam " * 300 + "ham", "new york, new york,",
]


@pytest.mark.parametrize("params", SETTINGS, ids=lambda p: ",".join(map(str, p.values())))
def test_equals_the_definition_from_lists_and_threads(params):
    expected = reference(DOCUMENTS, **params)
    vectorizer = HashingVectorizer(hash="fast", norm=None, **params)
    assert_same(vectorizer.transform(DOCUMENTS), expected)
    assert_same(vectorizer.set_params(n_jobs=2).transform(DOCUMENTS), expected)
    norms = np.sqrt(expected.multiply(expected).sum(axis=1).A1)
    scaled = vectorizer.set_params(norm="l2").transform(DOCUMENTS)
    np.testing.assert_allclose(scaled.data * np.repeat(norms, np.diff(scaled.indptr)),
                               expected.data, rtol=1e-14)


def test_equals_the_definition_from_arrow():
    arrow = pytest.importorskip("pyarrow")
    vectorizer = HashingVectorizer(hash="fast", norm=None, ngram_range=(1, 2))
    expected = reference(DOCUMENTS, ngram_range=(1, 2))
    assert_same(vectorizer.transform(arrow.array(DOCUMENTS)), expected)


@given(st.lists(st.text("aB z_é-", max_size=120), min_size=1, max_size=3), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_equals_the_definition_on_any_text(documents, longest):
    vectorizer = HashingVectorizer(hash="fast", norm=None, ngram_range=(1, longest))
    assert_same(vectorizer.transform(documents), reference(documents, ngram_range=(1, longest)))


def test_more_ngrams_than_a_batch_holds():
    words = [f"w{k:02}" for k in np.random.default_rng(0).integers(0, 3000, 3000)]
    for n, params in ((3000, {"ngram_range": (1, 3)}),
                      (700, {"ngram_range": (20, 32), "n_features": 999})):
        documents = [" ".join(words[:n]), "spam ham"]
        vectorizer = HashingVectorizer(hash="fast", norm=None, **params)
        assert_same(vectorizer.transform(documents), reference(documents, **params))


@pytest.mark.parametrize("form", ["{}", "number{:06}", "{:040}", "{:b}", "the w{} end"])
def test_columns_are_spread_as_at_random(form):
    n, n_features = 100_000, 2**18
    features = [form.format(i) for i in range(n)]
    hasher = hasher_of(n_features)
    places = [hasher.place(hasher.hash(feature.encode())) for feature in features]
    columns, signs = np.array(places).T
    used = np.bincount(columns, minlength=n_features)
    # Columns in use, and the variance of the counts, within six standard deviations of chance.
    chance = n_features * (1 - np.exp(-n / n_features))
    assert abs((used > 0).sum() - chance) < 6 * np.sqrt(n_features * 0.08)
    assert abs(used.var() / (n / n_features) - 1) < 6 * np.sqrt(2 / n_features) + 0.01
    # Signs halve all features, and those of either half of the columns.
    for some in (signs, signs[columns < n_features // 2], signs[columns % 2 == 1]):
        assert abs(some.mean() - 0.5) < 3 / np.sqrt(len(some))


def test_explained_cloned_and_saved():
    vectorizer = HashingVectorizer(hash="fast", ngram_range=(1, 2), n_features=2**16)
    X = vectorizer.transform(["spam and ham"])
    found = vectorizer.explain_columns(["spam and ham"], X.indices)
    assert {x.ngram for [x] in found.values()} == {"spam", "and", "ham", "spam and", "and ham"}
    assert {c: x.sign for c, [x] in found.items()} == dict(
        zip(X.indices, np.sign(X.data), strict=True))
    file = io.BytesIO()
    fastlin.save(vectorizer, file)
    file.seek(0)
    assert_same(fastlin.load(file).transform(["spam and ham"]), X)
    with pytest.raises(ValueError, match="hash must be"):
        vectorizer.set_params(hash="md5").transform(["spam"])
