"""The shell: commands, formats, messages, and what is left behind when something goes wrong."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import fastlin
from fastlin import _cli_demo, _cli_encoder, _cli_train, datasets
from fastlin._cli_encoder import ColumnEncoder
from fastlin._sgd import MARGIN_LOSSES, TARGET_LOSSES
from fastlin.cli import main
from fastlin.model_selection import KFold, cross_val_score

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(fastlin.__file__)))
SPAM = [
    ("spam", 'win a "prize", now'),
    ("ham", "see you at lunch"),
    ("spam", "a free prize\nfor you"),
    ("ham", "lunch at noon, as ever"),
] * 10
TEXT_OPTIONS = ["--label", "label", "--text", "text"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, with the examples in several formats."""
    monkeypatch.chdir(tmp_path)
    write_table("spam.csv", ["label", "text"], SPAM)
    return tmp_path


def write_table(name, header, rows, delimiter=","):
    """Write a table, compressed as its name says."""
    text = io.StringIO()
    if ".jsonl" in name:
        text.writelines(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in rows)
    else:
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    write_bytes(name, text.getvalue().encode())


def write_bytes(name, content):
    """Write a file, compressed as its name says."""
    module = {".gz": gzip, ".bz2": bz2, ".xz": lzma}.get(os.path.splitext(name)[1])
    with open(name, "wb") if module is None else module.open(name, "wb") as stream:
        stream.write(content)


def run(capsys, *arguments):
    """Run the shell; returns what it printed, on both streams, and asserts success."""
    assert main([str(argument) for argument in arguments]) == 0
    return capsys.readouterr()


def refused(capsys, *arguments):
    """Run the shell on bad input; returns the one line that it says."""
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir()}
    assert main([str(argument) for argument in arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("fastlin")
    assert {name: os.stat(name).st_mtime_ns for name in os.listdir()} == before
    return err


def in_process(*arguments, stdin=b"", **options):
    """Run the shell in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": ROOT}
    command = [sys.executable, "-m", "fastlin", *map(str, arguments)]
    return subprocess.run(
        command, input=stdin, capture_output=True, env=environment, timeout=60, **options
    )


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
        assert f"colour={colour}" in out


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
    assert run(capsys, "predict", "some.csv", "model") == ("spam\nham\n", "")
    write_table("other.csv", ["truth", "text"], [["spam", "a prize"], ["spam", "lunch"]])
    out = run(capsys, "predict", "other.csv", "model", "--label", "truth")
    assert out.err == "accuracy 0.5000 (1 of 2 rows)\n"


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
    table = _cli_encoder.Columns({"a": rng.integers(0, 40, 90).astype(str).tolist()})
    y = np.array([int(a) % 2 ^ (rng.random() < 0.2) for a in table.columns["a"]])
    learner = fastlin.SGDClassifier("log_loss", alpha=1e-3, random_state=0)
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


# Bad input ------------------------------------------------------------------------------------

BAD = [
    (["train", "none.csv", "m", *TEXT_OPTIONS], "none.csv: No such file or directory"),
    (["cv", ".", *TEXT_OPTIONS, "--format", "csv"], "."),
    (["train", "spam.csv", "m"], "--label must name the column to predict; spam.csv has 'label',"),
    (["train", "spam.csv", "m", "--label", "label"], "say what to learn from: --text COL"),
    (["train", "spam.csv", "m", "--label", "kind", "--text", "text"],
     "spam.csv has no column 'kind'; its columns are 'label', 'text'"),
    (["train", "spam.csv", "m", "--label", "label", "--text", "body"],
     "spam.csv has no column 'body'; its columns are 'label', 'text'"),
    (["train", "spam.csv", "m", "--label", "label", "--numeric", "text"],
     "spam.csv, line 2: 'text' must be a finite number, but it holds 'win a"),
    (["train", "spam.csv", "m", "--label", "text", "--text", "text"], "'text' is the label"),
    (["train", "spam.csv", "m", "--label", "label", "--text", "text", "--categorical", "text"],
     "'text' is named twice"),
    (["train", "spam.csv", "m", "--label", "label", "--numeric", "all", "--categorical", "all"],
     "cannot both be 'all'"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--loss", "huber"],
     "spam.csv, line 2: 'label' must be a finite number, but it holds 'spam'"),
    (["train", "spam.csv", "-", *TEXT_OPTIONS], "MODEL must be a file, not standard output"),
    (["train", "spam.csv", "no/m", *TEXT_OPTIONS], "no/m: there is no folder"),
    (["train", "spam.csv", ".", *TEXT_OPTIONS], ". is a folder; MODEL must be a file"),
    (["train", "spam.csv", "spam.csv", *TEXT_OPTIONS], "must not be the file of the data"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--cv", "30"], "n_splits must not be greater"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--cv", "1"], "--cv: must be an integer >= 2"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--alpha", "-1"], "--alpha: must be a number >= 0"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--alpha", "nan"], "--alpha: must be a number >= 0"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--epochs", "0"], "must be an integer >= 1"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--ngrams", "2,1"], "must have 1 <= MIN <= MAX"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--ngrams", "a"], "must be MIN,MAX"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--loss", "none"], "invalid choice: 'none'"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--n-features", "3000000000"], "n_features must be"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--n-jobs", "0", "--cv", "2"], "n_jobs must be"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--l1-ratio", "0.5"], "needs --penalty elasticnet"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--penalty", "none", "--alpha", "1"],
     "--alpha is the strength of the penalty, but --penalty is none"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--epsilon", "1"], "--epsilon is for --loss huber"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--learner", "perceptron", "--loss", "hinge"],
     "--loss is for --learner sgd"),
    (["train", "spam.csv", "m", "--label", "label", "--categorical", "text", "--ngrams", "1,2"],
     "--ngrams needs --text"),
    (["train", "spam.csv", "m", "--label", "label", "--categorical", "a,,b"], "commas between"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--format", "svmlight"], "--label is for tables"),
    (["train", "spam.csv", "m", "--format", "svmlight"], "spam.csv, line 1"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--format", "jsonl"], "spam.csv, line 1"),
    (["train", "spam.csv"], "the following arguments are required: MODEL"),
    (["bake", "spam.csv"], "invalid choice: 'bake'"),
    ([], "required: COMMAND"),
    (["predict", "spam.csv", "spam.csv"], "spam.csv cannot be loaded: it is no model file"),
    (["predict", "spam.csv", "none"], "none: No such file or directory"),
    (["inspect", "none"], "none: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: " ".join(value)[:60]
                         if isinstance(value, list) else "")  # fmt: skip
def test_bad_input_is_one_line_and_leaves_nothing(folder, capsys, arguments, message):
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"label,text\nham,x\n,y\n", "a.csv, line 3: the label 'label' is missing"),
        ("a.csv", b"label,text\n", "a.csv has no rows after its header"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"label,text\nham,x\nham,y\n", "one class only, 'ham'"),
        ("a.csv", b"label,text\nham,x,y\n", "a.csv, line 2: 3 fields"),
        ("a.csv", b"label,text\nham,\xff\n", "a.csv, line 2: not UTF-8"),
        ("a.csv.gz", b"not compressed", "a.csv.gz can't be decompressed"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": null, "text": "z"}',
         "line 2: the label"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"text": "z"}', "line 2: the label"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": 1, "text": "z"}',
         "line 2: the label 'label' is a number, 1, where a string stood before"),
        ("a.jsonl", b'{"label": 0.5, "text": "y"}\n', "line 1: the label 'label' is no class: 0.5"),
        ("a.jsonl", b'{"label": [1], "text": "y"}\n', "the label 'label' is no class"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": "z", "text": 3}',
         "line 2: 'text' must be a text, but it holds 3"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": "z"}', "but it holds nothing"),
    ],
)  # fmt: skip
def test_bad_files_name_the_line(folder, capsys, name, content, message):
    with open(name, "wb") as stream:
        stream.write(content)
    assert message in refused(capsys, "train", name, "model", *TEXT_OPTIONS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 1:1\n0.5 2:1\n", "a.svm has the label 0.5, which is no class"),
        (b"1 1:1\n1 2:1\n", "a.svm has one class only, '1'"),
        (b"1 1:1\n2 2:nan\n", "a.svm, line 2"),
        (b"# nothing\n", "a.svm has no examples"),
    ],
)
def test_bad_svmlight(folder, capsys, content, message):
    write_bytes("a.svm", content)
    assert message in refused(capsys, "train", "a.svm", "model")


def test_bad_predictions(folder, capsys):
    run(capsys, "train", "spam.csv", "texts", *TEXT_OPTIONS, "--loss", "hinge")
    write_bytes("a.svm", b"1 1:1\n-1 5:1\n" * 5)
    run(capsys, "train", "a.svm", "numbers", "--loss", "squared_error")
    write_bytes("b.csv", b"words\nhello\n")
    fastlin.save(fastlin.HashingVectorizer(), "hashing")
    for arguments, message in [
        (["spam.csv", "texts", "--proba"], "texts has no probabilities; train it with --loss log"),
        (["a.svm", "numbers", "--proba"], "--proba is for models of classes; numbers predicts"),
        (["a.svm", "texts"], "trained on a table, but a.svm looks like svmlight"),
        (["spam.csv", "numbers"], "trained on numbered features, but spam.csv does not look like"),
        (["a.svm", "numbers", "--label", "y"], "DATA must be svmlight, without --text and --label"),
        (
            ["b.csv", "texts"],
            "b.csv has no column 'text'; its columns are 'words'. If each line is",
        ),
        (["spam.csv", "texts", "--label", "kind"], "spam.csv has no column 'kind'"),
        (["spam.csv", "texts", "--text", "text"], "--text is not needed"),
        (["spam.csv", "texts", "spam.csv"], "OUT must not be the file of the data"),
        (["spam.csv", "texts", "texts"], "OUT must not be the file of the data or of the model"),
        (["spam.csv", "texts", "no/out"], "No such file or directory"),
        (["spam.csv", "hashing"], "hashing holds a HashingVectorizer, which predicts nothing"),
        (["spam.csv", "texts", "--proba", "--decision"], "not allowed with argument"),
        (["spam.csv", "numbers", "--format", "text"], "DATA must be svmlight"),
    ]:
        assert message in refused(capsys, "predict", *arguments), arguments
    write_table("c.csv", ["x", "text", "label"], [("1", "a", "p"), ("2", "b", "q")] * 5)
    options = ["--label", "label", "--text", "text", "--numeric", "x"]
    run(capsys, "train", "c.csv", "both", *options)
    message = "both was not trained on texts alone"
    assert message in refused(capsys, "predict", "b.csv", "both", "--format", "text")
    write_bytes("bad.txt", b"fine\nnot \xff fine\n")
    assert "bad.txt, line 2: not UTF-8" in refused(
        capsys, "predict", "bad.txt", "texts", "--format", "text"
    )


def test_unknown_categories_are_a_warning(folder, capsys):
    write_table("a.csv", ["y", "colour"], [("p", "red"), ("q", "blue")] * 5)
    run(capsys, "train", "a.csv", "model", "--label", "y", "--categorical", "colour")
    write_table("b.csv", ["colour"], [["green"], ["red"]])
    out, err = run(capsys, "predict", "b.csv", "model")
    assert out.split()[1] == "p"
    assert err.count("\n") == 1
    assert err.startswith("fastlin: warning: Found unknown categories ['green'] in column 0 ('colo")


# The process ----------------------------------------------------------------------------------


def test_version_and_help(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fastlin {fastlin.__version__}\n"
    assert main(["train", "--help"]) == 0
    text = capsys.readouterr().out
    for option in ("--label", "--ngrams", "--alpha", "--l1-ratio", "--epochs", "--seed", "--cv"):
        assert option in text
    assert "(default: 20)" in text


def test_as_a_module_with_standard_input_and_output(folder):
    done = in_process("train", "spam.csv", "model", *TEXT_OPTIONS)
    assert (done.returncode, done.stderr) == (0, b"")
    done = in_process("predict", "-", "model", "-", "--format", "text", stdin=b"a prize\nlunch")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"spam\nham\n", b"")
    content = lzma.compress(Path("spam.csv").read_bytes())
    done = in_process("cv", "-", *TEXT_OPTIONS, "--cv", "2", stdin=content)
    assert done.stdout.startswith(b"fold 1  1.0000\n")
    done = in_process("cv", "none.csv", *TEXT_OPTIONS)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"fastlin cv: error: none.csv: No such file or directory\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise there")
def test_a_reader_that_goes_away_is_no_error(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    write_bytes("many.txt", b"a prize\n" * 200_000)
    command = f"{sys.executable} -m fastlin predict many.txt model --format text | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": ROOT})  # fmt: skip
    assert (done.stdout, done.stderr) == (b"spam\n", b"")


@pytest.mark.skipif(os.name == "nt", reason="no such signal there")
def test_ctrl_c_ends_training_and_leaves_nothing(folder, capsys):
    main_thread = threading.main_thread().ident

    def interrupt():
        time.sleep(0.5)
        signal.pthread_kill(main_thread, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    status = main(["train", "spam.csv", "model", *TEXT_OPTIONS, "--epochs", "1000000000"])
    thread.join()
    assert status == 130
    assert capsys.readouterr().err == "fastlin: interrupted\n"
    assert os.listdir() == ["spam.csv"]


def test_an_error_while_writing_leaves_the_old_model(folder, capsys, monkeypatch):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    before = Path("model").read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device", "model")

    monkeypatch.setattr("fastlin.persist._write_array", full)
    status = main(["train", "spam.csv", "model", *TEXT_OPTIONS, "--seed", "9"])
    assert (status, capsys.readouterr().err) == (
        2, "fastlin train: error: model: No space left on device\n"
    )  # fmt: skip
    assert Path("model").read_bytes() == before
    assert sorted(os.listdir()) == ["model", "spam.csv"]


def test_progress_is_shown_on_terminals_only(folder, capsys, monkeypatch):
    shown = io.StringIO()
    shown.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", shown)
    assert main(["train", "spam.csv", "model", *TEXT_OPTIONS, "--cv", "2"]) == 0
    text = shown.getvalue()
    for part in (
        "reading spam.csv",
        "encoding 40 rows",
        "2 of 2 folds",
        "epoch 20 of 20",
        "writing",
    ):
        assert part in text
    # At the end the line is erased, whatever stood there.
    assert text.endswith("\r\x1b[K")
    monkeypatch.undo()
    os.chdir(folder)
    assert run(capsys, "cv", "spam.csv", *TEXT_OPTIONS, "--cv", "2").err == ""


# Columns --------------------------------------------------------------------------------------

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
        (ColumnEncoder(numeric=["kind"]), TABLE, ValueError, "X, row 0: 'kind' must be a finite"),
        (ColumnEncoder(text="size"), TABLE, ValueError, "X, row 0: 'size' must be a text"),
        (ColumnEncoder(numeric=["a"]), {"a": [1, None]}, ValueError, "row 1.*holds nothing"),
        (ColumnEncoder(numeric=["a"]), {"a": [1.0, float("inf")]}, ValueError, "finite number"),
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
