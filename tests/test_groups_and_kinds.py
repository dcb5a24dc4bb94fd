"""Groups of rows in the estimators that choose by folds, and scores of the wrong kind of answer."""

from fractions import Fraction

import numpy as np
import pytest

from fastlin import (
    ElasticNetCV,
    GridSearchCV,
    KernelSVC,
    LassoCV,
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
    SGDRegressor,
    cross_val_score,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Z = X[:, 0] + RNG.normal(size=60)
GROUPS = np.arange(60) // 5


class Apart:
    """Three folds that keep groups whole."""

    def split(self, X, y=None, groups=None):
        if groups is None:
            raise ValueError("no groups")
        for k in range(3):
            out = np.asarray(groups) % 3 == k
            yield np.flatnonzero(~out), np.flatnonzero(out)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LassoCV(cv=Apart()), Z),
        (ElasticNetCV(l1_ratio=[0.3, 0.8], cv=Apart()), Z),
        (RidgeCV(cv=Apart()), Z),
        (LogisticRegressionCV(Cs=3, cv=Apart()), Z > 0),
        (LogisticRegressionCV(Cs=3, cv=Apart(), refit=False), Z > 0),
    ],
    ids=repr,
)
def test_groups_reach_the_splitter(model, y):
    model.fit(X, y, groups=GROUPS)
    pairs = list(Apart().split(X, y, GROUPS))
    given = type(model)(**{**model.get_params(), "cv": pairs}).fit(X, y)
    np.testing.assert_array_equal(model.coef_, given.coef_)
    with pytest.raises(ValueError, match="no groups"):
        model.fit(X, y)


@pytest.mark.parametrize("cv", [np.array(1.0), b"l2", bytearray(b"5"), "5"], ids=repr)
def test_what_is_no_splitter_is_named(cv):
    for task in (
        lambda: cross_val_score(Ridge(), X, Z, cv=cv),
        lambda: LassoCV(cv=cv).fit(X, Z),
        lambda: GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=cv).fit(X, Z > 0),
    ):
        with pytest.raises(ValueError, match="cv must be a number of folds"):
            task()


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "f1_macro"])
@pytest.mark.parametrize("model", [Ridge(), SGDRegressor(random_state=0)], ids=repr)
def test_classes_are_not_scored_by_numbers(name, model):
    for y, culprit in ((Z, "y has"), ((Z > 0) * 1.0, r"\.predict has")):
        with pytest.raises(ValueError, match=f"scoring='{name}' compares classes, but .*{culprit}"):
            cross_val_score(model, X, y, scoring=name, error_score="raise")
    # labels may be whole numbers in floats
    assert cross_val_score(LogisticRegression(), X, (Z > 0) * 1.0, scoring=name).min() > 0.3


def test_grids_without_end_are_refused():
    with pytest.raises(ValueError, match="alphas must ask for at most"):
        LassoCV(alphas=10**30).fit(X, Z)
    with pytest.raises(ValueError, match="Cs must ask for at most"):
        LogisticRegressionCV(Cs=10**30).fit(X, Z > 0)


def test_fractions_are_numbers():
    for model in (LogisticRegression, LinearSVC):
        with pytest.warns(UserWarning, match="intercept_scaling=0.5 has no effect"):
            model(intercept_scaling=Fraction(1, 2), tol=Fraction(1, 100)).fit(X, Z > 0)


def test_a_linear_kernel_has_weights():
    y = np.digitize(Z, [-0.5, 0.5])
    for target in (Z > 0, y):
        model = KernelSVC(kernel="linear").fit(X, target)
        z = X @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(z.ravel(), model.decision_function(X).ravel(), atol=1e-12)
    model = KernelSVC().fit(X, y)
    with pytest.raises(AttributeError, match="kernel='linear' only"):
        _ = model.coef_
