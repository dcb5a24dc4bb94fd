"""Data frames at the door: what is no number in them is named, with what to do about it."""

import datetime

import numpy as np
import pytest

from fastlin import (
    ColumnTransformer,
    HashingVectorizer,
    LogisticRegression,
    OneHotEncoder,
    SGDClassifier,
    SGDRegressor,
    as_rows,
    cross_val_score,
)

TIMES = [datetime.datetime(2020, 1, day) for day in (1, 2, 3, 4)]
LIBRARIES = ["pandas", "polars", "pyarrow"]


def frame(library, data):
    """A frame of a library that may not be there."""
    module = pytest.importorskip(library)
    return (module.table if library == "pyarrow" else module.DataFrame)(data)


@pytest.mark.parametrize("library", LIBRARIES)
def test_numbers_of_frames(library):
    data = {"a": [1.0, 2.0, 0.5], "b": [3.0, 4.0, 5.0]}
    rows = as_rows(frame(library, data))
    np.testing.assert_array_equal(rows.values, np.transpose(list(data.values())))
    model = SGDRegressor(max_iter=3, tol=None, random_state=0).fit(frame(library, data), [1, 2, 3])
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame(library, {"b": data["b"], "a": data["a"]}))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("beside", [{}, {"a": [1.0, 2.0, 3.0, 4.0]}])
def test_columns_of_times_are_named(library, beside):
    """Beside numbers they would become numbers of 16 digits."""
    X = frame(library, {**beside, "when": TIMES})
    for call in (as_rows, SGDClassifier().fit):
        arguments = (X,) if call is as_rows else (X, [0, 1, 0, 1])
        with pytest.raises(TypeError, match="its column 'when' holds times .*total_seconds"):
            call(*arguments)


def test_the_remedy_for_times_works():
    pd = pytest.importorskip("pandas")
    times = pd.Series(TIMES)
    seconds = pd.DataFrame({"when": (times - times[0]).dt.total_seconds()})
    np.testing.assert_array_equal(as_rows(seconds).values[:, 0], np.arange(4) * 86400.0)
    array = np.array(TIMES, dtype="datetime64[s]")[:, None]
    seconds = (array - array[0]) / np.timedelta64(1, "s")
    np.testing.assert_array_equal(as_rows(seconds).values[:, 0], np.arange(4) * 86400.0)


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[s]", object])
def test_arrays_of_times_get_that_remedy(kind):
    values = np.array(TIMES, dtype="datetime64[s]")
    X = (values - values[0] if kind == "timedelta64[s]" else values.astype(kind))[:, None]
    with pytest.raises(TypeError, match=r"X must hold numbers.* np.timedelta64\(1, 's'\)\.$"):
        as_rows(X)


@pytest.mark.parametrize("library", LIBRARIES)
def test_strings_get_the_encoders(library):
    X = frame(library, {"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.raises(ValueError, match=r"encode strings first \(OneHotEncoder, Hashing"):
        as_rows(X)


def test_dicts_get_a_frame():
    pd = pytest.importorskip("pandas")
    dicts = [{"a": 1.0}, {"a": 2.0}]
    with pytest.raises(TypeError, match=r"pandas\.DataFrame\(X\)"):
        as_rows([dicts])
    assert as_rows(pd.DataFrame(dicts)).shape == (2, 1)


def test_a_query_that_was_not_run_is_no_data():
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame({"a": [1.0, 2.0]})
    for call in (
        lambda: as_rows(lazy),
        lambda: SGDClassifier().fit(lazy, [0, 1]),
        lambda: OneHotEncoder().fit(lazy),
        lambda: HashingVectorizer().transform(lazy),
    ):
        with pytest.raises(TypeError, match=r"X is a polars LazyFrame.*pass X\.collect\(\)"):
            call()
    with pytest.raises(TypeError, match=r"y is a polars LazyFrame.*pass y\.collect\(\)"):
        SGDClassifier().fit([[1.0], [2.0]], lazy)
    assert as_rows(lazy.collect()).shape == (2, 1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_missing_values_of_frames_are_placed(library):
    with pytest.raises(ValueError, match="contains NaN, first at row 1, column 0"):
        as_rows(frame(library, {"a": [1, None, 3]}))


# What sparse matrices, other frames and Rows are told by
TELLING = [
    "tocsr", "format", "to_csr", "column_names", "layout", "names", "codes", "data", "indptr",
    "toarray", "categories", "type", "schema", "take_rows", "to_arrow", "chunks", "dtypes_",
]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", TELLING)
def test_no_column_name_makes_another_kind_of_a_frame(library, name):
    """Columns of pandas frames are attributes too."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    table = frame(library, {name: X[:, 0], "b": X[:, 1]})
    plain = SGDClassifier(random_state=0).fit(X, y)
    named = SGDClassifier(random_state=0).fit(table, y)
    assert named.feature_names_in_.tolist() == [name, "b"]
    np.testing.assert_array_equal(named.coef_, plain.coef_)
    np.testing.assert_array_equal(named.decision_function(table), plain.decision_function(X))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        np.testing.assert_array_equal(plain.decision_function(table), plain.decision_function(X))
    labels = frame(library, {name: y, "b": 1 - y})
    several = LogisticRegression().fit(X, labels)
    assert several.classes_.tolist() == [name, "b"]
    passed = ColumnTransformer([("all", "passthrough", [name, "b"])]).fit_transform(table)
    np.testing.assert_array_equal(passed, X)
    assert len(OneHotEncoder().fit(labels).categories_) == 2
    scores = cross_val_score(SGDClassifier(random_state=0), table, y, cv=3)
    np.testing.assert_array_equal(
        scores, cross_val_score(SGDClassifier(random_state=0), X, y, cv=3))
