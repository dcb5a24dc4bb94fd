"""Columns of strings in Arrow's layout, and threads: the same rows as from a list."""

from __future__ import annotations

import numpy as np
import pytest
from text_reference import assert_same, random_documents

from fastlin import HashingVectorizer
from fastlin._core.documents import Block, block_of_buffers
from fastlin._text_blocks import text_blocks

TEXTS = [*random_documents(150, seed=9, longest=400), "Straße İX", "", "日本 語 テスト", "ab"]
DOCUMENTS = TEXTS * 2
ANALYSES = [
    {"ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 3)},
    {"stop_words": ["abc", "straße"], "strip_accents": "unicode"},
    {"preprocessor": str.upper},
    {"tokenizer": str.split, "token_pattern": None},
]


def columns():
    pa = pytest.importorskip("pyarrow")
    whole = pa.array(DOCUMENTS)
    yield whole
    yield whole.cast("large_string")
    yield whole.cast("string_view")
    yield whole.dictionary_encode()
    yield pa.array(["cut off", *DOCUMENTS, "too"])[1:-1]
    yield pa.chunked_array([DOCUMENTS[:1], [], DOCUMENTS[1:]], pa.string())
    pandas = pytest.importorskip("pandas")
    yield pandas.Series(DOCUMENTS, dtype="string[pyarrow]")
    yield pandas.Series(DOCUMENTS, dtype=pandas.ArrowDtype(pa.string()))
    yield pandas.Series(DOCUMENTS, dtype="category")
    polars = pytest.importorskip("polars")
    yield polars.Series(DOCUMENTS)
    yield polars.Series(DOCUMENTS, dtype=polars.Categorical)


@pytest.mark.parametrize("params", ANALYSES, ids=str)
def test_columns_equal_lists_for_any_number_of_threads(params):
    expected = HashingVectorizer(**params).transform(DOCUMENTS)
    assert_same(HashingVectorizer(n_jobs=3, **params).transform(iter(DOCUMENTS)), expected)
    for k, column in enumerate(columns()):
        assert_same(HashingVectorizer(n_jobs=1 + k % 2, **params).transform(column), expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_jobs", [2, 5])
@pytest.mark.parametrize(
    "params",
    [{}, {"n_features": 3, "norm": None}, {"n_features": 3, "binary": True, "norm": "l1"}],
    ids=str,
)
def test_blocks_of_any_length_come_in_order(params, n_jobs, dtype, monkeypatch):
    monkeypatch.setattr("fastlin._text_blocks._BLOCK_DOCUMENTS", 1)
    # Rows so far say that there will be a few entries, or many: more arrays are needed, or less.
    long = " ".join(f"w{k}" for k in range(3000))
    for texts in ([*DOCUMENTS, long], [long, *DOCUMENTS], ["", "", long], [""] * 9, ["a b"] * 40):
        for plenty in (1, 1 << 24):
            monkeypatch.setattr("fastlin._text_rows._PLENTY", plenty)
            expected = HashingVectorizer(dtype=dtype, **params).transform(texts)
            vectorizer = HashingVectorizer(dtype=dtype, n_jobs=n_jobs, **params)
            assert_same(vectorizer.transform(texts), expected)
            assert_same(vectorizer.transform(iter(texts)), expected)


def test_the_last_blocks_are_small(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    texts = [f"word{k:04} " * (k % 7) for k in range(3000)]
    vectorizer = HashingVectorizer(n_jobs=2)
    expected = HashingVectorizer().transform(texts)
    monkeypatch.setattr("fastlin._text_blocks._BLOCK_SIZE", 8192)
    for X in (texts, pa.array(texts)):
        sizes = [block.n_documents for block in text_blocks(vectorizer, X, "strict")]
        assert sum(sizes) == len(texts)
        assert min(sizes[:5]) > 0.9 * sizes[0]
        assert sizes[-2] < sizes[0] / 4
        assert_same(vectorizer.transform(X), expected)
    sizes = [block.n_documents for block in text_blocks(vectorizer, iter(texts), "strict")]
    assert sum(sizes) == len(texts)
    assert min(sizes[:-1]) > 0.9 * sizes[0]


@pytest.mark.parametrize("params", [{}, {"binary": True}, {"norm": None, "n_features": 5}], ids=str)
def test_rows_counted_where_they_stay_are_those_that_are_copied(params, monkeypatch):
    # Common words go by digits, after which two buffers have changed places; rows that are too long
    # for them are begun in one and ended in another; and some blocks have more rows than room.
    monkeypatch.setattr("fastlin._text_blocks._BLOCK_DOCUMENTS", 7)
    rng = np.random.default_rng(0)
    lengths = [0, 1, 40, 300, 9000, 30_000]
    texts = [" ".join(rng.permutation(["spam ham"] * (n // 3) + [f"w{k % 8999}" for k in range(n)]))
             for n in rng.permutation(lengths * 5)]
    texts += ["spam " * 50, "", "spam ham " * 9000] * 9
    expected = HashingVectorizer(**params).transform(texts)
    for n_jobs in (2, 3):
        assert_same(HashingVectorizer(n_jobs=n_jobs, **params).transform(texts), expected)


@pytest.mark.parametrize("said", [1, 40, 10**6])
def test_a_container_may_have_more_or_less_than_it_says(said):
    class Texts:
        def __len__(self):
            return said

        def __iter__(self):
            return iter(texts)

    # Entries for some huge pages, in blocks of few documents.
    rng = np.random.default_rng(0)
    words = [f"a{k:04d}" for k in range(10_000)]
    texts = [" ".join(rng.choice(words, n)) for n in range(1, 60_000, 1000)]
    expected = HashingVectorizer(ngram_range=(1, 2)).transform(texts)
    assert_same(HashingVectorizer(ngram_range=(1, 2), n_jobs=2).transform(Texts()), expected)


def test_what_a_column_may_not_hold():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="Row 3: .* got None"):
        HashingVectorizer().transform(pa.chunked_array([["a", "b"], ["c", None]]))
    with pytest.raises(TypeError, match="Row 0: .* got 1"):
        HashingVectorizer().transform(pa.array([1, 2]))
    damaged = pa.Array.from_buffers(
        pa.string(), 2,
        [None, pa.py_buffer(np.array([0, 2, 4], np.int32)), pa.py_buffer(b"ok\xff\xff")],
    )
    with pytest.raises(UnicodeDecodeError, match="row 1"):
        HashingVectorizer().transform(damaged)
    raw = pa.array([b"ein K\xc3\xa4se", b"ab"])
    expected = HashingVectorizer().transform(["ein Käse", "ab"])
    assert_same(HashingVectorizer().transform(raw), expected)
    for nothing in (pa.array([], pa.string()), pa.chunked_array([], pa.string())):
        with pytest.raises(ValueError, match="at least one document"):
            HashingVectorizer(n_jobs=2).transform(nothing)


@pytest.mark.parametrize("offsets", [[0, 9], [-1, 2], [3, 2], [2**31 - 1, 2**31 - 1]])
def test_offsets_that_lead_out_of_the_data_are_refused(offsets):
    with pytest.raises(IndexError):
        block_of_buffers(np.array(offsets, np.int32), np.zeros(8, np.uint8), 0, 1)
    with pytest.raises(IndexError):
        block_of_buffers(np.array([0, 8], np.int64), np.zeros(8, np.uint8), 0, 2)
    with pytest.raises(IndexError):
        Block(["ab"]).replace(1, "cd")


def test_an_error_in_a_thread_names_the_row():
    documents = ["fine " * 100_000] * 5 + ["bad \ud800"]
    with pytest.raises(ValueError, match="row 5"):
        HashingVectorizer(analyzer="char", n_jobs=2).transform(documents)
