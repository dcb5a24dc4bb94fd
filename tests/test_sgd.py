"""How SGD and its relatives behave: optimum, stopping, weights, streams, warnings, safety."""

import copy
import itertools
import math
import pickle
import warnings

import numpy as np
import pytest
from public import CLASSIFIERS, LEARNERS, ONLINE, REGRESSORS, name
from scipy import optimize, sparse

import fastlin
from fastlin import Perceptron, SGDClassifier, SGDRegressor
from fastlin._core import losses as core
from fastlin._sgd import JOINT_LOSSES, LOSSES, MARGIN_LOSSES, OPTIMIZERS, TARGET_LOSSES
from fastlin._signature import init_parameters

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 5))
W = np.array([1.0, -2.0, 0.5, 0.0, 1.5])
Y = np.where(X @ W + 0.5 * RNG.normal(size=120) > 0, "yes", "no")
Y3 = np.argmax(X @ RNG.normal(size=(5, 3)), axis=1)
T = X @ W + 1.0 + 0.1 * RNG.normal(size=120)


def target(cls):
    return T if cls in REGRESSORS else Y


def same_bits(a, b):
    return a.coef_.tobytes() == b.coef_.tobytes() and a.intercept_.tobytes() == b.intercept_.tobytes()


def objective(model, X, y, weight=None):
    """The objective of DESIGN: mean loss plus penalty, recomputed from the public attributes."""
    loss = LOSSES[model.loss]
    parameter = getattr(model, loss.parameter, loss.default) if loss.parameter else loss.default
    p = X @ model.coef_.ravel().astype(float) + model.intercept_[0]
    return risk(loss.code, parameter, p, y, weight) + penalty_of(model)


def risk(code, parameter, p, y, weight=None):
    value = np.empty(len(y))
    core.evaluate(code, parameter, np.ascontiguousarray(p), np.asarray(y, float), value,
                  np.empty(len(y)))
    return np.average(value, weights=weight)


def penalty_of(model):
    w = model.coef_.ravel().astype(float)
    share = {"l1": 1.0, "l2": 0.0, "elasticnet": model.l1_ratio, None: 0.0}[model.penalty]
    alpha = model.alpha if model.penalty else 0.0
    return alpha * (share * np.abs(w).sum() + (1 - share) / 2 * w @ w)


def best(loss, y, l2, weight=None, parameter=None):
    """The least objective under an L2 penalty, by a method that shares nothing with ours."""
    code = LOSSES[loss].code
    parameter = LOSSES[loss].default if parameter is None else parameter

    def value(w):
        return risk(code, parameter, X @ w[:5] + w[5], y, weight) + l2 / 2 * w[:5] @ w[:5]

    return min(optimize.minimize(value, start, method=method, options={"maxiter": 20_000}).fun
               for start in (np.zeros(6), np.append(W, 1.0)) for method in ("BFGS", "Powell"))


# The optimum


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("loss", [loss for loss in MARGIN_LOSSES if loss != "perceptron"])
def test_classification_ends_near_the_optimum(loss):
    signs = np.where(Y == "yes", 1.0, -1.0)
    clf = SGDClassifier(loss, alpha=0.01, learning_rate="invscaling", eta0=0.5, average=2000,
                        max_iter=400, tol=None, random_state=0).fit(X, Y)
    least = best(loss, signs, 0.01)
    assert objective(clf, X, signs) - least <= 2e-3 * max(least, 0.1)


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("loss", TARGET_LOSSES)
def test_regression_ends_near_the_optimum(loss):
    parameter = {"quantile": 0.3, "huber": 1.35}.get(loss)
    extra = {} if parameter is None else {LOSSES[loss].parameter: parameter}
    reg = SGDRegressor(loss, alpha=0.01, learning_rate="invscaling", power_t=0.5, eta0=0.5,
                       average=2000, max_iter=400, tol=None, random_state=0, **extra).fit(X, T)
    least = best(loss, T, 0.01, parameter=parameter)
    assert objective(reg, X, T) - least <= 2e-3 * max(least, 0.1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("params", [
    {"learning_rate": "invscaling", "eta0": 0.3, "power_t": 0.6, "tol": None, "average": 6000},
    {"learning_rate": "adaptive", "eta0": 0.1, "tol": 1e-6},
    {"learning_rate": "optimal", "tol": None, "average": 6000},
    {"learning_rate": "constant", "eta0": 0.3, "optimizer": "adagrad", "tol": None,
     "average": 6000},
], ids=str)
def test_the_elastic_net_of_three_points_for_every_seed(seed, params, quiet):
    x = np.array([[-1.0], [0.0], [1.0]])
    reg = SGDRegressor(penalty="elasticnet", alpha=0.5, l1_ratio=0.3, max_iter=4000,
                       random_state=seed, **params).fit(x, x.ravel())
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
        clf = SGDClassifier("log_loss", penalty="l1", alpha=alpha, learning_rate="invscaling",
                            eta0=0.1, max_iter=200, tol=None, random_state=0).fit(wide, Y)
        zeros.append(int((clf.coef_ == 0).sum()))
    assert zeros == sorted(zeros)
    assert zeros[0] < 5
    assert zeros[-1] == 20


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_alpha_has_no_effect_without_a_penalty(cls, quiet):
    if "alpha" not in init_parameters(cls):
        return
    rates = ["optimal", "invscaling", "constant"] if hasattr(cls(), "learning_rate") else [None]
    for rate in rates:
        extra = {} if rate is None else {"learning_rate": rate}
        models = [cls(penalty=None, alpha=alpha, l1_ratio=ratio, random_state=0, max_iter=5,
                      **extra).fit(X, target(cls))
                  for alpha, ratio in ((1e-4, 0.15), (1e-2, 0.15), (0.0, 0.9))]
        assert same_bits(models[0], models[1])
        assert same_bits(models[0], models[2])


def test_alpha_zero_is_no_penalty(quiet):
    for penalty in ("l2", "l1", "elasticnet"):
        plain = SGDClassifier(penalty=None, learning_rate="invscaling", random_state=0, max_iter=3)
        zero = SGDClassifier(penalty=penalty, alpha=0.0, learning_rate="invscaling",
                             random_state=0, max_iter=3)
        assert same_bits(plain.fit(X, Y), zero.fit(X, Y))
    with pytest.raises(ValueError, match="alpha must be a number > 0 when learning_rate is 'optimal'"):
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
    clf = SGDClassifier("log_loss", alpha=20.0, learning_rate="invscaling", eta0=0.5, power_t=0.5,
                        max_iter=4000, tol=None, average=50_000, random_state=0).fit(x, y)
    assert abs(clf.intercept_[0] - math.log(45 / 5)) < 0.02


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_without_intercept_there_is_none(cls, quiet):
    model = cls(fit_intercept=False, max_iter=3, random_state=0).fit(X, target(cls))
    assert (model.intercept_ == 0).all()
    if cls in REGRESSORS:
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
@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_a_constant_column_is_harmless(cls, fit_intercept, quiet):
    model = cls(fit_intercept=fit_intercept, random_state=0).fit(np.ones((40, 1)), np.arange(40) % 2)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()


# Fits that end


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_underflowing_values_end_at_once(cls, quiet):
    x = np.zeros((30, 2))
    x[3] = 3.75e-208
    y = np.repeat([0, 1], 15)
    model = cls(random_state=0).fit(x, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.abs(model.coef_).max() < 1e-100


def test_probabilities_of_data_without_content(quiet):
    x, y = np.zeros((30, 2)), np.repeat([0, 1], 15)
    clf = SGDClassifier("log_loss", learning_rate="invscaling", average=100, tol=None, max_iter=300,
                        random_state=0).fit(x, y)
    np.testing.assert_allclose(clf.predict_proba(x), 0.5, atol=0.02)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (2, 1), (3, 50)])
@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_tiny_data(cls, shape, quiet):
    x = np.arange(np.prod(shape), dtype=float).reshape(shape)
    if cls in CLASSIFIERS and shape[0] == 1:
        with pytest.raises(ValueError, match="class"):
            cls().fit(x, [1])
        return
    model = cls(random_state=0).fit(x, np.arange(shape[0]) % 2)
    assert model.predict(x).shape == (shape[0],)
    assert np.isfinite(model.coef_).all()


# Safety on data that SGD finds hard (CASES 8)


@pytest.mark.parametrize("seed", range(5))
def test_an_exact_line_is_fitted_or_owned_up_to(seed):
    x, y = np.arange(0.0, 600.0, 6.0)[:, None], np.arange(100.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reg = SGDRegressor(random_state=seed).fit(x, y)
    told = any(issubclass(w.category, fastlin.ConvergenceWarning) for w in caught)
    assert told or np.abs(reg.predict(x) - y).max() < 1
    assert np.abs(reg.coef_).max() < 10


HARD = {
    "unscaled": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * [1e-3, 1.0, 1e4],
    "shifted": lambda n: np.random.default_rng(1).normal(size=(n, 3)) + 500,
    "huge": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * 1e8,
    "huge beyond squares": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * 1e200,
    "tiny": lambda n: np.random.default_rng(1).normal(size=(n, 3)) * 1e-12,
    "one outlier": lambda n: np.vstack([np.random.default_rng(1).normal(size=(n - 1, 3)),
                                        [[1e6, -1e6, 1e6]]]),
}


@pytest.mark.parametrize("data", HARD)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("params", [{}, {"learning_rate": "constant", "eta0": 1.0},
                                    {"average": True}, {"batch_size": 10}], ids=str)
def test_no_model_is_worse_than_a_constant_without_a_word(loss, data, params):
    x = HARD[data](60)
    rng = np.random.default_rng(2)
    margin = loss in MARGIN_LOSSES
    y = np.where(rng.random(60) < 0.7, 1.0, -1.0) if margin else rng.normal(size=60) * 3 + 5
    model = (SGDClassifier if margin else SGDRegressor)(loss, random_state=0, max_iter=30, **params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(x, y)
        except ValueError as error:
            assert "overflow" in str(error) or "too large" in str(error)
            return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    told = any(issubclass(w.category, fastlin.ConvergenceWarning) for w in caught)
    if loss == "perceptron" or told:
        return
    parameter = LOSSES[loss].default
    p = x @ model.coef_.ravel() + model.intercept_[0]
    code = LOSSES[loss].code
    constant = min(risk(code, parameter, np.full(60, b), y)
                   for b in np.concatenate([np.linspace(-10, 15, 501), [y.mean()]]))
    assert risk(code, parameter, p, y) <= constant * (1 + 1e-5) + 1e-9


def test_overflow_is_an_error_that_says_what_to_do():
    message = r"overflow in epoch 1: .*Scale the columns of X, or take shorter steps"
    with pytest.raises(ValueError, match=message):
        SGDClassifier("log_loss", learning_rate="constant", eta0=1e300).fit(X * 1e200, Y)
    model = SGDClassifier("log_loss", learning_rate="constant", eta0=1e300)
    with pytest.raises(ValueError, match="overflow in partial_fit"):
        model.partial_fit(X * 1e200, Y, classes=["no", "yes"])
    assert not hasattr(model, "coef_")


def test_an_overflow_in_partial_fit_leaves_the_model_as_it_was():
    model = SGDClassifier("log_loss", learning_rate="constant", eta0=0.1)
    model.partial_fit(X, Y, classes=["no", "yes"])
    before, twin = pickle.dumps(model._memories), copy.deepcopy(model)
    model.set_params(eta0=1e300)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X * 1e200, Y)
    assert pickle.dumps(model._memories) == before
    model.set_params(eta0=0.1)
    assert same_bits(model.partial_fit(X, Y), twin.partial_fit(X, Y))


# Stopping

# The first steps of the default schedule are long: a short fit may end above the best constant,
# and then that is what the warning says.
GENTLE = {SGDClassifier: {"learning_rate": "constant", "eta0": 0.01}}


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_max_iter_without_convergence_warns(cls):
    params = {"max_iter": 2, "tol": 1e-9, "random_state": 0, **GENTLE.get(cls, {})}
    with pytest.warns(fastlin.ConvergenceWarning, match=r"max_iter=2 epochs.*raise max_iter or tol"):
        model = cls(**params).fit(X, target(cls))
    assert model.n_iter_ == 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_without_tol_all_epochs_are_run_and_nothing_is_said(cls):
    model = cls(max_iter=7, tol=None, random_state=0, **GENTLE.get(cls, {})).fit(X, target(cls))
    assert model.n_iter_ == 7
    assert model.t_ == 7 * 120 + 1


def epochs_by_the_rule(watched, tol, patience):
    """The epoch after which training ends: `patience` in a row that don't fall by `tol`."""
    best, waited = math.inf, 0
    for epoch, value in enumerate(watched, 1):
        waited = waited + 1 if value > best - tol else 0
        best = min(best, value)
        if waited == patience:
            return epoch
    return None


@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-3, 0.05])
@pytest.mark.parametrize("patience", [1, 2, 6])
def test_tol_and_n_iter_no_change_decide_when_to_stop(tol, patience, quiet):
    model = SGDRegressor(tol=tol, n_iter_no_change=patience, random_state=0, max_iter=2000)
    trace = [entry["objective"] for entry in model.fit(X, T).trace_]
    assert model.n_iter_ == len(trace) == epochs_by_the_rule(trace, tol, patience)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_the_trace_tells_each_epoch(cls, quiet):
    model = cls(max_iter=6, tol=None, random_state=0).fit(X, target(cls))
    assert [entry["epoch"] for entry in model.trace_] == list(range(1, 7))
    for entry in model.trace_:
        assert entry["objective"] >= entry["loss"] >= 0
        assert entry["seconds"] > 0
        assert "validation_score" not in entry
    seconds = [entry["seconds"] for entry in model.trace_]
    assert seconds == sorted(seconds)


def test_the_objective_of_the_trace_is_loss_plus_penalty(quiet):
    reg = SGDRegressor(penalty="elasticnet", alpha=0.1, l1_ratio=0.4, max_iter=1, shuffle=False,
                       learning_rate="constant", eta0=1e-9).fit(X, T)
    # steps this short leave w = 0, so that the mean loss before each step is that of p = 0
    assert reg.trace_[0]["loss"] == pytest.approx(0.5 * np.mean(T**2), rel=1e-5)
    reg = SGDRegressor(penalty="elasticnet", alpha=0.1, l1_ratio=0.4, max_iter=3).fit(X, T)
    gap = reg.trace_[-1]["objective"] - reg.trace_[-1]["loss"]
    assert gap == pytest.approx(penalty_of(reg), rel=1e-12)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_early_stopping_watches_held_out_rows(cls, quiet):
    model = cls(early_stopping=True, validation_fraction=0.25, random_state=0, max_iter=200)
    model.fit(X, target(cls))
    scores = [entry["validation_score"] for entry in model.trace_]
    assert len(scores) == model.n_iter_ < 200
    assert model.t_ == pytest.approx(model.n_iter_ * 90 + 1, abs=model.n_iter_ * 2)
    assert max(scores) <= 1
    rule = epochs_by_the_rule([-score for score in scores], model.tol, model.n_iter_no_change)
    assert rule == model.n_iter_


def test_the_validation_score_is_that_of_the_rows_left_out(quiet):
    # with one step length of nearly 0 the model is p = 0: R^2 and accuracy are known
    reg = SGDRegressor(early_stopping=True, learning_rate="constant", eta0=1e-300, random_state=0,
                       validation_fraction=0.99, penalty=None).fit(X, T - T.mean())
    assert abs(reg.trace_[0]["validation_score"]) < 0.1
    with pytest.raises(ValueError, match="validation_fraction=0.001 of 120 rows"):
        SGDClassifier(early_stopping=True, validation_fraction=0.001).fit(X, Y)


def test_the_adaptive_schedule_divides_the_step(quiet):
    seen = []
    reg = SGDRegressor(learning_rate="adaptive", eta0=0.2, tol=1e-4, random_state=0)
    reg.fit(X, T, callback=seen.append)
    constant = SGDRegressor(learning_rate="constant", eta0=0.2, tol=1e-4, random_state=0).fit(X, T)
    assert reg.n_iter_ > constant.n_iter_
    assert objective(reg, X, T) < objective(constant, X, T)
    assert len(seen) == reg.n_iter_
    assert reg.eta0 == 0.2


def test_callbacks_see_each_epoch_and_may_end_training():
    seen = []

    def stop(entry):
        seen.append(entry)
        entry["loss"] = None  # a copy: the trace stays as it is
        if len(seen) == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        SGDClassifier(random_state=0).fit(X, Y, callback=stop)
    assert [entry["epoch"] for entry in seen] == [1, 2, 3]


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_verbose_speaks_on_standard_error_only(cls, quiet, capfd):
    cls(max_iter=3, tol=None, random_state=0).fit(X, target(cls))
    assert capfd.readouterr() == ("", "")
    cls(max_iter=3, tol=None, verbose=1, random_state=0, early_stopping=True).fit(X, target(cls))
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert len(lines) == 3
    for epoch, line in enumerate(lines, 1):
        assert line.startswith(f"epoch {epoch}/3: loss ")
        assert "validation score" in line


# Weights are repetitions


@pytest.mark.parametrize("shuffle", [True, False, "replacement"])
@pytest.mark.parametrize("cls", LEARNERS, ids=name)
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
    first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
    stream.partial_fit(X, y, sample_weight=weight, **first)
    removed = cls(**params).partial_fit(X[kept], y[kept], sample_weight=weight[kept], **first)
    assert same_bits(stream, removed)


def test_nan_in_a_row_of_weight_zero_is_still_refused():
    x = X.copy()
    x[5, 2] = np.nan
    with pytest.raises(ValueError, match="row 5, column 2"):
        SGDClassifier().fit(x, Y, sample_weight=np.where(np.arange(120) == 5, 0.0, 1.0))


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_the_unit_of_weights_has_no_effect_on_fit(cls, quiet):
    y, weight = target(cls), 1.0 + np.arange(120) % 4
    models = [cls(max_iter=3, random_state=0).fit(X, y, sample_weight=weight * unit)
              for unit in (1.0, 2.0**40, 2.0**-40, 2.0**1000)]
    for model in models[1:]:
        assert same_bits(models[0], model)
    plain = cls(max_iter=3, random_state=0).fit(X, y)
    for same in (np.full(120, 3.0), np.ones(120, dtype=np.int8), 7, [2] * 120):
        assert same_bits(plain, cls(max_iter=3, random_state=0).fit(X, y, sample_weight=same))


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
def test_integer_weights_have_the_optimum_of_repeated_rows():
    weight = np.arange(120) % 5
    repeated = np.repeat(np.arange(120), weight)
    params = {"alpha": 0.05, "learning_rate": "invscaling", "power_t": 0.6, "eta0": 0.3,
              "average": 5000, "max_iter": 600, "tol": None, "random_state": 0}
    weighted = SGDRegressor(**params).fit(X, T, sample_weight=weight)
    plain = SGDRegressor(**params).fit(X[repeated], T[repeated])
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=5e-3)
    # and both are at the closed form
    design = np.column_stack([X, np.ones(120)])
    ridge = np.diag([0.05 * weight.sum()] * 5 + [0])
    exact = np.linalg.solve(design.T @ (weight[:, None] * design) + ridge, design.T @ (weight * T))
    np.testing.assert_allclose(weighted.coef_, exact[:5], atol=5e-3)
    np.testing.assert_allclose(weighted.intercept_, exact[5:], atol=5e-3)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
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


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
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
    with pytest.raises(ValueError, match="got 1 class with a weight: 2"):
        cls().fit(X, Y3, sample_weight=np.where(Y3 == 2, 1.0, 0.0))


# Streams


STREAMS = {
    "default": {},
    "averaged": {"average": True},
    "averaged from 50": {"average": 50},
    "l1": {"penalty": "l1", "alpha": 0.01},
    "elastic net, averaged": {"penalty": "elasticnet", "alpha": 0.05, "average": True},
    "strong l2": {"penalty": "l2", "alpha": 50.0, "learning_rate": "invscaling"},
    "batches": {"batch_size": 1, "learning_rate": "constant"},
    **{optimizer: {"optimizer": optimizer, "average": 30, "alpha": 0.01} for optimizer in OPTIMIZERS},
}


@pytest.mark.parametrize(
    ("cls", "params"),
    [(cls, params) for cls in ONLINE for params in STREAMS.values()
     if set(params) <= set(init_parameters(cls))],
    ids=lambda value: str(value) if isinstance(value, dict) else value.__name__,
)
@pytest.mark.parametrize("several", [False, True])
def test_one_call_of_partial_fit_is_many(cls, params, several):
    y = T if cls in REGRESSORS else Y3 if several else Y
    first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
    weight = 0.5 + np.arange(120) % 3
    whole = cls(**params).partial_fit(X, y, sample_weight=weight, **first)
    one_by_one = cls(**params)
    for i in range(120):
        one_by_one.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1], **first)
        first = {}
    assert same_bits(whole, one_by_one)
    assert whole.t_ == one_by_one.t_ == 121
    pieces = cls(**params)
    first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
    for part in np.array_split(np.arange(120), [1, 7, 64]):
        pieces.partial_fit(sparse.csr_array(X[part]), y[part], sample_weight=weight[part], **first)
        pieces = pickle.loads(pickle.dumps(pieces))
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_partial_fit_is_an_epoch_in_the_given_order(cls, quiet):
    y = target(cls)
    first = {"classes": np.unique(y)} if cls in CLASSIFIERS else {}
    stream = cls().partial_fit(X, y, **first)
    epoch = cls(max_iter=1, shuffle=False, tol=None).fit(X, y)
    assert same_bits(stream, epoch)


@pytest.mark.parametrize("cls", [cls for cls in CLASSIFIERS if cls in ONLINE], ids=name)
def test_classes_of_a_stream(cls):
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        cls().partial_fit(X, Y)
    with pytest.raises(ValueError, match="at least two classes"):
        cls().partial_fit(X, Y3, classes=[1])
    model = cls().partial_fit(X[:10], Y3[:10], classes=[2, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"classes of this call.* 0, 1, but those .* 0, 1, 2"):
        model.partial_fit(X, Y3, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes: 7; the classes are 0, 1, 2"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="X has 4 features, but .* is expecting 5"):
        model.partial_fit(X[:, :4], Y3)


# Warm starts and initial weights


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_warm_start_goes_on_where_training_stood(cls, quiet):
    params = {"shuffle": False, "tol": None}
    if "learning_rate" in init_parameters(cls):
        params.update(learning_rate="constant", eta0=0.05)
    warm = cls(max_iter=2, warm_start=True, **params).fit(X, target(cls)).fit(X, target(cls))
    longer = cls(max_iter=4, **params).fit(X, target(cls))
    np.testing.assert_allclose(warm.coef_, longer.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(warm.intercept_, longer.intercept_, rtol=1e-9, atol=1e-12)
    # from the last weights, not from their mean
    warm = cls(max_iter=2, warm_start=True, average=True, **params).fit(X, target(cls))
    warm.set_params(average=False).fit(X, target(cls))
    np.testing.assert_allclose(warm.coef_, longer.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
def test_warm_start_with_other_classes_is_refused(cls, quiet):
    model = cls(warm_start=True, max_iter=3).fit(X, Y3)
    keep = Y3 != 1
    with pytest.raises(ValueError, match=r"classes 0, 1, 2, but y holds 0, 2"):
        model.fit(X[keep], Y3[keep])
    model = cls(warm_start=True, max_iter=3).fit(X[keep], Y3[keep])
    with pytest.raises(ValueError, match=r"classes 0, 2, but y holds 0, 1, 2"):
        model.fit(X, Y3)
    assert model.classes_.tolist() == [0, 2]
    assert set(model.predict(X)) <= {0, 2}


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_warm_start_with_other_columns_is_refused(cls, quiet):
    model = cls(warm_start=True, max_iter=3).fit(X, target(cls))
    with pytest.raises(ValueError, match="X has 4 features, but warm_start goes on from weights of 5"):
        model.fit(X[:, :4], target(cls))


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_a_cold_fit_forgets(cls, quiet):
    model = cls(max_iter=3, random_state=0).fit(X * 5, target(cls)).fit(X, target(cls))
    assert same_bits(model, cls(max_iter=3, random_state=0).fit(X, target(cls)))
    if cls in CLASSIFIERS:
        assert model.fit(X[:, :3], Y3).coef_.shape == (3, 3)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_initial_weights(cls, quiet):
    y = target(cls)
    shape = (5,) if cls in REGRESSORS else (1, 5)
    params = {"max_iter": 1, "tol": None}
    if "eta0" in init_parameters(cls):
        params["eta0"] = 1e-12
    if "learning_rate" in init_parameters(cls):
        params["learning_rate"] = "constant"
    if "C" in init_parameters(cls):
        params["C"] = 1e-12
    start = np.arange(1.0, 6.0).reshape(shape)
    model = cls(**params).fit(X, y, coef_init=start, intercept_init=[7.0])
    np.testing.assert_allclose(model.coef_, start, rtol=1e-2)
    np.testing.assert_allclose(model.intercept_, [7.0], rtol=1e-2)
    for wrong in (np.ones(4), np.ones((2, 5)), [np.nan] * 5, ["a"] * 5):
        with pytest.raises(ValueError, match="coef_init must hold"):
            cls(**params).fit(X, y, coef_init=wrong)
    with pytest.raises(ValueError, match="intercept_init must hold"):
        cls(**params).fit(X, y, intercept_init=[1.0, 2.0])


# dtypes, storage, labels


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_float32_data_give_a_float32_model_near_the_double_one(cls, quiet):
    y = target(cls)
    small = X.astype(np.float32)
    single = cls(max_iter=4, random_state=0).fit(small, y)
    double = cls(max_iter=4, random_state=0).fit(small.astype(float), y)
    assert single.coef_.dtype == np.float32
    assert double.coef_.dtype == np.float64
    assert single.intercept_.dtype == np.float64
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=2e-2, atol=2e-3)
    # a model of either type takes rows of either type
    for model in (single, double):
        for rows in (X, small, sparse.csr_array(small), X.tolist()):
            assert len(model.predict(rows)) == 120
    wide = single.predict(X) if cls in REGRESSORS else single.decision_function(X)
    exact = X @ single.coef_.ravel().astype(float) + single.intercept_[0]
    np.testing.assert_allclose(wide, exact, rtol=1e-12, atol=1e-12)
    assert single.partial_fit(X, y).coef_.dtype == np.float32
    assert double.partial_fit(small, y).coef_.dtype == np.float64


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_index_types_change_no_bit(cls, quiet):
    x = sparse.random_array((60, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    y = np.arange(60) % 2
    models = []
    for indices, indptr in itertools.product([np.int32, np.int64], repeat=2):
        given = x.copy()
        given.indices, given.indptr = x.indices.astype(indices), x.indptr.astype(indptr)
        models.append(cls(max_iter=3, random_state=0).fit(given, y))
    for model in models[1:]:
        assert same_bits(models[0], model)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_read_only_memory_maps(cls, tmp_path, quiet):
    y, weight = np.arange(120) % 2, np.ones(120, dtype=np.float32)
    for part, values in {"X": X, "y": y.astype(np.int16), "w": weight}.items():
        np.save(tmp_path / part, values)
    maps = [np.load(tmp_path / f"{part}.npy", mmap_mode="r") for part in "Xyw"]
    model = cls(max_iter=3, random_state=0).fit(maps[0], maps[1], sample_weight=maps[2])
    assert same_bits(model, cls(max_iter=3, random_state=0).fit(X, y, sample_weight=weight))
    model.partial_fit(maps[0], maps[1])
    model.predict(maps[0])


LABELS = {
    "bool": [False, True],
    "int8": np.array([-128, 127], dtype=np.int8),
    "uint64": np.array([0, 2**64 - 1], dtype=np.uint64),
    "float": [-1.5e0 * 2, 7.0],
    "str": ["b", "a"],
    "object": np.array(["zz", "y"], dtype=object),
    "bytes": np.array([b"q", b"p"]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
def test_labels_of_any_kind(cls, labels, quiet):
    labels = np.asarray(labels)
    y = labels[(Y == "yes").astype(int)]
    model = cls(max_iter=5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, np.sort(labels))
    assert model.predict(X).dtype == model.classes_.dtype
    assert model.score(X, y) > 0.8


# Predictions


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
@pytest.mark.parametrize("loss", ["log_loss", "modified_huber", "sigmoid_mse", "sparsemax"])
@pytest.mark.parametrize("y", [Y, Y3], ids=["two", "three"])
def test_probabilities_sum_to_one_and_agree_with_predict(loss, y, multi_class, quiet):
    if multi_class == "joint" and loss not in JOINT_LOSSES:
        return
    clf = SGDClassifier(loss, multi_class=multi_class, random_state=0, max_iter=20).fit(X, y)
    rows = np.vstack([X, X * 1e3, np.zeros((1, 5))])
    p = clf.predict_proba(rows)
    assert p.shape == (241, len(clf.classes_))
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    chosen = p[np.arange(241), np.searchsorted(clf.classes_, clf.predict(rows))]
    np.testing.assert_allclose(chosen, p.max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(np.exp(clf.predict_log_proba(rows)), p, rtol=1e-9, atol=1e-300)


def test_probabilities_where_all_responses_are_very_negative(quiet):
    clf = SGDClassifier("log_loss", random_state=0, max_iter=5, tol=None).fit(X, Y3)
    clf.coef_, clf.intercept_ = np.zeros((3, 5)), np.array([-1000.0, -1001.0, -1002.0])
    p = clf.predict_proba(X[:2])
    expected = np.exp([0.0, -1, -2])
    np.testing.assert_allclose(p, np.tile(expected / expected.sum(), (2, 1)), rtol=1e-12)
    assert np.isfinite(clf.predict_log_proba(X[:2])).all()


def test_losses_without_probabilities_say_so(quiet):
    for model in (SGDClassifier("hinge"), Perceptron()):
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match="log_loss"):
            model.fit(X, Y).predict_proba(X)


def test_the_first_class_wins_a_tie(quiet):
    clf = SGDClassifier(max_iter=5, tol=None).fit(X, Y3)
    clf.coef_, clf.intercept_ = np.zeros((3, 5)), np.zeros(3)
    assert (clf.predict(X) == 0).all()
    two = SGDClassifier(max_iter=5, tol=None).fit(X, Y)
    two.coef_, two.intercept_ = np.zeros((1, 5)), np.zeros(1)
    assert (two.predict(X) == "no").all()


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_predictions_do_not_depend_on_the_batch(cls, quiet):
    for y in ([T] if cls in REGRESSORS else [Y, Y3]):
        model = cls(max_iter=3, random_state=0).fit(X, y)
        call = model.predict if cls in REGRESSORS else model.decision_function
        for rows in (X, sparse.csr_array(X)):
            whole = call(rows)
            single = np.concatenate([call(rows[[i]]) for i in range(120)])
            np.testing.assert_allclose(whole, single.reshape(whole.shape), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_unfitted_models_say_so(cls):
    for method in ("predict", "decision_function"):
        if hasattr(cls, method):
            with pytest.raises(fastlin.NotFittedError, match="not fitted yet; call fit"):
                getattr(cls(), method)(X)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_score_is_weighted(cls, quiet):
    y, weight = target(cls), np.arange(120.0)
    model = cls(max_iter=3, random_state=0).fit(X, y)
    predicted = model.predict(X)
    if cls in CLASSIFIERS:
        expected = np.average(predicted == y, weights=weight)
    else:
        mean = np.average(y, weights=weight)
        expected = 1 - weight @ (y - predicted) ** 2 / (weight @ (y - mean) ** 2)
    assert model.score(X, y, sample_weight=weight) == pytest.approx(expected, rel=1e-12)


# Seeds


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_seeds(cls, quiet):
    y, params = target(cls), {"max_iter": 3, "tol": None}
    one, again = (cls(random_state=5, **params).fit(X, y) for _ in range(2))
    assert same_bits(one, again)
    assert not same_bits(one, cls(random_state=6, **params).fit(X, y))
    for make in (np.random.default_rng, np.random.RandomState):
        assert same_bits(*(cls(random_state=make(3), **params).fit(X, y) for _ in range(2)))
    generator = np.random.default_rng(3)
    drawn = [cls(random_state=generator, **params).fit(X, y) for _ in range(2)]
    assert not same_bits(*drawn)
    np.random.seed(0)
    state = np.random.get_state()[1].copy()
    cls(random_state=None, **params).fit(X, y)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_neighbouring_seeds_are_independent(quiet):
    weights = {SGDClassifier(random_state=seed, max_iter=1).fit(X, Y).coef_.tobytes()
               for seed in range(50)}
    assert len(weights) == 50


@pytest.mark.memory
@pytest.mark.parametrize(
    ("parameters", "names"),
    [
        ({"penalty": "l1", "average": True}, ("v", "u", "paid")),
        ({"optimizer": "adam", "average": True}, ("V", "b", "u", "moments", "last")),
        ({"optimizer": "adagrad", "multi_class": "joint"}, ("V", "b", "moments", "last")),
    ],
)
def test_a_damaged_state_is_refused(parameters, names):
    """As a hostile model file could hold: kernels must never see arrays of other sizes."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 7)), np.arange(30) % 3
    whole = fastlin.SGDClassifier("log_loss", **parameters).partial_fit(X, y, classes=[0, 1, 2])
    for name in names:
        for damage in (lambda a: a[..., :-1].copy(), lambda a: a.astype(complex), lambda a: "x"):
            model = copy.deepcopy(whole)
            model._memories[0][name] = damage(model._memories[0][name])
            with pytest.raises((ValueError, TypeError)):
                model.partial_fit(X, y)


@pytest.mark.memory
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(random_state=0), Perceptron(random_state=0, average="voted"),
        SGDClassifier("log_loss", multi_class="joint", random_state=0),
        SGDClassifier(random_state=0),
    ],
)
@pytest.mark.parametrize("fault", ["class_weight", "overflow", "labels"])
def test_a_growing_call_that_fails_changes_nothing(model, fault, quiet):
    X = np.random.default_rng(0).standard_normal((300, 6))
    y = np.array(["a", "b"] * 150)
    model = copy.deepcopy(model).partial_fit(X[:4], y[:4], grow=True)
    before = pickle.dumps(model)
    wrong = np.full((2, 6), 1.7e308) if fault == "overflow" else X[:2]
    labels = [0, 1] if fault == "labels" else ["a", "q"]
    if fault == "class_weight":
        model.set_params(class_weight={"zzz": 1})
    with pytest.raises((ValueError, TypeError)):
        for _ in range(20):
            model.partial_fit(wrong, labels, grow=True)
    model.set_params(class_weight=None)
    assert model.classes_.tolist() == ["a", "b"] or fault == "overflow"
    if fault != "overflow":
        whole = pickle.loads(before)
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        for _ in range(5):
            model.partial_fit(X, y)
            whole.partial_fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
