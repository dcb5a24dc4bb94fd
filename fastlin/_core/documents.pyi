import numpy as np
from numpy.typing import NDArray

DONE: int
PAUSED: int
FULL: int
TOO_LARGE: int
TOO_LONG: int
TOO_MANY: int

class Block:
    def __init__(self, documents: list[str | bytes]) -> None: ...
    @property
    def n_documents(self) -> int: ...
    @property
    def has_others(self) -> bool: ...
    def replace(self, k: int, document: str | bytes) -> None: ...

def ascii_run(
    documents: list[object], first: int, last: int, n_characters: int
) -> tuple[int, int]: ...
def lowered_utf8(text: str, table: NDArray[np.uint32]) -> bytes | None: ...
def block_of_buffers(
    offsets: NDArray[np.int32] | NDArray[np.int64], data: NDArray[np.uint8], first: int, last: int
) -> tuple[Block, list[int]]: ...
