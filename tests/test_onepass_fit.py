"""`fit` of several classes one-vs-rest, trained side by side in one order of the rows."""

import numpy as np
import pytest
from test_onepass import SEED, alone, data

from fastlin import SGDClassifier, _onepass

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
