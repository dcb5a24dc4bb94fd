"""The instruction set whose kernels run: the best that this processor has, unless the environment
variable ``FASTLIN_ISA`` names another. Read once, at import; results don't depend on it."""

from __future__ import annotations

import os

from ._core import multi as _multi

__all__ = ["ISA", "choose"]


def choose(wanted: str | None) -> int:
    """The number of the instruction set that is wanted, or of the best; None or "" is the best."""
    runs = {name: number for name, number, here in _multi.instruction_sets() if here}
    if not wanted:
        return max(runs.values())
    if wanted not in runs:
        raise ImportError(
            f"FASTLIN_ISA must be one of {', '.join(map(repr, runs))} on this machine, got "
            f"{wanted!r}; unset it to let fastlin choose."
        )
    return runs[wanted]


ISA = choose(os.environ.get("FASTLIN_ISA"))
