"""`BridgeRegressor` and `BridgeClassifier`: penalties alpha/p |w|_p^p by proximal gradient."""

import io
import itertools

import numpy as np
import pytest
from layouts import LAYOUTS
from scipy import sparse

import fastlin
from fastlin import (
    BridgeClassifier,
    BridgeRegressor,
    ConvergenceWarning,
    GridSearchCV,
    InvalidParameterError,
    Lasso,
    LogisticRegression,
    Ridge,
    as_rows,
    make_pipeline,
)
from fastlin._prox import Penalty

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 12)) @ (np.eye(12) + 0.2 * RNG.normal(size=(12, 12)))
X = X * np.exp(RNG.normal(size=12)) + RNG.normal(size=12)
Y = X[:, :4] @ [1.0, -2.0, 0.5, 1.0] + RNG.normal(size=80) + 3
LABELS = np.where(Y > np.median(Y), "yes", "no")
S = RNG.integers(1, 4, 80)
POWERS = [0, 0.3, 0.5, 0.8, 1, 1.001, 1.2, 1.5, 2, 2.5, 4, 20, np.inf]
CONVEX = [p for p in POWERS if p >= 1]


def penalty(w, alpha, p):
    """The definition."""
    if p == 0:
        return alpha * np.count_nonzero(w)
    if p == np.inf:
        return alpha * np.abs(w).max()
    return alpha / p * (np.abs(w) ** p).sum()


def log_loss(z, y):
    return np.log1p(np.exp(-y * z))


def objective(model, X, y, s=None):
    w, s = np.ravel(model.coef_).astype(float), np.ones(len(y)) if s is None else s
    z = X @ w + model.intercept_
    loss = (y - z) ** 2 / 2 if isinstance(model, BridgeRegressor) else log_loss(z, y)
    return s @ loss / s.sum() + penalty(w, model.alpha, model.p)


# proximal maps and conjugates


@pytest.mark.parametrize("p", [p for p in POWERS if p < np.inf])
def test_no_number_is_better_than_the_proximal_map(p):
    u, c = RNG.normal(size=20) * 3, np.exp(RNG.normal(size=20))
    found = Penalty(0.7, p).prox(u, c)
    for w, v, weight in zip(found, u, c, strict=True):
        near = w * (1 + 1e-4 * np.arange(-9, 10))
        tried = np.concatenate([[0.0], v * np.linspace(0, 1, 4001), near])
        cost = 0.7 * (tried != 0) if p == 0 else 0.7 / p * np.abs(tried) ** p
        values = weight / 2 * (tried - v) ** 2 + cost
        mine = weight / 2 * (w - v) ** 2 + penalty(np.array([w]), 0.7, p)
        assert mine <= values.min() * (1 + 1e-12)
    assert np.all(found * u >= 0)


@pytest.mark.parametrize("alpha", [0.3, 3.0, 1e3])
def test_the_proximal_map_of_the_largest_weight(alpha):
    """What a projection on the L1 ball, found by bisection, leaves."""
    u, c = RNG.normal(size=9) * 2, np.exp(RNG.normal(size=9))
    low, high = 0.0, np.abs(u).max()
    for _ in range(200):
        level = (low + high) / 2
        low, high = (level, high) if c @ np.maximum(np.abs(u) - level, 0) > alpha else (low, level)
    expected = np.clip(u, -level, level)
    np.testing.assert_allclose(Penalty(alpha, np.inf).prox(u, c), expected, atol=1e-12)


def test_thresholds_of_the_papers():
    """Xu et al. 2012: lambda |w|^(1/2) with squares that do not count half cuts at
    (54^(1/3)/4) lambda^(2/3); here lambda = 2 alpha and squares count half. The hard threshold is
    sqrt(2 alpha)."""
    one = np.ones(2)
    for p, cut in ((0.5, 54 ** (1 / 3) / 4 * (2 * 2 * 0.3) ** (2 / 3)), (0, np.sqrt(0.6))):
        below, above = Penalty(0.3, p).prox(np.array([cut - 1e-9, cut + 1e-9]), one)
        assert below == 0
        assert above > 0.5


@pytest.mark.parametrize("p", CONVEX)
def test_conjugates(p):
    """Young's inequality, with equality where the slope of the penalty is v."""
    term = Penalty(0.7, p)
    for _ in range(20):
        u = RNG.normal(size=5) * 2
        w = term.prox(u, np.ones(5))
        v = u - w
        assert v @ w - penalty(w, 0.7, p) == pytest.approx(term.conjugate(v), abs=1e-9)
        for other in RNG.normal(size=(20, 5)):
            assert v @ other - penalty(other, 0.7, p) <= term.conjugate(v) + 1e-9


# closed forms


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, np.inf])
def test_orthogonal_columns(p):
    Q = np.linalg.qr(np.c_[np.ones(40), RNG.normal(size=(40, 6))])[0][:, 1:] * np.sqrt(40)
    y = Q @ [3.0, -1.6, 0.9, -0.4, 0.2, 0.0] + 5
    u, alpha = Q.T @ y / 40, 0.5
    size, sign = np.abs(u), np.sign(u)
    x = np.array([max(np.roots([1, 0, -a, alpha]).real) for a in size])  # w = x^2
    expected = {
        0: np.where(size > np.sqrt(2 * alpha), u, 0),
        0.5: np.where(size > 1.5 * (2 * alpha) ** (2 / 3), sign * x**2, 0),
        1: sign * np.maximum(size - alpha, 0),
        2: u / (1 + alpha),
        np.inf: np.clip(u, -2.5, 2.5),
    }[p]
    model = BridgeRegressor(alpha, p=p, tol=1e-12).fit(Q, y)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-7)
    assert model.intercept_ == pytest.approx(5)
    assert model.optimality_ <= 1e-7


def test_one_column_of_classes():
    """Two rows, x = y = +-1: the slope of log(1 + e^-w) is that of the penalty."""
    for p in (1.2, 2, 3):
        model = BridgeClassifier(0.1, p=p, tol=1e-12).fit([[-1.0], [1.0]], [0, 1])
        w = model.coef_[0, 0]
        assert 1 / (1 + np.exp(w)) == pytest.approx(0.1 * w ** (p - 1), rel=1e-5)


# agreement with the estimators for p = 1 and p = 2


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weight", [None, S])
def test_least_squares_for_1_and_2(intercept, weight):
    options = {"fit_intercept": intercept, "tol": 1e-8}
    total = 80 if weight is None else weight.sum()
    for p, peer in ((1, Lasso(0.1, **options)), (2, Ridge(0.1 * total, **options))):
        mine = BridgeRegressor(0.1, p=p, max_iter=9000, **options).fit(X, Y, weight)
        peer.fit(X, Y, weight)
        np.testing.assert_allclose(mine.coef_, peer.coef_, atol=1e-3)
        assert mine.objective_ == pytest.approx(peer.objective_, rel=1e-7)
        assert mine.duality_gap_ <= 1e-8


def test_logistic_regression_for_1_and_2():
    for p, ratio in ((1, 1.0), (2, 0.0)):
        mine = BridgeClassifier(0.02, p=p, tol=1e-9, max_iter=9000).fit(X, LABELS)
        peer = LogisticRegression(C=1 / (0.02 * 80), l1_ratio=ratio, tol=1e-10).fit(X, LABELS)
        np.testing.assert_allclose(mine.coef_, peer.coef_, atol=1e-3)
        np.testing.assert_allclose(mine.predict_proba(X), peer.predict_proba(X), atol=1e-3)
        assert mine.objective_[0] == pytest.approx(peer.objective_[0], rel=1e-8)


# optimality, by definition


@pytest.mark.parametrize("p", CONVEX)
@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_certificates_of_convex_penalties(kind, p):
    cls, y = (BridgeRegressor, Y) if kind == "regressor" else (BridgeClassifier, LABELS)
    target = Y if kind == "regressor" else np.where(LABELS == "yes", 1.0, -1.0)
    rough = cls(0.05, p=p, tol=1e-2, max_iter=9000).fit(X, y)
    fine = cls(0.05, p=p, tol=1e-7, max_iter=9000).fit(X, y)
    for model, tol in ((rough, 1e-2), (fine, 1e-7)):
        value = np.ravel(model.objective_)[0]
        assert np.ravel(model.duality_gap_)[0] <= tol
        assert value == pytest.approx(objective(model, X, target)[()].item(), rel=1e-12)
        # nothing is better than the certificate allows
        assert value * (1 - tol) <= np.ravel(fine.objective_)[0] <= value * (1 + 1e-12)
    w, b = np.ravel(fine.coef_), fine.intercept_
    for _ in range(50):
        other = fine.__class__(0.05, p=p)
        other.coef_ = w + 1e-3 * RNG.normal(size=12)
        other.intercept_ = b + 1e-3 * RNG.normal()
        assert objective(other, X, target) >= np.ravel(fine.objective_)[0] * (1 - 1e-7)


@pytest.mark.parametrize("p", [0, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_no_single_weight_can_be_improved(kind, p):
    cls, y = (BridgeRegressor, Y) if kind == "regressor" else (BridgeClassifier, LABELS)
    target = Y if kind == "regressor" else np.where(LABELS == "yes", 1.0, -1.0)
    model = cls(0.05, p=p, tol=1e-8).fit(X, y)
    w, value = np.ravel(model.coef_).copy(), np.ravel(model.objective_)[0]
    assert value == pytest.approx(objective(model, X, target).item(), rel=1e-12)
    assert 0 < np.count_nonzero(w) < 12
    assert np.ravel(model.optimality_)[0] <= 1e-7
    assert np.isinf(np.ravel(model.duality_gap_)[0])
    step = np.concatenate([np.geomspace(1e-4, 3, 40), -np.geomspace(1e-4, 3, 40)])
    for j in range(12):
        for change in [*step, -w[j]]:
            model.coef_ = w + change * (np.arange(12) == j)
            assert objective(model, X, target) >= value * (1 - 1e-9)


def test_the_best_subset_of_few_columns():
    """Where columns are nearly uncorrelated it is found, however many subsets there are."""
    from itertools import combinations

    A = np.random.default_rng(3).normal(size=(60, 7))
    y = A[:, :3] @ [1.0, -1.0, 0.5] + 0.5 * np.random.default_rng(4).normal(size=60)
    best, chosen = np.inf, ()
    for size in range(8):
        for columns in combinations(range(7), size):
            Z = np.c_[A[:, columns], np.ones(60)]
            e = y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]
            best, chosen = min((best, chosen), (e @ e / 120 + 0.02 * size, columns))
    model = BridgeRegressor(0.02, p=0, tol=1e-9).fit(A, y)
    assert tuple(np.flatnonzero(model.coef_)) == chosen
    assert model.objective_ == pytest.approx(best, rel=1e-12)


def test_small_powers_give_fewer_and_less_biased_weights():
    models = [BridgeRegressor(0.3, p=p).fit(X, Y) for p in (2, 1, 0.5)]
    sizes = [np.count_nonzero(model.coef_) for model in models]
    assert sizes[0] == 12 > sizes[1] > sizes[2]
    flat = BridgeRegressor(3.0, p=np.inf, tol=1e-8, max_iter=9000).fit(X, Y)
    largest = np.abs(flat.coef_).max()
    assert np.count_nonzero(np.abs(flat.coef_) > largest * (1 - 1e-9)) > 1


# storage, weights, other losses


@pytest.mark.parametrize("p", [0.5, 3])
def test_storage_does_not_matter(p):
    for layout in LAYOUTS:
        given, dense = layout.make()
        y = dense @ np.arange(12.0) + RNG.normal(size=40)
        model = BridgeRegressor(0.2, p=p, tol=1e-5, max_iter=5000).fit(given, y)
        expected = BridgeRegressor(0.2, p=p, tol=1e-5, max_iter=5000).fit(dense, y)
        assert model.objective_ == pytest.approx(expected.objective_, rel=1e-5), layout.name
        assert model.coef_.dtype == layout.dtype


@pytest.mark.parametrize("p", [0, 1.5])
def test_weights_are_repetitions(p):
    s = np.arange(80) % 4
    weighted = BridgeRegressor(0.1, p=p, tol=1e-10).fit(X, Y, s)
    repeated = BridgeRegressor(0.1, p=p, tol=1e-10).fit(np.repeat(X, s, axis=0), np.repeat(Y, s))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    assert weighted.intercept_ == pytest.approx(repeated.intercept_)


def test_the_intercept_is_free():
    moved = BridgeRegressor(0.1, p=0.5, tol=1e-9).fit(X + 100, Y - 1e3)
    model = BridgeRegressor(0.1, p=0.5, tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=1e-6)
    constant = BridgeRegressor(0.1, p=0.5).fit(np.c_[X, np.full(80, 7.0)], Y)
    assert constant.coef_[12] == 0


@pytest.mark.parametrize("p", [0.5, 1.5, np.inf])
@pytest.mark.parametrize("loss", ["huber", "squared_epsilon_insensitive"])
def test_losses_of_targets(loss, p):
    model = BridgeRegressor(0.05, p=p, loss=loss, epsilon=0.5, tol=1e-6, max_iter=5000).fit(X, Y)
    e = np.abs(Y - model.predict(X))
    losses = {
        "huber": np.where(e <= 0.5, e**2 / 2, 0.5 * e - 0.125),
        "squared_epsilon_insensitive": np.maximum(0, e - 0.5) ** 2,
    }
    value = losses[loss].mean() + penalty(model.coef_, 0.05, p)
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    assert model.optimality_ <= 1e-3


@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber"])
def test_losses_of_classes(loss):
    model = BridgeClassifier(0.05, p=3, loss=loss, tol=1e-8, max_iter=5000).fit(X, LABELS)
    m = np.where(LABELS == "yes", 1, -1) * model.decision_function(X)
    losses = np.maximum(0, 1 - m) ** 2
    if loss == "modified_huber":
        losses = np.where(m >= -1, losses, -4 * m)
    value = losses.mean() + penalty(model.coef_, 0.05, 3)
    assert model.objective_[0] == pytest.approx(value, rel=1e-12)
    assert model.duality_gap_[0] <= 1e-8
    assert hasattr(model, "predict_proba") == (loss == "modified_huber")


def test_several_classes_are_one_against_the_rest():
    y = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    model = BridgeClassifier(0.02, p=0.5, class_weight={0: 2.0}, tol=1e-7).fit(X, y, S)
    s = S * np.where(y == 0, 2.0, 1.0)
    for k in range(3):
        alone = BridgeClassifier(0.02, p=0.5, tol=1e-7).fit(X, y == k, s)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.optimality_.shape == (3,)
    pairs = BridgeClassifier(0.02, p=0.5, multi_class="ovo").fit(X, y)
    assert pairs.score(X, y) > 0.7


# the rest of the interface


def test_a_warm_start_goes_on():
    model = BridgeRegressor(0.1, p=3, tol=1e-8, warm_start=True, max_iter=5000).fit(X, Y)
    assert model.n_iter_ > 10
    assert model.fit(X, Y).n_iter_ == 1


def test_files_searches_and_pipelines():
    model = BridgeClassifier(0.02, p=0, tol=1e-6).fit(sparse.csr_array(X), LABELS)
    file = io.BytesIO()
    fastlin.save(model, file)
    loaded = fastlin.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.duality_gap_, model.duality_gap_)
    regressor = BridgeRegressor(0.02, p=0.5).fit(as_rows(X), Y)
    file = io.BytesIO()
    fastlin.save(regressor, file)
    assert fastlin.load(io.BytesIO(file.getvalue())).duality_gap_ == np.inf
    search = GridSearchCV(BridgeClassifier(), {"p": [0.5, 2], "alpha": [0.03, 0.1]}, cv=2)
    search.fit(X, LABELS)
    alone = BridgeClassifier(**search.best_params_).fit(X, LABELS)
    np.testing.assert_allclose(search.best_estimator_.coef_, alone.coef_)
    assert make_pipeline(BridgeRegressor(p=1.2)).fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize("p", [1, np.inf])
def test_tight_tolerances_are_met(p):
    """Roundings of P are no reason to give up momentum; correlated columns need it."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        columns = rng.normal(size=(80, 6)) @ rng.normal(size=(6, 6))
        y = columns @ [2, 0, 0, -1, 0.5, 0] + rng.normal(size=80) + 3
        model = BridgeRegressor(0.01, p=p, tol=1e-9).fit(columns, y)
        assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize(
    ("mixed", "p"), [(False, np.inf), *itertools.product([False, True], [1.05, 1.2, 1.5, 2, 3, 4])]
)
@pytest.mark.parametrize("d", [60, 900])
@pytest.mark.parametrize("cls", [BridgeRegressor, BridgeClassifier])
def test_weak_penalties(cls, mixed, d, p):
    """On few and many columns, of one scale or mixed ones that go together: within the default
    `max_iter`, and by a dual bound worked out here the optimum. The warning of an early end would
    be an error."""
    rng = np.random.default_rng(3)
    wide = sparse.random_array((150, d), density=0.03 if d > 150 else 0.3, rng=rng, format="csr")
    if mixed:
        wide = wide @ sparse.csr_array(np.eye(d) + np.eye(d, k=1))
        wide = wide @ sparse.diags_array(10.0 ** rng.uniform(-2, 2, d))
    z = wide @ rng.normal(size=d)
    y = z + 0.3 * rng.normal(size=150) if cls is BridgeRegressor else np.where(z > 0, 1.0, -1.0)
    alpha = 1e-4 if p < np.inf else 0.3
    tol = 1e-5 if p < np.inf else 1e-4
    model = cls(alpha, p=p, tol=tol).fit(wide, y)
    w = np.ravel(model.coef_)
    z = wide @ w + model.intercept_
    # minus the slopes, with a sum of 0; a rounding of b is all that is missing
    a = y - z if cls is BridgeRegressor else y / (1 + np.exp(y * z))
    assert abs(a.mean()) < 1e-9
    if cls is BridgeRegressor:
        a -= a.mean()
    else:
        a[a > 0] *= -a[a < 0].sum() / a[a > 0].sum()
    v = wide.T @ a / 150
    shrink = 1.0
    if p == np.inf:
        shrink = min(1.0, alpha / np.abs(v).sum())
        conjugate = 0.0
    else:
        conjugate = alpha * (1 - 1 / p) * ((np.abs(v) / alpha) ** (p / (p - 1))).sum()
    a = shrink * a
    t = a * y
    of_loss = a * y - a * a / 2 if cls is BridgeRegressor else -(
        t * np.log(t) + (1 - t) * np.log1p(-t)
    )
    value = objective(model, wide, y)[()].item()
    assert value == pytest.approx(np.ravel(model.objective_)[0], rel=1e-9)
    # of p = inf the slopes of the last weights alone say less than those of all steps
    assert value - (of_loss.mean() - conjugate) <= (tol if p < np.inf else 10 * tol) * value


@pytest.mark.parametrize("share", [0.1, 1e-3, 1e-5])
@pytest.mark.parametrize("shape", [(30, 4), (15, 40)])
def test_the_largest_weight_by_linear_constraints(shape, share):
    """p = inf with a penalty of any strength, in far fewer than the default steps: beside SLSQP on
    -t <= w <= t, and what a proximal step says of ties."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(shape[0])
    columns = rng.normal(size=shape) @ np.diag(rng.uniform(0.3, 3, shape[1]))
    y = columns @ rng.normal(size=shape[1]) + 0.2 * rng.normal(size=shape[0]) + 5
    d, n = shape[1], shape[0]
    alpha = share * np.abs(columns.T @ (y - y.mean())).sum() / n
    model = BridgeRegressor(alpha, p=np.inf, tol=1e-10, max_iter=300).fit(columns, y)

    def value(u):
        e = columns @ u[:d] + u[d] - y
        return e @ e / (2 * n) + alpha * u[-1], np.r_[columns.T @ e / n, e.mean(), alpha]

    signs = np.vstack([np.c_[-np.eye(d), np.zeros(d), np.ones(d)],
                       np.c_[np.eye(d), np.zeros(d), np.ones(d)]])
    begin = np.r_[np.zeros(d), y.mean(), 1.0]
    found = minimize(value, begin, jac=True, method="SLSQP",
                     constraints={"type": "ineq", "fun": lambda u: signs @ u,
                                  "jac": lambda u: signs},
                     options={"maxiter": 2000, "ftol": 1e-14})
    assert model.duality_gap_ <= 1e-10
    w = model.coef_
    own = value(np.r_[w, model.intercept_, np.abs(w).max()])[0]
    assert own == pytest.approx(model.objective_, rel=1e-9)
    assert own <= found.fun * (1 + 1e-9)
    assert own >= found.fun * (1 - 1e-4)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_the_largest_weight_in_every_storage(layout):
    """Both ways to solve for a step, of more rows and of more columns."""
    given, dense = layout.make()
    y = np.arange(40) % 3 + dense @ np.linspace(-1, 1, 12)
    for n in (40, 8):
        weight = np.where(np.arange(40) < n, 1.0, 0.0)
        model = BridgeRegressor(1e-3, p=np.inf, tol=1e-9, max_iter=200)
        objectives = [model.fit(given, y, weight).objective_,
                      model.fit(dense[:n].astype(float), y[:n]).objective_]
        assert objectives[0] == pytest.approx(objectives[1], rel=1e-8)


@pytest.mark.parametrize("p", [0.5, 0.9])
def test_equal_columns_share_no_weight(p):
    """Shares of one weight are a saddle, where no change of a single one improves."""
    rng = np.random.default_rng(5)
    columns = rng.normal(size=(80, 5))
    y = columns @ [1, 0, 0, 2, 0] + rng.normal(size=80)
    alone = BridgeRegressor(0.1, p=p, tol=1e-9, max_iter=5000).fit(columns, y)
    for copy in (columns[:, :1], 3 - columns[:, :1], 0.5 * columns[:, [3]]):
        both = BridgeRegressor(0.1, p=p, tol=1e-9, max_iter=5000).fit(np.c_[columns, copy], y)
        assert both.objective_ == pytest.approx(alone.objective_, rel=1e-8)
        assert np.count_nonzero(both.coef_) == np.count_nonzero(alone.coef_)


def test_what_is_within_tol_has_ended():
    """No step lowers P any more: with a residual below `tol` that is an answer, and no warning."""
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 150)), int(rng.integers(1, 10))
        columns, y = rng.normal(size=(n, d)), rng.choice([0, 1], n)
        y[:2] = 0, 1
        assert BridgeClassifier(0.001, p=0).fit(columns, y).optimality_ <= 1e-4


@pytest.mark.parametrize("p", [0.3, 1.5])
def test_a_search_that_ends_early_says_so(p):
    with pytest.warns(ConvergenceWarning, match="BridgeRegressor stopped after 3 iterations"):
        BridgeRegressor(1e-3, p=p, max_iter=3, tol=1e-12).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, "alpha must be a number > 0, got 0"),
        ({"p": -1}, "p must be a number >= 0, got -1"),
        ({"p": float("nan")}, "p must be a number >= 0, got nan"),
        ({"p": 1e-9}, "p must be 0 or a number >= 0.001, got 1e-09; use p=0"),
        ({"loss": "hinge"}, "loss must be"),
    ],
)
def test_wrong_parameters(params, message):
    for cls, y in ((BridgeRegressor, Y), (BridgeClassifier, LABELS)):
        with pytest.raises((InvalidParameterError, ValueError), match=message):
            cls(**params).fit(X, y)


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("scale", [1e-150, 1e60])
@pytest.mark.parametrize("p", [0, 0.5, 1.01, 50, np.inf])
def test_extreme_scales_end(p, scale):
    """At an answer, whose numbers are finite, or at an error that says why there is none."""
    model = BridgeRegressor(1e-3, p=p)
    try:
        model.fit(X * scale, Y)
    except ValueError as error:
        assert "overflow" in str(error)
    else:
        assert np.isfinite(model.predict(X * scale)).all()
