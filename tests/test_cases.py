"""Faults that users met in other libraries, tried on every way of learning (not the defaults alone,
whose tests stand with their subjects)."""

import itertools
import pickle

import numpy as np
import pytest
from public import CLASSIFIERS, LEARNERS, ONLINE, REGRESSORS, VARIANTS
from public import made as short
from scipy import sparse
from sgd_data import Y3, T, X, same_bits

from fastlin import LinearRegression, SGDClassifier, as_rows
from fastlin.model_selection import KFold, cross_val_score

WAYS = [*((cls, {}) for cls in LEARNERS), *VARIANTS]
pytestmark = pytest.mark.usefixtures("quiet")


def label(value):
    return value.__name__ if isinstance(value, type) else repr(value)


every_way = pytest.mark.parametrize(("cls", "params"), WAYS, ids=label)


def made(cls, params, **more):
    return short(cls, **{"random_state": 0, "max_iter": 4, "tol": None, **params, **more})


def target(cls):
    return T if cls in REGRESSORS else Y3


def responses(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@every_way
@pytest.mark.parametrize("several", [False, True])
def test_a_value_that_underflows_when_squared(cls, params, several):
    """scikit-learn 7489, liblinear 27."""
    x = np.zeros((30, 2))
    x[3] = 3.75e-208
    y = np.arange(30) // 10 if several else np.arange(30) // 15
    model = made(cls, params).fit(x, y)
    found = responses(model, x)
    assert np.isfinite(found).all()
    assert np.isfinite(model.coef_).all()
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(x).sum(axis=1), 1)
    if cls is LinearRegression:
        return  # nothing keeps its weights from being as large as that row asks for
    # the row is no longer a special one when all that is special underflows
    np.testing.assert_allclose(found[3], found[4], rtol=1e-9, atol=1e-12)


@every_way
def test_read_only_maps_of_any_dtype(cls, params, tmp_path):
    """scikit-learn 10667."""
    y = target(cls).astype(np.float32 if cls in REGRESSORS else np.int16)
    for part, values in {"X": X, "y": y, "w": np.ones(len(y), np.float32)}.items():
        np.save(tmp_path / part, values)
    maps = [np.load(tmp_path / f"{part}.npy", mmap_mode="r") for part in "Xyw"]
    model = made(cls, params).fit(maps[0], maps[1], sample_weight=maps[2])
    assert same_bits(model, made(cls, params).fit(X, y, sample_weight=np.ones(len(y))))
    np.testing.assert_array_equal(model.predict(maps[0]), model.predict(X))


@every_way
def test_types_of_indices(cls, params):
    """scikit-learn 9545, 21067, 13526."""
    x = sparse.random_array((60, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = np.arange(60) % (2 if cls in REGRESSORS else 3)
    models = []
    for indices, indptr in itertools.product([np.int32, np.int64], repeat=2):
        given = x.copy()
        given.indices, given.indptr = x.indices.astype(indices), x.indptr.astype(indptr)
        assert np.shares_memory(as_rows(given).values, given.data)
        models.append(made(cls, params).fit(given, y))
        np.testing.assert_array_equal(models[-1].predict(given), models[0].predict(x))
    for model in models[1:]:
        assert same_bits(models[0], model)


@every_way
def test_columns_out_of_order_and_twice(cls, params):
    """liblinear-java 23."""
    rows = sparse.csr_array(X)
    flipped = rows.copy()
    for start, stop in itertools.pairwise(rows.indptr):
        flipped.indices[start:stop] = rows.indices[start:stop][::-1]
        flipped.data[start:stop] = rows.data[start:stop][::-1]
    flipped.has_sorted_indices = False
    halves = sparse.csr_array(
        (np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr), rows.shape
    )
    halves.has_canonical_format = False
    before = pickle.dumps([flipped.data, flipped.indices, halves.data, halves.indices])
    expected = made(cls, params).fit(rows, target(cls))
    for given in (flipped, halves):
        model = made(cls, params).fit(given, target(cls))
        assert same_bits(model, expected)
        # a row out of order is added up in its own order
        np.testing.assert_allclose(responses(model, given), responses(expected, rows), rtol=1e-9)
    assert pickle.dumps([flipped.data, flipped.indices, halves.data, halves.indices]) == before


@every_way
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_a_constant_column(cls, params, fit_intercept):
    """spark 10940."""
    x = np.column_stack([X, np.full(len(X), 3.0), np.zeros(len(X))])
    model = made(cls, params, fit_intercept=fit_intercept).fit(x, target(cls))
    assert np.isfinite(model.coef_).all()
    assert (np.atleast_2d(model.coef_)[:, -1] == 0).all()


@pytest.mark.parametrize(
    ("cls", "params"),
    [way for way in WAYS if way[0] in ONLINE and way[1].get("batch_size", 1) == 1],
    ids=label,
)
def test_weight_zero_is_removal_in_order(cls, params):
    """scikit-learn 16298: the step counter does not advance."""
    weight = np.arange(len(X)) % 3.0
    kept, y = weight > 0, target(cls)
    model = made(cls, params, shuffle=False).fit(X, y, sample_weight=weight)
    same = made(cls, params, shuffle=False).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert same_bits(model, same)
    assert model.t_ == same.t_


@pytest.mark.parametrize(
    ("cls", "params"), [way for way in WAYS if way[0] in CLASSIFIERS], ids=label
)
def test_a_class_of_weight_zero_keeps_its_place(cls, params, capfd):
    """scikit-learn 34139."""
    with pytest.warns(UserWarning, match="all rows of the classes 1 have weight 0"):
        model = made(cls, params).fit(X, Y3, sample_weight=np.where(Y3 == 1, 0.0, 1.0))
    assert model.classes_.tolist() == [0, 1, 2]
    # a code has no columns for it
    assert model.coef_.shape == (1 if hasattr(model, "code_") else 3, 5)
    assert set(model.predict(X)) <= {0, 2}
    assert responses(model, X).shape == (120, 3)
    if hasattr(model, "predict_proba"):
        assert (model.predict_proba(X)[:, 1] == 0).all()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("cls", "params"), [way for way in WAYS if way[0] in CLASSIFIERS], ids=label
)
@pytest.mark.filterwarnings("ignore:.*class:UserWarning")
def test_folds_that_lack_a_class(cls, params):
    """scikit-learn 32748, 12845: rows sorted by class, three folds without a shuffle."""
    order = np.argsort(Y3, kind="stable")[: 3 * (len(Y3) // 3)]
    y = np.repeat([0, 1, 2], len(order) // 3)
    scores = cross_val_score(made(cls, params), X[order], y, cv=KFold(3))
    # the class that is tested was never seen in training
    np.testing.assert_array_equal(scores, [0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        *((cls, params) for cls, params in WAYS if hasattr(cls(**params), "predict_proba")),
        (SGDClassifier, {"loss": "log_loss"}),
        (SGDClassifier, {"loss": "sigmoid_mse"}),
    ],
    ids=label,
)
def test_responses_of_minus_a_thousand(cls, params):
    """scikit-learn 17978."""
    model = made(cls, params).fit(X, Y3)
    model.coef_ = np.zeros_like(model.coef_)
    for rows in ([-1000.0, -999.0, -1001.0], [-1e308, -1e307, -1e308], [-1000.0] * 3):
        model.intercept_ = np.array(rows)
        p = model.predict_proba(X[:2])
        assert np.isfinite(p).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X[:2]))


@every_way
def test_one_seed_gives_the_same_bits_whatever_the_random_state(cls, params):
    """scikit-learn 8410, 13422: the global generator is neither used nor moved."""
    np.random.seed(0)
    state = np.random.get_state()[1].tobytes()
    models = [made(cls, params).fit(X, target(cls)) for _ in range(2)]
    assert same_bits(*models)
    assert np.random.get_state()[1].tobytes() == state
    drawn = [
        made(cls, params, random_state=np.random.RandomState(5)).fit(X, target(cls))
        for _ in range(2)
    ]
    assert same_bits(*drawn)
