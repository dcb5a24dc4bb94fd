"""What the pictures of data, models, losses and searches show; those of scores: `test_curves`."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    Lasso,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    Ridge,
    SparsemaxClassifier,
    plot,
)
from fastlin._sgd import LOSSES, MARGIN_LOSSES
from fastlin.optim import minimize

matplotlib = pytest.importorskip("matplotlib")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2))
Y = np.where(X @ [1.0, -0.5] > 0.2, "up", "down")
THREE = np.digitize(X[:, 0], [-0.4, 0.4])


@pytest.fixture
def ax():
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


def line(ax, label):
    (found,) = (line for line in ax.get_lines() if line.get_label() == label)
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def contours(ax):
    """Vertices of each contour line that was drawn."""
    sets = [part for part in ax.collections if type(part).__name__ == "QuadContourSet"]
    lines = [part for part in sets if not part.filled]
    return [np.concatenate([path.vertices for path in part.get_paths()]) for part in lines]


def points(ax, k):
    found = [c for c in ax.collections if type(c).__name__ == "PathCollection"]
    return np.asarray(found[k].get_offsets())


def test_boundary_and_margin_are_those_of_the_responses(ax):
    model = LinearSVC().fit(X, Y)
    assert plot.decision_boundary(model, X, Y, ax=ax) is ax
    middle, low, high = (model.decision_function(found) for found in contours(ax))
    for response, level in ((middle, 0), (low, -1), (high, 1)):
        np.testing.assert_allclose(response, level, atol=1e-6)
    np.testing.assert_array_equal(points(ax, 0), X[Y == "down"])
    np.testing.assert_array_equal(points(ax, 1), X[Y == "up"])
    assert legend(ax) == ["boundary", "response \u00b11", "down", "up"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x1", "x2")


def test_boundaries_of_frames_several_classes_and_models_without_responses(ax):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["length", "width"])
    model = LogisticRegression().fit(frame, THREE)
    plot.decision_boundary(model, frame, THREE, ax=ax, margin=False)
    assert len(contours(ax)) == 3 and ax.get_xlabel() == "length"
    z = np.sort(model.decision_function(pandas.DataFrame(contours(ax)[0], columns=frame.columns)))
    np.testing.assert_allclose(z[:, 2], z[:, 1], atol=0.05)
    ax.clear()
    plot.decision_boundary(Stump(), X, THREE > 0, ax=ax)
    (cut,) = contours(ax)
    np.testing.assert_allclose(cut[:, 0], 0.3, atol=0.02)
    assert legend(ax) == ["False", "True"]


class Stump:
    """A model without responses."""

    classes_ = np.array([False, True])

    def predict(self, X):
        return X[:, 0] > 0.3


def test_steps_of_a_perceptron(ax):
    plot.perceptron_steps(Perceptron(), X, Y, ax=ax, max_epochs=50)
    w, b, mistakes = np.zeros(2), 0.0, []
    for _ in range(50):
        for i, y in enumerate(np.where(Y == "up", 1.0, -1.0)):
            if y * (w @ X[i] + b) <= 0:
                w, b = w + y * X[i], b + y
                mistakes.append(i)
    lines = ax.get_lines()
    assert len(lines) == len(mistakes)
    for at in np.transpose(lines[-1].get_data()):
        assert abs(w @ at + b) < 1e-9 * np.linalg.norm(at)
    np.testing.assert_array_equal(points(ax, 2), X[np.unique(mistakes)])
    assert legend(ax)[-1] == "changed it" and ax.get_title() == "no more changes"
    ax.clear()
    plot.perceptron_steps(Perceptron(), X, THREE == 1, ax=ax, max_epochs=2)
    assert "still changing after 2 turns" in ax.get_title()


def test_a_quadratic_separates_the_middle(ax):
    x = np.array([-3.0, -2.0, -0.5, 0.0, 1.0, 2.5])
    y = np.abs(x) < 1.5
    plot.quadratic_separation(LogisticRegression(C=100), x, y, ax=ax)
    exact = LogisticRegression(C=100).fit(np.column_stack([x, x * x]), y)
    (w1, w2), b = exact.coef_[0], exact.intercept_[0]
    (boundary,) = contours(ax)
    np.testing.assert_allclose(boundary @ [w1, w2] + b, 0, atol=1e-6)
    places = [line.get_xdata()[0] for line in ax.get_lines() if line.get_linestyle() == ":"]
    np.testing.assert_allclose(places, np.sort(np.roots([w2, w1, b]).real), atol=0.01)
    np.testing.assert_array_equal(points(ax, 1), np.column_stack([x, x * x])[y])
    assert ax.get_ylabel() == "x\u00b2"


def test_fits_beside_each_other(ax):
    x = X[:, :1]
    models = {"ridge": Ridge(alpha=50.0).fit(x, X[:, 1]), "lasso": Lasso(0.01).fit(x, X[:, 1])}
    plot.fitted_curves(models, x, X[:, 1], ax=ax)
    for name, model in models.items():
        t, drawn = line(ax, name)
        np.testing.assert_allclose(drawn, model.predict(t[:, None]))
    assert legend(ax) == ["data", "ridge", "lasso"]
    np.testing.assert_array_equal(points(ax, 0), np.column_stack([x[:, 0], X[:, 1]]))


def test_softmax_beside_sparsemax(ax):
    models = {"softmax": LogisticRegression().fit(X, THREE),
              "sparsemax": SparsemaxClassifier().fit(X, THREE)}  # fmt: skip
    plot.probability_curves(models, X, 1, ax=ax)
    for name, model in models.items():
        for k in range(3):
            t, drawn = line(ax, f"_{k}, {name}")
            line_through = np.column_stack([np.full(len(t), X[:, 0].mean()), t])
            np.testing.assert_allclose(drawn, model.predict_proba(line_through)[:, k])
    assert legend(ax) == ["0", "1", "2", "softmax", "sparsemax"] and ax.get_xlabel() == "x2"


def test_losses_of_the_table(ax):
    plot.loss_zoo(ax=ax)
    assert legend(ax) == ["zero-one", *MARGIN_LOSSES]
    m, hinge = line(ax, "hinge")
    np.testing.assert_allclose(hinge, np.maximum(0, 1 - m))
    ax.clear()
    plot.loss_zoo(["quantile", "huber"], kind="target", ax=ax)
    assert legend(ax) == ["quantile, q = 0.5", "huber, \u03b5 = 0.1"]
    e, huber = line(ax, "huber, \u03b5 = 0.1")
    np.testing.assert_allclose(huber, np.where(abs(e) <= 0.1, e * e / 2, 0.1 * abs(e) - 0.005))
    assert len(LOSSES) == 13


@pytest.mark.parametrize("p", [0.5, 1, 2, 3, np.inf])
def test_balls_have_norm_one(p, ax):
    plot.lp_balls([p], ax=ax)
    (ball,) = (line for line in ax.get_lines() if line.get_label().startswith("p = "))
    assert ball.get_label() == ("p = \u221e" if np.isinf(p) else f"p = {p}")
    x, y = ball.get_data()
    size = np.maximum(abs(x), abs(y)) if np.isinf(p) else abs(x) ** p + abs(y) ** p
    np.testing.assert_allclose(size, 1, rtol=1e-9)
    assert ax.get_aspect() == 1


def test_sparsity_as_p_falls(ax):
    models = [Lasso(alpha=0.2).fit(X, X[:, 0]), Ridge().fit(X, X[:, 0])]
    plot.sparsity([1, 2], models, ax=ax)
    assert [bar.get_height() for bar in ax.patches] == [2, 1]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["2", "1"]
    assert legend(ax) == ["all weights"]
    ax.clear()
    plot.sparsity([0, np.inf], [3, 7], ax=ax)
    assert [bar.get_height() for bar in ax.patches] == [7, 3]


def test_convergence_of_searches(ax):
    found = {m: minimize("log_loss", X, THREE > 0, alpha=0.1, method=m, random_state=0, max_iter=9)
             for m in ("newton", "sgd")}  # fmt: skip
    plot.convergence(found, against="passes", ax=ax)
    best = found["newton"].objective
    for name in found:
        passes, left = line(ax, name)
        trace = found[name].trace
        kept = trace.passes > 0
        np.testing.assert_array_equal(passes, trace.passes[kept])
        above = left > left.min()
        np.testing.assert_allclose(left[above], (trace.objective[kept] / best - 1)[above])
    assert ax.get_xlabel() == "passes over the rows"


def test_curves_as_one_array_and_weights_as_a_sparse_matrix(ax):
    plot.convergence({"a": np.array([[1, 2], [0.1, 0.01]])}, ax=ax)
    assert ax.lines[0].get_ydata().tolist() == [0.1, 0.01]
    model = LinearSVC().fit(X, Y)
    model.coef_ = sparse.csr_matrix([[1.0, 0.0]])
    plot.sparsity([1], [model], ax=ax)
    assert ax.patches[0].get_height() == 1


def test_what_can_not_be_drawn_is_said(ax):
    model = LinearSVC().fit(X, Y)
    cases = [
        (ValueError, "not fitted", plot.decision_boundary, (LinearSVC(), X, Y), {}),
        (ValueError, "X must have 2 columns", plot.decision_boundary, (model, X[:, :1], Y), {}),
        (ValueError, "not among the classes", plot.decision_boundary, (model, X, THREE), {}),
        (ValueError, "two classes", plot.perceptron_steps, (Perceptron(), X, THREE), {}),
        (TypeError, "partial_fit", plot.perceptron_steps, (LinearSVC(), X, Y), {}),
        (ValueError, "two classes", plot.quadratic_separation, (model, X[:, 0], THREE), {}),
        (ValueError, "x must be one column", plot.fitted_curves, (model, X, X[:, 0]), {}),
        (ValueError, "at least one estimator", plot.fitted_curves, ({}, X, X[:, 0]), {}),
        (TypeError, "predict_proba", plot.probability_curves, (model, X), {}),
        (ValueError, "column must be", plot.probability_curves,
         (LogisticRegression().fit(X, Y), X, 2), {}),
        (ValueError, "losses must be one of", plot.loss_zoo, (["huber"],), {}),
        (ValueError, "ps must be a number >= 0", plot.lp_balls, ([-1],), {}),
        (ValueError, "models must be as many", plot.sparsity, ([1, 2], [3]), {}),
        (ValueError, "not fitted", plot.sparsity, ([1], [Lasso()]), {}),
        (ValueError, "optimum must be None", plot.convergence, ({"a": ([1], [1])},),
         {"optimum": 1.0}),
        (TypeError, "must be a classifier, got Ridge", plot.decision_boundary,
         (Ridge().fit(X, X[:, 0]), X, Y), {}),
        (ValueError, "one label per row, got LinearSVC", plot.decision_boundary,
         (LinearSVC().fit(X, np.c_[Y == "up", Y == "down"].astype(int)), X, THREE > 0), {}),
        (ValueError, "not fitted", plot.probability_curves, (LogisticRegression(), X), {}),
        (TypeError, "must have predict, got None", plot.fitted_curves, (None, X[:, 0], Y), {}),
        (TypeError, "curves must be a dict", plot.convergence, ([1],), {}),
        (ValueError, "two arrays each, seconds and gaps, got 3", plot.convergence,
         ({"a": np.ones((3, 2))},), {}),
        (TypeError, "ax must be matplotlib axes", plot.loss_zoo, (), {"ax": 3}),
    ]  # fmt: skip
    for kind, message, draw, given, named in cases:
        with pytest.raises(kind, match=message):
            draw(*given, **{"ax": ax, **named})
