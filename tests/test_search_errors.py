"""What `GridSearchCV` says of bad input and failures, and that Ctrl-C ends it."""

import io
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from search_data import ALPHAS, NAMES, SGD, STEPS, X, Y

from fastlin import (
    FitFailedWarning,
    GridSearchCV,
    KFold,
    SGDClassifier,
    cross_val_score,
    load,
    save,
)
from fastlin._clone import clone


class Moody(SGDClassifier):
    """Fails where alpha is 1."""

    def fit(self, X, y):
        if self.alpha == 1.0:
            raise ValueError("not today")
        return super().fit(X, y)


def test_failed_fits_get_the_error_score():
    with pytest.warns(FitFailedWarning, match="3 of 9 fits failed, the first with: not today"):
        search = GridSearchCV(Moody(random_state=0, **STEPS), ALPHAS, cv=3, error_score=-5.0)
        search.fit(X, Y)
    results = search.cv_results_
    assert results["mean_test_score"][2] == -5.0 and results["rank_test_score"][2] == 3
    with pytest.warns() as caught:
        search.set_params(error_score=np.nan, scoring=["accuracy", "f1"], refit="f1").fit(X, Y)
    assert {w.category.__name__ for w in caught} == {"FitFailedWarning", "UserWarning"}
    assert np.isnan(search.cv_results_["split1_test_accuracy"][2])
    assert search.cv_results_["rank_test_f1"][2] == 3
    with pytest.raises(ValueError, match="^not today"):
        search.set_params(error_score="raise").fit(X, Y)
    with pytest.raises(ValueError, match="3 of 3 fits failed, the first with: not today"):
        GridSearchCV(Moody(), {"alpha": [1.0]}, cv=3).fit(X, Y)
    peers = pytest.importorskip("sklearn.exceptions")
    with pytest.warns(peers.FitFailedWarning):
        GridSearchCV(Moody(random_state=0, **STEPS), ALPHAS, cv=3, error_score=0.0).fit(X, Y)


def test_failed_scores_get_the_error_score():
    def moody(model, A, b):
        if model.alpha == 1.0:
            raise ValueError("no score")
        return 1.0

    with pytest.warns(UserWarning, match="Scoring failed with ValueError: no score"):
        search = GridSearchCV(SGD, ALPHAS, scoring=moody, error_score=0.5, cv=2).fit(X, Y)
    assert search.cv_results_["mean_test_score"].tolist() == [1.0, 1.0, 0.5]
    with pytest.raises(ValueError, match="^no score"):
        search.set_params(error_score="raise").fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"param_grid": {"alpha": 1.0}}, "list or an array of values for 'alpha', got 1.0"),
        ({"param_grid": {"loss": "hinge"}}, "values for 'loss', got 'hinge'; put a single value"),
        ({"param_grid": {"alpha": []}}, "at least one value for 'alpha'"),
        ({"param_grid": {"alpha": np.eye(2)}}, "one-dimensional values for 'alpha'"),
        ({"param_grid": 3}, "param_grid must be a dict"),
        ({"param_grid": []}, "param_grid must be a dict"),
        ({"param_grid": ["alpha"]}, "param_grid must hold dicts, got 'alpha'"),
        ({"param_grid": {"beta": [1]}}, "Invalid parameter 'beta'"),
        ({"scoring": "best"}, "scoring must be None, a function"),
        ({"scoring": []}, "scoring must not be empty"),
        ({"scoring": ["r2", "r2"]}, "scoring must be a list of different names"),
        ({"scoring": {1: "r2"}}, "scoring must be a dict whose keys are strings"),
        ({"scoring": lambda m, A, b: "good"}, "scoring must return a number, got 'good'"),
        ({"n_jobs": 0}, "n_jobs must be a positive number"),
        ({"n_jobs": 1.5}, "n_jobs must be an integer"),
        ({"refit": 3}, "refit must be"),
        ({"cv": 1}, "cv must be an integer >= 2"),
        ({"cv": "five"}, "cv must be a number of folds"),
        ({"cv": []}, "cv must give at least one"),
        ({"cv": [3]}, "cv must give pairs"),
        ({"cv": [([0.5], [1])]}, "cv must give rows as numbers"),
        ({"cv": [([0, 500], [1])]}, "cv gave the row 500, but X has 120"),
        ({"verbose": -1}, "verbose must be"),
        ({"pre_dispatch": 0}, "pre_dispatch must be"),
        ({"error_score": "skip"}, "error_score must be"),
        ({"return_train_score": 1}, "return_train_score must be True or False"),
        ({"memory_limit": 0}, "memory_limit must be an integer >= 1"),
        ({"estimator": 3}, "estimator must be an object with fit"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        GridSearchCV(**{"estimator": SGD, "param_grid": ALPHAS, **options}).fit(X, Y)


def test_bad_data_are_named():
    with pytest.raises(ValueError, match="same number of rows: 120 and 5"):
        GridSearchCV(SGD, ALPHAS).fit(X, Y[:5])
    with pytest.raises(TypeError, match="rows that can be chosen"):
        GridSearchCV(SGD, ALPHAS).fit(iter(X), Y)
    with pytest.raises(ValueError, match="15 of 15 fits failed.*y"):
        GridSearchCV(SGD, ALPHAS).fit(X)
    holed = X.copy()
    holed[7, 2] = np.nan
    with pytest.raises(ValueError, match="15 of 15 fits failed.*NaN, first at row 7, column 2"):
        GridSearchCV(SGD, ALPHAS).fit(holed, Y)
    # trained alone, models fail where the row is among those to train on
    alone = Moody(random_state=0, **STEPS)
    with pytest.warns(UserWarning, match="Scoring failed with ValueError: Input X contains NaN"):
        with pytest.warns(FitFailedWarning, match="4 of 5 fits failed, .*row"):
            scores = cross_val_score(alone, holed, Y)
    assert np.isnan(scores).all()
    with pytest.warns(UserWarning, match="pre_dispatch=4 has no effect"):
        cross_val_score(SGD, X, Y, pre_dispatch=4)


def test_absent_classes_are_announced_once():
    order = np.argsort(NAMES, kind="stable")
    with pytest.warns(UserWarning) as caught:
        search = GridSearchCV(SGD, ALPHAS, cv=KFold(3)).fit(X[order], NAMES[order])
    lacking = [str(w.message) for w in caught if "lack a class" in str(w.message)]
    assert len(lacking) == 1 and "folds 0, 2 lack a class" in lacking[0]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_ctrl_c_ends_a_search():
    seen = []

    class Interrupting(SGDClassifier):
        def fit(self, X, y):
            seen.append(1)
            time.sleep(0.02)
            raise KeyboardInterrupt

    for n_jobs in (None, 2):
        seen.clear()
        with pytest.raises(KeyboardInterrupt):
            GridSearchCV(Interrupting(), {"alpha": [0.1] * 50}, n_jobs=n_jobs).fit(X, Y)
        assert 1 <= len(seen) < 250


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("grid", [{"alpha": [0.1, 0.2]}, {"alpha": [0.1], "average": [True]}])
def test_an_interrupted_search_leaves_the_earlier_one(grid, n_jobs):
    search = GridSearchCV(clone(SGD), grid, cv=2, n_jobs=n_jobs).fit(X, Y)
    before = dict(vars(search))
    search.estimator.max_iter = 10**9
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            search.fit(X[:, :3], Y)
    finally:
        timer.cancel()
    assert vars(search) == before


def test_no_search_loads_scikit_learn(tmp_path):
    code = (
        "import sys, numpy; from fastlin import *;"
        "X = numpy.random.default_rng(0).normal(size=(90, 3));"
        "y = X[:, 0] > 0; model = SGDClassifier(random_state=0);"
        "GridSearchCV(model, {'alpha': [1e-4, 1e-2]}, scoring='roc_auc').fit(X, y).score(X, y);"
        "GridSearchCV(make_pipeline(model), {'sgdclassifier__alpha': [1e-4]}).fit(X, y).classes_;"
        "cross_validate(model, X, y, scoring=['f1']); learning_curve(model, X, y);"
        "cross_val_predict(model, X, y, cv=LeaveOneOut());"
        "print([m for m in ('sklearn', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    # elsewhere, since Python would find uncompiled sources in the current folder first
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.strip() == "[]"


def test_the_best_estimator_is_what_is_stored():
    search = GridSearchCV(SGD, ALPHAS, cv=3).fit(X, Y)
    with pytest.raises(TypeError, match="such as GridSearchCV, .* save its best_estimator_"):
        save(search, io.BytesIO())
    file = io.BytesIO()
    save(search.best_estimator_, file)
    file.seek(0)
    np.testing.assert_array_equal(load(file).predict(X), search.predict(X))


def test_progress_is_printed(capsys):
    GridSearchCV(SGD, ALPHAS, cv=2, verbose=2).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Fitting 2 folds for each of 3 candidates: 6 fits"
    assert len(lines) == 7
    assert lines[1].startswith("[fold 1 of 2] alpha=0.0001; score 0.")
