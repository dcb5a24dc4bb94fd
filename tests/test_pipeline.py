"""Pipelines of our own: scikit-learn's interface, in scikit-learn's tools and without them."""

import copy
import pickle

import numpy as np
import pytest

from fastlin import HashingVectorizer, OneHotEncoder, SGDClassifier, SGDRegressor
from fastlin._clone import clone
from fastlin._exceptions import NotFittedError
from fastlin.model_selection import cross_val_score
from fastlin.pipeline import Pipeline, make_pipeline

TEXTS = ["win a prize now", "see you at lunch", "a free prize for you", "lunch at noon"] * 8
LABELS = np.array(["spam", "ham"] * 16)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


def text_model(**options):
    hashing = HashingVectorizer(n_features=256)
    return make_pipeline(hashing, SGDClassifier(loss="log_loss", random_state=0, **options))


class Doubling:
    """A transformer of someone else: with fit and transform, no fit_transform."""

    def fit(self, X, y=None, shift=0.0):
        self.shift_ = shift
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return 2 * X + self.shift_

    def inverse_transform(self, X):
        return (X - self.shift_) / 2


def test_a_pipeline_does_what_its_steps_do():
    model = text_model().fit(TEXTS, LABELS)
    hashed = HashingVectorizer(n_features=256).transform(TEXTS)
    alone = SGDClassifier(loss="log_loss", random_state=0).fit(hashed, LABELS)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(model, method)(TEXTS), getattr(alone, method)(hashed))
    assert model.score(TEXTS, LABELS) == alone.score(hashed, LABELS) == 1.0
    weight = np.where(LABELS == "ham", 0.0, 1.0)
    wrong = np.where(LABELS == "ham", "spam", LABELS)
    assert model.score(TEXTS, wrong, sample_weight=weight) == 1.0
    np.testing.assert_array_equal(model.classes_, ["ham", "spam"])


def test_names_and_parts():
    model = make_pipeline(Doubling(), Doubling(), "passthrough", SGDClassifier())
    names = ["doubling-1", "doubling-2", "passthrough", "sgdclassifier"]
    assert [name for name, _ in model.steps] == names
    assert list(model.named_steps) == names
    assert len(model) == 4
    assert model[-1] is model["sgdclassifier"] is model.named_steps.sgdclassifier
    assert [name for name, _ in model[1:3].steps] == names[1:3]
    assert model[:2].steps[0][1] is model[0]
    with pytest.raises(ValueError, match="must have the step 1, got 2"):
        model[::2]
    with pytest.raises(KeyError):
        model["none"]
    with pytest.raises(AttributeError, match="no step 'none'"):
        _ = model.named_steps.none


def test_parameters_of_steps():
    model = text_model()
    params = model.get_params()
    assert params["sgdclassifier"] is model[-1]
    assert params["sgdclassifier__alpha"] == 1e-4
    assert params["steps"] is model.steps
    assert list(model.get_params(deep=False)) == ["steps"]
    assert model.set_params(sgdclassifier__alpha=0.5, hashingvectorizer__norm=None) is model
    assert (model[-1].alpha, model[0].norm) == (0.5, None)
    # A new step first, its parameters afterwards, in whatever order they are given.
    model.set_params(sgdclassifier__penalty="l1", sgdclassifier=SGDClassifier(loss="hinge"))
    assert (model[-1].loss, model[-1].penalty) == ("hinge", "l1")
    model.set_params(hashingvectorizer="passthrough")
    assert model[0] == "passthrough"
    for bad in ("nothing", "nothing__alpha", "sgdclassifier__nothing", "hashingvectorizer__norm"):
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(**{bad: 1})
    steps = [("only", SGDClassifier())]
    model.set_params(steps=steps, only__alpha=0.25)
    assert model[0].alpha == 0.25


def test_arguments_of_fit_go_to_their_steps():
    y = X[:, 0] > 0
    weight = RNG.integers(0, 3, size=60).astype(float)
    model = make_pipeline(Doubling(), SGDClassifier(random_state=0))
    model.fit(X, y, doubling__shift=1.0, sgdclassifier__sample_weight=weight)
    assert model[0].shift_ == 1.0
    alone = SGDClassifier(random_state=0).fit(2 * X + 1, y, sample_weight=weight)
    np.testing.assert_array_equal(model[-1].coef_, alone.coef_)
    with pytest.raises(ValueError, match="say which step .* sgdclassifier__sample_weight"):
        model.fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="other__shift is for no step"):
        model.fit(X, y, other__shift=1.0)


def test_transforming_and_back():
    both = make_pipeline(Doubling(), Doubling())
    np.testing.assert_array_equal(both.fit_transform(X), 4 * X)
    np.testing.assert_array_equal(both.transform(X), 4 * X)
    np.testing.assert_array_equal(both.inverse_transform(4 * X), X)
    assert both.n_features_in_ == 3
    idle = make_pipeline(Doubling(), "passthrough").fit(X)
    np.testing.assert_array_equal(idle.transform(X), 2 * X)
    np.testing.assert_array_equal(make_pipeline(Doubling(), None).fit_transform(X), 2 * X)


def test_methods_are_there_if_the_steps_have_them():
    model = make_pipeline(Doubling(), SGDRegressor())
    for absent in ("transform", "predict_proba", "decision_function", "inverse_transform"):
        assert not hasattr(model, absent)
    for there in ("predict", "score"):
        assert hasattr(model, there)
    assert not hasattr(text_model().set_params(sgdclassifier__loss="hinge"), "predict_proba")
    assert not hasattr(make_pipeline("passthrough"), "predict")
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(AttributeError, match="has no transform, because its step SGDRegressor"):
        model.transform(X)


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": ["s", "m"] * 10})
    model = make_pipeline(OneHotEncoder(), SGDClassifier(random_state=0))
    model.fit(frame, ["a", "b"] * 10)
    assert list(model.feature_names_in_) == ["colour", "size"]
    assert model.n_features_in_ == 2
    expected = ["colour_blue", "colour_red", "size_m", "size_s"]
    assert list(model[:1].get_feature_names_out()) == expected
    dense = make_pipeline(OneHotEncoder(sparse_output=False)).set_output(transform="pandas")
    assert list(dense.fit_transform(frame).columns) == expected


@pytest.mark.parametrize(
    ("steps", "error", "message"),
    [
        ([], ValueError, "at least one"),
        ("abc", ValueError, "steps must be a list"),
        (None, ValueError, "steps must be a list"),
        ([SGDClassifier()], ValueError, "pairs"),
        ([("a__b", SGDClassifier())], ValueError, "without '__'"),
        ([("steps", SGDClassifier())], ValueError, "not 'steps'"),
        ([("a", Doubling()), ("a", SGDClassifier())], ValueError, "different names"),
        ([(1, SGDClassifier())], ValueError, "got 1"),
        ([("a", SGDRegressor()), ("b", SGDRegressor())], TypeError, "a is not the last and must"),
        ([("a", Doubling), ("b", SGDRegressor())], TypeError, "class Doubling; pass an instance"),
        ([("a", Doubling()), ("b", 3)], TypeError, "b must have fit, got 3"),
    ],
)
def test_bad_steps_are_named(steps, error, message):
    with pytest.raises(error, match=message):
        Pipeline(steps).fit(X, X[:, 0])


def test_use_before_fit():
    with pytest.raises(NotFittedError, match="This Pipeline is not fitted yet; call fit before pr"):
        text_model().predict(TEXTS)
    model = text_model()
    model[0].fit()
    with pytest.raises(NotFittedError):
        model.predict_proba(TEXTS)


def test_copies():
    model = text_model().fit(TEXTS, LABELS)
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copied.predict_proba(TEXTS), model.predict_proba(TEXTS))
    fresh = clone(model)
    assert repr(fresh) == repr(model)
    assert fresh[-1] is not model[-1]
    assert not hasattr(fresh[-1], "coef_")


def test_cross_validation_without_scikit_learn():
    assert cross_val_score(text_model(), TEXTS, LABELS, cv=4).tolist() == [1.0] * 4


class TestInScikitLearn:
    """In the tools of scikit-learn."""

    def test_clone_and_checks_of_kind(self):
        base = pytest.importorskip("sklearn.base")
        model = text_model().fit(TEXTS, LABELS)
        fresh = base.clone(model)
        assert repr(fresh) == repr(model)
        assert not hasattr(fresh[-1], "coef_")
        assert base.is_classifier(model)
        assert base.is_regressor(make_pipeline(Doubling(), SGDRegressor()))
        assert not base.is_classifier(make_pipeline(OneHotEncoder()))
        validation = pytest.importorskip("sklearn.utils.validation")
        validation.check_is_fitted(model)
        with pytest.raises(validation.NotFittedError):
            validation.check_is_fitted(fresh)

    def test_tags(self):
        utils = pytest.importorskip("sklearn.utils")
        tags = utils.get_tags(text_model())
        assert tags.input_tags.string
        assert tags.estimator_type == "classifier"
        assert utils.get_tags(make_pipeline("passthrough")).estimator_type is None

    def test_grid_search(self):
        selection = pytest.importorskip("sklearn.model_selection")
        search = selection.GridSearchCV(
            text_model(), {"sgdclassifier__alpha": [1e-3, 1e-2], "hashingvectorizer__norm": ["l2"]},
            cv=2,
        ).fit(TEXTS, LABELS)  # fmt: skip
        assert search.best_score_ == 1.0
        weight = np.ones(32)
        search.fit(TEXTS, LABELS, sgdclassifier__sample_weight=weight)

    def test_equals_their_pipeline(self):
        theirs = pytest.importorskip("sklearn.pipeline")
        model = text_model().fit(TEXTS, LABELS)
        peer = theirs.Pipeline(clone(model).steps).fit(TEXTS, LABELS)
        np.testing.assert_array_equal(peer.predict_proba(TEXTS), model.predict_proba(TEXTS))
        assert peer.get_params().keys() - {"memory", "verbose", "transform_input"} == (
            model.get_params().keys()
        )
        nested = theirs.make_pipeline(model)
        assert nested.predict(TEXTS).tolist() == LABELS.tolist()
