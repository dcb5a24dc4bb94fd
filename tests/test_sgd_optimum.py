"""SGD ends near the optimum, whatever the seed, and leaves the intercept free."""

import math
import warnings

import numpy as np
import pytest
from public import ONLINE, ONLINE_REGRESSORS, name
from sgd_data import RNG, Y3, T, X, Y, best, objective, same_bits, target

import fastlin
from fastlin import SGDClassifier, SGDRegressor
from fastlin._sgd import LOSSES, MARGIN_LOSSES, TARGET_LOSSES
from fastlin._signature import init_parameters

# The optimum


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("loss", [loss for loss in MARGIN_LOSSES if loss != "perceptron"])
def test_classification_ends_near_the_optimum(loss):
    signs = np.where(Y == "yes", 1.0, -1.0)
    clf = SGDClassifier(
        loss,
        alpha=0.01,
        learning_rate="invscaling",
        eta0=0.5,
        average=2000,
        max_iter=400,
        tol=None,
        random_state=0,
    ).fit(X, Y)
    least = best(loss, signs, 0.01)
    assert objective(clf, X, signs) - least <= 2e-3 * max(least, 0.1)


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("loss", TARGET_LOSSES)
def test_regression_ends_near_the_optimum(loss):
    parameter = {"quantile": 0.3, "huber": 1.35}.get(loss)
    extra = {} if parameter is None else {LOSSES[loss].parameter: parameter}
    reg = SGDRegressor(
        loss,
        alpha=0.01,
        learning_rate="invscaling",
        power_t=0.5,
        eta0=0.5,
        average=2000,
        max_iter=400,
        tol=None,
        random_state=0,
        **extra,
    ).fit(X, T)
    least = best(loss, T, 0.01, parameter=parameter)
    assert objective(reg, X, T) - least <= 2e-3 * max(least, 0.1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "params",
    [
        {"learning_rate": "invscaling", "eta0": 0.3, "power_t": 0.6, "tol": None, "average": 6000},
        {"learning_rate": "adaptive", "eta0": 0.1, "tol": 1e-6},
        {"learning_rate": "optimal", "tol": None, "average": 6000},
        {
            "learning_rate": "constant",
            "eta0": 0.3,
            "optimizer": "adagrad",
            "tol": None,
            "average": 6000,
        },
    ],
    ids=str,
)
def test_the_elastic_net_of_three_points_for_every_seed(seed, params, quiet):
    x = np.array([[-1.0], [0.0], [1.0]])
    reg = SGDRegressor(
        penalty="elasticnet", alpha=0.5, l1_ratio=0.3, max_iter=4000, random_state=seed, **params
    ).fit(x, x.ravel())
    assert abs(reg.coef_[0] - 0.50820) < 0.01


def test_epochs_without_movement_are_not_convergence(quiet):
    # the first rows are zeros: nothing moves until the last
    x = np.zeros((50, 1))
    x[-1] = 1.0
    reg = SGDRegressor(penalty=None, shuffle=False, fit_intercept=False, tol=1e-6, eta0=0.5)
    assert reg.fit(x, x.ravel()).coef_[0] > 0.9


def test_l1_leaves_zeros_and_more_of_it_more(quiet):
    wide = np.column_stack([X, RNG.normal(size=(120, 15))])
    zeros = []
    for alpha in (1e-4, 0.05, 0.3, 5.0):
        clf = SGDClassifier(
            "log_loss",
            penalty="l1",
            alpha=alpha,
            learning_rate="invscaling",
            eta0=0.1,
            max_iter=200,
            tol=None,
            random_state=0,
        ).fit(wide, Y)
        zeros.append(int((clf.coef_ == 0).sum()))
    assert zeros == sorted(zeros)
    assert zeros[0] < 5
    assert zeros[-1] == 20


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_alpha_has_no_effect_without_a_penalty(cls, quiet):
    if "alpha" not in init_parameters(cls):
        return
    rates = ["optimal", "invscaling", "constant"] if hasattr(cls(), "learning_rate") else [None]
    for rate in rates:
        extra = {} if rate is None else {"learning_rate": rate}
        models = [
            cls(penalty=None, alpha=alpha, l1_ratio=ratio, random_state=0, max_iter=5, **extra).fit(
                X, target(cls)
            )
            for alpha, ratio in ((1e-4, 0.15), (1e-2, 0.15), (0.0, 0.9))
        ]
        assert same_bits(models[0], models[1])
        assert same_bits(models[0], models[2])


def test_alpha_zero_is_no_penalty(quiet):
    for penalty in ("l2", "l1", "elasticnet"):
        plain = SGDClassifier(penalty=None, learning_rate="invscaling", random_state=0, max_iter=3)
        zero = SGDClassifier(
            penalty=penalty, alpha=0.0, learning_rate="invscaling", random_state=0, max_iter=3
        )
        assert same_bits(plain.fit(X, Y), zero.fit(X, Y))
    with pytest.raises(
        ValueError, match="alpha must be a number > 0 when learning_rate is 'optimal'"
    ):
        SGDClassifier(alpha=0.0).fit(X, Y)


def test_rules_between_parameters():
    with pytest.raises(ValueError, match="l1_ratio must be .* 'elasticnet', got None"):
        SGDClassifier(penalty="elasticnet", l1_ratio=None).fit(X, Y)
    with pytest.raises(ValueError, match="learning_rate 'pa1' needs loss 'hinge', got 'log_loss'"):
        SGDClassifier("log_loss", learning_rate="pa1").fit(X, Y)
    with pytest.raises(ValueError, match="set penalty=None"):
        SGDClassifier(learning_rate="pa1").fit(X, Y)
    with pytest.raises(ValueError, match="batch_size=1"):
        SGDClassifier(learning_rate="pa2", penalty=None, batch_size=2).fit(X, Y)
    with pytest.raises(ValueError, match="multi_class|loss"):
        SGDClassifier("squared_hinge", multi_class="joint").fit(X, Y3)


# The intercept


def test_the_intercept_is_not_penalised(quiet):
    x = np.random.default_rng(3).normal(size=(50, 3))
    y = np.arange(50) < 45
    clf = SGDClassifier(
        "log_loss",
        alpha=20.0,
        learning_rate="invscaling",
        eta0=0.5,
        power_t=0.5,
        max_iter=4000,
        tol=None,
        average=50_000,
        random_state=0,
    ).fit(x, y)
    assert abs(clf.intercept_[0] - math.log(45 / 5)) < 0.02


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_without_intercept_there_is_none(cls, quiet):
    model = cls(fit_intercept=False, max_iter=3, random_state=0).fit(X, target(cls))
    assert (model.intercept_ == 0).all()
    if cls in ONLINE_REGRESSORS:
        assert model.predict(np.zeros((1, 5)))[0] == 0


@pytest.mark.parametrize("shift", [10.0, 100.0, 1000.0])
@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
def test_shifted_columns_are_learnt_or_owned_up_to(loss, shift):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = SGDClassifier(loss, random_state=0).fit(X + shift, Y)
    told = any(issubclass(w.category, fastlin.ConvergenceWarning) for w in caught)
    assert told or clf.score(X + shift, Y) > 0.8 > (Y == "no").mean()


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_a_constant_column_is_harmless(cls, fit_intercept, quiet):
    model = cls(fit_intercept=fit_intercept, random_state=0).fit(
        np.ones((40, 1)), np.arange(40) % 2
    )
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
