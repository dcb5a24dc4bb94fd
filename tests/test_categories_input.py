"""What the one-hot encoder takes and what it refuses: arrays, frames, errors."""

import datetime
import importlib
import pickle
import warnings

import numpy as np
import pytest
from category_reference import naive
from scipy import sparse

from fastlin import NotFittedError, Rows
from fastlin._columns import coded_columns
from fastlin.categories import OneHotEncoder

NAN = float("nan")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_integers_at_their_limits(dtype):
    info = np.iinfo(dtype)
    X = np.array([[info.max, 0], [info.min, 1], [info.max, 0], [info.max - 1, 1]], dtype=dtype)
    encoder = OneHotEncoder().fit(X)
    assert encoder.categories_[0].tolist() == [info.min, info.max - 1, info.max]
    assert encoder.categories_[0].dtype == dtype
    assert encoder.column_numbers(X).tolist() == [[2, 3], [0, 4], [2, 3], [1, 4]]


def test_an_integer_is_not_the_nearest_float():
    encoder = OneHotEncoder(handle_unknown="ignore").fit([[2**53 + 1], [1]])
    with pytest.warns(UserWarning, match=r"\[9007199254740992.0\] in column 0"):
        assert encoder.column_numbers(np.array([[2.0**53], [1.0]])).tolist() == [[-1], [0]]


def test_read_only_and_strided_arrays():
    base = np.arange(24).reshape(4, 6) % 5
    base.flags.writeable = False
    for X in (base[:, ::2], np.asfortranarray(base), base.astype(object), base.astype(str)):
        before = X.copy()
        expected = naive(X.tolist(), X.tolist())[1]
        np.testing.assert_array_equal(OneHotEncoder().fit_transform(X).toarray(), expected)
        assert (before == X).all()


def test_objects_of_any_kind():
    day = datetime.date(2020, 1, 2)
    X = np.empty((3, 3), dtype=object)
    X[:] = [[day, b"x", 1.5], [day.replace(day=1), b"y", 2], [day, b"x", True]]
    encoder = OneHotEncoder().fit(X)
    assert encoder.transform(X).toarray().tolist() == [
        [0, 1, 1, 0, 0, 1, 0],
        [1, 0, 0, 1, 0, 0, 1],
        [0, 1, 1, 0, 1, 0, 0],
    ]
    stamps = np.array([["2020-01-02"], ["NaT"], ["2019-05-05"]], dtype="datetime64[D]")
    encoder = OneHotEncoder().fit(stamps)
    assert encoder.column_numbers(stamps.astype("datetime64[s]")).tolist() == [[1], [2], [0]]


def test_every_nan_is_one_category():
    X = np.array([[float("nan"), np.float32("nan"), None], [np.nan, 1.0, "a"]], dtype=object)
    encoder = OneHotEncoder().fit(X)
    assert [len(c) for c in encoder.categories_] == [1, 2, 2]
    assert encoder.column_numbers(X).tolist() == [[0, 2, 4], [0, 1, 3]]


def test_lists_keep_their_types():
    encoder = OneHotEncoder().fit([["a", 1], ["b", 2]])
    assert encoder.categories_[1].tolist() == [1, 2]
    assert [c.dtype for c in encoder.categories_] == [object, object]
    assert OneHotEncoder().fit([[1, 2]]).categories_[0].dtype == int


def frames():
    """The same table in every frame library: [(frame, how missing cells read back)]."""
    text, number, flag = ["u", None, "u", "t"], [3, 1, 3, 2], [True, False, True, True]
    data = {"text": text, "number": number, "flag": flag}
    made = []
    pandas = pytest.importorskip("pandas")
    made.append(pandas.DataFrame(data))
    made.append(pandas.DataFrame(data).astype({"text": "category", "number": "category"}))
    made.append(
        pandas.DataFrame(data).astype({"text": "string", "number": "Int64", "flag": "boolean"})
    )
    made.append(pandas.DataFrame({**data, "text": pandas.array(text, dtype=object)}))
    polars = pytest.importorskip("polars")
    made.append(polars.DataFrame(data))
    made.append(polars.DataFrame(data, schema_overrides={"text": polars.Categorical}))
    made.append(polars.DataFrame(data, schema_overrides={"text": polars.Enum(["z", "u", "t"])}))
    try:
        import pyarrow
    except ImportError:
        return made
    made.append(pyarrow.table(data))
    made.append(pyarrow.table({**data, "text": pyarrow.array(text).dictionary_encode()}))
    made.append(
        pyarrow.concat_tables([pyarrow.table(data).slice(0, 2), pyarrow.table(data).slice(2)])
    )
    return made


def test_frames():
    for frame in frames():
        encoder = OneHotEncoder()
        result = encoder.fit_transform(frame)
        assert encoder.feature_names_in_.tolist() == ["text", "number", "flag"]
        assert result.toarray().tolist() == [
            [0, 1, 0, 0, 0, 1, 0, 1],
            [0, 0, 1, 1, 0, 0, 1, 0],
            [0, 1, 0, 0, 0, 1, 0, 1],
            [1, 0, 0, 0, 1, 0, 0, 1],
        ], type(frame)
        names = encoder.get_feature_names_out().tolist()
        assert names[:2] == ["text_t", "text_u"] and names[2] in ("text_None", "text_nan")
        assert names[3:6] == ["number_1", "number_2", "number_3"]
        assert names[6:] == ["flag_False", "flag_True"]
        assert (encoder.transform(frame) != result).nnz == 0


def test_frame_columns_have_types_of_their_own():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "a": pandas.Categorical([5, 6, None], categories=[7, 6, 5]),
            "b": pandas.array([1.5, None, np.nan], dtype="Float64"),
            "c": np.float32([1, np.nan, 2]),
            "d": pandas.to_datetime(["2020-01-01", None, "2019-01-01"]),
        }
    )
    encoder = OneHotEncoder().fit(frame)
    assert encoder.column_numbers(frame).tolist() == [[0, 3, 5, 9], [1, 4, 7, 10], [2, 4, 6, 8]]
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [3, None, 1], "b": [1.5, None, NAN], "c": [None, None, "x"]})
    encoder = OneHotEncoder().fit(frame)
    assert encoder.column_numbers(frame).tolist() == [[1, 3, 6], [2, 4, 6], [0, 4, 5]]
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({"a": [1.0, NAN, None]})
    assert OneHotEncoder().fit(table).column_numbers(table).tolist() == [[0], [1], [1]]


def test_categoricals_of_one_polars_registry():
    polars = pytest.importorskip("polars")
    polars.Series(["p", "q", "r", "s"], dtype=polars.Categorical)
    frame = polars.DataFrame({"a": polars.Series(["s", "x", "s"], dtype=polars.Categorical)})
    encoder = OneHotEncoder().fit(frame)
    assert encoder.categories_[0].tolist() == ["s", "x"]
    other = polars.DataFrame({"a": polars.Series(["x", "s"], dtype=polars.Categorical)})
    assert encoder.column_numbers(other).tolist() == [[1], [0]]


def test_missing_values_as_nothing():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({
        "text": ["x", None, "y", "x"], "float": [1.0, NAN, 2, 1], "none": [None] * 4,
        "number": pandas.array([1, None, 1, 3], dtype="Int64"),
        "category": pandas.Categorical(["u", "v", None, "u"]),
    })  # fmt: skip
    encoder = OneHotEncoder(handle_missing="ignore", output="rows")
    rows = encoder.fit_transform(frame)
    assert rows.layout == "ones" and np.diff(rows.indptr).tolist() == [4, 1, 3, 4]
    assert (encoder.transform(frame).toarray() == rows.toarray()).all()
    assert [list(c) for c in encoder.categories_] == [["x", "y"], [1, 2], [], [1, 3], ["u", "v"]]
    assert encoder.inverse_transform(rows)[1].tolist() == [None, None, None, None, "v"]
    kept = OneHotEncoder().fit(frame)
    assert kept.transform(frame).shape[1] == rows.shape[1] + 5
    for params in ({"drop": "first"}, {"max_categories": 2}, {"drop": "if_binary"}):
        other = OneHotEncoder(handle_missing="ignore", **params).fit(frame)
        assert np.diff(other.transform(frame).indptr)[1] == 1


def test_missing_values_as_errors():
    X = np.array([["a", "u"], ["b", None]], dtype=object)
    refusing = OneHotEncoder(handle_missing="error")
    with pytest.raises(ValueError, match="column 1 of X has a missing value in row 1; handle_mis"):
        refusing.fit(X)
    refusing.fit(X[:1])
    with pytest.raises(ValueError, match="column 1 of X has a missing value in row 0"):
        refusing.transform(X[1:])


def test_threads_change_nothing():
    X = np.random.default_rng(0).integers(-5, 999, (140_000, 3))
    one, two = (OneHotEncoder(n_jobs=n).fit(X).column_numbers(X) for n in (None, 2))
    assert (one == two).all()


# errors


def test_not_fitted():
    for call in (
        lambda e: e.transform([["a"]]),
        lambda e: e.inverse_transform([[1]]),
        lambda e: e.get_feature_names_out(),
        lambda e: e.column_numbers([["a"]]),
    ):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call(OneHotEncoder())
    with pytest.raises(AttributeError, match="only after fit with min_frequency"):
        _ = OneHotEncoder().fit([["a"]]).infrequent_categories_


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (["a", "b"], ValueError, "Reshape your data"),
        (np.zeros((2, 2, 2)), ValueError, "Expected 2D array"),
        (np.zeros((0, 2)), ValueError, r"0 sample\(s\) \(shape=\(0, 2\)\)"),
        (np.zeros((2, 0)), ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        (sparse.csr_matrix([[1]]), TypeError, "Sparse data was passed"),
        (np.array([[1j]]), ValueError, "Complex data not supported"),
        (np.array([[1.0, np.inf]]), ValueError, "column 1 of X: Input X contains infinity"),
        (
            [["a", 1], ["b", "c"]],
            TypeError,
            r"uniformly strings or numbers. Got \['int', 'str'\] in colu",
        ),
        ([["a"], ["b", "c"]], ValueError, "rows that don't fit"),
        (
            np.array([[{}]], dtype=object),
            TypeError,
            "column 0 of X: argument must be a string, a number",
        ),
        (np.ma.array([[1, 2]], mask=[[True, False]]), ValueError, "masked"),
        (
            np.array([[(1,)]], dtype=[("a", int)]),
            ValueError,
            "must hold numbers, strings or objects",
        ),
        (3, ValueError, "Expected 2D array"),
    ],
)
def test_bad_input(X, error, message):
    with pytest.raises(error, match=message):
        OneHotEncoder().fit(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"categories": "all"}, "categories must be 'auto', or"),
        (
            {"categories": [["a"], ["b"]]},
            "categories must have one element per column of X: 1, got 2",
        ),
        ({"categories": [["a", "a", "b"]]}, r"categories\[0\] holds a category twice"),
        ({"categories": [[]]}, "at least one category"),
        ({"categories": [[NAN, "a", "b"]]}, r"NaN must be the last of categories\[0\]"),
        ({"categories": [[b"a", b"b"]]}, r"categories\[0\] are bytes, but column 0 of X holds str"),
        ({"categories": [["a"]]}, r"Found unknown categories \['b'\] in column 0 during fit"),
        ({"drop": "last"}, "drop must be"),
        ({"drop": ["a", "b"]}, "drop must have one element per column of X: 1, got 2"),
        ({"drop": ["c"]}, r"drop names the category 'c' for column 0, which has only \['a', 'b'\]"),
        ({"drop": ["a"], "min_frequency": 9}, "Unable to drop category 'a' from feature 0"),
        ({"handle_unknown": "zero"}, "handle_unknown must be one of"),
        ({"handle_missing": "zero"}, "handle_missing must be one of"),
        ({"min_frequency": 0}, "min_frequency must be"),
        ({"min_frequency": 1.5}, "min_frequency must"),
        ({"max_categories": 0}, "max_categories must be"),
        ({"sparse_output": 1}, "sparse_output must"),
        ({"dtype": str}, "dtype must be a numeric dtype"),
        ({"output": "coo"}, "output must be one of"),
        ({"output": "rows", "sparse_output": False}, "output='rows' needs sparse_output=True"),
        (
            {"output": "rows", "dtype": int},
            "output='rows' needs dtype float32 or float64, got int64",
        ),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        OneHotEncoder(**params).fit([["a"], ["b"]])


def test_unsorted_numbers_and_names():
    with pytest.raises(ValueError, match=r"Unsorted categories are not supported.*categories\[0\]"):
        OneHotEncoder(categories=[[2, 1]]).fit(np.array([[1]]))
    with pytest.raises(
        TypeError, match="feature_name_combiner must return strings, but it returned"
    ):
        OneHotEncoder(feature_name_combiner=lambda f, c: 1).fit([["a"]]).get_feature_names_out()


def test_given_categories_keep_their_values():
    X = np.array([[1], [0]])
    encoder = OneHotEncoder(categories=[[0, 0.5, 1]]).fit(X)
    assert encoder.categories_[0].tolist() == [0, 0.5, 1]
    assert encoder.column_numbers(X).tolist() == [[2], [0]]
    assert OneHotEncoder(categories=[[0.0, 1.0]]).fit(X).categories_[0].dtype == X.dtype


def test_wrong_number_of_columns():
    encoder = OneHotEncoder().fit([["a", "b"]])
    with pytest.raises(ValueError, match="X has 1 features, but OneHotEncoder is expecting 2"):
        encoder.transform([["a"]])


def test_codes_and_values_of_columns():
    (column,) = coded_columns(np.array([["b"], ["a"], ["b"]], dtype=object))
    assert column.codes.tolist() == [0, 1, 0] and column.values.tolist() == ["b", "a"]


def test_scikit_learns_own_checks():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    for encoder in (OneHotEncoder(), OneHotEncoder(sparse_output=False, handle_unknown="ignore")):
        for estimator, check in checks.estimator_checks_generator(encoder):
            if check.func.__name__ != "check_array_api_input":
                check(estimator)


def tables_with_nothing():
    """One table of strings and whole numbers with missing cells, as each library has it."""
    text, number = ["t", None, "u", "t"], [3, 1, None, 3]
    yield np.array([text, number], dtype=object).T
    for name, make in (
        ("pandas", lambda m: m.DataFrame({"text": text, "number": number})),
        ("polars", lambda m: m.DataFrame({"text": text, "number": number})),
        ("pyarrow", lambda m: m.table({"text": text, "number": number})),
    ):
        try:
            yield make(importlib.import_module(name))
        except ImportError:
            continue


def test_nothing_is_the_same_category_in_every_library():
    for seen in tables_with_nothing():
        encoder = OneHotEncoder(drop=None).fit(seen)
        numbers = encoder.column_numbers(seen).tolist()
        assert numbers == [[0, 4], [2, 3], [1, 5], [0, 4]]
        for other in tables_with_nothing():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # some have names, some have none
                assert encoder.column_numbers(other).tolist() == numbers


def test_none_and_nan_stay_apart_where_fit_sees_both():
    encoder = OneHotEncoder().fit(np.array([[None], [np.nan], ["a"]], dtype=object))
    assert encoder.column_numbers(np.array([[np.nan], [None]], dtype=object)).tolist() == [[2], [1]]


def test_rows_go_through_the_column_transformer_of_scikit_learn_and_pickle():
    compose = pytest.importorskip("sklearn.compose")
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": ["x", "y", None, "x"], "b": [1.0, 2.0, 3.0, 4.0]})
    mixed = compose.ColumnTransformer(
        [("a", OneHotEncoder(output="rows"), ["a"]), ("b", "passthrough", ["b"])]
    )
    expected = [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [1, 0, 0, 4]]
    assert mixed.fit_transform(X).tolist() == expected
    assert pickle.loads(pickle.dumps(mixed)).transform(X).tolist() == expected


def test_an_array_of_rows_that_memory_has_no_room_for_is_refused():
    rows = OneHotEncoder(output="rows").fit_transform(np.arange(1 << 17)[:, None])
    wide = Rows.hstack([rows] * 16)
    with pytest.raises(ValueError, match="as a dense array"):
        np.asarray(wide)


@pytest.mark.parametrize("values", [["x", None], [1, None], [1.5, None], [True, None]])
def test_nulls_of_a_dictionary_and_of_its_indices_are_one_category(values):
    pyarrow = pytest.importorskip("pyarrow")
    column = pyarrow.DictionaryArray.from_arrays(
        pyarrow.array([0, 1, None]), pyarrow.array(values)
    )
    X = pyarrow.table({"a": column})
    encoder = OneHotEncoder().fit(X)
    assert len(encoder.categories_[0]) == 2
    assert len(set(encoder.get_feature_names_out())) == 2
    assert encoder.transform(X).toarray().tolist() == [[1, 0], [0, 1], [0, 1]]
    assert OneHotEncoder(drop="first").fit_transform(X).toarray().tolist() == [[0], [1], [1]]
    again = OneHotEncoder(categories=encoder.categories_).fit_transform(X)
    assert (again != encoder.transform(X)).nnz == 0


def test_half_precision_needs_no_larger_numbers():
    X = np.array([[1.0, 0.5], [2.0, 65504.0], [NAN, 65504.0]], np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        encoder = OneHotEncoder().fit(X)
        assert encoder.transform(X).toarray().tolist() == [
            [1, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 0, 1],
        ]  # fmt: skip
    assert encoder.categories_[0].dtype == np.float16
