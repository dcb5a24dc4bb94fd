"""`PolynomialFeatures` against products written out, scikit-learn, and itself on other storage."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import LogisticRegression, Perceptron, PolynomialFeatures, make_pipeline

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 6)) * (RNG.random((30, 6)) < 0.5)
X[3] = 0
DEGREES = (1, 2, 3, 5, (2, 3), (0, 2), (3, 3))


def written_out(X, degree, distinct, bias):
    """(columns of the products, their factors) by the definition."""
    least, most = degree if isinstance(degree, tuple) else (1, degree)
    choose = itertools.combinations if distinct else itertools.combinations_with_replacement
    factors = [()] if bias else []
    for k in range(max(1, least), most + 1):
        factors += choose(range(X.shape[1]), k)
    return np.column_stack([X[:, list(f)].prod(axis=1) for f in factors]), factors


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("degree", DEGREES)
def test_products(degree, distinct, bias):
    expected, factors = written_out(X, degree, distinct, bias)
    params = {"interaction_only": distinct, "include_bias": bias}
    model = PolynomialFeatures(degree, **params).fit(X)
    dense = model.transform(X)
    np.testing.assert_allclose(dense, expected, rtol=1e-13)
    assert model.n_output_features_ == len(factors)
    powers = [np.bincount(np.array(f, int), minlength=6) for f in factors]
    np.testing.assert_array_equal(model.powers_, powers)
    for dtype in (np.float64, np.float32):
        dense = model.transform(X.astype(dtype))
        assert dense.dtype == dtype
        result = model.transform(sparse.csr_matrix(X.astype(dtype)))
        result.check_format()
        assert result.has_canonical_format and result.dtype == dtype
        assert (result.data != 0).all()
        # storage changes no bit
        np.testing.assert_array_equal(result.toarray(), dense)
        for given in (X.astype(dtype), sparse.csc_array(X.astype(dtype))):
            rows = PolynomialFeatures(degree, **params, output="rows").fit_transform(given)
            assert isinstance(rows, fastlin.Rows)
            np.testing.assert_array_equal(rows.toarray(), dense)


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("degree", [0, *DEGREES])
def test_columns_and_names_of_scikit_learn(degree, distinct):
    peers = pytest.importorskip("sklearn.preprocessing")
    peer = peers.PolynomialFeatures(degree, interaction_only=distinct).fit(X)
    ours = PolynomialFeatures(degree, interaction_only=distinct).fit(X)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert ours.n_output_features_ == peer.n_output_features_
    np.testing.assert_array_equal(ours.powers_, peer.powers_)
    for given in (X, sparse.csr_matrix(X)):
        difference = ours.transform(given) - peer.transform(given)
        assert abs(difference).max() < 1e-12


def test_stored_zeros_ones_signs_and_threads():
    stored = sparse.csr_matrix(X)
    stored.data[::3] = 0
    expected = PolynomialFeatures().fit_transform(stored.toarray())
    result = PolynomialFeatures(n_jobs=3).fit_transform(stored)
    np.testing.assert_array_equal(result.toarray(), expected)
    for values in (np.ones(stored.nnz), RNG.choice([-1.0, 1.0], stored.nnz)):
        signs = sparse.csr_matrix((values, stored.indices, stored.indptr), shape=X.shape)
        rows = fastlin.as_rows(signs)
        given = PolynomialFeatures(3, interaction_only=True, output="rows").fit_transform(rows)
        plain = PolynomialFeatures(3, interaction_only=True).fit_transform(signs.toarray())
        np.testing.assert_array_equal(given.toarray(), plain)
        assert given.layout == ("ones" if (values == 1).all() else "csr")


def test_the_width_is_that_of_the_result():
    model = PolynomialFeatures(2)
    with pytest.raises(AttributeError, match="after fit"):
        _ = model.n_output_features_
    model.fit(X).set_params(degree=3)
    assert model.transform(X).shape[1] == model.n_output_features_ == len(model.powers_)
    assert model.set_params(n_features=7).transform(X).shape[1] == model.n_output_features_ == 7


def test_orders_in_memory():
    f = PolynomialFeatures(3, order="F").fit_transform(X)
    assert f.flags.f_contiguous
    np.testing.assert_array_equal(f, PolynomialFeatures(3).fit_transform(X))


@pytest.mark.parametrize("store", [np.array, sparse.csr_matrix])
def test_pieces_in_any_order(store, monkeypatch):
    """Terms are written in whole steps, but never into a piece that may be finished already."""
    expected = PolynomialFeatures((2, 3)).fit_transform(store(X))
    monkeypatch.setattr("fastlin._polynomial._LISTED", 1)
    monkeypatch.setattr("fastlin._polynomial.run", lambda tasks, _: [t() for t in tasks[::-1]])
    result = PolynomialFeatures((2, 3)).fit_transform(store(X))
    assert abs(result - expected).max() == 0


# Hashed


@pytest.mark.parametrize("n_features", [1, 7, 2**10, 2**20])
@pytest.mark.parametrize("signs", [False, True])
def test_hashed_products_are_sums_of_listed_ones(n_features, signs):
    """Each column alone tells where its product goes; the sum of all goes to the sum of places."""
    params = {"n_features": n_features, "alternate_sign": signs, "include_bias": False}
    model = PolynomialFeatures((3, 3), interaction_only=True, **params)
    expected, factors = written_out(X, (3, 3), True, False)
    place = np.zeros((len(factors), X.shape[1]))
    for t, f in enumerate(factors):
        place[t, list(f)] = 1
    places = model.fit_transform(place)
    assert (np.diff(places.indptr) == 1).all()
    assert set(places.data) == ({-1.0, 1.0} if signs else {1.0})
    for given in (X, sparse.csr_matrix(X)):
        result = model.transform(given)
        result.check_format()
        assert result.has_canonical_format and (result.data != 0).all()
        assert result.shape == (30, n_features)
        assert abs(result - sparse.csr_matrix(expected) @ places).max() < 1e-12


def test_hashed_products_spread_and_keep_inner_products():
    wide = sparse.random(400, 200, density=0.1, format="csr", random_state=1)
    exact = PolynomialFeatures(2).fit_transform(wide)
    model = PolynomialFeatures(2, n_features=2**14).fit(wide)
    hashed = model.transform(wide)
    ones = PolynomialFeatures((2, 2), n_features=64, alternate_sign=False, include_bias=False)
    counts = ones.fit_transform(np.ones((1, 200))).toarray()[0]
    assert counts.sum() == 200 * 201 / 2
    chi = ((counts - counts.mean()) ** 2 / counts.mean()).sum()
    assert 30 < chi < 110
    a, b = (exact @ exact.T).toarray(), (hashed @ hashed.T).toarray()
    assert abs(np.mean(b - a)) < 0.02 * abs(a).mean()
    # neither more rows nor threads nor a wider matrix move a product
    again = PolynomialFeatures(2, n_features=2**14, n_jobs=2, output="rows")
    wider = sparse.hstack([wide, sparse.csr_matrix((400, 10**6))]).tocsr()
    np.testing.assert_array_equal(again.fit_transform(wider).to_csr().toarray(), hashed.toarray())


def test_a_long_row_is_hashed_in_parts(monkeypatch):
    row = sparse.csr_matrix(RNG.normal(size=(2, 60)))
    model = PolynomialFeatures(3, n_features=500).fit(row)
    at_once = model.transform(row)
    monkeypatch.setattr("fastlin._polynomial._HASHED", 1000)
    np.testing.assert_array_equal(model.transform(row).toarray(), at_once.toarray())


# Widths and refusals


def test_more_columns_than_32_bits():
    d = 70_000
    at = np.array([0, 1, d - 2, d - 1])
    row = sparse.csr_matrix(([2.0, 3.0, 5.0, 7.0], (np.zeros(4, int), at)), shape=(1, d))
    model = PolynomialFeatures(include_bias=False).fit(row)
    assert model.n_output_features_ == d + d * (d + 1) // 2
    result = model.transform(row)
    assert result.indices.dtype == np.int64
    assert result.data[-1] == 49 and result.indices[-1] == model.n_output_features_ - 1
    pairs = {(a, b): d + a * d - a * (a - 1) // 2 + b - a for a in at for b in at if a <= b}
    assert result.indices[4:].tolist() == sorted(pairs.values())
    with pytest.raises(ValueError, match="32-bit column numbers.*set n_features"):
        PolynomialFeatures(output="rows").fit_transform(row)
    with pytest.raises(ValueError, match="more than 64-bit column numbers.*set n_features"):
        PolynomialFeatures(10**20).fit(np.ones((1, 1)))
    huge = sparse.csr_matrix(([1.0], ([0], [0])), shape=(1, 2**31 - 1))
    with pytest.raises(ValueError, match="more than 64-bit column numbers.*set n_features"):
        PolynomialFeatures(3).fit(huge)
    assert PolynomialFeatures(3, n_features=8).fit_transform(huge).shape == (1, 8)
    widest = PolynomialFeatures(3, n_features=2**31 - 1).fit_transform(sparse.csr_matrix(X))
    widest.check_format()
    assert widest.has_canonical_format and widest.indices.max() > 2**30


def test_a_high_degree_of_few_columns():
    column = np.linspace(-1, 1, 9)[:, None]
    expected = column ** np.arange(101)
    np.testing.assert_allclose(PolynomialFeatures(100).fit_transform(column), expected, atol=1e-15)
    result = PolynomialFeatures(100).fit_transform(sparse.csr_matrix(column))
    np.testing.assert_allclose(result.toarray(), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"degree": 0, "include_bias": False}, "leaves no products of the 6 columns"),
        ({"degree": (7, 9), "interaction_only": True, "include_bias": False}, "leaves no products"),
        ({"degree": (2, 1)}, "degree must be"),
        ({"degree": -1}, "degree must be"),
        ({"n_features": 0}, "n_features must be"),
        ({"n_features": 2**31}, "n_features must be"),
        ({"order": "A"}, "order must be"),
    ],
)
def test_refusals(params, message):
    with pytest.raises(ValueError, match=message):
        PolynomialFeatures(**params).fit(X)


def test_overflow_and_memory_are_refused():
    for given in (np.full((2, 2), 1e200), sparse.csr_matrix(np.full((2, 2), 1e200))):
        for n_features in (None, 16):
            with pytest.raises(ValueError, match="degree 2 is too large for float64.*scale"):
                PolynomialFeatures(n_features=n_features).fit_transform(given)
    with pytest.raises(ValueError, match="GB of memory.*set n_features"):
        PolynomialFeatures(4).fit_transform(np.ones((1, 1000)))
    with pytest.raises(ValueError, match="GB of memory"):
        _ = PolynomialFeatures(4).fit(np.ones((1, 1000))).powers_


# Learning


def test_a_perceptron_learns_what_no_line_separates():
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    learner = Perceptron(tol=None, max_iter=100)
    for given in (corners, sparse.csr_matrix(corners)):
        for n_features in (None, 64):
            products = PolynomialFeatures(2, interaction_only=True, n_features=n_features)
            model = make_pipeline(products, learner).fit(given, [0, 1, 1, 0])
            assert model.predict(given).tolist() == [0, 1, 1, 0]
    assert learner.fit(corners, [0, 1, 1, 0]).score(corners, [0, 1, 1, 0]) < 1
    plane = RNG.uniform(-1, 1, (300, 2))
    radius = (plane**2).sum(axis=1)
    plane, inside = plane[abs(radius - 0.5) > 0.05], radius[abs(radius - 0.5) > 0.05] < 0.5
    circle = make_pipeline(PolynomialFeatures(), Perceptron(tol=None, max_iter=300))
    assert circle.fit(plane, inside).score(plane, inside) == 1
    assert Perceptron().fit(plane, inside).score(plane, inside) < 0.8


def test_search_frames_and_files(tmp_path):
    y = X[:, 1] > 0
    model = make_pipeline(PolynomialFeatures(), LogisticRegression())
    search = fastlin.GridSearchCV(model, {"polynomialfeatures__degree": [1, 2]}, cv=3).fit(X, y)
    fastlin.save(search.best_estimator_, tmp_path / "model")
    again = fastlin.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    hashed = PolynomialFeatures(2, n_features=5).fit(X)
    assert hashed.get_feature_names_out().tolist() == [f"polynomialfeatures{j}" for j in range(5)]
    with pytest.raises(AttributeError, match="set n_features=None"):
        _ = hashed.powers_
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"], index=range(5, 35))
    out = PolynomialFeatures().set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["1", "a", "b", "a^2", "a b", "b^2"]
    assert out.index.tolist() == frame.index.tolist()


def test_samplers_of_scikit_learn_before_our_learners():
    """Kernels by random features and by landmarks: what is there already is not rewritten."""
    sampling = pytest.importorskip("sklearn.kernel_approximation")
    plane = RNG.normal(size=(400, 2))
    y = (plane**2).sum(axis=1) < 1.2
    for sampler in (sampling.Nystroem(gamma=0.5, n_components=40, random_state=0),
                    sampling.RBFSampler(gamma=0.5, n_components=200, random_state=0)):
        model = make_pipeline(sampler, LogisticRegression(C=100.0)).fit(plane[:300], y[:300])
        assert model.score(plane[300:], y[300:]) > 0.93
    assert LogisticRegression().fit(plane[:300], y[:300]).score(plane[300:], y[300:]) < 0.75
