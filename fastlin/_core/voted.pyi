from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Rows

_Floats = NDArray[np.float32] | NDArray[np.float64]

def record(
    X: Rows,
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
    order: NDArray[np.int64],
    fetch: NDArray[np.int64],
    rule: dict[str, Any],
    state: dict[str, Any],
    b: NDArray[np.float64],
    V: _Floats,
    row_numbers: NDArray[np.int64],
    when: NDArray[np.int64],
    change: NDArray[np.float64],
    pair: NDArray[np.int32],
) -> tuple[dict[str, Any], int]: ...
def postings(
    X: Rows,
    rows: NDArray[np.int64],
    start: int,
    stop: int,
    starts: NDArray[np.int64],
    owner: NDArray[np.int32],
    value: NDArray[np.float64],
) -> None: ...
def products(
    stored: Rows,
    first: int,
    last: int,
    starts: NDArray[np.int64],
    owner: NDArray[np.int32],
    value: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def dense_products(
    stored: Rows,
    first: int,
    last: int,
    X: Rows,
    rows: NDArray[np.int64],
    start: int,
    like: _Floats,
    out: NDArray[np.float64],
) -> None: ...
def vote(
    products: NDArray[np.float64],
    which: NDArray[np.int64],
    when: NDArray[np.int64],
    change: NDArray[np.float64],
    fit_intercept: float,
    first: int,
    last: int,
    clock: int,
    r: NDArray[np.float64],
    votes: NDArray[np.float64],
) -> int: ...
def vote_joint(
    products: NDArray[np.float64],
    which: NDArray[np.int64],
    when: NDArray[np.int64],
    change: NDArray[np.float64],
    pair: NDArray[np.int32],
    fit_intercept: float,
    first: int,
    last: int,
    clock: int,
    z: NDArray[np.float64],
    top: NDArray[np.int64],
    votes: NDArray[np.float64],
) -> int: ...
