"""Naive Bayes: against scikit-learn on text, against products of probabilities where some are 0."""

import io
import math

import numpy as np
import pytest
from layouts import LAYOUTS
from public import COUNTING, name
from scipy import sparse

import fastlin
from fastlin import (
    BernoulliNB,
    ComplementNB,
    GridSearchCV,
    HashingVectorizer,
    MultinomialNB,
    _counts,
    datasets,
    make_pipeline,
)
from fastlin._core import multi as _multi
from fastlin._params import constraints_of

PROBABILITIES = ("predict_joint_log_proba", "predict_log_proba", "predict_proba")
VARIANTS = [
    (MultinomialNB, {}),
    (MultinomialNB, {"alpha": 0.01, "fit_prior": False}),
    (MultinomialNB, {"class_prior": [0.1, 0.2, 0.3, 0.4]}),
    (BernoulliNB, {}),
    (BernoulliNB, {"alpha": 0.1, "binarize": 0.3}),
    (BernoulliNB, {"binarize": 1.0, "fit_prior": False}),
    (ComplementNB, {}),
    (ComplementNB, {"alpha": 0.5, "norm": True}),
]


def label(value):
    return name(value) if isinstance(value, type) else repr(value)


@pytest.fixture(scope="module")
def messages():
    """Real messages of four classes, with weights of their own kinds."""
    texts, spam = datasets.load_sms_spam(return_X_y=True)
    texts, spam = texts[:2000], np.asarray(spam[:2000])
    long = np.array([len(text) > 80 for text in texts])
    words = HashingVectorizer(alternate_sign=False, n_features=2**12)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(texts))
    return words.transform(texts), np.char.add(spam.astype(str), long.astype(str)), weight


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("cls", "params"), VARIANTS, ids=label)
def test_values_are_scikit_learns(messages, cls, params, dtype):
    peers = pytest.importorskip("sklearn.naive_bayes")
    X, y, weight = messages
    X = X.astype(dtype)
    for sample_weight in (None, weight):
        model = cls(**params).fit(X, y, sample_weight)
        peer = getattr(peers, cls.__name__)(**params).fit(X.astype(float), y, sample_weight)
        for attribute in vars(peer):
            if attribute.endswith("_") and attribute != "classes_":
                own = getattr(model, attribute)
                np.testing.assert_allclose(own, getattr(peer, attribute), 1e-11, 1e-13)
        for method in PROBABILITIES:
            found = getattr(model, method)(X)
            assert found.dtype == np.float64
            np.testing.assert_allclose(found, getattr(peer, method)(X.astype(float)), 1e-9, 1e-13)
        np.testing.assert_array_equal(model.predict(X), peer.predict(X.astype(float)))
        assert model.score(X, y) == pytest.approx(peer.score(X.astype(float), y))
        twin = model.to_sklearn()
        assert twin.get_params() == model.get_params()
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        twin.partial_fit(X, y)


@pytest.mark.parametrize("kind", ["sparse", "float32", "dense", "ones"])
@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_classes_that_take_turns_change_no_bit(cls, kind, monkeypatch):
    """Rows as they come, and class by class, in several calls too."""
    rng = np.random.default_rng(2)
    dense = rng.exponential(size=(300, 900)) * (rng.random((300, 900)) < 0.1)
    if kind == "ones":
        dense = (dense > 0).astype(float)
    X = dense if kind == "dense" else sparse.csr_array(dense)
    X = X.astype(np.float32) if kind == "float32" else X
    y, weight = rng.integers(0, 7, 300), rng.choice([0.0, 0.3, 1.0], 300)
    found = []
    for near, entries in ((1 << 25, 8_000_000), (0, 8_000_000), (0, 2000)):
        monkeypatch.setattr("fastlin._counts._NEAR_BYTES", near)
        monkeypatch.setattr("fastlin._scores._ENTRIES_PER_CALL", entries)
        for s in (None, weight):
            model = cls().fit(X, y, s)
            found.append((model.feature_count_.tobytes(), model.class_count_.tobytes()))
    assert found[:2] == found[2:4] == found[4:]
    if cls is not BernoulliNB:
        expected = np.stack([weight[y == k] @ X[y == k] for k in range(7)])
        np.testing.assert_allclose(model.feature_count_, expected, rtol=1e-6)


@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_in_pieces_as_at_once(messages, cls, monkeypatch):
    X, y, weight = messages
    whole = cls().fit(X, y, weight)
    for entries in (8_000_000, 5000):  # counted in place, and in several calls
        monkeypatch.setattr("fastlin._scores._ENTRIES_PER_CALL", entries)
        pieces = cls()
        for start in range(0, len(y), 700):
            span = slice(start, start + 700)
            pieces.partial_fit(X[span], y[span], np.unique(y), weight[span])
        for attribute in ("class_count_", "feature_count_", "feature_log_prob_"):
            np.testing.assert_array_equal(getattr(pieces, attribute), getattr(whole, attribute))
        np.testing.assert_array_equal(pieces.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_weights_are_repetitions(messages, cls):
    X, y, weight = messages
    times = (2 * weight).astype(int)
    weighted, repeated = cls().fit(X, y, times), cls().fit(X[np.repeat(np.arange(len(y)), times)],
                                                           np.repeat(y, times))
    np.testing.assert_allclose(weighted.feature_log_prob_, repeated.feature_log_prob_, 1e-11)
    np.testing.assert_array_equal(weighted.class_log_prior_, repeated.class_log_prior_)


@pytest.mark.memory
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_storage_never_changes_a_model(cls, layout):
    X, dense = layout.make()
    if cls is not BernoulliNB:
        dense = np.abs(dense)
        X = layout.build(dense.astype(layout.dtype).astype(np.float64))
    y = np.arange(len(dense)) % 3
    for alpha in (1.0, 0.0):
        model, plain = cls(alpha=alpha).fit(X, y), cls(alpha=alpha).fit(sparse.coo_array(dense), y)
        np.testing.assert_allclose(model.feature_log_prob_, plain.feature_log_prob_, 1e-12)
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(dense), 1e-9, 1e-12)


def products(model, X, y, weight, rows):
    """P(x, class) of each of the rows by multiplying probabilities, with 0^0 = 1."""
    classes, alpha = np.unique(y), np.broadcast_to(model.alpha, X.shape[1])
    out = np.empty((len(rows), len(classes)))
    for k, c in enumerate(classes):
        mine = weight * (y == c)
        if isinstance(model, BernoulliNB):
            p = (mine @ (X > 0) + alpha) / (mine.sum() + 2 * alpha)
            p[np.isclose(p, 1, atol=1e-12)] = 1  # the sums are not in the same order
            factors = np.where(rows > 0, p, 1 - p)
        else:
            count = mine @ X + alpha
            factors = (count / count.sum()) ** rows
        out[:, k] = mine.sum() / weight.sum() * factors.prod(axis=1)
    return out


@pytest.mark.parametrize("alpha", [0.0, [0.0, 0.5, 0.0, 0.0, 1.0, 0.0]], ids=["0", "some 0"])
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
@pytest.mark.parametrize("cls", [MultinomialNB, BernoulliNB])
def test_without_smoothing_as_products_of_probabilities(cls, kind, alpha):
    rng = np.random.default_rng(1)
    X, y = rng.poisson(0.4, size=(60, 6)).astype(float), rng.integers(0, 3, 60)
    X[y == 1, 2], X[y == 2, 3], X[y == 0, 5], X[y == 2, 5] = 0, 2, 0, 0
    X[y == 1, 5] += 1
    weight, rows = rng.choice([0.1, 0.7, 2.0], 60), rng.poisson(0.6, size=(300, 6)).astype(float)
    model = cls(alpha=alpha).fit(kind(X), y, weight)
    joint = products(model, X, y, weight, rows)
    dead = joint.sum(axis=1) == 0
    assert (joint[~dead] == 0).any()
    if cls is BernoulliNB:
        assert dead.any()
    prior = np.bincount(y, weight) / weight.sum()
    expected = np.where(dead[:, None], prior, joint)
    expected /= expected.sum(axis=1, keepdims=True)
    found = model.predict_proba(kind(rows))
    np.testing.assert_allclose(found, expected, 1e-10, 1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(found.argmax(axis=1), model.predict(kind(rows)))
    assert np.isneginf(model.feature_log_prob_).any()
    assert not np.isnan(model.feature_log_prob_).any()
    # weights add up to the same sum in pieces, so that "in every row" is found there too
    pieces = cls(alpha=alpha)
    for part in (slice(0, 25), slice(25, 60)):
        pieces.partial_fit(X[part], y[part], [0, 1, 2], weight[part])
    np.testing.assert_array_equal(pieces.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_no_smoothing_is_the_limit_of_little(messages, cls):
    X, y, _ = messages
    X, rows = (X[:900] > 0).astype(float), (X[900:] > 0).astype(float)
    none, little = cls(alpha=0).fit(X, y[:900]), cls(alpha=1e-300).fit(X, y[:900])
    joint = none.predict_joint_log_proba(rows)
    prior = np.broadcast_to(none.class_log_prior_, joint.shape)
    left = ~(joint == prior).all(axis=1)  # little smoothing would still tell impossible ones apart
    assert left.sum() > 20
    assert np.isneginf(joint[left]).any()
    np.testing.assert_allclose(
        none.predict_proba(rows)[left], little.predict_proba(rows)[left], 1e-9, 1e-12
    )
    assert ComplementNB(alpha=0, norm=True).fit(X, y[:900]).feature_log_prob_.sum(axis=1) == (
        pytest.approx(np.ones(4))
    )
    with pytest.raises(ValueError, match="no equal"):
        none.to_sklearn()


def test_where_every_class_is_impossible_the_prior_decides():
    X, y = np.array([[1.0, 0], [0, 1], [0, 2]]), ["a", "b", "b"]
    for cls in (MultinomialNB, BernoulliNB):
        model = cls(alpha=0).fit(X, y)
        np.testing.assert_allclose(model.predict_proba([[1.0, 1.0]]), [[1 / 3, 2 / 3]], 1e-12)
        assert model.predict([[1.0, 1.0]]) == ["b"]
        given = cls(alpha=0, class_prior=[1, 0]).fit(X, y)
        assert given.predict_proba([[0.0, 1.0]]).tolist() == [[1.0, 0.0]]
    # of features that only one class has, the most decide
    model = ComplementNB(alpha=0).fit(X, y)
    assert model.predict([[2.0, 1.0], [1.0, 2.0]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("alpha", [1.0, 0.0])
@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_a_class_without_weight_and_a_single_class(cls, alpha):
    X, y = np.array([[1.0, 0, 2], [0, 1, 0], [3, 0, 0], [0, 2, 1]]), np.array([0, 1, 2, 1])
    model = cls(alpha=alpha).fit(X, y, [1, 1, 0, 1])
    assert model.class_log_prior_[2] == -np.inf
    assert model.classes_.tolist() == [0, 1, 2]
    probabilities = model.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)
    if cls is not ComplementNB:  # which leaves the prior out
        assert not probabilities[:, 2].any()
    empty = cls(alpha=alpha).fit(np.zeros((4, 3)), y)
    assert not np.isnan(empty.feature_log_prob_).any()
    assert empty.predict(np.zeros((1, 3))).tolist() == [1 if cls is not ComplementNB else 0]
    one = cls(alpha=alpha).fit(X, np.full(4, "only"))
    assert one.predict(X).tolist() == ["only"] * 4
    assert one.predict_proba(X).tolist() == [[1.0]] * 4
    assert one.predict_log_proba(X).tolist() == [[0.0]] * 4
    assert one.predict_joint_log_proba(X).shape == (4, 1)


def test_one_alpha_for_each_feature():
    alpha = np.array([0.5, 2.0, 1.0])
    X, y = np.array([[1.0, 0, 2], [0, 1, 0], [3, 0, 0]]), [0, 1, 1]
    count = np.array([[1.0, 0, 2], [3, 1, 0]]) + alpha
    model = MultinomialNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), count / count.sum(1)[:, None])
    there = np.array([[1.0, 0, 1], [1, 1, 0]]) + alpha
    model = BernoulliNB(alpha=alpha).fit(X, y)
    np.testing.assert_allclose(
        np.exp(model.feature_log_prob_), there / (np.array([[1.0], [2.0]]) + 2 * alpha)
    )
    with pytest.warns(UserWarning, match="raised"):
        raised = MultinomialNB(alpha=0, force_alpha=False).fit(X, y)
    assert raised.feature_log_prob_.tolist() == MultinomialNB(alpha=1e-10).fit(
        X, y).feature_log_prob_.tolist()


@pytest.mark.parametrize("alpha", [1e-3, np.arange(1, 401) / 100])
def test_bernoulli_scores_are_those_of_its_logarithms(alpha):
    rng = np.random.default_rng(5)
    X, y = (rng.random((60, 400)) < rng.random(400) ** 4).astype(float), np.arange(60) % 7
    model = BernoulliNB(alpha=alpha).fit(sparse.csr_array(X), y)
    present = model.feature_log_prob_
    absent = np.log1p(-np.exp(present))
    expected = X @ present.T + (1 - X) @ absent.T + model.class_log_prior_
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, 1e-10)


@pytest.mark.parametrize("alpha", [0.0, 5e-324])
def test_sums_of_other_classes_do_not_cancel(alpha):
    X = np.array([[3e11, 1e11], [1.0, 3.0], [0.0, 0.0]])
    model = ComplementNB(alpha=alpha).fit(X, [0, 1, 2])
    others = np.log([[1 / 4, 3 / 4], [3 / 4, 1 / 4], [3 / 4, 1 / 4]])
    np.testing.assert_allclose(-model.feature_log_prob_, others, rtol=1e-4)
    np.testing.assert_allclose(-model.feature_log_prob_[0], others[0], rtol=1e-15)
    alone = ComplementNB(alpha=alpha).fit(np.eye(2), [0, 1])
    assert alone.predict(np.eye(2)).tolist() == [0, 1]
    np.testing.assert_allclose(alone.predict_proba(np.eye(2)), np.eye(2), atol=1e-300)


@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_parameters_are_checked(cls):
    X, y = np.eye(4), [0, 0, 1, 1]
    for parameter, constraint in constraints_of(cls).items():
        for value in constraint.bad_values():
            with pytest.raises(ValueError, match=f"^{parameter} must be "):
                cls(**{parameter: value}).fit(X, y)
    for value in (5e-324, 1e300, 0, np.float32(0.1), [1, 0, 5e-324, 1e10]):
        model = cls(alpha=value).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
    for params, words in (
        ({"alpha": [1.0, 2.0]}, "alpha must be a number or hold one for each of the 4 features"),
        ({"alpha": np.ones((1, 4))}, "alpha must be"),
        ({"class_prior": [1.0]}, "class_prior must hold a number for each of the 2 classes"),
        ({"class_prior": [0.0, 0.0]}, "class_prior must hold"),
        ({"alpha": 1.7e308}, "too large for a double"),
    ):
        with pytest.raises(ValueError, match=words):
            cls(**params).fit(X, y)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_hostile_rows(kind):
    y = [0, 1]
    for cls in (MultinomialNB, ComplementNB):
        with pytest.raises(ValueError, match=r"Negative values in data passed to .*NB: X holds -1"):
            cls().fit(kind([[1.0, -1.0], [0.0, 2.0]]), y)
        with pytest.raises(ValueError, match="too large for a double"):
            cls().fit(kind([[1e308, 1e308], [1e308, 0.0]]), [0, 0])
        model = cls().fit(kind([[1.0, 0.0], [0.0, 2.0]]), y)
        with pytest.raises(ValueError, match="too large"):
            model.predict(kind([[1.7e308, 1.7e308]]))
        # a scaler may bring a little less than 0, which is no harm after the fit
        assert np.isfinite(model.predict_proba(kind([[-0.1, 3.0]]))).all()
        none = cls(alpha=0).fit(kind([[1.0, 0.0], [0.0, 2.0]]), y)
        assert none.predict_proba(kind([[-1.0, 0.0]])).sum() == 1
    with pytest.raises(ValueError, match=r"binarize=None needs values of X in \[0, 1\]"):
        BernoulliNB(binarize=None).fit(kind([[1.0, 2.0], [0.0, 1.0]]), y)
    assert BernoulliNB(binarize=1e300).fit(kind(np.eye(2)), y).predict_proba(
        kind(np.eye(2))).tolist() == [[0.5, 0.5]] * 2
    np.testing.assert_allclose(
        BernoulliNB(binarize=None).fit(kind([[0.25, 1.0], [0.5, 0.0]]), y).feature_log_prob_,
        np.log([[1.25 / 3, 2 / 3], [1.5 / 3, 1 / 3]]),
    )
    with pytest.raises(ValueError, match="too large for a double"):
        BernoulliNB().fit(kind(np.eye(2)), y, [1.7e308, 1.7e308])


@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_a_refused_stream_leaves_the_model(cls):
    X, y = np.eye(3), np.array(["a", "b", "a"])
    model = cls()
    with pytest.raises(ValueError, match="classes must be passed"):
        model.partial_fit(X, y)
    model.partial_fit(X, y, ["a", "b", "c"])
    before = model.predict_proba(X)
    for rows, labels, words in (
        (X, np.array(["a", "b", "d"]), "not among the classes"),
        (np.eye(4)[:3], y, "expecting 3 features"),
        (X * np.nan, y, "NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            model.partial_fit(rows, labels)
    with pytest.raises(ValueError, match="first call were"):
        model.partial_fit(X, y, ["a", "b"])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    # a fit that failed may have left other columns behind
    with pytest.raises(ValueError, match="alpha must be"):
        model.set_params(alpha=[1.0]).fit(np.eye(5), range(5))
    with pytest.raises(ValueError, match="damaged"):
        model.set_params(alpha=1.0).partial_fit(np.eye(5), list("aabbc"))
    with pytest.raises(ValueError, match="damaged"):
        model.predict(np.eye(5))


@pytest.mark.parametrize("cls", COUNTING, ids=name)
def test_in_pipelines_searches_frames_and_files(messages, cls):
    pd = pytest.importorskip("pandas")
    texts, spam = datasets.load_sms_spam(return_X_y=True)
    words = HashingVectorizer(alternate_sign=False, norm=None, n_features=2**14)
    search = GridSearchCV(make_pipeline(words, cls()), {f"{cls.__name__.lower()}__alpha": [0.1, 1]},
                          cv=3).fit(texts[:1500], spam[:1500])
    assert search.best_score_ > 0.95
    assert search.score(texts[1500:], spam[1500:]) > 0.95
    frame = pd.DataFrame(np.eye(3, dtype=int), columns=list("xyz"))
    model = cls(alpha=0).partial_fit(frame, [0, 1, 1], [0, 1])
    assert model.feature_names_in_.tolist() == list("xyz")
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[list("zyx")])
    for fitted in (model, search.best_estimator_):
        file = io.BytesIO()
        fastlin.save(fitted, file)
        again = fastlin.load(io.BytesIO(file.getvalue()))
        given = frame if fitted is model else texts[:50]
        np.testing.assert_array_equal(again.predict_proba(given), fitted.predict_proba(given))
    again = again[-1].partial_fit(words.transform(texts), spam)
    assert math.isclose(again.class_count_.sum(), 1500 + len(texts))


def test_instruction_sets_have_the_same_logarithms(monkeypatch):
    rng = np.random.default_rng(0)
    counts = np.where(rng.random((3, 200)) < 0.5, rng.lognormal(0, 9, (3, 200)), 0.0)
    counts[0, 5], counts[1, 70] = 1e-310, np.inf
    rest = counts.sum(axis=0)
    rest[~np.isfinite(rest)] = 1e9
    counts_of_some = np.where(np.isfinite(counts), counts, 0.0)
    found = []
    for _, isa, runs in _multi.instruction_sets():
        if runs:
            monkeypatch.setattr(_counts, "ISA", isa)
            logs = _counts.smoothed_logs(counts, 1, 0.0, 0.0)
            found.append((logs, *_counts.smoothed_ratios(counts_of_some, rest, 0.5)))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found[0][0], np.log(counts), rtol=1e-14)
    for other in found[1:]:
        for ours, first in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(ours, first)
