"""Whether the weights of a model fit into memory: one large index in a file asks for gigabytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ._cli_terminal import UsageError
from ._memory import machine_bytes
from ._parallel import n_threads

__all__ = ["available_memory", "refuse_too_large_model"]

# Where Linux tells what a container may use and uses: version 2 of its groups, then version 1.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> int | None:
    """Return how many bytes can still be had, None where the system does not tell."""
    found = [_free_in_system(), *(_left(*files) for files in _GROUPS)]
    return min((size for size in found if size is not None), default=None)


def _free_in_system() -> int | None:
    """Return what Linux says is available, elsewhere all that the machine has, if it says."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    return machine_bytes() if hasattr(os, "sysconf") else None


def _left(limit: str, used: str) -> int | None:
    """Return what a container has left, None if there is no limit."""
    try:
        return max(0, int(Path(limit).read_text()) - int(Path(used).read_text()))
    except (OSError, ValueError):
        return None


def refuse_too_large_model(
    learner: Any, n_columns: int, n_classes: int, n_folds: int, name: str, remedy: str
) -> None:
    """Raise before training takes more memory than there is.

    Parameters
    ----------
    learner : estimator
        With float64 data: its weights and `coef_`, the sums of averaging, what of L1 is paid.
    n_columns, n_classes : int
        2 classes, or the 0 of regression, have one vector of weights.
    n_folds : int
        Models that are to be trained; `n_jobs` of them at a time.
    name, remedy : str
        The file's name, and what else to do about it.
    """
    vectors = 2 + bool(learner.average) + (learner.penalty in ("l1", "elasticnet"))
    at_once = min(n_threads(getattr(learner, "n_jobs", None)), max(n_folds, 1))
    outputs = n_classes if n_classes > 2 else 1
    one, free = 8 * n_columns * outputs * at_once, available_memory()
    needed = one * vectors
    if free is None or needed <= free:
        return
    helps = learner.average and needed - one <= free
    averaging = ", or say --no-average" if helps else ""
    raise UsageError(
        f"{name} has {n_columns:,} columns: training needs {_spelt_size(needed)} of memory, of "
        f"which {_spelt_size(free)} are available; {remedy}{averaging}."
    )


def _spelt_size(size: int) -> str:
    """Write a number of bytes for people."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
