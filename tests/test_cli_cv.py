"""`fastlin cv`: tables over strengths of the penalty, and pictures."""

import os
import re
import sys

import numpy as np
import pytest
from shell import TEXT_OPTIONS, refused, run, write_table

from fastlin import HashingVectorizer, SGDClassifier, StratifiedKFold, cross_val_score
from fastlin.datasets import load_sms_spam

ALPHAS = ["1e-06", "0.0001", "0.01"]
RNG = np.random.default_rng(0)


@pytest.fixture
def sms(tmp_path, monkeypatch):
    """A folder with 600 messages and a table of numbers."""
    monkeypatch.chdir(tmp_path)
    texts, labels = load_sms_spam(return_X_y=True)
    write_table("sms.csv", ["label", "text"], list(zip(labels[:600], texts[:600])))
    x = RNG.normal(size=(80, 2))
    rows = np.column_stack([x @ [1.0, -2.0] + 0.1 * RNG.normal(size=80), x])
    write_table("numbers.csv", ["y", "a", "b"], rows.tolist())


def test_table_over_alpha_is_that_of_a_loop(sms, capsys):
    out = run(capsys, "cv", "sms.csv", *TEXT_OPTIONS, "--cv", "3", "--alpha", ",".join(ALPHAS)).out
    head, *rows, last = out.splitlines()
    assert head.split() == "alpha fold 1 fold 2 fold 3 mean sd".split()
    assert [row.split()[0] for row in rows] == ALPHAS
    texts, labels = load_sms_spam(return_X_y=True)
    X = HashingVectorizer(ngram_range=(1, 2), n_features=2**18).fit_transform(texts[:600])
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    means = []
    for row, alpha in zip(rows, ALPHAS):
        model = SGDClassifier(
            "log_loss", alpha=float(alpha), max_iter=20, tol=None, average=True, random_state=0
        )
        scores = cross_val_score(model, X, labels[:600], cv=cv)
        numbers = [float(cell) for cell in row.split()[1:6]]
        # all strengths train in one pass: in the order of rows of the first
        np.testing.assert_allclose(numbers[:3], scores, atol=0.011)
        assert numbers[3] == pytest.approx(np.mean(numbers[:3]), abs=1e-4)
        assert numbers[4] == pytest.approx(np.std(numbers[:3]), abs=1e-4)
        means.append(numbers[3])
    assert [row.endswith("best") for row in rows].index(True) == int(np.argmax(means))
    assert sum(row.endswith("best") for row in rows) == 1
    assert last.startswith("accuracy of 3 folds over 600 rows, ")


def test_numbers_are_searched_in_a_pipeline(sms, capsys):
    options = ["--label", "y", "--numeric", "all", "--loss", "squared_error"]
    out = run(capsys, "cv", "numbers.csv", *options, "--alpha", "1e-4,10", "--cv", "3").out
    rows = out.splitlines()
    assert rows[1].startswith("0.0001") and rows[1].endswith("best")
    assert float(rows[1].split()[4]) > 0.9 > float(rows[2].split()[4])
    assert rows[3].startswith("R2 (1 is perfect")


def test_one_alpha_has_a_row_for_each_fold(sms, capsys):
    out = run(capsys, "cv", "sms.csv", *TEXT_OPTIONS, "--cv", "3", "--alpha", "1e-5").out
    assert re.fullmatch(
        r"fold 1  0\.\d{4}\nfold 2  0\.\d{4}\nfold 3  0\.\d{4}\n"
        r"mean    0\.\d{4}  \(standard deviation 0\.\d{4}\)\naccuracy of 3 folds .*\n",
        out,
    )


@pytest.mark.parametrize("alphas", ["1e-5", "1e-5,1e-3"], ids=["over rows", "over alpha"])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_pictures(sms, capsys, alphas, ending):
    pytest.importorskip("matplotlib")
    name = f"curve.{ending}"
    arguments = [*TEXT_OPTIONS, "--cv", "3", "--alpha", alphas, "--plot", name]
    assert run(capsys, "cv", "sms.csv", *arguments).out.endswith(f"wrote {name}\n")
    with open(name, "rb") as stream:
        assert stream.read(5) in (b"\x89PNG\r", b"<?xml")


def test_pictures_over_rows_of_a_regression(sms, capsys):
    pytest.importorskip("matplotlib")
    options = ["--label", "y", "--numeric", "all", "--loss", "huber", "--cv", "3"]
    run(capsys, "cv", "numbers.csv", *options, "--plot", "rows.pdf")
    assert os.path.getsize("rows.pdf") > 1000


def test_refusals(sms, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    for arguments, said in (
        (["--alpha", "1e-4,no"], "--alpha: must be a number >= 0, got 'no'"),
        (["--alpha", "1e-4,1e-4"], "--alpha: must be different numbers"),
        (["--alpha", ""], "--alpha: must be a number >= 0"),
        (["--plot", "no/a.png"], "no/a.png: there is no folder"),
        (["--plot", "a.xyz"], "--plot a.xyz: the ending must say the format, one of"),
        (["--plot", "-"], "--plot must be a file of its own"),
        (["--plot", "sms.csv"], "--plot must be a file of its own"),
    ):
        assert said in refused(capsys, "cv", "sms.csv", *TEXT_OPTIONS, *arguments)
    assert "must be a number" in refused(
        capsys, "train", "sms.csv", "m", *TEXT_OPTIONS, "--alpha", "1e-4,1e-3"
    )
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    said = refused(capsys, "cv", "sms.csv", *TEXT_OPTIONS, "--plot", "a.png")
    assert "pip install fastlin[plot]" in said
