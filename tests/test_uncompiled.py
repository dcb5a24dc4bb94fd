"""Python started where the sources lie finds them before an installed fastlin, and must say so."""

import shutil
import subprocess
import sys
from importlib import machinery
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "fastlin"
pytestmark = pytest.mark.skipif(not PACKAGE.exists(), reason="runs in a source tree")


@pytest.fixture
def clone(tmp_path):
    """A copy of the sources without anything compiled."""
    compiled = [f"*{suffix}" for suffix in machinery.EXTENSION_SUFFIXES]
    ignored = shutil.ignore_patterns("__pycache__", "*.xz", *compiled)
    shutil.copytree(PACKAGE, tmp_path / "fastlin", ignore=ignored)
    return tmp_path


def python(folder, *arguments):
    """What Python started in a folder writes on standard error, and its status."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(folder), "PATH": ""},
    )  # fmt: skip
    return done.stderr, done.returncode


@pytest.mark.parametrize(
    "code",
    [
        "import fastlin; fastlin.SGDClassifier",
        "from fastlin import as_rows",
        "from fastlin.sgd import SGDRegressor",
        "import fastlin._core.rows",
    ],
)
def test_uncompiled_sources_are_named_with_both_remedies(clone, code):
    err, status = python(clone, "-c", code)
    assert status == 1
    last = err.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: Python found the sources of fastlin in {clone}, which")
    assert "start Python in another folder" in last
    assert last.endswith("python setup.py build_ext --inplace")


def test_what_needs_nothing_compiled_still_works(clone):
    assert python(clone, "-c", "import fastlin; fastlin.__version__; dir(fastlin)") == ("", 0)


def test_the_shell_says_it_in_one_line(clone):
    err, status = python(clone, "-m", "fastlin", "demo")
    assert status == 2
    assert err.startswith("fastlin: error: Python found the sources of fastlin in")
    assert err.count("\n") == 1


def test_a_module_that_was_added_since_is_missed(clone):
    """As after an update of a source tree that was compiled in place."""
    suffix = machinery.EXTENSION_SUFFIXES[0]
    for source in (clone / "fastlin" / "_core").glob("*.pyx"):
        if source.stem != "rows":
            source.with_name(source.stem + suffix).touch()
    err, _ = python(clone, "-c", "import fastlin._core.sgd")
    assert "not compiled for it (rows)" in err
