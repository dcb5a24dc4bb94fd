from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float32] | NDArray[np.float64]

def dense(
    X: _Floats,
    W: _Floats,
    b: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> bool: ...
def csr(
    values: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    d: int,
    W: _Floats,
    by_feature: bool,
    b: NDArray[np.float64],
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> bool: ...
def is_csr(X: Any) -> bool: ...
def at_once(fields: dict[str, Any], X: Any, most: int) -> NDArray[np.float64] | None: ...
def codes(z: NDArray[np.float64]) -> NDArray[np.intp]: ...
def sigmoid_pairs(
    z: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def sigmoid_rows(
    z: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
def softmax_rows(
    z: NDArray[np.float64], out: NDArray[np.float64], start: int, stop: int
) -> None: ...
