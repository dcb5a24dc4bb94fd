"""Exact models solved side by side: each is at its own optimum, whatever its company."""

import warnings

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy.sparse import csr_matrix

from fastlin import (
    LinearSVC,
    SparsemaxClassifier,
    _dual_lanes,
    _dual_models,
    _lane_losses,
    _parallel,
    as_rows,
    cross_val_score,
)
from fastlin._aligned import aligned_zeros, huge_empty
from fastlin._core import multi as _multi
from fastlin._dual_models import DualModel
from fastlin._exact_pass import fits_exactly_together
from fastlin._exceptions import ConvergenceWarning
from fastlin._lanes import LANES
from fastlin._onepass import fit_together, fits_together
from fastlin._patterns import parted
from fastlin.logistic import LogisticRegression

N, D, FOLDS = 240, 12, 3


class Machine(LogisticRegression):
    """The same with another loss."""

    def __init__(self, loss="squared_hinge", *, C=1.0, tol=1e-4, fit_intercept=True, random_state=0,
                 max_iter=1000, class_weight=None, n_jobs=None):
        self.loss, self.C, self.tol, self.fit_intercept = loss, C, tol, fit_intercept
        self.random_state, self.max_iter, self.class_weight = random_state, max_iter, class_weight
        self.n_jobs, self.penalty, self.l1_ratio, self.intercept_scaling = n_jobs, "l2", 0.0, 1
        self.dual, self.solver, self.multi_class, self.warm_start = "auto", "auto", "ovr", False

    def _terms(self, total_weight):
        return {**super()._terms(total_weight), "loss": self.loss,
                "loss_parameter": 1.0}


LOSSES = ("log_loss", "squared_hinge")
ONE_OF_EACH_KIND = list({layout.kind: layout for layout in reversed(LAYOUTS)}.values())
ISAS = [number for _, number, here in _multi.instruction_sets() if here]


def made(loss, **parameters):
    if loss == "log_loss":
        return LogisticRegression(random_state=0, **parameters)
    return Machine(loss, **parameters)


def value(loss, m):
    short = np.maximum(0.0, 1.0 - m)
    return {"log_loss": np.logaddexp(0, -m), "squared_hinge": short**2}[loss]


def objective(loss, X, y, s, C, w, b):
    """`C sum_i s_i loss_i + |w|^2 / 2` over `C sum_i s_i`."""
    return (s @ value(loss, y * (X @ w + b)) + 0.5 * w @ w / C) / s.sum()


def optimum(loss, X, y, s, C, intercept):
    """The least objective, by a method that shares nothing with ours."""
    from scipy.optimize import minimize

    n, d = X.shape
    def f(v):
        w, b = v[:d], v[d] * intercept
        m = y * (X @ w + b)
        g = -1 / (1 + np.exp(m)) if loss == "log_loss" else -2 * np.maximum(0, 1 - m)
        gw = (X.T @ (s * g * y) + w / C) / s.sum()
        return objective(loss, X, y, s, C, w, b), np.append(gw, intercept * (s * g * y).mean())

    return minimize(f, np.zeros(d + 1), jac=True, method="BFGS", options={"gtol": 1e-9}).fun


def problem(layout=None, n=N, seed=0, dtype=None):
    """(X, the same as an array, +-1, folds)"""
    layout = LAYOUTS[0] if layout is None else layout
    X, dense = layout.make(n, D, seed)
    rng = np.random.default_rng(seed + 1)
    y = np.where(dense @ rng.normal(size=D) + rng.normal(size=n) > 0.5, 1, -1)
    rows = np.arange(n)
    return X, dense, y, [rows[rows % FOLDS != f] for f in range(FOLDS)], [
        rows[rows % FOLDS == f] for f in range(FOLDS)
    ]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_each_model_is_at_its_optimum(loss, intercept):
    X, dense, y, train, test = problem(n=90)
    rng = np.random.default_rng(2)
    weight = rng.integers(0, 4, len(y)).astype(float)
    grid = [0.05, 0.7, 3.0]
    models = [made(loss, C=C, tol=1e-7, fit_intercept=intercept) for C in grid for _ in train]
    out = fit_together(models, X, y, train * 3, test * 3, sample_weight=weight)
    for m, (model, z) in enumerate(zip(models, out, strict=True)):
        rows, held = train[m % FOLDS], test[m % FOLDS]
        rows = rows[weight[rows] > 0]
        w, b = model.coef_[0], model.intercept_[0]
        assert model.duality_gap_[0] <= 1e-7
        got = objective(loss, dense[rows], y[rows], weight[rows], model.C, w, b)
        best = optimum(loss, dense[rows], y[rows], weight[rows], model.C, intercept)
        assert got == pytest.approx(model.objective_[0], rel=1e-10)
        assert got == pytest.approx(best, rel=2e-7)
        np.testing.assert_allclose(z, dense[held] @ w + b, rtol=0, atol=1e-12)
        if not intercept:
            assert b == 0


@pytest.mark.memory
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
@pytest.mark.parametrize("loss", LOSSES)
def test_storage_does_not_matter(loss, layout):
    X, dense, y, train, test = problem(layout, n=60)
    models = [made(loss, C=C, tol=1e-6) for C in (0.3, 1.0) for _ in train]
    twins = [made(loss, C=C, tol=1e-6) for C in (0.3, 1.0) for _ in train]
    fit_together(models, X, y, train * 2, test * 2)
    fit_together(twins, dense, y, train * 2, test * 2)
    for model, twin in zip(models, twins, strict=True):
        assert model.duality_gap_[0] <= 1e-6
        assert model.objective_[0] == pytest.approx(twin.objective_[0], rel=2e-6)
        assert model.coef_.dtype == (np.float32 if layout.dtype == np.float32 else np.float64)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("layout", ONE_OF_EACH_KIND, ids=lambda layout: layout.name)
@pytest.mark.parametrize("loss", LOSSES)
def test_company_and_threads_do_not_matter(loss, layout, isa, monkeypatch):
    """21 models go over the rows together, and three where they are alone."""
    for module in (_dual_lanes, _lane_losses):
        monkeypatch.setattr(module, "ISA", isa)
    X, _, y, train, test = problem(layout)
    grid = np.geomspace(0.01, 30, 7)

    def bits(models, jobs=None, **options):
        out = fit_together(models, X, y, train * (len(models) // 3), test * (len(models) // 3),
                           n_jobs=jobs, **options)
        return [
            (m.coef_.tobytes(), m.intercept_.tobytes(), m.n_iter_[0], z.tobytes())
            for m, z in zip(models, out, strict=True)
        ]

    def models(values):
        return [made(loss, C=C, tol=1e-6) for C in values for _ in train]

    together = bits(models(grid))
    assert bits(models(grid), 2) == together
    for k, C in enumerate(grid):
        assert bits(models([C])) == together[3 * k : 3 * k + 3]


def test_several_classes_and_class_weights():
    X, dense, _, train, test = problem()
    rng = np.random.default_rng(5)
    y = np.array(["b", "a", "c"])[(dense @ rng.normal(size=(D, 3))).argmax(axis=1)]
    models = [
        LogisticRegression(
            C=2.0, tol=1e-7, class_weight=weights, random_state=0, multi_class="ovr",
        )
        for weights in (None, "balanced", {"a": 3.0, "b": 1.0, "c": 0.5})
    ]
    out = fit_together(models, X, y, [train[0]] * 3, [test[0]] * 3)
    for model, z in zip(models, out, strict=True):
        assert model.classes_.tolist() == ["a", "b", "c"]
        assert z.shape == (len(test[0]), 3)
        labels = y[train[0]]
        counts = {name: (labels == name).sum() for name in "abc"}
        own = model.class_weight
        if own == "balanced":
            own = {name: len(labels) / (3 * counts[name]) for name in "abc"}
        s = np.array([1.0 if own is None else own[name] for name in labels])
        for k, name in enumerate("abc"):
            sign = np.where(labels == name, 1, -1)
            got = objective("log_loss", dense[train[0]], sign, s, 2.0, model.coef_[k],
                            model.intercept_[k])
            best = optimum("log_loss", dense[train[0]], sign, s, 2.0, True)
            assert got == pytest.approx(best, rel=2e-7)


def test_a_class_of_weight_zero_is_told_of_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12_000, 100)), np.arange(12_000) % 3
    with pytest.warns(UserWarning, match="weight 0") as told:
        model = LogisticRegression(C=1e-3, multi_class="ovr").fit(
            X, y, sample_weight=(y != 1).astype(float))
    assert len(told) == 1
    assert model.intercept_[1] == -np.inf and not model.coef_[1].any()
    assert model.n_iter_[1] == 0 and (model.duality_gap_ <= 1e-4).all()
    alone = LogisticRegression(C=1e-3).fit(X[y != 1], y[y != 1])
    np.testing.assert_allclose(model.coef_[2], alone.coef_[0], atol=1e-3)


def test_passes_of_few_models_join_the_last_one():
    def sizes(n_models, n_jobs=1, limit=None):
        models = [DualModel("log_loss", 1.0, True, 0, *[np.ones(2)] * 2, None, 1e-4, 9)] * n_models
        parts = parted(models, list(LANES), D, lambda model: 12 * D, n_jobs, limit,
                       _dual_lanes.SPARE_LANES)
        return [(len(part), lanes) for part, lanes in parts]

    assert sizes(16) == [(16, 16)]
    assert sizes(20) == [(20, 24)]
    assert sizes(40) == [(16, 16), (24, 24)]
    assert sizes(25) == [(16, 16), (9, 16)]
    assert sizes(32) == [(16, 16), (16, 16)]
    assert sizes(20, limit=23 * 12 * D) == [(16, 16), (4, 4)]
    assert sizes(20, n_jobs=2) == [(16, 16), (4, 4)]


def test_the_classes_of_a_pass_are_published_as_they_are():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 400)) * (rng.random((3000, 400)) < 0.1)
    y = (X @ rng.normal(size=(400, 19))).argmax(axis=1)
    model = LinearSVC(tol=1e-8).fit(X, y)
    assert model.coef_.flags.c_contiguous and model.coef_.shape == (19, 400)
    for k in range(19):
        sign = np.where(y == k, 1.0, -1.0)
        got = objective("squared_hinge", X, sign, np.ones(3000), 1.0, model.coef_[k],
                        model.intercept_[k])
        assert got == pytest.approx(model.objective_[k], rel=1e-12)
    alone = LinearSVC(tol=1e-8).fit(X, y == 18)
    np.testing.assert_allclose(model.coef_[18], alone.coef_[0], atol=1e-4)


def test_memory_limit_changes_no_bit():
    X, _, y, train, test = problem()
    one = 12 * X.shape[1]
    found = []
    for limit in (None, 16 * one, 4 * one):
        models = [made("log_loss", C=C, tol=1e-6) for C in (0.1, 1.0, 10.0) for _ in train]
        fit_together(models, X, y, train * 3, test * 3, memory_limit=limit)
        found.append([model.coef_.tobytes() for model in models])
    assert found[0] == found[1] == found[2]
    for wrong, rule in ((one, "at least"), (0, "None or a number")):
        with pytest.raises(ValueError, match=f"memory_limit must be {rule}"):
            fit_together([made("log_loss")], X, y, train[:1], memory_limit=wrong)


def test_a_class_that_a_fold_lacks():
    X, _, y, _, _ = problem()
    only = np.flatnonzero(y > 0)
    models = [made("log_loss"), made("log_loss")]
    out = fit_together(models, X, y, [only, np.arange(N)], [np.arange(5)] * 2)
    assert isinstance(out[0], ValueError)
    assert "classes has to be greater than one" in str(out[0])
    assert out[1].shape == (5,)


def test_the_shift_of_a_column_changes_nothing():
    X, dense, y, train, test = problem()
    shifted = dense + 100.0
    models, twins = [[made("log_loss", tol=1e-7) for _ in train] for _ in range(2)]
    before = fit_together(models, dense, y, train, test)
    after = fit_together(twins, shifted, y, train, test)
    for model, z, other in zip(twins, before, after, strict=True):
        assert model.duality_gap_[0] <= 1e-7
        np.testing.assert_allclose(other, z, atol=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("unlike", ["shifted", "a column of times", "huge"])
def test_columns_beyond_float32_weights(loss, unlike):
    """Lanes that overflow, or rows that float32 can't hold, are solved one by one in double."""
    _, dense, y, train, test = problem()
    X = {
        "shifted": dense + 1e4,
        "a column of times": np.column_stack([dense, 1.7e9 + 1e6 * dense[:, 0]]),
        "huge": dense * 1e40,
    }[unlike]
    models = [made(loss, C=C, tol=1e-5) for C in (0.1, 100.0) for _ in train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # told by the gap, if it is so
        out = fit_together(models, X, y, train * 2, test * 2)
    for m, (model, z) in enumerate(zip(models, out, strict=True)):
        rows, (w, b) = train[m % FOLDS], (model.coef_[0], model.intercept_[0])
        got = objective(loss, X[rows], y[rows], np.ones(len(rows)), model.C, w, b)
        assert got == pytest.approx(model.objective_[0], rel=1e-6)
        np.testing.assert_allclose(z, X[test[m % FOLDS]] @ w + b, rtol=1e-6, atol=1e-5)
        if unlike == "shifted":
            best = optimum(loss, dense[rows], y[rows], np.ones(len(rows)), model.C, True)
            assert model.duality_gap_[0] <= 1e-5
            assert got <= best * (1 + 2e-5)


def test_an_epoch_is_not_enough():
    X, _, y, train, test = problem()
    models = [made("log_loss", C=1e4, tol=1e-8, max_iter=2) for _ in train]
    with pytest.warns(ConvergenceWarning, match="duality gap of .* > tol=1e-08"):
        out = fit_together(models, X, y, train, test)
    assert all(np.isfinite(z).all() for z in out)
    assert [m.n_iter_[0] for m in models] == [2] * 3


def test_what_fits_exactly_together():
    assert fits_exactly_together(LogisticRegression())
    assert fits_together(LogisticRegression(C=3, tol=1e-6))
    assert fits_exactly_together(LogisticRegression(solver="lbfgs"))  # another word for "auto"
    for other in (
        LogisticRegression(C=-1), LogisticRegression(l1_ratio=0.5), LogisticRegression(tol=1e-12),
        LogisticRegression(warm_start=True), LogisticRegression(penalty="l1"),
        LogisticRegression(penalty=None), LogisticRegression(solver="newton"),
        LogisticRegression(solver="dual_cd"),
    ):  # fmt: skip
        assert not fits_exactly_together(other)


def test_a_model_without_a_bound_takes_another_method(monkeypatch):
    """Where no intercept makes dual variables feasible in the steps that there are."""
    X, _, y, train, test = problem()
    right = [made("log_loss", tol=1e-7) for _ in train]
    fit_together(right, X, y, train, test)
    monkeypatch.setattr(_lane_losses, "_BALANCE_STEPS", 0)
    models = [made("log_loss", tol=1e-7) for _ in train]
    fit_together(models, X, y, train, test)
    for model, twin in zip(models, right, strict=True):
        assert model.duality_gap_[0] <= 1e-7
        assert model.objective_[0] == pytest.approx(twin.objective_[0], rel=2e-7)


def test_it_can_be_cancelled(monkeypatch):
    """In the middle of its work."""
    X, _, y, train, test = problem()
    epoch, begun = _dual_lanes.DualPass._epoch, []

    def cancelled(task, *values):
        begun.append(task)
        task.cancel()
        epoch(task, *values)

    monkeypatch.setattr(_dual_lanes.DualPass, "_epoch", cancelled)
    with pytest.raises(_parallel.Cancelled):
        fit_together([made("log_loss") for _ in train], X, y, train, test)
    assert len(begun) == 1


@pytest.mark.parametrize("make", [LogisticRegression, SparsemaxClassifier])
def test_frames_are_searched_without_a_word_about_their_names(make):
    pandas = pytest.importorskip("pandas")
    X = np.abs(np.random.default_rng(0).normal(size=(60, 2)))
    y = np.digitize(X[:, 0], [0.4, 0.9])
    frame = pandas.DataFrame(X, columns=["u", "v"])
    with_names = cross_val_score(make(), frame, y, cv=3)
    np.testing.assert_array_equal(with_names, cross_val_score(make(), X, y, cv=3))


def test_certificates_share_passes_where_memory_is_small():
    few = as_rows(np.ones((1000, 2)))
    assert _dual_lanes._certified_at_once(few, 20) == 24
    assert _dual_lanes._certified_at_once(few, 16) == 8
    assert _dual_lanes._certified_at_once(as_rows(np.ones((1 << 20, 2), np.float32)), 20) == 8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", LOSSES)
def test_shared_memory_and_certificates_change_no_bit(loss, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.5)).astype(dtype)
    y = np.where(X @ rng.normal(size=D) + 0.5 * rng.normal(size=N) > 0, 1.0, -1.0)
    every, certified = np.arange(N), []
    certify = _dual_lanes.DualPass._certify

    def watched(self, models, room):
        certified.append(len(models))
        certify(self, models, room)

    def fitted(at_once, zeros):
        # strengths end at different epochs, so that lanes move together on the way
        models = [made(loss, C=C, tol=1e-7) for C in np.geomspace(1e-3, 3, 13)]
        with monkeypatch.context() as m:
            m.setattr(_dual_lanes, "_certified_at_once", lambda X, n_models: at_once)
            m.setattr(_dual_lanes.DualPass, "_certify", watched)
            m.setattr(_dual_models.Room, "zeros", zeros)
            fit_together(models, X, y, [every] * 13, [every] * 13)
        return models

    together = fitted(24, _dual_models.Room.zeros)
    assert certified[0] > 8
    certified.clear()
    apart = fitted(8, lambda self, size, dtype: aligned_zeros(size, np.dtype(dtype)))
    assert max(certified) == 8
    for kept, fresh in zip(together, apart, strict=True):
        np.testing.assert_array_equal(kept.coef_, fresh.coef_)
        assert kept.intercept_ == fresh.intercept_ and kept.coef_.dtype == dtype
        assert kept.duality_gap_ == fresh.duality_gap_ <= 1e-7


@pytest.mark.parametrize("d", [4000, 100_000])
def test_weights_of_classes_are_published_where_they_are(d):
    """On pages of their own or not: what is kept is just the weights, each row that of its class
    alone."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((90, d)) < 50 / d, 1.0, 0.0)
    y = np.repeat(np.arange(3), 30)
    X[np.arange(90), y] += 1.0
    X = csr_matrix(X)
    model = LinearSVC(fit_intercept=False, tol=1e-7).fit(X, y)
    # a copy would be its own
    assert model.coef_.base.nbytes == model.coef_.nbytes and model.coef_.shape == (3, d)
    for k in range(3):
        alone = LinearSVC(fit_intercept=False, tol=1e-7).fit(X, y == k)
        short = np.maximum(0.0, 1.0 - np.where(y == k, 1.0, -1.0) * (X @ model.coef_[k]))
        objective = (short**2).sum() + 0.5 * model.coef_[k] @ model.coef_[k]
        theirs = np.maximum(0.0, 1.0 - np.where(y == k, 1.0, -1.0) * (X @ alone.coef_[0]))
        best = (theirs**2).sum() + 0.5 * alone.coef_[0] @ alone.coef_[0]
        assert abs(objective - best) <= 1e-6 * best


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lanes_are_taken_out_with_their_squares(dtype):
    table = np.random.default_rng(0).normal(size=(70, 24))
    place = np.random.default_rng(1).permutation(70).astype(np.int32)
    chosen, out = np.array([3, 0, 23]), [np.empty(70, dtype) for _ in range(3)]
    squares, nothing = np.zeros(3), np.empty(0)
    for first, last in ((0, 33), (33, 70)):
        _multi.gather(table.ravel(), 24, chosen, out, place, first, last, squares, nothing)
    np.testing.assert_array_equal(out, table[place][:, chosen].T.astype(dtype))
    scale = np.arange(24.0) / 3
    _multi.gather(table.ravel(), 24, chosen, out, place, 0, 70, nothing, scale)
    np.testing.assert_array_equal(out, (scale * table)[place][:, chosen].T.astype(dtype))
    np.testing.assert_allclose(squares, (table[:, chosen] ** 2).sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lanes", [4, 6, 16])
def test_large_vectors_are_taken_out_whole(dtype, lanes):
    """Past the caches where they begin at a line, and those that do not, in pieces of any size."""
    d, rng = (1 << 21) // lanes + 207, np.random.default_rng(lanes)
    table = rng.normal(size=(d, lanes)).astype(dtype)
    place, scale = rng.permutation(d).astype(np.int32), np.arange(1.0, 1.0 + lanes) / 3
    chosen = np.arange(lanes)[::-1].copy()
    out = [huge_empty((d + 3,), np.dtype(dtype))[k % 4 : d + k % 4] for k in range(lanes)]
    nothing = np.empty(0)
    for given in (place, place[:0]):
        for first, last in ((0, d - 70), (d - 70, d - 6), (d - 6, d)):
            _multi.gather(table.ravel(), lanes, chosen, out, given, first, last, nothing, scale)
        expected = (scale * (table[given] if len(given) else table))[:, chosen].T.astype(dtype)
        np.testing.assert_array_equal(out, expected)
