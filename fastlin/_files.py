"""Opening what a user passes as a file, and writing files that are whole or not there.

Reading: a path, ``"-"`` (standard input), a file descriptor, a binary file object or bytes; the
first two also compressed. Writing: the text goes to a temporary file beside the
target, which takes the target's name only once it is complete.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
import secrets
import shutil
import stat
import sys
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

__all__ = [
    "COMPRESSED",
    "beginning_of_stdin",
    "check_writable",
    "is_unseekable",
    "name_of_source",
    "opened_for_reading",
    "opened_for_writing",
    "opened_once",
    "read_block",
    "readable",
    "size_of",
]

# Extension -> module with an open function.
COMPRESSED = {".gz": gzip, ".bz2": bz2, ".xz": lzma}
_DECOMPRESSORS = (gzip.GzipFile, bz2.BZ2File, lzma.LZMAFile, bz2.BZ2Decompressor)


@contextlib.contextmanager
def opened_for_reading(source: Any) -> Iterator[tuple[BinaryIO, str]]:
    """Open a source; yields the stream and its name for messages, closes only what it opened."""
    if isinstance(source, io.TextIOBase):
        raise TypeError(
            f"{_name_of(source)} must be opened in binary mode, such as open(path, 'rb'), got a "
            f"{type(source).__name__}, which gives text."
        )
    if hasattr(source, "read"):
        yield source, name_of_source(source)
    elif isinstance(source, int) and not isinstance(source, bool):
        with open(source, "rb", closefd=False) as stream:
            yield stream, name_of_source(source)
    elif isinstance(source, (bytes, bytearray, memoryview)):
        yield io.BytesIO(source), name_of_source(source)
    elif isinstance(source, str) and source == "-":
        yield _decompressed_stdin(), name_of_source(source)
    elif isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        module = COMPRESSED.get(os.path.splitext(path)[1].lower())
        with open(path, "rb") if module is None else module.open(path, "rb") as stream:
            yield stream, str(path)
    else:
        raise TypeError(
            "a file must be given as a path, a binary file object, a file descriptor, bytes or "
            f"'-' for standard input, got {type(source).__name__}."
        )


def name_of_source(source: Any) -> str:
    """Name what `opened_for_reading` takes, as it does."""
    if hasattr(source, "read"):
        return _name_of(source)
    if isinstance(source, int):
        return f"file descriptor {source}"
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "bytes"
    return "standard input" if source == "-" else str(os.fspath(source))


def _name_of(stream: Any) -> str:
    """Name an open file for messages."""
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "stream"


def _compression_of(head: bytes) -> Any:
    """Return the module that decompresses what begins like this, None if it is not compressed."""
    if head.startswith(b"BZh"):
        return bz2 if head[4:10] == b"1AY&SY" else None
    return (
        gzip if head.startswith(b"\x1f\x8b") else lzma if head.startswith(b"\xfd7zXZ\0") else None
    )


def _stdin() -> Any:
    """Return standard input as a buffered binary stream."""
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise ValueError("'-' stands for standard input, but there is none to read bytes from.")
    return stream


def _decompressed_stdin() -> Any:
    """Return standard input, decompressed if need be."""
    stream = _stdin()
    module = _compression_of(stream.peek(10))
    return stream if module is None else module.open(stream, "rb")


class _NamedStream(io.BufferedReader):
    """A buffered stream with a name of its own for messages."""

    name = ""


def is_unseekable(source: Any) -> bool:
    """Tell whether a path leads to a pipe or a device, whose bytes can be had only once."""
    if not isinstance(source, (str, os.PathLike)) or source == "-" or not os.path.exists(source):
        return False
    return not (os.path.isfile(source) or os.path.isdir(source))


@contextlib.contextmanager
def opened_once(path: str) -> Iterator[BinaryIO]:
    """Open a pipe to be looked at and then read, decompressed if need be."""
    with open(path, "rb") as stream:
        module = _compression_of(stream.peek(10))
        source: Any = stream if module is None else module.open(stream, "rb")
        with _NamedStream(source) as named:
            named.name = os.fspath(path)
            yield named


def beginning_of_stdin(count: int) -> bytes:
    """Return about `count` bytes that standard input begins with, without consuming any."""
    head = _stdin().peek(count)
    module = _compression_of(head)
    if module is None:
        return head
    decompressor: Any = {
        gzip: zlib.decompressobj(wbits=31),
        bz2: bz2.BZ2Decompressor(),
        lzma: lzma.LZMADecompressor(),
    }[module]
    with readable(decompressor, "standard input"):
        return decompressor.decompress(head)


def read_block(stream: Any, target: memoryview, name: str) -> int:
    """Fill the target from the stream as far as one read goes; 0 at the end."""
    with readable(stream, name):
        if hasattr(stream, "readinto"):
            count = stream.readinto(target)
            if count is None:
                raise BlockingIOError(f"{name} has no data yet and does not wait for them.")
            return count
        data = stream.read(len(target))
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(
                f"{name} must be opened in binary mode: reading it gives "
                f"{type(data).__name__} instead of bytes."
            )
        target[: len(data)] = data
        return len(data)


def size_of(stream: Any) -> int | None:
    """Return how many bytes a stream holds from its start, where that is known without reading."""
    if isinstance(stream, io.BytesIO):
        # Not by getbuffer, which makes a copy of bytes that are shared.
        position = stream.tell()
        size = stream.seek(0, os.SEEK_END)
        stream.seek(position)
        return size
    # A decompressor has the descriptor of the compressed file, whose size tells nothing.
    if not isinstance(stream, (io.BufferedReader, io.FileIO)):
        return None
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextlib.contextmanager
def readable(stream: Any, name: str) -> Iterator[None]:
    """Turn what decompressors raise for damaged files into a ValueError with the file's name."""
    try:
        yield
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        source = getattr(stream, "raw", stream)
        if isinstance(error, OSError) and not isinstance(source, _DECOMPRESSORS):
            raise
        raise ValueError(f"{name} can't be decompressed: {error}") from error


@contextlib.contextmanager
def opened_for_writing(target: Any) -> Iterator[BinaryIO]:
    """Open a path or pass on a binary file object.

    A path gets its content in one step at the end (compressed if its extension says so); after
    an error the file is as it was before. What is no regular file, such as a pipe, is written
    directly.
    """
    if hasattr(target, "write"):
        yield target
        return
    if not isinstance(target, (str, os.PathLike)):
        raise TypeError(
            f"a file must be given as a path or a binary file object, got {type(target).__name__}."
        )
    path = os.fspath(target)
    if _is_written_directly(path):
        try:
            with open(path, "wb") as stream:
                yield stream
        except OSError as error:
            if error.filename not in (None, path):
                raise
            raise _named(error, path, "no file was left behind") from None
        return
    # The file that a symbolic link points to, so that the link stays one.
    path = os.path.realpath(path)
    temporary = _temporary_name(path)
    try:
        with open(temporary, "xb") as raw:
            module = COMPRESSED.get(os.path.splitext(path)[1].lower())
            with (
                contextlib.nullcontext(raw) if module is None else module.open(raw, "wb") as stream
            ):
                yield stream
            raw.flush()
            os.fsync(raw.fileno())
        if os.path.exists(path):
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.filename in (None, temporary):
            was_there = os.path.exists(path)
            state = "the former file is unchanged" if was_there else "no file was left behind"
            raise _named(error, path, state) from None
        raise


def _is_written_directly(path: Any) -> bool:
    """Say whether a path leads to what no new file can replace: a pipe, a device, a directory.

    The path as it was given: /dev/stdout leads to a pipe by way of a link to no name.
    """
    return os.path.exists(path) and not os.path.isfile(path)


def _temporary_name(path: str) -> str:
    """Return a new name beside a path."""
    return f"{path}.{secrets.token_hex(6)}.tmp"


def _named(error: OSError, path: str, state: str) -> OSError:
    """Return an error of writing with the name that the user gave and what is there now."""
    if error.errno is None or isinstance(error, BrokenPipeError):
        return error
    return type(error)(error.errno, f"{error.strerror} ({state})", path)


def check_writable(path: str) -> None:
    """Raise the OSError that writing to a path would end with, as far as a new file shows it."""
    if _is_written_directly(path):
        return
    temporary = _temporary_name(os.path.realpath(path))
    try:
        # Rights alone tell too little: the file system may be read-only, or the name too long.
        with open(temporary, "xb"):
            pass
        os.unlink(temporary)
    except OSError as error:
        raise _named(error, path, "no file can be written there") from None
