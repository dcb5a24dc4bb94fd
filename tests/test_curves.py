"""Curves over rows and parameters, and their pictures."""

import sys

import numpy as np
import pytest

from fastlin import (
    GridSearchCV,
    SGDClassifier,
    SGDRegressor,
    learning_curve,
    plot,
    regularization_path,
)
from fastlin import validation_curve as curve_over_values
from fastlin._clone import clone
from fastlin.model_selection import StratifiedKFold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = (X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * RNG.normal(size=150) > 0).astype(int)
TARGET = X @ [1.0, -2.0, 0.5, 0.0]
STEPS = {"learning_rate": "invscaling", "eta0": 0.2, "max_iter": 5, "tol": None, "random_state": 3}


class Alone(SGDClassifier):
    """Of a class of its own, so that it is fitted fold by fold."""


MODEL = Alone(**STEPS)


def test_learning_curve_equals_a_loop():
    sizes, train, test, fit_times, score_times = learning_curve(
        MODEL, X, Y, train_sizes=[20, 60, 120], return_times=True, n_jobs=2
    )
    assert sizes.tolist() == [20, 60, 120]
    assert fit_times.shape == score_times.shape == (3, 5) and (fit_times > 0).all()
    for fold, (rows, held_out) in enumerate(StratifiedKFold(5).split(X, Y)):
        for place, size in enumerate(sizes):
            part = rows[:size]
            model = clone(MODEL).fit(X[part], Y[part])
            assert train[place, fold] == model.score(X[part], Y[part])
            assert test[place, fold] == model.score(X[held_out], Y[held_out])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"train_sizes": np.array([0.2, 0.5])},
        {"shuffle": True, "random_state": 5, "scoring": "neg_mean_squared_error"},
        {"exploit_incremental_learning": True, "cv": 3},
    ],
)
def test_learning_curves_are_those_of_scikit_learn(options):
    theirs = pytest.importorskip("sklearn.model_selection")
    pytest.importorskip("sklearn.metrics")
    from sklearn.linear_model import SGDRegressor as Peer

    model = Peer(random_state=0, max_iter=20, tol=None)
    ours = learning_curve(model, X, TARGET, **options)
    peer = theirs.learning_curve(model, X, TARGET, **options)
    assert len(ours) == len(peer)
    for got, expected in zip(ours, peer, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_our_learners_grow_by_partial_fit():
    sizes, train, test = learning_curve(
        SGDClassifier(**STEPS), X, Y, exploit_incremental_learning=True, cv=3
    )
    assert train.shape == test.shape == (5, 3) and test[-1].mean() > 0.8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_sizes": [0.0, 0.5]}, "train_sizes must be shares in"),
        ({"train_sizes": [1.5]}, "train_sizes must be shares in"),
        ({"train_sizes": [500]}, r"numbers of rows in \[1, 120\]"),
        ({"train_sizes": []}, "train_sizes must be a list of numbers"),
        ({"train_sizes": "all"}, "train_sizes must be a list of numbers"),
        ({"shuffle": 1}, "shuffle must be True or False"),
        ({"scoring": lambda m, A, b: {"a": 1.0, "b": 1.0}}, "one score for a curve"),
    ],
)
def test_bad_sizes_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        learning_curve(MODEL, X, Y, **options)


@pytest.mark.filterwarnings("ignore:.*best constant")
def test_equal_sizes_count_once_and_small_ones_lack_classes():
    with pytest.warns(UserWarning, match="3 entries, but only 2 are different"):
        sizes, *_ = learning_curve(MODEL, X, Y, train_sizes=[50, 60, 50])
    assert sizes.tolist() == [50, 60]
    three = np.digitize(TARGET, [-1, 1])
    order = np.argsort(three, kind="stable")
    some = np.bincount(three)[0] + 10
    mixed = np.random.default_rng(0).permutation(150)
    folds = [(rows[:140], rows[140:]) for rows in (mixed, np.arange(150))]
    with pytest.warns(UserWarning, match=rf"fold 1 \({some} rows\) lacks a class"):
        learning_curve(MODEL, X[order], three[order], train_sizes=[some, 140], cv=folds)
    with pytest.raises(ValueError, match="needs partial_fit"):
        learning_curve(NoPart(), X, Y, exploit_incremental_learning=True)


class NoPart:
    """An estimator without partial_fit."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y):
        return self

    def score(self, X, y):
        return 0.0


def test_validation_curve_equals_scikit_learns():
    theirs = pytest.importorskip("sklearn.model_selection")
    options = {"param_name": "alpha", "param_range": [1e-3, 1e-1, 1.0], "cv": 4}
    ours = curve_over_values(MODEL, X, Y, n_jobs=2, **options)
    peer = theirs.validation_curve(MODEL, X, Y, **options)
    for got, expected in zip(ours, peer, strict=True):
        assert got.shape == (3, 4)
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(ValueError, match="param_range must be a list"):
        curve_over_values(MODEL, X, Y, param_name="alpha", param_range=[])
    with pytest.raises(ValueError, match="param_name must be"):
        curve_over_values(MODEL, X, Y, param_name=3, param_range=[1])


# Pictures -----------------------------------------------------------------------------------------


@pytest.fixture
def ax():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


def heights(ax, label):
    (line,) = (line for line in ax.get_lines() if line.get_label() == label)
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def test_picture_of_a_learning_curve(ax):
    assert plot.learning_curve(MODEL, X, Y, ax=ax, train_sizes=[30, 110], cv=4) is ax
    sizes, train, test = learning_curve(MODEL, X, Y, train_sizes=[30, 110], cv=4)
    for label, scores in (("training rows", train), ("held-out rows", test)):
        x, y = heights(ax, label)
        np.testing.assert_array_equal(x, sizes)
        np.testing.assert_allclose(y, scores.mean(axis=1))
    assert ax.get_ylabel().startswith("accuracy (mean") and len(ax.collections) == 2
    with pytest.raises(ValueError, match="return_times"):
        plot.learning_curve(MODEL, X, Y, ax=ax, return_times=True)


def test_picture_of_a_search(ax):
    grid = {"alpha": [1.0, 1e-4, 1e-2], "average": [False, True]}
    search = GridSearchCV(MODEL, grid, return_train_score=True).fit(X, Y)
    plot.cv_curve(search, "alpha", ax=ax)
    x, y = heights(ax, "held-out rows")
    assert x.tolist() == [1e-4, 1e-2, 1.0] and ax.get_xscale() == "log"
    mean, alpha = (search.cv_results_[key] for key in ("mean_test_score", "param_alpha"))
    best = [mean[alpha == value].max() for value in x]
    np.testing.assert_allclose(y, best)
    assert len(ax.collections) == 2 and ax.get_xlabel() == "alpha"


def test_picture_over_words_and_of_scikit_learns_search(ax):
    theirs = pytest.importorskip("sklearn.model_selection")
    search = theirs.GridSearchCV(
        SGDRegressor(**STEPS), {"loss": ["huber", "squared_error"], "alpha": [0.1]},
        scoring=["r2", "neg_mean_squared_error"], refit="r2",
    ).fit(X, TARGET)  # fmt: skip
    plot.cv_curve(search, ax=ax)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["huber", "squared_error"]
    assert ax.get_ylabel().startswith("r2 (")
    plot.cv_curve(search, metric="neg_mean_squared_error", ax=ax)
    with pytest.raises(ValueError, match="metric must be"):
        plot.cv_curve(search, metric="score", ax=ax)


def test_picture_of_convergence(ax):
    plot.convergence({"ours": ([2.0, 1.0, 4.0], [1e-3, 1e-1, 0.0]), "peer": ([3.0], [1e-2])}, ax=ax)
    x, y = heights(ax, "ours")
    assert x.tolist() == [1.0, 2.0, 4.0] and y.tolist() == [1e-1, 1e-3, 1e-3]
    assert ax.get_xscale() == ax.get_yscale() == "log"
    for wrong in ({}, {"ours": ([1.0], [])}, {"ours": ([], [])}):
        with pytest.raises(ValueError, match="curves must hold"):
            plot.convergence(wrong, ax=ax)


def test_picture_of_a_path(ax):
    path = regularization_path(X, TARGET, alphas=10)
    plot.regularization_path(path, ax=ax, most=2)
    assert len(ax.get_lines()) == 2 and ax.xaxis_inverted()
    largest = np.abs(path.coefs).max(axis=1).argmax()
    x, y = heights(ax, f"column {largest}")
    np.testing.assert_array_equal(x, path.alphas)
    np.testing.assert_array_equal(y, path.coefs[largest])


def test_pictures_that_can_not_be_drawn(ax, monkeypatch):
    search = GridSearchCV(MODEL, {"alpha": [0.1, 1.0], "average": [False, True]})
    with pytest.raises(ValueError, match="is not fitted yet"):
        plot.cv_curve(search)
    search.fit(X, Y)
    with pytest.raises(ValueError, match="param must say which parameter to draw"):
        plot.cv_curve(search)
    with pytest.raises(ValueError, match="param must be one of 'alpha', 'average', got 'beta'"):
        plot.cv_curve(search, "beta")
    with pytest.raises(TypeError, match="ax must be matplotlib axes"):
        plot.cv_curve(search, "alpha", ax="here")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r"pip install fastlin\[plot\]"):
        plot.cv_curve(search, "alpha")
