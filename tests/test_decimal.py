"""What Python takes for a number, and data do not: underscores and digits beyond ASCII."""

import io
import json

import numpy as np
import pytest
from shell import refused, run, write_bytes

import fastlin
from fastlin._decimal import as_float64, number_of, whole_of

FOREIGN = ["1_000", "1_0.5", "1e1_0", "١٢", "１２", "1e\N{SUPERSCRIPT TWO}"]


@pytest.mark.parametrize("text", FOREIGN)
def test_text_that_is_no_number(text):
    for read in (number_of, whole_of, lambda cell: as_float64([1.0, cell]),
                 lambda cell: as_float64(np.array([cell])),
                 lambda cell: as_float64(np.array([2, cell], object))):  # fmt: skip
        with pytest.raises(ValueError, match="could not convert"):
            read(text)


@pytest.mark.parametrize("text", ["1000", " 1e3 ", "+1.5", "-.5", "1E-3", "nan", "-inf", "\xa07"])
def test_text_that_is_one(text):
    assert str(number_of(text)) == str(float(text))
    assert str(as_float64([text])[0]) == str(float(text))


def table(format, cell):
    if format == "jsonl":
        rows = [{"y": "a", "x": "1"}, {"y": "b", "x": cell}, {"y": "a", "x": "3"}]
        return "\n".join(map(json.dumps, rows)).encode() + b"\n"
    tab = "\t" if format == "tsv" else ","
    return "".join(f"{tab.join(row)}\n" for row in ["yx", ("a", "1"), ("b", cell), "a3"]).encode()


@pytest.mark.parametrize("cell", FOREIGN)
@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl"])
def test_tables(format, cell, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_bytes(f"d.{format}", table(format, cell))
    err = refused(capsys, "train", f"d.{format}", "m", "--label", "y", "--numeric", "x")
    line = 2 if format == "jsonl" else 3
    assert f"line {line}: 'x' (column 2) must be a finite number" in err
    run(capsys, "train", f"d.{format}", "m", "--label", "y", "--categorical", "x")
    model = fastlin.load("m")
    categories = model.steps[0][1].category_encoder_.categories_[0]
    assert cell in list(categories)
    with pytest.raises(ValueError, match="must be a finite number"):
        fastlin.SGDClassifier().fit_stream(f"d.{format}", label="y")


@pytest.mark.parametrize("cell", FOREIGN)
def test_svmlight(cell):
    for line in (f"1 1:{cell}\n", f"{cell} 1:1\n", f"1 {cell}:1\n"):
        with pytest.raises(ValueError, match="line 1"):
            fastlin.load_svmlight_file(io.BytesIO(line.encode()))


@pytest.mark.parametrize("cell", FOREIGN)
def test_arrays_of_strings(cell):
    for X in ([["1"], [cell]], np.array([["1"], [cell]], object)):
        with pytest.raises(ValueError, match="X must hold numbers"):
            fastlin.Ridge().fit(X, [1.0, 2.0])


def test_options(capsys):
    for option in ("--alpha", "--epochs", "--n-jobs"):
        err = refused(capsys, "train", "d.csv", "m", "--label", "y", "--text", "x", option, "1_0")
        assert "got '1_0'" in err
