"""From the columns of a table to the matrix that the shell's models learn from."""

import io

import numpy as np
import pytest

import fastlin
from fastlin import _cli_encoder, _cli_train
from fastlin._cli_encoder import ColumnEncoder
from fastlin._named_columns import CellColumns, Columns

TABLE = {"text": ["a b", "c"], "kind": ["x", "y"], "size": [1, 3], "age": ["7", "7"]}


def test_columns_of_the_encoder():
    encoder = ColumnEncoder(
        text="text", categorical=["kind"], numeric=["size", "age"], n_features=8
    )
    matrix = encoder.fit_transform(TABLE)
    assert matrix.shape == (2, 2 + 2 + 8)
    np.testing.assert_array_equal(matrix.toarray()[:, :4], [[-1, 0, 1, 0], [1, 0, 0, 1]])
    hashing = fastlin.HashingVectorizer(ngram_range=(1, 2), n_features=8)
    assert (matrix[:, 4:] != hashing.transform(TABLE["text"])).nnz == 0
    names = list(encoder.get_feature_names_out())
    assert names[:5] == ["size", "age", "kind=x", "kind=y", "text#0"]
    file = io.BytesIO()
    fastlin.save(encoder, file)
    loaded = fastlin.load(io.BytesIO(file.getvalue()))
    assert (loaded.transform(TABLE) != matrix).nnz == 0


def test_frames_and_dicts_are_encoded_alike():
    expected = ColumnEncoder(categorical="all", numeric=["size"], label="text").fit_transform(TABLE)
    for library in ("pandas", "polars"):
        frame = pytest.importorskip(library).DataFrame(TABLE)
        encoder = ColumnEncoder(categorical="all", numeric=["size"], label="text")
        assert (encoder.fit_transform(frame) != expected).nnz == 0
        assert encoder.categorical_ == ["kind", "age"]


def test_categories_are_compared_as_text():
    encoder = ColumnEncoder(categorical=["a"]).fit({"a": ["1", "true", "", "2.5"]})
    for cells in ([1, True, None, 2.5], [1.0, np.True_, float("nan"), np.float32(2.5)]):
        assert encoder.transform({"a": cells}).indices.tolist() == [1, 3, 0, 2]
    endless = ColumnEncoder(categorical=["a"]).fit({"a": [float("inf"), "-inf"]})
    assert endless.transform({"a": ["inf", -np.inf]}).indices.tolist() == [1, 0]


def test_explained_ngrams_have_the_sign_of_their_hash():
    texts = ["cheap watches now", "dear colleague"]
    encoder = ColumnEncoder(text="text", n_features=2**16).fit(texts)
    matrix = encoder.transform(texts)
    encoder.explain(texts, matrix.indices.tolist())
    found = {encoder.name_of(column) for column in matrix.indices.tolist()}
    expected = {"cheap", "watches", "now", "dear", "colleague", "cheap watches", "watches now",
                "dear colleague"}  # fmt: skip
    assert {name for name, _ in found} == {f'"{ngram}"' for ngram in expected}
    signs = {encoder.name_of(column)[1] for column in matrix.indices.tolist()}
    assert signs == {1, -1}
    dense = matrix.toarray()
    for row in dense:
        for column in np.flatnonzero(row):
            assert np.sign(row[column]) == encoder.name_of(int(column))[1]


@pytest.mark.parametrize(
    ("encoder", "X", "error", "message"),
    [
        (ColumnEncoder(), TABLE, ValueError, "at least one of text, categorical and numeric"),
        (ColumnEncoder(text="no"), TABLE, ValueError, "X has no column 'no'"),
        (ColumnEncoder(numeric=["kind"]), TABLE, ValueError, "'kind' .column 2. must be a"),
        (ColumnEncoder(text="size"), TABLE, ValueError, "X, row 0: 'size' must be a text"),
        (ColumnEncoder(numeric=["a"]), {"a": [1, None]}, ValueError, "row 1.*holds nothing"),
        (ColumnEncoder(numeric=["a"]), {"a": [1.0, float("inf")]}, ValueError, "finite number"),
        (ColumnEncoder(numeric=["a"]), {"a": [1.0, 10**400]}, ValueError, "finite number"),
        (ColumnEncoder(numeric=["a"]), {"a": [1e308, -1e308]}, ValueError, "squares overflow"),
        (ColumnEncoder(numeric=["a"]), {"a": []}, ValueError, "at least one row"),
        (ColumnEncoder(numeric=["a"]), {"a": [1], "b": [1, 2]}, ValueError, "one length"),
        (ColumnEncoder(numeric=["a"]), [[1]], TypeError, "X must be a dict"),
        (ColumnEncoder(text="a"), "abc", TypeError, "X must be a dict"),
        (ColumnEncoder(numeric="some"), TABLE, ValueError, "numeric must be 'all'"),
        (ColumnEncoder(text="text", n_features=0), TABLE, ValueError, "n_features must be"),
        (ColumnEncoder(text="text", ngram_range=(2, 1)), TABLE, ValueError, "ngram_range must be"),
    ],
)
def test_bad_columns_are_named(encoder, X, error, message):
    with pytest.raises(error, match=message):
        encoder.fit_transform(X)


def test_long_texts_are_sampled_for_explanation(monkeypatch):
    monkeypatch.setattr(_cli_encoder, "_EXPLAINED_CHARACTERS", 50)
    texts = [f"word{i} always" for i in range(30)]
    encoder = ColumnEncoder(text="t", ngram_range=(1, 1)).fit(texts)
    columns = encoder.transform(texts).indices.tolist()
    encoder.explain(texts, columns)
    assert "always" in {found.ngram for found in encoder.ngrams_.values()}
    assert 2 < len(encoder.ngrams_) < 12


def test_strongest_columns_are_those_of_any_class():
    coef = np.array([[0.0, 3.0, -1.0, 0.0], [-2.0, 0.0, 0.5, 0.0]])
    assert _cli_train._strongest_columns(coef) == [1, 0, 2]
    assert _cli_train._strongest_columns(coef[0]) == [1, 2]


def test_every_column_of_many_categories_has_its_name():
    table = {f"c{j}": [f"v{i % (j % 3 + 1)}" for i in range(6)] for j in range(300)}
    encoder = ColumnEncoder(categorical=list(table)).fit(table)
    expected = [f"c{j}=v{k}" for j in range(300) for k in range(j % 3 + 1)]
    assert [encoder.name_of(column)[0] for column in range(len(expected))] == expected


def test_columns_of_few_and_of_many_categories():
    rows = {"many": [f"u{k % 50}" for k in range(200)], "few": [f"v{k % 3}" for k in range(200)],
            "one": [""] * 200}  # fmt: skip
    encoder = ColumnEncoder(categorical="all").fit(Columns(rows))
    inner, table = encoder.category_encoder_, np.array(list(rows.values()), dtype=object).T
    expected = fastlin.OneHotEncoder(handle_unknown="ignore", output="rows").fit(table)
    for found, wanted in zip(inner.categories_, expected.categories_, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert inner.feature_names_in_.tolist() == list(rows)
    assert inner.n_features_in_ == 3
    np.testing.assert_array_equal(
        inner.transform(CellColumns(rows)).toarray(), expected.transform(table).toarray()
    )
