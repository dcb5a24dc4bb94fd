import numpy as np
from numpy.typing import NDArray

def table() -> list[tuple[str, int, bool, bool, bool, str, float]]: ...
def evaluate(
    loss: int,
    parameter: float,
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    value: NDArray[np.float64],
    slope: NDArray[np.float64],
) -> None: ...
def total(
    loss: int,
    parameter: float,
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
) -> float: ...
def bend(loss: int) -> float: ...
def curvatures(
    loss: int,
    parameter: float,
    p: NDArray[np.float64],
    y: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def total_conjugate(
    loss: int,
    parameter: float,
    dual: NDArray[np.float64],
    y: NDArray[np.float64],
    sample_weight: NDArray[np.float64],
) -> float: ...
def exp(x: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def log1p(x: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def log(x: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
def sigmoid(x: NDArray[np.float64], out: NDArray[np.float64]) -> None: ...
