"""Scores by name against scikit-learn's, and rows cut from `Rows`."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from fastlin import SGDClassifier, SGDRegressor, as_rows
from fastlin._data import compact_rows
from fastlin._metrics import METRICS
from fastlin._row_slices import rows_taken
from fastlin._scoring import NamedScore

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4)).round(1)
TARGET = X @ [1.0, -2.0, 0.5, 0.0]
STEPS = {"learning_rate": "invscaling", "eta0": 0.2, "max_iter": 3, "tol": None, "random_state": 3}
CLASSES = {
    "0 and 1": (X[:, 0] > X[:, 1]).astype(int),
    "-1 and 1": np.where(X[:, 0] > 0.8, 1, -1),
    "booleans": X[:, 0] > 0,
    "words": np.array(["b", "a"])[(X[:, 0] > 0).astype(int)],
    "three": np.array([3, 1, 7])[X[:, :3].argmax(axis=1)],
}
BINARY_ONLY = {"f1", "precision", "recall", "roc_auc"}
FOR_NUMBERS = {name for name in METRICS if name == "r2" or name.endswith("_error")}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labels", CLASSES)
@pytest.mark.parametrize("name", sorted(set(METRICS) - FOR_NUMBERS))
def test_scores_of_classifiers(name, labels, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    y = CLASSES[labels]
    model = SGDClassifier(loss="log_loss", **STEPS).fit(X[:60], y[:60])
    weight = {"sample_weight": RNG.integers(0, 4, 60).astype(float)} if weighted else {}
    data = model, X[20:], y[20:]
    if name in BINARY_ONLY and (labels == "three" or labels == "words" and name != "roc_auc"):
        with pytest.raises(ValueError, match=f"'{name}' is for"):
            NamedScore(name)(*data, **weight)
        return
    expected = metrics.get_scorer(name)(*data, **weight)
    assert NamedScore(name)(*data, **weight) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", sorted(FOR_NUMBERS))
def test_scores_of_regressors(name, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    from sklearn.linear_model import Ridge

    weight = {"sample_weight": RNG.integers(0, 4, 60).astype(float)} if weighted else {}
    two = np.column_stack([TARGET, 3 - 2 * TARGET**2])
    for model, y in ((SGDRegressor(**STEPS), TARGET), (Ridge(), two)):
        data = model.fit(X[:60], y[:60]), X[20:], y[20:]
        if name == "r2" and y.ndim == 2 and weighted:
            continue
        expected = metrics.get_scorer(name)(*data, **weight)
        assert NamedScore(name)(*data, **weight) == pytest.approx(expected, rel=1e-12)


def test_scores_at_the_edge():
    model = SGDClassifier(loss="log_loss", **STEPS).fit(X, CLASSES["0 and 1"])
    with pytest.warns(match="not defined where y holds one class"):
        assert np.isnan(NamedScore("roc_auc")(model, X[:5], np.ones(5, int)))
    # a class that the model has never seen has the smallest probability that there is
    assert NamedScore("neg_log_loss")(model, X[:1], np.array([5])) == pytest.approx(
        np.log(np.finfo(float).eps)
    )
    nothing = model.__class__(**STEPS).fit(X, CLASSES["0 and 1"])
    nothing.coef_[:], nothing.intercept_[:] = 0, -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NamedScore("f1")(nothing, X[:3], np.zeros(3, int)) == 0.0
    with pytest.raises(TypeError, match="'neg_log_loss' needs predict_proba"):
        NamedScore("neg_log_loss")(SGDClassifier(**STEPS).fit(X, CLASSES["three"]), X, TARGET)
    with pytest.raises(TypeError, match="labels"):
        NamedScore("f1_macro")(model, X, CLASSES["words"])


def test_roc_auc_falls_back_on_probabilities():
    metrics = pytest.importorskip("sklearn.metrics")
    from sklearn.neighbors import KNeighborsClassifier

    data = KNeighborsClassifier(3).fit(X, CLASSES["words"]), X, CLASSES["words"]
    assert NamedScore("roc_auc")(*data) == pytest.approx(metrics.get_scorer("roc_auc")(*data))


# Rows of Rows -------------------------------------------------------------------------------------


def layouts():
    """Rows of each layout, with some that are empty."""
    some = sparse.random(30, 12, 0.3, "csr", random_state=0)
    some = sparse.vstack([some, sparse.csr_matrix((2, 12)), some]).tocsr()
    ones = some.copy()
    ones.data[:] = 1
    signed = some.copy()
    signed.data = np.where(signed.data > 0.5, 1.0, -1.0)
    fixed = sparse.csr_matrix(
        (np.ones(120), np.tile([0, 3, 5, 7], 30), np.arange(31) * 4), shape=(30, 12)
    )
    yield "dense", as_rows(RNG.normal(size=(62, 12)).astype(np.float32))
    yield "csr", as_rows(some)
    yield "ones", as_rows(ones)
    yield "signed", compact_rows(signed)
    yield "ones", as_rows(fixed)


CHOICES = [
    np.arange(30), np.arange(5, 21), np.array([7]), np.array([], int), np.array([29, 3, 3, 0]),
    np.array([-1, 2]), np.arange(30) % 2 == 0, np.arange(0, 30, 3),
    np.arange(28, 30, dtype=np.uint8),
]  # fmt: skip


@pytest.mark.parametrize("choice", range(len(CHOICES)))
@pytest.mark.parametrize(("layout", "rows"), list(layouts()))
def test_rows_taken(layout, rows, choice):
    chosen = CHOICES[choice]
    if chosen.dtype == bool:
        chosen = np.resize(chosen, len(rows))
    part = rows_taken(rows, chosen)
    assert part.layout == layout == rows.layout and part.dtype == rows.dtype
    np.testing.assert_array_equal(part.toarray(), rows.toarray()[chosen])
    assert part.width == rows.width or not len(part)


def test_a_run_of_rows_shares_its_arrays():
    for _, rows in layouts():
        part = rows_taken(rows, np.arange(5, 21))
        whole = rows.indices if rows.values is None else rows.values
        assert np.shares_memory(whole, part.indices if part.values is None else part.values)


def test_rows_out_of_range():
    for _, rows in layouts():
        for bad in (len(rows), -len(rows) - 1):
            with pytest.raises(IndexError, match="out of range"):
                rows_taken(rows, np.array([0, bad]))
