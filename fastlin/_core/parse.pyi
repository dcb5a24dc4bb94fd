import numpy as np
from numpy.typing import NDArray

PADDING: int
DONE: int
FULL: int
NO_TARGET: int
BAD_TARGET: int
INFINITE_TARGET: int
NO_QUERY_ID: int
BAD_QUERY_ID: int
NO_COLON: int
BAD_INDEX: int
NEGATIVE_INDEX: int
ZERO_INDEX: int
LARGE_INDEX: int
BAD_VALUE: int
INFINITE_VALUE: int
REPEATED_INDEX: int

class SvmlightParser:
    def __init__(self, multilabel: bool, query_id: bool, lowest_index: int, isa: int) -> None: ...
    def use(
        self,
        values: NDArray[np.float64],
        columns: NDArray[np.int32],
        labels: NDArray[np.float64],
        row_ends: NDArray[np.int64],
        row_lines: NDArray[np.int64],
        label_ends: NDArray[np.int64],
        query_ids: NDArray[np.int64],
        hard: NDArray[np.int64],
    ) -> None: ...
    def parse(
        self, text: bytearray | NDArray[np.uint8], position: int, end: int
    ) -> tuple[int, int]: ...
    def reset(self) -> None: ...
    @property
    def n_entries(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def n_hard(self) -> int: ...
    @property
    def n_lines(self) -> int: ...
    @property
    def min_index(self) -> int: ...
    @property
    def max_index(self) -> int: ...
    @property
    def token(self) -> tuple[int, int]: ...
