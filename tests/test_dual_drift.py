"""What rounding makes of the weights of dual coordinate ascent on its way, and the certificates
that allow for it."""

import numpy as np
import pytest
import scipy.sparse as sp

from fastlin import _dual_cd, as_rows
from fastlin._core import dual_cd as kernels
from fastlin._problem import Certificate, Problem
from fastlin._random import spawn_seed

LOSSES = {"log_loss": 0.0, "squared_hinge": 1.0, "hinge": 1.0, "squared_error": 0.0,
          "epsilon_insensitive": 0.1}
SEED = spawn_seed(0, 1)[0]


def problem_of(loss, fit_intercept, shift=0.0, C=1.0, weighted=False):
    rng = np.random.default_rng(1)
    X = sp.random(300, 40, 0.2, "csr", random_state=rng, data_rvs=rng.standard_normal)
    X.data += shift
    y = X @ rng.normal(size=40) + rng.normal(size=300)
    if loss in ("log_loss", "squared_hinge", "hinge"):
        y = np.where(y > np.median(y), 1.0, -1.0)
    weight = rng.uniform(0.5, 3.0, 300) if weighted else np.empty(0)
    total = weight.sum() if weighted else 300
    return X, Problem(as_rows(X), y, loss, l2=1.0 / (C * total), weight=weight,
                      loss_parameter=LOSSES[loss], fit_intercept=fit_intercept)


@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_drift_at_most_as_far_as_is_said(loss, fit_intercept, shift):
    X, problem = problem_of(loss, fit_intercept, shift, weighted=True)
    ascent = _dual_cd._Ascent(problem, SEED, None, 0.0)
    wide = X.toarray().astype(np.longdouble)
    for epoch in range(40):
        ascent.run_epoch()
        exact = (ascent.mass * ascent.a.astype(np.longdouble)) @ wide
        far = np.linalg.norm((ascent.u - exact).astype(float))
        # seen to hold by a wide margin, and still far from what any tol asks for
        assert far <= ascent.drift <= 1e-9 * (epoch + 1) * np.linalg.norm(ascent.u)
        assert far > 0 or epoch == 0
    ascent.weights(True)
    assert ascent.drift == 0.0


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_gaps_that_are_told_are_those_measured_or_hardly_more(loss, fit_intercept, tol):
    for shift in (0.0, 2.0):
        _, problem = problem_of(loss, fit_intercept, shift)
        fit = _dual_cd.solve(problem, tol, 20_000, SEED)
        measured = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
        assert fit.converged and fit.certificate.relative_gap <= tol
        assert fit.certificate.objective == pytest.approx(measured.objective, rel=1e-13)
        told = fit.certificate.relative_gap
        assert measured.relative_gap - 1e-13 <= told <= 1.0102 * measured.relative_gap + 1e-13


def test_no_pass_over_the_rows_is_spent_on_weights_that_hardly_drifted(monkeypatch):
    passes = []
    monkeypatch.setattr(_dual_cd, "rmatvec", lambda *args: passes.append(args))
    _, problem = problem_of("squared_hinge", False)
    assert _dual_cd.solve(problem, 1e-3, 100, SEED).converged
    assert not passes


def test_weights_that_may_have_drifted_are_summed_up(monkeypatch):
    """A bound that proves nothing, as of steps that overflowed it, is never taken for an answer."""
    for rounding in (1e-3, 1e300):
        monkeypatch.setattr(_dual_cd, "_ROUNDING", rounding)
        _, problem = problem_of("squared_hinge", False)
        fit = _dual_cd.solve(problem, 1e-6, 1000, SEED)
        measured = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
        assert fit.converged and measured.relative_gap <= 1e-6
        assert fit.certificate.relative_gap == pytest.approx(measured.relative_gap, rel=1e-6)


@pytest.mark.parametrize("start", [-40.0, -36.5, -30.0, 745.0, 760.0])
def test_a_variable_finds_its_logit_again(start):
    """Where sigma is 0 or 1 up to rounding it is no help for the next one, and margins that move by
    little from visit to visit bring the variable back."""
    X = as_rows(sp.csr_matrix([[1e-3, 1.0]]))
    ascent = _dual_cd._Ascent(Problem(X, np.ones(1), "log_loss", l2=1.0), SEED, None, 0.0)
    ascent.h[:] = ascent.rule["mass"] = 1e-9
    ascent.a[:] = np.exp(-np.logaddexp(0, start))
    kernels.logits(ascent.a, ascent.logit)
    first = np.zeros(1, np.int64)
    for margin in np.arange(start, 0.0, -np.sign(start) * 0.05):
        ascent.u[:] = 0.0, margin
        kernels.visit(
            X, ascent.problem.y, np.empty(0), ascent.h, ascent.k, first, first, ascent.rule,
            ascent.state, ascent.a, ascent.logit, ascent.u, ascent.resting, ascent.pause, 0.0, 0.0,
        )
    np.testing.assert_allclose(ascent.a, 1 / (1 + np.exp(-ascent.logit)), rtol=1e-6)
    np.testing.assert_allclose(ascent.logit, -margin, atol=1e-3)


def test_a_variable_and_its_logit_stay_together():
    """Short steps are summed up by a series, from visit to visit."""
    for C in (0.01, 1.0, 100.0):
        _, problem = problem_of("log_loss", False, C=C)
        ascent = _dual_cd._Ascent(problem, SEED, None, 0.0)
        for _ in range(200):
            ascent.run_epoch()
        t = ascent.a * problem.y
        np.testing.assert_allclose(t, 1 / (1 + np.exp(-ascent.logit)), rtol=1e-8)
        assert np.ptp(t) > 0.01
