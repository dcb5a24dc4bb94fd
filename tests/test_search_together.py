"""What the search makes of models that train together. The engine, and one that keeps to its
contract at the pace of one model at a time, give the results of fitting fold by fold: the learners
here leave rows in their own order."""

import numpy as np
import pytest

from fastlin import (
    GridSearchCV,
    Pipeline,
    SGDClassifier,
    SGDRegressor,
    as_rows,
    cross_val_predict,
    cross_validate,
    learning_curve,
)
from fastlin import _folds_run as runs
from fastlin._base import Estimator, TransformerMixin
from fastlin._clone import clone
from fastlin._onepass import fit_together, fits_together
from fastlin._row_slices import rows_taken

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
Y = (X @ [1.0, -1.0, 0.5, 0.0, 0.0] > 0).astype(int)
NAMES = np.array(["c", "a", "b"])[X[:, :3].argmax(axis=1)]
TARGET = X @ [1.0, -2.0, 0.5, 0.0, 0.0]
STEPS = {"learning_rate": "invscaling", "eta0": 0.2, "max_iter": 5, "tol": None}
STEPS["shuffle"] = False
SGD = SGDClassifier(loss="log_loss", **STEPS)
ALPHAS = {"alpha": [1e-4, 1e-2, 1.0]}


class Real:
    """The engine, and a record of its calls."""

    def __init__(self):
        self.calls = []
        self.fits_together = fits_together

    def fit_together(self, estimators, *data, memory_limit=None, n_jobs=None, **options):
        self.calls.append((len(estimators), memory_limit, n_jobs))
        return fit_together(
            estimators, *data, memory_limit=memory_limit, n_jobs=n_jobs, **options
        )


class Double:
    """Keeps to the contract of the engine, at the pace of one model at a time."""

    def __init__(self):
        self.calls = []
        self.failing = ()

    def fits_together(self, estimator):
        return type(estimator) in (SGDClassifier, SGDRegressor)

    def fit_together(
        self, estimators, X, y, train, test=None, *, sample_weight=None, n_jobs=None,
        memory_limit=None, random_state=None, keep=True, among=None,
    ):  # fmt: skip
        self.calls.append((len(estimators), memory_limit, n_jobs))
        rows, answers = as_rows(X), []
        for m, estimator in enumerate(estimators):
            part = rows_taken(rows, train[m])
            weight = {} if sample_weight is None else {"sample_weight": sample_weight[train[m]]}
            if estimator.alpha in self.failing:
                answers.append(ValueError("overflow"))
                continue
            estimator.fit(part, y[train[m]], **weight)
            classifies = isinstance(estimator, SGDClassifier)
            respond = estimator.decision_function if classifies else estimator.predict
            answers.append(None if test is None else respond(rows_taken(rows, test[m])))
        return answers


def put(engine, monkeypatch):
    monkeypatch.setattr(runs, "fits_together", engine.fits_together)
    monkeypatch.setattr(runs, "fit_together", engine.fit_together)
    return engine


@pytest.fixture(params=[Real, Double])
def engine(request, monkeypatch):
    return put(request.param(), monkeypatch)


@pytest.fixture
def double(monkeypatch):
    return put(Double(), monkeypatch)


def both(engine, monkeypatch, compute):
    """Results with the engine, and fold by fold."""
    together = compute()
    assert engine.calls
    with monkeypatch.context() as patched:
        patched.setattr(runs, "fits_together", lambda estimator: False)
        return together, compute()


def assert_same(ours, expected):
    assert list(ours) == list(expected)
    for key in ours:
        if "score" in key and "time" not in key:
            np.testing.assert_allclose(ours[key], expected[key], rtol=1e-12, err_msg=key)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "scoring",
    [None, "accuracy", ["accuracy", "f1_macro", "neg_log_loss"], lambda m, A, b: len(b) / len(A)],
)
@pytest.mark.parametrize("y", [Y, NAMES], ids=["two classes", "three"])
def test_searches(engine, monkeypatch, y, scoring, n_jobs):
    search = GridSearchCV(
        SGD, ALPHAS, scoring=scoring, refit=False, return_train_score=True, cv=4, n_jobs=n_jobs,
        memory_limit=10**8,
    )  # fmt: skip
    ours, alone = both(engine, monkeypatch, lambda: search.fit(X, y).cv_results_)
    assert_same(ours, alone)
    assert engine.calls == [(12, 10**8, n_jobs)]
    assert (ours["mean_fit_time"] > 0).all()


def test_mixed_grids_part(engine, monkeypatch):
    class Alone(SGDClassifier):
        """No model of the engine's."""

    model = Pipeline([("sgd", SGD)])
    grid = {"sgd": [SGD, Alone(**STEPS)], "sgd__alpha": [1e-3, 1e-1]}
    search = GridSearchCV(model, grid, cv=3, refit=False)
    assert_same(*both(engine, monkeypatch, lambda: search.fit(X, NAMES).cv_results_))


def test_regression_weights_and_estimators(engine, monkeypatch):
    weight = RNG.integers(1, 4, 120).astype(float)
    ours, alone = both(
        engine,
        monkeypatch,
        lambda: cross_validate(
            SGDRegressor(**STEPS), as_rows(X), TARGET, params={"sample_weight": weight},
            scoring=["r2", "neg_mean_absolute_error"], return_estimator=True,
        ),
    )  # fmt: skip
    assert_same(ours, alone)
    for one, other in zip(ours["estimator"], alone["estimator"], strict=True):
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-10)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_log_proba"])
def test_held_out_answers(engine, monkeypatch, method):
    ours, alone = both(
        engine, monkeypatch, lambda: cross_val_predict(SGD, X, NAMES, method=method)
    )
    if method == "predict":
        assert ours.tolist() == alone.tolist()
    else:
        np.testing.assert_allclose(ours, alone, rtol=1e-12)
    with pytest.raises(AttributeError, match="probabilities are not available for loss='hinge'"):
        cross_val_predict(SGDClassifier(**STEPS), X, NAMES, method="predict_proba")


def test_learning_curves(engine, monkeypatch):
    ours, alone = both(engine, monkeypatch, lambda: learning_curve(SGD, X, Y, cv=3))
    assert engine.calls == [(15, None, None)]
    for got, expected in zip(ours, alone, strict=True):
        np.testing.assert_allclose(got, expected)


class Centred(TransformerMixin, Estimator):
    """Subtracts the mean of the training rows."""

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_last_steps_train_together_in_each_fold(engine, monkeypatch, n_jobs):
    model = Pipeline([("centre", Centred()), ("sgd", SGD)])
    weight = RNG.integers(1, 4, 120).astype(float)
    search = GridSearchCV(
        model, {"sgd__alpha": [1e-4, 1e-2, 1.0]}, cv=4, refit=False, return_train_score=True,
        n_jobs=n_jobs,
    )  # fmt: skip
    ours, alone = both(
        engine,
        monkeypatch,
        lambda: search.fit(X, NAMES, sgd__sample_weight=weight).cv_results_,
    )
    assert_same(ours, alone)
    assert engine.calls == [(3, None, 1)] * 4


def test_failures_are_those_of_single_models(double):
    double.failing = (1e-2,)
    with pytest.warns(RuntimeWarning, match="5 of 15 fits failed, the first with: overflow"):
        search = GridSearchCV(SGD, ALPHAS, error_score=-1.0).fit(X, Y)
    assert search.cv_results_["mean_test_score"][1] == -1.0
    with pytest.raises(ValueError, match="overflow"):
        search.set_params(error_score="raise").fit(X, Y)
    holed = X.copy()
    holed[3, 1] = np.inf
    with pytest.raises(ValueError, match="15 of 15 fits failed.*infinity.*row 3, column 1"):
        search.set_params(error_score=0.0).fit(holed, Y)


def test_other_arguments_of_fit_keep_models_apart(engine):
    cross_validate(SGD, X, Y, params={"coef_init": np.zeros((1, 5))})
    assert engine.calls == []


def test_models_that_memory_does_not_hold_come_in_batches(double, monkeypatch):
    # 8 bytes for each row, and for models that a scorer asks for 24 for each of 5 columns and 3
    # classes: 16 models are the least
    search = GridSearchCV(SGD, {"alpha": np.logspace(-4, 0, 10)}, cv=4, refit=False)
    for scoring, one in ((lambda model, X, y: model.score(X, y), 8 * len(X) + 360),
                         (None, 8 * len(X))):
        for limit, sizes in (
            (1, [16, 16, 8]), (33 * one, [32, 8]), (40 * one, [32, 8]), (None, [40])
        ):  # fmt: skip
            double.calls.clear()
            search.set_params(memory_limit=limit, scoring=scoring).fit(X, NAMES)
            assert [size for size, *_ in double.calls] == sizes
    assert_same(*both(double, monkeypatch, lambda: search.fit(X, NAMES).cv_results_))


def test_rows_that_are_no_mask_keep_models_apart(engine):
    """Rows drawn with replacement, and an order of rows that the learner keeps."""
    rng = np.random.default_rng(0)
    test = np.arange(100, 120)
    drawn, mixed, rising = rng.integers(0, 100, 100), rng.permutation(100), np.arange(100)
    for shuffle, train, n in (
        (True, drawn, 0), (True, mixed, 1), (True, rising, 1), (False, drawn, 0),
        (False, mixed, 0), (False, rising, 1),
    ):  # fmt: skip
        engine.calls.clear()
        model = clone(SGD).set_params(shuffle=shuffle, random_state=3)
        got = cross_validate(model, X, NAMES, cv=[(train, test)])["test_score"]
        assert len(engine.calls) == n
        if not n:
            expected = model.fit(X[train], NAMES[train]).score(X[test], NAMES[test])
            assert got.tolist() == [expected]
