"""Models on disk: one file of JSON and raw arrays, without pickle.

Layout, all integers little-endian:

| bytes | what |
|---|---|
| 12 | magic: ``89 f a s t l i n 0d 0a 1a 0a``, which a transfer as text would damage |
| 4, 8, 8 | format version; bytes of the header; bytes of the arrays |
| header | JSON in UTF-8, filled up with spaces so that the arrays begin at a multiple of 64 |
| arrays | raw elements, little-endian, each filled up with zeros to a multiple of 64 |
| 32 | BLAKE2b of all that stands before |

The header holds the version of fastlin, the model (class, parameters, attributes; see
`_persist_values`) and dtype, shape and order of each array, in the order in which they follow.

Everything is checked on the way in: sizes before memory is taken for them (memory grows with what
has really been read), class names against the list of public names, and at last the checksum. A
file can give wrong numbers only if it was written so; it can never run code.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
import struct
from typing import Any, BinaryIO

import numpy as np

from ._base import Estimator
from ._files import opened_for_reading, opened_for_writing, read_block
from ._persist_values import (
    Malformed,
    Reader,
    Writer,
    array_of,
    checked_shape,
    portable_dtype,
    read_dtype,
)
from ._signature import REQUIRED, init_parameters

__all__ = ["load", "save"]

_MAGIC = b"\x89fastlin\r\n\x1a\n"
_FORMAT = 1
_PREFIX = struct.Struct("<12sIQQ")
_ALIGNMENT = 64
_DIGEST_BYTES = 32
_LARGEST_READ = 1 << 24

# Estimators that a file may name beside the public ones, and their modules.
_PRIVATE_HOMES = {"ColumnEncoder": "_cli_encoder"}
# Records that estimators hold: what has `_asdict`.
_RECORD_HOMES = {
    "ColumnPlan": "_category_plan", "HashedNgram": "text", "OutputCode": "_reductions",
}  # fmt: skip
# Requests to scikit-learn's metadata routing: objects of its own, made again by set_fit_request;
# what the training rows of neighbours are made into when they are first asked about, and compiled
# vocabularies, made again from their names.
_NOT_STORED = {"_metadata_request", "_searcher", "_lookup"}
# What entries of `trace_` hold beside the result, and equal fits do not have in common
_TIMES = {"seconds"}


def save(model: Any, path: str | os.PathLike | BinaryIO) -> None:
    """Write a model to a file.

    The file holds the parameters and everything that was fitted, the state of an optimiser
    included: training that goes on after `load` gives the same bits as training that was never
    interrupted. The file appears in one step once it is complete; after an error, or Ctrl-C, the
    former file stands unchanged.

    Parameters
    ----------
    model : Estimator
        An estimator of fastlin, fitted or not, pipelines included.
    path : str, path-like or binary file object
        Where to write. A path that ends in .gz, .bz2 or .xz is compressed.

    Raises
    ------
    TypeError
        If the model, or something in it, is of a class that files cannot hold, such as a function
        given as a parameter. The message names the parameter.
    OSError
        If the file cannot be written.

    See Also
    --------
    load : The opposite.

    Notes
    -----
    Equal models give equal files: the seconds in entries of ``trace_``, which differ from run to
    run, are not stored, nor what scikit-learn's metadata routing was asked for
    (``set_fit_request``). Arrays come back in the byte order of the machine and writable.

    Examples
    --------
    >>> import os, tempfile
    >>> import fastlin
    >>> path = os.path.join(tempfile.mkdtemp(), "model.fastlin")
    >>> fastlin.save(fastlin.HashingVectorizer(n_features=1024), path)
    >>> fastlin.load(path)
    HashingVectorizer(n_features=1024)
    """
    from . import __version__

    if not isinstance(model, Estimator):
        raise TypeError(_not_ours(model))
    writer = Writer(_encode_own)
    header = {
        "fastlin": __version__,
        "model": writer.encode(model, "model")["estimator"],
        "arrays": [_array_entry(array) for array in writer.arrays],
    }
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-(_PREFIX.size + len(text)) % _ALIGNMENT)
    n_bytes = sum(_padded(array.nbytes) for array in writer.arrays)
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    with opened_for_writing(path) as stream:
        for part in (_PREFIX.pack(_MAGIC, _FORMAT, len(text), n_bytes), text):
            digest.update(part)
            stream.write(part)
        for array in writer.arrays:
            _write_array(array, stream, digest)
        stream.write(digest.digest())


def load(path: str | os.PathLike | BinaryIO) -> Any:
    """Read a model that `save` wrote.

    Parameters
    ----------
    path : str, path-like or binary file object
        Where to read; decompressed if the name ends in .gz, .bz2 or .xz.

    Returns
    -------
    Estimator
        Equal to the one that was saved, bit for bit, but for the seconds in ``trace_``.

    Raises
    ------
    ValueError
        If the file is no model, is damaged or cut short, or was written by a newer fastlin. The
        message names the file.
    OSError
        If the file cannot be opened.

    See Also
    --------
    save : The opposite.

    Examples
    --------
    >>> import io
    >>> import fastlin
    >>> file = io.BytesIO()
    >>> fastlin.save(fastlin.HashingVectorizer(ngram_range=(1, 2)), file)
    >>> fastlin.load(io.BytesIO(file.getvalue())).ngram_range
    (1, 2)
    """
    with opened_for_reading(path) as (stream, name):
        source = _Source(stream, name)
        try:
            return _read_model(source)
        except Malformed as error:
            raise ValueError(f"{name} cannot be loaded: {error}.") from None
        except RecursionError:
            raise ValueError(f"{name} cannot be loaded: its header nests too deep.") from None


def _not_ours(model: Any) -> str:
    """Write why an object is no model that can be saved."""
    kind = type(model)
    text = f"model must be an estimator of fastlin, got {kind.__module__}.{kind.__qualname__}"
    if isinstance(model, type):
        return f"{text}; pass an instance, such as {model.__name__}()."
    if kind.__module__.startswith("sklearn.pipeline"):
        return f"{text}; build the pipeline with fastlin.make_pipeline, or use joblib."
    return f"{text}; use pickle or joblib for others."


def _padded(n_bytes: int) -> int:
    """Round up to a multiple of the alignment."""
    return -(-n_bytes // _ALIGNMENT) * _ALIGNMENT


def _is_transposed(array: np.ndarray) -> bool:
    """Say whether an array is stored by columns, and is so kept."""
    return array.flags.f_contiguous and not array.flags.c_contiguous


def _array_entry(array: np.ndarray) -> dict[str, Any]:
    """Describe an array in the header."""
    order = "F" if _is_transposed(array) else "C"
    return {"dtype": portable_dtype(array.dtype).str, "shape": list(array.shape), "order": order}


def _write_array(array: np.ndarray, stream: BinaryIO, digest: Any) -> None:
    """Write the elements of an array, and zeros up to the next place that is aligned."""
    array = array.T if _is_transposed(array) else array
    array = np.ascontiguousarray(array, portable_dtype(array.dtype))
    # As bytes, since memoryview knows neither times nor Unicode.
    for part in (array.reshape(-1).view(np.uint8), bytes(-array.nbytes % _ALIGNMENT)):
        digest.update(part)
        stream.write(part)


def _encode_own(value: Any, writer: Writer) -> dict[str, Any] | None:
    """Return an estimator or a record of fastlin as JSON; None for anything else."""
    if isinstance(value, Estimator):
        return {"estimator": _encode_estimator(value, writer)}
    cls = type(value)
    if cls.__module__ != f"{__package__}.{_RECORD_HOMES.get(cls.__name__)}":
        return None
    fields = {
        name: writer.encode(field, f"field {name} of {cls.__name__}")
        for name, field in value._asdict().items()
    }
    return {"record": [cls.__name__, fields]}


def _encode_estimator(estimator: Estimator, writer: Writer) -> dict[str, Any]:
    """Return an estimator as JSON: class, parameters, and whatever else stands in it."""
    cls = type(estimator)
    if hasattr(estimator, "param_grid"):
        raise TypeError(
            f"a search, such as {cls.__name__}, is stored by its best model: save its "
            "best_estimator_, which fit with refit=True leaves there."
        )
    if cls.__module__ != f"{__package__}.{_home_of(cls.__name__)}":
        raise TypeError(
            f"{cls.__module__}.{cls.__qualname__} is no class of fastlin itself, and a model file "
            "holds no other; save the parts that are, or use pickle."
        )
    parameters = init_parameters(cls)
    attributes = {
        name: value
        for name, value in vars(estimator).items()
        if name not in parameters and name not in _NOT_STORED
    }
    if "trace_" in attributes:
        attributes["trace_"] = [
            {key: value for key, value in entry.items() if key not in _TIMES}
            for entry in attributes["trace_"]
        ]
    return {
        "class": cls.__name__,
        "parameters": {
            name: writer.encode(getattr(estimator, name), f"parameter {name} of {cls.__name__}")
            for name in parameters
        },
        "attributes": {
            name: writer.encode(value, f"attribute {name} of {cls.__name__}")
            for name, value in attributes.items()
        },
    }


def _home_of(name: Any) -> str | None:
    """Return the module of a class that files may name."""
    from . import _HOMES

    return {**_HOMES, **_PRIVATE_HOMES}.get(name) if isinstance(name, str) else None


def _class_named(name: Any) -> type[Estimator]:
    """Return the estimator of that name, if files may name it."""
    home = _home_of(name)
    found = getattr(importlib.import_module(f"{__package__}.{home}"), name) if home else None
    if not (isinstance(found, type) and issubclass(found, Estimator)):
        raise Malformed(f"this version of fastlin has no estimator {name!r}")
    return found


def _decode_record(content: Any, reader: Reader) -> Any:
    """Return the record that `_encode_own` described."""
    name, fields = content
    module = importlib.import_module(f"{__package__}.{_RECORD_HOMES[name]}")
    return getattr(module, name)(**{key: reader.decode(field) for key, field in fields.items()})


def _decode_estimator(content: Any, reader: Reader) -> Estimator:
    """Return the estimator that `_encode_estimator` described."""
    cls = _class_named(content["class"])
    expected = init_parameters(cls)
    parameters = {name: reader.decode(value) for name, value in content["parameters"].items()}
    unknown = [name for name in parameters if name not in expected]
    if unknown:
        raise Malformed(f"{cls.__name__} has no parameter {unknown[0]!r} here")
    # A parameter that is younger than the file has its default.
    for name, default in expected.items():
        if parameters.setdefault(name, default) is REQUIRED:
            raise Malformed(f"{cls.__name__} lacks the parameter {name!r}")
    attributes = {name: reader.decode(value) for name, value in content["attributes"].items()}
    for name in attributes:
        on_class = getattr(cls, name, None)
        is_computed = isinstance(on_class, property) and on_class.fset is None
        if name in expected or callable(on_class) or is_computed:
            raise Malformed(f"{cls.__name__} can have no attribute {name!r}")
    estimator = cls.__new__(cls)
    vars(estimator).update(parameters, **attributes)
    return estimator


class _Source:
    """A stream that is read in parts and hashed on the way."""

    def __init__(self, stream: BinaryIO, name: str):
        self._stream, self._name = stream, name
        self.digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)

    def take(self, n: int, hashed: bool = True) -> bytearray:
        """Read exactly n bytes; memory grows with what is there, not with what is promised."""
        found = bytearray()
        while len(found) < n:
            part = memoryview(bytearray(min(n - len(found), _LARGEST_READ)))
            count = read_block(self._stream, part, self._name)
            if not count:
                raise Malformed("it ends too early")
            found += part[:count]
        if hashed:
            self.digest.update(found)
        return found

    def is_at_end(self) -> bool:
        """Say whether nothing is left."""
        return read_block(self._stream, memoryview(bytearray(1)), self._name) == 0


def _read_model(source: _Source) -> Estimator:
    """Read a whole file."""
    magic, version, header_bytes, array_bytes = _PREFIX.unpack(source.take(_PREFIX.size))
    if magic != _MAGIC:
        raise Malformed("it is no model file, or was damaged by a transfer as text")
    if version != _FORMAT:
        raise Malformed(
            f"it has the format {version}, but this fastlin knows format {_FORMAT} only; upgrade "
            "fastlin to read it"
        )
    header = _parse_header(source.take(header_bytes))
    layouts = [_checked_entry(entry) for entry in header["arrays"]]
    if sum(_padded(n_bytes) for *_, n_bytes in layouts) != array_bytes:
        raise Malformed("its arrays do not have the sizes announced")
    arrays = [_read_array(source, *layout) for layout in layouts]
    if source.take(_DIGEST_BYTES, hashed=False) != source.digest.digest():
        raise Malformed("it is damaged (its checksum differs)")
    if not source.is_at_end():
        raise Malformed("something stands behind its end")
    try:
        decode_own = {"estimator": _decode_estimator, "record": _decode_record}
        return Reader(arrays, decode_own).decode({"estimator": header["model"]})
    except Malformed as error:
        raise Malformed(f"{error} (it was written by fastlin {header['fastlin']})") from None


def _parse_header(text: bytearray) -> dict[str, Any]:
    """Return the header of a file as JSON."""
    try:
        header = json.loads(text.decode("ascii"), parse_constant=_refuse_constant)
    except ValueError as error:
        raise Malformed(f"its header is damaged ({error})") from None
    if not isinstance(header, dict) or not {"fastlin", "model", "arrays"} <= header.keys():
        raise Malformed("its header is damaged")
    if not isinstance(header["arrays"], list):
        raise Malformed("its header has no list of arrays")
    return header


def _refuse_constant(word: str) -> None:
    """Refuse NaN and Infinity, which are not JSON and are never written."""
    raise Malformed(f"its header has the number {word}")


def _checked_entry(entry: Any) -> tuple[np.dtype, tuple[int, ...], str, int]:
    """Return dtype, shape, order and bytes of an array that the header describes."""
    try:
        dtype, shape, order = read_dtype(entry["dtype"]), entry["shape"], entry["order"]
        shape = checked_shape(shape)
    except (KeyError, TypeError) as error:
        raise Malformed(f"its header describes no array ({error})") from None
    if order not in ("C", "F"):
        raise Malformed(f"its header describes an array in the order {order!r}")
    return dtype, shape, order, math.prod(shape) * dtype.itemsize


def _read_array(
    source: _Source, dtype: np.dtype, shape: tuple[int, ...], order: str, n_bytes: int
) -> np.ndarray:
    """Read the elements of an array and the zeros that follow."""
    elements = source.take(n_bytes)
    source.take(_padded(n_bytes) - n_bytes)
    if order == "F":
        return array_of(elements, dtype, shape[::-1]).T
    return array_of(elements, dtype, shape)
