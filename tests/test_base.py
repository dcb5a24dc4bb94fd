"""The base classes without scikit-learn's tools: parameters, scores, output, exceptions, seeds."""

import copy
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from toy_estimators import ToyClassifier, ToyRegressor, ToyTransformer

import fastlin._base
from fastlin import _exceptions
from fastlin._base import Estimator, TransformerMixin, accuracy, r2
from fastlin._exceptions import (
    ConvergenceWarning,
    InvalidParameterError,
    NotFittedError,
    exception_class,
    not_fitted,
    warn,
    warn_convergence,
)
from fastlin._params import Real, unconstrained
from fastlin._random import seed_sequence, spawn_seed

ROOT = Path(fastlin._base.__file__).parents[1]


def run(code):
    """Run code in a fresh interpreter; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Holder(Estimator):
    """An estimator that holds another one."""

    _fitted_attribute = None

    def __init__(self, estimator=None, weight=0.5, words=("a", "b")):
        self.estimator = estimator
        self.weight = weight
        self.words = words


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, np.where(X[:, 0] > 0, "yes", "no")


# ---------------------------------------------------------------- imports


def test_neither_sklearn_nor_scipy_nor_pandas_is_imported():
    names = "('sklearn', 'scipy', 'pandas', 'polars', 'pyarrow', 'joblib')"
    code = f"import fastlin._base, sys; print([m for m in sys.modules if m in {names}])"
    assert run(code) == "[]"


def test_numpy_random_is_loaded_on_first_use_only():
    code = (
        "import numpy, sys; before = set(sys.modules); import fastlin._base, fastlin._random;"
        "print('numpy.random' in set(sys.modules) - before)"
    )
    assert run(code) == "False"


# ---------------------------------------------------------------- parameters


def test_toys_constrain_every_parameter():
    for cls in (ToyClassifier, ToyRegressor, ToyTransformer):
        assert unconstrained(cls) == []


@pytest.mark.parametrize("cls", [ToyClassifier, ToyRegressor, ToyTransformer])
def test_bad_values_are_refused_by_fit_and_good_ones_taken(cls, data):
    X, y = data
    y = X[:, 1] if cls is ToyRegressor else y
    for name, constraint in cls._constraints.items():
        for value in constraint.bad_values():
            with pytest.raises(InvalidParameterError, match=f"^{name} must be "):
                cls(**{name: value}).fit(X, y)
        if name != "class_weight":
            for value in constraint.good_values():
                cls(**{name: value}).fit(X, y)


def test_get_params_is_deep_or_not():
    inner = ToyRegressor(alpha=0.5)
    holder = Holder(inner)
    assert holder.get_params(deep=False) == {
        "estimator": inner,
        "weight": 0.5,
        "words": ("a", "b"),
    }
    assert holder.get_params()["estimator__alpha"] == 0.5
    assert Holder(ToyRegressor).get_params() == Holder(ToyRegressor).get_params(deep=False)


def test_set_params_reaches_nested_estimators():
    holder = Holder(ToyRegressor())
    assert holder.set_params(weight=2, estimator__alpha=3.0) is holder
    assert (holder.weight, holder.estimator.alpha) == (2, 3.0)
    other = Holder()
    holder.set_params(estimator=other, estimator__estimator=ToyTransformer())
    assert holder.estimator is other
    holder.set_params(estimator__estimator__scale=False)
    assert other.estimator.scale is False
    assert holder.set_params() is holder


def test_set_params_names_the_unknown_and_the_valid_parameters():
    holder = Holder(ToyRegressor())
    with pytest.raises(ValueError, match=r"parameter 'wieght' .*Holder.*'estimator', 'weight'"):
        holder.set_params(weight=7, wieght=1)
    assert holder.weight == 0.5
    with pytest.raises(ValueError, match=r"parameter 'alhpa' .*ToyRegressor.*\['alpha'\]"):
        holder.set_params(weight=7, estimator__alhpa=1)
    assert holder.weight == 0.5
    with pytest.raises(ValueError, match=r"'weight__x' .* weight is 0\.5, which has no parameters"):
        holder.set_params(weight__x=1)


def test_set_params_does_not_check_values():
    assert ToyClassifier().set_params(alpha=-1).alpha == -1


def test_repr_shows_changed_parameters_only():
    assert repr(ToyClassifier()) == "ToyClassifier()"
    assert repr(ToyClassifier(alpha=1)) == "ToyClassifier()"
    assert repr(ToyClassifier(True, class_weight="balanced")) == (
        "ToyClassifier(alpha=True, class_weight='balanced')"
    )
    assert repr(ToyRegressor(np.float32(0.5))) == "ToyRegressor(alpha=0.5)"
    assert repr(ToyTransformer(np.bool_(True))) == "ToyTransformer()"
    assert repr(Holder(ToyRegressor(2), np.nan, ("a", "c"))) == (
        "Holder(estimator=ToyRegressor(alpha=2), weight=nan, words=('a', 'c'))"
    )
    assert repr(Holder(weight=np.zeros(5))) == (
        "Holder(weight=an array of shape (5,) and dtype float64)"
    )
    assert len(repr(Holder({j: j for j in range(1000)}))) < 400


def test_html_escapes_and_marks_what_changed(data):
    html = Holder(weight="<b>&")._repr_html_()
    assert "<td><b>weight</b></td><td><b>&#x27;&lt;b&gt;&amp;&#x27;</b></td>" in html
    assert "<td>words</td>" in html
    assert "(not fitted)" in ToyClassifier()._repr_html_()
    assert "(fitted)" in ToyClassifier().fit(*data)._repr_html_()


def test_unknown_tags_are_refused_when_the_class_is_made():
    with pytest.raises(TypeError, match=r"Wrong\._tags has unknown tags: \['spares'\]"):
        type("Wrong", (Estimator,), {"_tags": {"spares": True}})


# ---------------------------------------------------------------- state


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_copies_predict_alike(copied, data):
    X, y = data
    model = ToyClassifier(2.0).fit(X, y)
    twin = copied(model)
    np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
    assert vars(twin).keys() == vars(model).keys()


def test_a_pickle_of_another_version_warns(data, monkeypatch):
    model = ToyClassifier().fit(*data)
    monkeypatch.setattr(fastlin, "__version__", "0.9", raising=False)
    state = pickle.dumps(model)
    pickle.loads(state)
    monkeypatch.setattr(fastlin, "__version__", "1.0")
    with pytest.warns(UserWarning, match="ToyClassifier was pickled by fastlin 0.9 .* 1.0"):
        pickle.loads(state)


def test_unfitted_estimators_say_so(data):
    X, _ = data
    with pytest.raises(
        NotFittedError, match=r"^This ToyRegressor is not fitted yet; call fit before"
    ):
        ToyRegressor().predict(X)
    with pytest.raises(NotFittedError, match="call fit before get_feature_names_out"):
        ToyTransformer().get_feature_names_out()
    assert not ToyRegressor().__sklearn_is_fitted__()
    assert Holder().__sklearn_is_fitted__()


# ---------------------------------------------------------------- scores


def test_classifier_score_is_weighted_accuracy(data):
    X, y = data
    model = ToyClassifier().fit(X, y)
    right = model.predict(X) == y
    weight = np.arange(len(y))
    assert model.score(X, y) == right.mean()
    assert model.score(X, y, sample_weight=weight) == pytest.approx(right @ weight / weight.sum())
    with pytest.raises(ValueError, match="at least one non-zero"):
        model.score(X, y, sample_weight=0)
    with pytest.raises(ValueError, match="X has 40 and y has 3"):
        model.score(X, y[:3])
    with pytest.raises(TypeError, match="y holds int.* labels, but .* of strings"):
        model.score(X, np.arange(40))


def test_accuracy_of_several_labels_needs_all_of_them():
    assert accuracy([[1, 0], [1, 1]], np.array([[1, 0], [0, 1]])) == 0.5


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.0, 3.0])])
@pytest.mark.parametrize(
    ("y", "predicted"),
    [
        ([1.0, 2.0, 3.0, 5.0], [1.0, 2.5, 2.0, 7.0]),
        ([1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 3.0, 5.0]),
        ([2.0, 2.0, 2.0, 2.0], [1.0, 2.0, 2.0, 2.0]),
        ([2.0, 2.0, 2.0, 2.0], [2.0, 2.0, 2.0, 2.0]),
        ([1e8, 1e8 + 1, 1e8 + 2, 1e8], [1e8, 1e8, 1e8, 1e8]),
        ([[1.0, 5.0], [2.0, 5.0], [0.0, 5.0], [1.0, 5.0]], [[1.0, 5.0]] * 4),
    ],
)
def test_r2_is_scikit_learns(y, predicted, weight):
    metrics = pytest.importorskip("sklearn.metrics")
    expected = metrics.r2_score(y, predicted, sample_weight=weight)
    assert r2(np.array(y), np.array(predicted), weight) == pytest.approx(expected, rel=1e-12)


def test_r2_of_a_constant_does_not_divide_by_rounding():
    assert r2(np.full(3, 0.1), np.full(3, 0.2)) == 0.0
    assert r2(np.full(7, 0.1), np.full(7, 0.1)) == 1.0


def test_r2_of_one_row_is_undefined():
    with pytest.warns(_exceptions.UndefinedMetricWarning, match="fewer than two samples"):
        assert np.isnan(r2(np.ones(1), np.ones(1)))


def test_regressor_score(data):
    X, _ = data
    model = ToyRegressor(0.1).fit(X, X @ [1.0, 2.0, 3.0])
    assert 0.99 < model.score(X, X @ [1.0, 2.0, 3.0]) < 1
    assert model.score(X, X[:, 0] * 0 + 1, sample_weight=2) == 0


# ---------------------------------------------------------------- output


def test_fit_transform_passes_arguments_on(data):
    class Weighted(TransformerMixin, Estimator):
        def fit(self, X, y=None, sample_weight=None):
            self.n_features_in_, self.seen_ = X.shape[1], (y, sample_weight)
            return self

        def transform(self, X):
            return X * 2

    X, y = data
    model = Weighted()
    np.testing.assert_array_equal(model.fit_transform(X, y, sample_weight=3), 2 * X)
    assert model.seen_[0] is y
    assert model.seen_[1] == 3


def test_set_output_pandas_keeps_index_and_names(data):
    pandas = pytest.importorskip("pandas")
    X, _ = data
    frame = pandas.DataFrame(X, columns=["a", "b", "c"], index=range(100, 140))
    model = ToyTransformer()
    assert model.set_output(transform="pandas") is model
    result = model.fit_transform(frame)
    assert isinstance(result, pandas.DataFrame)
    assert list(result.columns) == ["a", "b", "c"]
    assert list(result.index) == list(range(100, 140))
    np.testing.assert_allclose(result, X / abs(X).max(axis=0))
    result = model.fit(X).transform(X)
    assert list(result.columns) == ["x0", "x1", "x2"]
    model.set_output()
    assert isinstance(model.transform(X), pandas.DataFrame)
    model.set_output(transform="default")
    assert isinstance(model.transform(X), np.ndarray)


def test_frames_do_not_share_memory_with_the_input(data):
    pytest.importorskip("pandas")
    X = data[0].copy()

    class Same(ToyTransformer):
        def transform(self, X):
            return X

    frame = Same().fit(X).set_output(transform="pandas").transform(X)
    frame.iloc[0, 0] = 1e9
    assert X[0, 0] != 1e9


def test_set_output_polars(data):
    polars = pytest.importorskip("polars")
    X, _ = data
    frame = polars.DataFrame(X, schema=["a", "b", "c"])
    result = ToyTransformer().set_output(transform="polars").fit_transform(frame)
    assert isinstance(result, polars.DataFrame)
    assert result.columns == ["a", "b", "c"]


def test_set_output_refuses_the_unknown_and_the_sparse(data):
    sparse = pytest.importorskip("scipy.sparse")
    X, _ = data
    model = ToyTransformer().fit(X)
    with pytest.raises(ValueError, match="transform must be one of .* got 'arrow'"):
        model.set_output(transform="arrow")
    pytest.importorskip("pandas")
    model.set_output(transform="pandas")
    with pytest.raises(ValueError, match="ToyTransformer returns sparse data, which pandas"):
        model.transform(sparse.csr_matrix(X))


def test_a_shallow_copy_has_its_own_output(data):
    model = ToyTransformer().set_output(transform="pandas")
    copy.copy(model).set_output(transform="default")
    assert model._sklearn_output_config == {"transform": "pandas"}


def test_a_missing_frame_library_is_named(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    model = ToyTransformer().fit(data[0]).set_output(transform="polars")
    with pytest.raises(ImportError, match="needs polars, which is not installed"):
        model.transform(data[0])


# ---------------------------------------------------------------- exceptions


def test_own_classes_without_scikit_learn():
    code = (
        "from fastlin._exceptions import exception_class, NotFittedError;"
        "print(exception_class('NotFittedError') is NotFittedError)"
    )
    assert run(code) == "True"


@pytest.mark.parametrize("name", sorted(_exceptions._OWN))
def test_both_libraries_catch_what_is_raised(name):
    peer = getattr(pytest.importorskip("sklearn.exceptions"), name)
    joint = exception_class(name)
    assert issubclass(joint, peer)
    assert issubclass(joint, getattr(_exceptions, name))
    assert joint.__name__ == name
    assert exception_class(name) is joint


def test_the_class_is_looked_up_when_raising():
    pytest.importorskip("sklearn")
    code = (
        "from fastlin._exceptions import exception_class, NotFittedError\n"
        "before = exception_class('NotFittedError')\n"
        "import sklearn.exceptions as peer\n"
        "after = exception_class('NotFittedError')\n"
        "print(before is NotFittedError, issubclass(after, peer.NotFittedError))"
    )
    assert run(code) == "True True"


def test_raised_errors_can_be_pickled():
    pytest.importorskip("sklearn.exceptions")
    error = not_fitted(ToyClassifier(), "predict")
    error.note = "kept"
    twin = pickle.loads(pickle.dumps(error))
    assert type(twin) is type(error)
    assert twin.args == error.args
    assert twin.note == "kept"


def test_warnings_point_at_the_callers_line():
    with pytest.warns(ConvergenceWarning, match="too slow") as caught:
        warn_convergence("too slow")
    assert caught[0].filename == __file__

    def inner(level):
        warn("UserWarning", "here", stacklevel=level)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        inner(1)
        inner(2)
        warn_convergence("there", stacklevel=1)
    first = inner.__code__.co_firstlineno
    assert [w.lineno - first for w in caught] == [1, 6, 7]


# ---------------------------------------------------------------- seeds


def test_equal_integers_give_equal_seeds():
    seeds = spawn_seed(7, 3)
    assert all(seed.shape == (4,) and seed.dtype == np.uint64 for seed in seeds)
    assert len({seed.tobytes() for seed in seeds}) == 3
    np.testing.assert_array_equal(spawn_seed(np.int32(7), 3), seeds)
    np.testing.assert_array_equal(spawn_seed(7, 5)[:3], seeds)
    assert not np.array_equal(spawn_seed(8, 3), seeds)
    assert spawn_seed(7, 0) == []
    assert spawn_seed(2**70, 1)[0].any()


def test_none_gives_other_seeds_each_time():
    assert not np.array_equal(spawn_seed(None, 1), spawn_seed(None, 1))


def test_the_global_generator_is_neither_used_nor_moved():
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    first = spawn_seed(None, 1)
    np.random.seed(0)
    assert not np.array_equal(first, spawn_seed(None, 1))
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_drawn_from_once_whatever_the_number_of_tasks(make):
    one, many, bare = make(3), make(3), make(3)
    np.testing.assert_array_equal(spawn_seed(one, 1), spawn_seed(many, 50)[:1])
    assert not np.array_equal(spawn_seed(one, 1), spawn_seed(make(3), 1))
    spawn_seed(many, 1)
    bare.bytes(32)
    bare.bytes(32)
    assert one.bytes(8) == many.bytes(8) == bare.bytes(8)


def test_a_seed_sequence_counts_as_a_fixed_seed():
    sequence = np.random.SeedSequence(5)
    first = spawn_seed(sequence, 2)
    np.testing.assert_array_equal(spawn_seed(sequence, 2), first)
    assert sequence.n_children_spawned == 0
    children = [child.generate_state(4, np.uint64) for child in sequence.spawn(2)]
    assert not np.array_equal(first, children)


def test_bad_seeds_are_refused():
    with pytest.raises(InvalidParameterError, match="^random_state must be None, an integer >= 0"):
        seed_sequence(-1)
    assert Real(0).accepts(0)
