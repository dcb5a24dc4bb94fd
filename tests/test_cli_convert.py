"""`fastlin convert`: every pair of formats, and what it refuses."""

import datetime
import gzip
import json
import os

import numpy as np
import pytest
from shell import in_process, refused, run, write_bytes, write_table

from fastlin.io import load_svmlight_file, read_table

ROWS = [
    ("spam", 'win a "prize", now', "12", "Bonn"),
    ("ham", "see\nyou", "7.5", "K\u00f6ln"),
    ("spam", "", "-3", "Bonn"),
] * 2000
HEADER = ["label", "text", "age", "city"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table("a.csv", HEADER, ROWS)
    return "a.csv"


@pytest.mark.parametrize("name", ["b.tsv.xz", "b.jsonl", "b.csv.gz"])
def test_tables_to_tables_and_back(table, capsys, name):
    assert run(capsys, "convert", table, name) == ("", "")
    assert read_table(name).columns == read_table(table).columns
    run(capsys, "convert", name, "c.csv")
    with open("c.csv", "rb") as found, open(table, "rb") as right:
        assert found.read() == right.read()


def test_numbers_and_late_columns_of_json_lines(table, capsys):
    run(capsys, "convert", table, "b.jsonl", "--numeric", "age")
    with open("b.jsonl", encoding="utf-8") as file:
        assert [json.loads(line)["age"] for line in file][:3] == [12, 7.5, -3]
    lines = ['{"a": 1, "b": null}'] * 5000 + ['{"a": true, "c": 0.1}']
    write_bytes("late.jsonl", "\n".join(lines).encode())
    run(capsys, "convert", "late.jsonl", "late.csv")
    columns = read_table("late.csv").columns
    assert list(columns) == ["a", "b", "c"]
    assert [column[-1] for column in columns.values()] == ["true", "", "0.1"]


def test_tables_to_svmlight(table, capsys):
    options = ["--label", "label", "--classes", "ham,spam", "--categorical", "city",
               "--numeric", "age", "--text", "text", "--n-features", 64]  # fmt: skip
    run(capsys, "convert", table, "a.svm.gz", *options)
    with gzip.open("a.svm.gz") as file:
        X, y = load_svmlight_file(file.read(), zero_based=False, n_features=67)
    assert y.tolist() == [float(label == "spam") for label, *_ in ROWS]
    dense = X.toarray()
    is_age = [np.array_equal(column, [float(row[2]) for row in ROWS]) for column in dense.T]
    assert sum(is_age) == 1
    assert sum(np.array_equal(column, [row[3] == "Bonn" for row in ROWS]) for column in dense.T)


def test_cells_that_hold_ends_of_lines(table, capsys):
    values = ["x\ry", "\r", "a\r\nb", "\n", "plain", ""]
    write_table("a.jsonl", ["a", "b"], [(value, "c") for value in values])
    for name in ("b.csv", "b.tsv"):
        run(capsys, "convert", "a.jsonl", name)
        assert read_table(name).columns == {"a": values, "b": ["c"] * len(values)}


def test_keys_that_objects_lack_stay_absent(table, capsys):
    lines = b'{"a": 1, "b": null}\n{"c": [1, {"d": null}]}\n{}\n{"b": "x", "a": "2"}\n'
    write_bytes("a.jsonl", lines)
    run(capsys, "convert", "a.jsonl", "b.jsonl")
    with open("b.jsonl", "rb") as file:
        found = [json.loads(line) for line in file]
    assert found == [json.loads(line) for line in lines.splitlines()]
    message = refused(capsys, "convert", "a.jsonl", "c.jsonl", "--numeric", "a")
    assert "a.jsonl, line 2: 'a' (column 1) must be a finite number, but it holds" in message


def test_dates_and_bytes_of_parquet(table, capsys):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"d": [datetime.date(2020, 1, 31), None]})
    frame.write_parquet("d.parquet")
    run(capsys, "convert", "d.parquet", "d.jsonl")
    assert read_table("d.jsonl").columns == {"d": ["2020-01-31", None]}
    run(capsys, "convert", "d.parquet", "d.csv")
    assert read_table("d.csv").columns == {"d": ["2020-01-31", ""]}
    polars.DataFrame({"b": [None, b"x"]}).write_parquet("b.parquet")
    for name in ("x.csv", "x.jsonl"):
        assert "row 2: 'b' holds b'x'" in refused(capsys, "convert", "b.parquet", name)


def test_svmlight_to_tables_and_itself(table, capsys):
    write_bytes("a.svm", b"1.5 3:0.25 # no\n-1 qid:2 0:1e300\n2\n")
    run(capsys, "convert", "a.svm", "b.svm")
    with open("b.svm", "rb") as file:
        assert file.read() == b"1.5 3:0.25\n-1 0:1e+300\n2\n"
    run(capsys, "convert", "a.svm", "b.csv")
    with open("b.csv", "rb") as file:
        assert file.read() == b"label,0,1,2,3\n1.5,0,0,0,0.25\n-1,1e+300,0,0,0\n2,0,0,0,0\n"


BAD = [
    (["a.csv", "x"], "--to must say the format of OUT (svmlight, csv, tsv, jsonl), whose name"),
    (["a.csv", "x.parquet"], "parquet can only be read"),
    (["a.csv", "a.csv"], "OUT must not be the file of the data"),
    (["a.csv", "x.jsonl", "--label", "label"], "--label is for a table that becomes svmlight"),
    (["a.csv", "x.jsonl", "--numeric", "text"], "a.csv, line 2: 'text' (column 2) must be a fin"),
    (["a.csv", "x.svm"], "--label must name the column to predict"),
    (["a.csv", "x.svm", "--label", "label"], "say what to learn from"),
    (["a.csv", "x.svm", "--label", "label", "--numeric", "age"], "--classes A,B,... numbers label"),
    (["a.csv", "x.svm", "--label", "label", "--numeric", "age", "--classes", "spam"],
     "a.csv, line 3: the label 'ham' is none of --classes"),
    (["a.csv", "x.svm", "--label", "label", "--numeric", "age", "--classes", "ham,spam,ham"],
     "--classes: must have each label once, got 'ham' twice"),
    (["a.csv", "x.svm", "--label", "label", "--numeric", "age", "--classes", "all"],
     "a.csv, line 2: the label 'spam' is none of --classes"),
    (["a.csv", "x.jsonl", "--numeric", '"a"b'], "--numeric: ',' expected after '\"', got '\"a\"b'"),
    (["half.jsonl", "x.csv"], "half.jsonl has half of a surrogate pair, which no file of UTF-8"),
    (["half.jsonl", "-", "--to", "jsonl"], "in '{\"a\": \"x\\ud800\"}\\n'"),
    (["nested.jsonl", "x.csv"], "nested.jsonl, line 2: 'a' holds [1], which is no single cell"),
    (["a.svm", "x.svm", "--numeric", "all"], "--numeric is for a table that becomes svmlight"),
    (["a.svm", "x.csv"], "a.svm has 200,001 columns"),
    (["bad.svm", "x.svm"], "bad.svm, line 5001: the value of '1:x' is not a number"),
    (["empty.csv", "x.tsv"], "empty.csv is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_refused(table, capsys, arguments, message):
    write_bytes("nested.jsonl", b'{"a": 1}\n{"a": [1]}\n')
    write_bytes("half.jsonl", b'{"a": "x\\ud800"}\n')
    write_bytes("a.svm", b"1 200000:1\n")
    write_bytes("bad.svm", b"1 1:1\n" * 5000 + b"1 1:x\n")
    write_bytes("empty.csv", b"")
    assert message in refused(capsys, "convert", *arguments)
    assert not [name for name in os.listdir() if name.startswith("x")]


def test_pipes(table):
    with open(table, "rb") as file:
        content = file.read()
    done = in_process("convert", "-", "-", "--format", "csv", "--to", "tsv", stdin=content)
    assert (done.returncode, done.stderr) == (0, b"")
    assert read_table(done.stdout, "tsv").columns == read_table(table).columns
    done = in_process("convert", "-", "-", "--to", "csv", stdin=b'{"a": 1}\n')
    assert done.returncode == 2
    assert b"JSON lines are read twice" in done.stderr


def test_pipes_are_utf8_in_any_locale(table, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = in_process("convert", table, "-", "--to", "csv")
    with open(table, "rb") as file:
        assert done.stdout == file.read()
