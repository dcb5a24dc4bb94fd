"""Several labels per row: indicator matrices, sets of labels, thresholds."""

import io
import pickle

import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import (
    LinearSVC,
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    Pipeline,
    RidgeClassifier,
    SGDClassifier,
    cross_val_predict,
    cross_validate,
    tune_thresholds,
)
from fastlin._clone import clone
from fastlin._onepass import fit_together

pytestmark = pytest.mark.usefixtures("quiet")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 6))
Y = (X @ RNG.normal(size=(6, 4)) + RNG.normal(size=(90, 4)) > [0.5, 1.0, 0.0, 2.0]).astype(int)
W = RNG.integers(0, 4, 90) / 2
NAMES = np.array(["ant", "bee", "cow", "dog"])
SETS = [set(NAMES[row == 1]) for row in Y]
STEPS = {"max_iter": 5, "tol": None, "random_state": 0, "shuffle": False}
LEARNERS = [
    (Perceptron, STEPS),
    (Perceptron, {**STEPS, "average": "voted"}),
    (PassiveAggressiveClassifier, {**STEPS, "average": True}),
    (SGDClassifier, {**STEPS, "loss": "modified_huber", "multi_class": "ecoc"}),
    (SGDClassifier, {**STEPS, "loss": "log_loss", "multi_class": "joint"}),
    (LogisticRegression, {}),
    (LinearSVC, {"loss": "hinge", "C": 0.1}),
    (RidgeClassifier, {}),
]
each_learner = pytest.mark.parametrize(
    ("cls", "params"), LEARNERS, ids=lambda value: getattr(value, "__name__", None)
)


@each_learner
@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 2.0}])
def test_each_label_is_a_binary_problem(cls, params, class_weight):
    params = {**params, **({} if class_weight is None else {"class_weight": class_weight})}
    for weight in (None, W):
        model = cls(**params).fit(X, Y, sample_weight=weight)
        assert model.classes_.tolist() == [0, 1, 2, 3] and model.coef_.shape == (4, 6)
        assert not hasattr(model, "code_")
        z = model.decision_function(X)
        for k in range(4):
            alone = cls(**params).fit(X, Y[:, k], sample_weight=weight)
            # a problem with a seed of its own ends a little elsewhere
            tolerance = 1e-2 if cls is LinearSVC else 1e-9
            np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=tolerance)
            np.testing.assert_allclose(z[:, k], alone.decision_function(X), atol=10 * tolerance)
            if hasattr(alone, "predict_proba"):
                np.testing.assert_allclose(
                    model.predict_proba(X)[:, k], alone.predict_proba(X)[:, 1], atol=1e-9
                )
                with np.errstate(divide="ignore"):
                    np.testing.assert_allclose(
                        model.predict_log_proba(X)[:, k], alone.predict_log_proba(X)[:, 1],
                        rtol=1e-9, atol=1e-9,
                    )  # fmt: skip
        assert hasattr(model, "predict_proba") == hasattr(alone, "predict_proba")
        np.testing.assert_array_equal(model.predict(X), z > 0)


@each_learner
def test_every_form_of_y_gives_the_same_model(cls, params):
    model = cls(**params).fit(X, Y)
    before = Y.copy()
    as_sets = [SETS, tuple(map(frozenset, SETS)), [sorted(labels) for labels in SETS],
               np.array([*map(list, SETS), None], dtype=object)[:-1]]  # fmt: skip
    for form in (sparse.csr_matrix(Y), sparse.coo_array(Y), Y.astype(bool), Y.astype(np.float32),
                 Y.tolist(), list(Y), np.asfortranarray(Y), *as_sets):  # fmt: skip
        other = cls(**params).fit(X, form)
        np.testing.assert_array_equal(other.coef_, model.coef_)
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
        assert other.predict(X).dtype == np.int64
        names = any(form is one for one in as_sets)
        assert other.classes_.tolist() == (NAMES.tolist() if names else [0, 1, 2, 3])
        right = (model.predict(X) == Y).all(axis=1)
        assert other.score(X, form) == pytest.approx(right.mean())
        assert other.score(X, form, sample_weight=W) == pytest.approx(np.average(right, weights=W))
    np.testing.assert_array_equal(Y, before)
    wanted = [set(NAMES[row == 1]) for row in model.predict(X)]
    assert other.predict_labels(X) == wanted
    # a label that was not seen is never right
    assert other.score(X, [labels | {"zebra"} for labels in SETS]) == 0


@each_learner
def test_scikit_learns_one_against_the_rest(cls, params):
    multiclass = pytest.importorskip("sklearn.multiclass")
    params = {key: value for key, value in params.items() if key != "multi_class"}
    model = cls(**params).fit(X, Y)
    peer = multiclass.OneVsRestClassifier(cls(**params)).fit(X, Y)
    tolerance = 1e-1 if cls is LinearSVC else 1e-9
    np.testing.assert_allclose(
        model.decision_function(X), peer.decision_function(X), atol=tolerance
    )
    assert model.score(X, Y) == pytest.approx(peer.score(X, Y), abs=0.02)
    if params.get("average") == "voted":
        return
    theirs = model.to_sklearn()
    np.testing.assert_allclose(theirs.decision_function(X), model.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(theirs.predict_proba(X), model.predict_proba(X), atol=1e-9)
    model.thresholds_ = np.ones(4)
    with pytest.raises(ValueError, match="no equal of thresholds_"):
        model.to_sklearn()


@each_learner
def test_labels_of_all_rows_or_of_none(cls, params):
    y = np.column_stack([Y[:, 0], np.zeros(90, int), np.ones(90, int), Y[:, 1]])
    with (
        pytest.warns(UserWarning, match="all rows have the labels 2"),
        pytest.warns(UserWarning, match="no row has the labels 1"),
    ):
        model = cls(**params).fit(X, y)
    predicted = model.predict(X)
    assert (predicted[:, 1] == 0).all() and (predicted[:, 2] == 1).all()
    z = model.decision_function(X)
    assert (z[:, 1] == -np.inf).all() and (z[:, 2] == np.inf).all()
    np.testing.assert_allclose(model.coef_[0], cls(**params).fit(X, Y).coef_[0], atol=1e-9)
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X)
        assert (p[:, 1] == 0).all() and (p[:, 2] == 1).all()
        assert ((p[:, [0, 3]] > 0) & (p[:, [0, 3]] < 1)).all()
    # by weights of 0, and with nothing to learn at all
    with pytest.warns(UserWarning, match="no row has the labels 0"):
        model = cls(**params).fit(X, Y, sample_weight=1.0 - Y[:, 0])
    assert not model.predict(X)[:, 0].any() and model.predict(X)[:, 1:].any()
    with pytest.warns(UserWarning, match="all rows have the labels 'a', 'b'"):
        model = cls(**params).fit(X[:3], [{"a", "b"}] * 3)
    assert model.predict_labels(X[:2]) == [{"a", "b"}] * 2


def test_rows_that_lack_all_labels_are_scored():
    model = LogisticRegression().fit(X, SETS)
    nothing = (model.predict(X) == 0).all(axis=1)
    for empty in (np.zeros_like(Y), [set()] * len(X), [[]] * len(X)):
        assert model.score(X, empty) == nothing.mean()


def test_one_label_alone_keeps_its_column():
    for y in ([{"a"} if row[0] else set() for row in Y], sparse.csr_matrix(Y[:, :1])):
        model = LogisticRegression().fit(X, y)
        assert model.coef_.shape == (1, 6)
        for answer in (model.decision_function(X), model.predict(X), model.predict_proba(X)):
            assert answer.shape == (90, 1)
        assert model.score(X, y) > 0.6


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y + 1, "zeros and ones with a column per label, got 2 in an array of shape"),
        (np.where(Y, np.nan, 0), "got nan in an array"),
        (sparse.csr_matrix(Y * 2), "zeros and ones .* got 2"),
        (sparse.csr_matrix(Y[:-1]), "same number of rows: X has 90 and y has 89"),
        (SETS[:-1], "same number of rows"),
        (np.where(Y, "1", "0"), "zeros and ones .* got"),
        (Y * 1j, "Complex data not supported"),
        (Y[:, :, None], "1d array"),
        (Y[:, :0], "at least one label"),
        ([set()] * 90, "at least one label"),
        ([*SETS[:-1], "ant"], "a set of labels for each row, as others, got 'ant' at position 89"),
        ([*SETS[:-1], None], "a set of labels for each row"),
        ([*SETS[:-1], {1}], "strings"),
        ([*SETS[:-1], [["ant"]]], "hashed"),
        ([{0.5}] * 90, "continuous"),
    ],
    ids=str,
)
def test_hostile_labels(y, message):
    for cls in (Perceptron, LogisticRegression):
        with pytest.raises((ValueError, TypeError), match=message):
            cls().fit(X, y)


def test_what_takes_one_label_only():
    with pytest.raises(ValueError, match="1d array"):
        LogisticRegressionCV().fit(X, Y)
    with pytest.raises(ValueError, match="leave_one_out; for several use cross_val_predict"):
        fastlin.leave_one_out(LogisticRegression(), X, Y)
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(ValueError, match=r"scorer\(\) predicts one class per row"):
        model.scorer()
    for y in (Y[:, 0], Y[:, :3], NAMES[Y[:, 0]]):
        with pytest.raises(ValueError, match="y must"):
            model.score(X, y)
    with pytest.raises(ValueError, match="class_weight names labels that are not in y: 'ant'"):
        LogisticRegression(class_weight={"ant": 2.0}).fit(X, SETS)
    with pytest.raises(ValueError, match="class_weight must leave a weight above 0"):
        LogisticRegression(class_weight={0: 0.0, 1: 0.0}).fit(X, Y)
    one = LogisticRegression().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="predict_labels is for models of several labels"):
        one.predict_labels(X)
    # and back again
    assert not hasattr(model.fit(X, NAMES[Y[:, 0]]), "thresholds_")
    assert set(model.predict(X)) <= set(NAMES)


@each_learner
def test_files_and_thresholds(cls, params):
    model = cls(**params).fit(X, SETS)
    assert (model.thresholds_ == 0).all()
    z = model.decision_function(X)
    model.thresholds_ = np.median(z, axis=0)
    np.testing.assert_array_equal(model.predict(X), z > np.median(z, axis=0))
    file = io.BytesIO()
    fastlin.save(model, file)
    for twin in (fastlin.load(io.BytesIO(file.getvalue())), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        assert twin.predict_labels(X[:5]) == model.predict_labels(X[:5])
    for wrong in ([0.0, 1.0], "high", [np.nan] * 4, None):
        model.thresholds_ = wrong
        with pytest.raises(ValueError, match="thresholds_ must hold a number for each of the 4"):
            model.predict(X)
    assert not hasattr(clone(model), "thresholds_")


@pytest.mark.parametrize("average", [False, 3, "voted"])
def test_streams(average):
    params = {**STEPS, "max_iter": 1, "average": average}
    whole = Perceptron(**params).fit(X, Y)
    batches = [slice(start, start + 30) for start in range(0, 90, 30)]
    by_matrix, by_sets = Perceptron(**params), Perceptron(**params)
    for part in batches:
        by_matrix.partial_fit(X[part], Y[part])
        by_sets.partial_fit(X[part], SETS[part], classes=NAMES)
    for stream in (by_matrix, by_sets):
        np.testing.assert_allclose(stream.coef_, whole.coef_, atol=1e-12)
        np.testing.assert_allclose(
            stream.decision_function(X), whole.decision_function(X), atol=1e-9
        )
    assert by_sets.classes_.tolist() == NAMES.tolist()
    by_sets.thresholds_ = np.arange(4.0)
    by_sets.partial_fit(X[:1], [set()])
    assert by_sets.thresholds_.tolist() == [0, 1, 2, 3]
    before = by_sets.coef_.copy()
    for y, more, message in (
        (Y[:, :3], {}, "a column for each label"),
        (Y[:, 0], {}, "as in the first call to partial_fit: a matrix"),
        ([{"zebra"}] * 90, {}, "not among the classes: 'zebra'"),
        (SETS, {"grow": True}, "grow must be False"),
        (SETS, {"classes": list("ab")}, "classes of this call"),
    ):
        with pytest.raises(ValueError, match=message):
            by_sets.partial_fit(X, y, **more)
        np.testing.assert_array_equal(by_sets.coef_, before)
        assert by_sets.thresholds_.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        Perceptron().partial_fit(X, SETS)
    with pytest.raises(ValueError, match="as in the first call .* one label for each row"):
        Perceptron().fit(X, Y[:, 0]).partial_fit(X, Y)


@pytest.mark.parametrize("cls", [Perceptron, LogisticRegression])
def test_warm_start(cls):
    model = cls(warm_start=True).fit(X, Y)
    again = clone(model).fit(X, Y).fit(X, Y)
    if cls is LogisticRegression:
        assert (again.n_iter_ < model.n_iter_).all()
    else:
        assert (again.coef_ != model.coef_).any()
    with pytest.raises(ValueError, match="warm_start goes on from the labels 0, 1, 2, 3, but"):
        model.fit(X, SETS)
    # a label that nothing was learnt of begins at zero
    once = np.column_stack([Y[:, :3], np.zeros(90, int)])
    with pytest.warns(UserWarning, match="no row has"):
        again = clone(model).fit(X, once)
    assert np.isfinite(again.fit(X, Y).decision_function(X)).all()


@pytest.mark.parametrize(("cls", "params"), [LEARNERS[4], LEARNERS[5]])
def test_folds(cls, params):
    pytest.importorskip("sklearn")
    from sklearn.metrics import f1_score

    model = cls(**params)
    held = np.empty((90, 4))
    scores = []
    for k in range(3):
        test = np.arange(30 * k, 30 * k + 30)
        train = np.setdiff1d(np.arange(90), test)
        fit = clone(model).fit(X[train], Y[train])
        held[test] = fit.decision_function(X[test])
        scores.append(
            [fit.score(X[test], Y[test]), f1_score(Y[test], fit.predict(X[test]), average="macro")]
        )
    named = ["accuracy", "f1_macro"]
    for form in (Y, sparse.csr_matrix(Y), SETS):
        answers = cross_val_predict(model, X, form, cv=3, method="decision_function")
        np.testing.assert_allclose(answers, held, atol=1e-9)
        done = cross_validate(model, X, form, cv=3, scoring=named)
        found = np.column_stack([done[f"test_{name}"] for name in named])
        np.testing.assert_allclose(found, scores)
        search = fastlin.GridSearchCV(model, {"fit_intercept": [True, False]}, cv=3).fit(X, form)
        place = search.cv_results_["params"].index({"fit_intercept": True})
        assert search.cv_results_["mean_test_score"][place] == pytest.approx(
            np.mean(scores, axis=0)[0]
        )
        assert search.predict(X).shape == (90, 4)
        with pytest.raises(ValueError, match="scoring='f1' is not for several labels"):
            cross_validate(model, X, form, cv=3, scoring="f1", error_score="raise")
    if hasattr(model, "partial_fit"):
        np.testing.assert_allclose(model.fit(X, SETS, cv=3).oof_decision_, held, atol=1e-9)
    with pytest.raises(ValueError, match="1d array"):
        fit_together([clone(model).set_params(multi_class="ovr")], X, Y, [np.arange(90)])


def slow_best_f1(z, y, weight):
    """The best F1 over all thresholds."""
    best = 0.0
    for threshold in [-np.inf, *z]:
        says = z > threshold
        both = weight @ (says & (y == 1))
        best = max(best, 2 * both / max(weight @ says + weight @ (y == 1), 1e-300))
    return best


@pytest.mark.parametrize("weight", [None, W + 0.5])
def test_tuned_thresholds_are_the_best(weight):
    model = LogisticRegression(C=0.05)
    tuned = tune_thresholds(model, X, SETS, cv=3, sample_weight=weight)
    assert tuned is model and tuned.classes_.tolist() == NAMES.tolist()
    params = {} if weight is None else {"sample_weight": weight}
    z = cross_val_predict(
        LogisticRegression(C=0.05), X, Y, cv=3, method="decision_function", params=params
    )
    mass = np.ones(90) if weight is None else weight
    for k in range(4):
        says = z[:, k] > model.thresholds_[k]
        both = mass @ (says & (Y[:, k] == 1))
        f1 = 2 * both / (mass @ says + mass @ Y[:, k])
        assert f1 == pytest.approx(slow_best_f1(z[:, k], Y[:, k], mass))
        # a threshold is not moved for nothing
        unmoved = mass @ ((z[:, k] > 0) & (Y[:, k] == 1))
        is_best = 2 * unmoved / (mass @ (z[:, k] > 0) + mass @ Y[:, k]) == pytest.approx(f1)
        assert (model.thresholds_[k] == 0) == is_best
    np.testing.assert_array_equal(
        model.predict(X), model.decision_function(X) > model.thresholds_
    )
    plain = LogisticRegression(C=0.05).fit(X, SETS, sample_weight=weight)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    accurate = tune_thresholds(LogisticRegression(C=0.05), X, Y, cv=3, scoring="accuracy")
    own = tune_thresholds(
        LogisticRegression(C=0.05), X, Y, cv=3, scoring=lambda tp, fp, fn, tn: tp + tn
    )
    np.testing.assert_array_equal(accurate.thresholds_, own.thresholds_)


def test_thresholds_of_pipelines_and_constant_labels():
    pipe = Pipeline([("learn", SGDClassifier(**STEPS))])
    assert tune_thresholds(pipe, X, Y, cv=3, sample_weight=W + 1) is pipe
    assert pipe.steps[-1][1].thresholds_.any()
    np.testing.assert_array_equal(
        pipe.predict(X), pipe.decision_function(X) > pipe.steps[-1][1].thresholds_
    )
    # a rare label that nothing tells: F1 would have every row get it
    noise = np.zeros((90, 2), int)
    noise[[5, 40, 80], 0] = noise[[12, 33, 71], 1] = 1
    weak = LogisticRegression(C=1e-6)
    assert tune_thresholds(weak, X, noise, cv=3, min_score=0.5).thresholds_.tolist() == [0, 0]
    assert (tune_thresholds(weak, X, noise, cv=3, min_score=0.0).thresholds_ < 0).all()
    rare = np.zeros((90, 3), int)
    rare[0, 0] = rare[:, 2] = 1
    with pytest.warns(UserWarning, match="the same for every row"):
        model = tune_thresholds(LogisticRegression(), X, rare, cv=3)
    assert np.isfinite(model.thresholds_).all()
    assert (model.predict(X)[:, 1:] == [0, 1]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((LogisticRegression(), X, Y[:, 0]), "y must be a matrix of zeros and ones"),
        ((LogisticRegressionCV(), X, Y), "estimator must be a classifier of fastlin that takes"),
        ((fastlin.SGDRegressor(), X, Y), "estimator must be a classifier of fastlin that takes"),
        ((LogisticRegression(), X, Y, "f2"), "scoring must be one of"),
        ((LogisticRegression(), X, Y, "f1", "low"), "min_score must be"),
        ((LogisticRegression(), X, Y, lambda *counts: 0), "scoring must return a number for each"),
        ((LogisticRegression(), X, Y, lambda *c: c[0] * np.nan), "scoring must return a number"),
    ],
)
def test_hostile_tuning(arguments, message):
    estimator, X, y, *scoring = arguments
    with pytest.raises(ValueError, match=message):
        tune_thresholds(
            estimator, X, y, **dict(zip(["scoring", "min_score"], scoring, strict=False))
        )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("cls", [LogisticRegression, SGDClassifier])
def test_the_columns_of_a_frame_name_the_labels(cls, library):
    module = pytest.importorskip(library)
    make = module.table if library == "pyarrow" else module.DataFrame

    def frame(order, values=Y):
        return make({str(NAMES[k]): values[:, k] for k in order})

    model, expected = cls(random_state=0).fit(X, frame(range(4))), cls(random_state=0).fit(X, Y)
    assert model.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.predict_labels(X[:1]) == [
        {str(NAMES[k]) for k in np.flatnonzero(model.predict(X[:1])[0])}
    ]
    # whatever order a later frame has them in; a matrix without names goes by number
    score = expected.score(X, Y)
    assert model.score(X, frame([2, 0, 3, 1])) == model.score(X, Y) == score
    with pytest.raises(ValueError, match="column for each of the 4 labels"):
        model.score(X, make({name: Y[:, k] for k, name in enumerate("abcd")}))
    if cls is SGDClassifier:
        streamed = clone(model).partial_fit(X, frame([1, 0, 2, 3]), classes=NAMES)
        streamed.partial_fit(X, frame(range(4)))
        other = clone(model).partial_fit(X, Y[:, [1, 0, 2, 3]]).partial_fit(X, Y[:, [1, 0, 2, 3]])
        assert streamed.classes_.tolist() == NAMES[[1, 0, 2, 3]].tolist()
        np.testing.assert_array_equal(streamed.coef_, other.coef_)


def test_a_one_hot_matrix_of_floats_is_labels_as_scikit_learn_says():
    pandas = pytest.importorskip("pandas")
    kind = pytest.importorskip("sklearn.utils.multiclass").type_of_target
    frame = pandas.DataFrame(np.eye(3)[np.arange(90) % 3], columns=["a", "b", "c"])
    shares = 0.9 * frame + 0.1 / 3
    assert kind(frame) == "multilabel-indicator" != kind(shares)
    model = LogisticRegression().fit(X, frame)
    assert model.predict(X).shape == (90, 3) and model.classes_.tolist() == ["a", "b", "c"]
    # fractions are no labels: they are shares of classes
    model.fit(X, shares)
    assert model.predict(X).shape == (90,) and model.classes_.tolist() == ["a", "b", "c"]
    # the names need not be in order, nor the columns of a later frame
    model.fit(X, shares[["c", "a", "b"]])
    share = shares.to_numpy()[np.arange(90), [ord(name) - ord("a") for name in model.predict(X)]]
    assert model.score(X, shares) == model.score(X, shares[["b", "c", "a"]]) == share.mean()
    with pytest.raises(ValueError, match="a column for each class, 'c', 'a', 'b', got 'x', 'y'"):
        model.score(X, shares[["a", "b"]].set_axis(["x", "y"], axis=1))
