"""`to_sklearn()`: the estimator of scikit-learn that predicts the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fastlin import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)

linear_model = pytest.importorskip("sklearn.linear_model")

# how well the models do is of no concern here
pytestmark = pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")

TWO, THREE = np.array(["no", "yes"]), np.array([3, 5, 8])


def data(labels=TWO, n=80, d=7, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.6)
    score = X @ rng.normal(size=(d, len(labels))) + 0.5 * rng.normal(size=(n, len(labels)))
    return X.astype(dtype), labels[score.argmax(axis=1)]


def agree(ours, theirs, X, tolerance=1e-12):
    for held in (X, sparse.csr_matrix(X), sparse.csc_array(X)):
        if hasattr(ours, "classes_"):
            np.testing.assert_array_equal(theirs.classes_, ours.classes_)
            np.testing.assert_allclose(
                theirs.decision_function(held), ours.decision_function(held),
                rtol=tolerance, atol=tolerance)
            np.testing.assert_array_equal(theirs.predict(held), ours.predict(held))
            assert hasattr(theirs, "predict_proba") == hasattr(ours, "predict_proba")
            if hasattr(ours, "predict_proba"):
                for method in ("predict_proba", "predict_log_proba"):
                    with np.errstate(divide="ignore"):
                        expected = getattr(ours, method)(held)
                        got = getattr(theirs, method)(held)
                    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_allclose(
                theirs.predict(held), ours.predict(held), rtol=tolerance, atol=tolerance)


LOSSES = ["hinge", "squared_hinge", "log_loss", "modified_huber", "perceptron", "exponential",
          "sigmoid_mse", "sparsemax", "squared_error", "huber", "epsilon_insensitive",
          "squared_epsilon_insensitive", "quantile"]  # fmt: skip


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_sgd_classifier(loss, labels):
    X, y = data(labels)
    model = SGDClassifier(loss=loss, learning_rate="constant", max_iter=10, random_state=0)
    theirs = model.fit(X, y).to_sklearn()
    assert type(theirs) is linear_model.SGDClassifier
    agree(model, theirs, X)


@pytest.mark.parametrize("loss, kind", [
    ("log_loss", "LogisticRegression"),
    ("hinge", "SGDClassifier"),
    ("perceptron", "SGDClassifier"),
])
def test_joint_sgd_classifier(loss, kind):
    X, y = data(THREE)
    model = SGDClassifier(loss=loss, multi_class="joint", learning_rate="constant", max_iter=10,
                          random_state=np.random.default_rng(0))
    theirs = model.fit(X, y).to_sklearn()
    assert type(theirs).__name__ == kind
    agree(model, theirs, X)
    # two classes have the binary form
    X, y = data(TWO)
    theirs = model.fit(X, y).to_sklearn()
    assert type(theirs) is linear_model.SGDClassifier
    agree(model, theirs, X)


def test_sparsemax_of_several_classes_is_refused():
    X, y = data(THREE)
    model = SGDClassifier(loss="sparsemax", multi_class="joint", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="no sparsemax probabilities"):
        model.to_sklearn()


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
@pytest.mark.parametrize("average", [False, True, 20])
def test_perceptron(labels, multi_class, average):
    X, y = data(labels)
    model = Perceptron(multi_class=multi_class, average=average, margin=0.1, l1_ratio=None,
                       max_iter=5, tol=None).fit(X, y)
    theirs = model.to_sklearn()
    assert type(theirs) is linear_model.Perceptron
    agree(model, theirs, X)


def test_votes_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="voted"):
        Perceptron(average="voted").fit(X, y).to_sklearn()


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.5, np.inf])
def test_passive_aggressive_classifier(labels, loss, C):
    X, y = data(labels)
    model = PassiveAggressiveClassifier(
        C=C, loss=loss, max_iter=3, tol=None, random_state=0).fit(X, y)
    theirs = model.to_sklearn()
    assert theirs.learning_rate == ("pa1" if loss == "hinge" else "pa2")
    agree(model, theirs, X)
    theirs.partial_fit(X, y)


REGRESSION = ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive",
              "quantile"]  # fmt: skip


@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_sgd_regressor(loss, penalty):
    X, _ = data()
    model = SGDRegressor(loss=loss, penalty=penalty, quantile=0.3, random_state=0)
    theirs = model.fit(X, X[:, 0] - X[:, 1] + 1).to_sklearn()
    kind = "QuantileRegressor" if loss == "quantile" else "SGDRegressor"
    assert type(theirs).__name__ == kind
    agree(model, theirs, X)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_passive_aggressive_regressor(loss):
    X, _ = data()
    model = PassiveAggressiveRegressor(loss=loss, epsilon=0.05, random_state=0)
    theirs = model.fit(X, X[:, 0] + 1).to_sklearn()
    assert theirs.epsilon == 0.05
    agree(model, theirs, X)
    theirs.partial_fit(X, X[:, 0] + 1)


def test_float32_and_an_absent_class():
    X, y = data(THREE, dtype=np.float32)
    with pytest.warns(UserWarning, match="weight 0"):
        model = SGDClassifier(loss="log_loss", learning_rate="constant", random_state=0).fit(
            X, y, sample_weight=(y != 5).astype(float))
    theirs = model.to_sklearn()
    z = theirs.decision_function(X)
    assert (z[:, 1] == -np.inf).all()
    np.testing.assert_allclose(z, model.decision_function(X), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        theirs.predict_proba(X), model.predict_proba(X), rtol=1e-5, atol=1e-6)


def test_shared_parameters_are_taken_over():
    X, y = data()
    model = SGDClassifier(
        loss="modified_huber", penalty="elasticnet", alpha=0.01, l1_ratio=0.3, max_iter=7,
        tol=None, eta0=0.02, power_t=0.4, learning_rate="invscaling", random_state=3,
        class_weight={"no": 2.0}, n_iter_no_change=4, fit_intercept=False, shuffle="replacement",
        batch_size=4).fit(X, y)
    theirs = model.to_sklearn()
    for name, value in theirs.get_params().items():
        assert value == (True if name == "shuffle" else getattr(model, name)), name
    theirs._validate_params()
    agree(model, theirs, X)


@pytest.mark.parametrize("model", [
    Perceptron(), SGDClassifier(random_state=0), PassiveAggressiveClassifier(random_state=0)])
def test_parameters_are_valid_there_and_training_goes_on(model):
    X, y = data()
    theirs = model.fit(X, y).to_sklearn()
    theirs._validate_params()
    t = theirs.t_
    theirs.partial_fit(X, y)
    assert theirs.t_ == t + len(y)


@pytest.mark.parametrize("penalty", [None, "l2"])
def test_partial_fit_goes_on_as_ours_does(penalty):
    """One class of steps that both libraries take alike: constant, dense."""
    X, y = data()
    model = SGDClassifier(penalty=penalty, learning_rate="constant", random_state=0, loss="hinge",
                          shuffle=False, average=True, fit_intercept=False).fit(X, y)
    theirs = model.to_sklearn()
    model.partial_fit(X, y)
    theirs.set_params(shuffle=False).partial_fit(X, y)
    last = model._weights(averaged=False)[0]
    np.testing.assert_allclose(theirs._standard_coef, last, rtol=1e-8, atol=1e-10)


def test_a_copy_with_feature_names():
    pandas = pytest.importorskip("pandas")
    X, y = data()
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(7)])
    model = Perceptron().fit(frame, y)
    theirs = model.to_sklearn()
    assert theirs.n_features_in_ == 7
    np.testing.assert_array_equal(theirs.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        theirs.predict(frame[frame.columns[::-1]])
    theirs.coef_[:] = 0
    assert model.coef_.any()


def test_before_fit():
    with pytest.raises(ValueError, match="not fitted"):
        SGDClassifier().to_sklearn()


def test_without_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from fastlin import Perceptron\n"
        "model = Perceptron().fit([[0.0], [1.0]], [0, 1])\n"
        "try:\n    model.to_sklearn()\n"
        "except ImportError as error:\n    print(error)\n"
    )
    # elsewhere, since Python would find uncompiled sources in the current folder first
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parent,
    )  # fmt: skip
    assert "needs scikit-learn" in done.stdout
