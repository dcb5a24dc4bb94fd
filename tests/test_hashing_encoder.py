"""Hashed categories and crosses against scikit-learn's hash, and against a row-by-row reference."""

import io
import struct
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastlin
from fastlin import HashingEncoder, OneHotEncoder
from fastlin._category_hashes import category_text
from fastlin._core import hashed

NAN = float("nan")


def murmur(data):
    """MurmurHash3 x86_32 with seed 0, signed, byte by byte."""
    mask, h = 2**32 - 1, 0
    for start in range(0, len(data), 4):
        k = int.from_bytes(data[start : start + 4], "little") * 0xCC9E2D51 & mask
        h ^= (k << 15 | k >> 17) * 0x1B873593 & mask
        if start + 4 <= len(data):
            h = ((h << 13 | h >> 19) * 5 + 0xE6546B64) & mask
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & mask
    h = (h ^ h >> 13) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - 2**32 if h >> 31 else h


def reference(rows, names, crosses, n_features, alternate_sign=True, binary=False):
    """The dense matrix of rows of texts; None is a category without text."""
    out = np.zeros((len(rows), n_features))
    for i, row in enumerate(rows):
        hashes = [
            murmur((name if cell is None else f"{name}={cell}").encode("utf-8", "surrogatepass"))
            for name, cell in zip(names, row, strict=True)
        ]
        for cross in crosses:
            packed = struct.pack(f"<{len(cross)}i", *[hashes[j] for j in cross])
            hashes.append(murmur(packed))
        for h in hashes:
            column = abs(h) % n_features
            out[i, column] = 1 if binary else out[i, column] + (
                -1 if alternate_sign and h < 0 else 1
            )  # fmt: skip
    return out


def test_columns_and_values_are_those_of_feature_hasher():
    extraction = pytest.importorskip("sklearn.feature_extraction")
    rng = np.random.default_rng(0)
    words = np.array(["", "a", "é", "日本語", "22pcs efuture", "x=y"], dtype=object)
    X = words[rng.integers(0, 6, (200, 4))]
    dicts = [{f"x{j}": cell for j, cell in enumerate(row)} for row in X]
    for n_features in (1, 7, 2**20, 1_000_003):
        for sign in (True, False):
            theirs = extraction.FeatureHasher(n_features, alternate_sign=sign).transform(dicts)
            theirs.eliminate_zeros()
            ours = HashingEncoder(n_features, alternate_sign=sign).transform(X)
            assert ours.has_canonical_format and (ours != theirs).nnz == 0
            assert ours.nnz == theirs.nnz


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.text(max_size=9), st.text(max_size=40)), min_size=1, max_size=6),
    st.integers(1, 40), st.booleans(), st.booleans(),
)  # fmt: skip
def test_any_text(rows, n_features, alternate_sign, binary):
    X = np.empty((len(rows), 2), dtype=object)
    X[:] = rows
    encoder = HashingEncoder(
        n_features, interactions=[(0, 1), (1, 0)][:1], alternate_sign=alternate_sign, binary=binary
    )
    expected = reference(rows, ["x0", "x1"], [(0, 1)], n_features, alternate_sign, binary)
    np.testing.assert_array_equal(encoder.transform(X).toarray(), expected)
    rows_ = encoder.set_params(output="rows").transform(X)
    np.testing.assert_array_equal(rows_.toarray(), expected)
    assert rows_.values is not None or rows_.layout == ("ones" if binary else "signed") or (
        not alternate_sign and rows_.layout == "ones"
    )  # fmt: skip


def test_lone_surrogates_and_long_texts():
    cells = ["\ud800", "a\udfffb", "\U0001f600", "z" * 1000]
    X = np.array([[cell] for cell in cells], dtype=object)
    expected = reference([[cell] for cell in cells], ["x0"], [], 2**20)
    np.testing.assert_array_equal(HashingEncoder().transform(X).toarray(), expected)


EDGES = [0, -1, 1, 2**31 - 1, -(2**31), 2**31, 2**32, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.sampled_from(EDGES), st.integers(-(2**63), 2**63 - 1)))
def test_integers_hash_as_their_text(number):
    out = np.zeros(1, np.int64)
    hashed.hash_integers(np.array([number]), b"n=", out, 0, 1)
    assert out[0] == murmur(f"n={number}".encode()) % 2**32


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 2**31 - 1), st.booleans())
def test_every_hash_has_a_column(hash_, n_features, alternate_sign):
    check_hash(hash_, n_features, alternate_sign)


@pytest.mark.parametrize("hash_", [0, 1, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1])
@pytest.mark.parametrize("n_features", [1, 2, 3, 1_000_000, 2**20, 2**30, 2**31 - 1])
def test_edges_of_32_bits(hash_, n_features):
    check_hash(hash_, n_features, True)


def check_hash(hash_, n_features, alternate_sign):
    """One cell with a given hash gets the column |h| mod n_features and the sign of h."""
    index, value = np.zeros(1, np.int32), np.zeros(1, np.int32)
    ends = np.zeros(1, np.int64)
    done = hashed.hashed_rows(
        np.array([[hash_]]), np.zeros(1, np.int32), np.ones(1, np.int32), n_features,
        alternate_sign, False, np.zeros(2, np.uint32), ends, index, value,
    )  # fmt: skip
    signed = hash_ - 2**32 if hash_ >> 31 else hash_
    column, negative = abs(signed) % n_features, alternate_sign and signed < 0
    assert done == (1, False) and ends[0] == 1
    assert index[0] == (~column if negative else column) and value[0] == (-1 if negative else 1)


def test_many_terms_in_few_columns():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 50, (40, 9))
    crosses = [(a, b) for a in range(9) for b in range(9) if a < b] + [(0, 1, 2), (8, 3, 5, 1)]
    for n_features, sign in ((3, True), (5, False), (64, True), (2**16, True)):
        encoder = HashingEncoder(n_features, interactions=crosses, alternate_sign=sign)
        expected = reference(X.tolist(), [f"x{j}" for j in range(9)], crosses, n_features, sign)
        result = encoder.transform(X)
        np.testing.assert_array_equal(result.toarray(), expected)
        assert result.has_sorted_indices and not (result.data == 0).any()


def test_the_text_of_a_category_does_not_hang_on_its_container():
    assert [category_text(v) for v in ("3", 3, 3.0, np.float32(3), np.uint8(3), -0.0, 0.1)] == [
        "3", "3", "3", "3", "3", "0", "0.1",
    ]  # fmt: skip
    assert category_text(True) == "True" and category_text(2**70) == str(2**70)
    assert category_text(1e300) == str(int(1e300)) and category_text(b"x") == b"x"
    expected = HashingEncoder().transform(np.array([["3"], ["0"], ["-7"]]))
    dtypes = (np.int8, np.int64, float, np.float32, object)
    same = [np.array([[3], [0], [-7]], dtype) for dtype in dtypes]
    same += [[[3], [0], [-7]], np.array([[b"3"], [b"0"], [b"-7"]]), [["3"], [0.0], [-7]]]
    for X in same:
        assert (HashingEncoder().transform(X) != expected).nnz == 0
    day = np.array([["2020-01-02"], ["1960-05-05"]], "M8[D]")
    dates = HashingEncoder().transform(np.array([["2020-01-02"], ["1960-05-05"]]))
    for unit in ("D", "s", "ns"):
        assert (HashingEncoder().transform(day.astype(f"M8[{unit}]")) != dates).nnz == 0


def test_frames_of_every_library():
    data = {"a": ["u", None, "é", "u"], "n": [3, -1, 3, 2], "f": [True, False, True, True]}
    rows = [["u", 3, True], [None, -1, False], ["é", 3, True], ["u", 2, True]]
    encoder = HashingEncoder(2**12, interactions=[("a", "n")])
    expected = reference(rows, ["a", "n", "f"], [(0, 1)], 2**12)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    made = [pandas.DataFrame(data), pandas.DataFrame(data).astype({"a": "category", "n": "Int64"})]
    made += [polars.DataFrame(data), polars.DataFrame(data)]
    made[-1] = made[-1].cast({"a": polars.Categorical, "n": polars.Int8})
    try:
        import pyarrow
    except ImportError:
        pass
    else:
        table = pyarrow.table(data)
        made += [table, pyarrow.concat_tables([table.slice(0, 1), table.slice(1)])]
    for frame in made:
        np.testing.assert_array_equal(encoder.transform(frame).toarray(), expected)
        assert encoder.fit(frame).feature_names_in_.tolist() == ["a", "n", "f"]
        assert (encoder.transform(frame) != encoder.fit_transform(frame)).nnz == 0
        encoder = HashingEncoder(2**12, interactions=[(0, 1)])


def test_missing_values():
    X = np.array([["u", 1.0], [None, NAN], ["v", NAN]], dtype=object)
    ignoring = HashingEncoder(64, interactions=[(0, 1)], handle_missing="ignore", output="rows")
    assert np.diff(ignoring.transform(X).indptr).tolist() == [3, 0, 1]
    kept = HashingEncoder(64, interactions=[(0, 1)]).transform(X)
    expected = reference([["u", 1], [None, None], ["v", None]], ["x0", "x1"], [(0, 1)], 64)
    np.testing.assert_array_equal(kept.toarray(), expected)
    with pytest.raises(ValueError, match=r"column 0 of X \('x0'\) has a missing value in row 1"):
        HashingEncoder(handle_missing="error").transform(X)
    times = np.array([["NaT"], ["2020-01-01"]], "M8[D]")
    assert HashingEncoder(handle_missing="ignore").transform(times).nnz == 1


def test_rows_need_four_bytes_per_entry():
    X = np.random.default_rng(0).integers(0, 9, (500, 6))
    rows = HashingEncoder(2**20, binary=True, output="rows").transform(X)
    assert rows.layout == "ones" and rows.indptr is None and rows.nbytes == 4 * X.size
    crosses = HashingEncoder(
        2**24, main_effects=False, interactions=[(0, 1), (2, 3)], output="rows", dtype=np.float32
    ).transform(X)
    assert crosses.layout == "signed" and crosses.width == 2 and crosses.dtype == np.float32


def test_threads_change_nothing():
    X = np.random.default_rng(0).integers(-5, 999, (70_000, 3))
    one = HashingEncoder(99, interactions=[(0, 1, 2)]).transform(X)
    two = HashingEncoder(99, interactions=[(0, 1, 2)], n_jobs=2).transform(X)
    assert (one != two).nnz == 0 and np.array_equal(one.indices, two.indices)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_features": 0}, "n_features must be"),
        ({"n_features": 2**31}, "n_features must be"),
        ({"interactions": "ab"}, "interactions must be"),
        ({"interactions": [("x0",)]}, "interactions must be tuples of two or more columns"),
        ({"interactions": [("x0", "y")]}, r"interactions names the column 'y', but X has \['x0'"),
        ({"interactions": [(0, 2)]}, r"a column of interactions must be .*, got 2"),
        ({"interactions": [(0, "x0")]}, "crosses a column with itself"),
        ({"interactions": [(0, 1), (1, 0)]}, r"interactions has the columns \(1, 0\) twice"),
        ({"main_effects": False}, "main_effects=False needs interactions"),
        ({"handle_missing": "drop"}, "handle_missing must be one of"),
        ({"output": "dense"}, "output must be one of"),
        ({"dtype": int}, "dtype must be float64 or float32"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        HashingEncoder(**params).fit_transform([["a", "b"]])


def test_bad_tables():
    encoder = HashingEncoder(16)
    for X, error, message in (
        (["a"], ValueError, "Reshape your data"),
        (np.zeros((0, 2)), ValueError, "0 sample"),
        (np.array([[np.inf]]), ValueError, "infinity"),
        (np.array([[{}]], dtype=object), TypeError, "argument must be a string"),
    ):
        with pytest.raises(error, match=message):
            encoder.transform(X)
    encoder.fit([["a", "b"]])
    with pytest.raises(ValueError, match="X has 1 features, but HashingEncoder is expecting 2"):
        encoder.transform([["a"]])


def test_search_save_and_names():
    X = np.random.default_rng(0).choice(["a", "b", "c"], (60, 3)).astype(object)
    y = (X[:, 0] == X[:, 1]).astype(int)
    pipe = fastlin.make_pipeline(
        HashingEncoder(2**10, interactions=[(0, 1)]), fastlin.Perceptron(max_iter=20, tol=None)
    )
    search = fastlin.GridSearchCV(pipe, {"hashingencoder__n_features": [8, 2**10]}, cv=3)
    assert search.fit(X, y).best_params_ == {"hashingencoder__n_features": 2**10}
    assert search.best_score_ > 0.9
    file = io.BytesIO()
    fastlin.save(search.best_estimator_, file)
    again = fastlin.load(io.BytesIO(file.getvalue()))
    assert (again.predict(X) == search.predict(X)).all()
    names = HashingEncoder(3).fit(X).get_feature_names_out()
    assert names.tolist() == ["hashingencoder0", "hashingencoder1", "hashingencoder2"]


def test_scikit_learns_own_checks():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    for estimator, check in checks.estimator_checks_generator(HashingEncoder(64)):
        if check.func.__name__ != "check_array_api_input":
            check(estimator)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_missing_cell_changes_no_other(library):
    module = pytest.importorskip(library)
    frame = {
        "pandas": lambda values: module.DataFrame({"a": module.array(values)}),
        "polars": lambda values: module.DataFrame({"a": values}),
        "pyarrow": lambda values: module.table({"a": values}),
    }[library]
    for values in ([True, False], [2**60 + 1, 2**60], [3, -4]):
        encoder = HashingEncoder(n_features=1 << 16, alternate_sign=False)
        whole = encoder.transform(frame(values)).indices.tolist()
        assert encoder.transform(frame([*values, None])).indices.tolist()[:2] == whole
        width = OneHotEncoder().fit_transform(frame([*values, None])).shape[1]
        assert width == 3


@pytest.mark.parametrize(
    ("decimal", "same"),
    [
        ("3.00", 3), ("3.0", "3"), ("0.10", 0.1), ("1E+2", 100.0), ("-0.0", 0), ("0.00001", 1e-5),
        ("1.0e500", Decimal("10e499")), ("0E-999", 0), ("9007199254740993.0", 2**53 + 1),
        ("9223372036854776000", "9223372036854776000"), ("0.3333333333333333333330",
        "0.333333333333333333333"),
    ],
)  # fmt: skip
def test_decimals_count_by_their_number(decimal, same):
    texts = [category_text(value) for value in (Decimal(decimal), same)]
    assert texts[0] == texts[1]
    encoder = HashingEncoder(n_features=2**30)
    first, second = (
        encoder.transform(np.array([[value]], object)) for value in (Decimal(decimal), same)
    )
    assert first.indices.tolist() == second.indices.tolist()


def test_decimals_are_rounded_to_no_float():
    assert category_text(Decimal("0.1000000000000000055")) == "0.1000000000000000055"
    assert category_text(Decimal("9007199254740993")) == str(2**53 + 1)


def test_half_precision_hashes_like_double():
    X = np.array([[1.0], [0.5], [65504.0], [NAN]], np.float16)
    encoder = HashingEncoder(n_features=2**30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = encoder.transform(X)
    assert found.indices.tolist() == encoder.transform(X.astype(float)).indices.tolist()
