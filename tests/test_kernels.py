"""Kernels of vectors, strings and trees."""

import kernel_reference as reference
import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import _strings, _trees, _vectors
from fastlin._parallel import portions
from fastlin.kernels import (
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
    spectrum_kernel,
    string_subsequence_kernel,
    tree_kernel,
)

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(23, 4)), rng.normal(size=(11, 4))
STRINGS = ["".join(rng.choice(list("abc"), n)) for n in (0, 1, 2, 3, 5, 7, 7, 4, 6, 3) * 3]
OTHERS = ["".join(rng.choice(list("abcd"), n)) for n in (4, 7, 1, 0, 6)]


def random_tree(depth):
    """A tree over few labels, so that productions come again."""
    label = rng.choice(list("ABC"))
    if depth == 0 or rng.random() < 0.3:
        return f"({label} {rng.choice(['x', 'y'])})"
    children = [random_tree(depth - 1) for _ in range(rng.integers(1, 4))]
    return f"({label} {' '.join(children)}{rng.choice(['', ' z'])})"


TREES = [random_tree(4) for _ in range(14)]


def table(kernel, rows, columns, *arguments):
    return np.array([[kernel(s, t, *arguments) for t in columns] for s in rows])


def normalized(gram, own, others):
    size = np.sqrt(np.outer(own, others))
    return np.divide(gram, size, out=np.zeros_like(gram), where=size > 0)


def assert_kernel(gram):
    """Symmetric and positive semi-definite."""
    np.testing.assert_array_equal(gram, gram.T)
    values = np.linalg.eigvalsh(gram)
    assert values[0] >= -1e-12 * values[-1]


# vectors


VECTOR_KERNELS = {
    "linear": (linear_kernel, {}, lambda x, z: x @ z),
    "polynomial": (
        polynomial_kernel, {"degree": 5, "gamma": 0.5, "coef0": 2},
        lambda x, z: (x @ z / 2 + 2) ** 5,
    ),
    "rbf": (rbf_kernel, {"gamma": 0.3}, lambda x, z: np.exp(-0.3 * ((x - z) ** 2).sum())),
}  # fmt: skip


@pytest.mark.parametrize("name", VECTOR_KERNELS)
@pytest.mark.parametrize("left", [np.asarray, sparse.csr_matrix, fastlin.as_rows])
@pytest.mark.parametrize("right", [np.asarray, sparse.csc_matrix])
def test_vectors(name, left, right, monkeypatch):
    kernel, arguments, one = VECTOR_KERNELS[name]
    monkeypatch.setattr(_vectors, "_STRIP", 30)
    monkeypatch.setattr(_vectors, "_SPREAD", 10)
    for n_jobs in (None, 2):
        gram = kernel(left(X), right(Y), n_jobs=n_jobs, **arguments)
        np.testing.assert_allclose(gram, table(one, X, Y), rtol=1e-11)
    own = kernel(left(X), **arguments)
    np.testing.assert_allclose(own, table(one, X, X), rtol=1e-11)
    np.testing.assert_array_equal(kernel(left(X), n_jobs=2, **arguments), own)
    assert_kernel(own)


def test_the_explicit_map():
    Z = X[:, :2]
    phi = np.column_stack([Z[:, 0] ** 2, np.sqrt(2) * Z[:, 0] * Z[:, 1], Z[:, 1] ** 2])
    gram = polynomial_kernel(Z, degree=2, gamma=1, coef0=0)
    np.testing.assert_allclose(gram, phi @ phi.T, rtol=1e-12, atol=1e-15)


def test_defaults_are_those_of_scikit_learn():
    pairwise = pytest.importorskip("sklearn.metrics.pairwise")
    np.testing.assert_allclose(rbf_kernel(X, Y), pairwise.rbf_kernel(X, Y), rtol=1e-11)
    np.testing.assert_allclose(polynomial_kernel(X), pairwise.polynomial_kernel(X), rtol=1e-11)


def test_far_vectors_keep_their_distances():
    far = X + 1e6
    np.testing.assert_allclose(rbf_kernel(far, gamma=1.0), rbf_kernel(X, gamma=1.0), atol=1e-8)
    assert rbf_kernel([[0.0], [1e3]], gamma=1.0)[0, 1] == 0  # and no trap below e^-700


# strings


def test_the_values_of_the_paper():
    decay = 0.7
    words = ["cat", "car", "bat", "bar"]
    gram = string_subsequence_kernel(words, length=2, decay=decay, normalize=False)
    own = 2 * decay**4 + decay**6
    assert gram[0] == pytest.approx([own, decay**4, decay**4, 0])
    gram = string_subsequence_kernel(["cat"], ["car"], length=2, decay=decay)
    assert gram.item() == pytest.approx(1 / (2 + decay**2))
    science = "science is organized knowledge", "wisdom is organized life"
    # the example of two sentences, for lengths 2 to 6
    for length, value in enumerate([0.580, 0.478, 0.439, 0.406, 0.370], 2):
        gram = string_subsequence_kernel(*([text] for text in science), length, 0.5)
        assert gram.item() == pytest.approx(value, abs=1e-3)


@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_subsequences(length, n_jobs, monkeypatch):
    # so that the kernel is left and entered again within strings
    monkeypatch.setattr(_strings, "_CELLS_PER_CALL", 40)
    monkeypatch.setattr(_strings, "_STRIP", 3)
    for T in (None, OTHERS):
        columns = STRINGS if T is None else T
        expected = table(reference.subsequences, STRINGS, columns, length, 0.6)
        gram = string_subsequence_kernel(STRINGS, T, length, 0.6, False, n_jobs=n_jobs)
        np.testing.assert_allclose(gram, expected, rtol=1e-12, atol=1e-14)
        own = [reference.subsequences(s, s, length, 0.6) for s in STRINGS]
        other = [reference.subsequences(s, s, length, 0.6) for s in columns]
        gram = string_subsequence_kernel(STRINGS, T, length, 0.6, n_jobs=n_jobs)
        np.testing.assert_allclose(gram, normalized(expected, own, other), atol=1e-13)
    assert_kernel(string_subsequence_kernel(STRINGS, None, length, 0.6))


@pytest.mark.parametrize("length", [1, 2, 4, 9])
def test_words(length):
    for T in (None, OTHERS):
        columns = STRINGS if T is None else T
        expected = table(reference.words, STRINGS, columns, length)
        np.testing.assert_array_equal(spectrum_kernel(STRINGS, T, length, False), expected)
        own, other = ([reference.words(s, s, length) for s in x] for x in (STRINGS, columns))
        gram = spectrum_kernel(STRINGS, T, length)
        np.testing.assert_allclose(gram, normalized(expected, own, other), atol=1e-13)
    assert_kernel(spectrum_kernel(STRINGS, None, length))


@pytest.mark.parametrize("kernel", [string_subsequence_kernel, spectrum_kernel])
def test_any_symbols(kernel):
    """Sequences of words, of numbers in an array, and surrogates are strings like others."""
    expected = kernel(STRINGS, OTHERS, 2)
    tuples = [tuple(s) for s in STRINGS]
    codes = [np.array([ord(c) for c in s]) for s in OTHERS]
    np.testing.assert_allclose(kernel(tuples, OTHERS, 2), expected, rtol=1e-12)
    numbers = [[ord(c) for c in s] for s in STRINGS]
    np.testing.assert_allclose(kernel(numbers, codes, 2), expected, rtol=1e-12)
    assert kernel(["a\ud800b", "\U0001f600"], length=1)[0].tolist() == [1, 0]


# trees


@pytest.mark.parametrize("decay", [1.0, 0.4])
def test_trees(decay, monkeypatch):
    monkeypatch.setattr(_trees, "_FIRST_ROOM", 1)
    monkeypatch.setattr(_trees, "_PAIRS_PER_CALL", 20)
    monkeypatch.setattr(_trees, "_BYTES_PER_CALL", 3)
    expected = table(reference.trees, TREES, TREES, decay)
    for n_jobs in (None, 2):
        gram = tree_kernel(TREES, None, decay, False, n_jobs=n_jobs)
        np.testing.assert_allclose(gram, expected, rtol=1e-12)
        part = tree_kernel(TREES[:5], TREES[3:], decay, False, n_jobs=n_jobs)
        np.testing.assert_allclose(part, expected[:5, 3:], rtol=1e-12)
    own = np.diagonal(expected)
    gram = tree_kernel(TREES, None, decay)
    np.testing.assert_allclose(gram, normalized(expected, own, own), rtol=1e-12)
    np.testing.assert_allclose(tree_kernel(TREES[:5], TREES[3:], decay), gram[:5, 3:], rtol=1e-12)
    assert_kernel(gram)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(
    "work",
    [np.ones(200), np.zeros(7), np.arange(50) ** 2, np.array([1, 1, 900, 1, 1]), np.empty(0)],
)
def test_portions_of_work_shrink_to_crumbs(work, n_threads):
    found = portions(work, n_threads)
    assert [i for first, stop in found for i in range(first, stop)] == list(range(len(work)))
    assert all(first < stop for first, stop in found)
    left = work.sum()
    for first, stop in found:
        mine = work[first:stop].sum()
        share = left if n_threads == 1 else max(left / 2, work.sum() / 32) / n_threads
        assert mine <= max(share, work[first]) * (1 + 1e-12)
        left -= mine
    if n_threads > 1 and len(work) == 200:
        assert len(found) > 6 * n_threads
        assert found[-1][1] - found[-1][0] <= 200 / (32 * n_threads)


def test_a_deep_tree_needs_no_recursion():
    deep = "(A " * 5000 + "x" + ")" * 5000
    assert tree_kernel([deep], decay=0.1, normalize=False).item() > 0


def test_trees_with_more_pairs_of_nodes_than_memory_are_named():
    deep = "(A " * 10**6 + "x" + ")" * 10**6
    with pytest.raises(ValueError, match=r"of samples 1 and 0 takes [\d.]+ GB .*999,998,000,002"):
        tree_kernel(["(B x)", deep], [deep], normalize=False)
    with pytest.raises(ValueError, match="of samples 0 and 0 takes"):
        tree_kernel(["(B x)"], [deep])


def test_more_words_and_productions_than_tables_begin_with():
    names = [f"(L{i % 700} w{i})" for i in range(2000)]
    gram = tree_kernel([f"(S {' '.join(names)})", *names[:3]], decay=0.01, normalize=False)
    np.testing.assert_allclose(gram[0], [20 + 0.01 * 1.01**2000, 0.01, 0.01, 0.01], rtol=1e-12)
    np.testing.assert_array_equal(gram[1:, 1:], 0.01 * np.eye(3))


def test_words_of_all_sizes_differ_by_one_byte():
    words = [
        size * "a" if place < 0 else place * "a" + "b" + (size - 1 - place) * "a"
        for size in [*range(1, 26), 40]
        for place in range(-1, size)
    ]
    gram = tree_kernel([f"(A {word})" for word in words], decay=1.0, normalize=False)
    np.testing.assert_array_equal(gram, np.eye(len(words)))
    longer = [f"(A (B x) {n * '(C y)'} (D {word}))" for n in range(6) for word in "zw"]
    np.testing.assert_allclose(
        tree_kernel(longer, decay=0.5, normalize=False), table(reference.trees, longer, longer, 0.5)
    )


def test_words_are_parted_where_python_parts_them():
    codes = [*range(1, 0x3100), 0xD800, 0xDFFF, 0x10000, 0x10FFFF]
    characters = [chr(code) for code in codes if chr(code) not in "()"]
    gram = tree_kernel(["(A x y)"], [f"{c}(A{c}x{c}y){c}" if c.isspace() else f"(A x{c}y)"
                                     for c in characters], decay=1.0, normalize=False)
    np.testing.assert_array_equal(gram[0], [c.isspace() for c in characters])
    wide = [f"(A {c}x x{c} {c}{c})" for c in "\u00e9\u1681\u2010\u202a\u3001\ud800\U0001f600"]
    np.testing.assert_array_equal(tree_kernel(wide), np.eye(len(wide)))


# refusals


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: string_subsequence_kernel("cat"), TypeError, "put a single string in a list"),
        (lambda: string_subsequence_kernel([]), ValueError, "0 sample"),
        (lambda: string_subsequence_kernel(["a", 3]), TypeError, "sample 1 must be a string"),
        (lambda: string_subsequence_kernel([[[1]]]), TypeError, "sample 0 .* hashable"),
        (lambda: string_subsequence_kernel(["a"], length=0), ValueError, "length .* >= 1, got 0"),
        (lambda: string_subsequence_kernel(["a"], decay=0), ValueError, "decay"),
        (lambda: string_subsequence_kernel(["a"], decay=1.5), ValueError, "decay"),
        (lambda: spectrum_kernel(["a"], normalize="yes"), ValueError, "normalize"),
        (lambda: tree_kernel("(A x)"), TypeError, "put a single tree in a list"),
        (lambda: tree_kernel(["(A x)", 3]), TypeError, "sample 1"),
        (lambda: tree_kernel(["(A x"]), ValueError, "sample 0 .* not closed"),
        (lambda: tree_kernel(["(A x))"]), ValueError, "outside of the brackets"),
        (lambda: tree_kernel(["A"]), ValueError, "outside of the brackets"),
        (lambda: tree_kernel(["(A x)", "(B\u3000y)\x1c"], [" "]), ValueError, "sample 0 .* empty"),
        (lambda: tree_kernel(["(A)"]), ValueError, "a label and nothing else"),
        (lambda: tree_kernel(["(A " * 1500 + "(B x) (C y)" + " (B x))" * 1500], decay=1.0),
         ValueError, "overflows"),
        (lambda: linear_kernel(X, Y[:, :2]), ValueError, "X has 4 columns, but Y has 2"),
        (lambda: polynomial_kernel(X * 1e200), ValueError, "overflows"),
        (lambda: polynomial_kernel(X, degree=-1), ValueError, "degree"),
        (lambda: rbf_kernel(X, gamma=-1), ValueError, "gamma"),
        (lambda: rbf_kernel([[np.nan]]), ValueError, "NaN"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_distances_lost_in_rounding_are_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3)) + 1e3
    expected = table(lambda x, z: np.exp(-0.3 * ((x - z) ** 2).sum()), X, X)
    for rows in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(rbf_kernel(rows, gamma=0.3), expected, atol=1e-8)
    with pytest.raises(ValueError, match="rounding hides their distances at gamma=0.3: scale"):
        rbf_kernel(sparse.csr_array(X + 1e7), gamma=0.3)
    with pytest.raises(ValueError, match="rounding hides"):
        rbf_kernel([[0.0], [1.0], [1e9]], gamma=0.5)


def test_equal_strings_are_one_or_the_decay_is_refused():
    with pytest.raises(ValueError, match="underflows: .* Raise decay"):
        string_subsequence_kernel(["abcdefghij"] * 2, length=10, decay=1e-17)
    with pytest.raises(ValueError, match="underflows"):
        string_subsequence_kernel(["a" * 200], ["a" * 100], length=100, decay=0.01)
    # too short for any word, whatever room such words would take
    for kernel in (string_subsequence_kernel, spectrum_kernel):
        np.testing.assert_array_equal(kernel(["abc", "ab"], length=10**12), np.zeros((2, 2)))
        np.testing.assert_array_equal(kernel(["abc"], ["abcdef"], length=5), np.zeros((1, 1)))


@pytest.mark.parametrize("samples", [
    {"ab": 1, "cd": 2}, {"ab", "cd"}, np.array([["ab"], ["cd"]], object),
    np.array([["ab"], ["cd"]]),
])  # fmt: skip
def test_what_is_no_list_of_samples(samples):
    for kernel in (string_subsequence_kernel, spectrum_kernel, tree_kernel):
        with pytest.raises(TypeError, match="samples must be a list of"):
            kernel(samples)


def test_a_sample_has_an_order():
    with pytest.raises(TypeError, match="sample 1 must be .*which has no order"):
        spectrum_kernel([["a", "b"], {"a", "b"}])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="pass one column"):
        spectrum_kernel(pandas.DataFrame({"t": ["abc", "abd"]}))
    expected = spectrum_kernel(["abc", "abd"], length=2)
    column = pandas.Series(["abc", "abd"])
    np.testing.assert_array_equal(spectrum_kernel(column, length=2), expected)
