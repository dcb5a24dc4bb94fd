"""Input types, labels, predictions, probabilities and seeds."""

import copy
import itertools

import numpy as np
import pytest
from public import ONLINE, ONLINE_CLASSIFIERS, ONLINE_REGRESSORS, name
from scipy import sparse
from sgd_data import Y3, T, X, Y, same_bits, target

import fastlin
from fastlin import Perceptron, SGDClassifier
from fastlin._sgd import JOINT_LOSSES

# dtypes, storage, labels


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_float32_data_give_a_float32_model_near_the_double_one(cls, quiet):
    y = target(cls)
    small = X.astype(np.float32)
    single = cls(max_iter=4, random_state=0).fit(small, y)
    double = cls(max_iter=4, random_state=0).fit(small.astype(float), y)
    assert single.coef_.dtype == np.float32
    assert double.coef_.dtype == np.float64
    assert single.intercept_.dtype == np.float64
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=2e-2, atol=2e-3)
    # a model of either type takes rows of either type
    for model in (single, double):
        for rows in (X, small, sparse.csr_array(small), X.tolist()):
            assert len(model.predict(rows)) == 120
    wide = single.predict(X) if cls in ONLINE_REGRESSORS else single.decision_function(X)
    exact = X @ single.coef_.ravel().astype(float) + single.intercept_[0]
    np.testing.assert_allclose(wide, exact, rtol=1e-12, atol=1e-12)
    assert single.partial_fit(X, y).coef_.dtype == np.float32
    assert double.partial_fit(small, y).coef_.dtype == np.float64


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_index_types_change_no_bit(cls, quiet):
    x = sparse.random_array((60, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = np.arange(60) % 2
    models = []
    for indices, indptr in itertools.product([np.int32, np.int64], repeat=2):
        given = x.copy()
        given.indices, given.indptr = x.indices.astype(indices), x.indptr.astype(indptr)
        models.append(cls(max_iter=3, random_state=0).fit(given, y))
    for model in models[1:]:
        assert same_bits(models[0], model)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_read_only_memory_maps(cls, tmp_path, quiet):
    y, weight = np.arange(120) % 2, np.ones(120, dtype=np.float32)
    for part, values in {"X": X, "y": y.astype(np.int16), "w": weight}.items():
        np.save(tmp_path / part, values)
    maps = [np.load(tmp_path / f"{part}.npy", mmap_mode="r") for part in "Xyw"]
    model = cls(max_iter=3, random_state=0).fit(maps[0], maps[1], sample_weight=maps[2])
    assert same_bits(model, cls(max_iter=3, random_state=0).fit(X, y, sample_weight=weight))
    model.partial_fit(maps[0], maps[1])
    model.predict(maps[0])


LABELS = {
    "bool": [False, True],
    "int8": np.array([-128, 127], dtype=np.int8),
    "uint64": np.array([0, 2**64 - 1], dtype=np.uint64),
    "float": [-1.5e0 * 2, 7.0],
    "str": ["b", "a"],
    "object": np.array(["zz", "y"], dtype=object),
    "bytes": np.array([b"q", b"p"]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("cls", ONLINE_CLASSIFIERS, ids=name)
def test_labels_of_any_kind(cls, labels, quiet):
    labels = np.asarray(labels)
    y = labels[(Y == "yes").astype(int)]
    model = cls(max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.sort(labels))
    assert model.predict(X).dtype == model.classes_.dtype
    assert model.score(X, y) > 0.8


# Predictions


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("loss", ["log_loss", "modified_huber", "sigmoid_mse", "sparsemax"])
@pytest.mark.parametrize("y", [Y, Y3], ids=["two", "three"])
def test_probabilities_sum_to_one_and_agree_with_predict(loss, y, multi_class, quiet):
    if multi_class == "joint" and loss not in JOINT_LOSSES:
        return
    clf = SGDClassifier(loss, multi_class=multi_class, random_state=0, max_iter=20).fit(X, y)
    rows = np.vstack([X, X * 1e3, np.zeros((1, 5))])
    p = clf.predict_proba(rows)
    assert p.shape == (241, len(clf.classes_))
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    chosen = p[np.arange(241), np.searchsorted(clf.classes_, clf.predict(rows))]
    np.testing.assert_allclose(chosen, p.max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(rows)), p, rtol=1e-9, atol=1e-300)


def test_probabilities_where_all_responses_are_very_negative(quiet):
    clf = SGDClassifier("log_loss", random_state=0, max_iter=5, tol=None).fit(X, Y3)
    clf.coef_, clf.intercept_ = np.zeros((3, 5)), np.array([-1000.0, -1001.0, -1002.0])
    p = clf.predict_proba(X[:2])
    expected = np.exp([0.0, -1, -2])
    np.testing.assert_allclose(p, np.tile(expected / expected.sum(), (2, 1)), rtol=1e-12)
    assert np.isfinite(clf.predict_log_proba(X[:2])).all()


def test_losses_without_probabilities_say_so(quiet):
    for model in (SGDClassifier("hinge"), Perceptron()):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match="log_loss"):
            model.fit(X, Y).predict_proba(X)


def test_the_first_class_wins_a_tie(quiet):
    clf = SGDClassifier(max_iter=5, tol=None).fit(X, Y3)
    clf.coef_, clf.intercept_ = np.zeros((3, 5)), np.zeros(3)
    assert (clf.predict(X) == 0).all()
    two = SGDClassifier(max_iter=5, tol=None).fit(X, Y)
    two.coef_, two.intercept_ = np.zeros((1, 5)), np.zeros(1)
    assert (two.predict(X) == "no").all()


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_predictions_do_not_depend_on_the_batch(cls, quiet):
    for y in [T] if cls in ONLINE_REGRESSORS else [Y, Y3]:
        model = cls(max_iter=3, random_state=0).fit(X, y)
        call = model.predict if cls in ONLINE_REGRESSORS else model.decision_function
        for rows in (X, sparse.csr_array(X)):
            whole = call(rows)
            single = np.concatenate([call(rows[[i]]) for i in range(120)])
            np.testing.assert_allclose(whole, single.reshape(whole.shape), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_unfitted_models_say_so(cls):
    for method in ("predict", "decision_function"):
        if hasattr(cls, method):
            with pytest.raises(fastlin.NotFittedError, match="not fitted yet; call fit"):
                getattr(cls(), method)(X)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_score_is_weighted(cls, quiet):
    y, weight = target(cls), np.arange(120.0)
    model = cls(max_iter=3, random_state=0).fit(X, y)
    predicted = model.predict(X)
    if cls in ONLINE_CLASSIFIERS:
        expected = np.average(predicted == y, weights=weight)
    else:
        mean = np.average(y, weights=weight)
        expected = 1 - weight @ (y - predicted) ** 2 / (weight @ (y - mean) ** 2)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


# Seeds


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_seeds(cls, quiet):
    y, params = target(cls), {"max_iter": 3, "tol": None}
    one, again = (cls(random_state=5, **params).fit(X, y) for _ in range(2))
    assert same_bits(one, again)
    assert not same_bits(one, cls(random_state=6, **params).fit(X, y))
    for make in (np.random.default_rng, np.random.RandomState):
        assert same_bits(*(cls(random_state=make(3), **params).fit(X, y) for _ in range(2)))
    generator = np.random.default_rng(3)
    drawn = [cls(random_state=generator, **params).fit(X, y) for _ in range(2)]
    assert not same_bits(*drawn)
    np.random.seed(0)
    state = np.random.get_state()[1].copy()
    cls(random_state=None, **params).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_neighbouring_seeds_are_independent(quiet):
    weights = {
        SGDClassifier(random_state=seed, max_iter=1).fit(X, Y).coef_.tobytes() for seed in range(50)
    }
    assert len(weights) == 50


@pytest.mark.memory
@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"penalty": "l1", "average": True}, ("v", "u", "paid")),
        ({"optimizer": "adam", "average": True}, ("V", "b", "u", "moments", "last")),
        ({"optimizer": "adagrad", "multi_class": "joint"}, ("V", "b", "moments", "last")),
    ],
)
def test_a_damaged_state_is_refused(parameters, names):
    """As a hostile model file could hold: kernels must never see arrays of other sizes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 7)), np.arange(30) % 3
    whole = fastlin.SGDClassifier("log_loss", **parameters).partial_fit(X, y, classes=[0, 1, 2])
    for part in names:
        for damage in (lambda a: a[..., :-1].copy(), lambda a: a.astype(complex), lambda a: "x"):
            model = copy.deepcopy(whole)
            model._memories[0][part] = damage(model._memories[0][part])
            with pytest.raises((ValueError, TypeError)):
                model.partial_fit(X, y)
