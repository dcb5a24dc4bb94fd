"""Learners with kernels: optimality first, then agreement with others."""

import io
import warnings

import kernel_reference as reference
import numpy as np
import pytest
from public import KERNELISED, name
from scipy import sparse

import fastlin
from fastlin import (
    ConvergenceWarning,
    GridSearchCV,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelSVC,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    _gram_rows,
    _kernel_dual,
    _kernel_interior,
    _kernel_machine,
    _vectors,
)
from fastlin._clone import clone
from fastlin._core import multi
from fastlin._isa import choose
from fastlin.kernels import polynomial_kernel, rbf_kernel, string_subsequence_kernel, tree_kernel

rng = np.random.default_rng(0)
N = 320
X = rng.normal(size=(N, 4))
INSIDE = (X[:, :2] ** 2).sum(axis=1) + 0.5 * rng.normal(size=N) < 1.2
Y = np.where(INSIDE, "in", "out")
THREE = rng.integers(0, 3, N)
WEIGHT = rng.choice([0.0, 0.5, 2.0], N)
WORDS = [
    "".join(rng.choice(list(letters), rng.integers(4, 9))) for letters in ("aab", "abb") * 20
]
KIND = [0, 1] * 20
MACHINES = {
    "hinge": KernelSVC(), "squared_hinge": KernelSVC(loss="squared_hinge"),
    "log_loss": KernelLogisticRegression(),
}  # fmt: skip


def made(loss, **params):
    return clone(MACHINES[loss]).set_params(**params)


def coefficients(model, k=0):
    v = np.zeros(N)
    v[model.support_] = model.dual_coef_[k]
    return v


def assert_certified(model, loss, K, y, mass, k=0):
    """P - D as NumPy finds it is what the model says, and at most tol."""
    kept = mass > 0
    v = coefficients(model, k)[kept]
    K, y, mass = K[np.ix_(kept, kept)], y[kept], mass[kept]
    P, D = reference.primal_and_dual(loss, K, y, mass, v, model.intercept_[k])
    assert model.objective_[k] * mass.sum() == pytest.approx(P, rel=1e-9)
    # the best bound may belong to another answer
    assert -1e-12 * P <= P - D
    assert model.duality_gap_[k] <= (P - D) / P + 1e-9
    assert model.duality_gap_[k] <= model.tol


@pytest.mark.parametrize("loss", MACHINES)
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_gap(loss, C, weight, kernel):
    model = made(loss, C=C, kernel=kernel, gamma=0.3).fit(X, Y, weight)
    K = rbf_kernel(X, gamma=0.3) if kernel == "rbf" else X @ X.T
    mass = C * (np.ones(N) if weight is None else weight)
    assert_certified(model, loss, K, np.where(Y == "out", 1.0, -1.0), mass)


@pytest.mark.parametrize("loss", ["squared_hinge", "log_loss"])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("C", [1e3, 1e4])
def test_weak_penalties_are_no_obstacle(loss, kernel, C):
    model = made(loss, C=C, kernel=kernel, gamma=0.3).fit(X, Y)  # and warns of nothing
    assert model.duality_gap_[0] <= 1e-4


@pytest.mark.parametrize("rank", ["low", "low, without room", "full"])
@pytest.mark.parametrize("weight", [None, np.arange(300) % 3], ids=["even", "weighted"])
def test_a_hinge_with_next_to_no_penalty(weight, rank, monkeypatch):
    """Pairs get nowhere there (warnings are errors); bounds are met exactly all the same. Of many
    rows, as which these are to count, the Gram matrix is one of low rank here; there may be no
    room for all of it."""
    n = 300 if weight is None else 200
    cache_size, gamma = (7.9e-6 * n * n, 0.15) if "room" in rank else (200, 0.5)
    if rank != "full":
        for module in (_kernel_dual, _kernel_interior):
            monkeypatch.setattr(module, "MOST_ROWS", 10)
        monkeypatch.setattr(_kernel_dual, "_LITTLE", 10)
        monkeypatch.setattr(_kernel_dual, "_FARTHER", 30)
        monkeypatch.setattr(_kernel_interior, "_MANY", 0)
        monkeypatch.setattr(_kernel_interior, "_LOW", 0.7)
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(300, 2))
    y = (plane**2).sum(axis=1) + 0.5 * rng.normal(size=300) > 1.5
    for C in (1e5, 1e7):
        model = KernelSVC(C=C, gamma=gamma, cache_size=cache_size)
        model.fit(plane, y, sample_weight=weight)
        assert model.duality_gap_[0] <= 1e-4
        assert 0 < len(model.support_) < 150
        most = C * (np.ones(300) if weight is None else weight)[model.support_]
        assert (np.abs(model.dual_coef_[0]) <= most * (1 + 1e-12)).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_every_instruction_set_gives_the_same_bits(loss, monkeypatch):
    monkeypatch.setattr(_kernel_dual, "_LITTLE", 0)
    found = []
    for isa, number, runs in multi.instruction_sets():
        if runs:
            assert choose(isa) == number
            for module in (_kernel_dual, _vectors):
                monkeypatch.setattr(module, "ISA", number)
            model = made(loss, C=3.0, gamma=0.3, tol=1e-6).fit(X, Y)
            found.append((model.dual_coef_, model.intercept_, model.n_iter_))
    for each in found[1:]:
        for one, other in zip(found[0], each, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_used", [0, 1, 7, 30, 60])
def test_products_with_rows_of_a_gram_matrix_at_hand(n_used, monkeypatch):
    monkeypatch.setattr(_gram_rows, "_IN_CACHE", 300)
    draws = np.random.default_rng(n_used)
    rows, v = draws.normal(size=(60, 4)), np.zeros(60)
    v[draws.permutation(60)[:n_used]] = draws.normal(size=n_used)
    K = rbf_kernel(rows, gamma=0.3)
    found = _gram_rows.GramRows(None, None, 0, K).times(v)
    np.testing.assert_allclose(found, K @ v, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", MACHINES)
def test_rows_that_come_and_go(loss, monkeypatch):
    """With little memory rows are made again, and with rows left out they are fewer."""
    monkeypatch.setattr(_kernel_machine, "_FEW_ROWS", 10)
    monkeypatch.setattr(_kernel_dual, "_LITTLE", 0)
    monkeypatch.setattr(_kernel_dual, "_FEW_ROWS", 40)
    monkeypatch.setattr(_kernel_dual, "_WORTH", 0.1)
    monkeypatch.setattr(_gram_rows, "_TOGETHER", 4)
    left_out = []
    whole = _gram_rows.GramRows.only
    monkeypatch.setattr(
        _gram_rows.GramRows, "only",
        lambda self, kept, n_bytes, dtype: (
            left_out.append(dtype) or whole(self, kept, n_bytes, dtype)),
    )  # fmt: skip
    K, y = rbf_kernel(X, gamma=0.3), np.where(Y == "out", 1.0, -1.0)
    for cache_size in (0.02, 0.3, 200):
        for tol in (1e-4, 1e-9):
            model = made(loss, C=3.0, gamma=0.3, cache_size=cache_size, tol=tol).fit(X, Y)
            assert_certified(model, loss, K, y, np.full(N, 3.0))
    # rows in float take one no further than float goes
    assert set(left_out) == (set() if loss == "log_loss" else {np.float32, np.float64})


@pytest.mark.parametrize("loss", MACHINES)
def test_the_explicit_map(loss):
    """The kernel x.z^2 in two dimensions is that of three features."""
    Z = X[:, :2]
    phi = np.column_stack([Z[:, 0] ** 2, np.sqrt(2) * Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])
    model = made(loss, C=2.0, kernel="poly", degree=2, gamma=1.0, tol=1e-11).fit(Z, Y)
    linear = (
        LogisticRegression(C=2.0, tol=1e-11) if loss == "log_loss" else
        LinearSVC(loss=loss, C=2.0, tol=1e-11)
    ).fit(phi, Y)  # fmt: skip
    assert model.objective_ == pytest.approx(linear.objective_, rel=1e-8)
    np.testing.assert_allclose(
        model.decision_function(Z), linear.decision_function(phi), atol=2e-4
    )
    np.testing.assert_allclose(model.dual_coef_[0] @ phi[model.support_], linear.coef_[0],
                               atol=2e-4)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_scikit_learns_svc(kernel):
    svm = pytest.importorskip("sklearn.svm")
    peer = svm.SVC(kernel=kernel, C=5.0, tol=1e-8, coef0=1.0).fit(X, Y)
    model = KernelSVC(kernel=kernel, C=5.0, tol=1e-9, coef0=1.0).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)
    assert set(model.support_) <= set(peer.support_)
    v = np.zeros(N)
    v[peer.support_] = peer.dual_coef_[0]
    np.testing.assert_allclose(coefficients(model), v, atol=2e-3)
    assert model.gamma_ == pytest.approx(peer._gamma)


def test_several_classes_are_each_set_against_the_rest():
    for loss in MACHINES:
        model = made(loss, gamma=0.3, n_jobs=2, tol=1e-12).fit(X, THREE)
        for k in range(3):
            one = made(loss, gamma=0.3, tol=1e-12).fit(X, THREE == k)
            np.testing.assert_allclose(
                model.decision_function(X)[:, k], one.decision_function(X), atol=1e-5
            )
        z = model.decision_function(X)
        np.testing.assert_array_equal(model.predict(X), z.argmax(axis=1))
        assert model.n_support_.sum() == len(model.support_)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert np.exp(model.predict_log_proba(X)) == pytest.approx(model.predict_proba(X))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
@pytest.mark.parametrize("rules", [{}, {"max_iter": 5, "tol": None, "fit_intercept": False}])
def test_the_perceptron_is_the_linear_one(average, y, rules, monkeypatch):
    linear = Perceptron(average=average, shuffle=False, **rules).fit(X, y, sample_weight=WEIGHT)
    for few in (1000, 10):
        monkeypatch.setattr(_kernel_machine, "_FEW_ROWS", few)
        model = KernelPerceptron(
            kernel="linear", average=average, shuffle=False, cache_size=0.03, **rules
        ).fit(X, y, sample_weight=WEIGHT)
        assert model.n_iter_ == linear.n_iter_
        np.testing.assert_allclose(
            model.decision_function(X), linear.decision_function(X), atol=1e-10
        )


@pytest.mark.parametrize("y", [Y, np.arange(N) % 3], ids=["two", "three"])
def test_a_loss_counts_once_where_rows_are_missing(y, monkeypatch):
    """The mean loss of an epoch decides when training stops."""
    whole = KernelPerceptron(random_state=0).fit(X, y)
    monkeypatch.setattr(_kernel_machine, "_FEW_ROWS", 10)
    again = KernelPerceptron(random_state=0, cache_size=0.01).fit(X, y)
    assert again.n_iter_ == whole.n_iter_
    np.testing.assert_allclose(again.dual_coef_, whole.dual_coef_)


def test_a_perceptron_learns_xor():
    Z, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    model = KernelPerceptron(kernel="poly", degree=2, coef0=1).fit(Z, y)
    assert model.predict(Z).tolist() == y
    assert model.n_iter_ < 20
    assert model.n_mistakes_ >= len(model.support_)
    assert Perceptron().fit(Z, y).score(Z, y) < 1


# samples of other kinds


TREES = [f"(S (A {'x' if k else 'y'}) (B {w[0]}))" for k, w in zip(KIND, WORDS, strict=True)]


@pytest.mark.parametrize("cls", KERNELISED, ids=name)
@pytest.mark.parametrize(
    ("kernel", "params", "samples", "function"),
    [
        ("string", {"length": 2}, WORDS, lambda S, T: string_subsequence_kernel(S, T, 2)),
        ("tree", {"decay": 0.3}, TREES, lambda S, T: tree_kernel(S, T, 0.3)),
    ],
)
def test_sequences_and_trees(cls, kernel, params, samples, function):
    """By name, by a callable, and as a Gram matrix."""
    train, test, y = samples[:30], samples[30:], KIND[:30]
    model = cls(kernel=kernel, kernel_params=params).fit(train, y)
    z = model.decision_function(test)
    assert model.support_vectors_ == [train[i] for i in model.support_]
    assert not hasattr(model, "n_features_in_")
    called = cls(kernel=function).fit(np.array(train), y)
    np.testing.assert_allclose(called.decision_function(test), z, atol=1e-9)
    given = cls(kernel="precomputed").fit(function(train, None), y)
    np.testing.assert_allclose(given.decision_function(function(test, train)), z, atol=1e-9)
    assert np.mean(model.predict(test) == KIND[30:]) > 0.6
    file = io.BytesIO()
    fastlin.save(model, file)
    loaded = fastlin.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(loaded.decision_function(test), z)


@pytest.mark.parametrize("cls", KERNELISED, ids=name)
def test_vectors_of_any_storage(cls):
    model = cls(gamma=0.3).fit(X, Y)
    few = np.where(np.abs(X) > 1, X, 0)
    dense = cls(gamma=0.3).fit(few, Y)
    for held in (sparse.csr_matrix(few), fastlin.as_rows(sparse.csc_matrix(few))):
        other = cls(gamma=0.3).fit(held, Y)
        # a search in another order ends elsewhere within tol
        tolerance = 1e-9 if cls is KernelPerceptron else 0.02
        np.testing.assert_allclose(
            other.decision_function(few), dense.decision_function(few), atol=tolerance
        )
        np.testing.assert_allclose(
            other.decision_function(sparse.csr_matrix(few)), other.decision_function(few),
            atol=1e-10,
        )  # fmt: skip
    called = cls(kernel=lambda S, T: rbf_kernel(S, T, 0.3)).fit(X, Y)
    np.testing.assert_allclose(
        called.decision_function(X[:7]), model.decision_function(X[:7]), atol=0.02
    )
    file = io.BytesIO()
    fastlin.save(model, file)
    loaded = fastlin.load(io.BytesIO(file.getvalue()))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_searches_and_pipelines():
    grid = {"kernel_params": [{"length": 1}, {"length": 3}], "C": [0.1, 10.0]}
    search = GridSearchCV(KernelSVC(kernel="string"), grid, cv=3).fit(WORDS, KIND)
    assert search.best_score_ > 0.6
    K = string_subsequence_kernel(WORDS, length=search.best_params_["kernel_params"]["length"])
    given = GridSearchCV(KernelSVC(kernel="precomputed"), {"C": [0.1, 10.0]}, cv=3).fit(K, KIND)
    assert given.best_score_ == pytest.approx(search.best_score_)
    pipe = fastlin.make_pipeline(KernelPerceptron(kernel="spectrum", kernel_params={"length": 2}))
    assert pipe.fit(WORDS, KIND).score(WORDS, KIND) > 0.8


@pytest.mark.parametrize("store", [np.array, sparse.csr_matrix, sparse.csc_matrix])
@pytest.mark.parametrize("cls", KERNELISED, ids=name)
def test_a_model_is_its_own(cls, store):
    """Every sample is a support vector of the logistic loss; of others with next to no C."""
    given = store(X)
    model = cls(**({} if cls is KernelPerceptron else {"C": 1e-6})).fit(given, Y)
    before = model.decision_function(X)
    (given if store is np.array else given.data)[:] = 9
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_model_of_lists_is_its_own():
    words = [list(word) for word in WORDS]
    model = KernelLogisticRegression(kernel="spectrum").fit(words, KIND)
    before = model.decision_function(WORDS)
    for word in words:
        word[:] = "zz"
    np.testing.assert_array_equal(model.decision_function(WORDS), before)


def test_absent_classes_and_class_weights():
    weight = np.where(THREE == 1, 0.0, 1.0)
    for model in (KernelSVC(), KernelPerceptron(), KernelLogisticRegression()):
        with pytest.warns(UserWarning, match="have weight 0"):
            model.fit(X, THREE, weight)
        assert model.classes_.tolist() == [0, 1, 2]
        assert set(model.predict(X)) == {0, 2}
    four = np.digitize(X[:, 0], [-0.4, 0, 0.4])
    with pytest.warns(UserWarning, match="have weight 0"):
        model = KernelPerceptron(gamma=0.3, random_state=0).fit(X, four, four != 0)
    alone = KernelPerceptron(gamma=0.3, random_state=0).fit(X[four != 0], four[four != 0])
    assert model.decision_function(X)[:, 0].max() == -np.inf
    found, expected = model.decision_function(X)[:, 1:], alone.decision_function(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    y = np.arange(N) < 20
    heavy = KernelSVC(class_weight="balanced", gamma=0.3).fit(X, y)
    by_hand = KernelSVC(gamma=0.3).fit(X, y, np.where(y, N / 40, N / (2 * (N - 20))))
    np.testing.assert_array_equal(heavy.dual_coef_, by_hand.dual_coef_)


def test_a_search_that_is_ended():
    with pytest.warns(ConvergenceWarning, match=r"KernelSVC stopped after 1 passes .* > tol"):
        model = KernelSVC(C=1e4, max_iter=1, tol=1e-9).fit(X, Y)
    assert model.duality_gap_[0] > 1e-9


@pytest.mark.parametrize(
    ("params", "samples", "text"),
    [
        ({"kernel": "sigmoid"}, X, "kernel"),
        ({"C": 0.0}, X, "C"),
        ({"gamma": -1.0}, X, "gamma"),
        ({"cache_size": 0}, X, "cache_size"),
        ({"kernel_params": {"length": 2}}, X, "kernel_params is for"),
        ({"kernel": "string", "kernel_params": {"size": 2}}, WORDS * 8, "does not suit"),
        ({"kernel": "string", "kernel_params": {"length": 0}}, WORDS * 8, "length"),
        ({"kernel": "precomputed"}, X, "square matrix"),
        ({"kernel": "precomputed"}, np.triu(np.ones((N, N))), "must be symmetric"),
        ({"kernel": lambda S, T: np.ones((2, 2))}, X, "one number for each pair"),
        ({"kernel": lambda S, T: np.full((len(S), len(T)), np.nan)}, X, "finite"),
        ({"kernel": lambda S, T: (S @ T.T) * (1 + 1j)}, X, "real numbers"),
        ({"kernel": "poly", "degree": 99, "gamma": 1.0}, X * 1e9, "finite numbers"),
        ({"kernel": "string"}, "text", "must be a list of samples"),
    ],
)
def test_refusals(params, samples, text):
    with pytest.raises((ValueError, TypeError), match=text):
        KernelSVC(**params).fit(samples, Y)


@pytest.mark.parametrize("cls", KERNELISED, ids=name)
def test_degenerate_samples(cls):
    """Equal rows, rows of zeros, a single row of a class: an answer, and all of it finite."""
    for Z in (np.zeros((6, 2)), np.ones((6, 2)), [[0, 0]] * 5 + [[1, 1]]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for kernel in ("rbf", "linear", "poly"):
                model = cls(kernel=kernel).fit(Z, [0, 0, 0, 0, 0, 1])
                assert np.isfinite(model.decision_function(Z)).all()


def test_gamma_counts_weights_as_repetitions():
    times = rng.integers(1, 4, N)
    for Z in (X + 1e3, sparse.csr_matrix(X)):
        weighted = KernelPerceptron(max_iter=1, tol=None).fit(Z, Y, times)
        repeated = KernelPerceptron(max_iter=1, tol=None).fit(Z[np.repeat(np.arange(N), times)],
                                                            np.repeat(Y, times))
        assert weighted.gamma_ == pytest.approx(repeated.gamma_, rel=1e-9)
    assert KernelPerceptron(gamma="auto").fit(X, Y).gamma_ == 0.25
    gram = polynomial_kernel(X, degree=3, gamma=0.25, coef0=0)
    model = KernelSVC(kernel="poly", gamma="auto").fit(X, Y)
    np.testing.assert_allclose(
        gram[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0],
        model.decision_function(X), rtol=1e-9,
    )  # fmt: skip


def test_a_perceptron_that_was_cut_short_says_so():
    with pytest.warns(fastlin.ConvergenceWarning, match="stopped after 1 epochs"):
        KernelPerceptron(max_iter=1).fit(X, np.arange(len(X)) % 2)


def test_kernels_that_are_not_definite_are_warned_of():
    with pytest.warns(fastlin.ConvergenceWarning, match="no step gains more: .*semi-definite"):
        KernelSVC(kernel="precomputed").fit(np.tanh(3 * X @ X.T - 1), Y)
