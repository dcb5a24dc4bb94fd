"""Mixed tables: our ColumnTransformer against scikit-learn's over the same transformers."""

import io

import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import (
    ColumnTransformer,
    HashingEncoder,
    HashingVectorizer,
    OneHotEncoder,
    Rows,
    make_column_transformer,
    make_pipeline,
)

N = 60
_rng = np.random.default_rng(0)
DATA = {
    "colour": _rng.choice(["red", "blue"], N).tolist(),
    "size": _rng.normal(size=N).tolist(),
    "text": [" ".join(_rng.choice(["aa", "bb", "cc"], 3)) for _ in range(N)],
    "shelf": _rng.integers(0, 3, N).tolist(),
}
PARTS = [
    ("cat", OneHotEncoder(), ["colour", "shelf"]),
    ("hash", HashingEncoder(64, interactions=[("shelf", "colour")]), ["colour", "shelf"]),
    ("text", HashingVectorizer(n_features=32), "text"),
    ("gone", "drop", ["colour"]),
]


def frames():
    found = []
    for library in ("pandas", "polars"):
        found.append(pytest.importorskip(library).DataFrame(DATA))
    return found


def equal(A, B):
    A, B = (sparse.csr_matrix(X.to_csr() if isinstance(X, Rows) else X) for X in (A, B))
    return A.shape == B.shape and (A != B).nnz == 0


def test_equal_to_scikit_learn():
    compose = pytest.importorskip("sklearn.compose")
    for frame in frames():
        for remainder in ("drop", "passthrough", OneHotEncoder(output="csr")):
            ours = ColumnTransformer(PARTS, remainder=remainder)
            theirs = compose.ColumnTransformer(PARTS, remainder=remainder, sparse_threshold=1)
            expected = theirs.fit_transform(frame)
            assert equal(ours.fit_transform(frame), expected)
            assert equal(ours.transform(frame[:7]), expected[:7])
            assert ours.output_indices_ == theirs.output_indices_
            rows = ours.set_params(output="rows").fit_transform(frame)
            assert isinstance(rows, Rows) and equal(rows, expected)


def test_ones_stay_ones():
    frame = frames()[0]
    parts = [("a", OneHotEncoder(), ["colour"]), ("b", OneHotEncoder(output="rows"), ["shelf"])]
    rows = ColumnTransformer(parts, output="rows").fit_transform(frame)
    assert (rows.layout, rows.width, rows.indptr) == ("ones", 2, None)
    text = ("t", HashingVectorizer(n_features=9, binary=True, norm=None), "text")
    assert ColumnTransformer([*parts, text], output="rows").fit_transform(frame).layout == "ones"
    dense = make_column_transformer(("passthrough", ["size", "shelf"])).fit_transform(frame)
    np.testing.assert_array_equal(dense, np.column_stack([DATA["size"], DATA["shelf"]]))


def test_a_result_is_its_receivers():
    """It can be written to, which changes neither X nor what comes next."""
    dense = np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 5.0]])
    ones = ("o", OneHotEncoder(), [0])
    for parts in ([("p", "passthrough", [0, 1])], [("p", "passthrough", [0, 1]), ones], [ones]):
        for X in (dense.copy(), sparse.csr_matrix(dense), sparse.csr_matrix(dense, dtype="f4")):
            if sparse.issparse(X) and ones in parts:
                continue
            transformer = ColumnTransformer(parts)
            found = transformer.fit_transform(X)
            expected = found.copy()
            if sparse.issparse(found):
                found.data[:] = 0
                found.eliminate_zeros()
            else:
                found[:] = 7
            np.testing.assert_array_equal(X.toarray() if sparse.issparse(X) else X, dense)
            assert equal(transformer.transform(X), expected)


def test_names():
    frame = frames()[0]
    encoder = ColumnTransformer(PARTS, remainder="passthrough").fit(frame)
    names = encoder.get_feature_names_out()
    assert len(names) == 102
    assert names[:6].tolist() == [
        "cat__colour_blue", "cat__colour_red", "cat__shelf_0", "cat__shelf_1", "cat__shelf_2",
        "hash__hashingencoder0",
    ]  # fmt: skip
    assert names[-2].startswith("text__") and names[-1] == "remainder__size"
    plain = ColumnTransformer(PARTS[:1], verbose_feature_names_out=False).fit(frame)
    assert plain.get_feature_names_out()[0] == "colour_blue"
    twice = [(name, OneHotEncoder(), ["colour"]) for name in "ab"]
    with pytest.raises(ValueError, match=r"not unique: \['colour_blue', 'colour_red'\]"):
        ColumnTransformer(twice, verbose_feature_names_out=False).fit(frame).get_feature_names_out()
    array = ColumnTransformer([("p", "passthrough", [1])]).fit(np.eye(3))
    assert array.get_feature_names_out().tolist() == ["p__x1"]
    pandas_out = ColumnTransformer([("p", "passthrough", ["size"])]).set_output(transform="pandas")
    assert list(pandas_out.fit_transform(frame).columns) == ["p__size"]


@pytest.mark.parametrize(
    ("columns", "places"),
    [
        ([1, 3], [1, 3]), ([-1], [3]), (slice(1, 3), [1, 2]), (slice("size", "shelf"), [1, 2, 3]),
        ([True, False, False, True], [0, 3]), (np.array(["shelf"]), [3]),
        (lambda X: [list(X.columns)[1]], [1]), ("shelf", [3]), (np.int64(1), [1]), ([], []),
    ],
)  # fmt: skip
def test_ways_to_name_columns(columns, places):
    for frame in frames():
        encoder = ColumnTransformer([("p", "drop", [0]), ("q", "passthrough", columns)])
        if not places:
            with pytest.raises(ValueError, match="transformers drop all columns"):
                encoder.fit(frame)
        elif 0 in places or 2 in places:
            with pytest.raises((TypeError, ValueError), match="'q': X must hold numbers"):
                encoder.fit(frame)
        else:
            encoder.fit(frame)
            assert encoder.transformers_ == [("q", "passthrough", places)]


def test_columns_are_found_by_name():
    for frame in frames():
        encoder = ColumnTransformer(PARTS, remainder="passthrough").fit(frame)
        expected = encoder.transform(frame)
        other = frame[["shelf", "text", "size", "colour"]]
        assert equal(encoder.transform(other), expected)
        with pytest.raises(ValueError, match=r"columns are missing: \['size'\]"):
            encoder.transform(frame[["shelf", "text", "colour"]])
    lists = ColumnTransformer([("a", OneHotEncoder(), [0])], remainder="passthrough")
    assert lists.fit_transform([["u", 1], ["v", 2]]).toarray().tolist() == [[1, 0, 1], [0, 1, 2]]
    with pytest.raises(ValueError, match="X has 3 features, but ColumnTransformer is expecting 2"):
        lists.transform([["u", 1, 2]])


def test_sparse_and_arrow_tables():
    X = sparse.random(20, 5, 0.5, format="csr", random_state=0)
    encoder = ColumnTransformer([("a", "passthrough", [4, 1])], output="rows")
    for given in (X, X.tocsc(), fastlin.as_rows(X)):
        assert equal(encoder.fit_transform(given), X[:, [4, 1]])
    with pytest.raises(ValueError, match=r"must stay a table: write \[1\] for 1"):
        ColumnTransformer([("a", OneHotEncoder(), 1)]).fit(X)
    arrow = pytest.importorskip("pyarrow")
    parts = [PARTS[0], PARTS[1]]
    expected = ColumnTransformer(parts, remainder="drop").fit_transform(frames()[0])
    assert equal(ColumnTransformer(parts).fit_transform(arrow.table(DATA)), expected)


def test_search_pipeline_and_file():
    y = np.array([colour == "red" for colour in DATA["colour"]]).astype(int)
    encoder = ColumnTransformer(PARTS, output="rows", n_jobs=2)
    pipe = make_pipeline(encoder, fastlin.Perceptron(max_iter=20, tol=None))
    grid = {
        "columntransformer__cat__min_frequency": [None, 2],
        "columntransformer__text": ["drop"],
    }
    for frame in frames():
        search = fastlin.GridSearchCV(pipe, grid, cv=3).fit(frame, y)
        assert search.best_score_ == 1
        file = io.BytesIO()
        fastlin.save(search.best_estimator_, file)
        again = fastlin.load(io.BytesIO(file.getvalue()))
        assert (again.predict(frame) == search.predict(frame)).all()
    again = fastlin.load(_saved(ColumnTransformer([("a", "passthrough", slice(0, 2))])))
    assert again.transformers[0][2] == slice(0, 2)
    clone = pytest.importorskip("sklearn.base").clone(search.best_estimator_)
    assert clone.fit(frame, y).score(frame, y) == 1


def _saved(model):
    file = io.BytesIO()
    fastlin.save(model, file)
    return io.BytesIO(file.getvalue())


def test_a_search_runs_stateless_transformers_once():
    y = (np.array(DATA["size"]) > 0).astype(int)
    frame = frames()[0]
    learner = fastlin.Perceptron(max_iter=3, tol=None, random_state=0)
    for part, runs in ((HashingEncoder(32), 1), (OneHotEncoder(), 3)):
        calls = []

        def counted(X, calls=calls):
            calls.append(len(X))
            return ["colour"]

        pipe = make_pipeline(ColumnTransformer([("a", part, counted)]), learner)
        grid = {"perceptron__eta0": [0.5, 1.0]}
        fastlin.GridSearchCV(pipe, grid, cv=3, refit=False).fit(frame, y)
        assert len(calls) == runs


@pytest.mark.parametrize(
    ("transformers", "error", "message"),
    [
        ([], ValueError, "transformers must be a list of at least one"),
        ([("a", OneHotEncoder())], ValueError, "must hold tuples"),
        ([("a__b", OneHotEncoder(), [0])], ValueError, "different names without '__'"),
        ([("remainder", OneHotEncoder(), [0])], ValueError, "that are not 'remainder'"),
        ([("a", OneHotEncoder, [0])], TypeError, "is the class OneHotEncoder; pass an instance"),
        ([("a", "pass", [0])], TypeError, "The transformer a must have fit and transform"),
        ([("a", OneHotEncoder(), ["no"])], ValueError, "transformer 'a': X has no column 'no'"),
        ([("a", OneHotEncoder(), [9])], ValueError, "transformer 'a': X has no column 9"),
        ([("a", OneHotEncoder(), [1.5])], TypeError, "columns must be given by names"),
        ([("a", OneHotEncoder(), [True])], ValueError, "a mask of columns must have 4 elements"),
        ([("a", "passthrough", ["text"])], ValueError, "the transformer 'a': X must hold numbers"),
    ],
)  # fmt: skip
def test_refusals(transformers, error, message):
    with pytest.raises(error, match=message):
        ColumnTransformer(transformers).fit(frames()[0])


def test_more_refusals():
    with pytest.raises(ValueError, match="columns of the transformer 'a': 'utf-8' codec"):
        ColumnTransformer([("a", "passthrough", lambda X: b"\xff".decode())]).fit([[1.0]])
    with pytest.raises(fastlin.NotFittedError):
        ColumnTransformer(PARTS).transform(frames()[0])
    with pytest.raises(ValueError, match="remainder must be"):
        ColumnTransformer(PARTS, remainder="keep").fit(frames()[0])
    with pytest.raises(ValueError, match="tuples \\(transformer, columns\\)"):
        make_column_transformer(OneHotEncoder())
    with pytest.raises(ValueError, match="so 'colour' names none"):
        ColumnTransformer(PARTS).fit([["a", 1]])
    with pytest.raises(ValueError, match="Invalid parameter 'b' for estimator ColumnTransformer"):
        ColumnTransformer(PARTS).set_params(b__drop="first")


def test_parameters_by_name():
    encoder = ColumnTransformer(list(PARTS))
    encoder.set_params(remainder="passthrough", gone=OneHotEncoder(drop="first"), n_jobs=2)
    assert encoder.remainder == "passthrough" and encoder.get_params()["gone__drop"] == "first"
    assert encoder.transformers[3][2] == ["colour"] and PARTS[3][1] == "drop"


# metadata


def weigher():
    base = pytest.importorskip("sklearn.base")

    class Weighing(base.TransformerMixin, base.BaseEstimator):
        def fit(self, X, y=None, sample_weight=None):
            self.weight_ = sample_weight
            return self

        def transform(self, X, factor=1.0):
            return X * factor

    return Weighing()


def test_metadata_goes_to_those_that_ask():
    sklearn = pytest.importorskip("sklearn")
    X, s = np.arange(12.0).reshape(4, 3), np.array([1.0, 2.0, 3.0, 4.0])
    with sklearn.config_context(enable_metadata_routing=True):
        asks = weigher().set_fit_request(sample_weight=True).set_transform_request(factor=True)
        rest = weigher().set_fit_request(sample_weight="other").set_transform_request(factor=False)
        silent = weigher().set_fit_request(sample_weight=False).set_transform_request(factor=False)
        columns = fastlin.ColumnTransformer(
            [("asks", asks, [0]), ("silent", silent, [1])], remainder=rest
        )
        columns.fit(X, sample_weight=s, other=2 * s)
        kept = {name: part.weight_ for name, part in columns.named_transformers_.items()}
        assert kept["silent"] is None
        np.testing.assert_array_equal(kept["asks"], s)
        np.testing.assert_array_equal(kept["remainder"], 2 * s)
        found = columns.transform(X, factor=10.0)
        np.testing.assert_array_equal(found, X * [10.0, 1.0, 1.0])
        with pytest.raises(TypeError, match="nonsense"):
            columns.fit(X, nonsense=s)
        for make in (fastlin.make_pipeline, sklearn.pipeline.make_pipeline):
            learner = fastlin.Ridge().set_fit_request(sample_weight=False)
            whole = make(columns, learner).fit(X, X[:, 0], sample_weight=s, other=s)
            inner = whole[0].named_transformers_["asks"]
            np.testing.assert_array_equal(inner.weight_, s)


def test_metadata_without_routing_is_refused():
    columns = fastlin.ColumnTransformer([("all", fastlin.HashingEncoder(), [0])])
    with pytest.raises(TypeError, match="ColumnTransformer.fit_transform does not take sample_w"):
        columns.fit([["a"], ["b"]], sample_weight=[1.0, 2.0])
    with pytest.raises(TypeError, match="ColumnTransformer.transform does not take factor"):
        columns.fit([["a"], ["b"]]).transform([["a"]], factor=2)


def starred(transformer, column):
    """Make a name."""
    return f"{column}*{transformer}"


@pytest.mark.parametrize("form", [True, "{feature_name} of {transformer_name}", starred])
def test_output_names_and_places_are_those_of_sklearn(form):
    compose = pytest.importorskip("sklearn.compose")
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": [1.0, 2, 3], "b": ["x", "y", "x"], "c": [4.0, 5, 7]})
    parts = [("n", "passthrough", ["a"]), ("o", OneHotEncoder(), ["b"]), ("d", "drop", ["c"]),
             ("e", OneHotEncoder(), [])]  # fmt: skip
    for remainder in ("drop", "passthrough"):
        for transformers in (parts, parts[:2]):
            options = {"remainder": remainder, "verbose_feature_names_out": form}
            ours, theirs = (
                kind(transformers, **options).fit(X)
                for kind in (ColumnTransformer, compose.ColumnTransformer)
            )
            assert ours.output_indices_ == theirs.output_indices_
            assert (
                ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
            )


def test_names_that_cannot_be_made():
    for form, kind, message in (
        ("{name}", ValueError, "a format of {transformer_name} and {feature_name}"),
        ("{", ValueError, "a format of"),
        (lambda transformer, column: 1, TypeError, "must return strings, but it returned int"),
    ):
        encoder = ColumnTransformer(
            [("n", "passthrough", [0])], verbose_feature_names_out=form
        ).fit([[1.0], [2.0]])
        with pytest.raises(kind, match=message):
            encoder.get_feature_names_out()
