"""When training stops, and what it says meanwhile."""

import math

import numpy as np
import pytest
from public import ONLINE, name
from sgd_data import T, X, Y, objective, penalty_of, target

import fastlin
from fastlin import PassiveAggressiveRegressor, SGDClassifier, SGDRegressor
from fastlin._learner import Learner

# Stopping


# The first steps of the default schedule are long: a short fit may end above the best constant,
# and then that is what the warning says.
GENTLE = {SGDClassifier: {"learning_rate": "constant", "eta0": 0.01}}


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_max_iter_without_convergence_warns(cls):
    params = {"max_iter": 2, "tol": 1e-9, "random_state": 0, **GENTLE.get(cls, {})}
    with pytest.warns(
        fastlin.ConvergenceWarning, match=r"max_iter=2 epochs.*raise max_iter or tol"
    ):
        model = cls(**params).fit(X, target(cls))
    assert model.n_iter_ == 2


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cls", ONLINE, ids=name)
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


@pytest.mark.parametrize("cls", ONLINE, ids=name)
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
    reg = SGDRegressor(
        penalty="elasticnet",
        alpha=0.1,
        l1_ratio=0.4,
        max_iter=1,
        shuffle=False,
        learning_rate="constant",
        eta0=1e-9,
    ).fit(X, T)
    # steps this short leave w = 0, so that the mean loss before each step is that of p = 0
    assert reg.trace_[0]["loss"] == pytest.approx(0.5 * np.mean(T**2), rel=1e-5)
    reg = SGDRegressor(penalty="elasticnet", alpha=0.1, l1_ratio=0.4, max_iter=3).fit(X, T)
    gap = reg.trace_[-1]["objective"] - reg.trace_[-1]["loss"]
    assert gap == pytest.approx(penalty_of(reg), rel=1e-12)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
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
    reg = SGDRegressor(
        early_stopping=True,
        learning_rate="constant",
        eta0=1e-300,
        random_state=0,
        validation_fraction=0.99,
        penalty=None,
    ).fit(X, T - T.mean())
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


@pytest.mark.parametrize("cls", ONLINE, ids=name)
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


# Epochs of few rows in one call of the kernel


@pytest.mark.parametrize("kind, params", [
    (SGDClassifier, {"loss": "log_loss"}),
    (SGDClassifier, {"average": 20, "shuffle": "replacement"}),
    (SGDRegressor, {"learning_rate": "adaptive", "batch_size": 7, "shuffle": False}),
    (PassiveAggressiveRegressor, {"average": True}),
])  # fmt: skip
@pytest.mark.usefixtures("quiet")
def test_epochs_in_one_call_are_those_of_a_call_each(kind, params, monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0]
    y = (y > 0.3).astype(float) if kind is SGDClassifier else y
    model, traces = kind(random_state=1, max_iter=60, **params), []
    for together in (True, False):
        if not together:
            monkeypatch.setattr(Learner, "runs_epochs", lambda self, X: False)
        model.fit(X, y)
        traces.append([(entry["loss"], entry["objective"]) for entry in model.trace_])
        traces[-1].append((*model.coef_.ravel(), *model.intercept_, model.t_))
    assert traces[0] == traces[1]
