"""A search that only scores lets its models go with their pass: the results are those of the way
that keeps the estimators, bit for bit."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from fastlin import (
    GridSearchCV,
    LassoCV,
    LogisticRegression,
    LogisticRegressionCV,
    MultinomialNB,
    Perceptron,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from fastlin import _folds_run as runs
from fastlin._clone import clone
from fastlin._onepass import fit_together
from fastlin._patterns import reads

pytestmark = [pytest.mark.memory, pytest.mark.filterwarnings("ignore:.*the best constant model")]

RNG = np.random.default_rng(0)
N, D = 240, 30
DENSE = RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.4)
Z = DENSE @ RNG.normal(size=(D, 3)) + 0.3 * RNG.normal(size=(N, 3))
TWO, THREE = (Z[:, 0] > 0).astype(int), np.array(["c", "a", "b"])[Z.argmax(axis=1)]
MANY = np.arange(N) % 20
TARGET = 3 * Z[:, 0] + 1
# columns far apart, most of which do not occur
FAR = sp.csr_matrix(DENSE)
FAR = sp.csr_matrix((FAR.data, FAR.indices * 401, FAR.indptr), shape=(N, 401 * D))

LOG = SGDClassifier("log_loss", random_state=0, max_iter=4, tol=None)
ALPHAS = {"alpha": [1e-5, 1e-3, 1e-2, 1e-1]}
# name -> model, grid, target
CASES = {
    "hinge": (SGDClassifier(random_state=0, max_iter=4), ALPHAS, TWO),
    "l1 and elastic net": (
        LOG, {"penalty": ["l1", "elasticnet"], "alpha": [1e-4, 1e-2]}, TWO,
    ),
    "averages": (LOG, {"average": [True, 100], "alpha": [1e-4, 1e-2]}, TWO),
    "averages with l1": (
        LOG, {"average": [True], "penalty": ["l1"], **ALPHAS}, TWO,
    ),
    "training ends early": (
        LOG,
        {"tol": [1e-1, 1e-3], "n_iter_no_change": [1, 3], "max_iter": [3, 40],
         "learning_rate": ["constant", "adaptive"], "eta0": [0.5]},
        TWO,
    ),
    "averages that end early": (
        LOG, {"tol": [1e-1, 1e-3], "max_iter": [2, 9, 30], "average": [True], **ALPHAS}, TWO,
    ),
    "held-out rows stop training": (LOG, {"early_stopping": [True], **ALPHAS}, TWO),
    "against the rest": (LOG, {"multi_class": ["ovr"], **ALPHAS}, THREE),
    "softmax": (LOG, {"multi_class": ["joint"], "average": [False, True], **ALPHAS}, THREE),
    "softmax that ends early": (
        LOG, {"multi_class": ["joint"], "tol": [1e-1, 1e-3], "max_iter": [2, 30], **ALPHAS}, THREE,
    ),
    "more classes than lanes": (LOG, {"multi_class": ["joint", "ovr"], **ALPHAS}, MANY),
    "perceptron": (Perceptron(random_state=0, max_iter=4, tol=None),
                   {"multi_class": ["joint", "ovr"], "average": [False, True]}, THREE),
    "regression": (
        SGDRegressor(random_state=0, max_iter=4, tol=None),
        {"loss": ["huber", "squared_error"], "penalty": ["l1", "l2"], "average": [False, True]},
        TARGET,
    ),
    "steps too long": (
        SGDRegressor("huber", penalty=None, learning_rate="constant", random_state=0, max_iter=3),
        {"eta0": [0.01, 1.0, 1e300], "epsilon": [0.1, 1e30], "average": [False, True]}, TARGET,
    ),
    "exact": (LogisticRegression(), {"C": [0.1, 10.0], "multi_class": ["ovr", "joint"]}, THREE),
}  # fmt: skip


def searched(model, grid, X, y, **fit_params):
    """(results without times, the messages of all warnings)"""
    search = GridSearchCV(model, grid, cv=4, refit=False, return_train_score=True, error_score=-9.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y, **fit_params)
    results = {k: v for k, v in search.cv_results_.items() if "time" not in k and k != "params"}
    return results, [str(warning.message) for warning in caught]


def kept(monkeypatch, compute):
    """What the way that keeps all estimators makes of it, and how often the other was taken."""
    asked = []

    def fit(*args, keep, **options):
        asked.append(keep)
        return fit_together(*args, keep=True, **options)

    with monkeypatch.context() as patched:
        patched.setattr(runs, "fit_together", fit)
        return compute(), asked


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("X", [DENSE, FAR], ids=["dense", "columns that do not occur"])
def test_results_are_those_of_models_that_are_kept(name, dtype, X, monkeypatch):
    model, grid, y = CASES[name]
    X = X.astype(dtype)
    got, said = searched(model, grid, X, y)
    (expected, also_said), asked = kept(monkeypatch, lambda: searched(model, grid, X, y))
    assert list(got) == list(expected)
    for key, value in got.items():
        assert repr(value.tolist()) == repr(expected[key].tolist()), key
    assert said == also_said
    assert asked == ([] if name == "held-out rows stop training" else [False])
    if name == "steps too long":
        assert (got["mean_test_score"] == -9.0).any()
        assert any("Floating-point overflow" in text for text in said)
        assert any("best constant model" in text for text in said)
    elif name == "training ends early":
        assert any("stopped after max_iter=3 epochs" in text for text in said)


def test_weights_and_classes_that_a_fold_lacks(monkeypatch):
    y = THREE.copy()
    y[N // 4 :][y[N // 4 :] == "b"] = "a"  # "b" only in the first fold
    weight = RNG.integers(0, 3, N).astype(float)
    weight[y == "c"] = np.where(np.arange(np.count_nonzero(y == "c")) % 2, 0.0, 1.0)
    for multi_class in ("ovr", "joint"):
        model = clone(LOG).set_params(multi_class=multi_class, class_weight="balanced")

        def compute(model=model):
            return searched(model, ALPHAS, DENSE, y, sample_weight=weight)

        (expected, said), asked = kept(monkeypatch, compute)
        got, also_said = compute()
        assert {k: v.tolist() for k, v in got.items()} == {
            k: v.tolist() for k, v in expected.items()
        }
        assert (said, asked) == (also_said, [False])


def test_responses_are_the_same_and_weights_are_not_there():
    train = [np.flatnonzero(np.arange(N) % 4 != f) for f in range(4)] * 3
    test = [np.flatnonzero(np.arange(N) % 4 == f) for f in range(4)] * 3

    def models():
        return [clone(LOG).set_params(alpha=alpha, max_iter=epochs)
                for alpha, epochs in ((1e-4, 2), (1e-2, 3), (1e-1, 5)) for _ in range(4)]

    some, others = models(), models()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = fit_together(some, DENSE, THREE, train, test)
        got = fit_together(others, DENSE, THREE, train, test, keep=False)
    for one, other, p, q in zip(some, others, expected, got, strict=True):
        assert p.tobytes() == q.tobytes()
        assert one.classes_.tolist() == other.classes_.tolist()
        assert one.n_iter_ == other.n_iter_
        assert len(one.trace_) == len(other.trace_)
        assert not {"coef_", "intercept_", "_memories"} & set(vars(other))


def test_who_needs_the_estimators_gets_them(monkeypatch):
    def asked(compute):
        return kept(monkeypatch, compute)[1]

    def by_weights(model, X, y):
        return float(np.abs(model.coef_).sum())

    assert asked(lambda: cross_val_predict(LOG, DENSE, TWO)) == [False]
    both = ["accuracy", "roc_auc"]
    assert asked(lambda: cross_validate(LOG, DENSE, TWO, scoring=both)) == [False]
    assert asked(lambda: cross_validate(LOG, DENSE, TWO, return_estimator=True)) == [True]
    assert asked(lambda: cross_validate(LOG, DENSE, TWO, scoring=by_weights)) == [True]
    found = cross_validate(LOG, DENSE, TWO, scoring=by_weights, return_estimator=True)
    for model, score in zip(found["estimator"], found["test_score"], strict=True):
        assert score == np.abs(model.coef_).sum() > 0


def test_memory_is_that_of_one_pass():
    d, n, per_row = 100_000, 1000, 150
    indices = np.sort(RNG.integers(0, d, (n, per_row), dtype=np.int32), axis=1)
    indptr = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_matrix((np.ones(n * per_row, np.float32), indices.ravel(), indptr), shape=(n, d))
    X.sum_duplicates()
    y = RNG.integers(0, 2, n)
    rows = np.arange(n)
    models = [SGDClassifier("log_loss", alpha=alpha, random_state=0, max_iter=2, tol=None)
              for alpha in np.geomspace(1e-5, 1e-2, 48)]
    peaks = {}
    for keep in (False, True):
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit_together(models, X, y, [rows[::2]] * 48, [rows[1::2]] * 48, keep=keep)
        peaks[keep] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # 64 bytes for each column, one copy of the rows, and what is as long as the rows
    assert peaks[False] < 64 * d + 3 * (X.data.nbytes + X.indices.nbytes)
    assert peaks[True] > peaks[False] + 48 * 4 * d


def test_rows_are_answered_in_whatever_order_they_are_asked_for():
    rng = np.random.default_rng(2)
    rising, mixed = np.arange(1, N, 3), rng.permutation(N)
    tests = [rising, np.concatenate([rising[::2], rising]), mixed[:1], np.array([7, 7, 7, 3]),
             np.arange(N)[::-1], rng.integers(0, N, 40), mixed, np.arange(N)]
    train = [np.flatnonzero(np.arange(N) % 4 != f) for f in range(8)]

    def answered(chosen, keep):
        models = [clone(LOG).set_params(alpha=1e-3 * (1 + k), tol=1e-2, max_iter=3 + k % 2)
                  for k in chosen]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = fit_together(models, DENSE, THREE, [train[0]] * len(chosen),
                               [tests[k] for k in chosen], keep=keep)
        return models, out

    for chosen in (range(4), range(8)):  # few runs of rising numbers, and many
        models, out = answered(chosen, True)
        for k, model, p in zip(chosen, models, out, strict=True):
            expected = DENSE[tests[k]] @ model.coef_.T + model.intercept_
            np.testing.assert_allclose(p, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
            assert answered([k], False)[1][0].tobytes() == p.tobytes()


def test_few_runs_of_rows_share_one_read():
    odd, even = np.arange(1, 10, 2), np.arange(0, 10, 2)
    ((rows, runs),) = reads([odd, np.concatenate([even, odd, odd[:1]])], 12, 4)
    assert rows.tolist() == list(range(10))
    assert runs == [(0, 0, 5), (1, 0, 5), (1, 5, 10), (1, 10, 11)]
    found = reads([odd, even[::-1]], 12, 5)
    assert [rows.tolist() for rows, _ in found] == [odd.tolist(), even[::-1].tolist()]
    assert [runs for _, runs in found] == [[(0, 0, 5)], [(1, 0, 5)]]


@pytest.mark.parametrize("memory_limit", [None, 12_000_000, 1_000_000])
@pytest.mark.parametrize(
    ("model", "grid", "scoring"),
    [(LOG, {"alpha": [1e-4, 1e-2]}, None),
     # a scorer of one's own asks for the models
     (LOG, {"alpha": [1e-4, 1e-2]}, lambda model, X, y: model.score(X, y)),
     (LogisticRegression(tol=1e-3), {"C": [0.1, 10.0]}, "neg_log_loss")],
    ids=["SGD", "SGD, kept", "exact"],
)  # fmt: skip
def test_scores_hang_on_no_memory_limit(model, grid, scoring, memory_limit):
    # parts of the rows, which models in other passes train on others of
    rng = np.random.default_rng(1)
    splits = [(own[:60], own[60:90]) for own in (rng.permutation(N) for _ in range(24))]
    searches = [
        GridSearchCV(model, grid, cv=splits, scoring=scoring, refit=False, memory_limit=limit)
        .fit(FAR, TWO).cv_results_ for limit in (1 << 40, memory_limit)
    ]  # fmt: skip
    found = [[r[name] for name in r if name.startswith("split")] for r in searches]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("model", [LOG, LogisticRegression(), MultinomialNB()],
                         ids=lambda model: type(model).__name__)
def test_rows_of_folds_may_be_views(model):
    rows, X = np.arange(N), np.abs(DENSE)
    views = [(rows[::2], rows[1::2]), (rows[:100][::-1], rows[200:][::-3])]
    copies = [(train.copy(), test.astype(np.int32)) for train, test in views]
    np.testing.assert_array_equal(
        cross_val_score(model, X, TWO, cv=views), cross_val_score(model, X, TWO, cv=copies)
    )


@pytest.mark.parametrize("model", [LOG, LogisticRegression()], ids=["SGD", "exact"])
def test_a_splitter_may_go_on_with_its_arrays(model):
    def splits():
        rows, rng = np.arange(N), np.random.default_rng(2)
        for _ in range(4):
            rng.shuffle(rows)
            yield rows[:160], rows[160:]

    copies = [(train.copy(), test.copy()) for train, test in splits()]
    found = cross_validate(model, DENSE, TWO, cv=splits(), return_indices=True)
    for test, (_, expected) in zip(found["indices"]["test"], copies, strict=True):
        np.testing.assert_array_equal(test, expected)
    np.testing.assert_array_equal(
        found["test_score"], cross_val_score(model, DENSE, TWO, cv=copies)
    )


@pytest.mark.parametrize("keep", [False, True])
def test_responses_that_are_no_numbers_name_their_row(keep):
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = 3 * X[:, 0]
    X[250] = 1e308, -1e308
    steep = SGDRegressor("huber", penalty=None, learning_rate="constant", eta0=1e10, max_iter=3,
                         tol=None, random_state=0)
    rows = np.arange(300)
    (error,) = fit_together([steep], X, y, [rows[:200]], [rows[200:]], keep=keep)
    with pytest.raises(ValueError, match="The response of row 250 is not a number"):
        raise error


@pytest.mark.parametrize("model", [LogisticRegressionCV, RidgeCV, LassoCV])
def test_a_fold_without_rows_to_test_on_is_refused(model):
    cv = [(np.arange(N), np.arange(100)), (np.arange(N), np.arange(0))]
    with pytest.raises(ValueError, match="rows .*to test on; fold 1 has none"):
        model(cv=cv).fit(DENSE, TWO)
