"""`fit` of several classes one-vs-rest, trained side by side in one order of the rows."""

import numpy as np
import pytest
from layouts import LAYOUTS
from test_onepass import SEED, alone, check_equal, data, folds

from fastlin import SGDClassifier, _onepass, as_rows
from fastlin._onepass import fit_together

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.memory]


@pytest.fixture
def side_by_side(monkeypatch):
    """Few rows trained as many are."""
    monkeypatch.setattr(_onepass, "_FEWEST_STEPS", 1)


def several_classes(dense, k):
    """Class numbers, with k rows of each at least."""
    rng = np.random.default_rng(3)
    y = (dense @ rng.normal(size=(dense.shape[1], k))).argmax(axis=1)
    y[: k * k] = np.arange(k * k) % k
    return y


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("layout", ["csr", "dense C order"])
def test_fit_trains_classes_side_by_side(side_by_side, layout, penalty):
    X, dense, _, _ = data(layout)
    y = np.array(list("abcde"))[several_classes(dense, 5)]
    weight = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    given = {"max_iter": 4, "tol": None, "random_state": SEED, "penalty": penalty}
    model = SGDClassifier(**given, class_weight={"a": 2.0}).fit(X, y, sample_weight=weight)
    codes = np.unique(y, return_inverse=True)[1]
    rows, visited = np.arange(len(y)), np.flatnonzero(weight)
    own = weight * np.where(codes == 0, 2.0, 1.0)
    for k in range(5):
        target = np.where(codes == k, 1.0, -1.0)
        learner, report = alone(model, X, codes.astype(float), rows, visited, own, target)
        W, b = learner.weights()
        np.testing.assert_allclose(model.coef_[k], W[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_[k], b[0], rtol=1e-9, atol=1e-12)
    assert model.n_iter_ == report.n_iter


def test_what_only_looks_on_changes_no_model(side_by_side):
    X, dense, _, _ = data()
    y = several_classes(dense, 4)
    made = SGDClassifier(random_state=SEED, max_iter=5, tol=None)
    first, seen = made.fit(X, y).coef_.copy(), []
    assert (made.fit(X, y, callback=seen.append).coef_ == first).all()
    assert len(seen) == 5 * 4
    for params in ({"warm_start": True}, {"n_jobs": 2}, {"verbose": 0}):
        other = SGDClassifier(random_state=SEED, max_iter=5, tol=None, **params)
        assert (other.fit(X, y, coef_init=np.zeros_like(first)).coef_ == first).all()
    with pytest.raises(RuntimeError, match="enough"):
        made.fit(X, y, callback=_enough)


def _enough(entry):
    raise RuntimeError("enough")


def test_classes_side_by_side_start_from_given_weights(side_by_side):
    X, dense, _, _ = data()
    y = several_classes(dense, 4)
    W, b = np.random.default_rng(0).normal(size=(4, dense.shape[1])), np.arange(4.0)
    model = SGDClassifier(learning_rate="constant", eta0=1e-14, max_iter=2, tol=None, penalty=None)
    model.fit(X, y, coef_init=W, intercept_init=b)
    np.testing.assert_allclose(model.coef_, W, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, b, atol=1e-9)


def test_training_goes_on_from_weights_where_they_are(side_by_side):
    """They have one place, and training that goes on has another."""
    X, dense, _, _ = data()
    y = several_classes(dense, 4)
    model = SGDClassifier(random_state=SEED, max_iter=3, tol=None, alpha=0.1).fit(X, y)
    kept, before = model.coef_, model.coef_.copy()
    for k, memory in enumerate(model._memories):
        assert np.shares_memory(memory["v"], kept[k])
    model.partial_fit(X, y)
    assert (kept == before).all() and not np.shares_memory(model.coef_, kept)
    everyone = np.arange(len(y))
    for k in range(4):
        target = np.where(y == k, 1.0, -1.0)
        learner, _ = alone(model, X, y.astype(float), everyone, everyone, target=target)
        np.testing.assert_allclose(before[k], learner.weights()[0][0], rtol=1e-9, atol=1e-12)
        learner.visit(as_rows(X), target, np.empty(0), everyone)
        W, b = learner.weights()
        np.testing.assert_allclose(model.coef_[k], W[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_[k], b[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("penalty", "average"), [("l2", False), ("l2", 20), ("l1", False)])
@pytest.mark.parametrize("kind", ["csr", "ones", "signed"])
def test_rows_of_any_length_after_any_other(kind, penalty, average):
    """Where the table does not fit the cache, a step asks for the columns of a later row."""
    n, d, rng = 60, 9000, np.random.default_rng(4)
    dense = np.zeros((n, d))
    for row, size in zip(dense, np.resize([0, 1, 900, 3, 4, 7, 600, 2, 0, 50], n), strict=True):
        values = {"csr": rng.normal(size=size), "ones": 1.0, "signed": rng.choice([-1, 1], size)}
        row[rng.choice(d, size, replace=False)] = values[kind]
    layout = next(item for item in LAYOUTS if item.kind == kind and item.dtype == np.float64)
    X = layout.build(dense)
    assert as_rows(X).layout == kind
    y = rng.integers(0, 2, n)
    train_rows, test_rows = folds(n)
    models = [SGDClassifier("log_loss", alpha=alpha, max_iter=3, tol=None, random_state=SEED,
                            penalty=penalty, average=average)
              for alpha in (1e-3, 1e-2) for _ in range(4)]
    out = fit_together(models, X, y, train_rows * 2, test_rows * 2)
    check_equal(models, X, y, y.astype(float), train_rows * 2, test_rows * 2, out,
                target=np.where(y == 1, 1.0, -1.0))
