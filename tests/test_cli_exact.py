"""`--learner exact`: the optimum in the shell is that of the estimator, and of scikit-learn."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from shell import TEXT_OPTIONS, refused, run, write_bytes, write_table

import fastlin
from fastlin import (
    GridSearchCV,
    KFold,
    LinearSVC,
    LogisticRegression,
    StratifiedKFold,
    dump_svmlight_file,
)
from fastlin._cli_arguments import EXACT_LOSSES
from fastlin._cli_exact import _ESTIMATORS
from fastlin.datasets import load_mushrooms

RNG = np.random.default_rng(0)
SVM = ["train", "a.svm", "m", "--learner", "exact"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with two classes as svmlight, three of them and numbers as tables."""
    monkeypatch.chdir(tmp_path)
    X = RNG.normal(size=(120, 6)) * (RNG.random((120, 6)) < 0.6)
    z = X @ [1.0, -2.0, 0.5, 0.0, 0.0, 1.0] + 0.3 + RNG.normal(size=120)
    dump_svmlight_file(X, np.where(z > 0, 1, -1), "a.svm", zero_based=True)
    dump_svmlight_file(X, z, "numbers.svm", zero_based=True)
    kinds = np.array(["low", "middle", "high"])[np.digitize(z, [-1, 1])]
    write_table("kinds.csv", ["kind", *"abcdef"], np.column_stack([kinds, X]).tolist())
    return X, z


LEARNERS = [
    ([], "LogisticRegression", {"penalty": "l2", "C": 1.0}),
    (["--C", "0.3", "--tol", "1e-7"], "LogisticRegression", {"C": 0.3, "tol": 1e-7}),
    (["--penalty", "l1", "--C", "2"], "LogisticRegression", {"penalty": "l1", "C": 2.0}),
    (["--penalty", "elasticnet", "--l1-ratio", "0"], "LogisticRegression",
     {"penalty": "elasticnet", "l1_ratio": 0.0}),
    (["--penalty", "none"], "LogisticRegression", {"penalty": None}),
    (["--loss", "hinge", "--epochs", "900", "--seed", "3"], "LinearSVC",
     {"loss": "hinge", "max_iter": 900, "random_state": 3}),
    (["--loss", "squared_hinge", "--penalty", "l1"], "LinearSVC",
     {"loss": "squared_hinge", "penalty": "l1"}),
    (["--loss", "sparsemax", "--penalty", "elasticnet"], "SparsemaxClassifier",
     {"l1_ratio": 0.15, "C": 1.0}),
    (["--loss", "squared_error"], "Ridge", {"alpha": 1.0}),
    (["--loss", "squared_error", "--penalty", "l1", "--alpha", "0.05"], "Lasso", {"alpha": 0.05}),
    (["--loss", "squared_error", "--penalty", "elasticnet", "--l1-ratio", "0.7"], "ElasticNet",
     {"l1_ratio": 0.7}),
    (["--loss", "squared_error", "--penalty", "none"], "LinearRegression", {}),
    (["--loss", "epsilon_insensitive", "--epsilon", "0.2"], "LinearSVR",
     {"loss": "epsilon_insensitive", "epsilon": 0.2}),
    (["--loss", "squared_epsilon_insensitive", "--C", "9"], "LinearSVR",
     {"loss": "squared_epsilon_insensitive", "epsilon": 0.1, "C": 9.0}),
]  # fmt: skip


@pytest.mark.parametrize(("options", "kind", "params"), LEARNERS,
                         ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_the_model_is_that_of_the_estimator(files, capsys, options, kind, params):
    X, z = files
    is_regression = kind in ("Ridge", "Lasso", "ElasticNet", "LinearRegression", "LinearSVR")
    data, y = ("numbers.svm", z) if is_regression else ("a.svm", np.where(z > 0, 1, -1))
    out = run(capsys, "train", data, "m", "--learner", "exact", *options).out
    model = fastlin.load("m")
    assert type(model).__name__ == kind
    assert params.items() <= model.get_params().items()
    expected = type(model)(**model.get_params()).fit(csr_matrix(X), y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-6, atol=1e-9)
    gap = float(re.search(r"to a relative duality gap of ([\d.e+-]+);", out)[1])
    assert gap == pytest.approx(np.max(model.duality_gap_), rel=0.06, abs=1e-300)
    assert gap <= model.tol
    said = run(capsys, "inspect", "m").out
    assert kind in said and f"reached to a relative duality gap of {gap:.2g}" in said


def test_each_loss_that_the_help_names_has_an_estimator():
    assert set(EXACT_LOSSES) == set(_ESTIMATORS)


def test_optimum_is_scikit_learns(files, capsys):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, z = files
    run(capsys, *SVM, "--C", "0.5", "--tol", "1e-10")
    theirs = linear_model.LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(X, z > 0)
    model = fastlin.load("m")
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-5)


@pytest.mark.parametrize(("loss", "kind"), [("log_loss", "LogisticRegression"),
                                            ("hinge", "LinearSVC"),
                                            ("sparsemax", "SparsemaxClassifier")])  # fmt: skip
@pytest.mark.parametrize("way", ["joint", "multinomial", "crammer_singer"])
def test_three_words_for_learning_all_classes_together(files, capsys, loss, kind, way):
    options = ["--label", "kind", "--numeric", "all", "--loss", loss, "--multi-class", way]
    assert kind in run(capsys, "train", "kinds.csv", "m", "--learner", "exact", *options).out
    assert getattr(fastlin.load("m")[-1], "multi_class", "joint") == "joint"


@pytest.mark.parametrize("way", ["ovr", "joint", "ovo", "ecoc"])
def test_several_classes(files, capsys, way):
    options = ["--label", "kind", "--numeric", "all", "--multi-class", way]
    said = run(capsys, "train", "kinds.csv", "m", "--learner", "exact", *options, "--cv", "3").out
    assert "3 classes" in said and "LogisticRegression" in said
    assert float(re.search(r"mean +(\S+)", said)[1]) > 0.6
    assert fastlin.load("m")[-1].multi_class == way
    kind = "--proba" if way in ("ovr", "joint") else "--decision"
    head, *rows = run(capsys, "predict", "kinds.csv", "m", kind).out.splitlines()
    assert len(rows) == 120 and len(head.split("\t")) >= 4


def test_table_over_C_is_that_of_a_search(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_mushrooms(return_X_y=True)
    X, y = fastlin.OneHotEncoder().fit_transform(X)[::8], np.unique(y[::8], return_inverse=True)[1]
    dump_svmlight_file(X, y, "mushrooms.svm", zero_based=True)
    out = run(capsys, "cv", "mushrooms.svm", "--learner", "exact", "--loss", "squared_hinge", "--C",
              "0.001,0.01,0.1", "--cv", "4").out  # fmt: skip
    head, *rows, last = out.splitlines()
    assert head.split()[:3] == ["C", "fold", "1"]
    search = GridSearchCV(
        LinearSVC(loss="squared_hinge"), {"C": [0.001, 0.01, 0.1]}, refit=False,
        cv=StratifiedKFold(4, shuffle=True, random_state=0),
    ).fit(X, y)  # fmt: skip
    means = [float(row.split()[5]) for row in rows]
    np.testing.assert_allclose(means, search.cv_results_["mean_test_score"], atol=1e-4)
    assert rows[int(np.argmax(means))].endswith("best")


@pytest.mark.parametrize(("penalty", "strength"), [("l1", "--alpha"), ("none", None)])
def test_least_squares_are_scored_by_their_own_strength(files, capsys, penalty, strength):
    X, z = files
    options = ["--learner", "exact", "--loss", "squared_error", "--penalty", penalty, "--cv", "3"]
    values = [0.01, 0.1] if strength else [None]
    if strength:
        options += [strength, "0.01,0.1"]
    out = run(capsys, "cv", "numbers.svm", *options).out
    kind = fastlin.Lasso if strength else fastlin.LinearRegression
    for row, value in zip(out.splitlines()[1:] if strength else [out], values, strict=False):
        model = kind(value) if strength else kind()
        cv = KFold(3, shuffle=True, random_state=0)
        scores = fastlin.cross_val_score(model, X, z, cv=cv)
        said = row.split()[1:4] if strength else re.findall(r"fold \d  (\S+)", row)
        np.testing.assert_allclose([float(cell) for cell in said], scores, atol=6e-5)


def test_pictures_over_C(files, capsys):
    pytest.importorskip("matplotlib")
    options = ["--learner", "exact", "--cv", "3"]
    for C in ("1", "0.1,1"):
        run(capsys, "cv", "a.svm", *options, "--C", C, "--plot", "c.svg")
        with open("c.svg", encoding="utf-8") as stream:
            assert stream.read(5) == "<?xml"


def test_a_stop_before_the_optimum_is_said_in_options(files, capsys):
    err = run(capsys, *SVM, "--tol", "1e-12", "--epochs", "1", "--C", "1e4").err
    assert re.fullmatch(
        r"fastlin: warning: LogisticRegression stopped after 1 iterations with a duality gap of "
        r"\S+ of the objective > --tol 1e-12; raise --epochs or --tol, or lower --C\.\n", err
    )
    err = run(capsys, *SVM, "--tol", "1e-12", "--epochs", "1", "--penalty", "none").err
    assert err.endswith("raise --epochs or --tol, or set a penalty.\n")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--loss", "huber"], "--learner exact has no --loss huber, only log_loss, hinge, "),
        (["--loss", "hinge", "--penalty", "l1"],
         "--learner exact has no --penalty l1 for hinge, only l2; say --learner sgd."),
        (["--eta0", "1"], "--eta0 is for learners by steps"),
        (["--average"], "--average is for learners by steps"),
        (["--no-average"], "--average is for learners by steps"),
        (["--learning-rate", "constant"], "--learning-rate is for learners by steps"),
        (["--alpha", "1"], "--alpha has no effect on LogisticRegression, which learns log_loss with"
         " the penalty l2; say --C."),
        (["--loss", "squared_error", "--C", "1"], "--C has no effect on Ridge, which learns "
         "squared_error with the penalty l2; say --alpha."),
        (["--loss", "sparsemax", "--multi-class", "ovr"], "learns all classes together"),
        (["--learner", "sgd", "--penalty", "none", "--C", "1"], "--C is for --learner exact"),
        (["--loss", "squared_error", "--penalty", "none", "--epochs", "3"], "--epochs has no effect"
         " on LinearRegression"),
        (["--loss", "epsilon_insensitive", "--multi-class", "ovr"],
         "--multi-class is for classes, but --loss epsilon_insensitive learns numbers."),
        (["--loss", "squared_hinge", "--multi-class", "joint"], "needs a loss with a joint form"),
        (["--penalty", "none", "--C", "1"], "--C is the strength of the penalty, but --penalty is"),
        (["--C", "0"], "--C: must be a number > 0, got '0'"),
        (["--C", "1,2"], "--C: must be a number > 0, got '1,2'"),
        (["--tol", "-1"], "--tol: must be a number > 0"),
        (["--stream"], "--learner exact needs all rows in memory: it does not go with --stream"),
        (["--learner", "sgd", "--C", "1"], "--C is for --learner exact; say --alpha."),
        (["--learner", "perceptron", "--tol", "1"], "--tol is for --learner exact; say --epochs."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_what_has_no_effect_is_refused(files, capsys, options, said):
    assert said in refused(capsys, *SVM, *options)


def test_a_file_too_large_for_memory_is_refused(files, capsys, monkeypatch):
    monkeypatch.setattr("fastlin._cli_stream.available_memory", lambda: 1000)
    assert "a.svm looks too large for that; say --learner sgd" in refused(capsys, *SVM)
    run(capsys, *SVM, "--no-stream")
    assert isinstance(fastlin.load("m"), LogisticRegression)


def test_texts_learn_in_folds(files, capsys):
    write_bytes("t.csv", b"label,text\n" + b"spam,win a prize\nham,see you at noon\n" * 20)
    out = run(capsys, "cv", "t.csv", *TEXT_OPTIONS, "--learner", "exact", "--C", "1,100").out
    assert [row.split()[-3] for row in out.splitlines()[1:3]] == ["1.0000", "1.0000"]
