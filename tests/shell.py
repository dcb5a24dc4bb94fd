"""Running the shell, in this process or one of its own, on examples that all its tests share."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import subprocess
import sys

import fastlin
from fastlin.cli import main

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(fastlin.__file__)))
SPAM = [
    ("spam", 'win a "prize", now'),
    ("ham", "see you at lunch"),
    ("spam", "a free prize\nfor you"),
    ("ham", "lunch at noon, as ever"),
] * 10
TEXT_OPTIONS = ["--label", "label", "--text", "text"]


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
