"""partial_fit, warm starts and initial weights."""

import copy
import pickle

import numpy as np
import pytest
from public import ONLINE, ONLINE_CLASSIFIERS, ONLINE_REGRESSORS, name
from scipy import sparse
from sgd_data import Y3, T, X, Y, same_bits, target

from fastlin import Perceptron, SGDClassifier
from fastlin._sgd import OPTIMIZERS
from fastlin._signature import init_parameters

# Streams


STREAMS = {
    "default": {},
    "averaged": {"average": True},
    "averaged from 50": {"average": 50},
    "l1": {"penalty": "l1", "alpha": 0.01},
    "elastic net, averaged": {"penalty": "elasticnet", "alpha": 0.05, "average": True},
    "strong l2": {"penalty": "l2", "alpha": 50.0, "learning_rate": "invscaling"},
    "batches": {"batch_size": 1, "learning_rate": "constant"},
    **{
        optimizer: {"optimizer": optimizer, "average": 30, "alpha": 0.01}
        for optimizer in OPTIMIZERS
    },
}


@pytest.mark.parametrize(
    ("cls", "params"),
    [
        (cls, params)
        for cls in ONLINE
        for params in STREAMS.values()
        if set(params) <= set(init_parameters(cls))
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else value.__name__,
)
@pytest.mark.parametrize("several", [False, True])
def test_one_call_of_partial_fit_is_many(cls, params, several):
    y = T if cls in ONLINE_REGRESSORS else Y3 if several else Y
    first = {"classes": np.unique(y)} if cls in ONLINE_CLASSIFIERS else {}
    weight = 0.5 + np.arange(120) % 3
    whole = cls(**params).partial_fit(X, y, sample_weight=weight, **first)
    one_by_one = cls(**params)
    for i in range(120):
        one_by_one.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1], **first)
        first = {}
    assert same_bits(whole, one_by_one)
    assert whole.t_ == one_by_one.t_ == 121
    pieces = cls(**params)
    first = {"classes": np.unique(y)} if cls in ONLINE_CLASSIFIERS else {}
    for part in np.array_split(np.arange(120), [1, 7, 64]):
        pieces.partial_fit(sparse.csr_array(X[part]), y[part], sample_weight=weight[part], **first)
        pieces = pickle.loads(pickle.dumps(pieces))
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_partial_fit_is_an_epoch_in_the_given_order(cls, quiet):
    y = target(cls)
    first = {"classes": np.unique(y)} if cls in ONLINE_CLASSIFIERS else {}
    stream = cls().partial_fit(X, y, **first)
    epoch = cls(max_iter=1, shuffle=False, tol=None).fit(X, y)
    assert same_bits(stream, epoch)


@pytest.mark.parametrize("cls", [cls for cls in ONLINE_CLASSIFIERS if cls in ONLINE], ids=name)
def test_classes_of_a_stream(cls):
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        cls().partial_fit(X, Y)
    with pytest.raises(ValueError, match="at least two classes"):
        cls().partial_fit(X, Y3, classes=[1])
    model = cls().partial_fit(X[:10], Y3[:10], classes=[2, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"classes of this call.* 0, 1, but those .* 0, 1, 2"):
        model.partial_fit(X, Y3, classes=[0, 1])
    with pytest.raises(ValueError, match="not among the classes: 7; the classes are 0, 1, 2"):
        model.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="X has 4 features, but .* is expecting 5"):
        model.partial_fit(X[:, :4], Y3)


# Warm starts and initial weights


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_warm_start_goes_on_where_training_stood(cls, quiet):
    params = {"shuffle": False, "tol": None}
    if "learning_rate" in init_parameters(cls):
        params.update(learning_rate="constant", eta0=0.05)
    warm = cls(max_iter=2, warm_start=True, **params).fit(X, target(cls)).fit(X, target(cls))
    longer = cls(max_iter=4, **params).fit(X, target(cls))
    np.testing.assert_allclose(warm.coef_, longer.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(warm.intercept_, longer.intercept_, rtol=1e-9, atol=1e-12)
    # from the last weights, not from their mean
    warm = cls(max_iter=2, warm_start=True, average=True, **params).fit(X, target(cls))
    warm.set_params(average=False).fit(X, target(cls))
    np.testing.assert_allclose(warm.coef_, longer.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("cls", ONLINE_CLASSIFIERS, ids=name)
def test_warm_start_with_other_classes_is_refused(cls, quiet):
    model = cls(warm_start=True, max_iter=3).fit(X, Y3)
    keep = Y3 != 1
    with pytest.raises(ValueError, match=r"classes 0, 1, 2, but y holds 0, 2"):
        model.fit(X[keep], Y3[keep])
    model = cls(warm_start=True, max_iter=3).fit(X[keep], Y3[keep])
    with pytest.raises(ValueError, match=r"classes 0, 2, but y holds 0, 1, 2"):
        model.fit(X, Y3)
    assert model.classes_.tolist() == [0, 2]
    assert set(model.predict(X)) <= {0, 2}


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_warm_start_with_other_columns_is_refused(cls, quiet):
    model = cls(warm_start=True, max_iter=3).fit(X, target(cls))
    with pytest.raises(
        ValueError, match="X has 4 features, but warm_start goes on from weights of 5"
    ):
        model.fit(X[:, :4], target(cls))


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_a_cold_fit_forgets(cls, quiet):
    model = cls(max_iter=3, random_state=0).fit(X * 5, target(cls)).fit(X, target(cls))
    assert same_bits(model, cls(max_iter=3, random_state=0).fit(X, target(cls)))
    if cls in ONLINE_CLASSIFIERS:
        assert model.fit(X[:, :3], Y3).coef_.shape == (3, 3)


@pytest.mark.parametrize("cls", ONLINE, ids=name)
def test_initial_weights(cls, quiet):
    y = target(cls)
    shape = (5,) if cls in ONLINE_REGRESSORS else (1, 5)
    params = {"max_iter": 1, "tol": None}
    if "eta0" in init_parameters(cls):
        params["eta0"] = 1e-12
    if "learning_rate" in init_parameters(cls):
        params["learning_rate"] = "constant"
    if "C" in init_parameters(cls):
        params["C"] = 1e-12
    start = np.arange(1.0, 6.0).reshape(shape)
    model = cls(**params).fit(X, y, coef_init=start, intercept_init=[7.0])
    np.testing.assert_allclose(model.coef_, start, rtol=1e-2)
    np.testing.assert_allclose(model.intercept_, [7.0], rtol=1e-2)
    for wrong in (np.ones(4), np.ones((2, 5)), [np.nan] * 5, ["a"] * 5):
        with pytest.raises(ValueError, match="coef_init must hold"):
            cls(**params).fit(X, y, coef_init=wrong)
    with pytest.raises(ValueError, match="intercept_init must hold"):
        cls(**params).fit(X, y, intercept_init=[1.0, 2.0])


@pytest.mark.memory
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(random_state=0),
        Perceptron(random_state=0, average="voted"),
        SGDClassifier("log_loss", multi_class="joint", random_state=0),
        SGDClassifier(random_state=0),
    ],
)
@pytest.mark.parametrize("fault", ["class_weight", "overflow", "labels"])
def test_a_growing_call_that_fails_changes_nothing(model, fault, quiet):
    X = np.random.default_rng(0).standard_normal((300, 6))
    y = np.array(["a", "b"] * 150)
    model = copy.deepcopy(model).partial_fit(X[:4], y[:4], grow=True)
    before = pickle.dumps(model)
    wrong = np.full((2, 6), 1.7e308) if fault == "overflow" else X[:2]
    labels = [0, 1] if fault == "labels" else ["a", "q"]
    if fault == "class_weight":
        model.set_params(class_weight={"zzz": 1})
    with pytest.raises((ValueError, TypeError)):
        for _ in range(20):
            model.partial_fit(wrong, labels, grow=True)
    model.set_params(class_weight=None)
    assert model.classes_.tolist() == ["a", "b"] or fault == "overflow"
    if fault != "overflow":
        whole = pickle.loads(before)
        np.testing.assert_array_equal(model.coef_, whole.coef_)
        for _ in range(5):
            model.partial_fit(X, y)
            whole.partial_fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))
