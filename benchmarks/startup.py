"""Import time: CPU seconds of a fresh interpreter, its own start taken off."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys

from .measure import has_peer, print_table, ratio

__all__ = ["run"]

_IMPORTS = {
    "numpy": "import numpy",
    "fastlin": "import fastlin",
    "fastlin.SGDClassifier": "from fastlin import SGDClassifier",
    "scipy.sparse": "import scipy.sparse",
    "scikit-learn's SGDClassifier": "from sklearn.linear_model import SGDClassifier",
}


def _cpu_of(code: str) -> float:
    """CPU seconds of a new interpreter that runs `code`."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True)
    after = os.times()
    return (after.children_user - before.children_user
            + after.children_system - before.children_system)


def run(scale: float, rounds: int) -> None:
    """Print the table; there is nothing to scale."""
    imports = {name: code for name, code in _IMPORTS.items()
               if "sklearn" not in code or has_peer("scikit-learn")}
    for code in imports.values():
        _cpu_of(code)
    times: dict[str, list[float]] = {name: [] for name in imports}
    for _ in range(max(rounds, 5)):
        empty = _cpu_of("pass")
        for name, code in imports.items():
            times[name].append(max(1e-3, _cpu_of(code) - empty))
    print("Bar: fastlin at most 1.3 times numpy.\n")
    print_table(
        ("import", "ms", "times numpy"),
        [[name, f"{statistics.median(taken) * 1e3:.0f}", ratio(taken, times["numpy"])]
         for name, taken in times.items()],
    )
