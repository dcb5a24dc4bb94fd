"""`cross_validate` and `cross_val_predict` against scikit-learn's and against plain loops."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from search_data import NAMES, SGD, STEPS, TARGET, X, Y

from fastlin import (
    KFold,
    LeaveOneOut,
    LogisticRegression,
    SGDClassifier,
    SGDRegressor,
    as_rows,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from fastlin._clone import clone
from fastlin._oof import set_out_of_fold


def test_cross_validate_is_that_of_scikit_learn():
    theirs = pytest.importorskip("sklearn.model_selection")
    from sklearn.neighbors import KNeighborsClassifier

    options = {
        "cv": 3, "scoring": ("accuracy", "balanced_accuracy"), "return_train_score": True,
        "return_estimator": True, "return_indices": True,
    }  # fmt: skip
    ours = cross_validate(KNeighborsClassifier(), X, NAMES, **options)
    peer = theirs.cross_validate(KNeighborsClassifier(), X, NAMES, **options)
    assert list(ours) == list(peer)
    for key in peer:
        if key.startswith(("test", "train")):
            np.testing.assert_allclose(ours[key], peer[key], rtol=1e-14)
    for part in ("train", "test"):
        for got, expected in zip(ours["indices"][part], peer["indices"][part], strict=True):
            np.testing.assert_array_equal(got, expected)
    assert [type(model) for model in ours["estimator"]] == [KNeighborsClassifier] * 3
    assert set(cross_validate(SGD, X, Y)) == {"fit_time", "score_time", "test_score"}
    with pytest.raises(ValueError, match="must give one score in cross_val_score"):
        cross_val_score(SGD, X, Y, scoring=lambda m, A, b: {"a": 1.0, "b": 2.0})


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix, as_rows])
@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_proba"])
def test_held_out_predictions(method, layout):
    cv = KFold(4, shuffle=True, random_state=0)
    got = cross_val_predict(SGD, layout(X), NAMES, cv=cv, method=method)
    assert got.shape == ((120,) if method == "predict" else (120, 3))
    scores = cross_val_score(SGD, layout(X), NAMES, cv=cv)
    for (_, test), score in zip(cv.split(X), scores, strict=True):
        said = got[test] if method == "predict" else np.array(["a", "b", "c"])[got[test].argmax(1)]
        assert np.mean(said == NAMES[test]) == pytest.approx(score)


def test_held_out_predictions_are_those_of_scikit_learn():
    theirs = pytest.importorskip("sklearn.model_selection")
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(3)
    y = np.where(np.arange(120) < 8, "z", NAMES)
    for method in ("predict", "predict_proba"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = theirs.cross_val_predict(model, X, y, cv=KFold(5), method=method)
        with pytest.warns(UserWarning, match="fold 0 lacks a class"):
            got = cross_val_predict(model, X, y, cv=KFold(5), method=method, n_jobs=2)
        np.testing.assert_array_equal(got, expected)


def test_two_classes_of_three_have_two_decisions():
    order = np.argsort(NAMES, kind="stable")
    A, y = X[order], NAMES[order]
    folds = [(np.flatnonzero(y != label), np.flatnonzero(y == label)) for label in "abc"]
    with pytest.warns(UserWarning, match="folds 0, 1, 2 lack a class"):
        z = cross_val_predict(SGD, A, y, cv=folds, method="decision_function")
    lowest = np.finfo(np.float64).min
    assert (z[y == "a", 0] == lowest).all() and (z[y == "c", 2] == lowest).all()
    np.testing.assert_array_equal(z[y == "a", 1], -z[y == "a", 2])
    model = clone(SGD).fit(A[y != "a"], y[y != "a"])
    np.testing.assert_allclose(z[y == "a", 2], model.decision_function(A[y == "a"]))


def test_series_of_labels_are_labels():
    pd = pytest.importorskip("pandas")
    labels = pd.Series(np.where(np.arange(120) < 8, "z", NAMES), index=np.arange(120)[::-1])
    for y in (labels, labels.to_numpy()[:, None]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            z = cross_val_predict(SGD, X, y, cv=KFold(5), method="decision_function")
        assert z.shape == (120, 4)
        assert (z[:24, 3] == np.finfo(np.float64).min).all() and np.abs(z[24:]).max() < 1e3


def test_a_softmax_on_a_frame_does_not_miss_its_names():
    pd = pytest.importorskip("pandas")
    columns = np.random.default_rng(0).normal(size=(60, 2))
    y = np.digitize(columns[:, 0], [-0.5, 0.5])
    frame = pd.DataFrame(columns, columns=["u", "v"])
    # warnings are errors here
    found = [cross_val_predict(LogisticRegression(), given, y) for given in (frame, columns)]
    np.testing.assert_array_equal(*found)


def test_held_out_predictions_need_a_partition():
    with pytest.raises(ValueError, match="must test each row exactly once"):
        cross_val_predict(SGD, X, Y, cv=[(np.arange(60), np.arange(60, 119))])
    with pytest.raises(ValueError, match="must test each row exactly once"):
        cross_val_predict(SGD, X, Y, cv=[(np.arange(60), np.r_[0:120, 3])])
    with pytest.raises(ValueError, match="method must be"):
        cross_val_predict(SGD, X, Y, method="fit")
    with pytest.raises(AttributeError, match="probabilities are not available"):
        cross_val_predict(SGDClassifier(**STEPS), X, Y, method="predict_proba")


def test_leave_one_out():
    theirs = pytest.importorskip("sklearn.model_selection")
    ours = [(a.tolist(), b.tolist()) for a, b in LeaveOneOut().split(X[:9])]
    peer = [(a.tolist(), b.tolist()) for a, b in theirs.LeaveOneOut().split(X[:9])]
    assert ours == peer and LeaveOneOut().get_n_splits(X) == 120
    assert repr(LeaveOneOut()) == "LeaveOneOut()"
    with pytest.raises(ValueError, match="at least 2 rows"):
        list(LeaveOneOut().split([1]))
    model = SGDRegressor(random_state=0, **STEPS)
    left_out = cross_val_predict(model, X[:30], TARGET[:30], cv=LeaveOneOut())
    assert left_out.shape == (30,)
    with pytest.raises(ValueError, match="X must be given"):
        LeaveOneOut().get_n_splits(None)


def test_precomputed_kernels_are_split_both_ways():
    svm = pytest.importorskip("sklearn.svm")
    kernel = X @ X.T
    by_kernel = cross_val_score(svm.SVC(kernel="precomputed"), kernel, Y)
    np.testing.assert_array_equal(by_kernel, cross_val_score(svm.SVC(kernel="linear"), X, Y))
    theirs = pytest.importorskip("sklearn.model_selection")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KernelCenterer

    centred = make_pipeline(KernelCenterer(), svm.SVC(kernel="precomputed"))
    expected = theirs.cross_val_score(centred, kernel, Y)
    np.testing.assert_array_equal(cross_val_score(centred, kernel, Y), expected)


# What comes with a fit --------------------------------------------------------------------------


@pytest.mark.parametrize("y", [Y, NAMES, TARGET], ids=["two classes", "three", "numbers"])
def test_out_of_fold_answers(y):
    cls = SGDRegressor if y is TARGET else SGDClassifier
    model = cls(random_state=3, **STEPS)
    rows = as_rows(X)
    set_out_of_fold(model, rows, y, None, 4)
    method = "predict" if y is TARGET else "decision_function"
    np.testing.assert_array_equal(
        model.oof_decision_, cross_val_predict(model, rows, y, cv=4, method=method)
    )
    assert model.score_cv_ == pytest.approx(cross_val_score(model, rows, y, cv=4).mean())
    assert not hasattr(model, "coef_")
    set_out_of_fold(model, rows, y, None, None)
    assert not hasattr(model, "oof_decision_") and not hasattr(model, "score_cv_")
    with pytest.raises(ValueError, match="must test each row exactly once"):
        set_out_of_fold(model, rows, y, None, [(np.arange(60), np.arange(60, 119))])


def test_out_of_fold_answers_are_weighted():
    weight = np.where(np.arange(120) % 4, 1.0, 3.0)
    model = SGDClassifier(random_state=3, **STEPS)
    set_out_of_fold(model, as_rows(X), Y, weight, KFold(3))
    expected = []
    for _, test in KFold(3).split(X):
        right = (model.oof_decision_[test] > 0) == Y[test]
        expected.append(np.average(right, weights=weight[test]))
    assert model.score_cv_ == pytest.approx(np.mean(expected))
    plain = clone(model)
    set_out_of_fold(plain, as_rows(X), Y, None, KFold(3))
    assert not np.array_equal(plain.oof_decision_, model.oof_decision_)
