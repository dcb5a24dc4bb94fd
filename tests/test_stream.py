"""Learning from blocks: the model is that of `fit` or `partial_fit`, and nothing is left behind."""

import io
import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import fastlin
from fastlin import (
    ColumnTransformer,
    HashingEncoder,
    OneHotEncoder,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    Rows,
    SGDClassifier,
    SGDRegressor,
    dump_svmlight_file,
)
from fastlin._clone import clone
from fastlin._named_columns import CellColumns
from fastlin._stream_cache import StreamCache
from fastlin._stream_train import StreamTask
from fastlin.io import detect_format, read_table
from fastlin.stream import svmlight_blocks, table_blocks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(fastlin.__file__)))
N, D = 600, 40
RNG = np.random.default_rng(0)
X = sp.random(N, D, 0.2, format="csr", random_state=1)
W = RNG.normal(size=D)
Y = np.where(X @ W > 0, "yes", "no")
Y3 = np.digitize(X @ W, [-0.5, 0.5])
WEIGHTS = RNG.integers(0, 3, N).astype(float)
pytestmark = pytest.mark.filterwarnings("ignore::fastlin.ConvergenceWarning")


def blocks(size, y=Y, weight=None, X=X):
    for start in range(0, N, size):
        part = slice(start, start + size)
        yield (X[part], y[part]) if weight is None else (X[part], y[part], weight[part])


def same(a, b):
    """Bit for bit, and after as many epochs."""
    np.testing.assert_array_equal(a.coef_, b.coef_)
    np.testing.assert_array_equal(a.intercept_, b.intercept_)
    assert a.n_iter_ == b.n_iter_
    for mine, other in zip(a.trace_, b.trace_, strict=True):
        assert mine["objective"] == pytest.approx(other["objective"], rel=1e-12)


LEARNERS = [
    (SGDClassifier, {"loss": "log_loss", "average": True}, Y),
    (SGDClassifier, {"penalty": "l1", "alpha": 1e-3}, Y),
    (SGDClassifier, {"optimizer": "adam", "class_weight": "balanced"}, Y3),
    (SGDClassifier, {"loss": "log_loss", "multi_class": "joint"}, Y3),
    (SGDClassifier, {"multi_class": "ovo", "n_jobs": 2}, Y3),
    (SGDClassifier, {"batch_size": 7, "learning_rate": "adaptive", "eta0": 0.5}, Y),
    (SGDClassifier, {"early_stopping": True, "class_weight": {"yes": 2.0}}, Y),
    (SGDClassifier, {"shuffle": "replacement"}, Y),
    (SGDRegressor, {"early_stopping": True}, X @ W),
    (SGDRegressor, {"loss": "huber", "penalty": "elasticnet"}, X @ W),
    (Perceptron, {}, Y3),
    (PassiveAggressiveClassifier, {}, Y3),
    (PassiveAggressiveRegressor, {}, X @ W),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("cls", "params", "y"), LEARNERS)
def test_one_block_is_fit(cls, params, y, weighted):
    weight = WEIGHTS if weighted else None
    model = cls(max_iter=6, random_state=3, **params)
    streamed = cls(max_iter=6, random_state=3, **params)
    model.fit(X, y, sample_weight=weight)
    same(model, streamed.fit_stream(lambda: blocks(100, y, weight)))
    assert np.array_equal(streamed.predict(X), model.predict(X))


@pytest.mark.parametrize(("cls", "params", "y"), LEARNERS[:5] + LEARNERS[9:])
def test_without_shuffling_blocks_do_not_matter(cls, params, y, tmp_path):
    params = {"max_iter": 4, "shuffle": False, **params}
    if params.get("class_weight") == "balanced":
        params["class_weight"] = None  # sums of weights by block round otherwise
    streamed = cls(**params).fit_stream(blocks(50, y), block_bytes=1, cache_dir=tmp_path)
    same(cls(**params).fit(X, y), streamed)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("layout", ["dense", "ones", "csr", "mixed"])
def test_an_epoch_is_partial_fit_whatever_the_layout(layout):
    ones = (X != 0).astype(float)
    data = {"dense": X.toarray(), "ones": ones, "csr": X, "mixed": X.copy()}[layout]
    if layout == "mixed":
        data[100:300] = ones[100:300]
    params = {"max_iter": 1, "tol": None, "shuffle": False}
    reference = SGDClassifier(**params)
    for part in blocks(50, X=data):
        reference.partial_fit(*part, classes=["no", "yes"])
    for size in (1, 3000, 1 << 20):
        streamed = SGDClassifier(**params).fit_stream(blocks(50, X=data), block_bytes=size)
        assert np.array_equal(streamed.coef_, reference.coef_)


def test_epochs_visit_blocks_and_rows_in_an_order_of_their_own(monkeypatch):
    seen = []
    begin = StreamTask.begin

    def watched(self, index, X, y, weight, rows):
        begin(self, index, X, y, weight, rows)
        seen.append(index * 50 + self._steps.copy())

    monkeypatch.setattr(StreamTask, "begin", watched)
    params = {"loss": "log_loss", "max_iter": 3, "tol": None}
    streamed = SGDClassifier(random_state=1, **params).fit_stream(blocks(50), block_bytes=1)
    epochs = np.split(np.concatenate(seen), 3)
    reference = SGDClassifier(**params)
    for order in epochs:
        assert np.array_equal(np.sort(order), np.arange(N))
        assert len(np.unique(order[:50] // 50)) == 1
        reference.partial_fit(X[order], Y[order], classes=["no", "yes"])
    assert len({tuple(order) for order in epochs}) == 3
    assert len({tuple(order[::50] // 50) for order in epochs}) == 3
    np.testing.assert_array_equal(streamed.coef_, reference.coef_)


def test_early_stopping_holds_out_a_share_of_each_block():
    model = SGDClassifier(early_stopping=True, random_state=0)
    model.fit_stream(blocks(100), block_bytes=1)
    assert model.progressive_loss_[-1]["rows"] == pytest.approx(0.9 * N, abs=6)
    assert {"validation_score"} <= set(model.trace_[0])
    assert model.score(X, Y) > 0.8
    with pytest.raises(ValueError, match="validation_fraction"):
        SGDClassifier(early_stopping=True, validation_fraction=1e-6).fit_stream(blocks(100))


def test_progressive_loss_is_that_of_each_row_before_it_is_learnt(capsys):
    y = np.where(Y == "yes", 1.0, -1.0)
    found = []
    model = SGDClassifier("log_loss", max_iter=1, tol=None, shuffle=False, verbose=1)
    model.fit_stream(blocks(70), block_bytes=1, callback=found.append)
    losses, slow = [], SGDClassifier("log_loss")
    for i in range(N):
        z = slow.decision_function(X[i])[0] if i else 0.0
        losses.append(np.log1p(np.exp(-y[i] * z)))
        slow.partial_fit(X[i], Y[i : i + 1], classes=["no", "yes"])
    marks = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, N]
    assert [entry["rows"] for entry in model.progressive_loss_] == marks
    for before, entry in zip([0, *marks], model.progressive_loss_):
        assert entry["loss"] == pytest.approx(np.mean(losses[: entry["rows"]]), rel=1e-9)
        recent = np.mean(losses[before : entry["rows"]])
        assert entry["recent_loss"] == pytest.approx(recent, rel=1e-9)
    assert [entry for entry in found if "rows" in entry] == model.progressive_loss_
    assert f"{N} rows: progressive loss {np.mean(losses):.6f}" in capsys.readouterr().err
    assert not hasattr(model.fit(X, Y), "progressive_loss_")


def svmlight(zero_based=False):
    file = io.BytesIO()
    dump_svmlight_file(X, np.where(Y == "yes", 1, -1), file, zero_based=zero_based)
    return file.getvalue()


def test_files_of_every_format(tmp_path):
    y = np.where(Y == "yes", 1, -1)
    text, dense = svmlight(), X.toarray()
    (tmp_path / "a.svm").write_bytes(text)
    header = ",".join([*(f"x{j}" for j in range(D)), "y"])
    rows = [",".join(map(repr, [*row, int(label)])) for row, label in zip(dense.tolist(), y)]
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]))
    model = SGDClassifier(random_state=0).fit(X, y)
    for source in (text, tmp_path / "a.svm", io.BytesIO(text), svmlight(True)):
        same(model, SGDClassifier(random_state=0).fit_stream(source, n_features=D))
    named = SGDClassifier(random_state=0).fit_stream(tmp_path / "a.csv", label="y")
    np.testing.assert_array_equal(named.coef_, model.coef_)
    assert named.classes_.tolist() == ["-1", "1"]
    assert named.feature_names_in_.tolist() == header.split(",")[:-1]
    (tmp_path / "b.csv").write_text("\n".join(rows))
    unnamed = SGDClassifier(random_state=0).fit_stream(
        tmp_path / "b.csv", label=str(D), header=False
    )
    np.testing.assert_array_equal(unnamed.coef_, model.coef_)
    assert not hasattr(unnamed, "feature_names_in_")
    encoded = SGDClassifier(random_state=0).fit_stream(
        tmp_path / "a.csv", label="y", encoder=lambda cells: np.array(cells["x0"], float)[:, None]
    )
    assert encoded.n_features_in_ == 1


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": X.toarray()[:, j] for j in range(D)}
    path = tmp_path / "a.parquet"
    table = pyarrow.table({**columns, "y": Y})
    parquet.write_table(table, path, row_group_size=170)
    model = SGDClassifier(random_state=0).fit_stream(path, label="y", block_bytes=1 << 14)
    assert set(model.classes_) == {"yes", "no"}
    assert model.score(table.select(list(columns)), Y) > 0.8
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    same(model, SGDClassifier(random_state=0).fit_stream(path, label="y", block_bytes=1 << 14))
    sizes = [len(t.lines) for t in table_blocks(path, n_rows=100)]
    assert sizes == [100, 70] * 3 + [90]
    assert read_table(path).columns["y"] == Y.tolist()
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(ValueError, match="a.parquet can't be read as Parquet"):
        SGDClassifier().fit_stream(path, label="y")


BAD = [
    (b"1 1:0.5\n-1 2:x\n", {}, "bytes, line 2: the value of '2:x' is not a number"),
    (b"1 1:1\n1 5:1\n", {"n_features": 3}, "line 2: the index 5 is beyond n_features=3"),
    (b"a,y\n1,p\n2\n", {"label": "y", "format": "csv"}, "line 3: 1 fields where"),
    (b"a,y\n1,p\nz,q\n", {"label": "y", "format": "csv"}, "line 3: 'a' .*must be a finite number"),
    (b'{"y": 1\n', {"label": "y", "format": "jsonl"}, "line 1: bad JSON"),
    (b"a,y\n", {"label": "z", "format": "csv"}, "at least one row"),
    (b"a,y\n1,2\n", {"format": "csv"}, "label must name the column"),
    (b"1 1:1\n", {}, "number of classes has to be greater than one"),
    ([(X[:5], Y[:5]), (X[:5, :3], Y[:5])], {}, "In block 1 of the source: X has 3 features"),
    ([(X[:5], Y[:5]), (X[5:9], [1, 2, 3, 4])], {}, "In block 1 .*labels of one kind"),
    ([(X[:5], Y[:5]), (np.full((1, D), np.nan), ["yes"])], {}, "In block 1 .*NaN"),
    ([(X[:2], ["yes", "maybe"])], {"classes": ["yes", "no"]}, "maybe"),
    ([(X, Y, np.zeros(N))], {}, "class"),
    ([X], {}, r"source must give blocks \(X, y\)"),
    (X, {}, "source must be a file or give blocks"),
    ([], {}, "at least one row"),
    ([(X, Y)], {"label": "y"}, "label is for a source that is a file"),
    ([(X, Y)], {"block_bytes": 0}, "block_bytes must be"),
    ([(X, Y)], {"cache_dir": "no/such"}, "cache_dir must be a folder"),
    ([(X, Y)], {"dtype": int}, "dtype must be float32 or float64"),
]


@pytest.mark.parametrize(("source", "options", "message"), BAD)
def test_bad_sources(source, options, message, tmp_path):
    options = {"cache_dir": tmp_path, "block_bytes": 1, **options}
    with pytest.raises((ValueError, TypeError), match=message):
        SGDClassifier().fit_stream(source, **options)
    assert list(tmp_path.iterdir()) == []


def test_late_zeros_and_votes_are_refused():
    text = svmlight() * 200 + b"1 0:1\n"
    with pytest.raises(ValueError, match="an index is 0, but those before began at 1"):
        SGDClassifier().fit_stream(text)
    with pytest.raises(ValueError, match="average must not be 'voted'"):
        Perceptron(average="voted").fit_stream(blocks(50))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RuntimeError])
@pytest.mark.parametrize("when", ["rows", "epoch", "reading"])
def test_nothing_is_left_behind(stop, when, tmp_path):
    caches = []

    def source():
        for k, block in enumerate(blocks(50)):
            if when == "reading" and k == 5:
                raise stop
            yield block

    def interrupt(entry):
        if when in entry:
            raise stop

    made = StreamCache.__init__

    def watched(self, *arguments):
        made(self, *arguments)
        caches.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StreamCache, "__init__", watched)
        with pytest.raises(stop):
            SGDClassifier().fit_stream(
                source(), block_bytes=1, cache_dir=tmp_path, callback=interrupt
            )
    assert list(tmp_path.iterdir()) == []
    assert caches[0]._file.closed


def test_a_generator_may_use_its_arrays_again():
    def reusing():
        buffer = np.empty((50, D))
        for part, y in blocks(50):
            buffer[:] = part.toarray()
            yield buffer, y

    reference = SGDClassifier(random_state=0).fit(X.toarray(), Y)
    same(reference, SGDClassifier(random_state=0).fit_stream(reusing()))


def test_memory_does_not_grow_with_the_rows():
    def source(n):
        rng = np.random.default_rng(0)
        for _ in range(n):
            part = rng.normal(size=(500, 20))
            yield part, part[:, 0] > 0

    peaks = []
    for n in (20, 80):
        tracemalloc.start()
        SGDClassifier(max_iter=2, tol=None).fit_stream(source(n), block_bytes=1 << 19)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] < 4e6


def test_resident_memory_of_the_shell(tmp_path):
    """A file of 15 MB in memory that has room for a few MB more than the interpreter itself."""
    path, model = tmp_path / "a.svm", tmp_path / "model"
    line = b" ".join([b"%d:0.123456" % j for j in range(1, 100)])
    path.write_bytes(b"".join(b"%d %s\n" % (k % 2, line) for k in range(12_000)))
    code = (
        "import resource, sys; from fastlin.cli import main;"
        "import fastlin._cli_stream as s, fastlin._stream_fit, scipy.sparse;"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "given = s.StreamOptions;"
        "s.StreamOptions = lambda d: given({**d, 'block_bytes': 1 << 20});"
        "status = main(sys.argv[1:]);"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "print(status, after - before)"
    )
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", code, "train", path, model, "--stream", "--epochs", "2"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ROOT}, cwd=tmp_path,
    )  # fmt: skip
    status, grown = done.stdout.splitlines()[-1].split()
    assert status == "0"
    assert int(grown) < (14_000 if sys.platform == "linux" else 14_000_000)
    assert "12,000 rows, progressive loss" in done.stderr


def test_blocks_of_svmlight():
    found = list(svmlight_blocks(svmlight() * 30, dtype=np.float32))
    assert len(found) > 1
    assert all(isinstance(rows, Rows) and rows.dtype == np.float32 for rows, _ in found)
    joined = np.concatenate([rows.toarray() for rows, _ in found[:1]])
    np.testing.assert_allclose(joined[:N], X.toarray()[: len(joined)], rtol=1e-6)
    assert sum(len(y) for _, y in found) == 30 * N


def test_columns_of_json_lines_go_by_their_names():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 6000))
    y = (a > b).astype(int)

    def line(i, names):
        row = {"a": a[i], "b": b[i], "c": 0.0, "y": int(y[i])}
        return json.dumps({name: row[name] for name in names}).encode() + b"\n"

    def lines(names_after):
        return b"".join(line(i, "aby" if i < 4096 else names_after) for i in range(6000))

    def fitted(text):
        model = SGDClassifier(max_iter=3, tol=None, random_state=0)
        return model.fit_stream(text, label="y", format="jsonl")

    expected = fitted(lines("aby"))
    assert fitted(lines("yba")).coef_.tobytes() == expected.coef_.tobytes()
    with pytest.raises(ValueError, match="line 4097: the key 'c' comes up too late to be"):
        fitted(lines("acy"))
    with pytest.raises(ValueError, match=r"line 4097: 'b' \(column 3\) must .* holds nothing"):
        fitted(lines("ay"))


@pytest.mark.parametrize("encoder", [OneHotEncoder(), HashingEncoder(64)])
def test_an_encoder_that_knows_its_columns_takes_late_keys(encoder):
    rows = [{"y": k % 2, "a": "uvw"[k % 3]} for k in range(5000)]
    rows += [{"y": k % 2, "b": "pq"[k % 2]} for k in range(5000)]
    text = "\n".join(map(json.dumps, rows)).encode()
    columns = read_table(text, "jsonl").columns
    y = np.array(columns.pop("y"))
    X = CellColumns(columns)
    learner = SGDClassifier("log_loss", shuffle=False, max_iter=2, tol=None)
    unknowing = clone(encoder)
    right = learner.fit(encoder.fit_transform(X), y).coef_
    streamed = learner.fit_stream(text, label="y", format="jsonl", encoder=encoder).coef_
    assert np.array_equal(streamed, right)
    if isinstance(encoder, HashingEncoder):
        message = "line 5001: the key 'b' comes up too late .* or give an encoder that was fitted"
        with pytest.raises(ValueError, match=message):
            learner.fit_stream(text, label="y", format="jsonl", encoder=unknowing)


def test_labels_of_all_blocks_are_of_one_kind():
    lines = ['{"x": 1, "y": "yes"}'] * 5000 + ['{"x": 2, "y": true}']
    with pytest.raises(ValueError, match="bytes, line 5001: the label 'y' is a boolean, True, wh"):
        SGDClassifier().fit_stream("\n".join(lines).encode(), label="y", format="jsonl")


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,a\n" * 5000 + "2,b\n")
    with pytest.raises(ValueError, match=r"In .*a\.csv, from row 4,097 on: .*'b'"):
        SGDClassifier().fit_stream(path, label="y", classes=["a", "c"])
    with pytest.raises(ValueError, match=r"a\.csv, from line 2 on: the encoder: "):
        SGDClassifier().fit_stream(path, label="y", encoder=lambda columns: int("no"))
    (tmp_path / "a.svm").write_text("1 1:1\n2 1:1\n3 1:1\n")
    with pytest.raises(ValueError, match=r"In .*a\.svm, from row 1 on: "):
        SGDClassifier().fit_stream(tmp_path / "a.svm", classes=[1, 2])


def test_transformers_of_tables_are_encoders():
    pandas = pytest.importorskip("pandas")
    colours, numbers = ["red", "blue", "green", "red"] * 1500, [1.0, 2.5, -3.0, 0.25] * 1500
    lines = [json.dumps({"c": c, "y": c == "red", "n": n}) for c, n in zip(colours, numbers)]
    frame = pandas.DataFrame({"c": colours, "n": numbers})
    text = "\n".join(lines).encode()
    for encoder, columns in (
        (ColumnTransformer([("one", OneHotEncoder(), ["c"]), ("n", "passthrough", ["n"])]), frame),
        (OneHotEncoder(), frame),
    ):
        X = encoder.fit(columns).transform(columns)
        learner = SGDClassifier("log_loss", shuffle=False, max_iter=3, tol=None)
        streamed = learner.fit_stream(text, label="y", format="jsonl", encoder=encoder).coef_
        right = learner.fit(X, np.array(["false", "true"])[[int(c == "red") for c in colours]])
        assert np.array_equal(streamed, right.coef_)


def test_text_mode_is_refused(tmp_path):
    (tmp_path / "a").write_text("1 1:1\n")
    with open(tmp_path / "a") as file, pytest.raises(TypeError, match="must be opened in binary"):
        SGDClassifier().fit_stream(file)
    with pytest.raises(TypeError, match="stream must be opened in binary mode.*a StringIO"):
        detect_format(io.StringIO("1 1:1"))


@pytest.mark.parametrize("optimizer", ["adagrad", "adam"])
def test_adaptive_steps_on_dense_blocks_among_sparse_ones(optimizer):
    """What is laid out for sparse rows is laid out apart for dense ones."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((120, 9)) < 0.4, rng.normal(size=(120, 9)), 0.0)
    y = X @ np.arange(9.0) > 0
    params = {"loss": "log_loss", "optimizer": optimizer, "max_iter": 4, "tol": None}
    learner = SGDClassifier(**params, shuffle=False, average=True)
    parts = [slice(0, 40), slice(40, 80), slice(80, 120)]
    mixed = [(sp.csr_matrix(X[p]) if k != 1 else X[p], y[p]) for k, p in enumerate(parts)]
    streamed = learner.fit_stream(lambda: mixed).coef_
    np.testing.assert_allclose(streamed, learner.fit(X, y).coef_, rtol=1e-10)


def test_averages_of_many_rows_are_not_put_off(monkeypatch):
    """A number for each row and class must not outgrow the memory that a stream promises."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 5))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    learner = SGDClassifier(average=True, max_iter=4, tol=None, random_state=0)
    usual = learner.fit_stream(lambda: [(X, y)]).coef_
    monkeypatch.setattr("fastlin._stream_fit._MOST_PUT_OFF", 8 * 90 * 3 - 1)
    monkeypatch.setattr("fastlin._learner.Learner.put_off", None)
    np.testing.assert_allclose(learner.fit_stream(lambda: [(X, y)]).coef_, usual, rtol=1e-10)
