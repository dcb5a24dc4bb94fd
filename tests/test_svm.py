"""LinearSVC and LinearSVR as a user meets them."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import LinearSVC, LinearSVR
from fastlin._exceptions import ConvergenceWarning

CLASSIFIER_LOSSES = ["hinge", "squared_hinge"]
REGRESSOR_LOSSES = ["epsilon_insensitive", "squared_epsilon_insensitive"]


def data(n=80, d=5, seed=0, shift=0.3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + shift
    z = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    return X, np.where(z > 0.2, "yes", "no"), z + 3


def errors(model, X, y):
    """What the loss makes of each row."""
    z = X @ np.ravel(model.coef_) + np.ravel(model.intercept_)[0]
    if hasattr(model, "classes_"):
        e = np.maximum(0, 1 - np.where(y == model.classes_[1], 1, -1) * z)
    else:
        e = np.maximum(0, np.abs(y - z) - model.epsilon)
    return e**2 if model.loss.startswith("squared") else e


def objective(model, X, y, weight=None):
    weight = np.ones(len(y)) if weight is None else weight
    w = np.ravel(model.coef_)
    return 0.5 * w @ w + model.C * (weight * errors(model, X, y)).sum()


MODELS = [
    *((LinearSVC, loss, 1) for loss in CLASSIFIER_LOSSES),
    *((LinearSVR, loss, 2) for loss in REGRESSOR_LOSSES),
]
each_model = pytest.mark.parametrize(
    ("cls", "loss", "which"), MODELS, ids=[f"{m[0].__name__} {m[1]}" for m in MODELS]
)


@each_model
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_objective_and_gap_are_what_they_are_said_to_be(cls, loss, which, fit_intercept, weighted):
    X, y = data()[0], data()[which]
    weight = np.linspace(0, 3, len(y)) if weighted else None
    model = cls(loss=loss, C=0.1, tol=1e-7, fit_intercept=fit_intercept, max_iter=20_000)
    model.fit(X, y, weight)
    total = len(y) if weight is None else weight.sum()
    found = objective(model, X, y, weight)
    assert np.ravel(model.objective_)[0] * model.C * total == pytest.approx(found, rel=1e-10)
    assert 0 <= np.ravel(model.duality_gap_)[0] <= 1e-7
    assert model.n_iter_ >= 1
    # no step in any direction helps
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = cls(loss=loss, C=0.1)
        other.__dict__.update(vars(model))
        other.coef_ = model.coef_ + 1e-3 * rng.normal(size=model.coef_.shape)
        other.intercept_ = model.intercept_ + 1e-3 * rng.normal() * fit_intercept
        assert objective(other, X, y, weight) >= found * (1 - 1e-7)


@each_model
def test_agreement_with_scikit_learn(cls, loss, which):
    """Without an intercept the problem is the same; with one, theirs is only nearly unpenalised."""
    svm = pytest.importorskip("sklearn.svm")
    X, y = data()[0], data()[which]
    peer_class = getattr(svm, cls.__name__)
    for params in ({"fit_intercept": False}, {"intercept_scaling": 100.0}):
        peer = peer_class(loss=loss, C=0.1, tol=1e-8, max_iter=10**6, dual=True, random_state=0,
                          **params).fit(X, y)
        own = cls(loss=loss, C=0.1, tol=1e-9, max_iter=10**5,
                  fit_intercept=params.get("fit_intercept", True)).fit(X, y)
        assert own.coef_.shape == peer.coef_.shape
        assert objective(own, X, y) <= objective(peer, X, y) * (1 + 1e-9)
        near = 1e-3 if "intercept_scaling" in params else 1e-4
        np.testing.assert_allclose(own.coef_, peer.coef_, atol=near)
        if own.fit_intercept:
            assert own.intercept_.shape == peer.intercept_.shape
            np.testing.assert_allclose(own.intercept_, peer.intercept_, atol=5e-3)


@each_model
def test_parameters_and_defaults_are_scikit_learns(cls, loss, which):
    svm = pytest.importorskip("sklearn.svm")
    own, theirs = cls().get_params(), getattr(svm, cls.__name__)().get_params()
    more = set(own) - set(theirs)
    assert more <= {"warm_start", "n_jobs"}
    # a seed of its own, so that a fit can be repeated
    assert {key for key in theirs if own[key] != theirs[key]} == {"random_state"}


@each_model
def test_weights_are_repetitions_and_zero_is_removal(cls, loss, which):
    X, y = data(40)[0], data(40)[which]
    times = np.arange(40) % 4
    tight = {"loss": loss, "C": 0.05, "tol": 1e-13, "max_iter": 10**5}
    weighted = cls(**tight).fit(X, y, times)
    repeated = cls(**tight).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-11)
    removed = cls(**tight).fit(X[times > 0], y[times > 0], times[times > 0])
    np.testing.assert_array_equal(weighted.coef_, removed.coef_)


@each_model
def test_storage_is_not_meaning(cls, loss, which):
    X, y = data()[0], data()[which]
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.5, X, 0).astype(np.float32)
    X = X.astype(np.float64)
    tight = {"loss": loss, "C": 0.1, "tol": 1e-8, "max_iter": 20_000}
    first = cls(**tight).fit(X, y)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for other in (np.asfortranarray(X), sparse.csr_array(X), sparse.csc_array(X), wide,
                  X.astype(np.float32), fastlin.as_rows(X)):  # fmt: skip
        model = cls(**tight).fit(other, y)
        np.testing.assert_allclose(model.objective_, first.objective_, rtol=2e-8)
        np.testing.assert_allclose(model.coef_, first.coef_, atol=2e-3)
    single = cls(loss=loss).fit(X.astype(np.float32), y)
    assert single.coef_.dtype == np.float32
    assert single.intercept_.dtype == np.float64


def test_an_intercept_of_noise_is_that_of_the_labels_alone():
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.arange(50) < 45
    hinge = LinearSVC(loss="hinge", C=1e-4, tol=1e-8).fit(X, y)
    assert hinge.intercept_[0] == pytest.approx(1.0, abs=1e-2)
    # squared hinge: (45 - 5) / 50
    squared = LinearSVC(C=1e-5, tol=1e-8).fit(X, y)
    assert squared.intercept_[0] == pytest.approx(0.8, abs=1e-2)
    target = np.random.default_rng(1).normal(size=50) + 1e6
    median = LinearSVR(C=1e-6, tol=1e-8).fit(X, target)
    assert median.intercept_[0] == pytest.approx(np.median(target), abs=0.2)
    mean = LinearSVR(loss="squared_epsilon_insensitive", C=1e-8, tol=1e-8).fit(X, target)
    assert mean.intercept_[0] == pytest.approx(target.mean(), abs=1e-3)


@pytest.mark.parametrize("loss", CLASSIFIER_LOSSES)
def test_a_shift_of_the_columns_changes_no_prediction(loss):
    X, y, _ = data(100, 3, shift=0.0)
    model = LinearSVC(loss=loss, tol=1e-8, max_iter=10**5).fit(X, y)
    for shift in (10, 100, 1000):
        moved = LinearSVC(loss=loss, tol=1e-8, max_iter=10**5).fit(X + shift, y)
        np.testing.assert_allclose(
            moved.decision_function(X + shift), model.decision_function(X), atol=2e-3
        )
        np.testing.assert_array_equal(moved.predict(X + shift), model.predict(X))


def several(n=150):
    X, _, z = data(n, 4)
    return X, np.digitize(z, np.quantile(z, [0.3, 0.6]))


def test_several_classes_are_one_against_the_rest():
    X, y = several()
    model = LinearSVC(tol=1e-8).fit(X, y)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == model.objective_.shape == model.duality_gap_.shape == (3,)
    for k in range(3):
        alone = LinearSVC(tol=1e-8).fit(X, y == k)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-3)
        assert model.objective_[k] == pytest.approx(alone.objective_[0], rel=2e-8)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X).argmax(axis=1))
    two = LinearSVC(tol=1e-8, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(two.coef_, model.coef_)


@pytest.mark.filterwarnings("ignore:all rows of the classes")
def test_a_class_without_weight_keeps_its_place():
    X, y = several()
    model = LinearSVC().fit(X, y, np.where(y == 1, 0.0, 1.0))
    assert model.classes_.tolist() == [0, 1, 2]
    assert not model.coef_[1].any()
    assert model.intercept_[1] == -np.inf
    assert 1 not in model.predict(X)


def test_class_weights_multiply():
    X, y, _ = data()
    by_class = LinearSVC(class_weight={"yes": 3.0, "no": 0.5}, tol=1e-9).fit(X, y)
    by_row = LinearSVC(tol=1e-9).fit(X, y, np.where(y == "yes", 3.0, 0.5))
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    balanced = LinearSVC(class_weight="balanced", tol=1e-9).fit(X, y)
    assert not np.allclose(balanced.coef_, by_class.coef_)


@each_model
def test_a_read_only_target_and_untouched_input(cls, loss, which):
    X, y, weight = data()[0], data()[which].copy(), np.linspace(0, 2, 80)
    for array in (X, y, weight):
        array.flags.writeable = False
    kept = X.tobytes(), y.tobytes(), weight.tobytes()
    cls(loss=loss).fit(X, y, weight)
    assert (X.tobytes(), y.tobytes(), weight.tobytes()) == kept
    if cls is LinearSVR:
        cls(loss=loss, max_iter=5000).fit(X, np.arange(80))


@each_model
def test_rows_of_nothing_end_at_once(cls, loss, which):
    X = np.zeros((30, 2))
    X[3] = 3.75e-208
    model = cls(loss=loss).fit(X, np.repeat([0, 1], 15))
    assert np.abs(model.coef_).max() < 1e-6
    assert np.isfinite(model.intercept_).all()


def test_warm_start_goes_on():
    X, y, _ = data(400)
    model = LinearSVC(loss="hinge", C=1.0, tol=1e-6, warm_start=True, max_iter=10**4).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < first
    with pytest.raises(ValueError, match="warm_start goes on from coef_ of shape"):
        model.fit(X[:, :2], y)


def test_the_same_seed_gives_the_same_bits():
    X, y, _ = data()
    one, other = (LinearSVC(loss="hinge", random_state=3).fit(X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, LinearSVC(loss="hinge", random_state=4).fit(X, y).coef_)


# one Newton step is enough for a parabola
@pytest.mark.parametrize(
    ("cls", "loss", "which"), [m for m in MODELS if m[1] != "squared_epsilon_insensitive"]
)
def test_too_few_epochs_are_told_with_the_gap(cls, loss, which):
    X, y = data()[0], data()[which]
    with pytest.warns(ConvergenceWarning, match="stopped after 1 iterations with a duality gap"):
        model = cls(loss=loss, C=100, max_iter=1, tol=1e-9).fit(X, y)
    assert np.ravel(model.duality_gap_)[0] > 1e-9


@pytest.mark.parametrize("shift", [1e4, 1e6, 1e8])
def test_a_certificate_is_of_the_weights_that_are_returned(shift):
    """Columns far from 0 make roundings large: the gap has to say so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = X @ [1.0, 2.0, 0.0, 0.0, -1.0] + 0.1 * rng.normal(size=40)
    best = LinearSVR(tol=1e-8).fit(X, y).objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearSVR().fit(X + shift, y)
    found = np.abs(y - model.predict(X + shift)).mean() + model.coef_ @ model.coef_ / 80
    assert model.objective_ == pytest.approx(found, rel=1e-4)
    assert best >= model.objective_ * (1 - model.duality_gap_) - 1e-6


def test_verbose_tells_of_each_optimum(capsys):
    X, y = several()
    LinearSVC(verbose=1).fit(X, y)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3
    assert all("iterations: objective" in line for line in told)
    LinearSVR().fit(X, X[:, 0])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C must be .* > 0, got 0"),
        ({"C": -1.0}, "C must be"),
        ({"loss": "log_loss"}, "loss must be"),
        ({"penalty": "elasticnet"}, "penalty must be"),
        ({"multi_class": "multinomial"}, "multi_class must be"),
        ({"penalty": "l1", "loss": "hinge"}, "penalty 'l1' needs loss 'squared_hinge'"),
        ({"tol": 0}, "tol must be"),
        ({"dual": "yes"}, "dual must be"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y, _ = data()
    with pytest.raises(ValueError, match=message):
        LinearSVC(**params).fit(X, y)


def test_other_bad_input_is_named():
    X, y, z = data()
    with pytest.raises(ValueError, match="epsilon must be"):
        LinearSVR(epsilon=-0.1).fit(X, z)
    with pytest.raises(ValueError, match="class"):
        LinearSVC().fit(X, np.ones(len(y)))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LinearSVC().fit(X, y)


def test_words_of_scikit_learn_that_change_nothing():
    X, y, z = data()
    plain = LinearSVC().fit(X, y).coef_
    for dual in (True, False, "auto"):
        np.testing.assert_array_equal(LinearSVC(dual=dual).fit(X, y).coef_, plain)
    with pytest.warns(UserWarning, match="intercept_scaling=10 has no effect"):
        np.testing.assert_array_equal(LinearSVC(intercept_scaling=10).fit(X, y).coef_, plain)
    with pytest.warns(UserWarning, match="intercept_scaling=2 has no effect"):
        LinearSVR(intercept_scaling=2.0).fit(X, z)


def test_epsilon_is_a_tube():
    X = np.arange(20.0)[:, None]
    y = 2 * X[:, 0] + 1 + np.tile([0.5, -0.5], 10)
    model = LinearSVR(epsilon=0.6, C=1000.0, tol=1e-6, max_iter=10**5).fit(X, y)
    assert np.abs(model.predict(X) - y).max() <= 0.6 + 1e-3


def test_four_rows_are_no_fewer_than_newton_takes():
    X = np.array([[-67.73150188], [138.61601847], [25.94573251], [34.65620323]])
    y, weight = [0.03056561, -0.27257185, 0.67771087, 0.57459412], [1.0, 1.0, 0.5, 0.0]
    model = LinearSVR(C=1.0, epsilon=0.1).fit(X, y, weight)
    assert model.duality_gap_ <= 1e-4 and abs(model.coef_[0]) > 1e-3
