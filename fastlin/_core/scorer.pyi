from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

class LinearScorer:
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    classes: NDArray[Any] | None
    n_outputs: int
    n_features: int
    def __init__(
        self, coef: ArrayLike, intercept: ArrayLike, classes: NDArray[Any] | None
    ) -> None: ...
    def __call__(
        self, x: NDArray[Any], data: NDArray[Any] | None = None
    ) -> float | NDArray[np.float64]: ...
    def predict(self, x: NDArray[Any], data: NDArray[Any] | None = None) -> Any: ...
