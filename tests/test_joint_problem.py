"""The problem of K outputs: losses and their derivatives against naive forms and differences, both
sides of the certificate, storage."""

import joint_reference as reference
import numpy as np
import pytest
from layouts import LAYOUTS

from fastlin._blocks import room_for
from fastlin._data import as_rows
from fastlin._joint_length import best_length
from fastlin._joint_problem import Distributions, JointProblem, feasible

LOSSES = ("log_loss", "sparsemax", "hinge")


def problem_of(X, dense, loss, K=5, weighted=True, seed=0, **more):
    """(a problem, its targets as a table, its weights)"""
    rng = np.random.default_rng(seed)
    n = len(dense)
    if loss == "hinge":
        target = Distributions.of_codes(rng.integers(0, K, n), K)
    else:
        target = Distributions.of_table(rng.integers(0, 3, (n, K)) + np.eye(K)[np.arange(n) % K])
    s = rng.uniform(0.2, 3, n) if weighted else np.ones(n)
    weight = s if weighted else np.empty(0)
    problem = JointProblem(as_rows(X), target, loss, weight=weight, **more)
    return problem, target.table(np.arange(n)), s


def test_distributions():
    table = np.array([[0.0, 2.0, 2.0], [5.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
    target = Distributions.of_table(table)
    share = table / table.sum(axis=1, keepdims=True)
    assert len(target) == 3
    assert [target.first.dtype, target.classes.dtype] == [np.int64, np.int32]
    np.testing.assert_array_equal(target.table(np.arange(3)), share)
    np.testing.assert_array_equal(target.table(np.array([2, 0, 2])), share[[2, 0, 2]])
    np.testing.assert_array_equal(target.taken(np.array([2, 0])).table(np.arange(2)), share[[2, 0]])
    assert len(target.taken(np.array([], int))) == 0
    s = np.array([1.0, 0.5, 3.0])
    np.testing.assert_allclose(target.mass(np.empty(0)), share.sum(axis=0))
    np.testing.assert_allclose(target.mass(s), s @ share)
    codes = np.array([2, 0, 2])
    target = Distributions.of_codes(codes, 4)
    assert target.first.dtype == np.int64
    np.testing.assert_array_equal(target.table(np.arange(3)), np.eye(4)[codes])


@pytest.mark.parametrize("K", [2, 3, 4, 5, 8, 9, 16, 17, 33])
def test_packed_weights_come_back(K):
    rng = np.random.default_rng(K)
    X, coef = rng.normal(size=(4, 7)), rng.normal(size=(K, 7))
    problem = JointProblem(as_rows(X), Distributions.of_codes(np.arange(4) % K, K), "log_loss")
    W = problem.packed(coef)
    assert W.size == 7 * problem.width and problem.width >= K
    np.testing.assert_array_equal(problem.unpacked(W), coef)
    z = problem.responses(W, np.arange(K, dtype=float), np.arange(4), room_for(problem.X))
    np.testing.assert_allclose(z[:, :K], X @ coef.T + np.arange(K), atol=1e-13)
    assert not z[:, K:].any()


@pytest.mark.memory
@pytest.mark.parametrize("layout", reference.FORMS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("loss", LOSSES)
def test_sums_are_those_of_the_naive_loss(loss, layout):
    X, dense = layout.make(20, 6)
    for K in (3, 17):
        problem, Q, s = problem_of(X, dense, loss, K)
        rng = np.random.default_rng(1)
        coef, b = rng.normal(size=(K, 6)), rng.normal(size=K)
        sums = problem.sums(problem.packed(coef), b, with_gradient=True)
        values, p = reference.loss(loss, dense @ coef.T + b, Q)
        pull = (s / s.sum())[:, None] * (p - Q)
        assert sums.mean_loss == pytest.approx(s @ values / s.sum(), rel=1e-12)
        np.testing.assert_allclose(sums.slope, pull.sum(axis=0), atol=1e-13)
        np.testing.assert_allclose(problem.unpacked(sums.gradient), pull.T @ dense, atol=1e-13)
        assert sums.bend is None


@pytest.mark.parametrize("loss", ["log_loss", "sparsemax"])
def test_derivatives_are_differences(loss):
    _, dense = LAYOUTS[0].make(15, 4)
    problem, *_ = problem_of(dense, dense, loss, 4)
    rng, rows, step = np.random.default_rng(2), np.arange(15), 1e-6
    coef, b = rng.normal(size=(4, 4)), rng.normal(size=4)
    W, room = problem.packed(coef), room_for(problem.X)
    sums = problem.sums(W, b, with_bend=True, with_gradient=True)
    for e in np.eye(4):
        up, down = problem.sums(W, b + step * e), problem.sums(W, b - step * e)
        rise = (up.mean_loss - down.mean_loss) / (2 * step)
        assert rise == pytest.approx(sums.slope @ e, abs=1e-8)
        np.testing.assert_allclose((up.slope - down.slope) / (2 * step), sums.bend @ e, atol=1e-8)
    along = rng.normal(size=(15, 4))
    z = problem.responses(W, b, rows, room)
    p = [problem.evaluated(z + t * along, rows)[1] for t in (-step, 0.0, step)]
    np.testing.assert_allclose(problem.bent(p[1], along), (p[2] - p[0]) / (2 * step), atol=1e-8)
    D = rng.normal(size=(4, 4))
    up, down = (problem.sums(problem.packed(coef + t * D), b).mean_loss for t in (step, -step))
    gradient = problem.unpacked(sums.gradient)
    assert (up - down) / (2 * step) == pytest.approx((gradient * D).sum(), abs=1e-8)


def test_of_many_classes_only_the_diagonal_of_the_bend_is_kept():
    K = 70
    _, dense = LAYOUTS[0].make(15, 4)
    for loss in ("log_loss", "sparsemax"):
        problem, *_ = problem_of(dense, dense, loss, K)
        b, step, W = np.random.default_rng(2).normal(size=K), 1e-6, problem.packed(np.zeros((K, 4)))
        bend = problem.sums(W, b, with_bend=True).bend
        assert bend.shape == (K,)
        for k in (0, 33, 69):
            e = step * (np.arange(K) == k)
            rise = problem.sums(W, b + e).slope - problem.sums(W, b - e).slope
            assert rise[k] / (2 * step) == pytest.approx(bend[k], abs=1e-8)


def test_two_classes_have_the_closed_forms_of_the_papers():
    s = np.array([-1e3, -3.0, -1.0, -0.999, -0.3, 0.0, 0.5, 0.999, 1.0, 2.0, 1e3])
    z = np.column_stack([np.zeros((len(s), 1)), s, np.zeros((len(s), 2))])[:, :4].copy()
    X = as_rows(np.ones((len(s), 1)))
    rows = np.arange(len(s))
    # losses, and the probability of the right class
    expected = {
        "sparsemax": (np.where(s >= 1, 0, np.where(s > -1, (1 - s) ** 2 / 4, -s)),
                      np.clip((1 + s) / 2, 0, 1)),
        "log_loss": (np.logaddexp(0, -s), np.exp(-np.logaddexp(0, -s))),
        "hinge": (np.maximum(0, 1 - s), s >= 1),
    }  # fmt: skip
    for loss, (value, of_right) in expected.items():
        target = Distributions.of_codes(np.ones(len(s), int), 2)
        for shift in (0.0, 1e6):
            got, p = JointProblem(X, target, loss).evaluated(z + shift, rows)
            np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-10)
            assert (got >= 0).all()
            np.testing.assert_allclose(p[:, 1], of_right, atol=1e-9)
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    modified_huber = np.where(s >= -1, np.maximum(0, 1 - s) ** 2, -4 * s)
    np.testing.assert_allclose(4 * expected["sparsemax"][0], modified_huber)


def test_feasible_points():
    rng = np.random.default_rng(0)
    s = rng.uniform(0.1, 2, 30)
    p = rng.dirichlet(np.full(4, 0.3), 30)
    p[:, 3] = 0
    p /= p.sum(axis=1, keepdims=True)
    wanted = s @ rng.dirichlet(np.ones(4), 30)
    moved = feasible(p, s @ p, wanted)
    assert (moved >= 0).all()
    np.testing.assert_allclose(moved.sum(axis=1), 1, atol=1e-13)
    np.testing.assert_allclose(s @ moved, wanted, atol=1e-12)
    assert feasible(p, s @ p, s @ p) is p


@pytest.mark.parametrize("loss", LOSSES)
def test_every_feasible_point_is_a_lower_bound(loss):
    _, dense = LAYOUTS[0].make(25, 5)
    rng, rows, l2 = np.random.default_rng(4), np.arange(25), 0.05
    problem, Q, s = problem_of(dense, dense, loss, 3, l2=l2)
    points = [rng.dirichlet(np.full(3, a), 25) for a in (0.1, 1.0, 10.0)] + [Q.copy()]
    objectives = [
        problem.sums(W, b).mean_loss + problem.penalty(W)
        for W, b in (
            (problem.packed(size * rng.normal(size=(3, 5))), size * rng.normal(size=3))
            for size in (0.0, 0.1, 1.0, 10.0)
        )
    ]
    for p in points:
        p = feasible(p, s @ p, s @ Q)
        V = (problem.shares_of(rows)[:, None] * (Q - p)).T @ dense
        np.testing.assert_allclose(problem.unpacked(problem.added(lambda r, p=p: (
            problem.shares_of(r)[:, None] * (Q - p)[r]))), V, atol=1e-14)  # fmt: skip
        dual = problem.dual_loss(p, rows) - (V**2).sum() / (2 * l2)
        assert dual <= min(objectives) + 1e-12
        certificate = problem.certificate(objectives[0], dual)
        assert certificate.gap >= objectives[0] - min(objectives) - 1e-12
    assert problem.dual_loss(Q, rows) == pytest.approx(
        0.0 if loss != "log_loss" else -(s / s.sum()) @ np.where(Q > 0, Q * np.log(np.where(
            Q > 0, Q, 1)), 0).sum(axis=1), abs=1e-13)  # fmt: skip


@pytest.mark.parametrize("loss", ["sparsemax", "hinge"])
@pytest.mark.parametrize("noise", [0.0, 3.0])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e4])
def test_the_best_length_is_the_least_objective_along_weights(loss, noise, length):
    rng = np.random.default_rng(4)
    X, W = rng.normal(size=(40, 6)), rng.normal(size=(4, 6))
    codes = (X @ W.T + noise * rng.normal(size=(40, 4))).argmax(axis=1)
    s = rng.uniform(0.2, 3, 40)
    target = Distributions.of_codes(codes, 4)
    problem = JointProblem(as_rows(X), target, loss, l2=1e-3, weight=s)
    W = length * W
    t, mean_loss = best_length(problem, X @ W.T, float((W * W).sum()))
    Q = np.eye(4)[codes]

    def along(t):
        return reference.objective(loss, t * W, 0.0, X, Q, s, l2=1e-3)

    assert mean_loss == pytest.approx(reference.objective(loss, t * W, 0.0, X, Q, s), rel=1e-9)
    others = np.geomspace(1e-7, 1e5, 400) / length
    least = min(along(each) for each in [*others, *(t * (1 + 1e-4 * np.arange(-20, 21)))])
    assert along(t) <= least * (1 + 1e-9)


def test_weights_that_are_wrong_are_best_at_no_length():
    X, codes = np.eye(3), np.array([0, 1, 2])
    problem = JointProblem(as_rows(X), Distributions.of_codes(codes, 3), "hinge", l2=1e-3)
    assert best_length(problem, -X, 3.0) == (0.0, 1.0)
    assert best_length(problem, 0 * X, 0.0) == (0.0, 1.0)
