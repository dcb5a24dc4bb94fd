"""A distribution over the classes for each row, in place of one class."""

import numpy as np
import pytest
from scipy import sparse

from fastlin import GridSearchCV, LogisticRegression, SparsemaxClassifier
from fastlin._labels import fractions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))


def shares(n_classes):
    """Fractions, some of them 0 or 1."""
    table = RNG.dirichlet(np.full(n_classes, 0.5), size=len(X))
    table[:5] = np.eye(n_classes)[np.arange(5) % n_classes]
    return table


@pytest.mark.parametrize("cls", [LogisticRegression, SparsemaxClassifier])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_share_is_a_row_of_that_weight(cls, n_classes, weighted):
    q = shares(n_classes)
    s = RNG.uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    model = cls(tol=1e-10).fit(X, q, sample_weight=s if weighted else None)
    # the loss is linear in q but for what no weight depends on
    rows, classes = np.nonzero(q)
    equal = cls(tol=1e-10).fit(X[rows], classes, sample_weight=(s[:, None] * q)[rows, classes])
    np.testing.assert_allclose(model.coef_, equal.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, equal.intercept_, atol=1e-4)
    assert model.classes_.tolist() == list(range(n_classes))
    assert model.predict_proba(X).shape == (len(X), n_classes)
    assert model.duality_gap_[0] <= 1e-10


def test_forms_of_a_table():
    q = shares(3)
    expected = LogisticRegression(tol=1e-9).fit(X, q).coef_
    for other in (q.tolist(), np.asfortranarray(q), [list(row) for row in q], sparse.csc_array(q)):
        model = LogisticRegression(tol=1e-9).fit(sparse.csr_array(X), other)
        np.testing.assert_allclose(model.coef_, expected, atol=1e-6)
    before = q.copy()
    LogisticRegression().fit(X, q)
    np.testing.assert_array_equal(q, before)


def test_sparse_labels_are_not_filled_up_to_see_that_they_are_no_shares():
    labels = sparse.csr_array(([1.0, 1.0], [0, 2**30], [0, 1, 2]), shape=(2, 2**31 - 1))
    assert fractions(labels) is None
    np.testing.assert_array_equal(fractions(sparse.coo_array(shares(3))).shape, (len(X), 3))


def test_what_is_refused():
    q = shares(3)
    with pytest.raises(ValueError, match="same number of rows"):
        LogisticRegression().fit(X, q[:-1])
    with pytest.raises(ValueError, match="class_weight must be None"):
        LogisticRegression(class_weight="balanced").fit(X, q)
    with pytest.raises(ValueError, match="matrix of zeros and ones"):
        LogisticRegression(multi_class="ovr").fit(X, q)
    with pytest.raises(ValueError, match="sum to 0.5 in row 0: divide"):
        LogisticRegression().fit(X, q / 2)
    for wrong in (2 * q, q - 0.1, np.where(q > 0.5, np.nan, q)):
        with pytest.raises(ValueError, match="y "):
            LogisticRegression().fit(X, wrong)
    alone = np.zeros_like(q)
    alone[:, 0], alone[0] = 1.0, (0.5, 0.5, 0.0)
    with pytest.raises(ValueError, match="number of classes"):
        LogisticRegression().fit(X, alone, sample_weight=(np.arange(len(X)) > 0) * 1.0)


def test_scores_and_searches():
    q = shares(3)
    model = LogisticRegression().fit(X, q)
    weight = RNG.uniform(0.5, 2, len(X))
    own = q[np.arange(len(X)), model.predict_proba(X).argmax(axis=1)]
    assert model.score(X, q, sample_weight=weight) == pytest.approx(own @ weight / weight.sum())
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3, scoring="neg_log_loss")
    search.fit(X, q)
    for k, C in enumerate([0.1, 1.0]):
        found = []
        for rows in np.split(np.arange(60), 3):
            rest = np.setdiff1d(np.arange(60), rows)
            p = LogisticRegression(C=C).fit(X[rest], q[rest]).predict_proba(X[rows])
            found.append((q[rows] * np.log(p)).sum(axis=1).mean())
        assert search.cv_results_["mean_test_score"][k] == pytest.approx(np.mean(found), rel=1e-4)
    with pytest.raises(ValueError, match="is not for shares of classes; use 'accuracy'"):
        GridSearchCV(model, {"C": [1.0]}, scoring="roc_auc", error_score="raise").fit(X, q)
    with pytest.raises(ValueError, match="a share for each of 60 rows and 3 classes"):
        model.score(X, q[:, :2])
    with pytest.raises(ValueError, match="contains NaN, in row 7 and column 1"):
        q[7, 1] = np.nan
        model.fit(X, q)
