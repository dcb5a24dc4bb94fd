"""Searches over pipelines: what runs how often, and on which rows."""

import numpy as np
import pytest

from fastlin import (
    GridSearchCV,
    HashingVectorizer,
    OneHotEncoder,
    Pipeline,
    SGDClassifier,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    make_pipeline,
)
from fastlin._base import Estimator, TransformerMixin
from fastlin._clone import clone
from fastlin._shared_steps import is_stateless
from fastlin.datasets import load_mushrooms, load_sms_spam

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4)) * [1.0, 10.0, 0.1, 1.0] + 3
Y = (X[:, 0] - X[:, 3] > 0).astype(int)
STEPS = {"learning_rate": "invscaling", "eta0": 0.2, "max_iter": 5, "tol": None}
SGD = SGDClassifier(loss="log_loss", random_state=3, **STEPS)
ROWS = np.column_stack([np.arange(90), X])


class Alone(SGDClassifier):
    """Of a class of its own, so that it is fitted fold by fold."""


LEARNERS = [SGD, Alone(loss="log_loss", random_state=3, **STEPS)]


class Spy(TransformerMixin, Estimator):
    """Standardises all columns but the first, which holds the row's number: what it saw is kept."""

    fitted: list = []
    transformed: list = []

    def __init__(self, power=1.0):
        self.power = power

    def fit(self, X, y=None):
        Spy.fitted.append(X[:, 0].astype(int).tolist())
        assert y is None or len(y) == len(X)
        self.mean_, self.scale_ = X[:, 1:].mean(axis=0), X[:, 1:].std(axis=0) ** self.power
        return self

    def transform(self, X):
        Spy.transformed.append(X[:, 0].astype(int).tolist())
        return (X[:, 1:] - self.mean_) / self.scale_


class RowSpy(Spy):
    """Learns nothing, and says so."""

    _tags = {"requires_fit": False}
    _fitted_attribute = None

    def fit(self, X, y=None):
        Spy.fitted.append(X[:, 0].astype(int).tolist())
        return self

    def transform(self, X):
        Spy.transformed.append(X[:, 0].astype(int).tolist())
        return X[:, 1:] / 10


@pytest.fixture(autouse=True)
def forget():
    Spy.fitted, Spy.transformed = [], []


def pipelines():
    """Ours and scikit-learn's."""
    yield Pipeline
    try:
        from sklearn.pipeline import Pipeline as Theirs
    except ImportError:
        return
    yield Theirs


@pytest.mark.parametrize("n_jobs", [None, 3])
@pytest.mark.parametrize("learner", LEARNERS, ids=["together", "alone"])
@pytest.mark.parametrize("kind", list(pipelines()))
def test_a_step_sees_the_training_rows_of_each_fold_once(kind, learner, n_jobs):
    model = kind([("spy", Spy()), ("sgd", learner)])
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"sgd__alpha": [1e-3, 1e-1], "sgd__average": [False, True]}
    search = GridSearchCV(model, grid, cv=cv, refit=False, n_jobs=n_jobs).fit(ROWS, Y)
    splits = list(cv.split(ROWS, Y))
    # once for each fold, not for each of the 12 models; and never a row held out
    assert sorted(Spy.fitted) == sorted(train.tolist() for train, _ in splits)
    tests = [test.tolist() for _, test in splits]
    assert sorted(Spy.transformed) == sorted(Spy.fitted + tests)
    check_by_loop(search, model, cv, learner)


def check_by_loop(search, model, cv, learner):
    """The scores are those of fitting the whole pipeline for each point and fold."""
    for place, params in enumerate(search.cv_results_["params"]):
        for fold, (train, test) in enumerate(cv.split(ROWS, Y)):
            whole = clone(model).set_params(**params).fit(ROWS[train], Y[train])
            expected = whole.score(ROWS[test], Y[test])
            got = search.cv_results_[f"split{fold}_test_score"][place]
            # models trained together visit the rows in an order of their own
            assert got == (expected if type(learner) is Alone else pytest.approx(expected, abs=0.2))


@pytest.mark.parametrize("kind", list(pipelines()))
def test_steps_with_other_parameters_are_fitted_apart(kind):
    model = kind([("spy", Spy()), ("sgd", LEARNERS[1])])
    grid = {"spy__power": [0.5, 1.0], "sgd__alpha": [1e-3, 1e-1]}
    cv = StratifiedKFold(3)
    search = GridSearchCV(model, grid, cv=cv).fit(ROWS, Y)
    assert len(Spy.fitted) == 2 * 3 + 1
    check_by_loop(search, model, cv, LEARNERS[1])
    whole = clone(model).set_params(**search.best_params_).fit(ROWS, Y)
    np.testing.assert_array_equal(whole.predict(ROWS), search.predict(ROWS))


@pytest.mark.parametrize("learner", LEARNERS, ids=["together", "alone"])
def test_stateless_steps_run_once(learner):
    model = make_pipeline(RowSpy(), learner)
    grid = {f"{type(learner).__name__.lower()}__alpha": [1e-3, 1e-1]}
    search = GridSearchCV(model, grid, cv=3, refit=False).fit(ROWS, Y)
    assert Spy.fitted == Spy.transformed == [list(range(90))]
    check_by_loop(search, model, StratifiedKFold(3), learner)


def test_a_stateless_step_after_another_belongs_to_the_folds():
    class AfterSpy(RowSpy):
        def fit(self, X, y=None):
            return self

        def transform(self, X):
            assert len(X) < 90
            return X

    model = make_pipeline(RowSpy(), WithNumber(), Spy(), AfterSpy(), LEARNERS[1])
    scores = cross_val_score(model, ROWS, Y, cv=3)
    assert sorted(map(len, Spy.fitted)) == [60, 60, 60, 90]
    Spy.fitted, Spy.transformed = [], []
    expected = [
        clone(model).fit(ROWS[train], Y[train]).score(ROWS[test], Y[test])
        for train, test in StratifiedKFold(3).split(ROWS, Y)
    ]
    assert scores.tolist() == expected


class WithNumber(RowSpy):
    """Puts a column of zeros in front, where `Spy` looks for the row's number."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.column_stack([np.zeros(len(X)), X])


class Refusing(RowSpy):
    """A stateless step that refuses some row."""

    def transform(self, X):
        if 5 in X[:, 0]:
            raise ValueError("no fives")
        return X[:, 1:]


def test_a_stateless_step_that_fails_is_left_to_the_folds():
    cv = [(np.arange(10, 80), np.arange(80, 90)), (np.arange(80), np.arange(80, 90))]
    with pytest.warns(RuntimeWarning, match="1 of 2 fits failed, the first with: no fives"):
        scores = cross_val_score(make_pipeline(Refusing(), SGD), ROWS, Y, cv=cv)
    assert np.isfinite(scores[0]) and np.isnan(scores[1])


def test_which_steps_are_stateless():
    assert is_stateless(HashingVectorizer()) and is_stateless(RowSpy())
    assert not is_stateless(Spy()) and not is_stateless(OneHotEncoder())
    assert is_stateless(OneHotEncoder(categories=[["a", "b"]]))
    assert not is_stateless(OneHotEncoder(categories=[["a", "b"]], min_frequency=2))
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    assert is_stateless(preprocessing.Normalizer())
    assert not is_stateless(preprocessing.Normalizer(copy=False))
    given = X.copy()
    cross_val_score(make_pipeline(preprocessing.Normalizer(copy=False), SGD), given, Y, cv=2)
    np.testing.assert_array_equal(given, X)
    assert is_stateless(preprocessing.OneHotEncoder(categories=[["a", "b"]]))
    assert not is_stateless(preprocessing.StandardScaler())
    # its function may look at all the rows that it gets
    assert not is_stateless(preprocessing.FunctionTransformer(lambda X: X - X.mean(axis=0)))


def test_scorers_of_users_get_the_whole_pipeline_and_raw_rows():
    def looks_inside(model, A, b):
        assert A.shape[1] == 5 and model[0].mean_.shape == (4,)
        assert list(model.named_steps) == ["spy", "sgd"]
        return model.score(A, b)

    model = Pipeline([("spy", Spy()), ("sgd", LEARNERS[1])])
    scores = cross_val_score(model, ROWS, Y, scoring=looks_inside)
    np.testing.assert_array_equal(scores, cross_val_score(model, ROWS, Y))
    fitted = cross_validate(model, ROWS, Y, return_estimator=True)["estimator"]
    for one, (train, test), score in zip(
        fitted, StratifiedKFold(5).split(ROWS, Y), scores, strict=True
    ):
        assert type(one) is Pipeline and one.score(ROWS[test], Y[test]) == score
        np.testing.assert_allclose(one[0].mean_, ROWS[train, 1:].mean(axis=0))
    said = cross_val_predict(model, ROWS, Y)
    assert np.mean(said == Y) == pytest.approx(scores.mean())


def test_weights_go_to_the_step_they_are_for():
    weight = np.where(np.arange(90) % 3, 1.0, 0.0)
    model = Pipeline([("spy", Spy()), ("sgd", LEARNERS[1])])
    scores = cross_val_score(model, ROWS, Y, params={"sgd__sample_weight": weight})
    for (train, test), score in zip(StratifiedKFold(5).split(ROWS, Y), scores, strict=True):
        whole = clone(model).fit(ROWS[train], Y[train], sgd__sample_weight=weight[train])
        assert score == whole.score(ROWS[test], Y[test])
    with pytest.raises(ValueError, match="say which step it is for"):
        cross_val_score(model, ROWS, Y, params={"sample_weight": weight})


@pytest.mark.filterwarnings("ignore:.*best constant")
@pytest.mark.parametrize("kind", list(pipelines()))
def test_steps_can_be_searched_over(kind):
    model = kind([("spy", Spy()), ("sgd", LEARNERS[1])])
    grid = [{"spy": [Spy(0.5), "passthrough"]}, {"sgd": [SGD, LEARNERS[1]], "sgd__alpha": [0.1]}]
    search = GridSearchCV(model, grid, cv=3).fit(ROWS, Y)
    assert len(search.cv_results_["params"]) == 4
    assert search.cv_results_["param_spy"].dtype == object
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert grid[0]["spy"][0].power == 0.5 and "mean_" not in vars(grid[0]["spy"][0])


def test_unusual_pipelines_of_scikit_learn_are_fitted_as_they_are(tmp_path):
    theirs = pytest.importorskip("sklearn.pipeline")
    steps = [("spy", Spy()), ("sgd", LEARNERS[1])]
    cached = theirs.Pipeline(steps, memory=str(tmp_path / "kept"))
    plain = theirs.Pipeline(steps)
    np.testing.assert_array_equal(
        cross_val_score(cached, ROWS, Y), cross_val_score(plain, ROWS, Y)
    )
    assert list((tmp_path / "kept").rglob("*.pkl"))


# Real data --------------------------------------------------------------------------------------


def test_sms():
    """The search equals scikit-learn's as far as the order of rows allows, and knows spam."""
    texts, labels = load_sms_spam(return_X_y=True)
    model = make_pipeline(
        HashingVectorizer(n_features=2**16, ngram_range=(1, 2)),
        SGDClassifier("log_loss", max_iter=5, tol=None, average=True, random_state=0),
    )
    search = GridSearchCV(model, {"sgdclassifier__alpha": [3e-6, 1e-3]}, cv=3, n_jobs=2)
    search.fit(texts, labels)
    assert search.best_params_ == {"sgdclassifier__alpha": 3e-6}
    assert 0.98 < search.best_score_ < 1.0
    assert search.predict(["WINNER!! claim your free prize now, call 09061701461"]) == ["spam"]
    f1 = cross_val_score(model, texts, labels, cv=3, scoring="f1_macro")
    assert (f1 > 0.9).all()


def test_mushrooms():
    data, edible = load_mushrooms(return_X_y=True)
    categories = [np.unique(column).tolist() for column in data.T]
    learner = SGDClassifier(max_iter=3, tol=None, random_state=0)
    given = make_pipeline(OneHotEncoder(categories=categories), learner)
    learnt = make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner)
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    rows = OneHotEncoder(categories=categories, output="rows").fit_transform(data)
    scores = [cross_val_score(model, data, edible, cv=cv) for model in (given, learnt)]
    scores.append(cross_val_score(learner, rows, edible, cv=cv))
    assert (np.array(scores) > 0.99).all()
    np.testing.assert_allclose(scores[0], scores[2], atol=1e-3)
