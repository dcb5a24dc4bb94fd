import numpy as np
from numpy.typing import NDArray

from .documents import Block, CountedRows
from .ngrams import NgramTable

def begin_pages(memory: NDArray[np.uint8]) -> None: ...

class TextHasher:
    def __init__(
        self,
        raw_class: NDArray[np.uint8],
        done_class: NDArray[np.uint8],
        kind: int,
        least: int,
        stop_words: NgramTable | None,
        n_features: int,
        min_n: int,
        max_n: int,
        alternate_sign: bool,
        binary: bool,
        norm: int,
        is_fast: bool,
        isa: int,
    ) -> None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def nnz(self) -> int: ...
    @property
    def pending_entries(self) -> int: ...
    def set_word_bits(self, word_bits: NDArray[np.uint64]) -> None: ...
    def load(self, block: Block) -> None: ...
    def load_features(self, features: list[bytes]) -> int: ...
    def hash(self, feature: bytes) -> int: ...
    def place(self, hash: int) -> tuple[int, bool]: ...
    def advance(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        data: NDArray[np.float32] | NDArray[np.float64],
    ) -> int: ...
    def count(self, rows: CountedRows) -> int: ...
    def write(
        self,
        rows: CountedRows,
        indices: NDArray[np.int32],
        data: NDArray[np.float32] | NDArray[np.float64],
    ) -> None: ...
