from typing import Any

import numpy as np
from numpy.typing import NDArray

def number_objects(
    cells: NDArray[np.object_], numbers: dict[Any, int], codes: NDArray[np.int32]
) -> None: ...
