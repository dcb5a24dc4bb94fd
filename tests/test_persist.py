"""Model files: everything comes back bit for bit, from files that are whole or not there."""

import io
import json
import os
import struct
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_files import BYTES, FITTED, X, Y, assert_same, holder, round_trip, written
from scipy import sparse

from fastlin import (
    GridSearchCV,
    HashingVectorizer,
    OneHotEncoder,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    SGDClassifier,
    SGDRegressor,
)
from fastlin import persist as persist_module
from fastlin._clone import clone
from fastlin._persist_values import MAX_DEPTH
from fastlin.persist import load, save
from fastlin.pipeline import make_pipeline

# Values ---------------------------------------------------------------------------------------

SCALARS = [
    None, True, False, 0, -1, 2**63, -(2**64), 10**5000, 0.0, -0.0, 0.1, 5e-324, 1.7e308,
    float("inf"), -float("inf"), float("nan"), struct.unpack("<d", b"\1\2\3\4\5\6\xf8\xff")[0],
    1 + 2j, complex(-0.0, float("nan")), "", "text", "\0", "\u00fc\U0001f600", "\ud800\udc00",
    "\udc80", b"", b"\0\xff", np.float32(0.1), np.float64(-0.0), np.float16(1), np.int8(-128),
    np.uint64(2**64 - 1), np.bool_(True), np.complex64(1j), np.str_("x\0"), np.bytes_(b"y\0"),
    np.datetime64("2020-01-01"), np.timedelta64(3, "ms"), np.float32("nan"),
]  # fmt: skip


@pytest.mark.parametrize("value", SCALARS, ids=lambda value: type(value).__name__)
def test_scalars(value):
    assert_same(round_trip(value), value)


@pytest.mark.parametrize(
    "dtype",
    "?,i1,i2,i4,i8,u1,u2,u4,u8,f2,f4,f8,c8,c16,U5,S3,M8[ns],M8[D],m8[25s]".split(","),
)
@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (2, 3), (2, 0, 3), ()])
def test_arrays_of_every_type(dtype, shape):
    size = int(np.prod(shape))
    array = np.arange(65, 65 + size).astype("U5" if dtype[0] in "US" else "i8")
    array = array.astype(dtype).reshape(shape)
    loaded = round_trip(array)
    assert_same(loaded, array)
    assert loaded.flags.writeable
    assert loaded.flags.owndata or loaded.base.flags.owndata


def test_layouts_of_arrays():
    array = np.arange(24.0).reshape(4, 6)
    columns = round_trip(np.asfortranarray(array))
    assert_same(columns, array)
    assert columns.flags.f_contiguous
    for view in (array[::2, ::-1], array.T, np.broadcast_to(array[0], (3, 6)), array[:, 1]):
        assert_same(round_trip(view), view)
    frozen = array.copy()
    frozen.flags.writeable = False
    assert_same(round_trip(frozen), array)
    big_endian = round_trip(array.astype(">f8"))
    assert_same(big_endian, array)


def test_memory_maps(tmp_path):
    mapped = np.memmap(tmp_path / "a", dtype="f8", mode="w+", shape=5)
    mapped[:] = 1.5
    assert_same(round_trip(mapped), np.full(5, 1.5))


def test_one_array_under_two_names_stays_one():
    array = np.arange(3.0)
    left, right = round_trip([array, array])
    assert left is right


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_matrices(make):
    matrix = make(np.array([[0, 1.5, 0], [2, 0, 0]]))
    loaded = round_trip({"X": matrix})["X"]
    assert type(loaded) is make
    assert_same(loaded.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    "value",
    [np.float64, np.float32, np.int8, np.bool_, float, int, bool, str, object, np.dtype("f4"),
     np.dtype("M8[us]")],
)  # fmt: skip
def test_types_as_parameters(value):
    assert round_trip(value) is value or round_trip(value) == value


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on_where_they_stood(name):
    generator = np.random.Generator(getattr(np.random, name)(3))
    generator.random(5)
    generator.integers(0, 9, dtype=np.int32)
    loaded = round_trip(generator)
    assert loaded.random(9).tolist() == generator.random(9).tolist()
    ours, theirs = loaded.spawn(1)[0], generator.spawn(1)[0]
    assert ours.random(3).tolist() == theirs.random(3).tolist()


def test_random_states_and_seed_sequences_go_on_where_they_stood():
    state = np.random.RandomState(5)
    state.normal(size=3)
    loaded = round_trip(state)
    assert loaded.normal(size=9).tolist() == state.normal(size=9).tolist()
    for entropy in (7, [1, 2, 3], 2**100, None):
        sequence = np.random.SeedSequence(entropy, spawn_key=(4,))
        sequence.spawn(2)
        loaded = round_trip(sequence)
        assert loaded.generate_state(4).tolist() == sequence.generate_state(4).tolist()
        assert loaded.spawn(1)[0].spawn_key == sequence.spawn(1)[0].spawn_key


HASHABLE = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
ARRAYS = hnp.arrays(
    st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(endianness="="),
        hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)),
        hnp.unicode_string_dtypes(endianness="=", max_len=5),
    ),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
)
VALUES = st.recursive(
    st.one_of(HASHABLE, st.floats(), st.complex_numbers(), ARRAYS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.sets(HASHABLE, max_size=4),
        st.frozensets(HASHABLE, max_size=4),
        st.lists(HASHABLE, max_size=4).map(lambda items: np.array([*items, None], dtype=object)),
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(VALUES)
def test_nested_values(value):
    assert_same(round_trip(value), value)


def test_equal_models_give_equal_files():
    words = {f"word {i}" for i in range(50)}
    assert written(holder(words)) == written(holder({f"word {i}" for i in reversed(range(50))}))


@pytest.mark.filterwarnings("ignore:.*the steps do not suit")
def test_equal_fits_give_equal_files():
    for model in MODELS:
        is_classifier = model._estimator_type == "classifier"
        y = np.where(Y > 0.5, "q", np.where(Y < -0.5, "r", "p")) if is_classifier else Y
        fits = [clone(model).set_params(random_state=3).fit(X, y) for _ in range(2)]
        assert written(fits[0]) == written(fits[1])
        assert "seconds" in fits[0].trace_[0]
        kept = round_trip(fits[0]).trace_
        assert kept == [{key: value for key, value in entry.items() if key != "seconds"}
                        for entry in fits[0].trace_]  # fmt: skip


class Weird:
    """Nothing that a file can hold."""


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (lambda x: x, "the callable test_.*<lambda>|the callable <lambda>"),
        (len, "the callable len"),
        (Weird, "the callable Weird"),
        (Weird(), "a test_persist.Weird"),
        ([{"a": (Weird(),)}], "a test_persist.Weird"),
        (np.array([Weird()]), "a test_persist.Weird"),
        (np.zeros(2, "i4,f8"), "an array of dtype"),
        (np.longdouble(1), "a numpy.longdouble"),
        (np.ma.array([1, 2]), "a numpy.ma"),
        (np.floating, "the callable floating"),
        (sparse.csc_matrix((2, 2)), "a scipy.sparse.*csc_matrix"),
        (np.random.RandomState(np.random.PCG64(0)), "a RandomState over PCG64"),
        (io.BytesIO(), "a _io.BytesIO"),
    ],
)
def test_what_files_cannot_hold_is_named(value, found, tmp_path):
    if isinstance(value, np.longdouble) and value.dtype == np.float64:
        pytest.skip("long double is double here")
    with pytest.raises(TypeError, match=f"attribute value_ of Pipeline is ({found})"):
        save(holder(value), tmp_path / "model")
    assert os.listdir(tmp_path) == []
    model = SGDClassifier(class_weight=value)
    with pytest.raises(TypeError, match="parameter class_weight of SGDClassifier is"):
        save(make_pipeline(model), tmp_path / "model")


def test_values_that_hold_themselves_are_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(
        TypeError, match="value_ of Pipeline is nested more than 100 deep, or holds"
    ):
        written(holder(loop))
    deep = []
    for _ in range(MAX_DEPTH - 5):
        deep = [deep]
    assert round_trip(deep) == deep


class Own(SGDClassifier):
    """A class of the user's."""


def test_a_search_is_stored_by_its_best_estimator(tmp_path):
    search = GridSearchCV(SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2]}, cv=2)
    for model in (search, make_pipeline(search)):
        with pytest.raises(TypeError, match="such as GridSearchCV, is stored by its best model: "
                           "save its best_estimator_") as caught:  # fmt: skip
            save(model, tmp_path / "model")
        assert "no class of fastlin" not in str(caught.value)
    assert os.listdir(tmp_path) == []
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0)
    search.fit(rows, np.repeat([0, 1], 6))
    save(search.best_estimator_, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(rows), search.predict(rows))


def test_only_estimators_of_fastlin_are_saved(tmp_path):
    with pytest.raises(TypeError, match="test_persist.Own is no class of fastlin itself"):
        save(Own(), tmp_path / "model")
    with pytest.raises(TypeError, match="test_persist.Own is no class of fastlin itself"):
        save(make_pipeline(Own()), tmp_path / "model")
    with pytest.raises(TypeError, match="model must be an estimator of fastlin, got builtins.dict"):
        save({}, tmp_path / "model")
    with pytest.raises(TypeError, match="pass an instance, such as SGDClassifier"):
        save(SGDClassifier, tmp_path / "model")
    pipeline = pytest.importorskip("sklearn.pipeline")
    with pytest.raises(TypeError, match="fastlin.make_pipeline"):
        save(pipeline.make_pipeline(SGDClassifier()), tmp_path / "model")
    assert os.listdir(tmp_path) == []


# Models ---------------------------------------------------------------------------------------

MODELS = [
    SGDClassifier(loss="log_loss", penalty="elasticnet", average=True, random_state=0),
    SGDClassifier(loss="hinge", penalty="l1", learning_rate="invscaling", eta0=0.1, average=5),
    SGDClassifier(class_weight={"p": 1.0, "q": 2.0}, random_state=np.random.default_rng(0)),
    SGDClassifier(loss="log_loss", multi_class="joint", penalty="elasticnet", average=True),
    SGDClassifier(loss="log_loss", optimizer="adam", penalty="elasticnet"),
    SGDClassifier(loss="log_loss", optimizer="adagrad", average=True),
    Perceptron(average="voted"),
    Perceptron(penalty="l1", average=True),
    PassiveAggressiveClassifier(average=True),
    PassiveAggressiveRegressor(),
    SGDRegressor(penalty="l2", average=True),
    SGDRegressor(loss="huber", penalty="elasticnet", learning_rate="constant"),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_training_goes_on_bit_for_bit(model, dtype, tmp_path):
    is_classifier = model._estimator_type == "classifier"
    rows = X.astype(dtype)
    y = np.where(Y > 0.5, "q", np.where(Y < -0.5, "r", "p")) if is_classifier else Y
    first = {"classes": ["p", "q", "r"]} if is_classifier else {}
    model = type(model)(**model.get_params())
    model.partial_fit(rows[:30], y[:30], **first)
    save(model, tmp_path / "model")
    resumed = load(tmp_path / "model")
    assert_same(vars(resumed).keys() == vars(model).keys(), True)
    assert_same(resumed.coef_, model.coef_)
    for part in (slice(30, 45), slice(45, 60)):
        model.partial_fit(rows[part], y[part])
        resumed.partial_fit(rows[part], y[part])
        assert_same(resumed.coef_, model.coef_)
        assert_same(resumed.intercept_, model.intercept_)
    assert_same(resumed.predict(rows), model.predict(rows))


def test_pipelines_with_all_that_is_in_them():
    model = make_pipeline("passthrough", SGDClassifier(loss="log_loss", random_state=0))
    model.fit(X, Y > 0)
    loaded = load(io.BytesIO(written(model)))
    assert repr(loaded) == repr(model)
    assert_same(loaded.predict_proba(X), model.predict_proba(X))
    assert_same(loaded.classes_, model.classes_)


def test_text_and_categories():
    texts = ["win a prize", "see you at noon"] * 5
    hashed = make_pipeline(HashingVectorizer(n_features=64, dtype=np.float32), SGDClassifier())
    hashed.fit(texts, [1, 0] * 5)
    loaded = load(io.BytesIO(written(hashed)))
    assert_same(loaded.decision_function(texts), hashed.decision_function(texts))
    table = [["red", 1], ["green", 2], ["red", 3], [None, 2]] * 3
    for options in ({}, {"drop": "first"}, {"min_frequency": 4, "handle_unknown": "ignore"}):
        encoder = OneHotEncoder(**options).fit(table)
        loaded = load(io.BytesIO(written(encoder)))
        assert_same(loaded.transform(table).toarray(), encoder.transform(table).toarray())
        assert_same(loaded.categories_, encoder.categories_)
    with pytest.raises(TypeError, match="parameter tokenizer of HashingVectorizer is the callable"):
        written(HashingVectorizer(tokenizer=str.split))


def test_unfitted_models_and_feature_names():
    pd = pytest.importorskip("pandas")
    loaded = load(io.BytesIO(written(SGDClassifier(alpha=0.5))))
    assert repr(loaded) == "SGDClassifier(alpha=0.5)"
    assert not hasattr(loaded, "coef_")
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = SGDRegressor(random_state=0).fit(frame, Y)
    loaded = load(io.BytesIO(written(model)))
    assert_same(loaded.feature_names_in_, model.feature_names_in_)
    assert_same(loaded.predict(frame), model.predict(frame))


def test_requests_of_metadata_are_left_out():
    sklearn = pytest.importorskip("sklearn")
    with sklearn.config_context(enable_metadata_routing=True):
        model = SGDClassifier().set_fit_request(sample_weight=True)
    assert "_metadata_request" not in vars(load(io.BytesIO(written(model))))


# Files ----------------------------------------------------------------------------------------



def test_layout_of_a_file():
    magic, version, header_bytes, array_bytes = struct.unpack_from("<12sIQQ", BYTES)
    assert (magic, version) == (b"\x89fastlin\r\n\x1a\n", 1)
    start = 32 + header_bytes
    assert start % 64 == 0
    assert len(BYTES) == start + array_bytes + 32
    header = json.loads(BYTES[32:start])
    assert header["model"]["class"] == "SGDClassifier"
    assert header["model"]["parameters"]["alpha"] == 1e-4
    place = header["model"]["attributes"]["coef_"]["array"]
    sizes = [
        -(-int(np.prod(a["shape"])) * np.dtype(a["dtype"]).itemsize // 64) * 64
        for a in header["arrays"]
    ]
    coef = np.frombuffer(BYTES, "<f8", 7, start + sum(sizes[:place]))
    assert_same(coef.copy(), FITTED.coef_[0])


@pytest.mark.parametrize("name", ["model", "model.gz", "model.bz2", "model.xz"])
def test_paths_plain_and_compressed(tmp_path, name):
    save(FITTED, str(tmp_path / name))
    assert_same(load(tmp_path / name).coef_, FITTED.coef_)
    assert os.listdir(tmp_path) == [name]


def test_files_cut_short(tmp_path):
    path = tmp_path / "model"
    for length in [*range(100), *range(100, len(BYTES), 97), len(BYTES) - 1]:
        path.write_bytes(BYTES[:length])
        with pytest.raises(ValueError, match=r"model cannot be loaded: "):
            load(path)
    path.write_bytes(BYTES + b"\0")
    with pytest.raises(ValueError, match="something stands behind its end"):
        load(path)


def test_flipped_bits(tmp_path):
    path = tmp_path / "model"
    for place in [*range(100), *range(100, len(BYTES), 41)]:
        damaged = bytearray(BYTES)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"model cannot be loaded: "):
            load(path)


def test_other_files_and_newer_ones(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(b"These are only some notes, and no model at all; but quite long.")
    with pytest.raises(ValueError, match=r"notes.txt cannot be loaded: it is no model file"):
        load(path)
    path.write_bytes(BYTES.replace(b"\r\n", b"\n", 1))
    with pytest.raises(ValueError, match="damaged by a transfer as text"):
        load(path)
    path.write_bytes(BYTES[:12] + struct.pack("<I", 2) + BYTES[16:])
    with pytest.raises(ValueError, match="has the format 2, but .* format 1 only; upgrade fastlin"):
        load(path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")


# Writing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_an_error_on_the_way_leaves_the_old_file(tmp_path, monkeypatch, error):
    path = tmp_path / "model"
    save(FITTED, path)

    def fail(*args):
        raise error

    monkeypatch.setattr(persist_module, "_write_array", fail)
    with pytest.raises(type(error)):
        save(SGDClassifier(alpha=1.0).fit(X, Y > 0), path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == ["model"]
    assert path.read_bytes() == BYTES


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        save(FITTED, tmp_path / "no" / "model")
    with pytest.raises(IsADirectoryError):
        save(FITTED, tmp_path)


def test_the_model_is_not_changed_by_saving():
    model = SGDClassifier(random_state=np.random.default_rng(3))
    before = model.random_state.bit_generator.state
    written(model)
    assert model.random_state.bit_generator.state == before


def test_every_estimator_can_be_named_in_a_file():
    # A class that a file cannot name cannot be saved: it is public, or stands in _PRIVATE_HOMES.
    from fastlin._base import Estimator

    def subclasses(cls):
        return {cls, *(sub for direct in cls.__subclasses__() for sub in subclasses(direct))}

    for module in os.listdir(os.path.dirname(persist_module.__file__)):
        if module.endswith(".py") and module not in ("__init__.py", "__main__.py"):
            __import__(f"fastlin.{module[:-3]}")
    concrete = [
        cls
        for cls in subclasses(Estimator)
        if cls.__module__.startswith("fastlin.")
        and not cls.__name__.startswith("_")
        and cls.__name__ in vars(sys.modules[cls.__module__]).get("__all__", ())
        and hasattr(cls, "fit")
        and cls.__init__ is not object.__init__  # a base of others has no parameters
        and cls is not GridSearchCV  # its best estimator is what is stored
    ]
    assert len(concrete) >= 30
    for cls in concrete:
        assert persist_module._home_of(cls.__name__) == cls.__module__.rpartition(".")[2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_loaded_arrays_are_as_kernels_look_for_them(dtype):
    """A dtype that spells out its byte order is equal to the plain one, but another buffer."""
    model = SGDClassifier(random_state=0)
    model.coef_ = np.ones((1, 3), dtype)
    file = io.BytesIO()
    save(model, file)
    loaded = load(io.BytesIO(file.getvalue())).coef_
    assert memoryview(loaded).format == memoryview(model.coef_).format
