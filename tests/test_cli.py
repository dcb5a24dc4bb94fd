"""The shell: training, predicting, cross-validation and looking, in every format."""

import gzip
import io
import json
import os
import sys

import numpy as np
import pytest
from shell import SPAM, TEXT_OPTIONS, refused, run, write_bytes, write_table

import fastlin
from fastlin import _cli_demo, datasets
from fastlin._cli_encoder import ColumnEncoder
from fastlin._named_columns import Columns
from fastlin._sgd import MARGIN_LOSSES, TARGET_LOSSES
from fastlin.cli import main
from fastlin.model_selection import KFold, cross_val_score

# Training and predicting ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz", "a.tsv.bz2", "a.jsonl.xz"]
)
def test_texts_in_every_format(folder, capsys, name):
    write_table(name, ["label", "text"], SPAM, "\t" if ".tsv" in name else ",")
    out, err = run(capsys, "train", name, "model", *TEXT_OPTIONS)
    assert out.startswith("SGDClassifier trained on 40 rows, 2 classes; wrote model (")
    assert err == ""
    out, err = run(capsys, "predict", name, "model")
    assert out.split() == [label for label, _ in SPAM]
    assert err == "accuracy 1.0000 (40 of 40 rows)\n"
    assert sorted(os.listdir()) == sorted(["spam.csv", name, "model"])


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm.gz", "numbers"])
@pytest.mark.parametrize("labels", [(1, -1), (2, 7)])
def test_svmlight(folder, capsys, name, labels):
    lines = [f"{labels[0]} 1:1 4:0.5", f"{labels[1]} 2:1 4:0.25 # a comment"] * 10
    write_bytes(name, "\n".join(lines).encode())
    out, _ = run(capsys, "train", name, "model", "--loss", "hinge", "--cv", "2")
    assert out.splitlines()[0] == "fold 1  1.0000"
    out, err = run(capsys, "predict", name, "model")
    assert out.split() == [str(label) for label in labels] * 10
    assert err == "accuracy 1.0000 (20 of 20 rows)\n"


def test_svmlight_with_other_columns_than_in_training(folder, capsys):
    write_bytes("train.svm", b"1 1:1 3:1\n-1 2:1 3:1\n" * 5)
    write_bytes("narrow.svm", b"1 1:1\n")
    write_bytes("wide.svm", b"1 1:1 900:5\n-1 2:1\n")
    run(capsys, "train", "train.svm", "model")
    assert run(capsys, "predict", "narrow.svm", "model").out == "1\n"
    out, err = run(capsys, "predict", "wide.svm", "model")
    assert out == "1\n-1\n"
    assert "warning: 1 entries have an index above 3" in err


def test_probabilities_and_decisions(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    model = fastlin.load("model")
    texts = [text for _, text in SPAM]
    rows = [line.split("\t") for line in run(
        capsys, "predict", "spam.csv", "model", "--proba").out.splitlines()]  # fmt: skip
    assert rows[0] == ["prediction", "ham", "spam"]
    assert [row[0] for row in rows[1:]] == [label for label, _ in SPAM]
    values = np.array([row[1:] for row in rows[1:]], dtype=float)
    np.testing.assert_array_equal(values, model.predict_proba(texts))
    rows = [line.split("\t") for line in run(
        capsys, "predict", "spam.csv", "model", "--decision").out.splitlines()]  # fmt: skip
    assert rows[0] == ["prediction", "decision"]
    np.testing.assert_array_equal(
        [float(row[1]) for row in rows[1:]], model.decision_function(texts)
    )


@pytest.mark.parametrize("learner", ["sgd", "perceptron"])
def test_three_classes(folder, capsys, learner):
    rows = [(name, i % 3) for i, name in enumerate(["red\tish", "green", "blue"] * 8)]
    write_table("three.jsonl", ["colour", "class"], rows)
    options = ["--label", "class", "--categorical", "colour", "--learner", learner]
    run(capsys, "train", "three.jsonl", "model", *options)
    out, err = run(capsys, "predict", "three.jsonl", "model", "--decision")
    lines = out.splitlines()
    assert lines[0] == "prediction\t0\t1\t2"
    assert [line.split("\t")[0] for line in lines[1:]] == ["0", "1", "2"] * 8
    assert err == "accuracy 1.0000 (24 of 24 rows)\n"
    out = run(capsys, "inspect", "model", "--top", "1").out
    for label, colour in enumerate(["red\tish", "green", "blue"]):
        assert f"for {label}\n  +" in out
        shown = colour.replace("\t", "\\t")
        assert f"colour={shown}" in out


def test_predictions_go_to_a_file_in_one_step(folder, capsys, monkeypatch):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    out, err = run(capsys, "predict", "spam.csv", "model", "answers.txt.gz")
    assert out == ""
    assert err.startswith("accuracy")
    with gzip.open("answers.txt.gz", "rt") as stream:
        assert stream.read().split() == [label for label, _ in SPAM]

    def interrupted(*parts):
        yield "ham\n"
        raise KeyboardInterrupt

    monkeypatch.setattr("fastlin._cli_predict._lines", interrupted)
    assert main(["predict", "spam.csv", "model", "new.txt"]) == 130
    assert capsys.readouterr().err == "fastlin: interrupted\n"
    assert sorted(os.listdir()) == ["answers.txt.gz", "model", "spam.csv"]


def test_labels_that_are_missing_when_predicting(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    write_table("new.csv", ["text"], [["a prize"], ["lunch"]])
    assert run(capsys, "predict", "new.csv", "model") == ("spam\nham\n", "")
    write_table("some.csv", ["label", "text"], [["", "a prize"], ["ham", "lunch"]])
    out, err = run(capsys, "predict", "some.csv", "model")
    assert out == "spam\nham\n"
    assert err == "fastlin: no score, since 'label' is empty in 1 of 2 rows, first in line 2\n"
    write_table("other.csv", ["truth", "text"], [["spam", "a prize"], ["spam", "lunch"]])
    out = run(capsys, "predict", "other.csv", "model", "--label", "truth")
    assert out.err == "accuracy 0.5000 (1 of 2 rows)\n"


def test_a_score_that_cannot_be_had_is_explained(folder, capsys):
    write_table("a.csv", ["y", "x"], [(str(i), str(i)) for i in range(8)])
    options = ["--label", "y", "--numeric", "x", "--loss", "huber"]
    run(capsys, "train", "a.csv", "model", *options)
    write_table("one.csv", ["y", "x"], [("1", "1")])
    err = run(capsys, "predict", "one.csv", "model").err
    assert err == "fastlin: no R2, which needs two rows or more\n"
    write_table("none.jsonl", ["y", "x"], [(None, 1), (None, 2)])
    err = run(capsys, "predict", "none.jsonl", "model").err
    assert err == "fastlin: no score, since 'y' is empty in 2 of 2 rows, first in line 1\n"


def test_labels_of_other_kinds(folder, capsys):
    for values, shown in ([[True, False], "true\nfalse\n"], [[1.0, 2.0], "1\n2\n"]):
        write_table("a.jsonl", ["y", "x"], [(values[0], "up"), (values[1], "down")] * 5)
        run(capsys, "train", "a.jsonl", "model", "--label", "y", "--categorical", "x")
        assert run(capsys, "predict", "a.jsonl", "model").out == shown * 5


def test_tables_without_header(folder, capsys):
    write_bytes("bare.csv", b"spam,a prize\nham,lunch\n" * 5)
    options = ["--label", "0", "--text", "1", "--no-header"]
    out = run(capsys, "train", "bare.csv", "model", *options).out
    assert "trained on 10 rows" in out
    assert run(capsys, "predict", "bare.csv", "model", "--no-header").out == "spam\nham\n" * 5


def test_regression_on_mixed_columns(folder, capsys):
    rng = np.random.default_rng(0)
    rows = []
    for i in range(400):
        size, kind = rng.uniform(1000, 9000), ["flat", "house"][i % 2]
        rows.append((f"{size:.3f}", kind, "1", 50 * size + 30_000 * (i % 2) + 1e5))
    write_table("homes.csv", ["size", "kind", "constant", "price"], rows)
    options = ["--label", "price", "--numeric", "size,constant", "--categorical", "all"]
    for loss, least in (("squared_error", 0.999), ("huber", 0.99), ("quantile", 0.99),
                        ("epsilon_insensitive", 0.99)):  # fmt: skip
        out = run(capsys, "cv", "homes.csv", *options, "--loss", loss, "--cv", "3").out
        assert float(out.splitlines()[3].split()[1]) > least
    run(capsys, "train", "homes.csv", "model", *options, "--loss", "squared_error")
    out, err = run(capsys, "predict", "homes.csv", "model")
    assert err.startswith("R2 0.99")
    np.testing.assert_allclose(
        np.array(out.split(), float), [row[-1] for row in rows], rtol=0, atol=3e4
    )
    out = run(capsys, "inspect", "model").out
    assert "learns from  numbers size, constant; categories kind" in out
    raised, lowered = out.split("lower it")
    assert "size" in raised.split("raise the prediction")[1]
    assert "kind=house" in raised
    assert "kind=flat" in lowered


def test_the_same_seed_gives_the_same_file(folder, capsys):
    for name in ("a", "b"):
        run(capsys, "train", "spam.csv", name, *TEXT_OPTIONS, "--seed", "3")
    models = [fastlin.load(name)[-1] for name in ("a", "b")]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()
    run(capsys, "train", "spam.csv", "a", *TEXT_OPTIONS, "--seed", "4")
    assert fastlin.load("a")[-1].coef_.tobytes() != models[1].coef_.tobytes()


@pytest.mark.parametrize("loss", [*MARGIN_LOSSES, *TARGET_LOSSES])
def test_every_loss_that_can_be_chosen_learns(folder, capsys, loss):
    rows = [(str(i % 3), 10.0 * (i % 3)) for i in range(600)]
    write_table("a.jsonl", ["x", "y"], rows)
    options = ["--label", "y", "--categorical", "x", "--loss", loss, "--epochs", "40"]
    out = run(capsys, "cv", "a.jsonl", *options, "--cv", "2").out
    assert float(out.splitlines()[2].split()[1]) > 0.95


def test_options_reach_the_learner(folder, capsys):
    run(
        capsys, "train", "spam.csv", "model", *TEXT_OPTIONS, "--loss", "squared_hinge", "--penalty",
        "elasticnet", "--alpha", "0.001", "--l1-ratio", "0.5", "--max-iter", "7", "--no-average",
        "--seed", "5", "--ngrams", "1,3", "--n-features", "1000", "--n-jobs", "2",
    )  # fmt: skip
    encoder, learner = (step for _, step in fastlin.load("model").steps)
    assert encoder.ngram_range == (1, 3)
    assert encoder.n_features == 1000
    expected = {"loss": "squared_hinge", "penalty": "elasticnet", "alpha": 0.001, "l1_ratio": 0.5,
                "max_iter": 7, "average": False, "random_state": 5, "n_jobs": 2}  # fmt: skip
    assert {name: getattr(learner, name) for name in expected} == expected
    assert learner.n_iter_ == 7
    rows = [(str(i % 5), i % 5) for i in range(50)]
    write_table("a.csv", ["x", "y"], rows)
    options = ["--label", "y", "--numeric", "x", "--loss", "huber", "--epsilon", "0.5"]
    run(capsys, "train", "a.csv", "model", *options)
    assert fastlin.load("model")[-1].epsilon == 0.5


# Case: the same text in Python and in the shell -----------------------------------------------


def test_the_same_text_gives_the_same_probability(folder, capsys, monkeypatch):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    model = fastlin.load("model")
    text = "Fr\u00fch: a PRIZE for you, win it"
    [expected] = model.predict_proba([text]).tolist()
    assert model.predict_proba([text + "\n"]).tolist() == [expected]

    def shell(content, *options):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stdin)
        out = run(capsys, "predict", "-", "model", "--proba", *options).out
        return [list(map(float, line.split("\t")[1:])) for line in out.splitlines()[1:]]

    for ending in ("", "\n", "\r\n"):
        assert shell((text + ending).encode(), "--format", "text") == [expected]
        assert shell((text + "\n" + text + ending).encode(), "--format", "text") == [expected] * 2
    as_csv = f'text\n"{text}\n"\n"{text}"'
    assert shell(as_csv.encode(), "--format", "csv") == [expected] * 2
    as_json = "\n".join(json.dumps({"text": text + end}) for end in ("", "\n"))
    assert shell(as_json.encode()) == [expected] * 2
    hashing = fastlin.HashingVectorizer(ngram_range=(1, 2), n_features=2**18)
    by_hand = model[-1].predict_proba(hashing.transform([text + "\n"]))
    assert by_hand.tolist() == [expected]


def test_a_file_of_texts(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    write_bytes("new.txt", b"\xef\xbb\xbfa prize\n\nlunch, lunch\r\n")
    out, err = run(capsys, "predict", "new.txt", "model", "--format", "text")
    assert [out.split()[place] for place in (0, 2)] == ["spam", "ham"]
    assert len(out.split()) == 3
    assert err == ""


def test_models_made_in_python(folder, capsys):
    texts, labels = [text for _, text in SPAM], [label for label, _ in SPAM]
    model = fastlin.make_pipeline(fastlin.HashingVectorizer(), fastlin.SGDClassifier())
    fastlin.save(model.fit(texts, labels), "model")
    out, err = run(capsys, "predict", "spam.csv", "model", "--text", "text", "--label", "label")
    assert out.split() == labels
    assert err == "accuracy 1.0000 (40 of 40 rows)\n"
    assert "--text must name the column" in refused(capsys, "predict", "spam.csv", "model")
    write_bytes("lines.txt", b"a prize\n")
    out, _ = run(capsys, "predict", "lines.txt", "model", "--format", "text")
    assert out == "spam\n"
    assert "HashingVectorizer, SGDClassifier\n" in run(capsys, "inspect", "model").out


# Cross-validation -----------------------------------------------------------------------------


def test_scores_equal_those_of_python(folder, capsys):
    out = run(capsys, "cv", "spam.csv", *TEXT_OPTIONS, "--cv", "4", "--n-jobs", "2").out
    assert out.splitlines()[:5] == [
        *[f"fold {fold}  1.0000" for fold in (1, 2, 3, 4)],
        "mean    1.0000  (standard deviation 0.0000)",
    ]
    assert out.splitlines()[5].startswith("accuracy of 4 folds over 40 rows, ")
    assert out.splitlines()[5].endswith("always 'ham' would be 0.5000")


def test_categories_encoded_once_or_in_each_fold_score_alike():
    rng = np.random.default_rng(1)
    table = Columns({"a": rng.integers(0, 40, 90).astype(str).tolist()})
    y = np.array([int(a) % 2 ^ (rng.random() < 0.2) for a in table.columns["a"]])
    # rows in their own order, since those of one pass are shuffled otherwise than those of a fold
    learner = fastlin.SGDClassifier("log_loss", alpha=1e-3, shuffle=False)
    once = ColumnEncoder(categorical=["a"]).fit_transform(table)
    cv = KFold(3)
    pipeline = fastlin.make_pipeline(ColumnEncoder(categorical=["a"]), learner)
    scores = cross_val_score(learner, once, y, cv=cv)
    with pytest.warns(UserWarning, match=r"unknown categories .* in column 0 \('a'\)"):
        np.testing.assert_array_equal(cross_val_score(pipeline, table, y, cv=cv), scores)


def test_spam_and_mushrooms_reach_their_accuracies(folder, capsys):
    messages, labels = datasets.load_sms_spam(return_X_y=True)
    write_table("sms.csv", ["label", "text"], zip(labels, messages, strict=True))
    out = run(capsys, "cv", "sms.csv", *TEXT_OPTIONS).out
    assert float(out.splitlines()[5].split()[1]) >= 0.98
    mushrooms = datasets.load_mushrooms()
    rows = [[*row, label] for row, label in zip(mushrooms.data, mushrooms.target, strict=True)]
    write_table("mushrooms.csv", [*mushrooms.feature_names, "class"], rows)
    for learner in ("sgd", "perceptron"):
        options = ["--label", "class", "--categorical", "all", "--learner", learner]
        out = run(capsys, "cv", "mushrooms.csv", *options).out
        assert float(out.splitlines()[5].split()[1]) >= 0.999


# Looking --------------------------------------------------------------------------------------


def test_inspection_names_ngrams_with_their_direction(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    out = run(capsys, "inspect", "model", "--top", "40").out
    assert out.startswith("model (")
    assert "learner      SGDClassifier" in out
    assert "loss='log_loss'" in out
    assert "text text (1 to 2-grams hashed to 262,144 columns)" in out
    assert "classes      ham, spam" in out
    spam, ham = out.split("for spam\n")[1].split("for ham\n")
    for ngram in ('"prize"', '"win"', '"free prize"', '"prize for"'):
        assert ngram in spam
        assert ngram not in ham
    for ngram in ('"lunch"', '"lunch at"', '"noon"'):
        assert ngram in ham
        assert ngram not in spam
    # Each direction of the decision is that of the n-gram itself, whatever the sign of its hash.
    model = fastlin.load("model")
    decision = model.decision_function(["prize", "lunch", ""])
    assert decision[0] > decision[2] > decision[1]
    assert "strongest" not in run(capsys, "inspect", "model", "--top", "0").out


def test_inspection_shows_what_a_terminal_would_obey(folder, capsys):
    y = ["a\x1b[31m", "b\nc"]
    fastlin.save(fastlin.SGDClassifier().fit(np.eye(2), y), "model")
    out = run(capsys, "inspect", "model").out
    assert "\x1b" not in out
    assert "classes     a\\x1b[31m, b\\nc\n" in out
    assert "\nfor b\\nc\n" in out


def test_labels_that_are_no_unicode(folder, capsys):
    """JSON can hold half a pair of surrogates, which UTF-8 cannot; it is written as in JSON."""
    rows = [("\ud800", "aa bb"), ("x", "cc dd")]
    write_table("a.jsonl", ["label", "text"], rows)
    run(capsys, "train", "a.jsonl", "model", *TEXT_OPTIONS)
    run(capsys, "predict", "a.jsonl", "model", "out")
    with open("out", encoding="utf-8") as stream:
        assert stream.read() == "\\ud800\nx\n"
    assert run(capsys, "predict", "a.jsonl", "model", "--proba").out.startswith("prediction\t")
    assert "\\ud800" in run(capsys, "inspect", "model").out


def test_inspection_of_other_models(folder, capsys):
    fastlin.save(fastlin.HashingVectorizer(n_features=64), "hashing")
    assert "learner     HashingVectorizer" in run(capsys, "inspect", "hashing").out
    write_bytes("a.svm", b"1 1:1\n-1 5:1\n" * 5)
    run(capsys, "train", "a.svm", "model", "--learner", "perceptron", "--penalty", "l1")
    out = run(capsys, "inspect", "model").out
    assert "learner     Perceptron" in out
    assert "penalty='l1'" in out
    first, second = out.split("for 1\n")[1].split("for -1\n")
    assert "feature 1" in first
    assert "feature 5" in second
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"height": [1.0, 2.0, 3.0, 4.0]})
    regressor = fastlin.SGDRegressor(eta0=0.1, random_state=0)
    fastlin.save(regressor.fit(frame, [1.0, 2.0, 3.0, 4.0]), "heights")
    assert "height" in run(capsys, "inspect", "heights").out.split("raise the prediction")[1]


def test_the_demo(capsys, monkeypatch):
    monkeypatch.setattr(_cli_demo, "_EPOCHS", 3)
    out, err = run(capsys, "demo")
    assert err == ""
    accuracies = [float(line.split()[-1]) for line in out.splitlines() if "(5 folds): 0" in line]
    assert accuracies[0] > 0.97
    assert '"txt"' in out
    assert "odor=none" in out
    assert out.count("plain NumPy") == 2


def test_plain_numpy_takes_the_same_steps():
    rng = np.random.default_rng(0)
    from scipy import sparse

    X = sparse.random_array((60, 12), density=0.4, format="csr", rng=rng)
    y = np.where(X.sum(axis=1) > 2.2, 1.0, -1.0)
    w, b = _cli_demo.numpy_sgd(X, y, 1e-3, 4, seed=None)
    model = fastlin.SGDClassifier("log_loss", alpha=1e-3, max_iter=4, tol=None, shuffle=False)
    model.fit(X, y)
    np.testing.assert_allclose(w, model.coef_[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(b, model.intercept_[0], rtol=1e-10)


# Several classes, several labels --------------------------------------------------------------


@pytest.mark.parametrize("way", ["ovr", "joint", "multinomial", "crammer_singer", "ovo", "ecoc"])
@pytest.mark.parametrize("learner", ["sgd", "perceptron"])
def test_several_classes(folder, capsys, way, learner):
    write_bytes("a.svm", b"1 1:1\n2 2:1\n5 3:1\n" * 5)
    run(capsys, "train", "a.svm", "model", "--multi-class", way, "--learner", learner)
    model = fastlin.load("model")
    assert model.multi_class == way
    assert run(capsys, "predict", "a.svm", "model").out.split() == ["1", "2", "5"] * 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--multi-class", "joint", "--loss", "modified_huber"], "needs a loss with a joint form"),
        (["--multi-class", "ovo", "--loss", "huber"], "--multi-class is for classes, but"),
        (["--multi-class", "all"], "invalid choice: 'all'"),
    ],
)
def test_several_classes_refused(folder, capsys, options, message):
    write_bytes("a.svm", b"1 1:1\n2 2:1\n5 3:1\n" * 5)
    assert message in refused(capsys, "train", "a.svm", "model", *options)


def test_several_labels_per_row(folder, capsys):
    X = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 1]] * 5)
    labels = [{"b", "a,b"} if one else set() for one in X[:, 0]]
    labels = [found | {"c"} if two else found for found, two in zip(labels, X[:, 1], strict=True)]
    model = fastlin.SGDClassifier("log_loss", max_iter=60, random_state=0)
    texts = [" ".join(np.array(["aa", "bb", "cc"])[row == 1]) for row in X]
    model = fastlin.make_pipeline(fastlin.HashingVectorizer(n_features=64), model)
    fastlin.save(model.fit(texts, labels), "sets")
    cells = [",".join('"a,b"' if name == "a,b" else name for name in sorted(s)) for s in labels]
    write_table("a.csv", ["text", "label"], zip(texts, cells, strict=True))
    out, err = run(capsys, "predict", "a.csv", "sets", "out.tsv", "--text", "text", "--label",
                   "label", "--proba")  # fmt: skip
    assert err == "accuracy 1.0000 (20 of 20 rows)\n"
    found = fastlin.io.read_table("out.tsv").columns
    assert list(found) == ["prediction", "a,b", "b", "c"]
    assert found["prediction"] == cells


def test_several_numbered_labels_per_row(folder, capsys):
    lines = ["1,7 1:1 3:1", "2 2:1 3:1", " 3:1", "1,2,7 1:1 2:1 3:1"] * 5
    write_bytes("a.svm", "\n".join(lines).encode())
    X, y = fastlin.load_svmlight_file("a.svm", multilabel=True, zero_based=True)
    model = fastlin.LogisticRegression(C=100.0).fit(X, [set(map(int, row)) for row in y])
    fastlin.save(model, "sets")
    out, err = run(capsys, "predict", "a.svm", "sets")
    assert out.splitlines() == ["1,7", "2", '""', "1,2,7"] * 5
    assert err == "accuracy 1.0000 (20 of 20 rows)\n"
