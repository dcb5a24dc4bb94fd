"""The door: anything that a user may pass as X becomes right `Rows` or a clear error, and nothing
that the user owns is changed."""

import pickle
import re
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from layouts import LAYOUTS
from public import LEARNERS, ONLINE, made, name
from scipy import sparse

from fastlin import LinearSVC, Rows, _data, as_rows
from fastlin._scores import longest_square

pytestmark = pytest.mark.memory

NAMES = [layout.name for layout in LAYOUTS]
VALUES = [np.nan, np.inf, -np.inf]


def fails(X, message, kind=ValueError):
    with pytest.raises(kind, match=message):
        as_rows(X)


# What is accepted, and what it shares


DTYPES = ["f4", "f8", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
DENSE_ONLY = ["f2", ">f4", ">f8", ">i4"]
STORAGES = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_array, sparse.coo_array]


@pytest.mark.parametrize(
    ("storage", "dtype"),
    [(storage, dtype) for storage in STORAGES for dtype in DTYPES]
    + [(storage, dtype) for storage in STORAGES[:2] for dtype in DENSE_ONLY],
)
def test_every_numeric_dtype_is_accepted(storage, dtype):
    X = np.array([[1, 0, 3], [0, 1, 0]]).astype(dtype)
    rows = as_rows(storage(X))
    assert rows.dtype == (np.float32 if dtype in ("f2", "f4", ">f4") else np.float64)
    np.testing.assert_array_equal(rows.toarray(), X.astype(float))


@pytest.mark.parametrize("wanted", [np.float32, np.float64, "float32", np.dtype("f8")])
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_a_dtype_can_be_asked_for(layout, wanted):
    X, dense = layout.make()
    rows = as_rows(X, dtype=wanted)
    assert rows.dtype == np.dtype(wanted)
    np.testing.assert_array_equal(rows.toarray(), dense.astype(wanted))
    assert as_rows(rows) is rows
    assert as_rows(rows, dtype=wanted) is rows


@pytest.mark.parametrize("wanted", [np.int32, "float16", complex, object, np.longdouble])
def test_other_dtypes_are_refused(wanted):
    with pytest.raises(ValueError, match="dtype must be float32 or float64, got"):
        as_rows(np.eye(2), dtype=wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_not_copied_where_dtype_and_order_fit(dtype):
    dense = np.random.default_rng(0).normal(size=(5, 4)).astype(dtype)
    assert np.shares_memory(as_rows(dense).values, dense)
    assert np.shares_memory(as_rows(dense[1:4]).values, dense)
    assert not np.shares_memory(as_rows(np.asfortranarray(dense)).values, dense)
    locked = dense.copy()
    locked.flags.writeable = False
    assert np.shares_memory(as_rows(locked).values, locked)
    csr = sparse.csr_array(dense)
    rows = as_rows(csr)
    assert np.shares_memory(rows.values, csr.data)
    assert np.shares_memory(rows.indices, csr.indices)
    wide = sparse.csr_array(dense)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    rows = as_rows(wide)
    assert np.shares_memory(rows.values, wide.data)
    assert np.shares_memory(rows.indptr, wide.indptr)
    assert rows.indices.dtype == np.int32


def test_a_memory_map_stays_on_disk():
    with tempfile.TemporaryFile() as file:
        np.arange(12.0).tofile(file)
        file.flush()
        mapped = np.memmap(file, dtype=float, mode="r", shape=(4, 3))
        assert np.shares_memory(as_rows(mapped).values, mapped)


def test_ones_store_no_values_and_no_bounds():
    fixed = as_rows(sparse.csr_array(np.eye(4)))
    assert (fixed.layout, fixed.width, fixed.nnz) == ("ones", 1, 4)
    assert fixed.values is None
    assert fixed.indptr is None
    assert fixed.nbytes == 16
    ragged = as_rows(sparse.csr_array(np.tri(4)))
    assert (ragged.layout, ragged.width, ragged.nnz) == ("ones", -1, 10)
    assert ragged.values is None
    other = as_rows(sparse.csr_array(np.diag([1, 1, 1, np.nextafter(1, 2)])))
    assert (other.layout, other.nnz) == ("csr", 4)
    assert as_rows(sparse.csr_array((3, 3))).nnz == 0


def test_rows_are_locked():
    for X in (np.eye(3), sparse.csr_array(np.diag([1.0, 2, 3])), sparse.csr_array(np.eye(3))):
        rows = as_rows(X)
        for part in (rows.values, rows.indices, rows.indptr):
            if part is not None:
                with pytest.raises(ValueError, match="read-only"):
                    part[:1] = 0
        for attribute in ("values", "indices", "indptr", "shape", "layout"):
            with pytest.raises(AttributeError):
                setattr(rows, attribute, None)
    with pytest.raises(TypeError, match="as_rows"):
        Rows()


@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_rows_survive_a_pickle_and_a_selection(layout):
    X, dense = layout.make()
    rows = as_rows(X)
    again = pickle.loads(pickle.dumps(rows))
    assert repr(again) == repr(rows)
    np.testing.assert_array_equal(again.toarray(), dense)
    for chosen in (slice(3, 9), [5, 0, 5], np.arange(40) % 3 == 1, np.array([7])):
        np.testing.assert_array_equal(rows[chosen].toarray(), dense[chosen])


# What is refused


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros(3), r"Expected 2D array, .*shape \(3,\).*Reshape your data"),
        (np.float64(3), r"Expected 2D array, .*Reshape your data"),
        (3, "Expected 2D array"),
        (None, "Expected 2D array"),
        ([], "Expected 2D array"),
        ([1, 2, 3], "Expected 2D array"),
        (np.zeros((2, 2, 2)), r"Expected 2D array, .*\(2, 2, 2\)"),
        (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        (sparse.csr_array((0, 3)), r"0 sample\(s\)"),
        (sparse.csr_array((3, 0)), r"0 feature\(s\)"),
        (sparse.coo_array(np.ones(3)), "Expected 2D array, got a sparse array of shape"),
        (sparse.csr_array((2, 2**31 + 5)), "X has 2147483653 columns, more than 32-bit"),
        ([[1, 2], [3]], "X must be a 2d array, got rows that don't fit"),
        ([["a", "b"]], "X must hold numbers: .*'a'.*encode strings first"),
        (np.array([[1, "x"]], dtype=object), "X must hold numbers: .*'x'"),
        (np.zeros((2, 2), complex), "Complex data not supported"),
        (np.array([[1, 2j]], dtype=object), "Complex data not supported"),
        (sparse.csr_array(np.eye(2, dtype=complex)), "Complex data not supported"),
        (
            np.ma.masked_array(np.eye(2), mask=[[0, 1], [0, 0]]),
            "NaN: some of its values are masked",
        ),
    ],
    ids=str,
)
def test_what_is_no_matrix_of_numbers_is_refused(X, message):
    fails(X, message)


@pytest.mark.parametrize(
    "X",
    [
        np.array([["2020-01-01"]], dtype="datetime64[D]"),
        np.array([[1]], dtype="timedelta64[s]"),
        {"a": [1, 2]},
        {1, 2},
        (i for i in range(3)),
        object(),
        np.array([[{}]], dtype=object),
    ],
    ids=lambda X: type(X).__name__,
)
def test_other_objects_are_refused(X):
    with pytest.raises((TypeError, ValueError), match=r"X must hold numbers|Expected 2D array"):
        as_rows(X)


def test_strings_of_numbers_are_numbers():
    # as scikit-learn reads them
    np.testing.assert_array_equal(as_rows([["1.5", "2"]]).toarray(), [[1.5, 2.0]])


def test_an_unmasked_masked_array_is_an_array():
    np.testing.assert_array_equal(as_rows(np.ma.masked_array(np.eye(2))).toarray(), np.eye(2))


@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    bad=st.sampled_from(VALUES),
    dtype=st.sampled_from([np.float32, np.float64]),
    sparse_format=st.sampled_from([None, "csr", "csc", "coo"]),
    data=st.data(),
)
def test_non_finite_values_are_found_with_their_place(shape, bad, dtype, sparse_format, data):
    i, j = data.draw(st.integers(0, shape[0] - 1)), data.draw(st.integers(0, shape[1] - 1))
    X = np.random.default_rng(0).normal(size=shape).astype(dtype)
    X[i, j] = bad
    given_ = X if sparse_format is None else sparse.coo_array(X).asformat(sparse_format)
    what = "NaN" if np.isnan(bad) else "infinity"
    fails(given_, f"Input X contains {what}.*row {i}, column {j}\\.")


def test_the_first_of_several_is_named():
    X = np.ones((70_000, 3))
    X[60_001, 2] = X[60_000, 1] = np.nan
    fails(X, "row 60000, column 1")
    fails(sparse.csr_array(X), "row 60000, column 1")


def test_values_past_the_wanted_type_are_named():
    X = np.array([[1.0, 1e39]])
    for given_ in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"too large for float32 \(1e\+39\).*row 0, column 1"):
            as_rows(given_, dtype=np.float32)
    with pytest.raises(ValueError, match="too large for float32"):
        as_rows(as_rows(X), dtype=np.float32)
    if np.finfo(np.longdouble).max > np.finfo(float).max:
        fails(np.array([[1.0, 10.0]], dtype=np.longdouble) ** 400, "too large for float64")
    fails(np.array([[10**400]], dtype=object), "X must hold numbers: int too large")


@pytest.mark.parametrize("scale", [np.finfo(float).max, 1e300, 5e-324, 1e-310])
def test_every_finite_value_passes(scale):
    X = np.array([[scale, -scale], [0.0, -0.0]])
    np.testing.assert_array_equal(as_rows(X).toarray(), X)
    np.testing.assert_array_equal(as_rows(sparse.csr_array(X)).toarray(), X)


# Nothing of the user's is changed


def parts_of(X):
    """The arrays of a matrix, as bytes."""
    if isinstance(X, (np.ndarray, list)):
        return [np.asarray(X).tobytes(), str(np.asarray(X).dtype)]
    found = []
    for attribute in ("data", "indices", "indptr", "row", "col", "offsets", "values", "rows"):
        part = getattr(X, attribute, None)
        if isinstance(part, np.ndarray):
            found.append((attribute, part.dtype.str, pickle.dumps(part.tolist())))
    return found


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
@pytest.mark.parametrize("layout", LAYOUTS, ids=NAMES)
def test_the_callers_arrays_are_never_changed(layout, cls, quiet):
    X, dense = layout.make()
    y = (np.arange(len(dense)) % 2).astype(np.int16)
    weight = np.linspace(0.5, 1.5, len(dense))
    y.flags.writeable = weight.flags.writeable = False
    before = parts_of(X)
    model = made(cls, max_iter=2).fit(X, y, sample_weight=weight)
    model.predict(X)
    model.score(X, y, sample_weight=weight)
    if cls in ONLINE:
        model.partial_fit(X, y, sample_weight=weight)
    assert parts_of(X) == before
    np.testing.assert_array_equal(y, np.arange(len(dense)) % 2)
    np.testing.assert_array_equal(weight, np.linspace(0.5, 1.5, len(dense)))


# Non-finite values at every entry point (CASES 29)


@pytest.mark.parametrize("cls", LEARNERS, ids=name)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("bad", VALUES)
def test_non_finite_values_are_refused_at_every_entry(cls, convert, bad, quiet):
    good, y = np.random.default_rng(0).normal(size=(6, 3)), [0, 1, 0, 1, 0, 1]
    X = good.copy()
    X[4, 1] = bad
    X, place = convert(X), "row 4, column 1"
    with pytest.raises(ValueError, match=place):
        cls().fit(X, y)
    first = {"classes": [0, 1]} if hasattr(cls, "decision_function") else {}
    # enough rows for the folds of a search
    model = made(cls, max_iter=2).fit(np.tile(good, (3, 1)), y * 3)
    kept = model.coef_.copy()
    if cls in ONLINE:
        with pytest.raises(ValueError, match=place):
            cls().partial_fit(X, y, **first)
        with pytest.raises(ValueError, match=place):
            model.partial_fit(X, y)
    for method in ("predict", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match=place):
                getattr(model, method)(X)
    with pytest.raises(ValueError, match=place):
        model.score(X, y)
    np.testing.assert_array_equal(model.coef_, kept)


# Hypothesis: any dense array


@given(
    hnp.arrays(
        dtype=st.one_of(
            hnp.floating_dtypes(),
            hnp.integer_dtypes(),
            hnp.boolean_dtypes(),
            hnp.unsigned_integer_dtypes(),
        ),
        shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    )
)
def test_any_numeric_array_is_right_or_refused(X):
    with np.errstate(all="ignore"):
        try:
            rows = as_rows(X)
        except ValueError as error:
            wrong = X.ndim != 2 or X.size == 0 or not np.isfinite(X).all()
            assert wrong, error
            return
    assert X.ndim == 2
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(rows.toarray(), X.astype(rows.dtype))


@given(
    st.one_of(
        st.none(),
        st.text(),
        st.integers(),
        st.floats(),
        st.binary(),
        st.lists(
            st.one_of(
                st.none(),
                st.text(max_size=3),
                st.floats(),
                st.lists(st.one_of(st.floats(), st.text(max_size=2), st.none()), max_size=3),
            ),
            max_size=3,
        ),
    )
)
def test_any_nested_list_is_right_or_refused(X):
    try:
        rows = as_rows(X)
    except (ValueError, TypeError) as error:
        assert re.search(r"X |Expected 2D|sample\(s\)|feature\(s\)", str(error)), error
        return
    np.testing.assert_array_equal(rows.toarray(), np.asarray(X, dtype=object).astype(float))


# Frames


def test_pandas_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.5, 2.0], "b": [0, 3]})
    np.testing.assert_array_equal(as_rows(frame).toarray(), [[1.5, 0], [2, 3]])
    nullable = pd.DataFrame(
        {"a": pd.array([1, 2], dtype="Int64"), "b": pd.array([True, False], dtype="boolean")}
    )
    np.testing.assert_array_equal(as_rows(nullable).toarray(), [[1, 1], [2, 0]])
    sparse_frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(np.eye(3)))
    np.testing.assert_array_equal(as_rows(sparse_frame).toarray(), np.eye(3))
    assert as_rows(pd.DataFrame({"a": np.array([1, 2], np.float32)})).dtype == np.float32
    fails(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), "NaN.*row 1, column 0")
    fails(pd.DataFrame({"a": pd.array([1.5, pd.NA], dtype="Float64")}), "NaN.*row 1, column 0")
    fails(pd.DataFrame({"a": [1, None]}), "NaN.*row 1, column 0")
    nullable.loc[1, "b"] = pd.NA
    fails(nullable, "NaN.*row 1, column 1")
    fails(pd.DataFrame({"a": list("xy")}), "encode strings first")
    fails(pd.DataFrame({"a": pd.Categorical(["x", "y"])}), "encode strings first")
    fails(frame["a"], "Expected 2D array")
    fails(
        pd.DataFrame({"a": pd.date_range("2020-01-01", periods=2)}),
        "X must hold numbers",
        TypeError,
    )


def test_polars_frames():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": [1.5, 2.0], "b": [0, 3]})
    np.testing.assert_array_equal(as_rows(frame).toarray(), [[1.5, 0], [2, 3]])
    fails(pl.DataFrame({"a": [1, None]}), "NaN.*row 1, column 0")
    fails(pl.DataFrame({"a": ["x", "y"]}), "encode strings first")
    fails(pl.DataFrame({"a": [1.0, float("inf")]}), "infinity.*row 1, column 0")
    fails(frame["a"], "Expected 2D array")


def test_objects_with_array_protocol():
    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.eye(2)

    np.testing.assert_array_equal(as_rows(Wrapped()).toarray(), np.eye(2))


@pytest.mark.parametrize("d", [300, 70_000, 3_000_000])
@pytest.mark.parametrize("again", [False, True], ids=["distinct", "duplicates"])
def test_unsorted_rows_of_any_length_are_sorted(d, again):
    rng = np.random.default_rng(d)
    sizes = [0, 1, 2, 7, 8, 9, 63, 64, 65, 200, 0]
    columns = [rng.choice(d, size, replace=False) for size in sizes]
    if again:
        columns[6][-1], columns[9][0] = columns[6][0], columns[9][-1]
    indptr, indices = np.cumsum([0, *sizes]), np.concatenate(columns).astype(np.int32)
    values = np.arange(1.0, len(indices) + 1)
    X = sparse.csr_matrix((values, indices, indptr), shape=(len(sizes), d))
    ordered = X.copy()
    ordered.sum_duplicates()
    rows = as_rows(X)
    assert (rows.to_csr() != ordered).nnz == 0
    assert all((np.diff(rows.indices[a:b]) > 0).all()
               for a, b in zip(rows.indptr, rows.indptr[1:], strict=False))
    assert (X.indices == indices).all()
    assert (X.data == values).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_are_measured_on_their_way_in_are_checked_as_well(dtype):
    X = sparse.random(50, 20, 0.3, "csr", dtype=dtype, random_state=0)
    rows = _data.rows_of(LinearSVC(), X, True, measured=True)
    squares = np.square(X.toarray().astype(float)).sum(axis=1)
    np.testing.assert_allclose(rows._row_squares, squares, rtol=1e-12)
    assert longest_square(rows) == rows._row_squares.max()
    y = np.arange(50) % 2
    for bad, found in ((np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")):
        wrong = X.copy()
        wrong.data[37] = bad
        row = int(np.searchsorted(X.indptr, 37, side="right")) - 1
        with pytest.raises(ValueError, match=f"{found}.* row {row}, column {X.indices[37]}"):
            LinearSVC().fit(wrong, y)
    if dtype == np.float64:
        X.data[37] = 1e200
        with pytest.raises(ValueError, match="squares of its values overflow"):
            LinearSVC().fit(X, y)
        # far from what float32 holds, and near it
        with pytest.raises(ValueError, match="too large for float32"):
            as_rows(as_rows(X), np.float32)
        X.data[37] = 1e37
        rows = _data.rows_of(LinearSVC(), X, True, measured=True)
        assert as_rows(rows, np.float32).values.max() == np.float32(1e37)
        X.data[37] = 1e39
        with pytest.raises(ValueError, match="too large for float32"):
            as_rows(_data.rows_of(LinearSVC(), X, True, measured=True), np.float32)
