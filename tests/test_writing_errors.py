"""Errors of writing: each names the output, and leaves it as it was or away."""

import errno
import os
import shlex
import subprocess
import sys

import numpy as np
import pytest
from shell import ROOT, TEXT_OPTIONS, refused, run

import fastlin
from fastlin import _files
from fastlin.io import dump_svmlight_file

needs_full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
MODEL = fastlin.HashingVectorizer()
WRITERS = [
    lambda path: fastlin.save(MODEL, path),
    lambda path: dump_svmlight_file(np.eye(3), np.arange(3), path),
]


@needs_full
@pytest.mark.parametrize("write", WRITERS)
def test_a_full_device_is_named(write):
    with pytest.raises(OSError, match="No space left on device .no file was left") as caught:
        write("/dev/full")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


@pytest.mark.parametrize("name", ["out", "out.gz"])
@pytest.mark.parametrize("write", WRITERS)
def test_a_full_disk_leaves_the_former_state(folder, monkeypatch, write, name):
    def full(descriptor):
        """Fail as a full disk does."""
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device .no file was left") as caught:
        write(name)
    assert caught.value.filename == str(folder / name)
    assert os.listdir() == ["spam.csv"]
    (folder / name).write_bytes(b"former")
    with pytest.raises(OSError, match="the former file is unchanged"):
        write(name)
    assert (folder / name).read_bytes() == b"former"
    assert sorted(os.listdir()) == [name, "spam.csv"]


def test_a_limit_of_the_size_is_named(folder):
    pytest.importorskip("resource")
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "from fastlin.cli import main\nsys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-B", "-c", program, "train", "spam.csv", "model", *TEXT_OPTIONS]
    done = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONPATH": ROOT}, timeout=60
    )
    assert done.returncode == 2
    message = f"{folder / 'model'}: {os.strerror(errno.EFBIG)} (no file was left behind)"
    assert done.stderr.decode() == f"fastlin train: error: {message}\n"
    assert os.listdir() == ["spam.csv"]


@needs_full
def test_outputs_of_the_shell_are_named(folder, capsys):
    full = "/dev/full: No space left on device (no file was left behind)"
    assert full in refused(capsys, "train", "spam.csv", "/dev/full", *TEXT_OPTIONS)
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    assert full in refused(capsys, "predict", "spam.csv", "model", "/dev/full")


@needs_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_standard_output_is_named(folder, capsys, unbuffered):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    for arguments in (
        ["predict", "spam.csv", "model"],
        ["cv", "spam.csv", *TEXT_OPTIONS],
        ["inspect", "model"],
    ):
        with open("/dev/full", "wb") as stream:
            command = [sys.executable, "-m", "fastlin", *arguments]
            environment = {**os.environ, "PYTHONPATH": ROOT, "PYTHONUNBUFFERED": unbuffered}
            done = subprocess.run(
                command, stdout=stream, stderr=subprocess.PIPE, env=environment, timeout=60
            )
        assert done.returncode == 2
        assert done.stderr.decode() == (
            f"fastlin {arguments[0]}: error: standard output: No space left on device\n"
        )


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_a_closed_standard_output_is_an_error(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    bad = os.strerror(errno.EBADF)
    for arguments, name in (
        ("predict spam.csv model", "fastlin predict"),
        ("inspect model", "fastlin inspect"),
        ("convert spam.csv - --to jsonl", "fastlin convert"),
        ("--help", "fastlin"),
    ):
        command = f"exec {shlex.quote(sys.executable)} -m fastlin {arguments} >&-"
        done = subprocess.run(
            command, shell=True, stderr=subprocess.PIPE, timeout=60,
            env={**os.environ, "PYTHONPATH": ROOT},
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr.decode() == f"{name}: error: standard output: {bad}\n"


@pytest.mark.parametrize("out", ["no/out", "closed/out", "n" * 300])
def test_places_without_a_file_are_refused_before_any_work(folder, capsys, monkeypatch, out):
    """The data do not even exist: had they been looked for, the message would name them."""
    os.mkdir("closed")
    real = open

    def closed(path, *mode, **options):
        """Open a file, but none in one folder, which root could write to."""
        if os.path.dirname(str(path)).endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *mode, **options)

    monkeypatch.setattr(_files, "open", closed, raising=False)
    reason = {"n": "no folder", "c": "Permission denied"}[out[0]] if "/" in out else "too long"
    message = refused(capsys, "train", "none.csv", out, *TEXT_OPTIONS)
    assert message.startswith(f"fastlin train: error: {out}: ") and reason in message
    message = refused(capsys, "predict", "none.csv", "none", out)
    assert message.startswith(f"fastlin predict: error: {out}: ")
    assert message.endswith(" (no file can be written there)\n")
