"""Dual coordinate ascent: against a slow version, and the optimum on every layout."""

import threading

import dual_reference
import numpy as np
import pytest
import reference
from layouts import LAYOUTS

from fastlin import _dual_cd, _dual_newton, as_rows
from fastlin._core import dual_cd as kernel
from fastlin._core import losses as core
from fastlin._parallel import Cancelled, run
from fastlin._problem import LOSS_CODES, Certificate, Fit, Problem
from fastlin._random import spawn_seed

PARAMETER = {
    "log_loss": 0.0, "squared_hinge": 1.0, "hinge": 1.0, "squared_error": 0.0,
    "epsilon_insensitive": 0.1, "squared_epsilon_insensitive": 0.1,
}  # fmt: skip
LOSSES = list(PARAMETER)
OF_MARGINS = {"log_loss", "squared_hinge", "hinge"}
SEED = spawn_seed(0, 1)[0]
NOTHING = np.empty(0)
NONE_RESTS = np.empty(0, np.uint8)


def targets(loss, X, seed=0):
    rng = np.random.default_rng(seed)
    z = X @ rng.normal(size=X.shape[1]) + 0.5 * rng.normal(size=len(X)) + 0.3
    return np.where(z > 0, 1.0, -1.0) if loss in OF_MARGINS else z + 2.0


def problem_of(X, y, loss, C=1.0, weight=NOTHING, **more):
    total = weight.sum() if len(weight) else len(y)
    return Problem(
        as_rows(X), y, loss, l2=1.0 / (C * total), weight=weight,
        loss_parameter=PARAMETER[loss], **more,
    )


def solve(problem, tol=1e-6, max_iter=20_000, seed=SEED, start=None):
    return _dual_cd.solve(problem, tol, max_iter, seed, start)


def data(n=60, d=5, seed=0, shift=0.5):
    return np.random.default_rng(seed).normal(size=(n, d)) + shift


def objective(problem, X, w, b):
    """P by the formulas of the tests."""
    f = reference.LOSSES[problem.loss]
    z = X @ w + b
    losses = [f(z[i], problem.y[i], problem.loss_parameter)[0] for i in range(len(z))]
    weight = problem.weight if len(problem.weight) else np.ones(len(z))
    return np.average(losses, weights=weight) + 0.5 * problem.l2 * w @ w


# a step


def one_step(loss, p, y, a, h):
    """a' of each, as a visit makes it: the response is u times 1."""
    n = len(p)
    X, moved = as_rows(np.ones((n, 1))), a.copy()
    logit = np.empty(n)
    if loss == "log_loss":
        kernel.logits(a * y, logit)
    rule = {
        "loss": LOSS_CODES[loss], "loss_parameter": PARAMETER[loss], "mass": 1.0,
        "fit_intercept": False, "nu": 0.0, "cc": 0.0, "stride": 1, "slack": np.inf,
    }
    state = dict.fromkeys(
        ("B", "s", "U", "gap", "objective", "violation", "walked"), 0.0)
    for i in range(n):
        u, order = np.array([p[i]]), np.array([i])
        kernel.visit(X, y, NOTHING, h, NOTHING, order, order[1:], rule, state, moved, logit, u,
                     NONE_RESTS, NONE_RESTS, 0.0, 0.0)
        assert u[0] == pytest.approx(p[i] + moved[i] - a[i], abs=1e-12 * (1 + abs(p[i])))
    return moved


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "log_loss"])
def test_a_step_ends_where_the_variable_is_minus_a_slope(loss):
    """a' lies in minus the subdifferential of the loss at the response that it leads to."""
    rng = np.random.default_rng(0)
    n = 2000
    p, h = rng.normal(size=n) * 3, 10.0 ** rng.uniform(-6, 6, n)
    if loss in OF_MARGINS:
        y = rng.choice([-1.0, 1.0], n)
        a = y * rng.random(n) * rng.choice([0, 1], n)
        a[:20] = y[:20]
    else:
        y = rng.normal(size=n)
        a = rng.choice([-1.0, 0.0, 1.0], n) * rng.choice([1.0, 0.3], n)
    moved = one_step(loss, p, y, a, h)
    f, e = reference.LOSSES[loss], PARAMETER[loss]
    for i in range(n):
        after = p[i] + h[i] * (moved[i] - a[i])
        near = 1e-9 * (1 + abs(after)) * (1 + h[i])
        low, high = (-f(q, y[i], e)[1] for q in (after + near, after - near))
        assert low - 1e-9 <= moved[i] <= high + 1e-9


@pytest.mark.parametrize("m", [-1e150, -1e5, -800.0, 0.0, 800.0, 1e5, 1e150])
@pytest.mark.parametrize("h", [0.0, 1e-320, 1e-5, 1.0, 1e5, 1e300])
@pytest.mark.parametrize("loss", LOSSES)
def test_steps_at_extremes_stay_in_the_domain(loss, h, m):
    for a in (0.0, 1e-300, 0.5, 1.0):
        moved = one_step(loss, np.array([m]), np.ones(1), np.array([a]), np.array([h]))
        assert np.isfinite(moved).all()
        conjugate = core.total_conjugate(LOSS_CODES[loss], PARAMETER[loss], moved, np.ones(1),
                                         NOTHING)
        assert conjugate < np.inf


def test_a_logistic_step_ends_near_the_root():
    """Plain Newton steps swing for ever between the flat ends of the sigmoid."""
    rng = np.random.default_rng(0)
    n = 5000
    m, t = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 2, n), rng.random(n) ** 8
    t[:500], t[500:1000] = 0, 1
    h = 10.0 ** rng.uniform(-3, 6, n)
    moved = one_step("log_loss", m, np.ones(n), t, h)
    low, high = np.minimum(-m - h, -700), np.maximum(-m + h, 700)
    for _ in range(200):
        v = (low + high) / 2
        over = v + m + h * (np.exp(-np.logaddexp(0, -v)) - t) > 0
        low, high = np.where(over, low, v), np.where(over, v, high)
    root = np.exp(-np.logaddexp(0, -v))
    # the last step moved v by at most 0.1, of the cube of which is what it leaves
    assert np.abs(moved - root).max() <= 0.9 * 0.1**3
    assert np.abs(moved / root - 1)[v > -600].max() <= 1.8 * 0.1**3


# epochs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_epochs_are_those_of_the_slow_version(loss, fit_intercept, weighted):
    X = data()
    y = targets(loss, X)
    weight = np.random.default_rng(3).uniform(0.2, 3, len(y)) if weighted else NOTHING
    problem = problem_of(X, y, loss, C=0.7, weight=weight, fit_intercept=fit_intercept)
    ascent = _dual_cd._Ascent(problem, SEED, None, 0.25 if fit_intercept else 0.0)
    ascent.pauses, orders, visits = True, [], 0
    for _ in range(9):
        visits += ascent.run_epoch()
        orders.append(ascent.order.order.copy())
        ascent.wake_all()
    slow = dual_reference.ascend(
        X, y, orders, loss=loss, l2=problem.l2, parameter=PARAMETER[loss],
        weight=weight if weighted else None, centre=ascent.centre if fit_intercept else None,
        nu=ascent.rule["nu"], B=0.25 if fit_intercept else 0.0, pauses=not ascent.of_lines,
    )
    assert slow.visits == visits
    assert ascent.of_lines or slow.visits < 8 * len(y)
    np.testing.assert_allclose(ascent.a, slow.a, rtol=1e-10, atol=1e-12)
    w = ascent.u - ascent.state["s"] * ascent.centre if fit_intercept else ascent.u
    np.testing.assert_allclose(w, slow.w, rtol=1e-10, atol=1e-12)
    assert ascent.state["B"] == pytest.approx(slow.B, rel=1e-10, abs=1e-12)
    if fit_intercept:
        assert ascent.state["s"] == pytest.approx(slow.pull, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_epoch_climbs(loss):
    """Without an intercept each visit maximises the dual over one variable."""
    X = data(200, 8)
    problem = problem_of(X, targets(loss, X), loss, C=10.0, fit_intercept=False)
    ascent, before = _dual_cd._Ascent(problem, SEED, None, 0.0), -np.inf
    for _ in range(20):
        ascent.run_epoch()
        now = problem.dual(ascent.a, problem.l2 * ascent.u)
        assert now >= before - 1e-12
        before = now


# the optimum


OPTIMA = {}


def optimum(problem, X, key):
    """The golden number of a matrix: P on plain dense rows, solved far beyond what is asked."""
    if key not in OPTIMA:
        OPTIMA[key] = solve(problem, 1e-10, 20_000)
    return OPTIMA[key].certificate.objective


@pytest.mark.memory
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_loss_reaches_its_optimum_on_every_layout(layout):
    given, X = layout.make()
    for loss in LOSSES:
        y = targets(loss, X)
        for fit_intercept, weighted in ((True, False), (False, True), (True, True)):
            weight = np.linspace(0.1, 2, len(y)) if weighted else NOTHING
            terms = {"C": 0.3, "weight": weight, "fit_intercept": fit_intercept}
            problem = problem_of(given, y, loss, **terms)
            fit = solve(problem)
            assert fit.converged
            assert fit.certificate.relative_gap <= 1e-6
            # what is claimed holds by other formulas
            found = objective(problem, X, fit.coef, fit.intercept)
            assert fit.certificate.objective == pytest.approx(found, rel=1e-9)
            again = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
            assert again.relative_gap <= 1.01e-6
            key = (layout.base, layout.dtype, loss, fit_intercept, weighted)
            best = optimum(problem_of(X, y, loss, **terms), X, key)
            assert best * (1 - 1e-9) <= found <= best * (1 + 1.1e-6)
            if not fit_intercept:
                assert fit.intercept == 0


@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimum_does_not_depend_on_the_seed(loss):
    X = data(100, 4)
    problem = problem_of(X, targets(loss, X), loss, C=0.1)
    found = [solve(problem, 1e-11, 20_000, seed) for seed in spawn_seed(7, 3)]
    assert all(fit.converged for fit in found)
    for fit in found[1:]:
        np.testing.assert_allclose(fit.coef, found[0].coef, rtol=0, atol=1e-5)
        assert fit.certificate.objective == pytest.approx(found[0].certificate.objective, rel=2e-11)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repetitions(loss):
    X = data(40, 4)
    y = targets(loss, X)
    times = np.arange(40) % 4 + 1
    weighted = solve(problem_of(X, y, loss, C=0.1, weight=times.astype(float)), 1e-12, 20_000)
    repeated = solve(
        problem_of(np.repeat(X, times, axis=0), np.repeat(y, times), loss, C=0.1), 1e-12, 20_000
    )
    assert weighted.certificate.objective == pytest.approx(
        repeated.certificate.objective, rel=1e-11
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=2e-6)


@pytest.mark.parametrize("loss", sorted(OF_MARGINS))
def test_a_shift_of_the_columns_changes_no_prediction(loss):
    X = data(80, 3, shift=0.0)
    y = targets(loss, X)
    plain = solve(problem_of(X, y, loss), 1e-8, 20_000)
    z = X @ plain.coef + plain.intercept
    for shift in (10.0, 100.0, 1000.0):
        moved = solve(problem_of(X + shift, y, loss), 1e-8, 20_000)
        assert moved.converged
        np.testing.assert_allclose((X + shift) @ moved.coef + moved.intercept, z, atol=2e-3)


def test_regularisation_never_touches_the_intercept():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.where(np.arange(50) < 45, 1.0, -1.0)
    for C in (1e-3, 1e-5):
        fit = solve(problem_of(X, y, "log_loss", C=C), 1e-8, 200)
        assert fit.converged
        assert fit.intercept == pytest.approx(np.log(9), abs=1e-2)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_values_that_underflow(loss, fit_intercept):
    X = np.zeros((30, 2))
    X[3] = 3.75e-208
    y = np.repeat([-1.0, 1.0], 15)
    fit = solve(problem_of(X, y, loss, fit_intercept=fit_intercept), 1e-6, 100)
    assert fit.converged
    assert np.abs(fit.coef).max() < 1e-6
    assert abs(fit.intercept) <= (1e-6 if loss in OF_MARGINS else 1.0)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_small_and_degenerate_problems_end(loss, fit_intercept):
    one = np.array([[2.0, -1.0]])
    for X, y in (
        (one, np.array([1.0])),
        (np.repeat(one, 5, axis=0), np.ones(5)),
        (np.zeros((4, 2)), np.array([1.0, -1.0, 1.0, 1.0])),
        (np.repeat(one, 6, axis=0), np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0])),
    ):
        problem = problem_of(X, y, loss, fit_intercept=fit_intercept)
        fit = solve(problem, 1e-6, 3000)
        assert fit.converged or fit.certificate.objective < 1e-9
        assert np.isfinite(fit.coef).all()
        assert np.isfinite(fit.intercept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_too_hard_says_so(loss, dtype):
    """Huge C, columns of unlike scale, huge and tiny values: the right answer, or not converged."""
    X = data(50, 3).astype(dtype)
    y = targets(loss, X.astype(float))
    start = objective(problem_of(X, y, loss, C=1e12), X, np.zeros(3), 0.0)
    for C, scale in ((1e12, [1, 1, 1]), (1.0, [1e4, 1, 1e-4]), (1.0, [1e18] * 3),
                     (1.0, [1e-30] * 3), (1e300, [1, 1, 1])):  # fmt: skip
        scaled = (X * np.array(scale, dtype)).astype(dtype)
        problem = problem_of(scaled, y, loss, C=C)
        fit = solve(problem, 1e-3, 30)
        assert np.isfinite(fit.coef).all()
        assert np.isfinite(fit.intercept)
        assert fit.converged == (fit.certificate.relative_gap <= 1e-3)
        assert fit.certificate.objective <= start * (1 + 1e-9)
        measured = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
        assert measured.objective == pytest.approx(fit.certificate.objective, rel=1e-6)
        assert measured.relative_gap <= 1.01 * fit.certificate.relative_gap + 1e-6


# Newton's method on losses made of lines


LINES = ["hinge", "epsilon_insensitive"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LINES)
def test_weak_penalties_are_no_obstacle(loss, fit_intercept, weighted):
    """Coordinate ascent alone has a gap of several percent after as many epochs."""
    X = data(1500, 12, shift=1.0)
    weight = np.random.default_rng(5).uniform(0, 2, 1500) if weighted else NOTHING
    for C in (10.0, 1000.0):
        problem = problem_of(X, targets(loss, X), loss, C=C, weight=weight,
                             fit_intercept=fit_intercept)
        fit = solve(problem, 1e-8, 1000)
        assert fit.converged
        assert fit.n_iter < 600
        again = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
        assert again.relative_gap <= 1.01e-8
        assert objective(problem, X, fit.coef, fit.intercept) == pytest.approx(
            fit.certificate.objective, rel=1e-10)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", LINES)
def test_the_envelope_is_smooth_and_below_the_loss(loss, fit_intercept):
    X = data(200, 4)
    problem = problem_of(X, targets(loss, X), loss, fit_intercept=fit_intercept)
    rng = np.random.default_rng(1)
    a = solve(problem, 1e-2, 50).dual
    for h in (1.0, 1e-2):
        w, d = rng.normal(size=4), rng.normal(size=4)

        def at(w, h=h):
            return _dual_newton._point(problem, w, X @ w, 0.0, a, h)

        here = at(w)
        slope = problem.l2 * w - X.T @ problem.weighted(here.a)
        step = 1e-6
        numeric = (at(w + step * d).value - at(w - step * d).value) / (2 * step)
        assert numeric == pytest.approx(slope @ d, rel=1e-6, abs=1e-8)
        if fit_intercept:
            assert abs(problem.weighted(here.a).sum()) < 1e-12
        best = problem.primal(X @ w + problem.best_intercept(X @ w), w)
        assert here.value <= best + 1e-12


# precision


@pytest.mark.parametrize("loss", LOSSES)
def test_single_precision_is_left_where_tol_asks_for_more(loss):
    X = data(300, 6).astype(np.float32)
    problem = problem_of(X, targets(loss, X.astype(float)), loss, C=0.05)
    fit = solve(problem, 1e-11, 20_000)
    assert fit.converged
    again = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
    assert again.relative_gap <= 2e-11


@pytest.mark.parametrize("loss", LOSSES)
def test_wide_rows_are_worked_on_in_single_and_finished_on_their_own_values(loss):
    """More columns than the cache has room for; values that single precision can't hold."""
    rng = np.random.default_rng(0)
    n, d = 60, 60_000
    dense = np.zeros((n, d))
    for row in dense:
        row[rng.choice(300, 20, replace=False)] = rng.normal(size=20) + 1e-9
    from scipy import sparse

    X = sparse.csr_array(dense)
    y = targets(loss, dense[:, :300])
    problem = problem_of(X, y, loss, C=0.1)
    ascent = _dual_cd._Ascent(problem, SEED, None, 0.0)
    assert ascent.u.dtype == np.float32
    for tol in (1e-3, 1e-11):
        fit = solve(problem, tol, 20_000)
        assert fit.converged
        assert Certificate.measured(problem, fit.coef, fit.intercept, fit.dual).relative_gap <= (
            1.01 * tol + 1e-15
        )
    narrow = solve(problem_of(dense[:, :300].copy(), y, loss, C=0.1), 1e-11, 20_000)
    np.testing.assert_allclose(fit.coef[:300], narrow.coef, atol=1e-5)


def test_values_too_large_for_single_precision_stay_double():
    dense = np.zeros((20, 60_000))
    dense[:, 0] = np.where(np.arange(20) % 2, 1e39, -1e39)
    y = np.sign(dense[:, 0])
    fit = solve(problem_of(dense, y, "squared_hinge", fit_intercept=False), 1e-6, 100)
    assert np.isfinite(fit.coef).all()
    assert (np.sign(dense @ fit.coef) == y).all()


# starts, seeds, Ctrl-C


@pytest.mark.parametrize("loss", LOSSES)
def test_a_warm_start_goes_on_from_the_answer(loss):
    X = data(200, 6)
    y = targets(loss, X)
    first = solve(problem_of(X, y, loss, C=0.1), 1e-8)
    cold = solve(problem_of(X, y, loss, C=0.1001), 1e-6)
    warm = solve(problem_of(X, y, loss, C=0.1001), 1e-6, start=first)
    assert warm.converged
    assert warm.certificate.objective == pytest.approx(cold.certificate.objective, rel=2e-6)
    gaps = [
        solve(problem_of(X, y, loss, C=0.1001), 1e-6, 1, start=start).certificate.relative_gap
        for start in (None, first)
    ]
    assert gaps[1] < 0.01 * gaps[0]
    same = solve(problem_of(X, y, loss, C=0.1), 1e-6, start=first)
    assert same.n_iter <= 3
    # without dual variables, from the slopes at the weights
    bare = Fit(first.coef, first.intercept, 0, first.certificate, False)
    assert solve(problem_of(X, y, loss, C=0.1), 1e-6, start=bare).converged


def test_the_same_seed_gives_the_same_bits():
    X = data(3000, 10)
    problem = problem_of(X, targets("hinge", X), "hinge")
    kept = SEED.copy()
    one, other = solve(problem, 1e-4), solve(problem, 1e-4)
    np.testing.assert_array_equal(one.coef, other.coef)
    np.testing.assert_array_equal(SEED, kept)


def test_nothing_of_the_caller_is_written_to():
    X, weight = data(100, 4), np.linspace(0.5, 2, 100)
    y = targets("log_loss", X)
    kept = X.copy(), y.copy(), weight.copy()
    first = solve(problem_of(X, y, "log_loss", weight=weight))
    dual = first.dual.copy()
    solve(problem_of(X, y, "log_loss", weight=weight), 1e-9, start=first)
    np.testing.assert_array_equal(first.dual, dual)
    for was, now in zip(kept, (X, y, weight), strict=True):
        np.testing.assert_array_equal(was, now)


def test_max_iter_ends_it_with_an_honest_gap():
    X = data(200, 6)
    problem = problem_of(X, targets("hinge", X), "hinge", C=100.0)
    gaps = []
    for max_iter in (1, 2, 10):
        fit = solve(problem, 1e-12, max_iter)
        assert fit.n_iter == max_iter
        assert not fit.converged
        measured = Certificate.measured(problem, fit.coef, fit.intercept, fit.dual)
        assert fit.certificate.relative_gap == pytest.approx(measured.relative_gap, rel=1e-6)
        gaps.append(fit.certificate.relative_gap)
    assert gaps == sorted(gaps, reverse=True)


def test_a_run_that_is_given_up_ends():
    X = data(20_000, 30)
    problem = problem_of(X, targets("hinge", X), "hinge", C=1e6)

    begun, ended = threading.Event(), []

    def fails():
        begun.wait()
        raise ZeroDivisionError

    def endless():
        begun.set()
        try:
            solve(problem, 1e-16, 10**9)
        except Cancelled:
            ended.append(True)
            raise

    with pytest.raises(ZeroDivisionError):
        run([endless, fails], 2)
    assert ended == [True]
