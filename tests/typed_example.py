"""What a user writes, checked by a type checker (test_typing.py) and run. A line that ends in
`type: ignore[...]` must be an error of that kind: an ignore that is not needed is an error too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import fastlin
from fastlin import (
    HashingVectorizer,
    Pipeline,
    Rows,
    SGDClassifier,
    SGDRegressor,
    as_rows,
    make_pipeline,
)
from fastlin.datasets import load_sms_spam
from fastlin.model_selection import StratifiedKFold, cross_val_score


def rows_of_random_numbers(n: int) -> Rows:
    X: NDArray[np.float64] = np.random.default_rng(0).normal(size=(n, 3))
    rows = as_rows(X, dtype=np.float32)
    n_rows: int = rows.shape[0]
    layout: str = rows.layout
    assert (n_rows, layout) == (n, "dense")
    return rows


def responses() -> NDArray[np.float64]:
    rows = rows_of_random_numbers(20)
    y = rows.toarray()[:, 0]
    classifier = SGDClassifier(loss="log_loss", alpha=1e-3, random_state=0)
    classifier.fit(rows, y > 0, sample_weight=np.ones(20))
    regressor: SGDRegressor = SGDRegressor(random_state=0, tol=None, max_iter=5)
    regressor.fit(rows, y)
    score: float = classifier.score(rows, y > 0)
    assert score > 0.5
    return classifier.decision_function(rows)


def spam_model() -> Pipeline:
    texts, labels = load_sms_spam(return_X_y=True)
    model = make_pipeline(HashingVectorizer(n_features=2**12), SGDClassifier(random_state=0))
    model.fit(texts[:200], labels[:200])
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    scores: NDArray[np.float64] = cross_val_score(model, texts[:200], labels[:200], cv=folds)
    assert len(scores) == 2
    return model


def mistakes() -> int:
    SGDClassifier(los="hinge")  # type: ignore[call-arg]
    as_rows()  # type: ignore[call-arg]
    rows_of_random_numbers(2).values = None  # type: ignore[misc]
    fastlin.SGDClassifer()  # type: ignore[attr-defined]
    return rows_of_random_numbers(2).layout  # type: ignore[return-value]


if __name__ == "__main__":
    print(responses().shape, spam_model())
