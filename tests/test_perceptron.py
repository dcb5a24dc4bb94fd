"""Facts about the perceptron: what it learns and what it can't, and how often it errs."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from fastlin import PassiveAggressiveClassifier, Perceptron, SGDClassifier, as_rows
from fastlin._learner import make_learner
from fastlin._sgd import make_rule

CUBE = {d: np.array(list(itertools.product([0.0, 1.0], repeat=d))) for d in (2, 3, 4, 6, 8)}


def learns(X, y, **params):
    """Whether a perceptron gets every row right."""
    clf = Perceptron(max_iter=2000, tol=None, random_state=0, **params).fit(X, y)
    return (clf.predict(X) == y).all()


BOOLEAN = {
    "and": (2, lambda x: x.all(axis=1)),
    "or": (2, lambda x: x.any(axis=1)),
    "nand": (2, lambda x: ~x.astype(bool).all(axis=1)),
    "implication": (2, lambda x: x[:, 0] <= x[:, 1]),
    "conjunction of x0, x2 and not x5": (6, lambda x: (x[:, 0] * x[:, 2] * (1 - x[:, 5])) > 0),
    "disjunction of x1 and x4": (6, lambda x: x[:, 1] + x[:, 4] > 0),
    "at least 3 of 6": (6, lambda x: x.sum(axis=1) >= 3),
    "at least 2 of x0, x3, x6, x7": (8, lambda x: x[:, [0, 3, 6, 7]].sum(axis=1) >= 2),
    "a monotone threshold": (8, lambda x: x @ [5, 4, 3, 3, 2, 1, 1, 1] >= 9.5),
}


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("d", "function"), BOOLEAN.values(), ids=BOOLEAN)
def test_linear_boolean_functions_are_learnt(d, function, storage, average):
    X = CUBE[d]
    assert learns(storage(X), function(X), average=average)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, 0] != x[:, 1],
        lambda x: x[:, 0] == x[:, 1],
    ],
    ids=["xor", "equality"],
)
def test_xor_is_not_learnt_unless_the_product_is_a_feature(function):
    X = CUBE[2]
    y = function(X)
    for params in ({}, {"average": True}, {"eta0": 0.1}, {"margin": 1.0}):
        assert not learns(X, y, **params)
    assert learns(np.column_stack([X, X[:, 0] * X[:, 1]]), y)


@pytest.mark.parametrize("d", [3, 4])
def test_parity_is_not_learnt(d):
    assert not learns(CUBE[d], CUBE[d].sum(axis=1) % 2)


def test_without_intercept_the_origin_lies_on_the_boundary():
    X = np.array([[1.0], [2.0], [3.0]])
    assert not learns(X, [0, 1, 1], fit_intercept=False)
    assert learns(X, [0, 1, 1])


def separable(n, d, gap, seed):
    """Rows of norm <= R whose margins against a unit vector are at least `gap`."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X = rng.normal(size=(n, d))
    y = np.where(X @ w > 0, 1.0, -1.0)
    return X + np.outer(y * gap, w), y, w


def count_mistakes(X, y, fit_intercept, orders):
    """Mistakes of the binary rule: a unit of eta0 for each lies in the intercept of ones."""
    learner = make_learner(
        X.shape[1], np.float64, make_rule("perceptron", fit_intercept=fit_intercept)
    )
    rows, mistakes = as_rows(X), 0
    for order in orders:
        for i in order:
            before = learner.v.copy(), learner.state["intercept"]
            learner.visit(rows, y, np.empty(0), np.array([i]))
            mistakes += (learner.v != before[0]).any() or learner.state["intercept"] != before[1]
    return mistakes, learner


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("gap", [0.05, 0.3, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_novikoffs_bound_holds_in_any_order(seed, gap, fit_intercept):
    X, y, w = separable(60, 4, gap, seed)
    square = (X**2).sum(axis=1).max()
    margin = (y * (X @ w)).min()
    bound = (square + fit_intercept) / margin**2
    rng = np.random.default_rng(seed)
    for orders in (
        [np.arange(60)] * 40,
        [rng.permutation(60) for _ in range(40)],
        [np.argsort(y)] * 40,
    ):
        mistakes, learner = count_mistakes(X, y, fit_intercept, orders)
        assert 1 <= mistakes <= bound
        w_found, b = learner.weights()
        if mistakes < bound / 2:
            assert (y * (X @ w_found[0] + b) > 0).all()


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_novikoffs_bound_holds_jointly(seed, fit_intercept):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(4, 5))
    W /= np.linalg.norm(W)
    X = rng.normal(size=(400, 5))
    z = X @ W.T
    y = z.argmax(axis=1)
    ordered = np.sort(z, axis=1)
    keep = ordered[:, -1] - ordered[:, -2] > 0.1
    X, y, z = X[keep], y[keep], z[keep]
    others = np.where(np.arange(4) == y[:, None], -np.inf, z).max(axis=1)
    margin = (z[np.arange(len(y)), y] - others).min()
    bound = 2 * ((X**2).sum(axis=1).max() + fit_intercept) / margin**2
    rule = make_rule("perceptron", fit_intercept=fit_intercept)
    learner = make_learner(5, np.float64, rule, 4)
    rows, mistakes = as_rows(X), 0
    for _ in range(12):
        for i in rng.permutation(len(y)):
            before = learner.V.copy()
            learner.visit(rows, y.astype(float), np.empty(0), np.array([i]))
            mistakes += (learner.V != before).any()
    assert 1 <= mistakes <= bound
    found, b = learner.weights()
    assert ((X @ found.T + b).argmax(axis=1) == y).all()


def test_a_row_on_the_boundary_is_a_mistake_for_both_labels():
    for label, moved in ((0, -1.0), (1, 1.0)):
        clf = Perceptron(max_iter=1, tol=None, shuffle=False)
        clf.partial_fit([[1.0]], [label], classes=[0, 1])
        assert clf.coef_[0, 0] == moved
        assert clf.intercept_[0] == moved


def test_the_lowest_index_wins_a_tie_in_the_joint_rule():
    clf = Perceptron()
    clf.partial_fit([[1.0, 2.0]], [0], classes=[0, 1, 2])
    assert not clf.coef_.any()
    clf.partial_fit([[1.0, 2.0]], [2])
    np.testing.assert_array_equal(clf.coef_, [[-1, -2], [0, 0], [1, 2]])
    np.testing.assert_array_equal(clf.intercept_, [-1, 0, 1])
    # classes 1 and 2 tie for the lead where only the first counts
    clf.partial_fit([[0.0, 0.0]], [1])
    np.testing.assert_array_equal(clf.intercept_, [-1, 1, 0])


@pytest.mark.parametrize("y", [[0, 1, 1, 0, 1, 0], [0, 1, 2, 2, 1, 0]], ids=["two", "three"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_averaged_weights_are_the_mean_of_all_after_each_row(y, fit_intercept):
    X, y = np.random.default_rng(0).integers(-4, 5, (6, 3)).astype(float), np.array(y)
    averaged = Perceptron(average=True, fit_intercept=fit_intercept)
    last = Perceptron(fit_intercept=fit_intercept)
    seen = []
    for i in [0, 3, 3, 1, 5, 2, 4, 4, 0, 1]:
        for clf in (averaged, last):
            clf.partial_fit(X[[i]], y[[i]], classes=np.unique(y))
        seen.append((last.coef_, last.intercept_))
        np.testing.assert_allclose(
            averaged.coef_, np.mean([w for w, _ in seen], axis=0), rtol=1e-14
        )
        np.testing.assert_allclose(
            averaged.intercept_, np.mean([b for _, b in seen], axis=0), rtol=1e-14
        )
    # not only after mistakes: the mean over the changes is another one
    changes = [w for k, (w, _) in enumerate(seen) if k == 0 or (w != seen[k - 1][0]).any()]
    assert len(changes) < len(seen)


def test_eta0_only_scales_the_weights(quiet):
    X = np.random.default_rng(0).normal(size=(80, 4))
    y = np.arange(80) % 3
    one = Perceptron(max_iter=5, tol=None).fit(X, y)
    quarter = Perceptron(max_iter=5, tol=None, eta0=0.25).fit(X, y)
    np.testing.assert_array_equal(quarter.coef_, 0.25 * one.coef_)
    np.testing.assert_array_equal(quarter.predict(X), one.predict(X))


def test_a_margin_is_reached():
    X, y, _ = separable(60, 4, 0.5, 1)
    plain = Perceptron(max_iter=500, tol=None).fit(X, y)
    wide = Perceptron(max_iter=500, tol=None, margin=2.0).fit(X, y)
    assert (y * plain.decision_function(X)).min() > 0
    assert (y * wide.decision_function(X)).min() > 2.0


def test_the_perceptron_is_sgd_on_its_loss(quiet):
    X = np.random.default_rng(0).normal(size=(80, 4))
    y = (X[:, 0] > 0.2).astype(int)
    params = {"max_iter": 6, "tol": None, "random_state": 3}
    perceptron = Perceptron(**params).fit(X, y)
    sgd = SGDClassifier("perceptron", penalty=None, learning_rate="constant", eta0=1.0, **params)
    assert perceptron.coef_.tobytes() == sgd.fit(X, y).coef_.tobytes()


@pytest.mark.parametrize("multi_class", ["joint", "ovr", "multinomial", "crammer_singer"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_separable_classes_are_separated(n_classes, multi_class):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, 6)) * 10
    y = np.arange(120) % n_classes
    X = centres[y] + rng.normal(size=(120, 6)) * 0.1
    clf = Perceptron(multi_class=multi_class, max_iter=200, tol=None).fit(X, y)
    assert clf.score(X, y) == 1
    assert clf.coef_.shape == ((1 if n_classes == 2 else n_classes), 6)


def test_the_joint_words_mean_the_same(quiet):
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.arange(60) % 3
    models = [
        Perceptron(multi_class=word, max_iter=4).fit(X, y)
        for word in ("joint", "multinomial", "crammer_singer")
    ]
    for model in models[1:]:
        assert model.coef_.tobytes() == models[0].coef_.tobytes()
    # and two classes take the binary form
    two = [Perceptron(multi_class=word, max_iter=4).fit(X, y > 0) for word in ("joint", "ovr")]
    assert two[0].coef_.tobytes() == two[1].coef_.tobytes()


def test_a_passive_aggressive_step_ends_its_own_loss():
    rng = np.random.default_rng(0)
    clf = PassiveAggressiveClassifier(C=np.inf)
    for _ in range(30):
        x, label = rng.normal(size=(1, 4)), int(rng.integers(2))
        clf.partial_fit(x, [label], classes=[0, 1])
        margin = (2 * label - 1) * clf.decision_function(x)[0]
        assert margin >= 1 - 1e-12


@pytest.mark.parametrize("multi_class", ["ovr", "joint"])
def test_growing_classes_keep_what_was_learnt(multi_class):
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    clf = Perceptron(multi_class=multi_class)
    clf.partial_fit(X, ["a", "c"], grow=True).partial_fit(X, ["a", "c"])
    assert clf.classes_.tolist() == ["a", "c"]
    assert clf.predict(X).tolist() == ["a", "c"]
    before = clf.decision_function(X)
    clf.partial_fit(X[[1]], ["c"], classes=["b"], grow=True)
    assert clf.classes_.tolist() == ["a", "b", "c"]
    z = clf.decision_function(X)
    # the row was right before and after, so that nothing but the shape has changed
    np.testing.assert_allclose(np.sign(z[:, 2] - z[:, 0]), np.sign(before))
    if multi_class == "joint":
        np.testing.assert_allclose(z[:, 2] - z[:, 0], before, atol=1e-12)
    with pytest.raises(ValueError, match="not among the classes"):
        clf.partial_fit(X[[0]], ["z"])
