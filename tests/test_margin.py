"""Margins against geometry; Novikoff's bound against counted mistakes of a plain perceptron."""

import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import (
    LinearSVC,
    LogisticRegression,
    Perceptron,
    SGDClassifier,
    datasets,
    margin,
    mistake_bound,
)


class Weights:
    """A linear classifier of given weights."""

    def __init__(self, coef, intercept=0.0, classes=(0, 1)):
        self.coef_, self.intercept_, self.classes_ = np.array(coef), intercept, np.array(classes)


def mistakes(X, y, intercept, joint):
    """Mistakes of the perceptron until it makes none, in the order of the rows."""
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X
    W, count, clean = np.zeros((y.max() + 1 if joint else 1, X.shape[1])), 0, False
    while not clean:
        clean = True
        for x, label in zip(X, y, strict=True):
            z = W @ x
            if joint:
                best = z.argmax()
                wrong = best != label and z[best] > z[label]
                wrong |= not z.any() and label != best
                if wrong:
                    W[label] += x
                    W[best] -= x
            else:
                wrong = (2 * label - 1) * z[0] <= 0
                W[0] += (2 * label - 1) * x * wrong
            count += wrong
            clean &= not wrong
    return count


def test_two_classes_by_hand():
    X, y = np.array([[3.0, 4.0], [0.0, 0.0], [-3.0, 0.0]]), [1, 0, 0]
    assert margin(Weights([[3.0, 4.0]]), X[[0, 2]], [1, 0]) == pytest.approx(9 / 5)
    assert margin(Weights([[3.0, 4.0]], [-5.0]), X, y) == pytest.approx(1.0)
    assert margin(Weights([3.0, 4.0], -5.0), sparse.csc_array(X), y) == pytest.approx(1.0)
    assert margin(Weights([[3.0, 4.0]], [5.0]), X, y) == pytest.approx(-1.0)
    assert mistake_bound(Weights([[3.0, 4.0]], [5.0]), X, y) == np.inf
    # |x|^2 + 1 is 26 at most, the augmented weights are (3, 4, -5)
    assert mistake_bound(Weights([[3.0, 4.0]], [-5.0]), X, y) == pytest.approx(26 * 50 / 25)
    assert mistake_bound(Weights([[3.0, 4.0]]), X[[0, 2]], [1, 0]) == pytest.approx(25 * 25 / 81)
    # units do not matter, however large or small
    for scale in (1e-200, 1e200):
        assert margin(Weights([[3.0 * scale, 4.0 * scale]]), X[[0, 2]], [1, 0]) == (
            pytest.approx(9 / 5)
        )


def test_three_classes_by_hand():
    model = Weights(np.eye(3) * 2, np.zeros(3), list("abc"))
    X, y = np.array([[2.0, 0.0, 1.0], [0.0, 5.0, 0.0], [0.0, 0.0, 1.5]]), list("abc")
    assert margin(model, X, y) == pytest.approx(1 / np.sqrt(3))
    assert mistake_bound(model, X, y) == pytest.approx(2 * 25 * 3)
    model.intercept_ = np.array([0.0, 3.0, 0.0])
    assert margin(model, X, y) == pytest.approx(0.0)
    assert mistake_bound(model, X, y) == np.inf
    model.intercept_ = np.array([0.0, 2.0, 0.0])
    assert margin(model, X, y) == pytest.approx(1 / np.sqrt(12))
    assert mistake_bound(model, X, y) == pytest.approx(2 * 26 * 16)
    # a class that no row stood for is no neighbour
    absent = Weights(np.eye(3) * [[2], [2], [0]], [0.0, 0.0, -np.inf], list("abc"))
    assert margin(absent, X[:2], y[:2]) == pytest.approx(4 / np.sqrt(8))
    assert margin(absent, X, y) == -np.inf
    assert mistake_bound(absent, X, y) == np.inf
    assert np.isfinite(mistake_bound(absent, X[:2], y[:2]))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("K", [2, 4])
def test_no_perceptron_makes_more_mistakes(K, seed, intercept):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5)) + 2 * intercept
    z = (X - 2 * intercept) @ rng.normal(size=(5, K))
    ordered = np.sort(z, axis=1)
    apart = ordered[:, -1] - ordered[:, -2] > 0.4
    X, y = X[apart], z[apart].argmax(axis=1)
    joint = K > 2
    found = mistakes(X, y, intercept, joint)
    params = {"tol": None, "fit_intercept": intercept, "max_iter": 500, "random_state": 0}
    bounds = []
    for least in (0.0, 5.0):
        model = Perceptron(margin=least, **params).fit(X, y)
        assert model.score(X, y) == 1
        assert margin(model, X, y) > 0
        bounds.append(mistake_bound(model, X, y))
    assert found <= bounds[1] < bounds[0] < np.inf


def test_mushrooms():
    columns, y = datasets.load_mushrooms(return_X_y=True)
    X = fastlin.OneHotEncoder().fit_transform(columns)
    codes = np.unique(y, return_inverse=True)[1]
    model = LinearSVC(C=100.0, loss="hinge", fit_intercept=False, tol=1e-2).fit(X, y)
    found = mistakes(X.toarray()[::8], codes[::8], False, False)
    assert 0 < found <= mistake_bound(model, X, y)
    assert mistake_bound(model, X, y) == pytest.approx(
        X.multiply(X).sum(axis=1).max() / margin(model, X, y) ** 2
    )
    linear_model = pytest.importorskip("sklearn.linear_model")
    peer = linear_model.SGDClassifier(loss="perceptron", penalty=None, random_state=0).fit(X, y)
    z = np.where(codes == 1, 1, -1) * peer.decision_function(X)
    expected = z.min() / np.linalg.norm(peer.coef_)
    assert margin(peer, X, y) == pytest.approx(expected)
    assert margin(peer.sparsify(), X, y) == pytest.approx(expected)


def test_what_does_not_fit_is_refused():
    X, y = np.eye(2), [0, 1]
    with pytest.raises(ValueError, match="not fitted"):
        margin(SGDClassifier(), X, y)
    for model in (fastlin.MultinomialNB().fit(X, y), fastlin.Ridge().fit(X, y), "words"):
        with pytest.raises(TypeError, match="must be a fitted linear classifier, but this"):
            margin(model, X, y)
    model = Weights([[1.0, -1.0]])
    for rows, labels, words in (
        (np.eye(3), [0, 1, 0], "X has 3 features, but coef_ has 2 columns"),
        (X, [0, 2], "not among the classes: 2"),
        (X, [0], "same number of rows"),
        (X * np.nan, y, "NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            mistake_bound(model, rows, labels)
    with pytest.raises(ValueError, match="All weights of this Weights are 0"):
        margin(Weights([[0.0, 0.0]]), X, y)
    assert mistake_bound(Weights([[0.0, 0.0]], [1.0]), X, [1, 1]) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="no weights of 3 classes"):
        margin(Weights([[1.0, 0.0]], 0.0, [0, 1, 2]), X, y)
    for model, rows, labels, words in (
        # three classes give three pairs
        (LogisticRegression(multi_class="ovo"), np.eye(3), [0, 1, 2], "columns of a code"),
        (LogisticRegression(), np.eye(2), [{0}, {1}], "one class per row"),
    ):
        with pytest.raises(ValueError, match=words):
            margin(model.fit(rows, labels), rows, labels)
    with pytest.raises(ValueError, match="finite"):
        margin(Weights([[np.nan, 0.0]]), X, y)
    svm = pytest.importorskip("sklearn.svm")
    pairs = svm.SVC(kernel="linear").fit(np.eye(3), [0, 1, 2])
    with pytest.raises(TypeError, match="pairs"):
        margin(pairs, np.eye(3), [0, 1, 2])
