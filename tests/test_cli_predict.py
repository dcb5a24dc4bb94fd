"""The shell predicts with models that were made in Python, from whatever they were made of."""

import numpy as np
import pytest
from shell import SPAM, refused, run, write_bytes, write_table

import fastlin

TEXTS, LABELS = [text for _, text in SPAM], [label for label, _ in SPAM]


@pytest.mark.parametrize("learner", [
    fastlin.SGDClassifier(), fastlin.MultinomialNB(), fastlin.LinearSVC(),
], ids=lambda learner: type(learner).__name__)  # fmt: skip
@pytest.mark.parametrize(
    "vectorizer", [fastlin.TfidfVectorizer(), fastlin.CountVectorizer()],
    ids=lambda vectorizer: type(vectorizer).__name__,
)  # fmt: skip
def test_models_of_words(folder, capsys, vectorizer, learner):
    model = fastlin.make_pipeline(vectorizer, learner).fit(TEXTS, LABELS)
    fastlin.save(model, "model")
    out, err = run(capsys, "predict", "spam.csv", "model", "--text", "text", "--label", "label")
    assert out.split() == model.predict(TEXTS).tolist()
    assert err.startswith("accuracy ")
    write_bytes("lines.txt", b"a prize\nlunch\n")
    out, _ = run(capsys, "predict", "lines.txt", "model", "--format", "text")
    assert out.split() == model.predict(["a prize", "lunch"]).tolist()
    assert "--text must name the column" in refused(capsys, "predict", "spam.csv", "model")


def test_a_vectorizer_within_pipelines(folder, capsys):
    inner = fastlin.make_pipeline(fastlin.CountVectorizer(), fastlin.TfidfTransformer())
    model = fastlin.Pipeline([("no", "passthrough"), ("text", inner), ("svc", fastlin.LinearSVC())])
    fastlin.save(model.fit(TEXTS, LABELS), "model")
    out, _ = run(capsys, "predict", "spam.csv", "model", "--text", "text")
    assert out.split() == model.predict(TEXTS).tolist()


def test_inspection_names_words(folder, capsys):
    model = fastlin.make_pipeline(fastlin.CountVectorizer(), fastlin.SGDClassifier())
    fastlin.save(model.fit(["aa bb", "cc dd"] * 5, ["x", "y"] * 5), "model")
    out = run(capsys, "inspect", "model").out
    assert "feature 0" not in out
    for_y, for_x = out.partition("for y\n")[2].split("for x\n")
    assert {line.split()[-1] for line in for_y.splitlines()} == {"cc", "dd"}
    assert {line.split()[-1] for line in for_x.splitlines()} == {"aa", "bb"}


def mixed(pandas):
    """A table of numbers, two kinds of categories and texts."""
    rng = np.random.default_rng(0)
    return pandas.DataFrame({
        "size": rng.normal(size=60).round(3),
        "colour": rng.choice(["red", "blue"], 60),
        "year": rng.integers(2000, 2003, 60),
        "note": rng.choice(["a small one", "one large", "none, really"], 60),
        "idle": ["?"] * 60,
    })  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_columns_by_their_names(folder, capsys, kind):
    pandas = pytest.importorskip("pandas")
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    X = mixed(pandas)
    y = np.where((X["size"] > 0) & (X["colour"] == "red") | (X["year"] == 2001), "yes", "no")
    model = fastlin.make_pipeline(
        fastlin.ColumnTransformer([
            ("number", "passthrough", ["size"]),
            ("category", fastlin.OneHotEncoder(), ["year", "colour"]),
            ("hash", fastlin.HashingEncoder(n_features=64), ["year"]),
            ("words", fastlin.HashingEncoder(n_features=64), ["colour"]),
            ("text", fastlin.TfidfVectorizer(), "note"),
        ]),
        fastlin.LogisticRegression(),
    )  # fmt: skip
    fastlin.save(model.fit(X, y), "model")
    # In another order, and without a column that the model does not use
    table = X.assign(answer=y)[["answer", "note", "year", "size", "colour"]]
    name = f"table.{kind}"
    if kind == "csv":
        table.to_csv(name, index=False)
    elif kind == "jsonl":
        table.to_json(name, orient="records", lines=True)
    else:
        table.to_parquet(name, index=False)
    expected = model.predict(X)
    out, err = run(capsys, "predict", name, "model", "--label", "answer")
    assert out.split() == expected.tolist()
    assert err.startswith(f"accuracy {np.mean(expected == y):.4f}")
    shown = run(capsys, "inspect", "model").out
    assert "number__size" in shown
    assert "category__colour_red" in shown


@pytest.mark.parametrize("encoder", [
    fastlin.HashingEncoder(n_features=64), fastlin.OneHotEncoder(handle_unknown="ignore"),
], ids=lambda encoder: type(encoder).__name__)  # fmt: skip
def test_categories_of_other_types(folder, capsys, encoder):
    """Numbers, missing ones too, and truth values, where a file tells them from texts."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({
        "size": rng.choice([3.0, 4.0, np.nan], 60),
        "is_red": rng.choice([True, False], 60),
        "shape": rng.choice(np.array(["round", "3.0", None], object), 60),
    })  # fmt: skip
    y = np.where((X["size"] == 3) ^ X["is_red"] | X["shape"].isna(), "yes", "no")
    model = fastlin.make_pipeline(encoder, fastlin.LogisticRegression()).fit(X, y)
    fastlin.save(model, "model")
    X.to_json("table.jsonl", orient="records", lines=True)
    out, _ = run(capsys, "predict", "table.jsonl", "model")
    assert out.split() == model.predict(X).tolist()
    X.to_csv("table.csv", index=False)
    said = refused(capsys, "predict", "table.csv", "model")
    assert "by their types" in said and "JSON lines or Parquet" in said


def test_numbers_by_their_names(folder, capsys):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"b": [1.0, 2, 3, 4], "a": [0.5, 2, 2, 1]})
    model = fastlin.Ridge(alpha=0.1).fit(X, [1, 2, 3, 5])
    fastlin.save(model, "model")
    write_table("t.csv", ["a", "x", "b"], [(a, "x", b) for b, a in X.to_numpy().tolist()])
    out, _ = run(capsys, "predict", "t.csv", "model")
    np.testing.assert_allclose(np.array(out.split(), float), model.predict(X), rtol=1e-14)
    write_bytes("t.svm", b"1 0:1 1:0.5\n2 0:2 1:2\n")
    out, _ = run(capsys, "predict", "t.svm", "model")
    np.testing.assert_allclose(np.array(out.split(), float), model.predict(X[:2]), rtol=1e-14)
    write_table("less.csv", ["a"], [(1,)])
    assert "has no column 'b'" in refused(capsys, "predict", "less.csv", "model")
    write_bytes("t.jsonl", b'{"a": 1, "b": 2, "y": 3}\n' * 2)
    run(capsys, "predict", "t.jsonl", "model", "--label", "y")
    assert "has no column 'x'" in refused(
        capsys, "predict", "t.jsonl", "model", "out", "--label", "x"
    )
    write_table("word.csv", ["a", "b"], [(1, "two")])
    assert "'b' (column 2) must be a finite number" in refused(
        capsys, "predict", "word.csv", "model"
    )
    assert "trained on named columns: DATA must be a table that has them" in refused(
        capsys, "predict", "t.csv", "model", "--text", "x"
    )
    assert "--label is for tables" in refused(
        capsys, "predict", "t.svm", "model", "--label", "x"
    )
