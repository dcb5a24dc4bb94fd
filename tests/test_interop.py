"""The base classes inside scikit-learn: every check, and the tools that wrap estimators."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import joblib
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import make_blobs, make_regression
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.exceptions import NotFittedError as PeerNotFittedError
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, cross_validate
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted
from toy_estimators import ToyClassifier, ToyRegressor, ToyTransformer

from fastlin._base import Estimator
from fastlin._exceptions import NotFittedError


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(n_samples=120, centers=3, n_features=4, random_state=0)


@pytest.fixture(scope="module")
def line():
    return make_regression(n_samples=100, n_features=4, noise=1.0, random_state=0)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# ---------------------------------------------------------------- scikit-learn's own checks


@pytest.mark.parametrize("estimator", [ToyClassifier(), ToyRegressor(), ToyTransformer()], ids=repr)
def test_every_check_passes(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert not failed
    # The one check that scikit-learn itself skips without an environment variable.
    skipped = {r["check_name"] for r in results if r["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}
    assert len(results) > 40


@pytest.mark.parametrize(
    "check",
    [
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
        "check_get_feature_names_out_error",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_set_output_transform_polars",
        "check_global_output_transform_pandas",
        "check_global_set_output_transform_polars",
    ],
)
# They fit on a frame and transform an array, and the other way round.
@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
def test_the_further_checks_of_transformers_pass(check):
    getattr(estimator_checks, check)("ToyTransformer", ToyTransformer())


@pytest.mark.parametrize("estimator", [ToyClassifier(), ToyRegressor()], ids=repr)
def test_the_further_checks_of_predictors_pass(estimator):
    name = type(estimator).__name__
    estimator_checks.check_dataframe_column_names_consistency(name, estimator)
    estimator_checks.check_all_zero_sample_weights_error(name, estimator)


def test_the_checks_can_fail():
    class Broken(ToyRegressor):
        def predict(self, X):
            return ToyRegressor.predict(self, X)[:-1]

    results = check_estimator(Broken(), on_skip=None, on_fail=None)
    assert "failed" in {r["status"] for r in results}


def test_tags_say_what_the_estimator_is():
    tags = get_tags(ToyClassifier())
    assert is_classifier(ToyClassifier())
    assert is_regressor(ToyRegressor())
    assert tags.target_tags.required
    assert tags.classifier_tags.multi_class
    assert tags.regressor_tags is None
    assert tags.transformer_tags is None
    assert get_tags(ToyTransformer()).estimator_type == "transformer"
    assert get_tags(ToyTransformer()).transformer_tags.preserves_dtype == ["float64"]
    assert not get_tags(ToyTransformer()).target_tags.required


def test_tags_are_inherited_and_may_hang_on_parameters():
    class Kernel(ToyClassifier):
        _tags = {"sparse": False, "non_deterministic": True}

        def _live_tags(self):
            return {"pairwise": self.alpha == 2}

    class Narrow(Kernel):
        _tags = {"multi_class": False, "poor_score": True}

    tags = get_tags(Narrow(alpha=2))
    assert tags.input_tags.pairwise
    assert not get_tags(Narrow()).input_tags.pairwise
    assert not tags.input_tags.sparse
    assert tags.non_deterministic
    assert not tags.classifier_tags.multi_class
    assert tags.classifier_tags.poor_score
    assert tags.target_tags.required
    assert get_tags(ToyClassifier()).input_tags.sparse


# ---------------------------------------------------------------- state


def test_clone_keeps_parameters_output_and_requests(routing):
    model = ToyTransformer(scale=False).set_output(transform="pandas")
    twin = clone(model)
    assert twin.get_params() == {"scale": False}
    assert twin._sklearn_output_config == {"transform": "pandas"}
    model = ToyClassifier(alpha=3.0).set_fit_request(sample_weight=True)
    twin = clone(model)
    assert twin.alpha == 3.0
    assert twin.get_metadata_routing().fit.requests == {"sample_weight": True}
    twin.set_fit_request(sample_weight=False)
    assert model.get_metadata_routing().fit.requests == {"sample_weight": True}


def test_check_is_fitted_and_both_errors(blobs):
    model = ToyClassifier()
    with pytest.raises(PeerNotFittedError):
        check_is_fitted(model)
    for error in (PeerNotFittedError, NotFittedError, ValueError, AttributeError):
        with pytest.raises(error, match="not fitted yet"):
            model.predict(blobs[0])
    check_is_fitted(model.fit(*blobs))


def test_joblib_and_pickle_within_a_pipeline(blobs, tmp_path):
    X, y = blobs
    pipe = make_pipeline(ToyTransformer(), ToyClassifier()).fit(X, y)
    joblib.dump(pipe, tmp_path / "pipe.joblib")
    for twin in (joblib.load(tmp_path / "pipe.joblib"), pickle.loads(pickle.dumps(pipe))):
        np.testing.assert_array_equal(twin.predict_proba(X), pipe.predict_proba(X))


def test_pipelines_are_shown(blobs):
    pipe = make_pipeline(ToyTransformer(scale=False), ToyClassifier(alpha=2.0))
    assert "ToyClassifier(alpha=2.0)" in repr(pipe)
    assert "ToyClassifier" in pipe._repr_html_()
    assert "ToyClassifier" in pipe.fit(*blobs)._repr_html_()


# ---------------------------------------------------------------- tools around estimators


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_pipeline_and_grid_search(blobs, storage):
    X, y = blobs
    pipe = Pipeline([("scale", ToyTransformer()), ("clf", ToyClassifier())])
    grid = {"clf__alpha": [1e-3, 1e3], "scale__scale": [True, False]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(storage(X), y)
    assert search.best_score_ > 0.8
    assert search.best_estimator_.named_steps["clf"].alpha in (1e-3, 1e3)
    assert search.score(storage(X), y) > 0.8
    np.testing.assert_array_equal(search.classes_, [0, 1, 2])


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_parallel_cross_validation(blobs, backend):
    with joblib.parallel_backend(backend, n_jobs=2):
        scores = cross_val_score(ToyClassifier(), *blobs, cv=3, error_score="raise")
    np.testing.assert_array_equal(scores, cross_val_score(ToyClassifier(), *blobs, cv=3))


def test_string_labels_and_cross_val_predict(blobs):
    X, y = blobs
    names = np.array(["ham", "spam", "eggs"], dtype=object)[y]
    predicted = cross_val_predict(ToyClassifier(), X, names, cv=3)
    assert (predicted == names).mean() > 0.8
    proba = cross_val_predict(ToyClassifier(), X, names, cv=3, method="predict_proba")
    np.testing.assert_allclose(proba.sum(axis=1), 1)


def test_scorers(blobs, line):
    X, y = blobs
    scores = cross_validate(ToyClassifier(), X, y, scoring=["accuracy", "f1_macro", "roc_auc_ovr"])
    assert scores["test_roc_auc_ovr"].mean() > 0.9
    scores = cross_validate(ToyRegressor(), *line, scoring=["r2", "neg_mean_absolute_error"])
    assert scores["test_r2"].mean() > 0.99


def test_meta_classifiers(blobs):
    X, y = blobs
    for meta in (
        CalibratedClassifierCV(ToyClassifier(), cv=3),
        BaggingClassifier(ToyClassifier(), n_estimators=3, random_state=0),
        StackingClassifier([("a", ToyClassifier()), ("b", ToyClassifier(10.0))], cv=3),
        StackingClassifier([("a", ToyClassifier())], final_estimator=ToyClassifier(), cv=3),
        VotingClassifier([("a", ToyClassifier()), ("b", ToyClassifier(10.0))], voting="soft"),
        OneVsRestClassifier(ToyClassifier()),
        OneVsOneClassifier(ToyClassifier()),
    ):
        assert meta.fit(X, y).score(X, y) > 0.8, meta


def test_meta_regressors(line):
    X, y = line
    for meta in (
        BaggingRegressor(ToyRegressor(), n_estimators=3, random_state=0),
        StackingRegressor([("a", ToyRegressor())], final_estimator=ToyRegressor(), cv=3),
        TransformedTargetRegressor(ToyRegressor(), func=np.negative, inverse_func=np.negative),
    ):
        assert meta.fit(X, y).score(X, y) > 0.99, meta
    model = MultiOutputRegressor(ToyRegressor()).fit(X, np.column_stack([y, -y]))
    assert model.predict(X).shape == (100, 2)


def test_feature_selection(line):
    X, y = line
    wide = np.column_stack([X, np.random.default_rng(0).normal(size=(100, 3))])
    chosen = SelectFromModel(ToyRegressor(), threshold="mean").fit(wide, y).get_support()
    assert chosen[:4].any()
    assert not chosen[4:].any()
    assert RFE(ToyRegressor(), n_features_to_select=4).fit(wide, y).support_.sum() == 4


def test_column_transformer_and_set_output(blobs):
    pandas = pytest.importorskip("pandas")
    X, y = blobs
    frame = pandas.DataFrame(X, columns=list("abcd"), index=range(5, 125))
    parts = ColumnTransformer(
        [("left", ToyTransformer(), ["a", "b"]), ("right", ToyTransformer(False), ["d"])]
    ).set_output(transform="pandas")
    result = parts.fit_transform(frame)
    assert list(result.columns) == ["left__a", "left__b", "right__d"]
    assert list(result.index) == list(range(5, 125))
    pipe = make_pipeline(parts, ToyClassifier()).fit(frame, y)
    assert pipe[-1].feature_names_in_.tolist() == ["left__a", "left__b", "right__d"]
    assert pipe.score(frame, y) > 0.8
    both = FeatureUnion([("one", ToyTransformer()), ("two", ToyTransformer())])
    assert both.set_output(transform="pandas").fit_transform(frame).shape == (120, 8)


def test_set_output_of_a_pipeline_in_polars(blobs):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(blobs[0], schema=list("abcd"))
    pipe = make_pipeline(ToyTransformer(), ToyTransformer()).set_output(transform="polars")
    result = pipe.fit_transform(frame)
    assert isinstance(result, polars.DataFrame)
    assert result.columns == list("abcd")


def test_the_global_output_setting_counts(blobs):
    pandas = pytest.importorskip("pandas")
    X, _ = blobs
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(ToyTransformer().fit_transform(X), pandas.DataFrame)
        own = ToyTransformer().set_output(transform="default")
        assert isinstance(own.fit_transform(X), np.ndarray)
    assert isinstance(ToyTransformer().fit_transform(X), np.ndarray)


# ---------------------------------------------------------------- metadata routing


class Recorder(ToyClassifier):
    """Remembers whether weights arrived."""

    def fit(self, X, y, sample_weight=None):
        self.got_weight_ = sample_weight is not None
        return super().fit(X, y, sample_weight)


def test_weights_reach_a_search_within_a_pipeline(blobs, routing):
    X, y = blobs
    weight = np.linspace(0.5, 1.5, len(y))
    model = Recorder().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=3, error_score="raise")
    search.fit(X, y, sample_weight=weight)
    assert search.best_estimator_.got_weight_
    pipe = make_pipeline(ToyTransformer(), model)
    assert pipe.fit(X, y, sample_weight=weight)[-1].got_weight_
    assert cross_validate(pipe, X, y, params={"sample_weight": weight})["test_score"].mean() > 0.8


def test_an_alias_is_followed(blobs, routing):
    X, y = blobs
    model = Recorder().set_fit_request(sample_weight="mine")
    pipe = make_pipeline(ToyTransformer(), model).fit(X, y, mine=np.ones(len(y)))
    assert pipe[-1].got_weight_


def test_what_was_not_asked_for_raises(blobs, routing):
    X, y = blobs
    search = GridSearchCV(ToyClassifier(), {"alpha": [0.1]}, cv=3)
    with pytest.raises(ValueError, match="sample_weight"):
        search.fit(X, y, sample_weight=np.ones(len(y)))


def test_requests_by_method(routing):
    model = ToyClassifier()
    requests = model.get_metadata_routing()
    assert requests.fit.requests == {"sample_weight": None}
    assert requests.score.requests == {"sample_weight": None}
    assert requests.partial_fit.requests == {"classes": None, "sample_weight": None}
    assert requests.predict.requests == {}
    model.set_partial_fit_request(classes=True)
    requests = model.get_metadata_routing().partial_fit.requests
    assert requests == {"classes": True, "sample_weight": None}
    unchanged = sklearn.utils.metadata_routing.UNCHANGED
    model.set_partial_fit_request(classes=unchanged, sample_weight=False)
    requests = model.get_metadata_routing().partial_fit.requests
    assert requests == {"classes": True, "sample_weight": False}
    with pytest.raises(TypeError, match="set_fit_request takes sample_weight; got weight"):
        model.set_fit_request(weight=True)


def test_setters_exist_where_a_method_takes_metadata():
    assert not hasattr(ToyClassifier, "set_predict_request")
    assert not hasattr(ToyRegressor, "set_partial_fit_request")
    assert not hasattr(Estimator, "set_fit_request")

    class Bare(ToyRegressor):
        def fit(self, X, y):
            return super().fit(X, y)

    wrong = pytest.raises(TypeError, match="takes nothing; got sample_weight")
    with sklearn.config_context(enable_metadata_routing=True), wrong:
        Bare().set_fit_request(sample_weight=True)
    assert "sample_weight : bool, None or str" in ToyClassifier.set_fit_request.__doc__


def test_setters_need_routing():
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        ToyClassifier().set_fit_request(sample_weight=True)


def test_a_pipeline_routes_weights_to_its_steps(routing):
    from sklearn.base import clone
    from sklearn.exceptions import UnsetMetadataPassedError

    import fastlin

    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(60, 3)), rng.integers(0, 3, 60).astype(float)
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    learner = fastlin.LogisticRegression(solver="newton-cg")
    learner.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    found = []
    for make in (make_pipeline, fastlin.make_pipeline):
        model = make(fastlin.PolynomialFeatures(), clone(learner))
        for validate in (cross_validate, fastlin.cross_validate):
            scores = validate(model, X, y, params={"sample_weight": weight})["test_score"]
            found.append([*scores, model.fit(X, y, sample_weight=weight).score(X, y, weight)])
        unset = make(fastlin.PolynomialFeatures(), fastlin.LogisticRegression())
        with pytest.raises(UnsetMetadataPassedError, match="LogisticRegression.fit"):
            unset.fit(X, y, sample_weight=weight)
    assert found[1:] == found[:1] * 3
    without = fastlin.cross_validate(model[-1], fastlin.PolynomialFeatures().fit_transform(X), y)
    assert list(without["test_score"]) != found[0][:-1]
