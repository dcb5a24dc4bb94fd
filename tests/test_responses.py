"""Prediction straight from a caller's arrays: equal to the way through the door, and as strict."""

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

from fastlin import Perceptron, Ridge, SGDClassifier, SGDRegressor, _linear, _probability
from fastlin._core import respond

N_OUTPUTS = pytest.mark.parametrize("n_outputs", [1, 3, 30])


def model(n_outputs, d=12, dtype=np.float64, kind=SGDClassifier, seed=0):
    rng = np.random.default_rng(seed)
    m = kind(loss="log_loss") if kind is SGDClassifier else kind()
    m.coef_ = rng.normal(size=(n_outputs, d)).astype(dtype)
    m.intercept_ = rng.normal(size=n_outputs)
    m.n_features_in_ = d
    if kind is not SGDRegressor:
        m.classes_ = np.arange(max(2, n_outputs))
    return m


@N_OUTPUTS
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_layout_gives_w_x_plus_b(layout, n_outputs, dtype):
    X, dense = layout.make()
    m = model(n_outputs, dtype=dtype)
    expected = dense @ m.coef_.T.astype(float) + m.intercept_
    both = layout.dtype == dtype == np.float64
    tolerance = 1e-13 if both or layout.dtype == np.float64 else 1e-5
    z = m.decision_function(X)
    assert z.dtype == np.float64
    np.testing.assert_allclose(
        z, expected if n_outputs > 1 else expected[:, 0], rtol=tolerance, atol=10 * tolerance)
    np.testing.assert_array_equal(
        m.predict(X), expected.argmax(axis=1) if n_outputs > 1 else expected[:, 0] > 0)


@N_OUTPUTS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_the_short_way_and_the_door_agree(n_outputs, dtype, form, monkeypatch):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(50, 12)) * (rng.random((50, 12)) < 0.6)
    X, m = form(dense.astype(dtype)), model(n_outputs, dtype=dtype)
    whole = m.decision_function(X)
    through_door = _linear._checked_responses(m, X)
    if n_outputs == 1:
        np.testing.assert_array_equal(whole, through_door)
    rtol = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(whole, through_door, rtol=rtol, atol=rtol)
    single = [m.decision_function(X[i : i + 1]) for i in range(50)]
    np.testing.assert_allclose(np.concatenate(single), whole, rtol=rtol, atol=rtol)
    # in pieces, without the door
    monkeypatch.setattr(_linear, "_PRODUCTS_PER_CALL", 7 * n_outputs)
    monkeypatch.setattr(_linear, "_checked_responses", None)
    np.testing.assert_allclose(m.decision_function(X), whole, rtol=rtol, atol=rtol)


def _in_pieces(m, X, monkeypatch):
    """Predictions of a few rows at a time."""
    with monkeypatch.context() as patch:
        patch.setattr(_linear, "_PRODUCTS_PER_CALL", 1)
        return m.predict(X)


def test_plain_arrays_do_not_go_through_the_door(monkeypatch):
    X = np.eye(12)
    ridge = Ridge().fit(X, np.arange(12))
    assert isinstance(ridge.intercept_, float)
    monkeypatch.setattr(_linear, "rows_of", None)
    for held in (X, sparse.csr_matrix(X), X[:1], sparse.csr_matrix(X)[:1], X[:, ::-1].copy()):
        for n_outputs in (1, 3):
            model(n_outputs).predict(held)
        model(1, kind=SGDRegressor).predict(held)
        np.testing.assert_allclose(ridge.predict(held), held @ ridge.coef_ + ridge.intercept_)
        np.testing.assert_array_equal(_in_pieces(ridge, held, monkeypatch), ridge.predict(held))
    with pytest.raises(TypeError):  # the patch is in the way
        model(1).predict(X[:, ::-1])


def with_arrays(indices=(0, 3), values=(1.0, 2.0), indptr=(0, 1, 2), d=12):
    """A CSR matrix of arrays that scipy would not check."""
    X = sparse.csr_matrix((2, d))
    X.indices, X.data = np.array(indices, np.int32), np.array(values, np.float64)
    X.indptr = np.array(indptr, np.int32)
    return X


@N_OUTPUTS
@pytest.mark.parametrize("kw, words", [
    ({"indices": (0, 12)}, "row 1 has column 12"),
    ({"indices": (-1, 3)}, "row 0 has column -1"),
    ({"indices": (0, 2**31 - 1)}, "2147483647"),
    ({"indices": (-(2**31), 0)}, "-2147483648"),
    ({"indptr": (0, 2, 1)}, "bounds of row 1"),
    ({"indptr": (0, 1, 3)}, "bounds of row 1"),
    ({"indptr": (1, 1, 2)}, "bounds of row 0"),
    ({"indptr": (-1, 1, 2)}, "bounds of row 0"),
    ({"indptr": (0, 2**30, 2)}, "bounds of row 0"),
    ({"indptr": (0, 2)}, "row bounds"),
    ({"indptr": (0, 1, 2, 2)}, "row bounds"),
    ({"values": (1.0,)}, "values"),
    ({"values": (1.0, np.nan)}, "NaN, first at row 1, column 3"),
    ({"values": (np.inf, 1.0)}, "infinity"),
    ({"d": 11}, "11 features"),
    ({"d": 13}, "13 features"),
])
def test_broken_sparse_matrices(n_outputs, kw, words):
    with pytest.raises(ValueError, match=words):
        model(n_outputs).predict(with_arrays(**kw))


@N_OUTPUTS
def test_broken_columns_far_inside_a_large_matrix(n_outputs):
    rng = np.random.default_rng(0)
    for place in (0, 1, 4, 5, 4095, 4096, 12_345, 19_999):
        X = sparse.random(1000, 100, 0.2, format="csr", random_state=rng, dtype=np.float64)
        X.indices = X.indices.copy()
        X.indices[place] = 100
        with pytest.raises(ValueError, match="column 100"):
            model(n_outputs, d=100).predict(X)


@N_OUTPUTS
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_at_weights_of_zero(n_outputs, value):
    m = model(n_outputs)
    m.coef_[:] = 0
    X = np.ones((5, 12))
    X[3, 7] = value
    for held in (X, sparse.csr_matrix(X), X[3:4], sparse.csr_matrix(X[3:4])):
        with pytest.raises(ValueError, match="NaN" if np.isnan(value) else "infinity"):
            m.predict(held)


@pytest.mark.parametrize("X, words", [
    (np.ones(12), "Reshape your data"),
    (np.ones((2, 3, 4)), "Reshape your data"),
    (np.ones((0, 12)), "0 sample"),
    (np.ones((3, 0)), "0 feature"),
    (np.ones((3, 11)), "11 features"),
    (np.ones((3, 12), complex), "Complex"),
    (np.array(1.0), "Reshape your data"),
    (sparse.csr_matrix((0, 12)), "0 sample"),
    (sparse.csr_matrix((3, 12), dtype=complex), "Complex"),
])
def test_wrong_matrices(X, words):
    for m in (model(1), model(3)):
        with pytest.raises(ValueError, match=words):
            m.predict(X)


def test_masked_values_are_refused():
    X = np.ma.masked_array(np.ones((2, 12)), mask=np.eye(2, 12))
    with pytest.raises(ValueError, match="masked"):
        model(1).predict(X)


def test_weights_of_other_kinds():
    """What users put into coef_ by hand, and column order."""
    X = np.random.default_rng(0).normal(size=(5, 12))
    m = model(3)
    expected = m.decision_function(X)
    m.coef_ = np.asfortranarray(m.coef_)
    np.testing.assert_allclose(m.decision_function(X), expected, rtol=1e-13)
    m = model(1)
    expected = m.decision_function(X)
    m.intercept_ = float(m.intercept_[0])
    np.testing.assert_allclose(m.decision_function(X), expected, rtol=1e-13)


@N_OUTPUTS
def test_overflow_of_finite_values_is_no_error(n_outputs):
    m = model(n_outputs)
    m.coef_[:], m.intercept_[:] = 10.0, 0.0
    X = np.full((2, 12), 1e308)
    for held in (X, sparse.csr_matrix(X)):
        assert (m.decision_function(held) == np.inf).all()


def test_names_are_still_compared():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(3), columns=["a", "b", "c"])
    m = Perceptron().fit(frame, [0, 1, 1])
    for held in (np.eye(3), sparse.csr_matrix(np.eye(3))):
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            m.predict(held)
    m = Perceptron().fit(np.eye(3), [0, 1, 1])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        m.predict(frame)


def test_fuzzed_sparse_matrices_never_crash():
    rng = np.random.default_rng(0)
    m = [model(1), model(3)]
    refused = 0
    for _ in range(400):
        n, size = rng.integers(1, 6), rng.integers(0, 20)
        X = sparse.csr_matrix((n, 12))
        X.indices = rng.integers(-1 if rng.random() < 0.3 else 0, 12, size).astype(np.int32)
        X.data = rng.normal(size=size)
        X.indptr = np.sort(rng.integers(0, size + 1, n + 1)).astype(np.int32)
        if rng.random() < 0.8:
            X.indptr[0] = 0
        if rng.random() < 0.2:
            X.indptr[rng.integers(n + 1)] = rng.integers(-5, 30)
        for each in m:
            try:
                assert np.isfinite(each.decision_function(X)).all()
            except ValueError as error:
                assert "sparse matrix" in str(error)
                refused += 1
    assert 50 < refused < 700


EXTREMES = np.array([-np.inf, -1e308, -1000.0, -745.5, -700.1, -40.0, -1.0, -1e-300, 0.0, 1e-17,
                     0.5, 30.0, 709.9, 1000.0, 1e308])  # fmt: skip


def exact_sigmoid(z):
    z = z.astype(np.longdouble)
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def test_two_class_probabilities():
    z = np.concatenate([EXTREMES, np.linspace(-50, 50, 1001)])
    p = _probability.sigmoid(z, log=False)
    np.testing.assert_allclose(p[:, 1], exact_sigmoid(z).astype(float), rtol=4e-15, atol=1e-320)
    np.testing.assert_allclose(p[:, 0], exact_sigmoid(-z).astype(float), rtol=4e-15, atol=1e-320)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    log_p = _probability.sigmoid(z[1:], log=True)
    np.testing.assert_allclose(np.exp(log_p), p[1:], rtol=1e-12, atol=1e-320)


@pytest.mark.parametrize("rule", ["sigmoid", "softmax"])
@pytest.mark.parametrize("shift", [0.0, -1000.0, -1e5, -690.0, -710.0, 300.0])
def test_probabilities_of_several_classes(rule, shift):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(500, 4)) * rng.choice([0.1, 1.0, 30.0], size=(500, 1)) + shift
    p = getattr(_probability, rule)(z, log=False)
    wide = z.astype(np.longdouble)
    log_p = -np.logaddexp(0, -wide) if rule == "sigmoid" else wide
    expected = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    expected = (expected / expected.sum(axis=1, keepdims=True)).astype(float)
    np.testing.assert_allclose(p, expected, rtol=1e-12, atol=1e-170)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(p.argmax(axis=1), z.argmax(axis=1))
    np.testing.assert_allclose(
        np.exp(getattr(_probability, rule)(z, log=True)), p, rtol=1e-10, atol=1e-170)


@pytest.mark.parametrize("rule", ["sigmoid", "softmax"])
def test_infinite_responses_have_probabilities(rule):
    z = np.array([[-np.inf, 0.0, 1.0], [-np.inf, -np.inf, -np.inf], [-np.inf, -2000.0, -2001.0]])
    p = getattr(_probability, rule)(z, log=False)
    assert (p[[0, 2], 0] == 0).all()
    np.testing.assert_allclose(p[1], 1 / 3)
    np.testing.assert_allclose(p[2, 1:], exact_sigmoid(np.array([1.0, -1.0])).astype(float))
    top = np.array([[np.inf, 0.0, 1.0]])
    p = getattr(_probability, rule)(top, log=False)
    assert np.isfinite(p).all()
    assert p[0].argmax() == 0


def test_the_largest_probability_is_that_of_the_predicted_class():
    z = np.array([-1e-17, 0.0, 1e-300, 1e-17, 40.0, 800.0])
    np.testing.assert_array_equal(
        _probability.sigmoid(z, log=False).argmax(axis=1), respond.codes(z))
    Z = np.array([[40.0, 50.0, 45.0], [800.0, 900.0, 900.0], [1.0, 1.0 + 2**-52, 1.0],
                  [0.0, 1e-20, -1.0]])  # fmt: skip
    for rule in (_probability.sigmoid, _probability.softmax):
        p = rule(Z, log=False)
        np.testing.assert_array_equal(p.argmax(axis=1), 1)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)


@pytest.mark.parametrize("rule", [_probability.clipped, _probability.sparsemax])
def test_clipped_probabilities_tie_for_the_predicted_class(rule):
    """Responses beyond the clip have equal probabilities, but one class is predicted."""
    z = np.array([-3.0, -1e-17, 0.0, 1e-300, 1e-17, 1.0, 5.0])
    p = rule(z, log=False)
    np.testing.assert_array_equal(p.argmax(axis=1), respond.codes(z))
    Z = np.array([[2.0, 3.0, 2.5], [-5.0, -2.0, -2.0], [1.0, 1.0 + 2**-52, 1.0], [0.1, 0.2, 0.0]])
    p = rule(Z, log=False)
    np.testing.assert_array_equal(p.argmax(axis=1), 1)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)


def test_probabilities_in_pieces(monkeypatch):
    z = np.random.default_rng(0).normal(size=(50, 4))
    whole = [_probability.softmax(z, False), _probability.sigmoid(z, False),
             _probability.sigmoid(z[:, 0], False)]
    monkeypatch.setattr(_probability, "_NUMBERS_PER_CALL", 9)
    pieces = [_probability.softmax(z, False), _probability.sigmoid(z, False),
              _probability.sigmoid(z[:, 0], False)]
    for a, b in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(a, b)


def test_codes_of_the_predicted_classes():
    z = np.array([-1.0, -0.0, 0.0, 1e-300, 2.0])
    np.testing.assert_array_equal(respond.codes(z), [0, 0, 0, 1, 1])
    np.testing.assert_array_equal(respond.codes(z[::-1]), [1, 1, 0, 0, 0])
    Z = np.random.default_rng(0).integers(0, 3, size=(200, 5)).astype(float)
    for held in (Z, np.asfortranarray(Z)):
        np.testing.assert_array_equal(respond.codes(held), Z.argmax(axis=1))
    np.testing.assert_array_equal(respond.codes(np.array([[-np.inf, -np.inf]])), [0])
    np.testing.assert_array_equal(respond.codes(np.array([1, -1], dtype=np.float32)), [1, 0])


@pytest.mark.parametrize("kind", [SGDClassifier, SGDRegressor])
@pytest.mark.parametrize("number", [2, 2.0, np.float32(2), np.array(2.0)])
def test_an_intercept_that_is_set_by_hand_may_be_a_number(kind, number):
    m, X = model(1, kind=kind), np.random.default_rng(0).normal(size=(9, 12))
    m.intercept_ = np.array([2.0])
    expected = m.predict(X)
    m.intercept_ = number
    for held in (X, X[:1], sparse.csr_matrix(X), X.tolist()):
        np.testing.assert_allclose(m.predict(held), expected[: np.shape(held)[0]])


@N_OUTPUTS
@pytest.mark.parametrize("name", ["coef_", "intercept_"])
def test_weights_that_were_set_to_nan_are_named(n_outputs, name):
    m, X = model(n_outputs), np.ones((3, 12))
    getattr(m, name)[0] = np.nan
    for held in (X, X[:1], sparse.csr_matrix(X), sparse.csr_matrix(X)[:1]):
        with pytest.raises(ValueError, match=f"{name} holds nan"):
            m.predict(held)
