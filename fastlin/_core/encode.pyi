from typing import Any

import numpy as np
from numpy.typing import NDArray

def number_objects(
    cells: list[Any], numbers: dict[Any, int], codes: NDArray[np.int32]
) -> None: ...
