"""Data that can be read only once: pipes with a name, in the shell and in `read_table`."""

import contextlib
import gzip
import os
import threading

import numpy as np
import pytest
from shell import SPAM, TEXT_OPTIONS, in_process, run, write_bytes

from fastlin import _cli_stream, _spool
from fastlin.cli import main
from fastlin.io import detect_format, read_table
from fastlin.persist import load

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name need POSIX")


@contextlib.contextmanager
def pipe_with(content, name="pipe"):
    """Make a pipe that a thread fills."""
    os.mkfifo(name)

    def fill():
        """Write, as long as somebody reads."""
        with contextlib.suppress(BrokenPipeError), open(name, "wb") as stream:
            stream.write(content)

    writer = threading.Thread(target=fill, daemon=True)
    writer.start()
    yield name
    writer.join(10)
    os.unlink(name)
    assert not writer.is_alive()


def content_of(name):
    """Return the bytes of a file."""
    with open(name, "rb") as stream:
        return stream.read()


def weights_of(name):
    """Return the weights of a stored model."""
    model = load(name)
    return (model.steps[-1][1] if hasattr(model, "steps") else model).coef_


def scores(text):
    """Return what `cv` printed, but for the last line, which has the time."""
    return text.splitlines()[:-1]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_cv_of_a_pipe_gives_the_scores_of_the_file(folder, capsys, pack):
    expected = scores(run(capsys, "cv", "spam.csv", *TEXT_OPTIONS).out)
    with pipe_with(pack(content_of("spam.csv"))) as pipe:
        assert scores(run(capsys, "cv", pipe, *TEXT_OPTIONS).out) == expected


def test_models_of_pipes_are_those_of_files(folder, capsys):
    write_bytes("a.svm", b"1 1:1 2:0.5\n-1 2:1 5:2\n" * 500)
    for data, options in (("spam.csv", TEXT_OPTIONS), ("a.svm", [])):
        run(capsys, "train", data, "model", *options)
        expected = run(capsys, "predict", data, "model")
        for form in ([], ["--format", "csv" if options else "svmlight"]):
            with pipe_with(content_of(data)) as pipe:
                run(capsys, "train", pipe, "again", *options, *form)
            np.testing.assert_array_equal(weights_of("again"), weights_of("model"))
            with pipe_with(content_of(data)) as pipe:
                assert run(capsys, "predict", pipe, "model", *form) == expected


def test_a_table_of_categories_is_read_once(folder, capsys, monkeypatch):
    monkeypatch.setattr(_cli_stream, "_ROWS_AT_ONCE", 64)
    monkeypatch.setattr(_spool, "_KEPT_BYTES", 100)  # so that it is written to a file
    rows = [f"{k % 2},{(7 * k) % 31},c{k * k % 17},w{k % 5} x" for k in range(300)]
    write_bytes("a.csv", "\n".join(["y,n,c,t", *rows]).encode())
    columns = ["--label", "y", "--numeric", "n", "--categorical", "c", "--text", "t"]
    streams = ["--stream", "--epochs", "2"]
    for command, found, more in (("train", weights_of, streams), ("convert", content_of, [])):
        run(capsys, command, "a.csv", "file.svm", *columns, *more)
        with pipe_with(content_of("a.csv")) as pipe:
            run(capsys, command, pipe, "pipe.svm", *columns, *more)
        assert np.array_equal(found("pipe.svm"), found("file.svm"))
    run(capsys, "train", "a.csv", "model", *columns, "--epochs", "2")
    run(capsys, "train", "a.csv", "streamed", *columns, "--epochs", "2", "--stream")
    np.testing.assert_allclose(weights_of("streamed"), weights_of("model"), rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="needs /dev/stdin")
def test_standard_input_by_its_path(folder, capsys):
    expected = scores(run(capsys, "cv", "spam.csv", *TEXT_OPTIONS).out)
    done = in_process("cv", "/dev/stdin", *TEXT_OPTIONS, stdin=content_of("spam.csv"))
    assert (done.returncode, done.stderr) == (0, b"")
    assert scores(done.stdout.decode()) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "pipe is empty"),
        (b"label,text\nham,x,y\n", "pipe, line 2: 3 fields"),
        (gzip.compress(b"label,text\n" * 9)[:-9], "pipe can't be decompressed"),
        (b"BZh91AY&SYnot compressed", "pipe can't be decompressed"),
    ],
)
def test_faults_in_pipes_name_the_pipe(folder, capsys, content, message):
    with pipe_with(content) as pipe:
        assert main(["train", pipe, "model", *TEXT_OPTIONS]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"fastlin train: error: {message}") and err.count("\n") == 1
    assert os.listdir() == ["spam.csv"]


def test_tables_are_read_from_pipes(folder):
    with pipe_with(content_of("spam.csv")) as pipe:
        table = read_table(pipe)
    assert table.name == "pipe"
    assert table.columns == {"label": [r[0] for r in SPAM], "text": [r[1] for r in SPAM]}
    with pipe_with(b"a\tb\n1\t2\n", "pipe.tsv") as pipe:
        assert read_table(pipe).columns == {"a": ["1"], "b": ["2"]}


def test_the_format_of_a_pipe_is_not_told_at_the_cost_of_its_content(folder):
    os.mkfifo("pipe")
    with pytest.raises(ValueError, match="the format of pipe can't be told without reading it"):
        detect_format("pipe")
    reader, writer = os.pipe()
    os.write(writer, b"a,b\n1,2\n")
    os.close(writer)
    with open(reader, "rb") as stream:
        with pytest.raises(ValueError, match="can't be told without reading it"):
            detect_format(reader)
        assert detect_format(stream) == "csv"
        assert read_table(stream).columns == {"a": ["1"], "b": ["2"]}


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_what_leads_to_a_pipe_is_written_straight(folder, capsys):
    """The link /dev/stdout leads to a name such as pipe:[123], at which there is nothing."""
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    expected = run(capsys, "predict", "spam.csv", "model").out.encode()
    done = in_process("predict", "spam.csv", "model", "/dev/stdout")
    assert (done.returncode, done.stdout) == (0, expected)
    reader, writer = os.pipe()
    with open(reader, "rb") as stream:
        done = in_process("predict", "spam.csv", "model", f"/dev/fd/{writer}", pass_fds=[writer])
        os.close(writer)
        assert (done.returncode, stream.read()) == (0, expected)
