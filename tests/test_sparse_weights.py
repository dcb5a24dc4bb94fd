"""`sparsify` and `densify` of linear classifiers."""

import io
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from public import PLAIN
from scipy import sparse

import fastlin
from fastlin import LinearRegression, NotFittedError
from fastlin._clone import clone
from fastlin._linear import LinearClassifierMixin

CLASSIFIERS = [cls for cls in PLAIN if issubclass(cls, LinearClassifierMixin)]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 8)) * (RNG.random((60, 8)) < 0.6)
LAYOUTS = [X, np.asfortranarray(X), X.astype(np.float32), sparse.csr_matrix(X),
           sparse.csc_matrix(X), sparse.csr_array(X), X[:1]]  # fmt: skip


def fitted(cls, n_classes, dtype=np.float64):
    y = (np.abs(X[:, :n_classes]) + 0.1).argmax(axis=1)
    model = cls().set_params(random_state=0)
    model.fit(X.astype(dtype), y)
    # some weights that are 0, as a penalty would leave them
    if "_segments" not in vars(model):
        model.coef_[:, ::2] = 0
    return model, y


def test_there_are_classifiers():
    names = {cls.__name__ for cls in CLASSIFIERS}
    assert {"SGDClassifier", "LogisticRegression", "LinearSVC", "Perceptron"} < names
    assert not hasattr(LinearRegression, "sparsify")


@pytest.mark.filterwarnings("ignore:.*the steps do not suit")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_predictions_stay(cls, n_classes, dtype):
    model, _ = fitted(cls, n_classes, dtype)
    dense, coef = [model.decision_function(rows) for rows in LAYOUTS], model.coef_.copy()
    assert model.sparsify() is model
    assert sparse.issparse(model.coef_)
    assert model.coef_.shape == coef.shape
    assert model.coef_.nnz == np.count_nonzero(coef)
    copies = [model, pickle.loads(pickle.dumps(model)), through_a_file(model)]
    for copied in copies:
        assert sparse.issparse(copied.coef_)
        for rows, z in zip(LAYOUTS, dense, strict=True):
            assert_allclose(copied.decision_function(rows), z, rtol=1e-6, atol=1e-6)
            assert copied.predict(rows).shape == (rows.shape[0],)
    again = model.sparsify().densify().densify()
    assert again is model
    assert type(model.coef_) is np.ndarray
    assert model.coef_.dtype == coef.dtype
    assert_array_equal(model.coef_, coef)
    for rows, z in zip(LAYOUTS, dense, strict=True):
        assert_array_equal(model.decision_function(rows), z)


def through_a_file(model):
    file = io.BytesIO()
    fastlin.save(model, file)
    return fastlin.load(io.BytesIO(file.getvalue()))


@pytest.mark.filterwarnings("ignore:.*the steps do not suit")
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_training_goes_on(cls):
    model, y = fitted(cls, 2)
    other, _ = fitted(cls, 2)
    model.sparsify()
    assert not hasattr(clone(model), "coef_")
    if hasattr(model, "partial_fit"):
        for part in (slice(0, 20), slice(20, 60)):
            model.partial_fit(X[part], y[part])
            other.partial_fit(X[part], y[part])
            assert_array_equal(model.coef_, other.coef_)
            model.sparsify().densify()

    if hasattr(model, "warm_start"):
        model.sparsify().set_params(warm_start=True)
        other.set_params(warm_start=True)
    assert_array_equal(model.fit(X, y).coef_, other.fit(X, y).coef_)


@pytest.mark.filterwarnings("ignore:.*the steps do not suit")
def test_what_else_reads_weights():
    model, _ = fitted(fastlin.SGDClassifier, 3)
    x, z = np.ascontiguousarray(X[0]), model.decision_function(X)
    model.sparsify()
    assert_allclose(model.scorer()(x), z[0])
    pytest.importorskip("sklearn")
    assert_allclose(model.to_sklearn().decision_function(X), z)
    assert sparse.issparse(model.coef_)


@pytest.mark.parametrize("name", ["sparsify", "densify"])
def test_before_fit(name):
    with pytest.raises(NotFittedError, match=name):
        getattr(fastlin.Perceptron(), name)()


@pytest.mark.filterwarnings("ignore:.*have weight 0")
def test_the_intercept_of_an_absent_class_stays():
    X, y, s = [[1.0], [2.0], [3.0]], [0, 1, 2], [1, 1, 0]
    model = fastlin.Perceptron(random_state=0).fit(X, y, sample_weight=s)
    z = model.decision_function(X)
    assert_allclose(model.sparsify().decision_function(X), z)
