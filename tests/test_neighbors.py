"""`KNeighborsClassifier` against all distances written out, and scikit-learn."""

import pickle

import numpy as np
import pytest
from scipy import sparse

import fastlin
from fastlin import KNeighborsClassifier, as_rows

RNG = np.random.default_rng(0)


def some_rows(n, d=7):
    """Small integers: many rows are equal, and many are as far as others."""
    return RNG.integers(-2, 3, (n, d)) * (RNG.random((n, d)) < 0.6)


X, Q, Y = some_rows(80), some_rows(31), RNG.integers(0, 3, 80)
FORMATS = {
    "dense": np.asarray,
    "csr": sparse.csr_matrix,
    "int64": lambda X: as_rows(sparse.csc_array(X)),
}


def all_distances(Q, X, metric):
    """By the definition."""
    Q, X = Q.astype(np.float64), X.astype(np.float64)
    if metric == "euclidean":
        return np.sqrt(((Q[:, None] - X[None]) ** 2).sum(axis=2))
    lengths = np.outer(np.linalg.norm(Q, axis=1), np.linalg.norm(X, axis=1))
    return 1 - np.where(lengths > 0, Q @ X.T / np.where(lengths > 0, lengths, 1), 0)


def first_k(D, k):
    """(distances, numbers) of the nearest, the lower number first."""
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


@pytest.mark.parametrize("k", [1, 5, 80])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_neighbours(metric, dtype, k):
    expected, numbers = first_k(all_distances(Q, X, metric), k)
    results = []
    for fitted in FORMATS.values():
        model = KNeighborsClassifier(k, metric=metric).fit(fitted(X.astype(dtype)), Y)
        for asked in FORMATS.values():
            results.append(model.kneighbors(asked(Q.astype(dtype))))
    distance, found = results[0]
    np.testing.assert_allclose(distance, expected, atol=1e-14)
    if metric == "euclidean":  # cosines of integer rows are no integers: ties are off by rounding
        np.testing.assert_array_equal(found, numbers)
    for again, same in results[1:]:
        np.testing.assert_array_equal(again, distance)
        np.testing.assert_array_equal(same, found)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_training_rows_are_not_their_own_neighbours(metric):
    D = all_distances(X, X, metric)
    np.fill_diagonal(D, np.inf)
    expected, numbers = first_k(D, 4)
    for fitted in FORMATS.values():
        model = KNeighborsClassifier(4, metric=metric).fit(fitted(X), Y)
        distance, found = model.kneighbors()
        np.testing.assert_allclose(distance, expected, atol=1e-14)
        if metric == "euclidean":
            np.testing.assert_array_equal(found, numbers)
        graph = model.kneighbors_graph(mode="distance")
        np.testing.assert_array_equal(graph.indices.reshape(-1, 4), found)
        np.testing.assert_array_equal(graph.data.reshape(-1, 4), distance)
        assert model.kneighbors_graph(Q, 2).toarray().sum(axis=1).tolist() == [2] * 31


def test_equal_rows_are_at_distance_0_wherever_they_lie():
    """Where |q|^2 + |x|^2 - 2 q.x has lost all digits."""
    for spread, centre in ((1e-3, 1e8), (1.0, 1e15), (1e200, 0.0), (1e-200, 0.0), (1e-310, 0.0)):
        far = RNG.normal(size=(70, 5)) * spread + centre
        scale = 2.0 ** np.frexp(np.abs(far).max())[1]  # so that dividing by it rounds nothing
        expected, numbers = first_k(all_distances(far / scale, far / scale, "euclidean"), 3)
        for fitted in FORMATS.values():
            model = KNeighborsClassifier(3).fit(fitted(far), far[:, 0] > centre)
            distance, found = model.kneighbors(far)
            assert (distance[:, 0] == 0).all() and np.isfinite(distance).all()
            np.testing.assert_array_equal(found, numbers)
            if spread > 1e-300:
                np.testing.assert_allclose(distance / scale, expected, rtol=1e-12)
        cosine = KNeighborsClassifier(1, metric="cosine").fit(far, far[:, 0] > centre)
        assert (cosine.kneighbors(far)[0] == 0).all()


def test_rows_of_zeros():
    zeros = np.zeros((4, 3))
    zeros[2:, 0] = 1
    for fitted in FORMATS.values():
        model = KNeighborsClassifier(4, metric="cosine").fit(fitted(zeros), [0, 0, 1, 1])
        distance, found = model.kneighbors(fitted(np.eye(3)[:2] * [[1], [0]]))
        assert distance.tolist() == [[0, 0, 1, 1], [1, 1, 1, 1]]
        assert found.tolist() == [[2, 3, 0, 1], [0, 1, 2, 3]]


def test_right_angles_are_ties():
    """Rows with nothing in common have cosine distance 1, whatever their lengths round to."""
    rng = np.random.default_rng(1)
    words = np.zeros((9, 12))
    words[1:, :6] = rng.normal(size=(8, 6))
    corners = np.array([[0.0, 0], [1, 1], [0, 0], [1, 0], [-1, -1]])
    cases = (words, np.eye(12)[[11]], range(9)), (corners, [[1.0, -1]], [3, 0, 1, 2, 4])
    for fitted in FORMATS.values():
        for rows, query, order in cases:
            model = KNeighborsClassifier(len(rows), metric="cosine")
            distance, found = model.fit(fitted(rows), np.arange(len(rows)) % 2).kneighbors(query)
            assert found[0].tolist() == list(order)
            assert (distance[0, 1:] == 1).all()
    integers, asked = rng.integers(-3, 4, (60, 16)) * 1.0, rng.integers(-3, 4, (40, 16)) * 1.0
    dense, csr = (
        KNeighborsClassifier(5, metric="cosine").fit(fitted(integers), np.arange(60) % 2).
        kneighbors(fitted(asked)) for fitted in (np.array, FORMATS["csr"])
    )
    np.testing.assert_array_equal(dense[0], csr[0])
    np.testing.assert_array_equal(dense[1], csr[1])


def test_blocks_and_threads_change_nothing(monkeypatch):
    expected = {}
    for name in ("dense", "csr"):
        model = KNeighborsClassifier(3).fit(FORMATS[name](X), Y)
        expected[name] = model.kneighbors(Q)
    monkeypatch.setattr("fastlin._neighbors._BLOCK", 7)
    monkeypatch.setattr("fastlin._neighbors._KEPT", 0)
    monkeypatch.setattr("fastlin._neighbors._Dense.held", 100)
    monkeypatch.setattr("fastlin._neighbors._Sparse.held", 300)
    monkeypatch.setattr("fastlin.neighbors._VOTES", 5)
    for name, (distance, number) in expected.items():
        model = KNeighborsClassifier(3, n_jobs=3).fit(FORMATS[name](X), Y)
        again, same = model.kneighbors(Q)
        np.testing.assert_array_equal(again, distance)
        np.testing.assert_array_equal(same, number)
        votes = np.array([np.bincount(Y[row], minlength=3) for row in number])
        np.testing.assert_allclose(model.predict_proba(Q), votes / 3)
        np.testing.assert_array_equal(model.predict(Q), votes.argmax(axis=1))


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_votes_of_scikit_learn(weights):
    neighbors = pytest.importorskip("sklearn.neighbors")
    words = np.array(["ham", "eggs", "spam"])[Y]
    for metric in ("minkowski", "cosine"):
        real, asked = X + RNG.normal(size=X.shape), RNG.normal(size=(40, 7))
        asked[:5] = real[:5]
        params = {"n_neighbors": 5, "weights": weights, "metric": metric}
        if metric == "cosine":
            asked = asked[5:]  # theirs has 1e-16 where ours has 0
        peer = neighbors.KNeighborsClassifier(**params, algorithm="brute").fit(real, words)
        for fitted in FORMATS.values():
            model = KNeighborsClassifier(**params).fit(fitted(real), words)
            np.testing.assert_allclose(
                model.predict_proba(asked), peer.predict_proba(asked), rtol=1e-6, atol=1e-9)
            np.testing.assert_array_equal(model.predict(asked), peer.predict(asked))


def test_reciprocals_of_tiny_distances():
    model = KNeighborsClassifier(2, weights="distance").fit([[0.0], [3e-310]], [0, 1])
    np.testing.assert_allclose(model.predict_proba([[1e-310]]), [[2 / 3, 1 / 3]], rtol=1e-6)
    assert model.predict_proba([[0.0]]).tolist() == [[1, 0]]


def test_refusals():
    model = KNeighborsClassifier(3).fit(X[:3], Y[:3])
    assert model.predict(Q).shape == (31,)
    with pytest.raises(ValueError, match="the row itself, 2, got 3"):
        model.kneighbors()
    with pytest.raises(ValueError, match="number of training rows, 3, got 4"):
        model.kneighbors(Q, 4)
    with pytest.raises(ValueError, match="n_neighbors must be"):
        model.kneighbors(Q, 0)
    with pytest.raises(ValueError, match="mode must be"):
        model.kneighbors_graph(Q, mode="both")
    with pytest.raises(ValueError, match="metric must be"):
        KNeighborsClassifier(metric="manhattan").fit(X, Y)
    for wrong in (lambda d: d[:1], lambda d: -d - 1, lambda d: d * 0):
        with pytest.raises(ValueError, match="weights must return"):
            KNeighborsClassifier(weights=wrong).fit(X, Y).predict(Q)
    with pytest.raises(fastlin.NotFittedError):
        KNeighborsClassifier().kneighbors(Q)


def test_the_model_keeps_its_own_rows(tmp_path):
    mine = X.astype(np.float64)
    for fitted in (mine, sparse.csr_matrix(mine)):
        model = KNeighborsClassifier().fit(fitted, Y)
        expected = model.predict_proba(Q)
        (fitted if fitted is mine else fitted.data)[:] = 0
        fastlin.save(model, tmp_path / "model")
        for again in (model, fastlin.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(again.predict_proba(Q), expected)
        mine = X.astype(np.float64)


def test_search_and_text():
    steps = fastlin.HashingVectorizer(n_features=2**10), KNeighborsClassifier(1, metric="cosine")
    model = fastlin.make_pipeline(*steps)
    text = ["cheap pills", "cheap watches", "lunch at noon", "see you at lunch"] * 3
    y = [1, 1, 0, 0] * 3
    grid = {"kneighborsclassifier__n_neighbors": [1, 3, 5]}
    search = fastlin.GridSearchCV(model, grid, cv=3).fit(text, y)
    assert search.best_score_ == 1
    assert search.predict(["pills", "noon"]).tolist() == [1, 0]
