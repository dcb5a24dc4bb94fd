"""What all tests share: a package that can be imported, markers, and examples that don't change
from run to run."""

import signal
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fastlin",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fastlin")


def pytest_configure(config):
    # A process started in the background by a shell inherits that Ctrl-C is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line(
        "markers", "memory: touches the memory that kernels read and write; run under sanitizers"
    )
    try:
        import fastlin._core.rows
    except ImportError as error:
        import fastlin

        raise pytest.UsageError(
            f"fastlin was imported from {Path(fastlin.__file__).parent}, where it is not built "
            f"({error}). Run plain `pytest` after `pip install .`, or build the source tree with "
            "`pip install -e .`."
        ) from None


@pytest.fixture
def quiet():
    """Let fits that are meant to be short or silly end without converging."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*(stopped after|best constant)")
        yield


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in, but for a table of texts with labels."""
    from shell import SPAM, write_table

    monkeypatch.chdir(tmp_path)
    write_table("spam.csv", ["label", "text"], SPAM)
    return tmp_path
