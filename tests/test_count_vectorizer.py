"""CountVectorizer and TfidfVectorizer against scikit-learn: vocabulary, pattern and bits."""

from __future__ import annotations

import doctest
import io
import pickle
import string
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from text_reference import random_documents

import fastlin.count_vectorizer
import fastlin.tfidf
from fastlin import CountVectorizer, TfidfTransformer, TfidfVectorizer
from fastlin._params import constraints_of, unconstrained

text = pytest.importorskip("sklearn.feature_extraction.text")

LANGUAGES = [
    "Straße und STRASSE, Äpfel über Öl",
    "İstanbul'da DİYARBAKIR ıssız",
    "Ελλάδα ΟΔΟΣ Σίσυφος σας",
    "Москва и Санкт-Петербург: ЁЛКА ёлка",
    "東京都は日本の首都です。東京 カタカナ",
    "हिन्दी में लिखा हुआ पाठ",
    "שלום עולם العربية ١٢٣ ٤",
    "e\u0301te\u0301 \u212b \ufb01n x\u00b2 \U0001d400\U0001d401 \U0001f600a",
    "tab\tnew\nline\r\x0b\x0c\x1c\x85\xa0\u2003\u3000wide \u200b zero",
    "nul\x00byte \x01\x7f under_score __ 12 3",
    "", " ", "a", "ab",
]  # fmt: skip
RANDOM = random_documents(40, seed=2, longest=60)
DOCUMENTS = [*RANDOM, *LANGUAGES, *RANDOM[:9], *LANGUAGES[:4]]
PARAMS = [
    {},
    {"ngram_range": (1, 3)},
    {"ngram_range": (2, 3), "min_df": 2, "lowercase": False},
    {"ngram_range": (1, 2), "max_df": 0.5, "min_df": 0.05},
    {"max_features": 40, "ngram_range": (1, 2)},
    {"max_features": 7, "max_df": 20, "binary": True},
    {"token_pattern": r"(?u)\b\w+\b", "ngram_range": (1, 2)},
    {"stop_words": ["abc", "und", "москва", "a_rather_long_stop_word"], "ngram_range": (1, 2)},
    {"analyzer": "char", "ngram_range": (1, 3)},
    {"analyzer": "char", "ngram_range": (3, 5), "lowercase": False, "max_features": 50},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char_wb", "ngram_range": (5, 9), "strip_accents": "unicode"},
    {"strip_accents": "ascii"},
    {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)},
    {"token_pattern": r"(\w)\w+"},
    {"analyzer": str.split},
    {"preprocessor": str.upper},
    {"dtype": np.float32, "ngram_range": (1, 2)},
]


def assert_equal(X, expected):
    """The same matrix, stored in the same order once that of the peer is sorted."""
    expected.sort_indices()
    assert (X.shape, X.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_array_equal(X.indices, expected.indices)
    assert X.indices.dtype == X.indptr.dtype == np.int32
    if X.dtype.kind == "f":
        # fit_transform of the peer adds up the squares of a row in another order
        np.testing.assert_allclose(X.data, expected.data, rtol=2e-6 if X.dtype.itemsize == 4
                                   else 1e-14)
    else:
        np.testing.assert_array_equal(X.data, expected.data)


@pytest.mark.parametrize("params", PARAMS, ids=str)
@pytest.mark.parametrize("kind", ["CountVectorizer", "TfidfVectorizer"])
def test_equals_scikit_learn(kind, params):
    ours, peer = getattr(fastlin, kind)(**params), getattr(text, kind)(**params)
    X = ours.fit_transform(DOCUMENTS)
    assert_equal(X, peer.fit_transform(DOCUMENTS))
    assert ours.vocabulary_ == peer.vocabulary_
    assert ours.fixed_vocabulary_ is False
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    other = DOCUMENTS[::-3]
    Y, expected = ours.transform(other), peer.transform(other)
    expected.sort_indices()
    assert Y.data.tobytes() == expected.data.tobytes()
    assert_equal(Y, expected)
    if kind == "TfidfVectorizer":
        assert ours.idf_.tobytes() == peer.idf_.tobytes()
    again = pickle.loads(pickle.dumps(ours))
    assert (again.transform(other) != Y).nnz == 0


@given(st.lists(st.text("aBzé _-.\n\t\u00a0\u0130ß١\U0001d400\x00", max_size=40), min_size=1,
                max_size=5),
       st.sampled_from(["word", "char", "char_wb"]), st.integers(1, 3), st.integers(0, 3),
       st.sampled_from([r"(?u)\b\w\w+\b", r"\w+"]))
@settings(max_examples=150, deadline=None)
def test_equals_scikit_learn_on_any_text(documents, analyzer, shortest, more, pattern):
    params = {"analyzer": analyzer, "ngram_range": (shortest, shortest + more)}
    if analyzer == "word":
        params["token_pattern"] = pattern
    ours, peer = CountVectorizer(**params), text.CountVectorizer(**params)
    try:
        expected = peer.fit_transform(documents)
    except ValueError:
        with pytest.raises(ValueError, match="empty vocabulary"):
            ours.fit(documents)
        return
    assert_equal(ours.fit_transform(documents), expected)
    assert ours.vocabulary_ == peer.vocabulary_


def test_the_matrix_does_not_depend_on_threads_or_the_way_in():
    pa = pytest.importorskip("pyarrow")
    words = [" ".join(string.ascii_lowercase[i % 26 : i % 26 + 4]) for i in range(50)]
    documents = random_documents(250, seed=4, longest=500) + LANGUAGES + words
    for params in ({"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)},
                   {"max_features": 99, "min_df": 2}, {"stop_words": ["abcd", "hijk"]}):
        one = TfidfVectorizer(**params)
        X = one.fit_transform(documents)
        for n_jobs, held in ((3, documents), (2, pa.chunked_array([documents[:9], documents[9:]])),
                              (1, pa.array(documents).cast("string_view"))):
            several = TfidfVectorizer(n_jobs=n_jobs, **params)
            assert_same_bits(several.fit_transform(held), X)
            assert_same_bits(several.transform(held), X)
            assert several.vocabulary_ == one.vocabulary_
            assert several.idf_.tobytes() == one.idf_.tobytes()


def assert_same_bits(X, expected):
    for name in ("indptr", "indices", "data"):
        assert getattr(X, name).tobytes() == getattr(expected, name).tobytes()


def test_many_ngrams_and_long_words():
    rng = np.random.default_rng(0)
    documents = [" ".join(f"word{i}" for i in rng.integers(0, 9000, 3000)) for _ in range(8)]
    documents.append(documents[0][:9000])
    documents += ["x" * 100_000 + " " + "y" * 7 + " " + "y" * 8 + " " + "y" * 9, "ab " * 9000,
                  "same_prefix_a same_prefix_b same_prefi same_pre same_pr"]
    for params in ({"ngram_range": (1, 2)}, {"ngram_range": (2, 2), "min_df": 2},
                   {"analyzer": "char_wb", "ngram_range": (8, 8)}):
        ours, peer = CountVectorizer(**params), text.CountVectorizer(**params)
        assert_equal(ours.fit_transform(documents), peer.fit_transform(documents))
        assert ours.vocabulary_ == peer.vocabulary_
    ends = ("", "_", "\x00a", "b")
    tied = [c * n + end for c in "xé" for n in (6, 7, 8, 15, 16, 17) for end in ends]
    for params in ({"tokenizer": str.split, "token_pattern": None}, {}):
        tied_ours = CountVectorizer(**params).fit([" ".join(tied)])
        assert tied_ours.get_feature_names_out().tolist() == sorted(tied_ours.vocabulary_)
    long = CountVectorizer(ngram_range=(300, 2**31 - 1))
    long.fit([" ".join(f"w{i}" for i in range(330))])
    assert len(long.vocabulary_) == 31 * 32 / 2


@pytest.mark.parametrize("terms", [
    ["spam", "a b", "New York", "spam eggs", "spam  eggs", "", "é", "not there"],
    {"spam": 1, "spam eggs": 0, "egg": 2}, {"eggs", "spam"}, np.array(["eggs", "zz"]),
])
@pytest.mark.parametrize("params", [
    {"ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (1, 9)},
    {"tokenizer": str.split, "token_pattern": None, "ngram_range": (1, 2)},
    {"lowercase": False},
])
@pytest.mark.filterwarnings("ignore:.*case")
def test_a_given_vocabulary(terms, params):
    if isinstance(terms, list) and params.get("lowercase", True):
        with pytest.warns(UserWarning, match="capital"):
            CountVectorizer(vocabulary=terms, **params).fit(["x"])
    documents = ["Spam eggs spam", "New York é eggs", "spam  eggs"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in ("CountVectorizer", "TfidfVectorizer"):
            ours = getattr(fastlin, kind)(vocabulary=terms, **params)
            peer = getattr(text, kind)(vocabulary=terms, **params)
            X = ours.fit_transform(documents)
            assert_equal(X, peer.fit_transform(documents))
            assert ours.vocabulary_ == peer.vocabulary_ and ours.fixed_vocabulary_
    unfitted = CountVectorizer(vocabulary=terms, **params)
    assert unfitted.transform(documents).shape == X.shape


def test_inverse_transform_and_rows():
    vectorizer = CountVectorizer(binary=True, output="rows").fit(DOCUMENTS)
    rows = vectorizer.transform(DOCUMENTS[:5])
    assert rows.layout == "ones"
    peer = text.CountVectorizer().fit(DOCUMENTS)
    expected = peer.inverse_transform(peer.transform(DOCUMENTS[:5]))
    for found, names in zip(vectorizer.inverse_transform(rows), expected, strict=True):
        assert found.tolist() == sorted(names.tolist())
    assert vectorizer.inverse_transform(np.zeros((1, rows.shape[1])))[0].dtype.kind == "U"
    with pytest.raises(ValueError, match="X has 2 columns"):
        vectorizer.inverse_transform([[1, 0]])


def stored_ways(X):
    """A matrix in every way it may come in, the arrays of some not to be written to."""
    wide, locked, zeros = X.copy(), X.copy(), sparse.csr_matrix(X, dtype=np.float64)
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    for array in (locked.data, locked.indices, locked.indptr):
        array.flags.writeable = False
    zeros.data[::3] = 0
    unsorted = X[:, ::-1][:, ::-1]
    unsorted.has_sorted_indices = False
    doubled = np.repeat(X.data, 2), np.repeat(X.indices, 2), 2 * X.indptr
    twice = sparse.csr_matrix(doubled, X.shape)
    return [X, wide, locked, zeros, unsorted, twice, X.tocsc(), X.tocoo(), sparse.csr_array(X),
            X.toarray(), fastlin.as_rows(X)]  # fmt: skip


@pytest.mark.parametrize(
    "params", [{}, {"binary": True}, {"analyzer": "char", "dtype": np.float32}], ids=str
)
@pytest.mark.parametrize("kind", ["CountVectorizer", "TfidfVectorizer"])
def test_inverse_transform_of_what_transform_returns(kind, params):
    ours, peer = getattr(fastlin, kind)(**params), getattr(text, kind)(**params)
    X = ours.fit_transform(DOCUMENTS)
    peer.fit(DOCUMENTS)
    ways = stored_ways(X)
    if kind == "CountVectorizer" and not params:
        assert X.max() > 1
    ways.append(ours.set_params(output="rows").transform(DOCUMENTS))
    for way in ways:
        before = pickle.dumps(way)
        found = ours.inverse_transform(way)
        assert pickle.dumps(way) == before
        matrix = sparse.csr_matrix(way.to_csr() if isinstance(way, fastlin.Rows) else way).copy()
        matrix.sum_duplicates()
        for names, row in zip(found, peer.inverse_transform(matrix), strict=True):
            assert names.tolist() == sorted(row.tolist()) and names.dtype.kind == "U"


# ---- what is refused ----


def test_what_cannot_be_learned():
    from sklearn.exceptions import NotFittedError

    for cls in (CountVectorizer, TfidfVectorizer):
        with pytest.raises(NotFittedError, match="transform"):
            cls().transform(["a"])
        with pytest.raises(AttributeError, match="vocabulary_ before fit"):
            _ = cls().vocabulary_
        with pytest.raises(ValueError, match="empty vocabulary"):
            cls().fit(["a", ""])
        with pytest.raises(ValueError, match="at least one document"):
            cls().fit([])
        with pytest.raises(ValueError, match="min_df=2"):
            cls(min_df=2).fit(["spam", "eggs"])
        with pytest.raises(ValueError, match="max_df must not be less than min_df, got 1 and 2"):
            cls(min_df=2, max_df=1).fit(["spam", "eggs"])
        with pytest.raises(ValueError, match="got one str"):
            cls().fit("spam")
        with pytest.raises(TypeError, match="Row 1"):
            cls().fit(["spam", None])
    known = CountVectorizer(vocabulary=["spam"])
    for analyzer in ("word", str.split):
        known.set_params(analyzer=analyzer)
        with pytest.raises(ValueError, match=r"one-dimensional collection .* of shape \(\);"):
            known.transform(np.array("abc"))
        with pytest.raises(TypeError, match="X must be an iterable of documents, got <class 'list"):
            known.transform(list)
        with pytest.raises(ValueError, match="at least one document"):
            known.transform([])
    assert CountVectorizer(vocabulary=[""]).transform(["spam"]).toarray().tolist() == [[0]]
    with pytest.raises(NotFittedError):
        TfidfVectorizer(vocabulary=["spam"]).transform(["spam"])
    with pytest.raises(TypeError, match="Row 0: every feature must be str, got 3"):
        CountVectorizer(analyzer=lambda _: [3]).fit(["a"])
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="Row 2: .* got None"):
        CountVectorizer().fit(pa.chunked_array([["a", "b"], ["c", None][1:]]))


@pytest.mark.parametrize("cls", [CountVectorizer, TfidfVectorizer, TfidfTransformer])
def test_every_parameter_is_constrained_and_named(cls):
    assert unconstrained(cls) == []
    data = [[1.0, 0.0]] if cls is TfidfTransformer else ["some text"]
    for name, constraint in constraints_of(cls).items():
        for bad in constraint.bad_values():
            with pytest.raises(ValueError, match=name):
                cls(**{name: bad}).fit(data)


def test_parameters_are_those_of_scikit_learn():
    added = {"output": "csr", "n_jobs": None}
    for cls in (CountVectorizer, TfidfVectorizer):
        peer = getattr(text, cls.__name__)()
        assert cls().get_params() == {**peer.get_params(), **added}
    assert TfidfTransformer().get_params() == text.TfidfTransformer().get_params()


# ---- the weights alone ----


@pytest.mark.parametrize("params", [
    {}, {"norm": None}, {"norm": "l1", "use_idf": False}, {"smooth_idf": False},
    {"sublinear_tf": True},
], ids=str)
def test_weights_equal_scikit_learn(params):
    counts = text.CountVectorizer().fit_transform(DOCUMENTS)
    counts.sort_indices()
    for dtype in (np.float64, np.float32, np.int64):
        X = counts.astype(dtype)
        kept = X.copy()
        ours, peer = TfidfTransformer(**params).fit(X), text.TfidfTransformer(**params).fit(X)
        found, expected = ours.transform(X), peer.transform(X)
        assert found.dtype == expected.dtype
        assert found.data.tobytes() == expected.data.tobytes()
        assert (X != kept).nnz == 0
        dense = ours.transform(X.toarray())
        assert abs(dense - expected).max() < 1e-6
    if params.get("sublinear_tf"):
        with pytest.raises(ValueError, match="negative counts"):
            ours.transform(-counts)


@pytest.mark.filterwarnings("ignore:divide by zero")  # of scikit-learn
def test_a_term_that_no_document_has_cannot_be_weighed_without_smoothing():
    documents = ["win a car", "hello"]
    for norm in ("l2", "l1", None):
        for dtype in (np.float64, np.float32):
            params = {"smooth_idf": False, "norm": norm, "dtype": dtype,
                      "vocabulary": ["win", "prize", "hello"]}
            ours = TfidfVectorizer(**params)
            peer = text.TfidfVectorizer(**params)
            assert_equal(ours.fit_transform(documents), peer.fit_transform(documents))
            assert ours.idf_.tobytes() == peer.idf_.tobytes()
            assert_equal(ours.transform(["hello win win", ""]),
                         peer.transform(["hello win win", ""]))
            for unseen in (["hello", "prize"], ["prize"] * 9):
                with pytest.raises(ValueError, match="smooth_idf=False the n-gram 'prize'"):
                    ours.transform(unseen)
    frame = pytest.importorskip("pandas").DataFrame({"one": [1.0, 2.0], "two": [0.0, 0.0]})
    transformer = TfidfTransformer(smooth_idf=False)
    assert transformer.fit(frame.to_numpy()).transform([[3, 0]]).toarray().tolist() == [[1, 0]]
    for data in ([[0, 1.0]], [[1, 2.0]] * 3):
        with pytest.raises(ValueError, match="smooth_idf=False the column 1 has"):
            transformer.transform(data)
    with pytest.raises(ValueError, match="smooth_idf=False the column 'two' has"):
        transformer.fit(frame).transform(frame + 1)


def test_given_weights_have_the_length_of_what_they_weigh():
    documents = ["aa bb", "bb cc"]
    ours, peer = TfidfVectorizer(norm=None), text.TfidfVectorizer(norm=None)
    counts = [[1.0, 2, 0], [0, 3, 1]]
    transformer = TfidfTransformer(norm=None)
    for model, data in ((ours.fit(documents), documents), (transformer.fit(counts), counts)):
        for wrong in (np.ones(5), np.ones(2), np.ones((1, 3)), 1.0, ["x"] * 3, [1, np.nan, 2]):
            with pytest.raises(ValueError, match="one number for each of the 3 (n-gram|column)s"):
                model.idf_ = wrong
        before = model.idf_.copy()
        assert (model.transform(data).toarray() != 0).any()
        given = np.array([2.0, 3.0, 5.0])
        model.idf_ = given
        given[:] = 0
        assert model.idf_.tolist() == [2, 3, 5]
        again = pickle.loads(pickle.dumps(model))
        assert again.idf_.tolist() == [2, 3, 5]
        assert model.fit(data).idf_.tobytes() == before.tobytes()
        with pytest.raises(fastlin.NotFittedError):
            type(model)().idf_ = np.ones(3)
        with pytest.raises(ValueError, match="use_idf=False"):
            model.set_params(use_idf=False).idf_ = np.ones(3)
        assert not hasattr(model.fit(data), "idf_")
    ours, transformer = TfidfVectorizer(norm=None), TfidfTransformer(norm=None).fit(counts)
    ours.fit(documents).idf_ = transformer.idf_ = peer.fit(documents).idf_ = np.array([2.0, 3, 5])
    assert_equal(ours.transform(documents), peer.transform(documents))
    assert transformer.transform(counts).toarray().tolist() == [[2, 6, 0], [0, 9, 5]]
    told = TfidfVectorizer(vocabulary=["aa", "bb", "cc"], norm=None)
    told.idf_ = [2, 3, 5]
    assert_equal(told.transform(documents), peer.transform(documents))


# ---- together with others ----


def test_saved_models_and_searches():
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV as Peer
    from sklearn.pipeline import make_pipeline as peers_pipeline

    documents = ["spam spam eggs", "ham and eggs", "spam now", "ham then and eggs"] * 8
    y = [1, 0, 1, 0] * 8
    model = fastlin.make_pipeline(TfidfVectorizer(ngram_range=(1, 2)),
                                  fastlin.LogisticRegression())
    grid = {"tfidfvectorizer__min_df": [1, 2]}
    search = fastlin.GridSearchCV(model, grid, cv=4).fit(documents, y)
    peer = Peer(peers_pipeline(TfidfVectorizer(ngram_range=(1, 2)), fastlin.LogisticRegression()),
                grid, cv=4).fit(documents, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"],
                               peer.cv_results_["mean_test_score"])
    best = search.best_estimator_
    file = io.BytesIO()
    fastlin.save(best, file)
    loaded = fastlin.load(io.BytesIO(file.getvalue()))
    assert (loaded.predict_proba(documents) == best.predict_proba(documents)).all()
    vectorizer = loaded.named_steps["tfidfvectorizer"]
    assert vectorizer.vocabulary_ == best.named_steps["tfidfvectorizer"].vocabulary_
    assert "_lookup" not in vars(clone(vectorizer))


def test_a_search_learns_the_vocabulary_of_each_fold():
    seen = []

    class Spy(CountVectorizer):
        def fit_transform(self, X, y=None):
            X = list(X)
            seen.append(len(X))
            return super().fit_transform(X)

    documents = [f"word{i} spam" for i in range(12)]
    model = fastlin.make_pipeline(Spy(), fastlin.LogisticRegression())
    fastlin.GridSearchCV(model, {"logisticregression__C": [1.0, 2.0]}, cv=3).fit(
        documents, [0, 1] * 6)
    assert seen.count(8) >= 3 and seen.count(12) == 1


@pytest.mark.parametrize("cls", [CountVectorizer, TfidfVectorizer])
@pytest.mark.parametrize("check", [
    "check_parameters_default_constructible", "check_get_params_invariance", "check_set_params",
    "check_no_attributes_set_in_init", "check_valid_tag_types", "check_estimator_cloneable",
    "check_estimator_repr",
])
def test_the_checks_that_need_no_table(cls, check):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    getattr(checks, check)(cls.__name__, cls())


@pytest.mark.parametrize("module", [fastlin.count_vectorizer, fastlin.tfidf])
def test_docstring_examples(module):
    results = doctest.testmod(module)
    assert results.attempted > 3
    assert results.failed == 0


def test_counts_that_do_not_fit_are_refused():
    many = ["dog " * 300]
    assert CountVectorizer(dtype=np.uint16).fit_transform(many).toarray() == 300
    assert CountVectorizer(dtype=np.uint8, binary=True).fit_transform(many).toarray() == 1
    with pytest.raises(ValueError, match="uint8 holds counts of at most 255, but .* 300 times"):
        CountVectorizer(dtype=np.uint8).fit_transform(many)
    with pytest.raises(ValueError, match="dtype must be a numeric dtype other than float16"):
        CountVectorizer(dtype=np.float16).fit(many)
