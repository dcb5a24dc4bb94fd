"""`fit(..., cv=)`: the responses to rows that no model had seen, and their score."""

import numpy as np
import pytest

from fastlin import (
    KFold,
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
    cross_val_predict,
    cross_val_score,
)

X = np.random.default_rng(0).standard_normal((90, 5))
Y = (X[:, 0] + 0.3 * X[:, 1] > 0).astype(int) + (X[:, 0] > 1)
MODELS = {
    "one for each class": SGDClassifier(loss="log_loss", random_state=0),
    "joint": Perceptron(random_state=0),
    "passive-aggressive": PassiveAggressiveClassifier(random_state=0),
    "regression": SGDRegressor(random_state=0),
}


@pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")
@pytest.mark.parametrize("name", MODELS)
def test_out_of_fold_answers_are_those_of_cross_validation(name):
    model = MODELS[name]
    y = X[:, 0] + 0.1 if name == "regression" else Y
    cv = KFold(3, shuffle=True, random_state=1)
    plain = {**vars(model.fit(X, y))}
    assert "oof_decision_" not in plain and "score_cv_" not in plain
    model.fit(X, y, cv=cv)
    method = "predict" if name == "regression" else "decision_function"
    np.testing.assert_allclose(
        model.oof_decision_, cross_val_predict(model, X, y, cv=cv, method=method), rtol=1e-12
    )
    assert model.score_cv_ == np.mean(cross_val_score(model, X, y, cv=cv))
    np.testing.assert_array_equal(model.coef_, plain["coef_"])  # of all rows
    model.fit(X, y)
    assert not hasattr(model, "score_cv_")


def test_rows_that_are_never_tested_are_refused():
    with pytest.raises(ValueError, match="cv"):
        SGDClassifier().fit(X, Y, cv=[(np.arange(50), np.arange(50, 80))])
