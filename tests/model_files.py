"""Models and their files, which the tests of model files share."""

import io
import struct

import numpy as np

from fastlin import SGDClassifier
from fastlin.persist import load, save
from fastlin.pipeline import Pipeline

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 7))
Y = X @ RNG.normal(size=7)


def written(model):
    """The bytes of a model's file."""
    stream = io.BytesIO()
    save(model, stream)
    return stream.getvalue()


def holder(value):
    """An estimator with a value in it."""
    model = Pipeline([])
    model.value_ = value
    return model


def round_trip(value):
    return load(io.BytesIO(written(holder(value)))).value_


def assert_same(a, b):
    """Equal in type and bits, all the way down."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind == "O":
            for left, right in zip(a.ravel(), b.ravel(), strict=True):
                assert_same(left, right)
        else:
            assert a.tobytes() == b.tobytes()
    elif isinstance(a, np.generic):
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for left, right in zip(a, b, strict=True):
            assert_same(left, right)
    elif isinstance(a, dict):
        assert_same(list(a.items()), list(b.items()))
    elif isinstance(a, float):
        assert struct.pack("<d", a) == struct.pack("<d", b)
    elif isinstance(a, complex):
        assert_same([a.real, a.imag], [b.real, b.imag])
    elif isinstance(a, (set, frozenset)):
        assert sorted(map(repr, a)) == sorted(map(repr, b))
    else:
        assert a == b


FITTED = SGDClassifier(random_state=0).fit(X, Y > 0)
BYTES = written(FITTED)
