"""`Lasso`, `ElasticNet`, `LassoCV`, `ElasticNetCV` and `regularization_path`."""

import pickle
import warnings

import numpy as np
import pytest
from layouts import LAYOUTS
from numpy.testing import assert_allclose
from scipy import sparse

from fastlin import (
    ConvergenceWarning,
    ElasticNet,
    ElasticNetCV,
    InvalidParameterError,
    KFold,
    Lasso,
    LassoCV,
    _paths,
    as_rows,
    regularization_path,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 15)) * RNG.geometric(0.3, size=15) + RNG.normal(size=15)
Y = X @ (RNG.normal(size=15) * (RNG.random(15) < 0.4)) + RNG.normal(size=80) + 2
S = RNG.integers(1, 4, 80).astype(float)


def objective(model, X, y, ratio, s=None):
    s = np.ones(len(y)) if s is None else s
    w = model.coef_.astype(float)
    e = y - X @ w - model.intercept_
    penalty = ratio * np.abs(w).sum() + (1 - ratio) / 2 * w @ w
    return s @ e**2 / (2 * s.sum()) + model.alpha * penalty


# the optimum


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("cls", "ratio"), [(Lasso, 1.0), (ElasticNet, 0.4), (ElasticNet, 0.0)])
def test_the_certified_optimum_is_scikit_learns(cls, ratio, weighted, intercept, positive):
    linear_model = pytest.importorskip("sklearn.linear_model")
    s = S if weighted else None
    options = {} if cls is Lasso else {"l1_ratio": ratio}
    model = cls(0.2, fit_intercept=intercept, positive=positive, tol=1e-10, **options)
    model.fit(X, Y, sample_weight=s)
    assert model.duality_gap_ <= 1e-10
    assert model.dual_gap_ == pytest.approx(model.duality_gap_ * model.objective_)
    assert model.objective_ == pytest.approx(objective(model, X, Y, ratio, s), rel=1e-12)
    assert isinstance(model.intercept_, float)
    if ratio:
        peer = getattr(linear_model, cls.__name__)(
            0.2, fit_intercept=intercept, positive=positive, tol=1e-12, max_iter=100_000, **options
        ).fit(X, Y, sample_weight=s)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=2e-5)
        assert model.intercept_ == pytest.approx(peer.intercept_, abs=1e-4)
        assert objective(model, X, Y, ratio, s) <= objective(peer, X, Y, ratio, s) * (1 + 1e-10)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_storage_does_not_matter(layout):
    given, dense = layout.make(50, 12)
    y = dense @ np.arange(12.0) + np.random.default_rng(0).normal(size=50)
    model = Lasso(0.1, tol=1e-9).fit(given, y)
    assert model.coef_.dtype == as_rows(given).dtype
    assert model.objective_ == pytest.approx(Lasso(0.1, tol=1e-9).fit(dense, y).objective_,
                                             rel=1e-8)
    assert model.predict(given).shape == (50,)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("selection", ["cyclic", "random"])
def test_three_points(seed, selection):
    model = ElasticNet(0.5, l1_ratio=0.3, tol=1e-8, random_state=seed, selection=selection)
    model.fit([[-1.0], [0.0], [1.0]], [-1, 0, 1])
    assert model.coef_[0] == pytest.approx(0.50820, abs=5e-6)


def test_weights_are_repetitions():
    s = np.random.default_rng(0).integers(0, 5, 80)
    weighted = Lasso(0.1, tol=1e-10).fit(X, Y, sample_weight=s)
    repeated = Lasso(0.1, tol=1e-10).fit(np.repeat(X, s, axis=0), np.repeat(Y, s))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix, sparse.csc_matrix,
                                     np.float32])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_the_largest_alpha(storage, ratio):
    s = S / S.sum()
    most = np.abs(((X - s @ X) * s[:, None]).T @ Y).max() / ratio
    for factor, some in ((1 + 1e-6, False), (0.99, True)):
        model = ElasticNet(most * factor, l1_ratio=ratio).fit(storage(X), Y, sample_weight=S)
        assert model.coef_.any() == some
    path = regularization_path(storage(X), Y, l1_ratio=ratio, alphas=3, sample_weight=S)
    assert path.alphas[0] == pytest.approx(most, rel=1e-5)
    assert not path.coefs[:, 0].any()
    assert path.coefs[:, 1].any()


def test_a_shift_of_the_columns_changes_nothing():
    for shift in (10, 100, 1000):
        moved = Lasso(0.1, tol=1e-9).fit(X + shift, Y)
        np.testing.assert_allclose(moved.predict(X + shift), Lasso(0.1, tol=1e-9).fit(X, Y)
                                   .predict(X), atol=1e-4)


def test_inputs_are_left_alone():
    arrays = [a.copy() for a in (X, Y, S)]
    for cls in (Lasso, ElasticNet, LassoCV, ElasticNetCV):
        cls(copy_X=False).fit(*arrays)
    for before, after in zip((X, Y, S), arrays, strict=True):
        np.testing.assert_array_equal(before, after)


# parameters


def test_warm_start():
    model = Lasso(0.1, warm_start=True, tol=1e-8).fit(X, Y)
    first = model.coef_.copy()
    assert model.fit(X, Y).n_iter_ == 1
    np.testing.assert_allclose(model.coef_, first, atol=1e-6)
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(X[:, :3], Y)


def test_a_search_that_ends_too_early_says_so():
    with pytest.warns(ConvergenceWarning, match=r"max_iter or tol, or raise alpha"):
        Lasso(0.001, max_iter=1, tol=1e-12).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="searches with a duality gap"):
        LassoCV(alphas=[0.001], max_iter=1, tol=1e-12).fit(X, Y)
    with pytest.warns(ConvergenceWarning, match="regularization_path stopped 1 of 1"):
        regularization_path(X, Y, alphas=[0.001], max_iter=1, tol=1e-12)


@pytest.mark.parametrize(("name", "value"), [
    ("alpha", -0.1), ("l1_ratio", 1.5), ("selection", "other"), ("tol", 0), ("precompute", "auto"),
    ("max_iter", 0), ("positive", 1), ("copy_X", None), ("random_state", "x"),
])  # fmt: skip
def test_bad_parameters(name, value):
    with pytest.raises(InvalidParameterError, match=name):
        ElasticNet(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), [
    ("alphas", 0), ("alphas", [-1.0]), ("eps", 0.0), ("eps", 1.0), ("l1_ratio", [0.5, 2]),
    ("cv", 1), ("precompute", "yes"),
])  # fmt: skip
def test_bad_parameters_of_a_search(name, value):
    with pytest.raises(InvalidParameterError, match=name):
        ElasticNetCV(**{name: value}).fit(X, Y)


@pytest.mark.parametrize(("options", "message"), [
    ({"alphas": []}, "alphas must hold"),
    ({"l1_ratio": []}, "l1_ratio must hold"),
    ({"l1_ratio": 0.0}, "alphas must be given"),
    ({"cv": "five"}, "cv must be"),
    ({"cv": [(np.arange(80), np.arange(0))]}, "fold 0 has none"),
])  # fmt: skip
def test_searches_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        ElasticNetCV(**options).fit(X, Y)


def test_several_targets_are_refused():
    with pytest.raises(ValueError, match="1d array"):
        Lasso().fit(X, np.c_[Y, Y])


def test_sparse_coef():
    model = Lasso(0.5).fit(X, Y)
    assert model.sparse_coef_.shape == (1, 15)
    np.testing.assert_array_equal(model.sparse_coef_.toarray()[0], model.coef_)
    assert pickle.loads(pickle.dumps(model)).predict(X) == pytest.approx(model.predict(X))


# searches


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_searches_agree_with_scikit_learn(storage, weighted):
    linear_model = pytest.importorskip("sklearn.linear_model")
    s = S if weighted else None
    options = {"alphas": 12, "tol": 1e-9, "cv": 4, "max_iter": 100_000}
    ours = LassoCV(**options).fit(storage(X), Y, sample_weight=s)
    peer = linear_model.LassoCV(**options).fit(X, Y, sample_weight=s)
    assert ours.mse_path_.shape == (12, 4)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(peer.alpha_)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-4)
    ours = ElasticNetCV(l1_ratio=[0.3, 0.9], **options).fit(storage(X), Y, sample_weight=s)
    peer = linear_model.ElasticNetCV(l1_ratio=[0.3, 0.9], **options).fit(X, Y, sample_weight=s)
    assert ours.mse_path_.shape == (2, 12, 4)
    np.testing.assert_allclose(ours.alphas_, peer.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, peer.mse_path_, rtol=1e-3)
    assert (ours.alpha_, ours.l1_ratio_) == pytest.approx((peer.alpha_, peer.l1_ratio_))


@pytest.mark.parametrize("turns", [300, 2])
@pytest.mark.parametrize("options", [{}, {"positive": True}, {"fit_intercept": False}], ids=str)
def test_products_of_pairs_lead_where_columns_do(monkeypatch, turns, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) @ rng.normal(size=(3, 8)) + 0.3 * rng.normal(size=(90, 8)) + 2
    y = X[:, 0] - X[:, 3] + rng.normal(size=90)
    weight = rng.integers(1, 4, 90)
    monkeypatch.setattr(_paths, "MOST_TURNS", turns)
    models = [ElasticNetCV(l1_ratio=[0.5, 1.0], alphas=20, tol=1e-9, **options) for _ in range(2)]
    models[0].fit(X, y, sample_weight=weight)
    monkeypatch.setattr(_paths, "is_for_products", lambda X: False)
    models[1].fit(X, y, sample_weight=weight)
    assert_allclose(*(model.mse_path_ for model in models), rtol=1e-4)
    assert_allclose(*(model.coef_ for model in models), atol=1e-9)


@pytest.mark.parametrize("cls", [Lasso, ElasticNet])
def test_a_fit_that_max_iter_stops_names_it(cls):
    """Columns far from 0 on few rows: more turns than begin by products of pairs."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 100)) * 1000 + 500
    y = rows @ rng.normal(size=100)
    model = cls(100.0, max_iter=10_000, tol=1e-9).fit(rows, y)
    linear_model = pytest.importorskip("sklearn.linear_model")
    peer = getattr(linear_model, cls.__name__)(100.0, max_iter=1_000_000, tol=1e-10).fit(rows, y)
    ratio = 1.0 if cls is Lasso else 0.5
    best = objective(peer, rows, y, ratio)
    assert objective(model, rows, y, ratio) == pytest.approx(best, rel=1e-7)
    assert model.n_iter_ > _paths.MOST_TURNS
    for most in (1, 50, _paths.MOST_TURNS, _paths.MOST_TURNS + 1, model.n_iter_ // 2):
        short = cls(100.0, max_iter=most, tol=1e-9)
        with pytest.warns(ConvergenceWarning, match="raise max_iter"):
            short.fit(rows, y)
        assert short.n_iter_ == most
        gap = objective(short, rows, y, ratio) - best
        assert gap <= short.dual_gap_ * (1 + 1e-9) + 1e-7 * best


def test_a_path_by_products_goes_on_to_a_target_that_is_met():
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = LassoCV(alphas=np.geomspace(1e-9, 1e-1, 12), tol=1e-6).fit(X, X @ np.arange(4.0) + 1)
    assert model.duality_gap_ <= 1e-6
    assert_allclose(model.coef_, np.arange(4.0), atol=1e-6)


def test_a_fold_is_the_fit_on_its_rows():
    folds = list(KFold(3).split(X))
    model = LassoCV(alphas=[0.1, 1.0], cv=folds, tol=1e-10).fit(X, Y, sample_weight=S)
    for k, (train, test) in enumerate(folds):
        alone = Lasso(0.1, tol=1e-10).fit(X[train], Y[train], sample_weight=S[train])
        error = np.average((Y[test] - alone.predict(X[test])) ** 2, weights=S[test])
        assert model.mse_path_[1, k] == pytest.approx(error, rel=1e-5)
    assert model.alphas_.tolist() == [1.0, 0.1]
    again = Lasso(model.alpha_, tol=1e-10).fit(X, Y, sample_weight=S)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-6)


def test_threads_do_not_matter():
    one, two = (ElasticNetCV(l1_ratio=[0.5, 1.0], n_jobs=jobs, alphas=10).fit(X, Y)
                for jobs in (1, 2))
    np.testing.assert_array_equal(one.mse_path_, two.mse_path_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


def test_a_target_that_is_constant():
    model = LassoCV(alphas=4).fit(X, np.full(80, 3.0))
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(3.0)


# paths


@pytest.mark.parametrize("loss", ["squared_error", "log_loss", "squared_hinge"])
@pytest.mark.parametrize("intercept", [False, True])
def test_a_path_is_made_of_optima(loss, intercept):
    y = Y if loss == "squared_error" else np.where(Y > np.median(Y), "b", "a")
    path = regularization_path(X, y, loss=loss, alphas=8, eps=0.01, tol=1e-8, max_iter=10_000,
                               fit_intercept=intercept, sample_weight=S, l1_ratio=0.8)
    assert path.coefs.shape == (15, 8)
    assert (np.diff(path.alphas) < 0).all()
    assert path.alphas[-1] == pytest.approx(0.01 * path.alphas[0])
    assert (path.dual_gaps <= 1e-8 * path.objectives).all()
    assert (path.n_iters >= 1).all()
    assert intercept or not path.intercepts.any()
    sign = np.where(y == "b", 1.0, -1.0) if loss != "squared_error" else None
    for k, alpha in enumerate(path.alphas):
        w = path.coefs[:, k]
        z = X @ w + path.intercepts[k]
        value = {
            "squared_error": lambda z=z: (Y - z) ** 2 / 2,
            "log_loss": lambda z=z: np.logaddexp(0, -sign * z),
            "squared_hinge": lambda z=z: np.maximum(0, 1 - sign * z) ** 2,
        }[loss]()
        penalty = alpha * (0.8 * np.abs(w).sum() + 0.1 * w @ w)
        assert path.objectives[k] == pytest.approx(S @ value / S.sum() + penalty, rel=1e-10)


def test_l1_logistic_regression_agrees_with_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    y = np.where(Y > 0, 1, 0)
    alphas = [0.1, 0.01]
    path = regularization_path(X, y, loss="log_loss", alphas=alphas, tol=1e-9, max_iter=10_000,
                               fit_intercept=False)
    for k, alpha in enumerate(alphas):
        peer = linear_model.LogisticRegression(
            l1_ratio=1.0, C=1 / (80 * alpha), solver="liblinear", tol=1e-8, fit_intercept=False,
            max_iter=10_000,
        ).fit(X, y)
        np.testing.assert_allclose(path.coefs[:, k], peer.coef_[0], atol=1e-3)


def test_rows_without_weight_are_not_there():
    s = S * (np.arange(80) % 2)
    a = regularization_path(X, Y, alphas=[0.1], sample_weight=s, tol=1e-10)
    b = regularization_path(X[1::2], Y[1::2], alphas=[0.1], sample_weight=S[1::2], tol=1e-10)
    np.testing.assert_allclose(a.coefs, b.coefs, atol=1e-7)


@pytest.mark.parametrize(("options", "message"), [
    ({"loss": "hinge"}, "loss must be"),
    ({"loss": "log_loss"}, "two classes|continuous"),
    ({"alphas": -1}, "alphas"),
    ({"max_iter": 0}, "max_iter"),
    ({"sample_weight": -np.ones(80)}, "sample_weight"),
    ({"l1_ratio": 0.0}, "alphas must be given"),
])  # fmt: skip
def test_bad_arguments_of_a_path(options, message):
    with pytest.raises(ValueError, match=message):
        regularization_path(X, Y, **options)


def test_a_class_without_weight():
    y = np.arange(80) % 2
    with pytest.raises(ValueError, match="rows of both classes"):
        regularization_path(X, y, loss="log_loss", sample_weight=y)


# path, by scikit-learn's signature


@pytest.mark.parametrize("cls", [Lasso, ElasticNet])
def test_path_is_that_of_scikit_learn(cls):
    linear_model = pytest.importorskip("sklearn.linear_model")
    A, b = X - X.mean(axis=0), Y - Y.mean()
    for given in (
        {"alphas": 7}, {"l1_ratio": 1.0, "alphas": [0.1, 2.0, 0.5]},
        {"l1_ratio": 0.2, "alphas": 5, "eps": 0.1, "positive": True, "return_n_iter": True},
    ):  # fmt: skip
        ours = cls.path(A, b, tol=1e-10, **given)
        theirs = getattr(linear_model, cls.__name__).path(A, b, tol=1e-10, max_iter=10**5, **given)
        assert len(ours) == len(theirs)
        assert_allclose(ours[0], theirs[0])
        assert_allclose(ours[1], theirs[1], atol=1e-5)
        assert ours[1].shape == theirs[1].shape
        assert (ours[2] <= 1e-8 * (b @ b)).all()


def test_path_is_without_an_intercept_and_takes_numbers_of_alphas():
    alphas, coefs, gaps = Lasso().path(X, Y, l1_ratio=1.0, n_alphas=6, tol=1e-9, max_iter=2000,
                                       sample_weight=S, random_state=0, selection="random")
    path = regularization_path(X, Y, alphas=6, fit_intercept=False, tol=1e-9, sample_weight=S)
    for ours, theirs in ((alphas, path.alphas), (coefs, path.coefs), (gaps, path.dual_gaps)):
        np.testing.assert_array_equal(ours, theirs)
    assert len(Lasso.path(X, Y, alphas=None)[0]) == 100


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"coef_init": np.zeros(15)}, ValueError, "coef_init must be None"),
        ({"Xy": np.zeros(15)}, ValueError, "Xy must be None"),
        ({"n_alphas": 0}, ValueError, "n_alphas must be"),
        ({"precompute": "maybe"}, (TypeError, ValueError), "precompute must be"),
        ({"selection": "best"}, ValueError, "selection must be"),
        ({"l1_ratio": 2.0}, ValueError, "l1_ratio must be"),
        ({"tolerance": 2.0}, TypeError, r"path\(\) got an unexpected keyword argument 'tolerance'"),
        ({"fit_intercept": True}, TypeError, "'fit_intercept'"),
    ],
)
def test_path_names_what_it_does_not_take(given, error, text):
    with pytest.raises(error, match=text):
        ElasticNet.path(X, Y, **given)


@pytest.mark.parametrize("kind", [Lasso, ElasticNet, LassoCV, ElasticNetCV])
def test_rows_without_entries_and_targets_far_from_zero(kind):
    y = 1e6 + np.random.default_rng(0).normal(size=30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rounding may leave a gap
        model = kind().fit(sparse.csr_matrix((30, 3)), y)
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert model.intercept_ == pytest.approx(y.mean(), rel=1e-15)
