"""`fastlin train --stream`: the model of a fit in memory, from files of every format."""

import json
import os

import numpy as np
import pytest
from shell import SPAM, TEXT_OPTIONS, refused, run, write_bytes, write_table

import fastlin
from fastlin import _cli_convert, _cli_predict, _cli_stream, _cli_train, _spool
from fastlin._cli_arguments import make_parser
from fastlin._cli_encoder import ColumnEncoder
from fastlin._named_columns import Columns

try:
    import resource
except ImportError:
    resource = None

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
    err = refused(capsys, *given, "--stream", "--cache-dir", "none")
    assert "error: --cache-dir must be a folder that is there, got 'none'" in err
    missing = refused(capsys, "train", "a.csv", "m", "--stream", "--label", "z", "--text", "text")
    assert "no column 'z'" in missing
    write_bytes("b.csv", b"label,n\na,1\nb,x\n")
    bad = refused(capsys, "train", "b.csv", "m", "--stream", "--label", "label", "--numeric", "n")
    assert "b.csv, line 3: 'n' (column 2) must be a finite number" in bad
    write_bytes("c.svm", b"1 1:1\n-1 2:\n")
    assert "c.svm, line 2: the value of '2:'" in refused(capsys, "train", "c.svm", "m", "--stream")
    write_bytes("d.svm", b"1 1:1\n1 2:1\n")
    one_class = refused(capsys, "train", "d.svm", "m", "--stream")
    assert "error: In d.svm: The number of classes has to be greater than one" in one_class


LATE = ['{"l": "x", "a": "u"}', '{"l": "y", "a": "v"}'] * 60 + [
    '{"l": "x", "a": "u", "b": "p"}', '{"l": "y", "a": "u", "b": "q"}'
] * 20  # fmt: skip
LEARN = ("--label", "l", "--epochs", "3")


@pytest.mark.parametrize("given", ["all", "a,b"])
def test_keys_of_json_lines_that_come_late(folder, capsys, small_blocks, given):
    write_bytes("k.jsonl", "\n".join(LATE).encode())
    options = [*LEARN, "--categorical", given]
    run(capsys, "train", "k.jsonl", "whole", *options, "--no-stream")
    if given == "all":
        err = refused(capsys, "train", "k.jsonl", "m", *options, "--stream")
        assert "k.jsonl, line 121: the key 'b' comes up too late" in err
        assert "name the columns in --categorical or say --no-stream" in err
        both = ["--numeric", "all", "--categorical", "a", "--stream"]
        err = refused(capsys, "train", "k.jsonl", "m", *LEARN, *both)
        assert "name the columns in --numeric or say --no-stream" in err
    else:
        run(capsys, "train", "k.jsonl", "blocks", *options, "--stream")
        assert np.array_equal(learnt("blocks").coef_, learnt("whole").coef_)
    # what the model was trained on it predicts, in blocks without the key, too, as the whole table
    columns = {name: [json.loads(line).get(name) for line in LATE] for name in ("a", "b")}
    right = fastlin.load("whole").predict(columns).tolist()
    assert run(capsys, "predict", "k.jsonl", "whole").out.split() == right
    write_bytes("none.jsonl", "\n".join(LATE[:70]).encode())
    assert run(capsys, "predict", "none.jsonl", "whole").out.split() == right[:70]


def test_names_that_no_json_line_has(folder, capsys, small_blocks):
    write_bytes("k.jsonl", "\n".join(LATE).encode())
    given = ["train", "k.jsonl", "m", *LEARN, "--categorical"]
    for names in ("a,zz", "zz"):
        for stream in ("--stream", "--no-stream"):
            err = refused(capsys, *given, names, stream)
            assert "k.jsonl has no column 'zz'; its columns are 'l', 'a', 'b'" in err
    # a column that is named may come late beside others that are not
    err = refused(capsys, *given, "all", "--numeric", "b", "--stream")
    assert "k.jsonl, line 1: 'b' (column 3) must be a finite number, but it holds nothing" in err
    run(capsys, *given, "a,b", "--no-stream")
    err = refused(capsys, "predict", "k.jsonl", "m", "out", "--label", "zz")
    assert "k.jsonl has no column 'zz'" in err
    assert not os.path.exists("out")


def test_convert_knows_late_keys(folder, capsys, monkeypatch):
    monkeypatch.setattr(_cli_convert, "_ROWS_AT_ONCE", 64)
    write_bytes("k.jsonl", "\n".join(LATE).encode())
    given = ["convert", "k.jsonl", "k.svm", "--label", "l", "--classes", "x,y", "--categorical"]
    err = refused(capsys, *given, "all")
    assert err.endswith("line 121: the key 'b' comes up too late to be a column, for the rows "
                        "before it are encoded by now; name the columns in --categorical.\n")
    run(capsys, *given, "a,b")
    assert (folder / "k.svm").read_text().splitlines()[120:122] == ["0 1:1 4:1", "1 1:1 5:1"]


@pytest.mark.skipif(resource is None, reason="no limits of a process")
@pytest.mark.parametrize("options", [["--numeric", "all"], ["--text", "a"]])
def test_a_cache_without_room_names_its_folder(folder, capsys, monkeypatch, options):
    monkeypatch.setattr(_spool, "_KEPT_BYTES", 1 << 12)
    monkeypatch.setattr(_cli_stream, "BLOCK_BYTES", 1 << 12)
    write_table("a.csv", ["y", "a"], [("xy"[k % 2], str(k)) for k in range(60_000)])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        err = refused(capsys, "train", "a.csv", "m", "--label", "y", "--stream", *options,
                      "--cache-dir", ".", "--epochs", "1")  # fmt: skip
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "error: .: File too large: rows wait there" in err
    assert "name another folder by --cache-dir" in err


def test_memory_that_ends_points_at_streams(folder, capsys, monkeypatch):
    def ended(*arguments):
        raise MemoryError

    monkeypatch.setattr(_cli_train, "encode", ended)
    write_table("a.csv", ["label", "text"], SPAM)
    given = ["train", "a.csv", "m", *TEXT_OPTIONS]
    assert "error: out of memory; --stream learns in bounded memory\n" in refused(capsys, *given)
    assert "bounded memory, without --cv" in refused(capsys, *given, "--cv", "2")
    err = refused(capsys, *given, "--learner", "exact")
    assert "--learner sgd --stream learns in bounded memory" in err
