"""HashingVectorizer against a slow reference in Python and against scikit-learn, bit for bit."""

from __future__ import annotations

import _thread
import doctest
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_reference import assert_same, murmur3, peer, random_documents, reference

import fastlin.text
from fastlin._analyzers import byte_classes
from fastlin._core.documents import Block
from fastlin._core.multi import instruction_sets
from fastlin._core.text import TextHasher
from fastlin.text import HashingVectorizer

TABLES = (byte_classes(True), byte_classes(False))
# Its hash is -2**31, whose absolute value does not fit in 32 bits with sign.
LEAST_HASH = "22pcs efuture"


SETTINGS = [
    {},
    {"ngram_range": (1, 2)},
    {"ngram_range": (2, 4), "norm": "l1", "n_features": 1000},
    {"ngram_range": (3, 3), "norm": None, "n_features": 7},
    {"binary": True, "n_features": 50},
    {"binary": True, "n_features": 3, "norm": None, "ngram_range": (1, 2)},
    {"alternate_sign": False, "lowercase": False, "n_features": 2**31 - 2},
    {"n_features": 1, "ngram_range": (1, 3)},
]


# ---- equality on ASCII ----


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_equals_the_definition(params):
    documents = random_documents(25, longest=80)
    assert_same(HashingVectorizer(**params).transform(documents), reference(documents, **params))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_equals_scikit_learn(params, dtype):
    documents = random_documents(60, seed=1)
    X = HashingVectorizer(dtype=dtype, **params).transform(documents)
    assert_same(X, peer(documents, dtype=dtype, **params))


def test_a_large_count_rounds_as_in_scikit_learn():
    # 5001**2 is not a float32, so the norm shows in which precision a square is rounded.
    documents = ["spam " * 5001 + "ham eggs"]
    for norm in ("l1", "l2"):
        X = HashingVectorizer(norm=norm, dtype=np.float32).transform(documents)
        assert_same(X, peer(documents, norm=norm, dtype=np.float32))


@given(st.lists(st.text("aBz_09 -.@[`{/:\x00\x7f\n", max_size=300), min_size=1, max_size=4),
       st.sampled_from(SETTINGS))
@settings(max_examples=100, deadline=None)
def test_equals_the_definition_on_any_ascii(documents, params):
    assert_same(HashingVectorizer(**params).transform(documents), reference(documents, **params))


@pytest.mark.parametrize("length", [*range(60, 70), 127, 128, 129])
def test_a_word_may_end_anywhere_in_a_chunk(length):
    documents = ["x" * length, "x" * length + " yy", " " * length + "yy", "ab " * length,
                 "a b" * length]
    assert_same(HashingVectorizer(norm=None).transform(documents), reference(documents, norm=None))


def test_bytes_of_any_table():
    # A table for which arithmetic cannot stand in: "-" belongs to words, "e" does not.
    table = byte_classes(True).copy()
    table[ord("-")], table[ord("e")] = ord("-"), 0
    documents = random_documents(20, seed=3)
    hasher = TextHasher(table, table, 0, 2, None, 2**20, 1, 1, False, False, 0, False, 0)
    hasher.load(Block(documents))
    indptr, indices, data = np.zeros(21, np.int64), np.empty(10**5, np.int32), np.empty(10**5)
    assert hasher.advance(indptr, indices, data) == 0
    vectorizer = HashingVectorizer(token_pattern=r"(?:(?!e)[\w-]){2,}", norm=None,
                                   alternate_sign=False)
    expected = vectorizer.transform(documents)
    np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(indices[: hasher.nnz], expected.indices)
    np.testing.assert_array_equal(data[: hasher.nnz], expected.data)


# ---- the hash and its column ----


def hasher_of(n_features):
    return TextHasher(*TABLES, 0, 2, None, n_features, 1, 1, True, False, 0, False, 0)


@given(st.binary(max_size=70))
def test_murmur_equals_its_definition(data):
    assert hasher_of(10).hash(data) == murmur3(data) % 2**32


@given(st.one_of(st.sampled_from([-(2**31), 1 - 2**31, -1, 0, 1, 2**31 - 1]),
                 st.integers(-(2**31), 2**31 - 1)),
       st.one_of(st.sampled_from([1, 2, 3, 2**20, 2**30, 2**30 + 1, 2**31 - 2, 2**31 - 1]),
                 st.integers(1, 2**31 - 1)))
@settings(max_examples=300)
def test_the_column_of_every_hash(hashed, n_features):
    place = hasher_of(n_features).place(hashed % 2**32)
    assert place == (abs(hashed) % n_features, hashed < 0)


@pytest.mark.parametrize("n_features", [1_000_000, 2**20, 3, 2**31 - 1, 1])
def test_the_least_hash(n_features):
    assert murmur3(LEAST_HASH.encode()) == -(2**31)
    vectorizer = HashingVectorizer(ngram_range=(2, 2), n_features=n_features, norm=None)
    X = vectorizer.transform([LEAST_HASH])
    assert X.indices.tolist() == [2**31 % n_features]
    assert X.data.tolist() == [-1.0]
    python_way = vectorizer.set_params(tokenizer=str.split).transform([LEAST_HASH])
    assert_same(python_way, X)
    if n_features == 1_000_000:
        assert X.indices.tolist() == [483_648]


def test_columns_up_to_the_end_of_int32():
    documents = random_documents(5)
    params = {"n_features": 2**31 - 1, "norm": None}
    assert_same(HashingVectorizer(**params).transform(documents), reference(documents, **params))


def test_cancelled_signs_are_not_stored_and_without_signs_nothing_vanishes():
    words = " ".join(f"w{i}" for i in range(8))
    X = HashingVectorizer(n_features=2, norm=None).transform([words])
    assert (X.data != 0).all()
    signs = [1 if murmur3(w.encode()) >= 0 else -1 for w in words.split()]
    assert X.sum() == sum(signs)
    # A pair that cancels exactly.
    plus, minus = (words.split()[signs.index(s)] for s in (1, -1))
    assert HashingVectorizer(n_features=1).transform([f"{plus} {minus}"]).nnz == 0
    assert HashingVectorizer(n_features=1, binary=True).transform([f"{plus} {minus}"]).nnz == 1
    counts = HashingVectorizer(n_features=2, norm=None, alternate_sign=False).transform([words])
    assert counts.sum() == 8


# ---- size ----


def test_many_distinct_ngrams():
    documents = ["short one", " ".join(f"w{i % 30_011}" for i in range(110_000)), "", "and more"]
    for params in ({"ngram_range": (1, 2)}, {"n_features": 2**31 - 1, "norm": "l1"}):
        assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))


def test_words_whose_columns_lie_close_together():
    # Worst case for buckets: all columns in 1/64 of them.
    hasher = hasher_of(2**20)
    words = [w for w in (f"k{i:x}" for i in range(100_000))
             if hasher.place(hasher.hash(w.encode()))[0] < 2**14]
    assert len(words) > 1000
    documents = [" ".join(words * 3), " ".join(words[:40]), "few words"]
    assert_same(HashingVectorizer(norm=None).transform(documents), reference(documents, norm=None))


def test_words_and_ngrams_longer_than_the_buffers():
    documents = ["a" * 100_000 + " bb " + "c" * 9_000, "ab " * 5_000, "xy"]
    for ngram_range in ((1, 1), (1, 3)):
        params = {"ngram_range": ngram_range}
        assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))
    documents = [" ".join(f"word_number_{i:06}" for i in range(700)), "too short"]
    params = {"ngram_range": (400, 420), "norm": None}
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))
    params = {"ngram_range": (690, 2**31 - 1), "norm": None}
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))


def test_more_ngrams_at_one_word_than_a_batch_holds():
    n = 8300
    params = {"n_features": 3, "norm": None, "alternate_sign": False}
    vectorizer = HashingVectorizer(ngram_range=(1, n), **params)
    assert vectorizer.transform(["ab " * n]).sum() == n * (n + 1) / 2


@pytest.mark.parametrize("n_features", [1, 2, 5, 2**20])
def test_few_words_over_and_over(n_features):
    documents = ["spam " * 40, "spam ham " * 5000, "spam " * 20_000 + "eggs"]
    params = {"n_features": n_features, "ngram_range": (1, 2)}
    assert_same(HashingVectorizer(**params).transform(documents), peer(documents, **params))


def test_one_document_of_many_calls():
    document = " ".join(f"w{i % 999}" for i in range(300_000))
    assert_same(HashingVectorizer().transform([document]), peer([document]))


def test_output_arrays_grow():
    documents = random_documents(400, seed=5, longest=150)
    assert_same(HashingVectorizer().transform(iter(documents)), peer(documents))
    assert_same(HashingVectorizer().transform(["", *documents]), peer(["", *documents]))
    many = ["a bc"] * 10_000
    assert HashingVectorizer().transform(iter(many)).nnz == len(many)


# ---- columns back to n-grams ----


def test_explain_columns():
    documents = ["spam spam ham", "Ham eggs", "eggs spam"]
    vectorizer = HashingVectorizer(n_features=2, ngram_range=(1, 2))
    found = vectorizer.explain_columns(documents, [0, 1], top=99)
    everything = Counter(g for d in documents for g in vectorizer.build_analyzer()(d))
    assert {item.ngram: item.frequency for items in found.values() for item in items} == everything
    for column, items in found.items():
        order = [(-item.frequency, item.ngram) for item in items]
        assert order == sorted(order)
        for item in items:
            hashed = murmur3(item.ngram.encode())
            assert (abs(hashed) % 2, 1 if hashed >= 0 else -1) == (column, item.sign)
    wide = HashingVectorizer(norm=None)
    for ngram in ("spam", "ham"):
        X = wide.transform([ngram])
        items = wide.explain_columns(documents, X.indices)[int(X.indices[0])]
        assert [(i.ngram, i.sign) for i in items] == [(ngram, int(X.data[0]))]
    assert wide.explain_columns(documents, [5]) == {5: []}
    unsigned = HashingVectorizer(n_features=2, alternate_sign=False)
    assert {i.sign for items in unsigned.explain_columns(documents, [0, 1], 9).values()
            for i in items} == {1}
    with pytest.raises(ValueError, match="columns"):
        vectorizer.explain_columns(documents, [2])
    with pytest.raises(ValueError, match="top"):
        vectorizer.explain_columns(documents, [1], top=0)


# ---- threads and interruption ----


def test_threads_give_the_same_bits():
    documents = random_documents(300, seed=11)
    vectorizer = HashingVectorizer(ngram_range=(1, 2))
    expected = vectorizer.transform(documents)
    with ThreadPoolExecutor(4) as pool:
        for X in pool.map(vectorizer.transform, [documents] * 8):
            assert_same(X, expected)


def test_ctrl_c_stops_it():
    def endless():
        while True:
            yield "spam and eggs " * 50

    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        HashingVectorizer().transform(endless())
    timer.join()


def test_documents_are_left_as_they_are():
    documents = ["Some TEXT", "Ünd MEHR"]
    kept = list(documents)
    HashingVectorizer().transform(documents)
    assert documents == kept


# ---- as an estimator ----


def test_stateless_and_like_scikit_learn():
    vectorizer = HashingVectorizer(n_features=64)
    assert vectorizer.fit(["a"]) is vectorizer
    assert vectorizer.partial_fit(["a"]) is vectorizer
    assert repr(vectorizer) == "HashingVectorizer(n_features=64)"
    assert_same(vectorizer.fit_transform(["ab cd"]), vectorizer.transform(["ab cd"]))
    text = pytest.importorskip("sklearn.feature_extraction.text")
    theirs = text.HashingVectorizer()
    added = {"output": "csr", "n_jobs": None, "hash": "murmur3"}
    assert HashingVectorizer().get_params() == {**theirs.get_params(), **added}
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.utils import get_tags

    ours, peers = get_tags(HashingVectorizer()), get_tags(theirs)
    assert ours.input_tags == peers.input_tags
    assert ours.requires_fit == peers.requires_fit is False
    assert clone(vectorizer).n_features == 64
    model = make_pipeline(vectorizer, LogisticRegression()).fit(["ham egg", "spam spam"], [0, 1])
    assert model.predict(["spam"]).tolist() == [1]


@pytest.mark.parametrize("check", [
    "check_parameters_default_constructible", "check_get_params_invariance", "check_set_params",
    "check_no_attributes_set_in_init",
    "check_valid_tag_types", "check_estimator_cloneable", "check_estimator_repr",
])
def test_the_checks_that_need_no_table(check):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    getattr(checks, check)("HashingVectorizer", HashingVectorizer())


def test_docstring_examples():
    results = doctest.testmod(fastlin.text)
    assert results.attempted > 5
    assert results.failed == 0


@pytest.mark.parametrize(
    ("parameters", "layout"),
    [
        ({}, "csr"),
        ({"norm": None, "binary": True, "alternate_sign": False}, "ones"),
        ({"norm": None, "n_features": 2**20}, "signed"),
    ],
)
def test_rows_hold_the_same_matrix(parameters, layout):
    texts = ["one two three", "two four", "", "five six seven eight"]
    rows = HashingVectorizer(output="rows", **parameters).transform(texts)
    matrix = HashingVectorizer(**parameters).transform(texts)
    assert (rows.layout, rows.shape) == (layout, matrix.shape)
    assert (rows.to_csr() != matrix).nnz == 0


# ---- instruction sets ----


def awkward_documents():
    """Words of all lengths, alone or over and over, at the edges of chunks and of buffers."""
    rng = np.random.default_rng(1)
    letters = "abcdefghijklmnopqrstuvwxyzABCXYZ0189__--..,  \n"
    found = random_documents(30, seed=2, longest=300)
    found += ["".join(rng.choice(list(letters), size)) for size in (63, 64, 65, 1000, 9000, 40000)]
    found += ["a b " * 40, "the cat " * 700 + "sat", "a", "ab", " ", "_" * 20000, "x " * 300 + "yz"]
    found += [" ".join("w" * k for k in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 40, 300, 2000, 1))]
    found += ["é" + "x " * 70, "x" * 63 + "é a", "x" * 63 + " é a b", ("é" + "a" * 63) * 3]
    common = [f"w{k}" for k in np.minimum(rng.zipf(1.3, 20000), 5000)]
    return [*found, " ".join(common[:300]), " ".join(common)]


@pytest.mark.parametrize("hash", ["murmur3", "fast"])
@pytest.mark.parametrize("params", [
    {}, {"ngram_range": (1, 2)}, {"ngram_range": (2, 3), "n_features": 1000},
    {"ngram_range": (1, 2), "alternate_sign": False, "n_features": 2**31 - 1},
    {"ngram_range": (1, 2), "dtype": np.float32}, {"norm": None}, {"norm": "l1"},
    {"token_pattern": r"(?u)\b\w+\b", "n_features": 10**6}, {"ngram_range": (40, 41)},
    {"analyzer": "char", "ngram_range": (1, 3)}, {"analyzer": "char_wb", "ngram_range": (3, 3)},
    {"n_features": 3, "ngram_range": (1, 2)}, {"stop_words": ["ab", "the"], "lowercase": False},
], ids=lambda p: ",".join(map(str, p.values())))
def test_every_instruction_set_gives_the_same_rows(hash, params, monkeypatch):
    documents = awkward_documents()
    monkeypatch.setattr("fastlin._text_blocks._BLOCK_DOCUMENTS", 9)
    found = []
    for _, number, here in instruction_sets():
        if here:
            monkeypatch.setattr("fastlin.text.ISA", number)
            # threads copy entries before they write them
            for n_jobs in (1, 2):
                vectorizer = HashingVectorizer(hash=hash, n_jobs=n_jobs, **params)
                found.append(vectorizer.transform(documents))
    expected = peer(documents, **params) if hash == "murmur3" else found[0]
    for X in found:
        assert_same(X, expected)
