"""Writing svmlight files: text, round trips, files that are whole or not there."""

import io
import os
import stat

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from fastlin.io import dump_svmlight_file, load_svmlight_file


def dumped(X, y, **options):
    file = io.BytesIO()
    dump_svmlight_file(X, y, file, **options)
    return file.getvalue()


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.lists(st.lists(finite, min_size=3, max_size=3), min_size=1, max_size=6),
    st.booleans(),
    st.sampled_from([np.asarray, sparse.csr_matrix, sparse.coo_array, sparse.csc_matrix]),
)
@settings(max_examples=150, deadline=None)
def test_round_trip(rows, zero_based, container):
    dense = np.array(rows)
    X, y = container(dense), dense[:, 0]
    ids = np.arange(len(y)) - 2
    text = dumped(X, y, zero_based=zero_based, query_id=ids)
    X2, y2, ids2 = load_svmlight_file(text, n_features=3, zero_based=zero_based, query_id=True)
    # A zero in a dense matrix is not written, so the sign of -0.0 is lost there.
    np.testing.assert_array_equal(X2.toarray(), dense)
    assert (X2.data.view(np.int64) == sparse.csr_matrix(X).data.view(np.int64)).all()
    assert (y2.view(np.int64) == y.view(np.int64)).all()
    assert (ids2 == ids).all()


def test_written_text():
    X = sparse.csr_matrix(
        ([1.0, 0.0, -0.0, 0.1, 1e16, 1e-7], ([0, 0, 0, 1, 1, 1], [0, 2, 3, 0, 1, 2]))
    )
    assert dumped(X, [1, -1.5]) == b"1 0:1 2:0 3:-0\n-1.5 0:0.1 1:1e+16 2:1e-07\n"
    assert dumped(np.array([[2**53 + 1, 0]]), [True]) == b"1 0:9007199254740993\n"
    assert dumped(np.float32([[0.1]]), [0]) == b"0 0:0.10000000149011612\n"
    assert dumped(np.longdouble([[0.5]]), np.longdouble([2])) == b"2 0:0.5\n"
    assert dumped([[True, False]], [0], zero_based=False) == b"0 1:1\n"
    assert dumped([[1]], [7], comment="first\nzweite: ü", zero_based=False) == (
        "# Column indices are one-based\n#\n# first\n# zweite: ü\n7 1:1\n".encode()
    )
    unsorted = sparse.csr_matrix(
        (np.array([1.0, 2, 3]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3)
    )
    before = unsorted.indices.copy()
    assert dumped(unsorted, sparse.csr_matrix([[4]])) == b"4 0:2 2:4\n"
    assert (unsorted.indices == before).all()
    assert dumped(np.ones((2500, 1)), np.arange(2500)).count(b"\n") == 2500


def test_written_labels():
    X = sparse.csr_matrix([[1.0], [0], [2]])
    sets = [(2.0, 0.5), (), ()]
    text = dumped(X, sets, multilabel=True)
    assert text == b"2,0.5 0:1\n0:0\n0:2\n"
    assert load_svmlight_file(text, multilabel=True)[1] == [(0.5, 2.0), (), ()]
    indicator = np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]])
    for y in (indicator, indicator.tolist(), sparse.csc_matrix(indicator)):
        assert dumped(X, y, multilabel=True) == b"1,2 0:1\n0:0\n0 0:2\n"


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "message"),
    [
        ([[1]], [1, 2], {}, ValueError, "X has 1 rows but y has 2"),
        ([1], [1], {}, ValueError, "X must have two dimensions"),
        ([[np.nan, 1]], [1], {}, ValueError, "value nan in row 0, column 0"),
        (
            sparse.csr_matrix([[0, 0], [0, np.inf]]),
            [1, 2],
            {},
            ValueError,
            "value inf in row 1, column 1",
        ),
        ([[1]], [np.nan], {}, ValueError, "y must be finite"),
        ([[1]], ["a"], {}, ValueError, "y must be numeric"),
        ([[1]], [[1, 2]], {}, ValueError, "set multilabel=True"),
        ([["a"]], [1], {}, TypeError, "X must be numeric"),
        ([[1j]], [1], {}, TypeError, "X must be numeric and real"),
        ([[1]], [1], {"query_id": [1, 2]}, ValueError, "query_id must hold 1 integers"),
        ([[1]], [1], {"query_id": [0.5]}, ValueError, "query_id must hold 1 integers"),
        ([[1]], [1], {"comment": 3}, TypeError, "comment must be a str"),
        ([[1]], [1], {"comment": "a\0"}, ValueError, "NUL"),
        ([[1]], [1], {"comment": b"\xff"}, ValueError, "must be UTF-8"),
        ([[1]], [1], {"zero_based": "auto"}, ValueError, "zero_based must be True or False"),
        ([[1]], [1], {"multilabel": True}, ValueError, "numeric matrix of shape"),
        ([[1], [2]], [[1], [1, 2]], {"multilabel": True}, ValueError, "different lengths"),
    ],
)
def test_what_cannot_be_written(X, y, options, error, message):
    with pytest.raises(error, match=message):
        dumped(X, y, **options)


def test_paths_are_replaced_in_one_step(tmp_path):
    path = tmp_path / "a.svm"
    dump_svmlight_file([[1]], [1], str(path))
    assert path.read_bytes() == b"1 0:1\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    dump_svmlight_file([[2]], [1], link)
    assert link.is_symlink() and path.read_bytes() == b"1 0:2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640

    for suffix in (".gz", ".bz2", ".xz"):
        packed = tmp_path / f"b.svm{suffix}"
        dump_svmlight_file([[3]], [1], packed)
        assert not packed.read_bytes().startswith(b"1")
        assert load_svmlight_file(packed)[0][0, 0] == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.svm",
        "b.svm.bz2",
        "b.svm.gz",
        "b.svm.xz",
        "link",
    ]
    with pytest.raises(TypeError, match="a path or a binary file object, got int"):
        dump_svmlight_file([[1]], [1], 3)


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    import fastlin.io

    path = tmp_path / "a.svm"
    path.write_bytes(b"old")

    def interrupted(*args):
        yield "1 0:1\n"
        raise KeyboardInterrupt

    monkeypatch.setattr(fastlin.io, "lines_of", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dump_svmlight_file([[1]], [1], path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.svm"]


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_devices_are_written_directly():
    dump_svmlight_file([[1]], [1], os.devnull)
    assert not os.path.isfile(os.devnull)


def test_whole_numbers_are_written_as_repr_does_without_the_point():
    values = [-0.0, 0.0, 3.0, -3.0, 2.0**53, 9999999999999998.0, 1e16, 1e22, -1e15, 2.5, 5e-324]
    file = io.BytesIO()
    dump_svmlight_file(np.ones((len(values), 1)), values, file)
    found = [line.split()[0] for line in file.getvalue().decode().splitlines()]
    assert found == [repr(value).removesuffix(".0") for value in values]
