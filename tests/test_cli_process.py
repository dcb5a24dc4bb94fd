"""The shell as a process: standard streams, signals, progress, and half-written files."""

import io
import lzma
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from shell import ROOT, TEXT_OPTIONS, in_process, run, write_bytes, write_table

import fastlin
from fastlin.cli import main


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


@pytest.mark.skipif(os.name == "nt", reason="no such signal there")
@pytest.mark.parametrize(("way", "module"), [
    # not "-c" and "fastlin.cli": what imports that is the code of somebody else
    ("-m", "fastlin.cli"),
    *((way, module) for way in ("-m", "-c")
      for module in ("numpy", "scipy.sparse", "fastlin._cli_train")),
])
def test_ctrl_c_while_modules_are_imported(folder, way, module):
    # stands for a key that is pressed when the import of that module begins
    os.mkdir("hook")
    write_bytes("hook/sitecustomize.py", f"""
import os, signal, sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Pressed())
""".encode())
    start = ["-m", "fastlin"] if way == "-m" else [
        "-c", "import sys; from fastlin.cli import main; sys.exit(main())"
    ]
    done = subprocess.run(
        [sys.executable, *start, "train", "spam.csv", "model", *TEXT_OPTIONS], timeout=60,
        capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([os.path.abspath("hook"), ROOT])},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "fastlin: interrupted\n")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows ends processes at once")
def test_signals_to_end_leave_no_file_behind(folder, capsys, monkeypatch, name):
    number = getattr(signal, name)

    def convert(*arguments, **options):
        assert any(file.startswith("out.jsonl") for file in os.listdir())
        signal.raise_signal(number)

    before = os.listdir()
    monkeypatch.setattr("fastlin._cli_convert._table_texts", convert)
    # whoever started the tests may have had it ignored, as nohup does
    outside = signal.signal(number, signal.SIG_DFL)
    try:
        assert main(["convert", "spam.csv", "out.jsonl"]) == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, outside)
    assert capsys.readouterr().err == "fastlin: interrupted\n"
    assert os.listdir() == before


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
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", shown)
        assert main(["train", "spam.csv", "model", *TEXT_OPTIONS, "--cv", "2"]) == 0
    text = shown.getvalue()
    for part in (
        "reading spam.csv",
        "encoding 40 rows",
        "training 2 folds",
        "epoch 20 of 20",
        "writing",
    ):
        assert part in text
    # At the end the line is erased, whatever stood there.
    assert text.endswith("\r\x1b[K")
    assert run(capsys, "cv", "spam.csv", *TEXT_OPTIONS, "--cv", "2").err == ""


def test_warnings_of_threads_are_one_line_with_their_count(folder, capsys, monkeypatch):
    """It is written by one call, which the lock of the stream keeps together."""
    written = []

    class Stream(io.StringIO):
        def write(self, text):
            written.append(text)
            return len(text)

    monkeypatch.setattr(sys, "stderr", Stream())
    write_table("a.jsonl", ["y", "x", "kind"], [("pq"[i % 2], i, f"kind {i}") for i in range(18)])
    options = ["--label", "y", "--numeric", "x", "--categorical", "kind", "--cv", "6"]
    assert main(["cv", "a.jsonl", *options, "--n-jobs", "2"]) == 0
    warned = [text for text in written if text]
    assert len(warned) == 1
    assert warned[0].startswith("fastlin: warning: Found unknown categories ")
    assert warned[0].endswith(" (in 6 of 6 folds)\n")
