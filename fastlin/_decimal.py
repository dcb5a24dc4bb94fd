"""Text to numbers by one rule, which is that of svmlight text, tables and JSON alike.

Python's own `float` also takes ``1_000`` for 1000, as in its sources, and the digits of all
scripts. Where data are read these are no numbers but texts like any other.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

__all__ = ["as_float64", "number_of", "whole_of"]

# What `float` and `int` take beside ASCII: underscores, and further digits
_FOREIGN = re.compile(r"[^\W0-9A-Za-z]")


def number_of(value: Any) -> float:
    """Return a number, or the one that a text spells; as `float`, errors included."""
    _refuse(value)
    return float(value)


def whole_of(text: str) -> int:
    """Return the integer that a text spells; as `int`, errors included."""
    _refuse(text)
    return int(text)


def as_float64(values: Any) -> np.ndarray:
    """Return numbers and texts as an array of float64; as numpy does it, errors included."""
    is_array = isinstance(values, np.ndarray)
    if not is_array or values.dtype.kind in "OUST":
        for cell in values.flat if is_array else values:
            if isinstance(cell, (str, bytes)):
                _refuse(cell)
    return np.array(values, dtype=np.float64)


def _refuse(value: Any) -> None:
    """Refuse text with a character that stands in no number of ASCII."""
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(text, str) and _FOREIGN.search(text):
        raise ValueError(f"could not convert string to float: {value!r}")
