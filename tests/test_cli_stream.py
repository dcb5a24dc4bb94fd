"""`fastlin train --stream`: the model of a fit in memory, from files of every format."""

import os

import numpy as np
import pytest
from shell import SPAM, TEXT_OPTIONS, refused, run, write_bytes, write_table

import fastlin
from fastlin import _cli_predict, _cli_stream
from fastlin._cli_arguments import make_parser
from fastlin._cli_encoder import ColumnEncoder
from fastlin._named_columns import Columns

RNG = np.random.default_rng(0)
ROWS = [
    (
        "yes" if a + 0.1 * b > 0 else "no",
        f"{a:.4f}",
        f"c{RNG.integers(40)}",
        "win a prize" if a > 0 else "see you at lunch",
    )
    for a, b in RNG.normal(size=(400, 2))
]
HEADER = ["y", "number", "kind", "words"]
COLUMNS = ["--label", "y", "--numeric", "number", "--categorical", "kind", "--text", "words",
           "--n-features", "512", "--epochs", "3"]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (_cli_stream, _cli_predict):
        monkeypatch.setattr(module, "_ROWS_AT_ONCE", 64)


def learnt(name):
    model = fastlin.load(name)
    return model.steps[-1][1] if hasattr(model, "steps") else model


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl", "a.parquet"])
def test_tables(name, folder, capsys, small_blocks):
    if name.endswith("parquet"):
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        cells = dict(zip(HEADER, map(list, zip(*ROWS))))
        parquet.write_table(pyarrow.table(cells), name, row_group_size=100)
    else:
        write_table(name, HEADER, ROWS, "\t" if "tsv" in name else ",")
    run(capsys, "train", name, "whole", *COLUMNS)
    out, _ = run(capsys, "train", name, "streamed", "--stream", *COLUMNS)
    assert out.startswith("SGDClassifier trained on 400 rows, 2 classes; wrote streamed")
    np.testing.assert_allclose(learnt("streamed").coef_, learnt("whole").coef_, rtol=1e-9)
    whole, streamed = (fastlin.load(model).steps[0][1] for model in ("whole", "streamed"))
    assert streamed.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    out, err = run(capsys, "predict", name, "streamed", "--proba")
    assert out.splitlines()[0].split("\t") == ["prediction", "no", "yes"]
    assert len(out.splitlines()) == 401
    assert err.startswith("accuracy 0.9")
    run(capsys, "predict", name, "whole", "answers")
    assert len((folder / "answers").read_text().split()) == 400


def test_encoder_in_blocks_is_that_of_the_whole():
    cells = dict(zip(HEADER, map(list, zip(*ROWS))))
    params = {"numeric": ["number"], "categorical": ["kind"], "label": "y"}
    whole = ColumnEncoder(**params).fit(cells)
    blocks = [
        Columns({name: values[i : i + 70] for name, values in cells.items()})
        for i in range(0, 400, 70)
    ]
    streamed = ColumnEncoder(**params).fit_blocks(blocks)
    np.testing.assert_allclose(streamed.mean_, whole.mean_, rtol=1e-12)
    np.testing.assert_allclose(streamed.scale_, whole.scale_, rtol=1e-12)
    assert streamed.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()


def test_svmlight_and_regression(folder, capsys):
    lines = [f"{float(a):.3f} 1:{a} 7:1\n" for _, a, _, _ in ROWS]
    write_bytes("a.svm", "".join(lines).encode())
    for loss in ("huber", "squared_error"):
        run(capsys, "train", "a.svm", "whole", "--loss", loss)
        out, err = run(capsys, "train", "a.svm", "streamed", "--loss", loss, "--stream")
        assert out.startswith("SGDRegressor trained on 400 rows; wrote")
        np.testing.assert_array_equal(learnt("streamed").coef_, learnt("whole").coef_)
        run(capsys, "predict", "a.svm", "streamed", "answers")
    assert sorted(os.listdir()) == ["a.svm", "answers", "streamed", "whole"]


def test_a_large_file_is_streamed_unless_told_not_to(folder, capsys, monkeypatch):
    write_table("a.csv", ["label", "text"], SPAM)

    def streams(*more):
        args = make_parser().parse_args(["train", "a.csv", "m", *TEXT_OPTIONS, *more])
        return _cli_stream.has_to_stream(args)

    assert not streams()
    assert streams("--stream")
    monkeypatch.setattr(_cli_stream, "available_memory", lambda: 10_000)
    assert streams()
    assert not streams("--no-stream")
    assert not streams("--cv", "3")
    _, err = run(capsys, "train", "a.csv", "m", *TEXT_OPTIONS)
    assert "since the last line" not in err  # of 40 rows


def test_refusals(folder, capsys):
    write_table("a.csv", ["label", "text"], [*SPAM, ("ham", "x")])
    given = ["train", "a.csv", "m", *TEXT_OPTIONS]
    assert "--cv needs all rows" in refused(capsys, *given, "--stream", "--cv", "3")
    assert "--cache-dir is for --stream" in refused(capsys, *given, "--cache-dir", ".")
    assert "cache_dir must be a folder" in refused(
        capsys, *given, "--stream", "--cache-dir", "none"
    )
    missing = refused(capsys, "train", "a.csv", "m", "--stream", "--label", "z", "--text", "text")
    assert "no column 'z'" in missing
    write_bytes("b.csv", b"label,n\na,1\nb,x\n")
    bad = refused(capsys, "train", "b.csv", "m", "--stream", "--label", "label", "--numeric", "n")
    assert "b.csv, line 3: 'n' (column 2) must be a finite number" in bad
    write_bytes("c.svm", b"1 1:1\n-1 2:\n")
    assert "c.svm, line 2: the value of '2:'" in refused(capsys, "train", "c.svm", "m", "--stream")
    write_bytes("d.svm", b"1 1:1\n1 2:1\n")
    assert "greater than one" in refused(capsys, "train", "d.svm", "m", "--stream")
