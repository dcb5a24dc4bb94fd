"""The voted perceptron against one that keeps every weight vector."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse

import fastlin._online
from fastlin import Perceptron
from fastlin._mistakes import joined, stored_rows


def vectors_after_each_row(X, y, n_outputs, epochs, *, eta=1.0, margin=0.0, weight=None,
                           intercept=True, start=None):
    """All weights (T, K, d) and intercepts (T, K) of the plain perceptron, rows in order.

    y holds +-1 for one output, else class numbers; rows of weight 0 are passed over.
    """
    n, d = X.shape
    weight = np.ones(n) if weight is None else weight
    W, b = start if start is not None else (np.zeros((n_outputs, d)), np.zeros(n_outputs))
    W, b, all_W, all_b = W.copy(), b.copy(), [], []
    for _ in range(epochs):
        for i in np.flatnonzero(weight):
            z = W @ X[i] + b
            step = eta * weight[i]
            if n_outputs == 1:
                if y[i] * z[0] <= margin:
                    W[0] += step * y[i] * X[i]
                    b[0] += step * y[i] * intercept
            else:
                others = z.copy()
                others[y[i]] = -np.inf
                rival = int(others.argmax())
                lead = z[y[i]] - z[rival]
                if lead < margin or (lead == margin and (margin > 0 or rival < y[i])):
                    W[y[i]] += step * X[i]
                    W[rival] -= step * X[i]
                    b[y[i]] += step * intercept
                    b[rival] -= step * intercept
            all_W.append(W.copy())
            all_b.append(b.copy())
    return np.array(all_W), np.array(all_b)


def votes(X, all_W, all_b):
    """Mean over the vectors of the sign, or of the indicator of the largest response."""
    z = np.einsum("tkd,nd->tnk", all_W, X) + all_b[:, None, :]
    if z.shape[2] == 1:
        return np.where(z[..., 0] > 0, 1.0, -1.0).mean(axis=0)
    return np.eye(z.shape[2])[z.argmax(axis=2)].mean(axis=0)


def integers(n=70, d=6, n_classes=2, seed=0):
    """Small integers, so that sums are exact and ties occur; labels with noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    X[rng.random(X.shape) < 0.4] = 0.0
    score = X @ rng.normal(size=(d, n_classes)) + rng.normal(size=(n, n_classes))
    return X, score.argmax(axis=1)


def bits(n=80, d=9, n_classes=2, seed=1):
    """The same with zeros and ones only."""
    X, _ = integers(n, d, n_classes, seed)
    X = (X > 0).astype(float)
    score = X @ np.random.default_rng(seed).normal(size=(d, n_classes))
    return X, (score + np.random.default_rng(2).normal(size=score.shape) / 2).argmax(axis=1)


LAYOUTS = {
    "dense": lambda X: X,
    "fortran": np.asfortranarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "float32": lambda X: X.astype(np.float32),
    "csr float32": lambda X: sparse.csr_matrix(X.astype(np.float32)),
}
PLAIN = {"average": "voted", "shuffle": False, "tol": None, "max_iter": 4}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("data", [integers, bits])
@pytest.mark.parametrize("intercept", [True, False])
def test_binary_votes_equal_those_of_all_vectors(layout, data, intercept):
    X, y = data()
    held = LAYOUTS[layout](X)
    model = Perceptron(**PLAIN, fit_intercept=intercept).fit(held, y)
    all_W, all_b = vectors_after_each_row(X, 2 * y - 1, 1, 4, intercept=intercept)
    expected = votes(X, all_W, all_b)
    np.testing.assert_allclose(model.decision_function(held), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(model.predict(held), (expected > 0).astype(int))
    np.testing.assert_array_equal(model.coef_, all_W[-1])
    np.testing.assert_array_equal(model.intercept_, all_b[-1])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("data", [integers, bits])
def test_joint_votes_equal_those_of_all_vectors(layout, data):
    X, y = data(n_classes=4)
    held = LAYOUTS[layout](X)
    model = Perceptron(**PLAIN).fit(held, y)
    all_W, all_b = vectors_after_each_row(X, y, 4, 4)
    shares = model.decision_function(held)
    np.testing.assert_allclose(shares, votes(X, all_W, all_b), rtol=0, atol=1e-12)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(held), shares.argmax(axis=1))
    np.testing.assert_array_equal(model.coef_, all_W[-1])


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_one_vs_rest_votes_equal_those_of_all_vectors(layout):
    X, y = integers(n_classes=3)
    held = LAYOUTS[layout](X)
    model = Perceptron(**PLAIN, multi_class="ovr").fit(held, y)
    expected = np.column_stack([
        votes(X, *vectors_after_each_row(X, np.where(y == k, 1, -1), 1, 4)) for k in range(3)
    ])
    np.testing.assert_allclose(model.decision_function(held), expected, rtol=0, atol=1e-12)
    assert len(model._segments) == 1  # one copy of the rows serves all classes


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margin_rate_and_weights(n_classes):
    X, y = integers(n_classes=n_classes)
    rng = np.random.default_rng(5)
    X += rng.normal(size=X.shape)  # no ties: the scaled weights are not exact
    weight = rng.integers(0, 3, len(y)).astype(float)
    weight *= np.count_nonzero(weight) / weight.sum()  # fit takes weights relative to their mean
    model = Perceptron(**PLAIN, margin=2.0, eta0=0.5).fit(X, y, sample_weight=3.0 * weight)
    target, K = (2 * y - 1, 1) if n_classes == 2 else (y, n_classes)
    expected = votes(X, *vectors_after_each_row(
        X, target, K, 4, eta=0.5, margin=2.0, weight=weight))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-12)


def test_class_weights_multiply_sample_weights():
    X, y = integers()
    a = Perceptron(**PLAIN, class_weight={0: 1.0, 1: 3.0}).fit(X, y)
    b = Perceptron(**PLAIN).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    assert not np.array_equal(
        a.decision_function(X), Perceptron(**PLAIN).fit(X, y).decision_function(X))


@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
def test_a_class_of_weight_zero_is_never_voted_for(multi_class):
    X, y = integers(n_classes=3)
    with pytest.warns(UserWarning, match="weight 0"):
        model = Perceptron(**PLAIN, multi_class=multi_class).fit(
            X, y, sample_weight=(y != 0).astype(float))
    z = model.decision_function(X)
    assert (z[:, 0] == (0 if multi_class == "joint" else -np.inf)).all()
    assert set(model.predict(X)) == {1, 2}


@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_class_of_weight_zero_is_no_rival(n_classes):
    """Votes are those of a model that has never seen the class, before and after another call."""
    X, y = integers(n_classes=n_classes)
    kept = y != 1
    start = {}
    if n_classes == 4:
        rng = np.random.default_rng(1)
        start = {"coef_init": rng.normal(size=(4, 6)), "intercept_init": rng.normal(size=4)}
    fewer = {key: value[[0, 2, 3]] for key, value in start.items()}
    with pytest.warns(UserWarning, match="weight 0"):
        model = Perceptron(**PLAIN).fit(X, y, sample_weight=kept.astype(float), **start)
    alone = Perceptron(**PLAIN).fit(X[kept], y[kept], **fewer)
    others = np.delete(np.arange(n_classes), 1)
    z, expected = model.decision_function(X), alone.decision_function(X)
    assert (z[:, 1] == 0).all()
    if n_classes == 3:
        expected = np.stack([1 - expected, 1 + expected], axis=1) / 2
    np.testing.assert_allclose(z[:, others], expected, atol=1e-12)
    file = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(file.partial_fit(X, y).decision_function(X),
                                  model.partial_fit(X, y).decision_function(X))
    assert (model.decision_function(X)[:, 1] > 0).any()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("data", [integers, bits])
def test_a_stream_of_single_rows_equals_one_call(layout, n_classes, data):
    X, y = data(n_classes=n_classes)
    held = LAYOUTS[layout](X)
    classes = np.arange(n_classes)
    whole = Perceptron(average="voted").partial_fit(held, y, classes)
    held = held.tocsr() if layout == "csc" else held
    single = Perceptron(average="voted")
    for i in range(len(y)):
        single.partial_fit(held[i : i + 1], y[i : i + 1], classes)
    np.testing.assert_array_equal(
        whole.decision_function(held), single.decision_function(held))
    assert len(single._segments) <= 1 + np.log2(len(y))
    target, K = (2 * y - 1, 1) if n_classes == 2 else (y, n_classes)
    expected = votes(X, *vectors_after_each_row(X, target, K, 1))
    np.testing.assert_allclose(single.decision_function(held), expected, rtol=0, atol=1e-12)


def test_partial_fit_goes_on_after_fit_in_any_layout():
    X, y = bits()
    model = Perceptron(**PLAIN).fit(X, y)
    for held in (sparse.csr_matrix(X), X, sparse.csr_matrix(2 * X)):
        model.partial_fit(held, y)
    more = Perceptron(average="voted")
    for _ in range(4):
        more.partial_fit(X, y, [0, 1])
    for held in (sparse.csr_matrix(X), X, sparse.csr_matrix(2 * X)):
        more.partial_fit(held, y)
    np.testing.assert_array_equal(model.decision_function(X), more.decision_function(X))
    assert model.t_ == more.t_ == 1 + 7 * len(y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_warm_start_and_given_weights_are_the_first_voter(n_classes):
    X, y = integers(n_classes=n_classes)
    target, K = (2 * y - 1, 1) if n_classes == 2 else (y, n_classes)
    model = Perceptron(**PLAIN, warm_start=True).fit(X, y)
    first = vectors_after_each_row(X, target, K, 4)
    start = first[0][-1], first[1][-1]
    second = votes(X, *vectors_after_each_row(X, target, K, 4, start=start))
    given = Perceptron(**PLAIN).fit(X, y, coef_init=start[0], intercept_init=start[1])
    np.testing.assert_allclose(given.decision_function(X), second, rtol=0, atol=1e-12)
    model.fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), second, rtol=0, atol=1e-12)
    # from averaged weights and back: the last weights, not the mean
    other = Perceptron(**{**PLAIN, "average": True}, warm_start=True).fit(X, y)
    other.set_params(average="voted").fit(X, y)
    np.testing.assert_allclose(other.decision_function(X), second, rtol=0, atol=1e-12)
    other.set_params(average=False).fit(X, y)
    z = other.decision_function(X).reshape(len(y), -1)
    np.testing.assert_allclose(z, X @ other.coef_.T + other.intercept_, rtol=1e-12)
    assert not hasattr(other, "_segments")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
def test_early_stopping_watches_the_votes(monkeypatch, n_classes, multi_class):
    X, y = integers(n=150, n_classes=n_classes)
    splits = []
    split = fastlin._online.split_rows
    monkeypatch.setattr(
        fastlin._online, "split_rows", lambda *args: splits.append(split(*args)) or splits[-1])
    common = {"average": "voted", "tol": None, "early_stopping": True,
              "validation_fraction": 0.3, "multi_class": multi_class}
    full = Perceptron(**common, max_iter=4).fit(X, y)
    if n_classes > 2 and multi_class == "ovr":
        return  # each class watches its own votes; trace_ shows one of them
    held_out = splits[0][1]
    for epochs in range(1, 5):
        model = Perceptron(**common, max_iter=epochs).fit(X, y)
        score = model.score(X[held_out], y[held_out])
        assert full.trace_[epochs - 1]["validation_score"] == pytest.approx(score)


def test_predictions_do_not_depend_on_the_batch(monkeypatch):
    X, y = integers(n_classes=3)
    rng = np.random.default_rng(3)
    X = X * rng.normal(size=X.shape)
    for held in (X, sparse.csr_matrix(X)):
        model = Perceptron(average="voted", max_iter=5, tol=None).fit(held, y)
        whole = model.decision_function(held)
        single = np.vstack([model.decision_function(held[i : i + 1]) for i in range(len(y))])
        np.testing.assert_array_equal(whole, single)
        monkeypatch.setattr("fastlin._voted._PRODUCTS", 128)
        monkeypatch.setattr("fastlin._voted._PRODUCTS_PER_CALL", 64)
        np.testing.assert_array_equal(whole, model.decision_function(held))
        monkeypatch.undo()


def test_other_layouts_and_dtypes_at_prediction():
    X, y = integers()
    for fitted in (X, X.astype(np.float32), sparse.csr_matrix(X)):
        model = Perceptron(**PLAIN).fit(fitted, y)
        expected = model.decision_function(fitted)
        for convert in LAYOUTS.values():
            np.testing.assert_array_equal(model.decision_function(convert(X)), expected)


def test_a_row_is_kept_once():
    X, y = integers()
    model = Perceptron(**{**PLAIN, "max_iter": 30}).fit(sparse.csr_matrix(X), y)
    segment = model._segments[0]
    assert len(segment["logs"][0]["which"]) > len(y) >= segment["rows"]["n"]


def test_no_worse_than_the_last_weights_on_noisy_data():
    rng = np.random.default_rng(0)
    w = rng.normal(size=20)
    last, voted, averaged = [], [], []
    for seed in range(8):
        X = rng.normal(size=(600, 20))
        y = X @ w + 4 * rng.normal(size=600) > 0
        train, test = slice(0, 300), slice(300, 600)
        for average, scores in ((False, last), ("voted", voted), (True, averaged)):
            model = Perceptron(average=average, max_iter=10, tol=None, random_state=seed)
            scores.append(model.fit(X[train], y[train]).score(X[test], y[test]))
    assert np.mean(voted) > np.mean(last) + 0.02
    assert abs(np.mean(voted) - np.mean(averaged)) < 0.02


def test_learns_a_conjunction_exactly():
    X = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], dtype=float)
    y = X[:, 0] * X[:, 2]
    model = Perceptron(average="voted", max_iter=200, tol=None).fit(X, y)
    assert model.score(X, y) == 1.0


def test_pickle_copy_and_going_on():
    X, y = integers(n_classes=3)
    model = Perceptron(**PLAIN).fit(X, y)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    other.partial_fit(X, y)
    assert other.t_ == 1 + 5 * len(y)
    assert model.t_ == 1 + 4 * len(y)
    model.partial_fit(X, y)
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_save_and_load(tmp_path):
    persist = pytest.importorskip("fastlin.persist")
    X, y = integers(n_classes=3)
    model = Perceptron(**PLAIN).fit(sparse.csr_matrix(X), y)
    persist.save(model, tmp_path / "model")
    other = persist.load(tmp_path / "model")
    model.partial_fit(X, y)
    other.partial_fit(X, y)
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))


def test_the_arrays_of_the_caller_are_copied():
    X, y = integers()
    model = Perceptron(**PLAIN).fit(X, y)
    before = X.copy()
    expected = model.decision_function(before)
    X[:] = 0
    np.testing.assert_array_equal(model.decision_function(before), expected)


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_a_penalty_is_refused(penalty):
    X, y = integers()
    with pytest.raises(ValueError, match="penalty"):
        Perceptron(average="voted", penalty=penalty).fit(X, y)


def test_votes_can_not_begin_or_end_in_midstream():
    X, y = integers()
    model = Perceptron().partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match="average can't change"):
        model.set_params(average="voted").partial_fit(X, y)
    model = Perceptron(average="voted").partial_fit(X, y, [0, 1])
    with pytest.raises(ValueError, match="average can't change"):
        model.set_params(average=False).partial_fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept can't change"):
        model.set_params(average="voted", fit_intercept=False).partial_fit(X, y)


@pytest.mark.parametrize("bad", ["vote", "VOTED", 0, 1.5, None])
def test_other_words_are_refused(bad):
    X, y = integers()
    with pytest.raises(ValueError, match="average must be"):
        Perceptron(average=bad).fit(X, y)


def test_bad_rows_are_refused_at_prediction():
    X, y = integers()
    model = Perceptron(**PLAIN).fit(X, y)
    with pytest.raises(ValueError, match="5 features"):
        model.predict(X[:, :5])
    with pytest.raises(ValueError, match="NaN"):
        model.predict(np.full((1, 6), np.nan))
    with pytest.raises(ValueError, match="not fitted"):
        Perceptron(average="voted").predict(X)


def damage(model, part, name, value):
    segment = model._segments[0]
    target = segment["rows"] if part == "rows" else segment["logs"][0]
    target[name] = value(target[name])


@pytest.mark.parametrize("part, name, value", [
    ("rows", "indices", lambda a: a + 100),
    ("rows", "indices", lambda a: a - 100),
    ("rows", "indptr", lambda a: a + 1),
    ("rows", "indptr", lambda a: a[:-1]),
    ("rows", "values", lambda a: a[:-1]),
    ("logs", "which", lambda a: a + 1000),
    ("logs", "which", lambda a: a - 1),
    ("logs", "when", lambda a: a[:-1]),
    ("logs", "pair", lambda a: a + 3),
    ("logs", "pair", lambda a: a[:-1]),
])
def test_a_damaged_record_does_not_crash(part, name, value):
    X, y = integers(n_classes=3)
    model = Perceptron(**PLAIN).fit(sparse.csr_matrix(X), y)
    damage(model, part, name, value)
    with pytest.raises(ValueError, match="damaged"):
        model.predict(X)


def test_segments_of_unequal_layouts_join():
    dense = {"layout": "dense", "n": 1, "values": np.array([[0.0, 3.0, 4.0]]), "indices": None,
             "indptr": None}
    signed = {"layout": "signed", "n": 2, "values": None,
              "indices": np.array([0, ~2, 1], np.int32), "indptr": np.array([0, 2, 3])}
    ones = {**signed, "layout": "ones", "indices": np.array([0, 2, 1], np.int32)}
    log = {"which": np.array([0]), "when": np.array([1]), "change": np.ones(1),
           "pair": np.empty((0, 2), np.int32)}
    segments = [{"rows": rows, "logs": [log]} for rows in (dense, signed, ones)]
    (whole,) = joined(joined(segments[:2]) + segments[2:])
    rows = stored_rows(whole, 3, np.float64, 1)
    matrix = sparse.csr_matrix((rows.values, rows.indices, rows.indptr), shape=rows.shape)
    np.testing.assert_array_equal(
        matrix.toarray(),
        [[0, 3, 4], [1, 0, -1], [0, 1, 0], [1, 0, 1], [0, 1, 0]])
    np.testing.assert_array_equal(whole["logs"][0]["which"], [0, 1, 3])


def test_two_classes_grow_to_three_jointly():
    X, y = integers(n_classes=3)
    first = y != 1
    model = Perceptron(average="voted").partial_fit(X[first], y[first], [0, 2])
    model.partial_fit(X, y, grow=True)
    W2, b2 = vectors_after_each_row(X[first], y[first] - 1, 1, 1)
    turn = np.array([-0.5, 0.0, 0.5])  # the difference of two classes, shared between them
    W2, b2 = W2 * turn[:, None], b2 * turn
    W3, b3 = vectors_after_each_row(X, y, 3, 1, start=(W2[-1], b2[-1]))
    expected = votes(X, np.concatenate([W2, W3]), np.concatenate([b2, b3]))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-12)


def test_three_classes_grow_to_four_jointly():
    X, y = integers(n_classes=4)
    first = y != 2
    known = np.array([0, 1, 3])
    model = Perceptron(**PLAIN).fit(
        X[first], y[first], coef_init=np.eye(3, 6), intercept_init=[0.0, 1.0, 0.0])
    model.partial_fit(X, y, grow=True)
    start = np.eye(3, 6), np.array([0.0, 1.0, 0.0])
    W3, b3 = vectors_after_each_row(X[first], np.searchsorted(known, y[first]), 3, 4, start=start)
    wide_W, wide_b = np.zeros((len(W3), 4, 6)), np.zeros((len(b3), 4))
    wide_W[:, known], wide_b[:, known] = W3, b3
    W4, b4 = vectors_after_each_row(X, y, 4, 1, start=(wide_W[-1], wide_b[-1]))
    expected = votes(X, np.concatenate([wide_W, W4]), np.concatenate([wide_b, b4]))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=0, atol=1e-12)


def test_two_classes_grow_to_three_against_the_rest():
    X, y = integers(n_classes=3)
    first = y != 1
    model = Perceptron(average="voted", multi_class="ovr").partial_fit(X[first], y[first], [0, 2])
    model.partial_fit(X, y, grow=True)
    expected = []
    for k in range(3):
        W, b = np.empty((0, 1, 6)), np.empty((0, 1))
        start = None
        if k != 1:
            W, b = vectors_after_each_row(X[first], y[first] - 1, 1, 1)
            W, b = (k - 1) * W, (k - 1) * b
            start = W[-1], b[-1]
        more = vectors_after_each_row(X, np.where(y == k, 1, -1), 1, 1, start=start)
        expected.append(votes(X, np.concatenate([W, more[0]]), np.concatenate([b, more[1]])))
    np.testing.assert_allclose(
        model.decision_function(X), np.column_stack(expected), rtol=0, atol=1e-12)
