"""The one-hot encoder: equal to scikit-learn's where they agree, and what it does beyond."""

import pickle
import warnings

import numpy as np
import pytest
from category_reference import naive, same
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import fastlin
from fastlin.categories import OneHotEncoder

NAN = float("nan")


def quiet(function, *args):
    """Call without the warnings about unknown categories, which have tests of their own."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        return function(*args)


words = st.sampled_from(["a", "b", "", "ä", "zz"])
columns_of_kinds = st.sampled_from(
    [
        words,
        st.integers(-3, 3),
        st.booleans(),
        st.sampled_from([0.5, -1.0, 2.0]),
        words | st.none(),
        words | st.none() | st.just(NAN),
        st.sampled_from([1, 2, NAN]),
    ]
)


@st.composite
def object_tables(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    columns = [draw(st.lists(draw(columns_of_kinds), min_size=n, max_size=n)) for _ in range(d)]
    return [list(row) for row in zip(*columns, strict=True)]


@given(object_tables())
@settings(max_examples=80, deadline=None)
def test_against_naive_python(rows):
    X = np.array(rows, dtype=object).reshape(len(rows), -1)
    encoder = OneHotEncoder()
    labels, expected = naive(X.tolist(), X.tolist())
    result = encoder.fit_transform(X)
    assert encoder.get_feature_names_out().tolist() == labels
    np.testing.assert_array_equal(result.toarray(), expected)
    assert (encoder.transform(X) != result).nnz == 0
    assert result.indices.dtype == result.indptr.dtype == np.int32
    back = encoder.inverse_transform(result)
    assert all(map(same, back.ravel().tolist(), X.ravel().tolist()))


def sklearn_encoder():
    return pytest.importorskip("sklearn.preprocessing").OneHotEncoder


def same_as_scikit_learn(X, X_new, **params):
    """Fit both, compare everything that is public."""
    peer = sklearn_encoder()(**params)
    ours = OneHotEncoder(**params)
    try:
        quiet(peer.fit, X)
    except ValueError:
        with pytest.raises(ValueError):
            ours.fit(X)
        return
    ours.fit(X)
    for a, b in zip(ours.categories_, peer.categories_, strict=True):
        assert a.dtype == b.dtype
        assert all(map(same, a.tolist(), b.tolist()))
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    if peer.drop_idx_ is None:
        assert ours.drop_idx_ is None
    else:
        assert ours.drop_idx_.tolist() == peer.drop_idx_.tolist()
    if params.get("min_frequency") or params.get("max_categories"):
        for a, b in zip(ours.infrequent_categories_, peer.infrequent_categories_, strict=True):
            assert (a is None) == (b is None) and (a is None or all(map(same, a, b)))
    for data in (X, X_new):
        try:
            expected = quiet(peer.transform, data)
        except ValueError:
            with pytest.raises(ValueError, match="Found unknown categories"):
                ours.transform(data)
            continue
        found = quiet(ours.transform, data)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert (found != expected).nnz == 0 and found.nnz == expected.nnz
        assert found.has_canonical_format
        np.testing.assert_array_equal(
            quiet(OneHotEncoder(**params, sparse_output=False).fit(X).transform, data),
            expected.toarray(),
        )
        back = inverse(ours, found)
        if data is X and back is not None and "categories" not in params:
            assert all(map(same, back, grouped_cells(ours, X)))
        if params.get("drop") is not None and getattr(ours, "infrequent_categories_", None):
            # scikit-learn then takes positions among grouped categories for those among all.
            continue
        assert_same_inverse(peer, expected, back)


def inverse(encoder, encoded):
    """All cells of the inverse transform, or None if there is none."""
    try:
        return encoder.inverse_transform(encoded).ravel().tolist()
    except ValueError as error:
        assert "can not be inverted" in str(error)
        return None


def assert_same_inverse(peer, encoded, back):
    """The peer's inverse transform equals these cells, or fails where there are none."""
    if encoded.shape[1] == 0:
        return
    try:
        expected = peer.inverse_transform(encoded).ravel().tolist()
    except ValueError:
        assert back is None
        return
    assert all(map(same, back, expected))


def grouped_cells(encoder, X):
    """The cells of X with the name of the group for infrequent categories."""
    rare = getattr(encoder, "infrequent_categories_", [None] * X.shape[1])
    return [
        "infrequent_sklearn"
        if rare[j] is not None and any(same(cell, r) for r in rare[j].tolist())
        else cell
        for row in X.tolist()
        for j, cell in enumerate(row)
    ]


settings_of_encoders = st.fixed_dictionaries(
    {
        "drop": st.sampled_from([None, "first", "if_binary"]),
        "handle_unknown": st.sampled_from(["error", "ignore", "infrequent_if_exist", "warn"]),
        "min_frequency": st.sampled_from([None, 1, 2, 3, 0.3]),
        "max_categories": st.sampled_from([None, 1, 2, 3, 4]),
        "dtype": st.sampled_from([np.float64, np.float32, np.int8, bool]),
    }
)


@given(
    st.integers(0, 10**9), settings_of_encoders, st.sampled_from(["int", "str", "object", "float"])
)
@settings(max_examples=80, deadline=None)
def test_every_setting_equals_scikit_learn(seed, params, kind):
    rng = np.random.default_rng(seed)
    values = {
        "int": np.array([7, -1, 0, 3, 2]),
        "float": np.array([1.5, 2, -3, np.nan, 4]),
        "str": np.array(["a", "b", "c", "dddd", "e"]),
        "object": np.array(["a", "b", None, "d", "e"], dtype=object),
    }[kind]
    X, X_new = (
        values[rng.integers(0, most, (rows, 2))]
        for most, rows in zip(rng.integers(1, 6, 2), rng.integers(1, 15, 2), strict=True)
    )
    same_as_scikit_learn(X, X_new, **params)


@pytest.mark.parametrize(
    "params",
    [
        {"drop": ["b", 2]},
        {"drop": np.array(["a", 1], dtype=object)},
        {"drop": ["zz", 1]},
        {"drop": ["b", 2], "max_categories": 2},
        {"drop": ["a", 2], "min_frequency": 2},
        {"categories": [["c", "a", "b"], [1, 2, 3]]},
        {"categories": [["a"], [1, 2, 3]]},
        {"categories": [["a"], [1]], "handle_unknown": "ignore"},
        {"categories": [["a", "b"], [1, 2, 3, 7]], "min_frequency": 2, "handle_unknown": "warn"},
        {"feature_name_combiner": lambda feature, category: f"{category}/{feature}"},
    ],
)
def test_more_settings_equal_scikit_learn(params):
    X = np.array([["a", 1], ["b", 2], ["b", 3], ["a", 2], ["b", 2]], dtype=object)
    X_new = np.array([["a", 3], ["c", 1], ["b", 9]], dtype=object)
    same_as_scikit_learn(X, X_new, **params)


# unknown categories


def test_unknown_categories_are_an_error():
    encoder = OneHotEncoder().fit(np.array([[0, 5], [1, 6]]))
    with pytest.raises(
        ValueError,
        match=(
            r"Found unknown categories \[2, 9\] in column 1 during "
            r"transform, first in row 1; handle_unknown='ignore'"
        ),
    ):
        encoder.transform(np.array([[0, 5], [1, 9], [1, 2]]))
    pandas = pytest.importorskip("pandas")
    encoder.fit(pandas.DataFrame({"a": ["x"], "b": ["y"]}))
    with pytest.raises(ValueError, match=r"categories \['q'\] in column 1 \('b'\) during"):
        encoder.transform(pandas.DataFrame({"a": ["x"], "b": ["q"]}))


def test_unknown_categories_become_zeros_with_one_warning():
    X = np.array([[0, 5], [1, 6]])
    for option in ("ignore", "infrequent_if_exist", "warn"):
        encoder = OneHotEncoder(handle_unknown=option).fit(X)
        with pytest.warns(UserWarning) as caught:
            result = encoder.transform(np.array([[2, 5], [1, 7]]))
        assert len(caught) == 1 and caught[0].filename == __file__
        assert str(caught[0].message) == (
            "Found unknown categories [2] in column 0 during transform: they are encoded as all "
            "zeros; Found unknown categories [7] in column 1 during transform: they are encoded as "
            "all zeros."
        )
        assert result.toarray().tolist() == [[0, 0, 1, 0], [0, 1, 0, 0]]
        assert encoder.inverse_transform(result).tolist() == [[None, 5], [1, None]]


def test_unknown_categories_are_infrequent():
    X = np.array([["a"]] * 3 + [["b"]])
    encoder = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2).fit(X)
    # No warning: pytest turns one into an error.
    assert encoder.transform([["z"]]).toarray().tolist() == [[0, 1]]
    assert encoder.inverse_transform([[0, 1]]).tolist() == [["infrequent_sklearn"]]
    encoder = OneHotEncoder(handle_unknown="warn", min_frequency=2).fit(X)
    with pytest.warns(UserWarning, match=r"\['z'\] in column 0 .*: they are encoded as infrequent"):
        encoder.transform([["z"]])


def test_types_never_seen_are_unknown():
    encoder = OneHotEncoder(handle_unknown="ignore").fit(np.array([[1], [2]]))
    for value in ("1", None, NAN, 1.5):
        cell = np.empty((1, 1), dtype=object)
        cell[0, 0] = value
        with pytest.warns(UserWarning, match="Found unknown"):
            assert encoder.transform(cell).nnz == 0


# results


def test_rows():
    X = np.array([["a", "x"], ["b", "y"], ["a", "y"]])
    encoder = OneHotEncoder(output="rows").fit(X)
    rows = encoder.transform(X)
    assert isinstance(rows, fastlin.Rows) and rows.layout == "ones" and rows.width == 2
    assert rows.nbytes == 4 * 6
    np.testing.assert_array_equal(rows.toarray(), OneHotEncoder().fit_transform(X).toarray())
    assert (encoder.inverse_transform(rows) == X).all()
    dropped = OneHotEncoder(output="rows", drop="first", dtype=np.float32).fit_transform(X)
    assert dropped.dtype == np.float32
    assert dropped.toarray().tolist() == [[0, 0], [1, 1], [0, 1]]


def test_column_numbers():
    X = np.array([["a", "x"], ["b", "y"], ["c", "y"]])
    encoder = OneHotEncoder(drop=["b", "x"]).fit(X)
    numbers = encoder.column_numbers(X)
    assert numbers.dtype == np.int32 and numbers.flags.c_contiguous
    assert numbers.tolist() == [[0, -1], [-1, 2], [1, 2]]


def test_many_rows_in_blocks():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (20_000, 3))
    result = OneHotEncoder().fit_transform(X)
    expected = sparse.hstack(
        [
            sparse.csr_matrix((np.ones(len(X)), (np.arange(len(X)), X[:, j])), shape=(len(X), 50))
            for j in range(3)
        ]
    )
    assert (result != expected.tocsr()).nnz == 0


def test_inverse_of_scores():
    encoder = OneHotEncoder().fit(np.array([["a"], ["b"], ["c"]]))
    assert encoder.inverse_transform([[0.2, 0.9, -3], [1, 1, 1]]).tolist() == [["b"], ["a"]]
    mixed = OneHotEncoder().fit([["a", 1], ["b", 2]])
    assert mixed.inverse_transform(sparse.csc_array([[0, 1, 1, 0]])).tolist() == [["b", 1]]
    with pytest.raises(ValueError, match=r"Samples \[1\] can not be inverted: .* feature 0"):
        encoder.inverse_transform([[0, 1, 0], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"Expected 3 columns, got shape \(1, 2\)"):
        encoder.inverse_transform([[0, 1]])
    with pytest.raises(ValueError, match="X must be finite"):
        encoder.inverse_transform([[0, 1, np.nan]])


def test_a_column_that_is_dropped_whole():
    X = np.array([["a", "x"], ["a", "y"]])
    encoder = OneHotEncoder(drop="first").fit(X)
    result = encoder.transform(X)
    assert result.shape == (2, 1)
    assert (encoder.inverse_transform(result) == X).all()
    alone = OneHotEncoder(drop="first").fit([["a"]])
    assert alone.transform([["a"]]).shape == (1, 0)


def test_set_output():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", "y"]}, index=[5, 6])
    encoder = OneHotEncoder(sparse_output=False).set_output(transform="pandas")
    result = encoder.fit_transform(frame)
    assert list(result.columns) == ["a_x", "a_y"] and list(result.index) == [5, 6]
    with pytest.raises(ValueError, match="returns sparse data"):
        OneHotEncoder().set_output(transform="pandas").fit_transform(frame)


def test_pickle_and_clone():
    X = np.array([["a"], ["b"]])
    encoder = OneHotEncoder(drop="first").fit(X)
    again = pickle.loads(pickle.dumps(encoder))
    assert (again.transform(X) != encoder.transform(X)).nnz == 0
    clone = pytest.importorskip("sklearn.base").clone(encoder)
    assert clone.drop == "first" and not hasattr(clone, "categories_")


def test_pipeline_with_a_linear_model():
    pipeline = pytest.importorskip("sklearn.pipeline")
    data, target = fastlin.datasets.load_mushrooms(return_X_y=True)
    model = pipeline.make_pipeline(
        OneHotEncoder(output="rows"), fastlin.SGDClassifier(random_state=0)
    ).fit(data, target)
    assert model.score(data, target) > 0.999
