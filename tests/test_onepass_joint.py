"""Joint models, whose classes are lanes of a pass: as each would be alone."""

import numpy as np
import pytest
from test_onepass import N, data, folds

from fastlin import Perceptron, SGDClassifier
from fastlin._onepass import fit_together

pytestmark = [pytest.mark.usefixtures("quiet"), pytest.mark.memory]

JOINT = [
    (Perceptron, {"margin": 0.5}),
    (Perceptron, {"average": True, "penalty": "elasticnet", "alpha": 1e-3}),
    (SGDClassifier, {"loss": "log_loss", "alpha": 1e-2}),
    (SGDClassifier, {"loss": "log_loss", "alpha": 1e-2, "average": 20, "fit_intercept": False}),
    (SGDClassifier, {"loss": "sparsemax", "penalty": "l1", "alpha": 1e-2}),
    (SGDClassifier, {"loss": "hinge", "learning_rate": "adaptive", "eta0": 0.1, "tol": 1e-2}),
    (SGDClassifier, {"loss": "log_loss", "class_weight": "balanced", "alpha": 1e-2, "tol": 1e-3}),
]


@pytest.mark.parametrize(("cls", "params"), JOINT)
@pytest.mark.parametrize("n_classes", [3, 5, 8])
def test_joint_models_equal_those_trained_alone(cls, params, n_classes):
    """Lanes add up in another order than the joint learner alone: equal but for rounding."""
    X, _, _, _ = data()
    y = (np.arange(N) * 7 // 3) % n_classes
    train_rows, _ = folds()
    # where weights are alike, rounding alone tells intercepts apart at rows without entries
    weight = np.random.default_rng(2).uniform(0.5, 2, N)
    params = {"max_iter": 6, "tol": None, "shuffle": False, "multi_class": "joint", **params}
    models = [cls(**params) for _ in train_rows]
    out = fit_together(models, X, y, train_rows, [np.arange(N)] * len(models),
                       sample_weight=weight)
    for model, rows, p in zip(models, train_rows, out, strict=True):
        alone = cls(**params).fit(X[rows], y[rows], sample_weight=weight[rows])
        assert model.n_iter_ == alone.n_iter_
        np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.intercept_, alone.intercept_, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(p, alone.decision_function(X), rtol=1e-9, atol=1e-10)
        if "class_weight" not in params:
            model.partial_fit(X, y)
            alone.partial_fit(X, y)
            np.testing.assert_allclose(model.coef_, alone.coef_, rtol=1e-9, atol=1e-11)


def test_more_classes_than_lanes_train_alone():
    X, _, _, _ = data()
    y = np.arange(N) % 17
    model = SGDClassifier(loss="log_loss", multi_class="joint", max_iter=2, tol=None,
                          random_state=0)
    (p,) = fit_together([model], X, y, [np.arange(N)], [np.arange(N)])
    np.testing.assert_allclose(p, model.decision_function(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cls", [Perceptron, SGDClassifier])
def test_joint_models_train_in_the_same_order(cls):
    X, _, _, _ = data()
    y = np.arange(N) % 3
    train_rows, test_rows = folds()
    more = {} if cls is Perceptron else {"loss": "log_loss", "multi_class": "joint"}
    models = [cls(max_iter=3, tol=None, random_state=0, **more) for _ in range(4)]
    weight = np.where(np.arange(N) % 7 == 0, 0.0, 1.0)
    out = fit_together(models, X, y, train_rows, test_rows, sample_weight=weight, n_jobs=2)
    for model, held, p in zip(models, test_rows, out, strict=True):
        assert p.shape == (15, 3)
        np.testing.assert_allclose(model.decision_function(X[held]), p, rtol=0, atol=1e-12)
    # a binary Perceptron needs no joint rule
    models = [cls(max_iter=3, tol=None, random_state=0, **more) for _ in range(4)]
    out = fit_together(models, X, y % 2, train_rows, test_rows)
    assert all(p.shape == (15,) for p in out)
