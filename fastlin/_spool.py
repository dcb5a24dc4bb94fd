"""Arrays that wait in a temporary file until they are read again, once and in the same order.

Few are kept in memory. The file has no name where the system allows that, and vanishes with the
process whatever ends it.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["Spool"]

_KEPT_BYTES = 64 << 20


class Spool:
    """Groups of arrays, appended one after the other and then iterated over.

    Parameters
    ----------
    folder : path or None
        Where the file is made; None is the system's folder for such files.
    """

    def __init__(self, folder: Any = None):
        self._folder = folder
        self._file: Any = tempfile.SpooledTemporaryFile(
            _KEPT_BYTES, dir=folder, prefix="fastlin-"
        )
        self._groups: list[list[tuple[np.dtype, tuple[int, ...]]]] = []

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def append(self, arrays: Sequence[np.ndarray]) -> None:
        """Add a group."""
        try:
            for array in arrays:
                self._file.write(np.ascontiguousarray(array).view(np.uint8).data)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            folder = self._folder or tempfile.gettempdir()
            raise OSError(
                error.errno, f"{error.strerror}: rows wait there; name another folder", folder
            ) from None
        self._groups.append([(array.dtype, array.shape) for array in arrays])

    def __iter__(self) -> Iterator[list[np.ndarray]]:
        self._file.seek(0)
        for group in self._groups:
            yield [self._read(dtype, shape) for dtype, shape in group]

    def _read(self, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        """The next array, which is read-only."""
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._file.read(size), dtype).reshape(shape)
