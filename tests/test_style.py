"""How long files, functions and lines may be, and what must say what it is for."""

from pathlib import Path

import house_rules as rules
import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "src_c").exists(), reason="runs in a source tree")

C_FILES = sorted((ROOT / "src_c").glob("*.[ch]"))
CYTHON = sorted((ROOT / "fastlin" / "_core").glob("*.p[yx][xd]"))
PYTHON = sorted((ROOT / "fastlin").rglob("*.py"))
STUBS = sorted((ROOT / "fastlin").rglob("*.pyi"))
OTHERS = sorted(
    [*(ROOT / "tests").glob("*.py"), *(ROOT / "benchmarks").glob("*.py"), ROOT / "setup.py"]
)


def name(path):
    return f"{path.parent.name}-{path.name}"


def read(path):
    return path.read_text(encoding="utf-8")


def test_there_is_something_to_read():
    assert {path.suffix for path in CYTHON} == {".pyx", ".pxd"}
    assert min(map(len, (C_FILES, CYTHON, PYTHON, STUBS, OTHERS))) > 8


@pytest.mark.parametrize("path", C_FILES + CYTHON + STUBS + PYTHON + OTHERS, ids=name)
def test_lines_and_files_are_short(path):
    text = read(path)
    assert rules.untidy_lines(text) == []
    assert len(text.splitlines()) <= 500


@pytest.mark.parametrize("path", PYTHON + OTHERS, ids=name)
def test_no_function_is_longer_than_60_lines(path):
    assert [found for found in rules.function_lengths(read(path)) if found[1] > 60] == []


@pytest.mark.parametrize("path", CYTHON, ids=name)
def test_no_kernel_is_longer_than_60_lines(path):
    long = [line for line, length in rules.kernel_lengths(read(path)) if length > 60]
    assert not long


@pytest.mark.parametrize("path", C_FILES, ids=name)
def test_no_c_function_is_longer_than_60_lines(path):
    long = [line for line, length in rules.c_function_lengths(read(path)) if length > 60]
    assert not long


@pytest.mark.parametrize("path", C_FILES, ids=name)
def test_every_c_file_says_what_it_is(path):
    assert read(path).startswith("/* ")


@pytest.mark.parametrize("path", PYTHON, ids=name)
def test_every_module_and_function_says_what_it_is_for(path):
    assert rules.undescribed(read(path)) == []


@pytest.mark.parametrize("path", PYTHON + OTHERS, ids=name)
def test_no_name_is_defined_twice(path):
    """The second definition of a test would hide the first."""
    assert rules.repeated_names(read(path)) == []
