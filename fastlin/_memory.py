"""How much memory this machine has, and whether a model fits into it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = [
    "available_memory", "check_bytes", "check_dense", "check_room", "machine_bytes", "spelt_size",
]  # fmt: skip

# Where Linux tells what a container may use and uses: version 2 of its groups, then version 1.
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
# Models below this size are not worth a question to the system.
_SMALL = 1 << 26


def machine_bytes() -> int:
    """All memory of the machine, or 8 GiB where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


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


def check_room(d: int, n_outputs: int, itemsize: int, rule: dict[str, Any],
               at_once: int = 1) -> None:
    """Raise if the weights of learners and what they keep beside them don't fit into memory, before
    the system ends the process for it; so many of one output train at once."""
    averaged, lazy = rule["average_from"] > 0, rule["l1"] > 0
    kept = 2 + averaged + lazy + (2 if rule["optimizer"] else 0)
    # adaptive steps lay out anew what is kept of one output
    twice = 5 * at_once if rule["optimizer"] else 0
    check_bytes(d * itemsize * (n_outputs * kept + twice), d)


def check_bytes(needed: int, d: int) -> None:
    """Raise if a model of `d` columns needs more memory than there is."""
    if needed < _SMALL:
        return
    free = available_memory()
    if free is not None and needed > free:
        raise ValueError(
            f"X has {d:,} columns: training needs {spelt_size(needed)} of memory, of which "
            f"{spelt_size(free)} are available; hash the columns to fewer."
        )


def check_dense(n: int, d: int, itemsize: int) -> None:
    """Raise if so many rows and columns don't fit into memory as an array."""
    needed, free = n * d * itemsize, available_memory() if n * d * itemsize >= _SMALL else None
    if free is not None and needed > free:
        raise ValueError(
            f"Rows of {n:,} x {d:,} take {spelt_size(needed)} as a dense array, of which "
            f"{spelt_size(free)} are available; use Rows.to_csr(), or output='csr' of the encoder."
        )


def spelt_size(size: int) -> str:
    """Write a number of bytes for people."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
