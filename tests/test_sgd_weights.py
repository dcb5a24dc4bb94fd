"""Sample and class weights count as repetitions."""

import numpy as np
import pytest
from public import ONLINE, ONLINE_CLASSIFIERS, name
from sgd_data import Y3, T, X, Y, same_bits, target

from fastlin import (
    GridSearchCV,
    KFold,
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from fastlin._clone import clone

# Weights are repetitions


@pytest.mark.parametrize("shuffle", [True, False, "replacement"])
@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_weight_zero_is_removal(cls, shuffle, quiet):
    y = target(cls)
    weight = np.where(np.arange(120) % 3 == 0, 0.0, 1.0 + np.arange(120) % 4)
    kept = weight > 0
    params = {"max_iter": 4, "tol": None, "random_state": 0, "shuffle": shuffle}
    for extra in ({}, {"early_stopping": True}, {"average": True}):
        model = cls(**params, **extra).fit(X, y, sample_weight=weight)
        removed = cls(**params, **extra).fit(X[kept], y[kept], sample_weight=weight[kept])
        assert same_bits(model, removed)
        assert model.t_ == removed.t_
    stream = cls(**params)
    first = {"classes": np.unique(y)} if cls in ONLINE_CLASSIFIERS else {}
    stream.partial_fit(X, y, sample_weight=weight, **first)
    removed = cls(**params).partial_fit(X[kept], y[kept], sample_weight=weight[kept], **first)
    assert same_bits(stream, removed)


def test_nan_in_a_row_of_weight_zero_is_still_refused():
    x = X.copy()
    x[5, 2] = np.nan
    with pytest.raises(ValueError, match="row 5, column 2"):
        SGDClassifier().fit(x, Y, sample_weight=np.where(np.arange(120) == 5, 0.0, 1.0))


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_the_unit_of_weights_has_no_effect_on_fit(cls, quiet):
    y, weight = target(cls), 1.0 + np.arange(120) % 4
    models = [
        cls(max_iter=3, random_state=0).fit(X, y, sample_weight=weight * unit)
        for unit in (1.0, 2.0**40, 2.0**-40, 2.0**1000)
    ]
    for model in models[1:]:
        assert same_bits(models[0], model)
    plain = cls(max_iter=3, random_state=0).fit(X, y)
    for same in (np.full(120, 3.0), np.ones(120, dtype=np.int8), 7, [2] * 120):
        assert same_bits(plain, cls(max_iter=3, random_state=0).fit(X, y, sample_weight=same))


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
def test_integer_weights_have_the_optimum_of_repeated_rows():
    weight = np.arange(120) % 5
    repeated = np.repeat(np.arange(120), weight)
    params = {
        "alpha": 0.05,
        "learning_rate": "invscaling",
        "power_t": 0.6,
        "eta0": 0.3,
        "average": 5000,
        "max_iter": 600,
        "tol": None,
        "random_state": 0,
    }
    weighted = SGDRegressor(**params).fit(X, T, sample_weight=weight)
    plain = SGDRegressor(**params).fit(X[repeated], T[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=5e-3)
    # and both are at the closed form
    design = np.column_stack([X, np.ones(120)])
    ridge = np.diag([0.05 * weight.sum()] * 5 + [0])
    exact = np.linalg.solve(design.T @ (weight[:, None] * design) + ridge, design.T @ (weight * T))
    np.testing.assert_allclose(weighted.coef_, exact[:5], atol=5e-3)
    np.testing.assert_allclose(weighted.intercept_, exact[5:], atol=5e-3)


@pytest.mark.parametrize("cls", ONLINE_CLASSIFIERS, ids=name)
def test_class_weights_are_sample_weights(cls, quiet):
    params = {"max_iter": 4, "random_state": 0}
    by_class = cls(class_weight={"yes": 3.0, "no": 0.5}, **params).fit(X, Y)
    by_row = cls(**params).fit(X, Y, sample_weight=np.where(Y == "yes", 3.0, 0.5))
    assert same_bits(by_class, by_row)
    balanced = cls(class_weight="balanced", **params).fit(X, Y3)
    counts = np.bincount(Y3)
    by_row = cls(**params).fit(X, Y3, sample_weight=(120 / (3 * counts))[Y3])
    np.testing.assert_allclose(balanced.coef_, by_row.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="class_weight must be a dict or None in partial_fit"):
        cls(class_weight="balanced").partial_fit(X, Y, classes=["no", "yes"])
    with pytest.raises(ValueError, match="class_weight names labels that are not in y: 'maybe'"):
        cls(class_weight={"maybe": 2.0}).fit(X, Y)


@pytest.mark.parametrize("cls", ONLINE_CLASSIFIERS, ids=name)
def test_a_class_without_weight_keeps_its_place(cls, capfd):
    weight = np.where(Y3 == 1, 0.0, 1.0)
    with pytest.warns(UserWarning, match="all rows of the classes 1 have weight 0"):
        model = cls(random_state=0, max_iter=5, tol=None).fit(X, Y3, sample_weight=weight)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, 5)
    assert model.intercept_.shape == (3,)
    assert (model.coef_[1] == 0).all()
    assert model.intercept_[1] == -np.inf
    assert model.decision_function(X).shape == (120, 3)
    assert set(model.predict(X)) == {0, 2}
    if getattr(model, "loss", None) == "log_loss":
        assert (model.predict_proba(X)[:, 1] == 0).all()
    assert capfd.readouterr().out == ""
    with pytest.raises(ValueError, match="got 1 class with a sample_weight above 0: 2"):
        cls().fit(X, Y3, sample_weight=np.where(Y3 == 2, 1.0, 0.0))


JOINT = {
    "perceptron": Perceptron(),
    "hinge": SGDClassifier(multi_class="joint"),
    "softmax": SGDClassifier(loss="log_loss", multi_class="joint", average=True),
    "adam": SGDClassifier(loss="log_loss", multi_class="joint", optimizer="adam", eta0=0.01,
                          learning_rate="constant"),
    "passive-aggressive": PassiveAggressiveClassifier(multi_class="joint"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_classes", [3, 5])
@pytest.mark.parametrize("kind", JOINT)
def test_classes_without_weight_take_no_part_in_joint_training(kind, n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = np.digitize(X[:, 0], np.linspace(-0.8, 0.8, n_classes - 1))
    model = clone(JOINT[kind]).set_params(shuffle=False, max_iter=4, tol=None)
    weight, present = (y != 1).astype(float), np.arange(n_classes) != 1
    alone = clone(model).fit(X[y != 1], y[y != 1])
    model.fit(X, y, sample_weight=weight)
    assert np.isneginf(model.intercept_[1])
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    if n_classes == 3:  # one learner of two classes becomes two halves
        found = np.diff(model.decision_function(X)[:, present], axis=1).ravel()
        np.testing.assert_allclose(found, alone.decision_function(X), atol=1e-12)
    else:
        np.testing.assert_array_equal(model.coef_[present], alone.coef_)
        np.testing.assert_array_equal(model.intercept_[present], alone.intercept_)
    searched = GridSearchCV(
        clone(model).set_params(class_weight={1: 0.0}), {"max_iter": [3, 4]}, cv=KFold(3)
    ).fit(X, y)
    for k, (train, test) in enumerate(KFold(3).split(X)):
        one = clone(model).set_params(class_weight={1: 0.0}).fit(X[train], y[train])
        assert searched.cv_results_[f"split{k}_test_score"][1] == one.score(X[test], y[test])
    whole = model.decision_function(X)
    model.fit_stream(lambda: [(X[:30], y[:30], weight[:30]), (X[30:], y[30:], weight[30:])])
    np.testing.assert_allclose(model.decision_function(X), whole, rtol=1e-12, atol=1e-12)
    model.partial_fit(X, y)  # goes on with all classes
    assert np.isfinite(model.intercept_).all() and model.coef_[1].any()
