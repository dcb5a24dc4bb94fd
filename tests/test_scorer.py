"""`model.scorer()` against `decision_function` and `predict`, and what it must refuse."""

import copy
import pickle
import threading

import numpy as np
import pytest
from scipy import sparse

from fastlin import PassiveAggressiveRegressor, Perceptron, SGDClassifier, SGDRegressor


def data(n_classes=2, n=60, d=37, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    X[rng.random(X.shape) < 0.7] = 0
    y = (X @ rng.normal(size=(d, n_classes))).argmax(axis=1)
    return X, y


def fitted(n_classes=2, **kw):
    X, y = data(n_classes, **kw)
    return Perceptron(max_iter=5, tol=None).fit(X, y), X


def sparse_parts(row, index_dtype=np.int32):
    indices = np.flatnonzero(row)
    return indices.astype(index_dtype), row[indices]


@pytest.mark.parametrize("n_classes", [2, 3, 40])
@pytest.mark.parametrize("model_dtype", [np.float64, np.float32])
@pytest.mark.parametrize("row_dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
def test_equals_the_model(n_classes, model_dtype, row_dtype, index_dtype):
    model, X = fitted(n_classes, n=200, dtype=model_dtype)
    scorer = model.scorer()
    X = X.astype(row_dtype)[:25]
    # the scorer adds up in double always
    expected = X.astype(np.float64) @ model.coef_.T.astype(np.float64) + model.intercept_
    labels = model.predict(X)
    for x, z, label in zip(X, expected, labels, strict=True):
        for args in ((x,), sparse_parts(x, index_dtype)):
            got = scorer(*args)
            assert isinstance(got, float) if len(model.coef_) == 1 else got.shape == z.shape
            np.testing.assert_allclose(got, z if z.size > 1 else z[0], rtol=1e-12, atol=1e-12)
            assert scorer.predict(*args) == label


def test_the_bits_of_decision_function():
    model, X = fitted()
    scorer = model.scorer()
    for x in X:
        assert scorer(x) == model.decision_function(x[None])[0]
        row = sparse.csr_matrix(x)
        assert scorer(row.indices, row.data) == model.decision_function(row)[0]


def test_regression_and_labels_of_any_kind():
    X, y = data()
    for reg in (SGDRegressor(random_state=0), PassiveAggressiveRegressor(random_state=0)):
        scorer = reg.fit(X, X[:, 0]).scorer()
        assert scorer(X[3]) == scorer.predict(X[3]) == reg.predict(X[3:4])[0]
        assert scorer.classes is None
    names = np.array(["no", "yes"], dtype=object)[y]
    scorer = Perceptron().fit(X, names).scorer()
    assert {scorer.predict(x) for x in X} == {"no", "yes"}


def test_an_absent_class_is_minus_infinity_and_never_predicted():
    X, y = data(3)
    with pytest.warns(UserWarning, match="weight 0"):
        model = Perceptron(max_iter=3, tol=None).fit(
            X, y, sample_weight=(y != 1).astype(float))
    scorer = model.scorer()
    assert scorer(X[0])[1] == -np.inf
    assert {scorer.predict(x) for x in X} <= {0, 2}


def test_the_zero_response_and_ties():
    X, y = data()
    model = Perceptron().fit(X, y)
    model.coef_, model.intercept_ = np.zeros((1, 37)), np.zeros(1)
    assert model.scorer().predict(X[0]) == model.predict(X[:1])[0] == 0
    model3 = Perceptron().fit(*data(3))
    model3.coef_, model3.intercept_ = np.zeros((3, 37)), np.array([0.0, 1.0, 1.0])
    assert model3.scorer().predict(X[0]) == 1


def test_an_empty_sparse_row_gives_the_intercept():
    model, _ = fitted()
    scorer = model.scorer()
    assert scorer(np.empty(0, np.int32), np.empty(0)) == model.intercept_[0]


def test_a_column_that_comes_twice_adds_up():
    model, _ = fitted()
    twice = model.scorer()(np.array([3, 3, 5, 3, 3]), np.ones(5))
    once = model.scorer()(np.array([3, 5]), np.array([4.0, 1.0]))
    assert twice == pytest.approx(once)


def test_a_copy_that_training_does_not_change():
    X, y = data()
    model = SGDClassifier(random_state=0).partial_fit(X, y, [0, 1])
    scorer = model.scorer()
    before = scorer(X[0])
    model.partial_fit(X, y)
    assert scorer(X[0]) == before != model.scorer()(X[0])
    with pytest.raises(ValueError, match="read-only"):
        scorer.coef[0, 0] = 1


def test_pickle_copy_and_repr():
    model, X = fitted(3)
    scorer = model.scorer()
    for other in (pickle.loads(pickle.dumps(scorer)), copy.deepcopy(scorer)):
        np.testing.assert_array_equal(other(X[0]), scorer(X[0]))
        assert other.predict(X[0]) == scorer.predict(X[0])
    assert repr(scorer) == "<Scorer: 37 features, 3 classes>"


def test_read_only_rows_and_threads():
    model, X = fitted()
    scorer = model.scorer()
    X.flags.writeable = False
    expected = model.decision_function(X).tolist()
    wrong = []

    def work():
        for _ in range(50):
            if [scorer(x) for x in X] != expected:
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


ROW = np.ones(37)
INDICES, DATA = np.array([0, 36], np.int32), np.array([1.0, 2.0])


@pytest.mark.parametrize("args, error, words", [
    ((np.ones(36),), ValueError, r"shape \(37,\), got shape \(36,\)"),
    ((np.ones(38),), ValueError, "shape"),
    ((np.ones((1, 37)),), ValueError, "shape"),
    ((np.float64(1.0),), TypeError, "array of float64"),
    ((np.array(1.0),), ValueError, "shape"),
    ((ROW.tolist(),), TypeError, "got a list"),
    ((None,), TypeError, "NoneType"),
    ((b"x" * 37,), TypeError, "bytes"),
    ((np.ones(37, int),), TypeError, "indices, data"),
    ((np.ones(37, bool),), TypeError, "bool"),
    ((np.ones(37, complex),), TypeError, "complex"),
    ((np.ones(37, np.float16),), TypeError, "float16"),
    ((np.ones(37, np.longdouble),), TypeError, "array of float64"),
    ((np.ones(37, object),), TypeError, "object"),
    ((np.array(["a"] * 37),), TypeError, "array of float64"),
    ((np.ones(37, "V1"),), TypeError, "array of float64"),
    ((np.ones(74)[::2],), ValueError, "contiguous"),
    ((np.ones(37)[::-1],), ValueError, "contiguous"),
    ((np.ones(37).astype(">f8"),), ValueError, "byte order"),
    ((np.frombuffer(b"\0" * (37 * 8 + 1), np.uint8)[1:].view(np.float64),), ValueError, "aligned"),
    ((sparse.csr_matrix(ROW),), TypeError, r"scorer\(row.indices, row.data\)"),
    ((np.where(np.arange(37) == 5, np.nan, 1.0),), ValueError, "got nan at position 5"),
    ((np.where(np.arange(37) == 5, -np.inf, 1.0),), ValueError, "got -inf at position 5"),
    ((np.where(np.arange(37) == 5, np.nan, 1.0).astype(np.float32),), ValueError, "nan"),
    ((np.array([0, 37], np.int32), DATA), ValueError, "got 37 at position 1"),
    ((np.array([-1, 3], np.int32), DATA), ValueError, "got -1 at position 0"),
    ((np.array([2**31 - 1, 3], np.int32), DATA), ValueError, "2147483647"),
    ((np.array([-(2**31), 3], np.int32), DATA), ValueError, "-2147483648"),
    ((np.array([2**40, 3]), DATA), ValueError, "1099511627776"),
    ((np.array([2**32, 3]), DATA), ValueError, "4294967296"),
    ((np.array([0, 37]), DATA.astype(np.float32)), ValueError, "got 37"),
    ((np.arange(5, dtype=np.int32) + 33, np.ones(5)), ValueError, "got 37 at position 4"),
    ((INDICES, np.ones(3)), ValueError, "one length"),
    ((INDICES[None], DATA[None]), ValueError, "one-dimensional"),
    ((np.array(1), np.array(1.0)), ValueError, "one-dimensional"),
    ((INDICES.astype(np.uint32), DATA), TypeError, "uint32"),
    ((INDICES.astype(np.int16), DATA), TypeError, "int16"),
    ((INDICES.astype(float), DATA), TypeError, "int32 or int64"),
    ((INDICES.tolist(), DATA), TypeError, "list"),
    ((INDICES, DATA.astype(int)), TypeError, "data must be"),
    ((INDICES, DATA.tolist()), TypeError, "data must be"),
    ((np.arange(4, dtype=np.int32)[::2], DATA), ValueError, "indices must be contiguous"),
    ((INDICES, np.ones(4)[::2]), ValueError, "data must be contiguous"),
    ((INDICES, np.array([1.0, np.nan])), ValueError, "data must be finite, got nan at position 1"),
    ((INDICES, np.array([1.0, np.inf])), ValueError, "got inf"),
])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_wrong_rows_are_refused(args, error, words, n_classes):
    scorer = fitted(n_classes)[0].scorer()
    for call in (scorer, scorer.predict):
        with pytest.raises(error, match=words):
            call(*args)


def test_wrong_numbers_of_arguments():
    scorer = fitted()[0].scorer()
    with pytest.raises(TypeError):
        scorer()
    with pytest.raises(TypeError):
        scorer(ROW, ROW, ROW)


def test_nan_at_a_weight_of_zero_is_found():
    model, X = fitted()
    model.coef_[:] = 0
    x = X[0].copy()
    x[4] = np.inf
    with pytest.raises(ValueError, match="position 4"):
        model.scorer()(x)


def test_finite_rows_may_overflow():
    model, _ = fitted()
    model.coef_[:] = 10.0
    assert model.scorer()(np.full(37, 1e308)) == np.inf


def test_fuzzed_indices_never_crash():
    rng = np.random.default_rng(0)
    scorer = fitted()[0].scorer()
    for dtype in (np.int32, np.int64):
        for _ in range(300):
            size = rng.integers(0, 12)
            indices = rng.integers(-3, 45, size).astype(dtype)
            if rng.random() < 0.3 and size:
                indices[rng.integers(size)] = rng.choice([2**31 - 1, -(2**31), 37, -1])
            x = rng.normal(size=size)
            if ((indices >= 0) & (indices < 37)).all():
                assert np.isfinite(scorer(indices, x))
            else:
                with pytest.raises(ValueError, match=r"\[0, 37\)"):
                    scorer(indices, x)


def test_before_fit_and_for_votes():
    with pytest.raises(ValueError, match="not fitted"):
        SGDClassifier().scorer()
    X, y = data()
    with pytest.raises(ValueError, match="voted"):
        Perceptron(average="voted").fit(X, y).scorer()
