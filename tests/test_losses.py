"""The loss table: values by formula, slopes by finite differences, convexity, reach, safety."""

import numpy as np
import pytest
import reference

from fastlin._core import joint
from fastlin._core import losses as core
from fastlin._probability import PROBABILITIES
from fastlin._safety import best_constant_loss
from fastlin._scores import mean_loss
from fastlin._sgd import JOINT_LOSSES, LOSSES, MARGIN_LOSSES, TARGET_LOSSES, make_rule

CONVEX = [name for name in LOSSES if name != "sigmoid_mse"]
SMOOTH = ["squared_hinge", "log_loss", "sparsemax", "modified_huber", "exponential", "sigmoid_mse",
          "squared_error", "huber", "squared_epsilon_insensitive"]  # fmt: skip
EXTREMES = [
    -1e3,
    -745.2,
    -709.8,
    -40.0,
    -36.7,
    -1.0,
    -0.5,
    -1e-9,
    0.0,
    1e-9,
    0.3,
    1.0,
    2.0,
    36.8,
    40.0,
    709.7,
    745.2,
    1e3,
]


def evaluate(name, p, y, parameter=None):
    p, y = np.broadcast_arrays(np.asarray(p, float), np.asarray(y, float))
    value, slope = np.empty(p.size), np.empty(p.size)
    loss = LOSSES[name]
    core.evaluate(
        loss.code,
        loss.default if parameter is None else parameter,
        p.ravel().copy(),
        y.ravel().copy(),
        value,
        slope,
    )
    return value.reshape(p.shape), slope.reshape(p.shape)


def parameters(name):
    return {
        "perceptron": [0.0, 1.0],
        "huber": [0.1, 1.35, 0.0],
        "epsilon_insensitive": [0.1, 0.0],
        "squared_epsilon_insensitive": [0.1, 0.0],
        "quantile": [0.5, 0.16, 0.9],
    }.get(name, [None])


CASES = [(name, parameter) for name in LOSSES for parameter in parameters(name)]


def targets_of(name):
    return [-1.0, 1.0] if name in MARGIN_LOSSES else [-2.5, 0.0, 0.75]


def test_the_table_is_complete():
    assert set(LOSSES) == set(reference.LOSSES)
    assert set(MARGIN_LOSSES) | set(TARGET_LOSSES) == set(LOSSES)
    assert [loss.code for loss in LOSSES.values()] == list(range(len(LOSSES)))
    for name, default in reference.DEFAULT_PARAMETER.items():
        assert LOSSES[name].default == default
        assert LOSSES[name].parameter


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_values_and_slopes_are_those_of_the_formulas(name, parameter):
    points = np.concatenate([EXTREMES, np.linspace(-5, 5, 401)])
    a = LOSSES[name].default if parameter is None else parameter
    for y in targets_of(name):
        value, slope = evaluate(name, points, y, parameter)
        with np.errstate(over="ignore", under="ignore"):
            expected = np.array([reference.LOSSES[name](p, y, a) for p in points])
        np.testing.assert_allclose(value, expected[:, 0], rtol=4e-15, atol=0)
        np.testing.assert_allclose(slope, expected[:, 1], rtol=2e-14, atol=0)


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_slopes_are_derivatives(name, parameter):
    """Central differences away from kinks; at 1e3 in units of the value there."""
    for y in targets_of(name):
        p = np.concatenate([np.random.default_rng(0).uniform(-6, 6, 500), [-1e3, 1e3, -30, 30]])
        kinks = [0.0, y, 1.0, -1.0, y - 0.1, y + 0.1, y + 1.35, y - 1.35]
        p = p[np.abs(p[:, None] - kinks).min(axis=1) > 1e-3]
        if name == "exponential":
            p = p[np.abs(p) < 10]
        h = 1e-5 * np.maximum(1, np.abs(p))
        h = (p + h) - p
        ahead, behind = (
            evaluate(name, p + h, y, parameter)[0],
            evaluate(name, p - h, y, parameter)[0],
        )
        value, slope = evaluate(name, p, y, parameter)
        tolerance = 1e-8 * (1 + np.abs(slope) + np.abs(value) * 1e-2)
        assert (np.abs((ahead - behind) / (2 * h) - slope) <= tolerance).all()


@pytest.mark.parametrize(("name", "parameter"), [c for c in CASES if c[0] in CONVEX])
def test_slopes_of_convex_losses_never_fall(name, parameter):
    far = 300 if name == "exponential" else 1000
    p = np.unique(np.concatenate([np.linspace(-far, far, 2001), np.linspace(-3, 3, 6001)]))
    for y in targets_of(name):
        value, slope = evaluate(name, p, y, parameter)
        assert (np.diff(slope) >= -1e-15 * np.abs(slope[1:])).all()
        # and the value lies above each tangent
        for i in range(0, len(p), len(p) // 23):
            tangent = value[i] + slope[i] * (p - p[i])
            assert (value >= tangent - 1e-12 * (1 + np.abs(value[i]) + np.abs(tangent))).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_of_smooth_losses_are_continuous(name):
    p = np.linspace(-4, 4, 80_001)
    for y in targets_of(name):
        slope = evaluate(name, p, y)[1]
        steepest = np.exp(4) if name == "exponential" else 8.0
        assert np.abs(np.diff(slope)).max() <= steepest * 1e-4 * 1.01


def code_and_parameter(name, parameter):
    return LOSSES[name].code, LOSSES[name].default if parameter is None else parameter


def curvatures(name, p, y, parameter=None):
    code, a = code_and_parameter(name, parameter)
    p, out = np.asarray(p, float), np.empty(len(p))
    core.curvatures(code, a, p, np.full(len(p), float(y)), out)
    return out


def conjugate(name, dual, y, parameter=None):
    code, a = code_and_parameter(name, parameter)
    return np.array([
        core.total_conjugate(code, a, np.array([u]), np.array([float(y)]), np.empty(0))
        for u in np.atleast_1d(dual)
    ])


@pytest.mark.parametrize(("name", "parameter"), [c for c in CASES if c[0] in CONVEX])
def test_curvatures_are_derivatives_of_slopes(name, parameter):
    for y in targets_of(name):
        p = np.random.default_rng(0).uniform(-6, 6, 500)
        e = 0.1 if parameter is None else parameter
        kinks = [0.0, 1.0, -1.0, y, y - e, y + e]
        p = p[np.abs(p[:, None] - kinks).min(axis=1) > 1e-3]
        h = 1e-5
        ahead, behind = (evaluate(name, p + step, y, parameter)[1] for step in (h, -h))
        numeric = (ahead - behind) / (2 * h)
        np.testing.assert_allclose(
            curvatures(name, p, y, parameter), numeric, rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize(("name", "parameter"), [c for c in CASES if c[0] in CONVEX])
def test_the_bend_is_the_largest_curvature(name, parameter):
    bend = core.bend(LOSSES[name].code)
    found = 0.0
    for y in targets_of(name):
        p = np.concatenate([EXTREMES, np.linspace(-5, 5, 2001), [y]])
        p = p[p > -700] if name == "exponential" else p
        found = max(found, curvatures(name, p, y, parameter).max())
    if name == "exponential":
        assert bend == np.inf
    else:
        assert found == pytest.approx(bend, rel=1e-15)


@pytest.mark.parametrize(("name", "parameter"), [c for c in CASES if c[0] in CONVEX])
def test_conjugates_are_suprema(name, parameter):
    """sup_p (-dual p - loss(p)), by a search in ever smaller intervals around the best p."""
    for y in targets_of(name):
        for dual in np.concatenate([np.linspace(-1.5, 1.5, 13), [-3.9, 3.9, 1e-9, 0.16, -0.84]]):
            found = conjugate(name, dual, y, parameter)[0]
            centre, width, best = 0.0, 700.0, -np.inf
            for _ in range(60):
                p = centre + np.linspace(-width, width, 201)
                value = -dual * p - evaluate(name, p, y, parameter)[0]
                centre, width, best = p[value.argmax()], width / 4, max(best, value.max())
            if np.isfinite(found):
                assert best == pytest.approx(found, rel=1e-6, abs=1e-6)
            else:
                # it rises without end towards one side
                far = np.array([-600.0, -300.0, 300.0, 600.0])
                with np.errstate(over="ignore"):
                    rise = -dual * far - evaluate(name, far, y, parameter)[0]
                assert rise[0] > rise[1] > 0 or rise[3] > rise[2] > 0


@pytest.mark.parametrize(("name", "parameter"), [c for c in CASES if c[0] in CONVEX])
def test_a_loss_and_its_conjugate_meet_at_the_slope(name, parameter):
    """loss(p) + conjugate = slope p: where Fenchel's inequality is an equality."""
    p = np.linspace(-6, 6, 241)
    for y in targets_of(name):
        value, slope = evaluate(name, p, y, parameter)
        both = value + conjugate(name, -slope, y, parameter)
        np.testing.assert_allclose(both, slope * p, rtol=1e-10, atol=1e-9 * (1 + np.exp(6) * (
            name == "exponential")))
        # and nowhere less
        for dual in -slope[::17]:
            assert (value + conjugate(name, dual, y, parameter) >= -dual * p - 1e-9).all()


def test_conjugates_are_zero_at_zero():
    """Where the loss reaches 0: what a bound by dual variables begins with."""
    for name, parameter in CASES:
        if name in CONVEX:
            for y in targets_of(name):
                assert conjugate(name, 0.0, y, parameter)[0] == 0


def test_only_convex_losses_have_a_conjugate():
    assert conjugate("sigmoid_mse", 0.1, 1.0)[0] == np.inf


def test_sums_of_conjugates_are_weighted():
    y, dual = np.array([1.0, -1.0, 1.0]), np.array([0.2, -0.7, 5.0])
    code = LOSSES["log_loss"].code
    alone = [conjugate("log_loss", dual[i], y[i])[0] for i in range(3)]
    weight = np.array([2.0, 0.5, 0.0])
    # a row of weight 0 asks for nothing
    assert core.total_conjugate(code, 0.0, dual, y, weight) == pytest.approx(
        2 * alone[0] + 0.5 * alone[1])
    assert core.total_conjugate(code, 0.0, dual, y, np.empty(0)) == np.inf


def test_sigmoid_mse_is_not_convex():
    slope = evaluate("sigmoid_mse", np.linspace(-20, 20, 401), 1.0)[1]
    assert (np.diff(slope) < 0).any()
    assert (np.diff(slope) > 0).any()


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_never_negative_nor_nan(name):
    p = np.array([*EXTREMES, 1e6, -1e6, 1e150, -1e150, 5e-324])
    for y in targets_of(name):
        value, slope = evaluate(name, p, y)
        assert (value >= 0).all()
        assert not np.isnan(slope).any()


@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_margin_losses_see_only_the_margin(name):
    p = np.linspace(-3, 3, 601)
    value, slope = evaluate(name, p, 1.0)
    mirrored, mirrored_slope = evaluate(name, -p, -1.0)
    np.testing.assert_array_equal(value, mirrored)
    np.testing.assert_array_equal(slope, -mirrored_slope)


def test_kinks_of_margin_losses_make_the_learner_move():
    assert evaluate("hinge", 1.0, 1.0)[1] == -1
    assert evaluate("hinge", np.nextafter(1, 2), 1.0)[1] == 0
    assert evaluate("perceptron", 0.0, 1.0)[1] == -1
    assert evaluate("perceptron", -0.0, -1.0)[1] == 1
    assert evaluate("perceptron", 1.0, 1.0, parameter=1.0)[1] == -1
    assert evaluate("quantile", 0.5, 0.5)[1] == 0
    assert evaluate("epsilon_insensitive", 0.1, 0.0)[1] == 0


def test_identities_between_losses():
    p = np.linspace(-3, 3, 601)
    np.testing.assert_allclose(
        evaluate("huber", p, 0.5, 1e6)[0], evaluate("squared_error", p, 0.5)[0], rtol=1e-12
    )
    np.testing.assert_allclose(
        evaluate("quantile", p, 0.5, 0.5)[0], 0.5 * evaluate("epsilon_insensitive", p, 0.5, 0.0)[0]
    )
    np.testing.assert_allclose(
        evaluate("squared_epsilon_insensitive", p, 0.5, 0.0)[0],
        2 * evaluate("squared_error", p, 0.5)[0],
    )
    np.testing.assert_array_equal(
        evaluate("perceptron", p, 1.0, 1.0)[0], evaluate("hinge", p, 1.0)[0]
    )
    # four times the two-class sparsemax loss at s = m
    np.testing.assert_allclose(
        evaluate("modified_huber", p, 1.0)[0], 4 * evaluate("sparsemax", p, 1.0)[0], rtol=1e-15
    )


@pytest.mark.parametrize("name", LOSSES)
def test_means_and_sums_are_weighted(name):
    rng = np.random.default_rng(0)
    y = rng.choice([-1.0, 1.0], 50) if name in MARGIN_LOSSES else rng.normal(size=50)
    p, s = rng.normal(size=50), rng.uniform(0, 2, 50)
    value = np.array([evaluate(name, p[i], y[i])[0] for i in range(50)])
    rule = make_rule(name)
    p = p[:, None]
    assert mean_loss(rule, p, y, np.empty(0)) == pytest.approx(value.mean(), rel=1e-13)
    assert mean_loss(rule, p, y, s) == pytest.approx(np.average(value, weights=s), rel=1e-13)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_the_best_constant_is_the_best(name, parameter, weighted, fit_intercept):
    rng = np.random.default_rng(1)
    n = 40
    y = np.where(rng.random(n) < 0.7, 1.0, -1.0) if name in MARGIN_LOSSES else rng.gamma(2, size=n)
    s = rng.uniform(0.2, 3, n) if weighted else np.empty(0)
    rule = make_rule(name, loss_parameter=parameter, fit_intercept=fit_intercept)
    found = best_constant_loss(rule, y, s)
    candidates = np.concatenate([np.linspace(-40, 40, 2001), y]) if fit_intercept else [0.0]
    losses = [mean_loss(rule, np.full((n, 1), c), y, s) for c in candidates]
    # no constant is better; the last digits are those of a bisection
    assert found <= min(losses) + 1e-7 * (1 + min(losses))


def evaluate_joint(name, z, y, parameter=None):
    z, y = np.ascontiguousarray(z, dtype=float), np.asarray(y, dtype=float)
    value, gradient = np.empty(len(z)), np.empty_like(z)
    loss = LOSSES[name]
    joint.joint_loss(
        loss.code, loss.default if parameter is None else parameter, z, y, value, gradient
    )
    return value, gradient


JOINT_CASES = [
    (name, a) for name in JOINT_LOSSES for a in ([0.0, 1.0] if name == "perceptron" else [None])
]


def responses(K, n=400, seed=0):
    """Responses of every size, ties and extremes among them."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, K)) * 10.0 ** rng.uniform(-3, 2, (n, 1))
    z[:20] = np.round(z[:20])
    z[20] = 0
    z[21:24] += 1000
    z[24:27] -= 1000
    z[27] = np.where(np.arange(K) == 0, 1000, -1000)
    return z, rng.integers(0, K, n)


def test_the_joint_losses_are_known():
    assert set(JOINT_LOSSES) == set(reference.JOINT_LOSSES)


@pytest.mark.parametrize("K", [2, 3, 7, 40])
@pytest.mark.parametrize(("name", "parameter"), JOINT_CASES)
def test_joint_values_and_gradients_are_those_of_the_formulas(name, parameter, K):
    z, y = responses(K)
    a = LOSSES[name].default if parameter is None else parameter
    value, gradient = evaluate_joint(name, z, y, parameter)
    for i in range(len(z)):
        expected = reference.JOINT_LOSSES[name](z[i], y[i], a)
        size = 1 + np.abs(z[i]).max()
        assert abs(value[i] - expected[0]) <= 1e-14 * size ** (2 if name == "sparsemax" else 1)
        np.testing.assert_allclose(gradient[i], expected[1], rtol=0, atol=1e-14 * size)
    assert (value >= 0).all()


@pytest.mark.parametrize("K", [2, 3, 7])
@pytest.mark.parametrize(("name", "parameter"), JOINT_CASES)
def test_joint_gradients_are_derivatives(name, parameter, K):
    rng = np.random.default_rng(1)
    z, y = rng.normal(size=(200, K)), rng.integers(0, K, 200)
    gradient, h = evaluate_joint(name, z, y, parameter)[1], 1e-6
    for k in range(K):
        step = np.eye(K)[k] * h
        ahead = evaluate_joint(name, z + step, y, parameter)[0]
        behind = evaluate_joint(name, z - step, y, parameter)[0]
        numeric = (ahead - behind) / (2 * h)
        # a kink or a change of support within h of z
        smooth = np.abs(numeric - gradient[:, k]) <= 1e-7
        assert smooth.mean() >= 0.99


@pytest.mark.parametrize(("name", "parameter"), JOINT_CASES)
def test_two_classes_jointly_are_the_binary_loss_of_the_difference(name, parameter):
    z, y = responses(2)
    difference = z[:, 1] - z[:, 0]
    value, gradient = evaluate_joint(name, z, y, parameter)
    keep = np.abs(z).max(axis=1) < 500
    for label, sign in ((0, -1.0), (1, 1.0)):
        rows = keep & (y == label)
        binary, slope = evaluate(name, difference[rows], sign, parameter)
        np.testing.assert_allclose(value[rows], binary, rtol=1e-10, atol=1e-13)
        tied = binary == 0
        np.testing.assert_allclose(gradient[rows, 1][~tied], slope[~tied], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(gradient.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shares", [(0.6, 0.3, 0.1), (0.4, 0.35, 0.25)])
@pytest.mark.parametrize("name", ["log_loss", "sparsemax", "hinge"])
def test_the_best_joint_constant_is_the_best(name, shares, fit_intercept, weighted):
    rng = np.random.default_rng(2)
    y = np.repeat([0.0, 1.0, 2.0], (np.array(shares) * 100).round().astype(int))
    s = rng.uniform(0.9, 1.1, len(y)) if weighted else np.empty(0)
    rule = make_rule(name, fit_intercept=fit_intercept)
    found = best_constant_loss(rule, y, s, 3)
    candidates = rng.normal(size=(3000, 3)) * 2 if fit_intercept else np.zeros((1, 3))
    losses = [mean_loss(rule, np.tile(b, (len(y), 1)), y, s) for b in candidates]
    assert found <= min(losses) + 1e-12


@pytest.mark.parametrize("size", [1e10, 1e16, 1e17, 1e22, 1e300])
def test_sparsemax_of_huge_responses_ends(size):
    """Beside such responses the 1 of the simplex vanishes; no loop may wait for it."""
    z = np.array([[0.3, -0.2, 1.0, 1.0], [-1.0, 0.5, 0.25, 0.0], [0.0, 0.0, 0.0, 0.0]]) * size
    value, gradient = np.empty(3), np.empty((3, 4))
    joint.joint_loss(LOSSES["sparsemax"].code, 0.0, z, np.array([2.0, 1.0, 0.0]), value, gradient)
    expected = np.array([[0, 0, 0.5, 0.5], [0, 1, 0, 0], [0.25] * 4])
    one_hot = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(gradient, expected - one_hot)
    np.testing.assert_allclose(value, [0.25, 0.0, 0.375], rtol=1e-15)
    np.testing.assert_array_equal(PROBABILITIES["sparsemax"](z, False), expected)
