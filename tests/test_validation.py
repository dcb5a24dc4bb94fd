"""Feature names, targets, labels and weights at the door."""

import array
import datetime
from decimal import Decimal

import numpy as np
import pytest
from scipy import sparse

from fastlin._exceptions import DataConversionWarning, InvalidParameterError
from fastlin._params import ClassWeight
from fastlin._validation import (
    check_classification_targets,
    check_feature_names,
    check_feature_names_in,
    check_n_features,
    check_sample_weight,
    check_target,
    class_weight_vector,
    effective_weight,
    encode_known_labels,
    encode_labels,
    partial_fit_classes,
)


class Model:
    """Stands for an estimator; only its name and attributes matter here."""


@pytest.fixture
def model():
    return Model()


# ---------------------------------------------------------------- feature names


FRAMES = {
    "pandas": lambda lib, names: lib.DataFrame(np.zeros((2, len(names))), columns=names),
    "polars": lambda lib, names: lib.DataFrame({name: [0.0, 0.0] for name in names}),
    "pyarrow": lambda lib, names: lib.table({name: [0.0, 0.0] for name in names}),
}


@pytest.fixture(params=FRAMES)
def frame(request):
    library = pytest.importorskip(request.param)
    return lambda *names: FRAMES[request.param](library, list(names))


def test_names_are_stored_compared_and_deleted(frame, model):
    check_feature_names(model, frame("a", "b"), reset=True)
    assert model.feature_names_in_.dtype == object
    assert model.feature_names_in_.tolist() == ["a", "b"]
    check_feature_names(model, frame("a", "b"), reset=False)
    check_feature_names(model, np.zeros((2, 2)), reset=True)
    assert not hasattr(model, "feature_names_in_")


HEAD = "The feature names should match those that were passed during fit.\n"
UNSEEN = "Feature names unseen at fit time:\n"
MISSING = "Feature names seen at fit time, yet now missing:\n"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("ba", "Feature names must be in the same order as they were in fit.\n"),
        ("a", MISSING + "- b\n"),
        ("abc", UNSEEN + "- c\n"),
        ("yx", UNSEEN + "- x\n- y\n" + MISSING + "- a\n- b\n"),
        ("abhgfedc", UNSEEN + "- c\n- d\n- e\n- f\n- g\n- ...\n"),
    ],
)
def test_other_names_are_listed(frame, model, names, text):
    check_feature_names(model, frame("a", "b"), reset=True)
    with pytest.raises(ValueError) as caught:
        check_feature_names(model, frame(*names), reset=False)
    assert str(caught.value) == HEAD + text


def test_names_on_one_side_only_warn(frame, model):
    check_feature_names(model, frame("a", "b"), reset=True)
    text = "^X does not have valid feature names, but Model was fitted with feature names$"
    with pytest.warns(UserWarning, match=text) as caught:
        check_feature_names(model, np.zeros((2, 2)), reset=False)
    assert caught[0].filename == __file__
    check_feature_names(model, [[0, 0]], reset=True)
    text = "^X has feature names, but Model was fitted without feature names$"
    with pytest.warns(UserWarning, match=text):
        check_feature_names(model, frame("a", "b"), reset=False)


def test_only_strings_are_names(model):
    pandas = pytest.importorskip("pandas")
    for columns in ([0, 1], [("a", 1), ("b", 2)], pandas.MultiIndex.from_tuples([(1, 2), (3, 4)])):
        check_feature_names(model, pandas.DataFrame(np.zeros((2, 2)), columns=columns), reset=True)
        assert not hasattr(model, "feature_names_in_")
    check_feature_names(model, pandas.DataFrame(), reset=True)
    assert not hasattr(model, "feature_names_in_")
    mixed = pandas.DataFrame(np.zeros((2, 2)), columns=["a", 1])
    with pytest.raises(TypeError, match="Feature names are only supported .* int, str"):
        check_feature_names(model, mixed, reset=True)


@pytest.mark.parametrize("X", [np.zeros((2, 2)), [[0]], sparse.eye(2), None, "abc", 3, Model()])
def test_everything_else_has_no_names(X, model):
    check_feature_names(model, X, reset=True)
    check_feature_names(model, X, reset=False)
    assert not vars(model)


def test_number_of_features(model):
    check_n_features(model, np.int64(4), reset=True)
    assert type(model.n_features_in_) is int
    check_n_features(model, 4, reset=False)
    text = "^X has 1 features, but Model is expecting 4 features as input.$"
    with pytest.raises(ValueError, match=text):
        check_n_features(model, 1, reset=False)


def test_names_for_output(model):
    with pytest.raises(ValueError, match="Model knows no number of features"):
        check_feature_names_in(model)
    model.n_features_in_ = 2
    assert check_feature_names_in(model).tolist() == ["x0", "x1"]
    assert check_feature_names_in(model, ["u", "v"]).tolist() == ["u", "v"]
    with pytest.raises(ValueError, match=r"length equal to number of features \(2\), got 1"):
        check_feature_names_in(model, ["u"])
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    assert check_feature_names_in(model) is model.feature_names_in_
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        check_feature_names_in(model, ["a", "c"])


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 3],
        (1.0, 2.0, 3.0),
        range(1, 4),
        np.array([1, 2, 3], dtype=np.int8),
        np.array([1, 2, 3], dtype=object),
        np.array([1, 2, 3], dtype=np.float16),
        np.array([9, 1, 9, 2, 9, 3])[1::2],
        array.array("d", [1, 2, 3]),
        [np.int64(1), Decimal(2), 3.0],
    ],
)
def test_numeric_targets_become_float64(y, model):
    result = check_target(y, model, numeric=True, n_samples=3)
    assert result.dtype == np.float64
    assert result.flags.c_contiguous
    assert result.tolist() == [1.0, 2.0, 3.0]


def test_a_float64_target_is_not_copied(model):
    y = np.arange(3.0)
    y.flags.writeable = False
    assert np.shares_memory(check_target(y, model, numeric=True), y)


def test_booleans_are_numbers(model):
    assert check_target([True, False], model, numeric=True).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("library", "values"),
    [
        ("pandas", [1, 2, 1]),
        ("pandas", ["a", "b", "a"]),
        ("polars", [1, 2, 1]),
        ("polars", ["a", "b", "a"]),
        ("pyarrow", [1, 2, 1]),
    ],
)
def test_series_are_targets(library, values, model):
    lib = pytest.importorskip(library)
    y = lib.array(values) if library == "pyarrow" else lib.Series(values)
    assert check_target(y, model, n_samples=3).tolist() == values


@pytest.mark.parametrize("dtype", ["Int64", "string", "category", "boolean", "Float64"])
def test_nullable_series(dtype, model):
    pandas = pytest.importorskip("pandas")
    values = [True, False] if dtype == "boolean" else [1, 0]
    classes, codes = encode_labels(check_target(pandas.Series(values, dtype=dtype), model))
    assert len(classes) == 2
    assert codes.tolist() == [1, 0]
    with pytest.raises(ValueError, match="Input y contains NaN"):
        check_target(pandas.Series([None, *values], dtype=dtype), model)


def test_none_is_refused(model):
    with pytest.raises(
        ValueError, match=r"^Model requires y to be passed, but the target y is None\.$"
    ):
        check_target(None, model)


def test_a_column_warns(model):
    text = "^A column-vector y was passed when a 1d array was expected"
    with pytest.warns(DataConversionWarning, match=text):
        assert check_target([[1], [2]], model, numeric=True).shape == (2,)


@pytest.mark.parametrize(
    ("y", "error", "text"),
    [
        (np.zeros((3, 2)), ValueError, r"1d array, got an array of shape \(3, 2\)"),
        (np.zeros((3, 1, 1)), ValueError, r"1d array, got an array of shape \(3, 1, 1\)"),
        (5, ValueError, "1d array, got 5"),
        ("abc", ValueError, "1d array, got 'abc'"),
        (b"abc", ValueError, "1d array, got b'abc'"),
        ({1: 2}, ValueError, "1d array, got {1: 2}"),
        ({1, 2}, ValueError, "1d array, got {1, 2}"),
        ((v for v in (1, 2)), ValueError, "1d array, got <generator"),
        (np.zeros(3, dtype="i4,f8"), ValueError, "1d array, got an array of shape"),
        ([[1], [2, 3]], ValueError, "rows of different lengths"),
        (np.array([[1], [2, 3]], dtype=object), ValueError, "elements are sequences"),
        (sparse.csr_matrix((3, 1)), TypeError, "sparse matrix, but a dense target"),
        ([1j, 2, 3], ValueError, "Complex data not supported"),
        ([1, 2], ValueError, "X has 3 and y has 2"),
        ([1, np.nan, np.inf], ValueError, "Input y contains NaN, first at position 1"),
        ([1, 2, np.inf], ValueError, "Input y contains infinity .* first at position 2"),
        ([1, 2, -np.inf], ValueError, "Input y contains infinity"),
        ([1, None, 2], ValueError, "Input y contains NaN or None: None at position 1"),
        (["a", None, "b"], ValueError, "Input y contains NaN or None: None at position 1"),
        (np.array(["a", "b", np.nan], object), ValueError, "NaN or None: nan at position 2"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), ValueError, "some of its values are masked"),
        (["a", 1, 2.5], TypeError, "labels of one kind, .* got float, int, str"),
        (np.array(["a", 1, 2], object), TypeError, "labels of one kind, .* got int, str"),
        (
            np.array(["2020", "NaT", "2021"], "M8[D]"),
            ValueError,
            "contains NaN, first at position 1",
        ),
    ],
)
@pytest.mark.parametrize("numeric", [False, True])
def test_bad_targets(y, error, text, numeric, model):
    if numeric and isinstance(y, np.ndarray) and y.dtype.kind == "M":
        text = "y must hold numbers for Model"
    with pytest.raises(error, match=text):
        check_target(y, model, numeric=numeric, n_samples=3)


@pytest.mark.parametrize(
    "y",
    [
        ["1", "2"],
        np.array(["1", "2"], object),
        np.array(["2020"], "M8[D]"),
        [datetime.date.today()],
        [10**400],
    ],
)
def test_numbers_are_wanted_for_regression(y, model):
    with pytest.raises(ValueError, match="^y must hold numbers for Model"):
        check_target(y, model, numeric=True)


def test_several_outputs_on_request(model):
    Y = [[1, 2], [3, 4]]
    assert check_target(Y, model, numeric=True, multi_output=True).tolist() == Y
    with pytest.raises(ValueError, match="NaN, first at position 1, 0"):
        check_target([[1, 2], [np.nan, 3]], model, numeric=True, multi_output=True)


# ---------------------------------------------------------------- labels

LABELS = [
    [3, 1, 2, 1],
    [-1, 1, 1, -1],
    [2**62, -(2**62), 0, 2**62],
    [True, False, True],
    [1.0, -1.0, 3.0],
    [1e300, 1e300, -1e300],
    [1e300, 1e300],
    ["spam", "ham", "spam", ""],
    np.array([-128, 127, 0, 127], np.int8),
    np.array([255, 0, 255], np.uint8),
    np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], np.uint64),
    np.array([2**63 - 1, -(2**63)], np.int64),
    np.array([1, 60000, 2], np.float32),
    np.array([1, 2, 1], np.float16),
    np.array([3, 1], np.longdouble),
    np.array([3, 1, 2], dtype=">i4"),
    np.array(["b", "a", "b"], object),
    np.array([2, 1, 2], object),
    np.array([b"x", b"a"]),
    np.array(["2021-01-01", "2020-01-01"], "M8[D]"),
    [2**70, 1, 2**70],
    [7],
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels!r:.40}")
def test_labels_are_encoded_as_unique_does(labels, model):
    y = check_target(labels, model)
    before = y.copy()
    classes, codes = encode_labels(y)
    expected, inverse = np.unique(y, return_inverse=True)
    assert classes.dtype == y.dtype
    assert codes.dtype == np.int32
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
    np.testing.assert_array_equal(y, before)


def test_random_integers_are_encoded_as_unique_does(model):
    rng = np.random.default_rng(0)
    for high in (2, 50, 5000, 10**7, 2**62):
        y = rng.integers(-high, high, size=500)
        classes, codes = encode_labels(y)
        expected, inverse = np.unique(y, return_inverse=True)
        np.testing.assert_array_equal(classes, expected)
        np.testing.assert_array_equal(codes, inverse)


def test_strings_of_numpys_own_kind(model):
    if not hasattr(np, "dtypes") or not hasattr(np.dtypes, "StringDType"):
        pytest.skip("numpy < 2 has no StringDType")
    y = check_target(np.array(["b", "a"], dtype=np.dtypes.StringDType()), model)
    assert encode_labels(y)[0].tolist() == ["a", "b"]


def test_no_labels():
    classes, codes = encode_labels(np.array([], dtype=np.int64))
    assert len(classes) == len(codes) == 0


def test_continuous_targets_are_no_labels():
    with pytest.raises(ValueError, match=r"^Unknown label type: continuous\. .* y holds 0\.5;"):
        encode_labels(np.array([1.0, 0.5]))
    check_classification_targets(np.array([1.0, -2.0, 1e300]))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        encode_labels(check_target(np.array([0.5, 1.5], object), Model()))


def test_labels_must_be_sortable():
    y = np.array([datetime.date(2020, 1, 1), Model()], dtype=object)
    with pytest.raises(TypeError, match="labels that can be sorted and hashed"):
        encode_labels(y)


def test_known_labels():
    classes = np.array([3, 1, 7])
    assert encode_known_labels(np.array([7, 7, 3]), classes).tolist() == [2, 2, 0]
    text = "labels that are not among the classes: 2, 9; the classes are 3, 1, 7"
    with pytest.raises(ValueError, match=text):
        encode_known_labels(np.array([9, 2, 3]), classes)
    with pytest.raises(ValueError, match="not among the classes: '3'"):
        encode_known_labels(np.array(["3"]), classes)
    with pytest.raises(ValueError, match=r"not among the classes: 10, .* \(30 in all\)"):
        encode_known_labels(np.arange(10, 40), classes)


def test_known_dates_of_another_unit():
    days, seconds = np.array(["2020-01-01", "2021-01-01"], "M8[D]"), np.array(["2021"], "M8[ns]")
    assert encode_known_labels(seconds, days).tolist() == [1]


def test_classes_of_partial_fit(model):
    with pytest.raises(
        ValueError, match="^classes must be passed on the first call to partial_fit"
    ):
        partial_fit_classes(model, None)
    model.classes_ = partial_fit_classes(model, [2, 0, 2])
    assert model.classes_.tolist() == [0, 2]
    assert partial_fit_classes(model, None) is model.classes_
    assert partial_fit_classes(model, np.array([2, 0])) is model.classes_
    with pytest.raises(ValueError, match=r"are 0, 1, but those of the first call were 0, 2\."):
        partial_fit_classes(model, [0, 1])


# ---------------------------------------------------------------- weights


def test_no_weights():
    assert check_sample_weight(None, 3) is None


@pytest.mark.parametrize(
    "weight",
    [2, 2.0, np.float32(2), [2, 2, 2], np.full(3, 2, np.uint8), np.array([2, 2, 2], object)],
)
def test_weights_become_float64(weight):
    result = check_sample_weight(weight, 3)
    assert result.dtype == np.float64
    assert result.tolist() == [2, 2, 2]


def test_weights_are_not_copied_without_need():
    weight = np.ones(3)
    weight.flags.writeable = False
    assert np.shares_memory(check_sample_weight(weight, 3), weight)
    assert check_sample_weight(np.arange(6.0)[::2], 3).flags.c_contiguous


def test_weights_from_frames():
    pandas = pytest.importorskip("pandas")
    assert check_sample_weight(pandas.Series([1, 2]), 2).tolist() == [1, 2]
    with pytest.raises(ValueError, match="sample_weight"):
        check_sample_weight(pandas.Series([1, None], dtype="Int64"), 2)


@pytest.mark.parametrize(
    ("weight", "error", "text"),
    [
        ([1, -1, 2], ValueError, r"finite numbers >= 0, got -1\.0 at position 1"),
        ([1, 1, np.nan], ValueError, "finite numbers >= 0, got nan at position 2"),
        ([np.inf, 1, 1], ValueError, "finite numbers >= 0, got inf at position 0"),
        (-1, ValueError, r"finite numbers >= 0, got -1\.0"),
        ([0, 0, 0], ValueError, r"^Sample weights must contain at least one non-zero number\.$"),
        (0, ValueError, r"^Sample weights must contain at least one non-zero number\.$"),
        ([1, 2], ValueError, r"sample_weight\.shape == \(2,\), expected \(3,\)"),
        (np.ones((3, 1)), ValueError, "must be 1D array or scalar, got 2D array"),
        (["a", "b", "c"], ValueError, "^sample_weight must hold numbers: its dtype is <U1"),
        ("balanced", ValueError, "^sample_weight must hold numbers"),
        ([1j, 1, 1], ValueError, "^sample_weight must hold numbers"),
        ([[1], [2, 3]], ValueError, "^sample_weight must hold numbers"),
        ({0: 1}, ValueError, "^sample_weight must hold numbers"),
        (sparse.eye(3), TypeError, "sample_weight must be a dense array"),
        (np.ma.array([1, 2, 3], mask=[0, 1, 0]), ValueError, "sample_weight .* masked"),
    ],
)
def test_bad_weights(weight, error, text):
    with pytest.raises(error, match=text):
        check_sample_weight(weight, 3)


def test_class_weights():
    classes, codes = np.array(["a", "b", "c"]), np.array([0, 0, 0, 1, 2, 2])
    assert class_weight_vector(None, classes, codes).tolist() == [1, 1, 1]
    assert class_weight_vector({}, classes, None).tolist() == [1, 1, 1]
    assert class_weight_vector({"b": 5, "c": 0}, classes, None).tolist() == [1, 5, 0]
    np.testing.assert_allclose(class_weight_vector("balanced", classes, codes), [6 / 9, 2, 1])


def test_balanced_counts_weights_as_repetitions():
    utils = pytest.importorskip("sklearn.utils.class_weight")
    rng = np.random.default_rng(0)
    classes, codes = np.array([3, 5, 9]), rng.integers(0, 3, 40)
    weight = rng.integers(0, 4, 40).astype(float)
    result = class_weight_vector("balanced", classes, codes, weight)
    repeated = np.repeat(codes, weight.astype(int))
    np.testing.assert_allclose(result, class_weight_vector("balanced", classes, repeated))
    expected = utils.compute_class_weight(
        "balanced", classes=classes, y=classes[codes], sample_weight=weight
    )
    np.testing.assert_allclose(result, expected)


def test_a_class_without_weight_does_not_count_as_a_class():
    result = class_weight_vector(
        "balanced", np.arange(3), np.array([0, 0, 1, 2]), np.array([1.0, 1.0, 1.0, 0.0])
    )
    np.testing.assert_allclose(result, [0.75, 1.5, 1.0])


@pytest.mark.parametrize(
    ("labels", "class_weight"),
    [
        ([0, 1], {0: 2, 1: 3}),
        ([0.0, 1.0], {0: 2, 1: 3}),
        ([False, True], {False: 2, True: 3}),
        (["0", "1"], {"0": 2, np.str_("1"): 3}),
        ([0, 1], {np.int8(0): 2, 1.0: 3}),
    ],
)
def test_keys_match_labels_of_every_dtype(labels, class_weight):
    assert class_weight_vector(class_weight, np.array(labels), None).tolist() == [2, 3]


def test_unknown_class_weights_are_listed():
    text = "class_weight names labels that are not in y: '1', 5; the classes are 0, 1"
    with pytest.raises(ValueError, match=text):
        class_weight_vector({"1": 2, 0: 1, 5: 1}, np.array([0, 1]), None)
    with pytest.raises(InvalidParameterError, match="class_weight must be None, 'balanced' or a"):
        ClassWeight().check("class_weight", {0: -2})


def test_class_and_sample_weights_multiply():
    classes, codes = np.array([0, 1]), np.array([0, 1, 1], np.int32)
    weight = np.array([1.0, 2.0, 3.0])
    assert effective_weight(None, classes, codes, None) is None
    assert effective_weight(None, classes, codes, weight) is weight
    assert effective_weight({1: 2}, classes, codes).tolist() == [1, 2, 2]
    assert effective_weight({1: 2}, classes, codes, weight).tolist() == [1, 4, 6]
    assert weight.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="leave no row with a weight"):
        effective_weight({0: 0}, classes, codes, np.array([1.0, 0.0, 0.0]))
