from typing import Any

import numpy as np
from numpy.typing import NDArray

# Arrays are looked at on the way in: what does not fit is answered with False or None.
def dense(
    X: NDArray[Any], W: NDArray[Any], b: NDArray[Any], out: NDArray[Any], start: int, stop: int
) -> bool: ...
def csr(
    values: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    d: int,
    W: NDArray[Any],
    by_feature: bool,
    b: NDArray[Any],
    out: NDArray[Any],
    start: int,
    stop: int,
) -> bool: ...
def dense_at_once(
    X: NDArray[Any], W: NDArray[Any], b: NDArray[Any], most: int
) -> NDArray[np.float64] | None: ...
def csr_at_once(
    values: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    d: int,
    W: NDArray[Any],
    b: NDArray[Any],
    most: int,
) -> NDArray[np.float64] | None: ...
def codes(z: NDArray[Any]) -> NDArray[np.intp]: ...
def sigmoid_pairs(
    z: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def sigmoid_rows(
    z: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def softmax_rows(
    z: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
