"""`GridSearchCV` against scikit-learn's and against plain loops."""

import importlib
import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from search_data import ALPHAS, NAMES, RNG, SGD, STEPS, TARGET, X, Y

from fastlin import GridSearchCV, SGDClassifier, StratifiedKFold, as_rows, cross_val_score
from fastlin._clone import clone


def assert_same_results(ours, theirs):
    """Equal keys, in order; equal values but for the times."""
    assert list(ours) == list(theirs)
    for key, expected in theirs.items():
        got = ours[key]
        assert type(got) is type(expected), key
        if "time" in key:
            assert got.shape == expected.shape and (got >= 0).all()
        elif key == "params":
            assert got == expected
        elif key.startswith("param_"):
            assert got.dtype == expected.dtype, key
            assert got.mask.tolist() == expected.mask.tolist()
            assert got.compressed().tolist() == expected.compressed().tolist()
        else:
            assert got.dtype == expected.dtype, key
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14, err_msg=key)


CASES = {
    "ridge": ("linear_model.Ridge", {}, {"alpha": [0.1, 1.0, 10.0]}, TARGET, {}),
    "several grids": (
        "neighbors.KNeighborsClassifier",
        {},
        [{"n_neighbors": [1, 3]}, {"weights": ["distance"], "p": [1, 2.0]}, {}],
        NAMES,
        {"return_train_score": True},
    ),
    "several scores": (
        "neighbors.KNeighborsClassifier",
        {},
        {"n_neighbors": np.array([1, 3, 5])},
        Y,
        {"scoring": ["accuracy", "roc_auc", "f1"], "refit": "roc_auc", "cv": 3},
    ),
    "errors": (
        "linear_model.Ridge",
        {},
        {"alpha": [1.0, -1.0]},
        TARGET,
        {"scoring": {"a": "r2", "b": "neg_root_mean_squared_error"}, "refit": "b"},
    ),
    "scorer of scikit-learn": (
        "linear_model.Ridge",
        {},
        {"alpha": [1.0, 2.0], "positive": [True, False]},
        TARGET,
        {"scoring": "neg_median_absolute_error", "cv": 4},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_results_are_those_of_scikit_learn(case):
    pytest.importorskip("sklearn.metrics")
    theirs = pytest.importorskip("sklearn.model_selection")
    path, params, grid, y, options = CASES[case]
    module, _, name = path.partition(".")
    model = getattr(importlib.import_module(f"sklearn.{module}"), name)(**params)
    with warnings.catch_warnings():
        if case == "errors":
            warnings.simplefilter("ignore")
        ours = GridSearchCV(model, grid, n_jobs=2, **options).fit(X, y)
        peer = theirs.GridSearchCV(model, grid, **options).fit(X, y)
    assert_same_results(ours.cv_results_, peer.cv_results_)
    if "best_score_" in vars(peer):
        assert ours.best_score_ == pytest.approx(peer.best_score_, rel=1e-14)
    for attribute in ("best_index_", "best_params_", "n_splits_", "multimetric_"):
        assert getattr(ours, attribute) == getattr(peer, attribute), attribute
    np.testing.assert_array_equal(ours.predict(X), peer.predict(X))
    assert ours.score(X, y) == pytest.approx(peer.score(X, y), rel=1e-12)
    assert ours.n_features_in_ == 5
    assert type(ours.scorer_ == {}) is type(peer.scorer_ == {})
    public = {name for name in vars(peer) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(dir(ours)) | {"classes_"}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, as_rows, np.ndarray.tolist])
def test_search_equals_a_loop(layout):
    """On the way fold by fold; the loop is all that the search promises."""
    grid = {"penalty": ["l2", "l1"], "alpha": [1e-3, 1e-1]}
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    search = GridSearchCV(Alone(random_state=3, **STEPS), grid, cv=cv)
    search.fit(layout(X), NAMES)
    for place, (alpha, penalty) in enumerate(itertools.product([1e-3, 1e-1], ["l2", "l1"])):
        for fold, (train, test) in enumerate(cv.split(X, NAMES)):
            model = SGDClassifier(penalty=penalty, alpha=alpha, random_state=3, **STEPS)
            expected = model.fit(X[train], NAMES[train]).score(X[test], NAMES[test])
            assert search.cv_results_[f"split{fold}_test_score"][place] == expected
    assert search.cv_results_["params"][1] == {"alpha": 1e-3, "penalty": "l1"}
    whole = clone(search.estimator).set_params(**search.best_params_).fit(X, NAMES)
    np.testing.assert_array_equal(whole.coef_, search.best_estimator_.coef_)
    np.testing.assert_array_equal(search.decision_function(X), whole.decision_function(X))


class Alone(SGDClassifier):
    """Of a class of its own, so that it is fitted fold by fold."""


def test_sgd_fold_by_fold_equals_scikit_learns_search():
    theirs = pytest.importorskip("sklearn.model_selection")
    model = Alone(loss="log_loss", random_state=3, **STEPS)
    options = {"cv": 3, "return_train_score": True}
    ours = GridSearchCV(model, ALPHAS, **options).fit(X, NAMES)
    peer = theirs.GridSearchCV(model, ALPHAS, **options).fit(X, NAMES)
    assert_same_results(ours.cv_results_, peer.cv_results_)
    assert ours.best_params_ == peer.best_params_
    np.testing.assert_array_equal(ours.predict_proba(X), peer.predict_proba(X))


@pytest.mark.parametrize("model", [SGD, Alone(random_state=3, **STEPS)])
def test_threads_change_nothing(model):
    searches = [
        GridSearchCV(model, ALPHAS, n_jobs=n, return_train_score=True).fit(X, NAMES)
        for n in (None, 2, 3)
    ]
    first = searches[0].cv_results_
    for other in searches[1:]:
        for key in first:
            if "score" in key and "time" not in key:
                np.testing.assert_array_equal(first[key], other.cv_results_[key])
        np.testing.assert_array_equal(
            searches[0].best_estimator_.coef_, other.best_estimator_.coef_
        )


def test_estimator_and_grid_stay_as_they_are():
    model, grid = clone(SGD), {"alpha": [0.1, 1.0], "class_weight": [{0: 1.0, 1: 2.0}]}
    search = GridSearchCV(model, grid, cv=3)
    params = search.get_params()
    assert params["estimator"] is model and params["estimator__alpha"] == model.alpha
    search.fit(X, Y)
    assert search.estimator is model and not hasattr(model, "coef_")
    assert search.best_estimator_.class_weight is not grid["class_weight"][0]
    twin = clone(search)
    assert not hasattr(twin, "cv_results_") and twin.param_grid == grid
    assert twin.set_params(estimator__eta0=0.5).estimator.eta0 == 0.5
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_refit_by_function_or_not_at_all():
    def simplest(results):
        return int(np.argmax([p["alpha"] for p in results["params"]]))

    search = GridSearchCV(SGD, ALPHAS, refit=simplest, cv=3).fit(X, Y)
    assert search.best_params_ == {"alpha": 1.0} and not hasattr(search, "best_score_")
    search.set_params(refit=False).fit(X, Y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert not hasattr(search, "best_estimator_") and not hasattr(search, "predict")
    assert not hasattr(search, "refit_time_")
    with pytest.raises(AttributeError, match="refit=False"):
        search.score(X, Y)
    for bad, error in ((lambda r: 0.5, TypeError), (lambda r: 3, IndexError)):
        with pytest.raises(error, match="best_index_"):
            GridSearchCV(SGD, ALPHAS, refit=bad, cv=3).fit(X, Y)


def test_several_scores_need_one_that_decides():
    scoring = {"right": "accuracy", "mine": lambda m, A, b: float(-np.abs(m.coef_).sum())}
    with pytest.raises(ValueError, match="refit must be the name of the score that decides"):
        GridSearchCV(SGD, ALPHAS, scoring=scoring).fit(X, Y)
    search = GridSearchCV(SGD, ALPHAS, scoring=scoring, refit="mine", cv=3).fit(X, Y)
    assert search.multimetric_ and set(search.scorer_) == {"right", "mine"}
    assert search.best_params_ == {"alpha": 1.0}
    assert search.score(X, Y) == -np.abs(search.best_estimator_.coef_).sum()
    search.set_params(refit=lambda results: 1).fit(X, Y)
    assert search.best_params_ == {"alpha": 1e-2}
    with pytest.raises(ValueError, match="score needs refit to be the name"):
        search.score(X, Y)
    loose = GridSearchCV(SGD, ALPHAS, scoring=scoring, refit=False, cv=3).fit(X, Y)
    assert not hasattr(loose, "best_index_")


def test_a_function_may_return_several_scores():
    def both(model, A, b):
        return {"one": model.score(A, b), "two": 1.0}

    search = GridSearchCV(SGD, ALPHAS, scoring=both, refit="one", cv=3).fit(X, Y)
    plain = GridSearchCV(SGD, ALPHAS, cv=3).fit(X, Y)
    np.testing.assert_array_equal(
        search.cv_results_["mean_test_one"], plain.cv_results_["mean_test_score"]
    )
    assert search.multimetric_ and search.score(X, Y) == plain.score(X, Y)
    with pytest.raises(ValueError, match="refit must be"):
        GridSearchCV(SGD, ALPHAS, scoring=both, cv=3).fit(X, Y)


def test_delegated_methods_are_those_of_the_estimator():
    search = GridSearchCV(SGDClassifier(), ALPHAS)
    assert hasattr(search, "decision_function") and not hasattr(search, "transform")
    assert not hasattr(search, "predict_proba") and not hasattr(search, "classes_")
    assert not hasattr(search, "n_features_in_")
    with pytest.raises(ValueError, match="GridSearchCV is not fitted yet"):
        search.predict(X)
    search = GridSearchCV(SGD, ALPHAS, cv=3).fit(X, NAMES)
    assert search.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(np.exp(search.predict_log_proba(X)).sum(axis=1), 1)
    assert search._estimator_type == "classifier"
    assert search.score(X, NAMES) > 0.7


def test_frames_give_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    search = GridSearchCV(SGD, ALPHAS, cv=3).fit(frame, pd.Series(NAMES, index=range(5, 125)))
    assert search.feature_names_in_.tolist() == list("abcde")
    plain = GridSearchCV(SGD, ALPHAS, cv=3).fit(X, NAMES)
    assert search.best_score_ == plain.best_score_
    search.fit(X, NAMES)
    assert not hasattr(search, "feature_names_in_")


@pytest.mark.parametrize("name", ["Ridge", "PCA pipeline", "SGDClassifier"])
@pytest.mark.filterwarnings("ignore")
def test_check_estimator(name):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    from sklearn.decomposition import PCA
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import Pipeline

    model, grid = {
        "Ridge": (Ridge(), {"alpha": [0.1, 1.0]}),
        "PCA pipeline": (Pipeline([("pca", PCA()), ("r", Ridge())]), {"r__alpha": [0.1, 1.0]}),
        "SGDClassifier": (SGDClassifier(random_state=0), {"alpha": [1e-3, 1e-2]}),
    }[name]
    # the former two are expected of scikit-learn's own class, too: its fold hides the warning, and
    # arguments of fit have no names; then an error about one class may not speak of classes
    expected = {"check_supervised_y_2d", "check_classifiers_one_label_sample_weights"}
    failed = []
    search = GridSearchCV(model, grid, cv=2, error_score="raise")
    for estimator, check in checks.estimator_checks_generator(search):
        try:
            check(estimator)
        except Exception as error:
            name = getattr(check, "func", check).__name__
            if name not in expected and type(error).__name__ != "SkipTest":
                failed.append(f"{name}: {error}")
    assert failed == []


def test_inside_scikit_learn():
    theirs = pytest.importorskip("sklearn.model_selection")
    from sklearn.base import clone as their_clone
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    search = GridSearchCV(SGD, ALPHAS, cv=3)
    nested = theirs.cross_val_score(search, X, NAMES, cv=3)
    np.testing.assert_array_equal(nested, cross_val_score(search, X, NAMES, cv=3))
    np.testing.assert_array_equal(nested, cross_val_score(their_clone(search), X, NAMES, cv=3))
    piped = make_pipeline(StandardScaler(), search).fit(X, NAMES)
    assert piped.score(X, NAMES) > 0.7
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(search.fit(X, NAMES))


def test_groups_and_weights_are_passed_on():
    theirs = pytest.importorskip("sklearn.model_selection")
    from sklearn.linear_model import Ridge

    groups, weight = np.arange(120) % 10, RNG.integers(1, 4, 120).astype(float)
    options = {"cv": theirs.GroupKFold(4), "scoring": "r2"}
    ours = GridSearchCV(Ridge(), {"alpha": [0.1, 100.0]}, **options)
    peer = theirs.GridSearchCV(Ridge(), {"alpha": [0.1, 100.0]}, **options)
    for params in ({"groups": groups}, {"groups": groups, "sample_weight": weight}):
        assert_same_results(
            ours.fit(X, TARGET, **params).cv_results_, peer.fit(X, TARGET, **params).cv_results_
        )
    ours.set_params(scoring=lambda m, A, b: m.score(A, b))
    with pytest.warns(UserWarning, match="does not support sample_weight"):
        ours.fit(X, TARGET, groups=groups, sample_weight=weight)
    with pytest.raises(ValueError, match="groups"):
        ours.fit(X, TARGET)


def test_metadata_routing():
    sklearn = pytest.importorskip("sklearn")
    theirs = pytest.importorskip("sklearn.model_selection")
    weight, groups = np.where(Y == 1, 5.0, 1.0), np.arange(120) % 10
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(SGD).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        options = {"cv": theirs.GroupKFold(3), "return_train_score": True}
        given = {"sample_weight": weight, "groups": groups}
        ours = GridSearchCV(model, ALPHAS, n_jobs=2, **options).fit(X, Y, **given)
        peer = theirs.GridSearchCV(model, ALPHAS, **options).fit(X, Y, **given)
        assert_same_results(ours.cv_results_, peer.cv_results_)
        scores = cross_val_score(model, X, Y, cv=options["cv"], params=given)
        expected = theirs.cross_val_score(model, X, Y, cv=options["cv"], params=given)
        np.testing.assert_array_equal(scores, expected)
        assert ours.score(X, Y, sample_weight=weight) == peer.score(X, Y, sample_weight=weight)
        with pytest.raises(ValueError, match="sample_weight"):
            GridSearchCV(SGD, ALPHAS).fit(X, Y, sample_weight=weight)
        with pytest.raises(ValueError, match="groups can't be passed"):
            cross_val_score(model, X, Y, groups=groups)
    with pytest.raises(ValueError, match="only where scikit-learn's metadata routing"):
        ours.score(X, Y, sample_weight=weight)
