"""Columns renumbered by frequency, or only those that occur: the same models from other columns."""

import numpy as np
import pytest
import scipy.sparse as sp

from fastlin import (
    GridSearchCV,
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    cross_val_score,
)
from fastlin._core import columns as _columns
from fastlin._data import as_rows, compact_rows
from fastlin._prepare import _counted, only_occurring, prepared

D = 300_000


def bag_of_words(n=6000, width=60, seed=0):
    """Columns by Zipf's law, in no order of frequency."""
    rng = np.random.default_rng(seed)
    rank = np.exp(rng.random(n * width) * np.log(D)).astype(int)
    columns = rng.permutation(D)[rank]
    values = rng.normal(size=n * width) / width**0.5
    X = sp.csr_matrix((values, (np.repeat(np.arange(n), width), columns)), shape=(n, D))
    return X, rng.integers(0, 3, n)


def layouts():
    X, _ = bag_of_words()
    ones, signed = X.copy(), X.copy()
    ones.data[:] = 1
    signed.data = np.sign(signed.data)
    return {"csr": as_rows(X), "ones": as_rows(ones), "signed": compact_rows(signed)}


@pytest.mark.memory
@pytest.mark.parametrize("layout", ["csr", "ones", "signed"])
def test_renumbered_rows_are_the_rows_with_frequent_columns_first(layout):
    rows = layouts()[layout]
    assert rows.layout == layout
    renumbered, columns = prepared(rows, 2, 10)
    assert columns is not None
    expected = rows.to_csr().tocoo()
    occurs = np.bincount(expected.col, minlength=D) > 0
    width = np.count_nonzero(occurs)
    np.testing.assert_array_equal(np.sort(columns.place[occurs]), np.arange(width))
    assert (columns.place[~occurs] == width).all() and width < D - 1
    shape = len(rows), width + 1
    assert renumbered.shape == shape
    moved = sp.csr_matrix((expected.data, (expected.row, columns.place[expected.col])), shape=shape)
    assert abs(renumbered.to_csr() - moved).max() == 0
    frequency = np.bincount(renumbered.to_csr().indices, minlength=width)
    # all rows are in the sample; counts of 4096 and more are not told apart
    assert (np.diff(np.minimum(frequency, 4096)) <= 0).all()
    in_row = renumbered.to_csr().indices[: renumbered.indptr[1]]
    octave = np.floor(np.log2(in_row + 1.0))
    assert (np.diff(octave) >= 0).all()


@pytest.mark.memory
@pytest.mark.parametrize("layout", ["csr", "ones", "signed"])
def test_where_a_column_fills_a_line_entries_keep_their_order(layout):
    rows = layouts()[layout]
    wide = 64 // rows.dtype.itemsize
    renumbered, columns = prepared(rows, wide, 10)
    assert columns is not None and renumbered.layout == layout
    np.testing.assert_array_equal(columns.place, prepared(rows, 2, 10)[1].place)
    before, after = rows.to_csr(), renumbered.to_csr()
    np.testing.assert_array_equal(after.indptr, before.indptr)
    np.testing.assert_array_equal(after.indices, columns.place[before.indices])
    np.testing.assert_array_equal(after.data, before.data)
    assert renumbered.values is None or np.shares_memory(renumbered.values, rows.values)
    assert prepared(renumbered, wide, 10) == (renumbered, None)


@pytest.mark.parametrize("layout", ["csr", "ones", "signed"])
@pytest.mark.parametrize("wide", [1, 2])
def test_columns_not_in_the_sample_follow_by_their_first_row(layout, wide, monkeypatch):
    rows = layouts()[layout]
    step = 10
    monkeypatch.setattr("fastlin._prepare._SMALL_SAMPLE", rows.nnz // step)
    monkeypatch.setattr("fastlin._prepare._SAMPLE", rows.nnz // step)
    renumbered, columns = prepared(rows, wide, 20)
    X = rows.to_csr()
    counts = np.bincount(X[::step].indices, minlength=D)
    first = np.full(D, X.nnz)
    np.minimum.at(first, X.indices, np.arange(X.nnz))
    expected = np.lexsort((np.where(counts, np.arange(D), first), -counts))
    assert counts.max() < 4096 and 0 < np.count_nonzero(counts) < len(np.unique(X.indices))
    np.testing.assert_array_equal(np.argsort(columns.place, kind="stable"), expected)
    moved = sp.csr_matrix((X.data, columns.place[X.indices], X.indptr), shape=renumbered.shape)
    assert abs(renumbered.to_csr() - moved).max() == 0


@pytest.mark.parametrize("layout", ["csr", "ones", "signed"])
@pytest.mark.parametrize("wide", [2, 16])
@pytest.mark.parametrize("step", [1, 10])
def test_threads_and_given_weights_change_no_number_of_a_column_that_occurs(
    layout, wide, step, monkeypatch
):
    rows = layouts()[layout]
    monkeypatch.setattr("fastlin._prepare._FEWEST_SHARED", rows.nnz // 4)
    for sample in ("_SMALL_SAMPLE", "_SAMPLE"):
        monkeypatch.setattr(f"fastlin._prepare.{sample}", rows.nnz // step)
    occurs = np.bincount(rows.to_csr().indices, minlength=D) > 0
    first, columns = prepared(rows, wide, 20)
    for kept, renumbered in (
        (True, prepared(rows, wide, 20, True, 1, 3)), (False, prepared(rows, wide, 20, False)),
    ):  # fmt: skip
        np.testing.assert_array_equal(renumbered[0].indices, first.indices)
        assert abs(renumbered[0].to_csr()[:, : first.shape[1]] - first.to_csr()).max() == 0
        np.testing.assert_array_equal(renumbered[1].place[occurs], columns.place[occurs])
        if kept:
            np.testing.assert_array_equal(renumbered[1].place, columns.place)
        else:  # each has its own weight
            assert renumbered[0].shape == rows.shape
            np.testing.assert_array_equal(np.sort(renumbered[1].place), np.arange(D))


@pytest.mark.parametrize("n", [1000, 6000])
def test_samples_are_those_of_one_thread(n, monkeypatch):
    rows = as_rows(bag_of_words(n=n)[0])
    monkeypatch.setattr("fastlin._prepare._PIECE", rows.nnz // 7)
    for step in (1, 3, 7):
        found = [_counted(rows, 64, rows.nnz // step, n_jobs)[0] for n_jobs in (None, 2, 5)]
        expected = np.bincount(rows.to_csr()[:: rows.nnz // (rows.nnz // step)].indices,
                               minlength=D)
        for counts in found:
            np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("width", [1, 3, 64])
@pytest.mark.parametrize("d", [1, 63, 1001])
def test_groups_of_columns_by_their_counts(width, d):
    """From 4096 on they are one class."""
    counts = np.random.default_rng(d).geometric(0.3, d).astype(np.int32) - 1
    counts[:: 1 + d // 5] = 4095 + np.arange(len(counts[:: 1 + d // 5]))
    totals = np.add.reduceat(counts, np.arange(0, d, width))
    groups, entries = _columns.frequencies(counts, width)
    classes = np.minimum(totals, 4096)
    np.testing.assert_array_equal(groups, np.bincount(classes, minlength=4097))
    np.testing.assert_array_equal(entries, np.bincount(classes, totals, minlength=4097))


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
def test_models_side_by_side_have_the_bits_of_the_columns_as_they_come(monkeypatch):
    X, y = bag_of_words()
    X, taken, found = X.astype(np.float32), [], []
    for answer in (prepared, lambda rows, *_: (rows, None)):
        monkeypatch.setattr(
            "fastlin._onepass.prepared",
            lambda *arguments, _to=answer: taken.append(_to(*arguments)) or taken[-1],
        )
        search = GridSearchCV(SGDClassifier(max_iter=3, random_state=0), {"alpha": [1e-4, 1e-3]})
        search.fit(X, y)
        found.append((search.cv_results_["mean_test_score"], search.best_estimator_.coef_))
    assert taken[0][1] is not None and taken[-1][1] is None
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_what_does_not_pay_is_left_alone():
    rows = layouts()["csr"]
    uniform, _ = bag_of_words()
    uniform.indices[:] = np.random.default_rng(0).permutation(len(uniform.indices)) % D
    for unchanged, outputs, epochs in (
        (rows, 2, 1),
        (rows, 1, 15),  # a single output's weights are fetched ahead
        (as_rows(np.ones((5, 300_000), np.float32)), 2, 100),
        (as_rows(sp.random(2000, 3000, 0.1, format="csr")), 2, 100),
        (as_rows(bag_of_words(n=2000)[0]), 2, 2),  # fewer entries than columns
        (as_rows(uniform), 2, 100),
    ):
        kept, columns = prepared(unchanged, outputs, epochs)
        assert kept is unchanged and columns is None
    few = as_rows(bag_of_words(n=2000)[0])
    assert prepared(few, 1, 100, from_zero=False) == (few, None)


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
def test_epochs_that_may_never_come_pay_for_nothing(monkeypatch):
    X, y = bag_of_words(n=200)
    asked = []
    for caller in ("_online", "_onepass"):
        monkeypatch.setattr(
            f"fastlin.{caller}.prepared",
            lambda rows, n_outputs, epochs, *_: asked.append(epochs) or (rows, None),
        )
    for tol, patience in ((1e-3, 5), (1e-3, 30), (None, 5)):
        model = SGDClassifier(tol=tol, n_iter_no_change=patience, max_iter=20, random_state=0)
        assert (model.fit(X, y).n_iter_ == 20) or tol is not None
        cross_val_score(model, X, y, cv=2)  # where an epoch costs three times as much
    assert asked == [6, 18, 20, 60, 20, 60]


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("optimizer", ["adagrad", "adadelta", "rmsprop", "adam"])
@pytest.mark.parametrize("penalty", [None, "elasticnet"])
def test_adaptive_steps_have_the_bits_of_the_columns_as_they_come(optimizer, penalty, monkeypatch):
    X, y = bag_of_words()
    monkeypatch.setattr("fastlin._prepare._GAIN", 0.01)
    taken, models = [], []
    for answer in (prepared, lambda rows, *_: (rows, None)):
        monkeypatch.setattr(
            "fastlin._online.prepared",
            lambda *arguments, _to=answer: taken.append(_to(*arguments)) or taken[-1],
        )
        model = SGDClassifier(
            loss="log_loss", optimizer=optimizer, penalty=penalty, alpha=1e-4, eta0=0.01,
            learning_rate="constant", max_iter=3, tol=None, multi_class="ovr", random_state=0,
        ).fit(X, y)
        models.append(model.partial_fit(X[:50], y[:50]))
    assert taken[0][1] is not None and taken[-1][1] is None
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    np.testing.assert_array_equal(models[0].intercept_, models[1].intercept_)


@pytest.mark.memory
@pytest.mark.parametrize("layout", ["csr", "ones", "signed"])
def test_only_columns_that_occur_in_their_old_order(layout):
    rows = layouts()[layout]
    wide = rows.to_csr()
    occurring = np.unique(wide.indices)
    kept, columns = only_occurring(rows)
    assert kept.layout == layout and kept.shape == (len(rows), len(occurring) + 1)
    narrow = kept.to_csr()
    np.testing.assert_array_equal(narrow.indices, columns.place[wide.indices])
    np.testing.assert_array_equal(occurring[narrow.indices], wide.indices)
    np.testing.assert_array_equal(narrow.data, wide.data)
    assert np.count_nonzero(columns.place == len(occurring)) == D - len(occurring)
    dense = as_rows(sp.csr_matrix(np.eye(40)))
    assert only_occurring(dense) == (dense, None)


# steps so short that a rounding error does not grow
SHORT = {"learning_rate": "invscaling", "eta0": 0.05}
CASES = {
    "l2": (SGDClassifier, {"loss": "log_loss", **SHORT}),
    "one against the rest": (SGDClassifier, {"loss": "hinge", "multi_class": "ovr", **SHORT}),
    "averaged l1": (SGDClassifier, {"loss": "log_loss", "penalty": "l1", "average": 10, **SHORT}),
    "joint": (SGDClassifier, {"loss": "log_loss", "multi_class": "joint", "penalty": "l1",
                              **SHORT}),
    "adam": (SGDClassifier, {"loss": "log_loss", "optimizer": "adam", "eta0": 0.01,
                             "learning_rate": "constant", "multi_class": "ovr"}),
    "early stopping": (SGDClassifier, {"loss": "log_loss", "early_stopping": True, **SHORT}),
    "regression": (SGDRegressor, {}),
    "perceptron": (Perceptron, {"average": True}),
    "voted": (Perceptron, {"average": "voted"}),
    "passive-aggressive": (PassiveAggressiveClassifier, {"C": 0.1}),
}


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_models_are_those_of_the_columns_as_they_come(case, monkeypatch):
    kind, params = CASES[case]
    X, y = bag_of_words()
    taken = []

    def seen(rows, n_outputs, *more):
        result = prepared(rows, max(2, n_outputs), *more)  # of a single one, and its entries, too
        taken.append(result[1] is not None)
        return result

    monkeypatch.setattr("fastlin._prepare._GAIN", 0.01)
    models = []
    for prepare in (seen, lambda rows, *_: (rows, None)):
        monkeypatch.setattr("fastlin._online.prepared", prepare)
        model = kind(max_iter=6, tol=None, random_state=3, **params).fit(X, y)
        models.append(model.partial_fit(X[:50], y[:50]))
    assert taken == ([] if case == "voted" else [True])
    with_order, without = models
    scale = np.abs(without.coef_).max()
    np.testing.assert_allclose(with_order.coef_, without.coef_, atol=1e-9 * scale)
    np.testing.assert_allclose(with_order.intercept_, without.intercept_, atol=1e-9 * scale)
    if hasattr(without, "classes_"):
        np.testing.assert_array_equal(with_order.predict(X), without.predict(X))


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("case", CASES)
def test_columns_that_do_not_occur_change_no_bit(case, monkeypatch):
    kind, params = CASES[case]
    X, y = bag_of_words(n=1500)
    models = []
    for prepare in (prepared, lambda rows, *_: (rows, None)):
        monkeypatch.setattr("fastlin._online.prepared", prepare)
        model = kind(max_iter=4, tol=None, random_state=3, **params).fit(X, y)
        models.append(model.partial_fit(X[:50], y[:50]))
    narrow, wide = models
    assert narrow.coef_.shape[-1] == D
    np.testing.assert_array_equal(narrow.coef_, wide.coef_)
    np.testing.assert_array_equal(narrow.intercept_, wide.intercept_)


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
def test_searches_over_few_of_the_columns(monkeypatch):
    X, y = bag_of_words(n=900)
    model = SGDClassifier(loss="log_loss", penalty="elasticnet", max_iter=8, random_state=0)
    found = []
    for prepare in (prepared, lambda rows, *_: (rows, None)):
        monkeypatch.setattr("fastlin._onepass.prepared", prepare)
        search = GridSearchCV(model, {"alpha": [1e-4, 1e-3], "average": [True]}, cv=3)
        found.append(search.fit(X, y))
    narrow, wide = found
    for key in ("mean_test_score", "split0_test_score"):
        np.testing.assert_array_equal(narrow.cv_results_[key], wide.cv_results_[key])
    np.testing.assert_array_equal(narrow.best_estimator_.coef_, wide.best_estimator_.coef_)


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
def test_training_goes_on_from_given_weights():
    X, y = bag_of_words()
    start = np.random.default_rng(1).normal(size=D)
    model = SGDRegressor(max_iter=6, tol=None, eta0=1e-12, alpha=0.0)
    model.fit(X, y, coef_init=start)
    np.testing.assert_allclose(model.coef_.ravel(), start, atol=1e-6)
