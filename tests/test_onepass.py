"""Models trained side by side equal those trained alone, whatever their company."""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from compared import CONFIGS, targets
from layouts import LAYOUTS

from fastlin import Perceptron, SGDClassifier, SGDRegressor, _onepass, as_rows
from fastlin._epochs import row_order, train
from fastlin._isa import choose
from fastlin._learner import make_learner
from fastlin._onepass import fit_together, fits_together
from fastlin._random import spawn_seed
from fastlin._sgd import LOSSES

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.memory]

SEED = 3
N = 60


class PartOfOrder:
    """The order of all rows, without those that a model does not learn from."""

    fetch = np.empty(0, np.int64)

    def __init__(self, order, member):
        self.order, self.member = order, member

    def next(self):
        rows = self.order.next()
        return rows[self.member[rows]]


def alone(model, X, y, rows, visited, weight=None, target=None):
    """(learner, report) of a binary or real-valued model trained by itself.

    `visited` are the rows of the whole search, `y` what decides their order.
    """
    rows_of_x = as_rows(X)
    rule, plan = model._rule(), model._plan(None)
    learner = make_learner(rows_of_x.shape[1], rows_of_x.dtype, rule)
    (seed,) = spawn_seed(SEED, 1)
    order = row_order(rows_of_x, y, visited, plan.shuffle, seed)
    member = np.zeros(len(y), bool)
    member[rows] = True
    if weight is not None:
        member &= weight > 0
    weights = np.empty(0)
    if weight is not None:
        weights = weight * np.count_nonzero(member) / weight[member].sum()
    target = y if target is None else target
    report = train(learner, rows_of_x, target, weights, PartOfOrder(order, member), plan)
    return learner, report


def data(layout="csr", dtype=np.float64, n=N, d=12):
    """(X, dense, y of two classes, real y)"""
    found = next(item for item in LAYOUTS if item.name == layout)
    X, dense = found.make(n=n, d=d)
    rng = np.random.default_rng(5)
    z = dense @ rng.normal(size=d) + 0.3 * rng.normal(size=n)
    return X, dense, (z > np.median(z)).astype(int), targets(dense)


def folds(n=N, k=4):
    rows = np.arange(n)
    return [rows[rows % k != f] for f in range(k)], [rows[rows % k == f] for f in range(k)]


def estimator(config, **more):
    """A configuration of `compared` as an estimator."""
    config = dict(config)
    given = {"max_iter": 3, "tol": None, "random_state": SEED, "learning_rate": "constant",
             "penalty": None, "eta0": 1.0, **config, **more}
    loss = LOSSES[config["loss"]]
    return (SGDClassifier if loss.is_margin else SGDRegressor)(**given)


PLAIN = {name: c for name, c in CONFIGS.items() if c.get("batch_size", 1) == 1}


def variants(config):
    """Models of one kind that differ in numbers."""
    alpha, eta0 = config.get("alpha", 1e-4), config.get("eta0", 1.0)
    return [
        estimator(config, alpha=alpha * a, eta0=eta0 * e) for a, e in ((1, 1), (0.5, 1), (1, 0.7))
    ]


def check_equal(models, X, y, order_y, train_rows, test_rows, out, dtype=np.float64, **more):
    tolerance = 1e-10 if dtype == np.float64 else 3e-4
    visited = np.unique(np.concatenate(train_rows))
    for model, rows, held, p in zip(models, train_rows, test_rows, out, strict=True):
        assert not isinstance(p, Exception), p
        learner, report = alone(model, X, order_y, rows, visited, **more)
        W, b = learner.weights()
        scale = max(1.0, np.abs(W).max())
        np.testing.assert_allclose(model.coef_.ravel(), W[0], rtol=0, atol=tolerance * scale)
        np.testing.assert_allclose(model.intercept_, b, rtol=0, atol=tolerance * scale)
        assert model.n_iter_ == report.n_iter
        assert model.t_ == learner.state["t"] + 1
        for got, expected in zip(model.trace_, report.trace, strict=True):
            for key in ("loss", "objective"):
                assert got[key] == pytest.approx(expected[key], rel=max(tolerance, 1e-9), abs=1e-12)
        np.testing.assert_allclose(
            p, (model.decision_function if hasattr(model, "classes_") else model.predict)(X[held]),
            rtol=0, atol=tolerance * scale,
        )  # fmt: skip


# In float32 rounding decides where long steps end.
ALONE = [(name, np.float64) for name in PLAIN]
ALONE += [(name, np.float32) for name in PLAIN if not name.startswith("long steps")]


@pytest.mark.parametrize(("name", "dtype"), ALONE)
def test_equals_the_model_trained_alone(name, dtype):
    config = PLAIN[name]
    X, _, y, t = data()
    X = X.astype(dtype)
    real = not LOSSES[config["loss"]].is_margin
    models = [type(m)(**m.get_params()) for m in variants(config) for _ in range(4)]
    train_rows, test_rows = folds()
    train_rows, test_rows = train_rows * 3, test_rows * 3
    target = t if real else y
    out = fit_together(models, X, target, train_rows, test_rows)
    order_y = t if real else y.astype(float)
    check_equal(models, X, target, order_y, train_rows, test_rows, out, dtype,
                target=None if real else np.where(y == 1, 1.0, -1.0))


@pytest.mark.parametrize("layout", [layout.name for layout in LAYOUTS])
def test_storage_never_changes_a_model(layout):
    X, dense, y, _ = data(layout)
    rows = as_rows(X)
    train_rows, test_rows = folds()
    kinds = {"loss": "log_loss", "eta0": 0.1}
    models = [estimator({**kinds, "alpha": a}, penalty=p, average=v) for a in (1e-3, 1e-1)
              for p in ("l2", "l1") for v in (False, True)]
    twins = [type(m)(**m.get_params()) for m in models]
    out = fit_together(models, rows, y, train_rows * 2, test_rows * 2)
    expected = fit_together(twins, dense.astype(rows.dtype), y, train_rows * 2, test_rows * 2)
    for p, q in zip(out, expected, strict=True):
        np.testing.assert_allclose(p, q, rtol=0, atol=1e-10 if rows.dtype == np.float64 else 1e-4)


def grid(**more):
    """20 models of two kinds on five folds of 61 rows, with averages and a penalty on some."""
    rows = np.arange(61)
    train_rows = [rows[rows % 5 != f] for f in range(5)] * 4
    test_rows = [rows[rows % 5 == f] for f in range(5)] * 4
    models = [
        SGDClassifier(loss, alpha=alpha, max_iter=4, tol=None, random_state=1, **more)
        for loss in ("log_loss", "hinge") for alpha in (1e-3, 1e-1) for _ in range(5)
    ]  # fmt: skip
    X, _, y, _ = data(n=61)
    return models, X, y, train_rows, test_rows


def bits(models, out):
    return [(m.coef_.tobytes(), m.intercept_.tobytes(), p.tobytes(),
             [entry["loss"] for entry in m.trace_]) for m, p in zip(models, out, strict=True)]


@pytest.mark.parametrize("more", [{}, {"penalty": "l1"}, {"average": True}, {"penalty": None}])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_company_threads_and_memory_change_no_bit(more, dtype):
    models, X, y, train_rows, test_rows = grid(**more)
    X = X.astype(dtype)
    expected = bits(models, fit_together(models, X, y, train_rows, test_rows, random_state=0))
    bytes_per_lane = 12 * np.dtype(dtype).itemsize * 3
    for options in (
        {"n_jobs": 2}, {"n_jobs": 5}, {"memory_limit": 4 * bytes_per_lane},
        {"memory_limit": 8 * bytes_per_lane, "n_jobs": 2},
    ):  # fmt: skip
        twins = grid(**more)[0]
        out = fit_together(twins, X, y, train_rows, test_rows, random_state=0, **options)
        assert bits(twins, out) == expected
    # nor does training each by itself, if the order is that of all rows
    for k in (0, 7, 19):
        rest = np.setdiff1d(np.arange(61), train_rows[k])
        pair = grid(**more)[0][k], grid(**more)[0][k]
        out = fit_together(list(pair), X, y, [train_rows[k], rest], [test_rows[k], rest],
                           random_state=0)
        assert bits(pair[:1], out[:1]) == expected[k : k + 1]


def test_passes_are_as_many_as_memory_asks_for():
    models, X, y, train_rows, test_rows = grid()
    rows, numbers, codes, labels, weight = _onepass._read(models, X.astype(np.float32), y, None)
    members, jobs = _onepass._jobs(models, train_rows, test_rows, len(rows))
    stream = _onepass._stream(rows, members, codes, numbers, labels, weight, jobs, 0)
    targets_of = _onepass.Targets(stream, rows, numbers, labels)
    for job in jobs:
        targets_of.lay_out(job)

    def sizes(n_jobs=None, limit=None):
        passes = _onepass._passes(stream, jobs, targets_of, True, n_jobs, limit)
        return [(len(p.models), p.n_lanes) for p in passes]

    lane = 12 * 4
    assert sizes() == [(10, 16), (10, 16)]
    assert sizes(limit=8 * lane) == [(8, 8), (2, 4)] * 2
    assert sizes(limit=4 * lane) == [(4, 4), (4, 4), (2, 4)] * 2
    assert sizes(n_jobs=4) == [(8, 8), (2, 4)] * 2
    with pytest.raises(ValueError, match="memory_limit must be at least 192 bytes for 12 columns"):
        sizes(limit=4 * lane - 1)
    with pytest.raises(ValueError, match="memory_limit must be None or a number of bytes"):
        sizes(limit=-1)


_HASHES = """
import hashlib, warnings
warnings.simplefilter("ignore")
import numpy as np
import scipy.sparse as sp
from fastlin import (LinearSVC, LogisticRegression, SGDClassifier, SGDRegressor,
                     _shared_newton)
from fastlin._isa import ISA
from fastlin._onepass import fit_together
from fastlin._sgd import LOSSES, MARGIN_LOSSES
rng = np.random.default_rng(0)
X = rng.normal(size=(90, 23)) * (rng.random((90, 23)) < 0.5)
y = (X.sum(axis=1) > 0).astype(int)
rows = np.arange(90)
digest = hashlib.sha256()
for dtype in (np.float32, np.float64):
    for loss in LOSSES:
        cls = SGDClassifier if loss in MARGIN_LOSSES else SGDRegressor
        models = [cls(loss, alpha=a, penalty=p, average=v, max_iter=2, tol=None, eta0=0.1,
                      learning_rate=r, random_state=0)
                  for a in (1e-3, 1e-2, 1e-1) for p in ("l2", "l1") for v in (False, True)
                  for r in ("optimal", "invscaling")]
        parts = [rows[rows % 5 != k % 5] for k in range(len(models))]
        out = fit_together(models, X.astype(dtype), y, parts, parts)
        for m, p in zip(models, out):
            digest.update(m.coef_.tobytes() + m.intercept_.tobytes() + p.tobytes())
            digest.update(repr(m.trace_[-1]["loss"]).encode())
    for optimizer in ("adagrad", "adadelta", "rmsprop", "adam"):
        for penalty in (None, "l2", "elasticnet"):
            m = SGDClassifier("log_loss", optimizer=optimizer, penalty=penalty, alpha=1e-2,
                              learning_rate="constant", eta0=0.1, max_iter=3, tol=None,
                              random_state=0).fit(sp.csr_matrix(X.astype(dtype)), y)
            digest.update(m.coef_.tobytes() + repr(m.trace_[-1]["objective"]).encode())
    _shared_newton._LEAST_ENTRIES = 1
    for cls, form in ((LogisticRegression, sp.csr_matrix), (LinearSVC, sp.csr_matrix),
                      (LogisticRegression, np.asarray)):
        four = np.arange(4 * len(X))
        parts = [four[four % 3 != fold] for _ in range(7) for fold in range(3)]
        models = [cls(C=C) for C in np.geomspace(0.01, 30, 7) for _ in range(3)]
        out = fit_together(models, form(np.tile(X, (4, 1)).astype(dtype)[:, :5]), np.tile(y, 4),
                           parts, parts)
        for m, p in zip(models, out):
            digest.update(m.coef_.tobytes() + m.intercept_.tobytes() + p.tobytes())
print(ISA, digest.hexdigest())
"""


def run_under(isa, code, folder):
    """Elsewhere, since Python would find uncompiled sources in the current folder first."""
    env = {**os.environ, "FASTLIN_ISA": isa}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True,
                          check=False, cwd=folder)


def test_every_instruction_set_gives_the_same_bits(tmp_path):
    from fastlin._core import multi

    available = [name for name, _, here in multi.instruction_sets() if here]
    found = {}
    for name in available:
        done = run_under(name, _HASHES, tmp_path)
        assert done.returncode == 0, done.stderr
        number, found[name] = done.stdout.split()
        assert int(number) == choose(name)
    assert len(set(found.values())) == 1, found


def test_an_unknown_instruction_set_is_an_import_error(tmp_path):
    done = run_under("sse9", "import fastlin._onepass", tmp_path)
    assert done.returncode == 1
    assert "ImportError: FASTLIN_ISA must be one of 'base'" in done.stderr
    assert "got 'sse9'" in done.stderr
    assert choose(None) == choose("")


def test_models_that_converge_drop_out(monkeypatch):
    """Each stops in its own epoch, as it would alone, and lanes are moved together."""
    from fastlin import _lanes

    widths = []
    visit = _lanes.Pass._visit

    def watched(self, order, fetch):
        widths.append((self.n_lanes, len(self.active)))
        visit(self, order, fetch)

    monkeypatch.setattr(_lanes.Pass, "_visit", watched)
    X, _, y, _ = data(n=80)
    train_rows, test_rows = folds(80)
    models = [
        SGDClassifier("log_loss", alpha=alpha, max_iter=max_iter, tol=tol, n_iter_no_change=change,
                      random_state=SEED, learning_rate=rate, eta0=0.5)
        for alpha, max_iter, tol, change, rate in (
            (1e-1, 60, 1e-2, 2, "constant"), (1e-3, 60, 1e-2, 5, "constant"),
            (1e-4, 25, None, 5, "constant"), (1e-2, 90, 1e-2, 1, "adaptive"),
        )
        for _ in range(4)
    ]
    out = fit_together(models, X.astype(np.float32), y, train_rows * 4, test_rows * 4)
    check_equal(models, X.astype(np.float32), y, y.astype(float), train_rows * 4, test_rows * 4,
                out, np.float32, target=np.where(y == 1, 1.0, -1.0))
    assert len({model.n_iter_ for model in models}) > 3
    assert {lanes for lanes, _ in widths} == {16, 8, 4}
    assert all(active > lanes // 2 or lanes == 4 for lanes, active in widths)


def test_one_diverges_and_the_others_do_not_notice():
    X, _, y, t = data()
    train_rows, test_rows = folds()

    def some():
        return [SGDRegressor("huber", penalty=None, learning_rate="constant", eta0=eta0, epsilon=e,
                             max_iter=3, tol=None, random_state=0)
                for eta0, e in ((0.01, 0.1), (1e300, 1e30), (0.02, 0.1), (0.1, 1.0))]

    models = some()
    out = fit_together(models, X * 1e3, t, train_rows, test_rows)
    assert isinstance(out[1], ValueError)
    assert "Floating-point overflow in epoch 1" in str(out[1])
    assert not hasattr(models[1], "coef_")
    others = [0, 2, 3]
    twins = [some()[k] for k in others]
    again = fit_together(twins, X * 1e3, t, [train_rows[k] for k in others],
                         [test_rows[k] for k in others])
    assert bits(twins, again) == bits([models[k] for k in others], [out[k] for k in others])


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 1: 0.5}])
@pytest.mark.parametrize("with_weight", [False, True])
def test_weights_are_those_of_a_fit_on_the_rows_alone(class_weight, with_weight):
    X, _, y, _ = data()
    weight = np.random.default_rng(1).integers(0, 4, N).astype(float) if with_weight else None
    train_rows, test_rows = folds()
    models = [SGDClassifier("squared_hinge", alpha=1e-2, max_iter=3, tol=None, random_state=SEED,
                            class_weight=class_weight, learning_rate="constant", eta0=0.05)
              for _ in range(4)]
    out = fit_together(models, X, y, train_rows, test_rows, sample_weight=weight)
    for m, (model, rows) in enumerate(zip(models, train_rows, strict=True)):
        base = np.ones(N) if weight is None else weight
        own = class_weight or {0: 1.0, 1: 1.0}
        if class_weight == "balanced":
            mass = [base[rows][y[rows] == k].sum() for k in (0, 1)]
            own = {k: sum(mass) / (2 * mass[k]) for k in (0, 1)}
        learner, report = alone(
            model, X, y.astype(float), rows, np.flatnonzero(base),
            weight=base * np.where(y == 1, own[1], own[0]), target=np.where(y == 1, 1.0, -1.0),
        )  # fmt: skip
        W, b = learner.weights()
        np.testing.assert_allclose(model.coef_, W, rtol=0, atol=1e-10)
        np.testing.assert_allclose(model.intercept_, b, rtol=0, atol=1e-10)
        assert model.trace_[-1]["objective"] == pytest.approx(report.trace[-1]["objective"])
        p = model.decision_function(X[test_rows[m]])
        np.testing.assert_allclose(out[m], p, rtol=0, atol=1e-12)


def test_classes_are_models_too():
    X, _, _, _ = data(n=100)
    y = np.array(["a", "b", "c", "d"])[np.random.default_rng(0).integers(0, 4, 100)]
    train_rows, test_rows = folds(100)
    models = [SGDClassifier("log_loss", alpha=1e-2, max_iter=3, tol=None, random_state=SEED)
              for _ in range(4)]
    out = fit_together(models, X, y, train_rows, test_rows)
    codes = np.unique(y, return_inverse=True)[1].astype(float)
    for model, rows, held, p in zip(models, train_rows, test_rows, out, strict=True):
        assert p.shape == (25, 4)
        assert list(model.classes_) == list("abcd")
        np.testing.assert_allclose(model.decision_function(X[held]), p, rtol=0, atol=1e-12)
        for k in range(4):
            learner, _ = alone(model, X, codes, rows, np.arange(100),
                               target=np.where(codes == k, 1.0, -1.0))
            np.testing.assert_allclose(model.coef_[k], learner.weights()[0][0], rtol=0, atol=1e-10)


def test_a_class_that_is_missing_from_a_training_set_is_not_that_models():
    X, _, _, _ = data()
    y = np.arange(N) % 3
    train_rows = [np.arange(N), np.flatnonzero(y != 2), np.flatnonzero(y == 0)]
    models = [SGDClassifier(max_iter=2, tol=None, random_state=0) for _ in range(3)]
    out = fit_together(models, X, y, train_rows, [np.arange(5)] * 3)
    assert out[0].shape == (5, 3)
    assert list(models[1].classes_) == [0, 1]
    assert out[1].shape == (5,)
    assert isinstance(out[2], ValueError)
    assert "greater than one; got 1 class: [0]" in str(out[2])


def test_what_fit_sets_is_set():
    pandas = pytest.importorskip("pandas")
    X, dense, y, t = data()
    frame = pandas.DataFrame(dense, columns=[f"x{j}" for j in range(12)])
    for cls, target in ((SGDClassifier, y), (SGDRegressor, t)):
        one, two = (cls(max_iter=3, tol=None, random_state=0) for _ in range(2))
        assert fit_together([one, two], frame, target, [np.arange(N)] * 2) == [None, None]
        plain = cls(max_iter=3, tol=None, random_state=0).fit(frame, target)
        for model in (one, two):
            assert set(vars(model)) == set(vars(plain))
            assert list(model.feature_names_in_) == list(plain.feature_names_in_)
            model.partial_fit(frame, target)


def test_a_model_worse_than_the_best_constant_is_reported():
    X, _, _, t = data()
    models = [SGDRegressor(penalty=None, learning_rate="constant", eta0=eta0, max_iter=2, tol=None,
                           loss="epsilon_insensitive", random_state=0) for eta0 in (1e-2, 1e3)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_together(models, X, t, [np.arange(N)] * 2)
    assert len([w for w in caught if "best constant" in str(w.message)]) == 1


def test_what_fits_together():
    assert fits_together(SGDClassifier())
    assert fits_together(SGDRegressor(learning_rate="adaptive", average=10))
    assert fits_together(Perceptron())
    for other in (
        SGDClassifier(batch_size=2), SGDClassifier(optimizer="adam", learning_rate="constant"),
        SGDClassifier(learning_rate="pa1"), SGDClassifier(early_stopping=True),
        SGDClassifier(warm_start=True), SGDClassifier(verbose=1), Perceptron(average="voted"),
        SGDClassifier(alpha=-1), SGDClassifier(loss="nonsense"), object(), SGDClassifier,
    ):  # fmt: skip
        assert not fits_together(other)

    class Own(SGDClassifier):
        pass

    assert not fits_together(Own())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": [[0, 1]]}, "lists of the same length"),
        ({"train": [[0, 99], [0, 1]]}, r"train\[0\] must hold row numbers from 0 to 59"),
        ({"train": [[0, 1], [-1, 2]]}, r"train\[1\] must hold row numbers"),
        ({"train": [[0, 0], [0, 1]]}, r"train\[0\] must not name a row twice"),
        ({"train": [[], [0, 1]]}, r"train\[0\] must be a vector of at least one"),
        ({"train": [[0.5], [0, 1]]}, r"train\[0\] must be a vector"),
        ({"test": [None, [77]]}, r"test\[1\] must hold row numbers"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"estimators": [SGDClassifier(), SGDRegressor()]}, "all classifiers or all regressors"),
        ({"estimators": [SGDClassifier(batch_size=3)] * 1 + [SGDClassifier()]}, "fits_together"),
    ],
)
def test_wrong_arguments_are_named(change, message):
    X, _, y, _ = data()
    given = {"estimators": [SGDClassifier(), SGDClassifier()], "X": X, "y": y,
             "train": [np.arange(30), np.arange(30, N)], **change}
    with pytest.raises((ValueError, TypeError), match=message):
        fit_together(**given)


@pytest.mark.parametrize("shuffle", [True, False, "replacement"])
def test_kinds_of_order(shuffle):
    X, _, y, _ = data()
    train_rows, test_rows = folds()
    models = [SGDClassifier("log_loss", shuffle=shuffle, max_iter=3, tol=None, random_state=SEED)
              for _ in range(4)]
    out = fit_together(models, X, y, train_rows, test_rows)
    check_equal(models, X, y, y.astype(float), train_rows, test_rows, out,
                target=np.where(y == 1, 1.0, -1.0))


def test_blocks_of_rows_and_renumbered_columns():
    """Enough rows for blocks, enough columns for a renumbering."""
    rng = np.random.default_rng(0)
    sparse = pytest.importorskip("scipy.sparse")
    n, d = 9000, 40_000
    columns = (d * rng.random((n, 12)) ** 3).astype(int)
    columns = rng.permutation(d)[columns]
    X = sparse.csr_array((np.ones(12 * n), (np.repeat(np.arange(n), 12), columns.ravel())),
                         shape=(n, d))
    y = (rng.random(n) < 0.5).astype(int)
    rows = np.arange(n)
    parts = [rows[rows % 4 != f] for f in range(4)]
    held = [rows[rows % 4 == f] for f in range(4)]
    models = [SGDClassifier("log_loss", alpha=1e-3, max_iter=2, tol=None, random_state=SEED)
              for _ in range(4)]
    out = fit_together(models, X, y, parts, held)
    check_equal(models, X, y, y.astype(float), parts, held, out,
                target=np.where(y == 1, 1.0, -1.0))
