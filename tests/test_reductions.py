"""Several classes by the binary problems of a code: one against one, error-correcting codes."""

import copy
import io
import math
import pickle

import numpy as np
import pytest
from reference import LOSSES as SLOW_LOSSES

import fastlin
from fastlin import (
    LinearSVC,
    LogisticRegression,
    OutputCode,
    PassiveAggressiveClassifier,
    Perceptron,
    SGDClassifier,
    cross_val_predict,
    cross_validate,
    leave_one_out,
)
from fastlin._clone import clone

pytestmark = pytest.mark.usefixtures("quiet")

RNG = np.random.default_rng(0)
Y = np.array(["d", "b", "a", "c"])[np.arange(120) % 4]
X = RNG.normal(size=(120, 5)) + 1.5 * np.array([RNG.normal(size=5) for _ in "abcd"])[
    np.searchsorted(list("abcd"), Y)
]
W = RNG.integers(1, 4, 120) / 2
STEPS = {"max_iter": 5, "tol": None, "random_state": 0}
LEARNERS = [
    (Perceptron, STEPS, "perceptron"),
    (Perceptron, {**STEPS, "average": "voted", "margin": 0.5}, "perceptron"),
    (PassiveAggressiveClassifier, STEPS, "hinge"),
    (SGDClassifier, {**STEPS, "loss": "modified_huber"}, "modified_huber"),
    (SGDClassifier, {**STEPS, "loss": "squared_error", "eta0": 1e-2, "optimizer": "adam"},
     "squared_error"),
    (LogisticRegression, {}, "log_loss"),
    (LinearSVC, {"loss": "hinge", "tol": 1e-6}, "hinge"),
]  # fmt: skip
each_learner = pytest.mark.parametrize(
    ("cls", "params", "loss"), LEARNERS, ids=lambda v: getattr(v, "__name__", None)
)


def columns_alone(model, X, y, weight=None):
    """The responses of binary learners that are fitted on the rows of each column alone."""
    responses = []
    for column in model.code_.T:
        signs = column[np.searchsorted(model.classes_, y)]
        part = clone(model).set_params(multi_class="ovr", class_weight=None)
        given = {} if weight is None else {"sample_weight": weight[signs != 0]}
        part.fit(X[signs != 0], signs[signs != 0], **given)
        responses.append(part.decision_function(X))
    return np.array(responses)


def slow_scores(model, responses, decoding, loss, parameter):
    """Decoding as the paper has it, entry by entry."""
    def value(z, m, parameter):
        return SLOW_LOSSES[loss](z, m, parameter)[0]

    scores = np.zeros((responses.shape[1], len(model.code_)))
    for i, f in enumerate(responses.T):
        for k, row in enumerate(model.code_):
            for m, z in zip(row, f, strict=True):
                if decoding == "hamming":
                    scores[i, k] -= (1 - m * (1 if z > 0 else -1)) / 2
                else:
                    # of a loss of targets, that of the target m; in place of 0 any sign of z = 0
                    scores[i, k] -= value(z, m, parameter) if m else value(0.0, 1, parameter)
    return scores


@each_learner
@pytest.mark.parametrize("decoding", ["loss", "hamming"])
def test_codes_are_decoded_like_the_paper_says(cls, params, loss, decoding):
    code = OutputCode("sparse", size=7, decoding=decoding, random_state=3)
    model = cls(**params, multi_class=code).fit(X, Y)
    assert model.code_.shape == (4, 7) == (len(model.classes_), len(model.coef_))
    assert (model.code_ == 0).any()
    if params.get("average") != "voted":
        responses = model.coef_ @ X.T + model.intercept_[:, None]
    else:
        shuffled = columns_alone(clone(model).set_params(shuffle=False).fit(X, Y), X, Y)
        model.set_params(shuffle=False).fit(X, Y)
        responses = shuffled
    parameter = getattr(model, "margin", 1.0)
    expected = slow_scores(model, responses, decoding, loss, parameter)
    found = model.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[found.argmax(axis=1)])
    assert model.score(X, Y) > 0.8


@each_learner
def test_one_against_one_is_that_of_scikit_learn(cls, params, loss):
    multiclass = pytest.importorskip("sklearn.multiclass")
    params = {**params, **({"shuffle": False} if "max_iter" in params else {})}
    model = cls(**params, multi_class="ovo").fit(X, Y)
    assert model.code_.shape == (4, 6) and (np.abs(model.code_).sum(axis=0) == 2).all()
    peer = multiclass.OneVsOneClassifier(cls(**params, multi_class="ovr")).fit(X, Y)
    if params.get("average") != "voted":
        theirs = np.concatenate([part.coef_ for part in peer.estimators_])
        np.testing.assert_allclose(model.coef_, theirs, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
    if params.get("average") == "voted":
        return
    theirs = model.to_sklearn()
    assert type(theirs) is multiclass.OneVsOneClassifier
    np.testing.assert_allclose(theirs.decision_function(X), model.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))


@each_learner
@pytest.mark.parametrize("multi_class", ["ovo", "ecoc"])
def test_weights_and_absent_classes(cls, params, loss, multi_class):
    params = {**params, **({"shuffle": False} if "max_iter" in params else {})}
    if "solver" in clone(cls()).get_params():
        params["tol"] = 1e-9
    model = cls(**params, multi_class=multi_class, class_weight={"a": 2.0})
    model.fit(X, Y, sample_weight=W)
    alone = columns_alone(model, X, Y, W * np.where(Y == "a", 2.0, 1.0))
    if params.get("average") != "voted":
        tolerance = 1e-3 if cls is LinearSVC else 1e-6
        np.testing.assert_allclose(
            model.coef_ @ X.T + model.intercept_[:, None], alone, rtol=tolerance, atol=tolerance
        )
    without = np.where(Y == "b", 0.0, W)
    with pytest.warns(UserWarning, match="all rows of the classes 'b' have weight 0"):
        model.fit(X, Y, sample_weight=without)
    assert not model.code_[1].any() and model.code_[[0, 2, 3]].any(axis=1).all()
    few = clone(model).fit(X[Y != "b"], Y[Y != "b"], sample_weight=W[Y != "b"])
    scores = model.decision_function(X)
    assert np.isneginf(scores[:, 1]).all()
    np.testing.assert_allclose(scores[:, [0, 2, 3]], few.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), few.predict(X))


def test_two_classes_are_one_problem():
    two = Y < "c"
    for cls, params, _ in LEARNERS:
        plain = cls(**params, multi_class="ovr").fit(X, two)
        for multi_class in ("ovo", "ecoc", OutputCode("exhaustive")):
            model = cls(**params, multi_class=multi_class).fit(X, two)
            np.testing.assert_array_equal(model.coef_, plain.coef_)
            np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
            assert model.code_.tolist() == [[-1], [1]]
            assert hasattr(model, "predict_proba") == hasattr(plain, "predict_proba")
        # three classes of which one has no weight are one problem as well
        weight = (Y != "a").astype(float)
        with pytest.warns(UserWarning, match="'a'"):
            model = cls(**params, multi_class="ovo")
            model.fit(X[Y != "d"], Y[Y != "d"], sample_weight=weight[Y != "d"])
        assert model.code_.shape == (3, 1) and set(model.predict(X)) == {"b", "c"}


# codes


@pytest.mark.parametrize("K", [3, 4, 5, 6, 10, 26])
@pytest.mark.parametrize("kind", ["dense", "sparse", "exhaustive"])
def test_codes(kind, K):
    if kind == "exhaustive" and K > 11:
        with pytest.raises(ValueError, match="at most 11 classes, got 26; use OutputCode"):
            OutputCode(kind).code(K)
        return
    code = OutputCode(kind).code(K)
    assert code.dtype == np.int8 and len(code) == K
    assert set(np.unique(code)) == ({-1, 0, 1} if kind == "sparse" else {-1, 1})
    assert (code.min(axis=0) == -1).all() and (code.max(axis=0) == 1).all()
    either = {tuple(column) for column in np.hstack([code, -code]).T.tolist()}
    assert len(either) == 2 * code.shape[1]
    all_of_them = ((3**K - 2 ** (K + 1) + 1) // 2) if kind == "sparse" else 2 ** (K - 1) - 1
    wanted = {"dense": math.ceil(10 * math.log2(K)), "sparse": math.ceil(15 * math.log2(K))}
    assert code.shape[1] == min(all_of_them, wanted.get(kind, all_of_them))
    # any two classes are told apart by some column
    opposed = [(code[i] * code[j] < 0).sum() for i in range(K) for j in range(i)]
    assert min(opposed) > 0
    np.testing.assert_array_equal(code, OutputCode(kind).code(K))
    if kind != "exhaustive" and K > 6:
        assert (code != OutputCode(kind, random_state=1).code(K)).any()
        # the best of many is better than most
        agreement = code.astype(int) @ code.T - 1000 * np.eye(K, dtype=int)
        assert (code.shape[1] - agreement.max()) / 2 > 0.34 * code.shape[1]


@pytest.mark.parametrize(("kind", "K"), [("dense", 8), ("sparse", 8), ("dense", 30)])
def test_the_shortest_codes_still_tell_classes_apart(kind, K):
    least = math.ceil(math.log2(K))
    code = OutputCode(kind, size=least).code(K)
    assert code.shape == (K, least) and len({tuple(row) for row in code.tolist()}) == K
    with pytest.raises(ValueError, match=f"size must be at least {least} to tell {K} classes"):
        OutputCode(kind, size=least - 1).code(K)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "ovo"}, "kind must be one of"),
        ({"size": 0}, "size must be an integer in"),
        ({"size": 10**9}, "size must be an integer in"),
        ({"size": 2.0}, "size must be an integer in"),
        ({"decoding": "votes"}, "decoding must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"random_state": None}, "random_state must be"),
        ({"kind": "exhaustive", "size": 7}, "size must be None for kind 'exhaustive'"),
    ],
)
def test_hostile_codes(given, message):
    with pytest.raises(ValueError, match=message):
        OutputCode(**given)


def test_codes_are_values():
    code = OutputCode("sparse", 9, "hamming", 4)
    assert repr(code) == "OutputCode(kind='sparse', size=9, decoding='hamming', random_state=4)"
    assert eval(repr(code)) == code != OutputCode("sparse", 9, "hamming", 5)
    assert pickle.loads(pickle.dumps(code)) == code == copy.deepcopy(code)
    with pytest.raises(AttributeError):
        code.size = 3
    # a file that was tampered with
    object.__setattr__(code, "kind", "secret")
    file = io.BytesIO()
    fastlin.save(Perceptron(multi_class=code), file)
    with pytest.raises(ValueError, match="cannot be loaded"):
        fastlin.load(io.BytesIO(file.getvalue()))
    for wrong in ("ova", OutputCode, None, ["ovo"], {"kind": "dense"}):
        with pytest.raises(ValueError, match="multi_class must be .*an instance of OutputCode"):
            LogisticRegression(multi_class=wrong).fit(X, Y)
    with pytest.raises(ValueError, match="size must be at least 2"):
        Perceptron(multi_class=OutputCode(size=1)).fit(X, Y)


# around a fit


@each_learner
@pytest.mark.parametrize("multi_class", ["ovo", OutputCode("sparse", 5, "hamming")])
def test_files_and_what_a_code_does_not_have(cls, params, loss, multi_class):
    model = cls(**params, multi_class=multi_class).fit(X, Y)
    file = io.BytesIO()
    fastlin.save(model, file)
    for twin in (fastlin.load(io.BytesIO(file.getvalue())), pickle.loads(pickle.dumps(model))):
        assert twin.get_params() == model.get_params()
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(twin.code_, model.code_)
    assert not hasattr(model, "predict_proba") and not hasattr(clone(model), "predict_proba")
    with pytest.raises(AttributeError, match="not available for multi_class=.*use 'ovr', or cal"):
        model.predict_proba(X)
    with pytest.raises(ValueError, match=r"scorer\(\) needs"):
        model.scorer()
    if multi_class != "ovo":
        pytest.importorskip("sklearn")
        with pytest.raises(ValueError, match="no equal of"):
            model.to_sklearn()
    model.code_ = model.code_[:, 1:]
    with pytest.raises(ValueError, match="code_ of this"):
        model.predict(X)
    model.set_params(multi_class="ovr").fit(X, Y)
    assert not hasattr(model, "code_") and model.coef_.shape == (4, 5)
    model.predict(X)


@pytest.mark.parametrize(("cls", "params"), [
    (Perceptron, {**STEPS, "shuffle": False}), (SGDClassifier, {**STEPS, "shuffle": False}),
    (LogisticRegression, {}), (LinearSVC, {}),
])  # fmt: skip
@pytest.mark.parametrize("multi_class", ["ovo", "ecoc"])
def test_folds(cls, params, multi_class):
    """What trains in one pass for one against the rest goes fold by fold here."""
    model = cls(**params, multi_class=multi_class)
    folds = [(np.flatnonzero(part != k), np.flatnonzero(part == k))
             for part in [np.arange(120) % 3] for k in range(3)]  # fmt: skip
    fits = [clone(model).fit(X[train], Y[train]) for train, _ in folds]
    scores = [fit.score(X[test], Y[test]) for fit, (_, test) in zip(fits, folds, strict=True)]
    done = cross_validate(model, X, Y, cv=folds, return_estimator=True)
    np.testing.assert_array_equal(done["test_score"], scores)
    for ours, fit in zip(done["estimator"], fits, strict=True):
        np.testing.assert_allclose(ours.coef_, fit.coef_, rtol=1e-9, atol=1e-12)
    held = cross_val_predict(model, X, Y, cv=folds, method="decision_function")
    for fit, (_, test) in zip(fits, folds, strict=True):
        np.testing.assert_allclose(held[test], fit.decision_function(X[test]), atol=1e-9)
    grid = {"multi_class": ["ovr", multi_class], "fit_intercept": [True, False]}
    search = fastlin.GridSearchCV(cls(**params), grid, cv=folds).fit(X, Y)
    place = search.cv_results_["params"].index({"fit_intercept": True, "multi_class": multi_class})
    assert search.cv_results_["mean_test_score"][place] == pytest.approx(np.mean(scores))
    if hasattr(model, "partial_fit"):
        np.testing.assert_allclose(model.fit(X, Y, cv=folds).oof_decision_, held, atol=1e-9)
    few = np.arange(16)
    one = clone(model).fit(X[few[1:]], Y[few[1:]]).decision_function(X[:1])
    np.testing.assert_allclose(leave_one_out(model, X[few], Y[few])[:1], one, atol=1e-6)
    if cls is LogisticRegression:
        with pytest.raises(ValueError, match="rows of a code"):
            leave_one_out(model, X[few], Y[few], method="approximate")


@pytest.mark.parametrize("params", [
    {"average": False}, {"average": 3}, {"average": "voted"}, {"penalty": "l1"},
])  # fmt: skip
@pytest.mark.parametrize("multi_class", ["ovo", "ecoc", OutputCode("sparse")])
def test_streams(params, multi_class):
    params = {"multi_class": multi_class, "shuffle": False, **STEPS, "max_iter": 1, **params}
    whole = Perceptron(**params).fit(X, Y)
    stream = Perceptron(**params)
    for start in range(0, 120, 30):
        part = slice(start, start + 30)
        stream.partial_fit(X[part], Y[part], classes=list("abcd"))
    np.testing.assert_array_equal(stream.code_, whole.code_)
    np.testing.assert_allclose(stream.coef_, whole.coef_, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(stream.decision_function(X), whole.decision_function(X), atol=1e-9)
    before = stream.coef_.copy()
    with pytest.raises(ValueError, match="multi_class can't change"):
        clone(stream).set_params(multi_class="ovr").fit(X, Y).set_params(
            multi_class=multi_class
        ).partial_fit(X, Y)
    if multi_class != "ovo":
        with pytest.raises(ValueError, match="grow must be False for an error-correcting code"):
            stream.partial_fit(X, np.full(120, "e"), grow=True)
    np.testing.assert_array_equal(stream.coef_, before)
    assert stream.code_.shape[0] == 4


@pytest.mark.parametrize("average", [False, "voted"])
def test_pairs_grow(average):
    model = Perceptron(multi_class="ovo", average=average)
    first, second = np.flatnonzero((Y[:60] == "b") | (Y[:60] == "d")), np.arange(60, 120)
    model.partial_fit(X[first], Y[first], grow=True)
    assert model.code_.shape == (2, 1)
    model.partial_fit(X[second], Y[second], grow=True)
    assert model.classes_.tolist() == list("abcd") and model.code_.shape == (4, 6)
    # only the pair of b and d has seen the first rows
    for column, w, b in zip(model.code_.T, model.coef_, model.intercept_, strict=True):
        pair = model.classes_[[column.argmin(), column.argmax()]]
        seen = np.r_[first, second] if pair.tolist() == ["b", "d"] else second
        seen = seen[np.isin(Y[seen], pair)]
        alone = Perceptron().partial_fit(X[seen], Y[seen], classes=pair)
        np.testing.assert_allclose(w, alone.coef_[0], atol=1e-12)
        assert b == alone.intercept_[0]
    assert model.score(X, Y) > 0.7
    before = model.coef_.copy()
    with pytest.raises(TypeError, match="one kind"):
        model.partial_fit(X, np.arange(120), grow=True)
    np.testing.assert_array_equal(model.coef_, before)
    model.partial_fit(X[:3], ["e", "a", "0"], grow=True)
    assert model.code_.shape == (6, 15) and np.isfinite(model.decision_function(X)).all()


def test_a_class_without_weight_in_fit_does_not_come_in_a_stream():
    with pytest.warns(UserWarning, match="weight 0"):
        model = Perceptron(multi_class="ovo").fit(X, Y, sample_weight=(Y != "b") * 1.0)
    model.partial_fit(X[Y != "b"], Y[Y != "b"])
    with pytest.raises(ValueError, match="y holds the class 'b', whose rows all had weight 0"):
        model.partial_fit(X, Y)


@pytest.mark.parametrize("cls", [Perceptron, LogisticRegression])
def test_warm_start(cls):
    model = cls(multi_class="ovo", warm_start=True).fit(X, Y)
    again = clone(model).fit(X, Y).fit(X, Y)
    assert np.max(again.n_iter_) <= np.max(model.n_iter_)
    with pytest.raises(ValueError, match="warm_start goes on from what another multi_class"):
        again.set_params(multi_class=OutputCode("sparse", 6)).fit(X, Y)
    three = cls(multi_class="ovr", warm_start=True).fit(X[Y > "a"], Y[Y > "a"])
    with pytest.raises(ValueError, match="another multi_class"):
        three.set_params(multi_class="ovo").fit(X[Y > "a"], Y[Y > "a"])


def test_early_stopping_holds_out_rows_of_each_column():
    params = {"early_stopping": True, "validation_fraction": 0.2, "random_state": 0}
    model = SGDClassifier(multi_class="ovo", **params).fit(X, Y)
    assert model.score(X, Y) > 0.8 and "validation_score" in model.trace_[0]
    few = np.r_[np.flatnonzero(Y > "b"), np.flatnonzero(Y <= "b")[:4]]
    with pytest.raises(ValueError, match=r"validation_fraction=0\.2 leaves a binary .* validate"):
        SGDClassifier(multi_class="ovo", **params).fit(X[few], Y[few])


def test_threads_make_no_difference():
    for cls in (Perceptron, LogisticRegression):
        one, two = (cls(multi_class="ecoc", n_jobs=n).fit(X, Y) for n in (1, 3))
        np.testing.assert_array_equal(one.coef_, two.coef_)


def test_as_good_as_one_against_the_rest_on_real_digits():
    datasets = pytest.importorskip("sklearn.datasets")
    D, digit = datasets.load_digits(return_X_y=True)
    learn, rest = np.arange(0, 1797, 3), np.arange(1, 1797, 3)
    every = ("ovr", "ovo", "ecoc", OutputCode("sparse"))
    for cls, params, ways in (
        (Perceptron, {"average": True, **STEPS}, every), (LinearSVC, {}, every[:2]),
    ):  # fmt: skip
        score = {
            multi_class: cls(**params, multi_class=multi_class)
            .fit(D[learn] / 16, digit[learn])
            .score(D[rest] / 16, digit[rest])
            for multi_class in ways
        }
        assert score["ovo"] > score["ovr"] - 0.005
        assert score.get(OutputCode("sparse"), 1) > score["ovr"] - 0.02
        assert score.get("ecoc", 1) > score["ovr"] - 0.05
