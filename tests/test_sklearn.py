"""The public estimators inside scikit-learn: its own checks, and its tools around ours."""

import warnings

import numpy as np
import pytest
from public import (
    CLASSES,
    CLASSIFIERS,
    LEARNERS,
    ONLINE,
    PLAIN,
    REGRESSORS,
    VARIANTS,
    few_points,
    name,
)
from scipy import sparse

sklearn = pytest.importorskip("sklearn")

from sklearn import base, datasets, pipeline, preprocessing  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.ensemble import (  # noqa: E402
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.exceptions import ConvergenceWarning, NotFittedError  # noqa: E402
from sklearn.feature_selection import SelectFromModel  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier  # noqa: E402
from sklearn.multioutput import MultiOutputRegressor  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator  # noqa: E402

import fastlin  # noqa: E402
from fastlin import (  # noqa: E402
    BridgeRegressor,
    ElasticNet,
    HashingVectorizer,
    Lasso,
    Perceptron,
    Pipeline,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from fastlin._sgd import OPTIMIZERS  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("quiet"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

# Weights as repetitions hold exactly for a given order of rows; a shuffle draws another order when
# rows are repeated. scikit-learn expects the same two failures of its own SGD.
EQUIVALENCE = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
# A pipeline fits its steps in place, as scikit-learn's own does, which fails this check too.
IN_PLACE = {"check_estimators_overwrite_params"}
# scikit-learn runs the check of array API input only under a switch of scipy's.
NOT_RUN = {"check_array_api_input"}

# Compositions, which need arguments.
COMPOSED = [
    Pipeline([("scale", preprocessing.StandardScaler()), ("learn", learner)])
    for learner in (SGDClassifier(random_state=0), SGDRegressor(random_state=0))
]
ESTIMATORS = [
    *(cls(**few_points(cls)) for cls in PLAIN),
    *(cls(**params) for cls, params in VARIANTS),
    *COMPOSED,
]


# Some losses have no curvature, so that no answer is good to the last digit: rows are visited
# in a random order until the gap is small.
def has_lines_for_a_loss(estimator):
    """Whether a model is LinearSVR, or LinearSVC by Crammer and Singer."""
    return isinstance(estimator, fastlin.LinearSVR) or (
        isinstance(estimator, fastlin.LinearSVC) and estimator.multi_class == "crammer_singer"
    )


def expected_to_fail(estimator):
    """Names of the checks that an estimator is declared to fail."""
    if isinstance(estimator, Pipeline):
        return IN_PLACE
    shuffled = "shuffle" in estimator.get_params()
    return EQUIVALENCE if shuffled or has_lines_for_a_loss(estimator) else set()


def checks():
    """(estimator, check) for every public class and other ways of learning."""
    for given in ESTIMATORS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = list(estimator_checks_generator(given, legacy=True))
        for estimator, check in found:
            label = getattr(check, "func", check).__name__
            if label not in NOT_RUN:
                fails = label in expected_to_fail(given)
                marks = pytest.mark.xfail(strict=True, reason="see above") if fails else ()
                yield pytest.param(estimator, check, id=f"{given!r}-{label}", marks=marks)


@pytest.mark.filterwarnings("ignore:X .* feature names:UserWarning")
@pytest.mark.filterwarnings("ignore:all rows of the classes:UserWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    # searches are checked in test_search.py
    assert {type(estimator) for estimator in ESTIMATORS} == set(CLASSES) - {fastlin.GridSearchCV}
    labels = [param.id for param in checks()]
    for estimator in ESTIMATORS:
        mine = [label for label in labels if label.startswith(f"{estimator!r}-check")]
        # of what takes no table of numbers scikit-learn knows one check
        least = 0 if isinstance(estimator, HashingVectorizer) else 40
        assert len(mine) > least, estimator


def test_every_way_of_learning_is_checked():
    for parameter, values in (
        ("optimizer", OPTIMIZERS),
        ("multi_class", ("ovr", "joint", "ovo", "ecoc")),
        ("average", (False, True, 500, "voted")),
    ):
        tried = {repr(e.get_params().get(parameter)) for e in ESTIMATORS}
        assert set(map(repr, values)) <= tried, parameter


def test_what_is_expected_to_fail():
    """Nothing but the two checks of weights under a shuffle, and what a pipeline does."""
    expected = {(type(e).__name__, label) for e in ESTIMATORS for label in expected_to_fail(e)}
    assert {label for _, label in expected} == EQUIVALENCE | IN_PLACE
    assert {kind for kind, label in expected if label in IN_PLACE} == {"Pipeline"}
    transformers = {cls.__name__ for cls in PLAIN if cls._estimator_type != "classifier"}
    transformers -= {cls.__name__ for cls in LEARNERS}
    assert not transformers & {kind for kind, _ in expected}


def test_scikit_learns_own_pipeline_fails_the_same_check():
    peer = pipeline.make_pipeline(preprocessing.StandardScaler(), SGDRegressor(random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(peer, on_skip=None, on_fail=None)
    assert {r["check_name"] for r in results if r["status"] == "failed"} >= IN_PLACE


IRIS = datasets.load_iris()
X, Y = IRIS.data, IRIS.target
NAMES = IRIS.target_names[Y]


def scaled(model):
    return pipeline.make_pipeline(preprocessing.StandardScaler(), model)


def short(cls, **params):
    """A model that is quick, and warns of nothing."""
    if cls in ONLINE:
        return cls(random_state=0, max_iter=50, tol=None, **params)
    weak = {"alpha": 0.01} if cls in (Lasso, ElasticNet, BridgeRegressor) else {}
    return cls(**weak, **params)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
def test_pipeline_search_and_scores(cls):
    model = scaled(short(cls))
    # least squares of several classes mask each other
    assert model.fit(X, NAMES).score(X, NAMES) > (0.8 if cls is RidgeClassifier else 0.85)
    assert cross_val_score(model, X, NAMES, cv=3).mean() > 0.8
    step = model.steps[-1][0]
    grid = {f"{step}__average": [False, True], f"{step}__max_iter": [5, 30]}
    if cls not in ONLINE:
        grid = {f"{step}__fit_intercept": [False, True]}
    search = GridSearchCV(model, grid, cv=3, n_jobs=1)
    search.fit(X, NAMES)
    assert search.best_score_ > 0.8
    assert search.predict(X).dtype == NAMES.dtype
    assert isinstance(search.best_estimator_[-1], cls)


@pytest.mark.parametrize("cls", REGRESSORS, ids=name)
def test_regressors_in_pipeline_search_and_scores(cls):
    target = X @ [1.0, 2.0, -1.0, 0.5]
    model = scaled(short(cls))
    assert model.fit(X, target).score(X, target) > 0.95
    search = GridSearchCV(model, {f"{model.steps[-1][0]}__fit_intercept": [False, True]}, cv=3)
    assert search.fit(X, target).best_params_[f"{model.steps[-1][0]}__fit_intercept"] is True
    bagged = BaggingRegressor(model, n_estimators=3, random_state=0).fit(X, target)
    assert bagged.score(X, target) > 0.95
    two = MultiOutputRegressor(model).fit(X, np.column_stack([target, -target]))
    assert two.predict(X).shape == (150, 2)


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=name)
def test_meta_estimators(cls):
    model = scaled(short(cls))
    for outer in (
        CalibratedClassifierCV(model, cv=3),
        BaggingClassifier(model, n_estimators=3, random_state=0),
        OneVsRestClassifier(model),
        OneVsOneClassifier(model),
        StackingClassifier(
            [("a", model), ("b", scaled(short(Perceptron)))],
            final_estimator=scaled(short(SGDClassifier, loss="log_loss")),
            cv=3,
        ),
        VotingClassifier([("a", model), ("b", scaled(short(SGDClassifier)))]),
    ):
        outer.fit(X, NAMES)
        assert outer.score(X, NAMES) > 0.75, type(outer).__name__
        if isinstance(outer, CalibratedClassifierCV):
            np.testing.assert_allclose(outer.predict_proba(X).sum(axis=1), 1)
    boosted = AdaBoostClassifier(short(cls), n_estimators=3, random_state=0)
    assert boosted.fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
def test_clone_and_feature_selection(cls):
    params = {"fit_intercept": False}
    if cls in ONLINE:
        params = {"max_iter": 7, "tol": None, "random_state": 3, "average": 5}
    twin = base.clone(cls(**params).fit(X, Y > 0))
    assert not hasattr(twin, "coef_")
    assert {key: twin.get_params()[key] for key in params} == params
    chosen = SelectFromModel(short(cls), max_features=2, threshold=-np.inf).fit(X, Y > 0)
    assert chosen.transform(X).shape == (150, 2)
    with pytest.raises(NotFittedError):
        twin.predict(X)
    assert base.is_classifier(twin) == (cls in CLASSIFIERS)
    assert base.is_regressor(twin) == (cls in REGRESSORS)


def test_columns_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.Categorical(np.where(Y == 0, "one", "other"))
    columns = ColumnTransformer(
        [
            ("numbers", preprocessing.StandardScaler(), list("abcd")),
            ("kinds", preprocessing.OneHotEncoder(), ["kind"]),
        ]
    )
    model = pipeline.make_pipeline(columns, short(SGDClassifier)).fit(frame, NAMES)
    assert model.score(frame, NAMES) > 0.85
    named = scaled(short(SGDClassifier)).set_output(transform="pandas").fit(frame[list("abcd")], Y)
    assert named[-1].feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names should match"):
        named[-1].predict(frame[list("abdc")])


def test_sparse_steps():
    encoded = preprocessing.OneHotEncoder().fit_transform(X.astype(int))
    assert sparse.issparse(encoded)
    model = short(SGDClassifier).fit(encoded, Y)
    assert model.score(encoded, Y) > 0.8
    assert cross_val_score(short(Perceptron), encoded, Y, cv=3).mean() > 0.7


def test_weights_are_routed():
    weight = np.where(Y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = short(SGDClassifier).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(scaled_routed(model), {"sgd__average": [False, True]}, cv=3)
        search.fit(X, Y, sample_weight=weight)
        with_weights = search.best_estimator_.named_steps["sgd"].coef_
        refused = GridSearchCV(scaled_routed(short(SGDClassifier)), {"sgd__average": [False]}, cv=3)
        with pytest.raises(ValueError, match="sample_weight"):
            refused.fit(X, Y, sample_weight=weight)
    search.fit(X, Y)
    assert not np.array_equal(with_weights, search.best_estimator_.named_steps["sgd"].coef_)


def scaled_routed(model):
    with_scaler = preprocessing.StandardScaler().set_fit_request(sample_weight=False)
    return pipeline.Pipeline([("scale", with_scaler), ("sgd", model)])


def test_warnings_and_errors_are_scikit_learns_own():
    with pytest.warns(ConvergenceWarning):
        SGDRegressor(max_iter=1).fit(X, Y)
    with pytest.raises(NotFittedError):
        SGDRegressor().predict(X)


def test_agreement_with_scikit_learn():
    """Not the same numbers, since the intercept learns otherwise, but the same quality."""
    from sklearn.linear_model import SGDClassifier as Peer

    data = datasets.make_classification(2000, 20, n_informative=8, random_state=0)
    ours, theirs = (
        np.mean(
            [
                cross_val_score(scaled(cls("log_loss", random_state=seed)), *data, cv=3).mean()
                for seed in range(3)
            ]
        )
        for cls in (SGDClassifier, Peer)
    )
    assert abs(ours - theirs) < 0.02
