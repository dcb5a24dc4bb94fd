"""`KNeighborsClassifier`: the labels of the most similar training rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ._base import ClassifierMixin, Estimator
from ._core.rows import Rows
from ._data import as_rows, rows_of
from ._neighbors import Searcher
from ._params import Callable, Either, Integer, OneOf
from ._validation import check_target, encode_labels

__all__ = ["KNeighborsClassifier"]

# Votes counted at a time
_VOTES = 1 << 20
_GRAPH = OneOf("connectivity", "distance")


class KNeighborsClassifier(ClassifierMixin, Estimator):
    """Classify by the labels of the k nearest training rows, exactly.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours vote, >= 1.
    weights : {"uniform", "distance"} or callable, default="uniform"
        What a vote weighs: 1, or the reciprocal of the distance (where there are neighbours at
        distance 0, they alone count). A callable gets the distances, of shape (n_queries,
        n_neighbors), and returns weights >= 0 of that shape.
    metric : {"euclidean", "minkowski", "l2", "cosine"}, default="minkowski"
        "euclidean", for which "minkowski" and "l2" are other words (the exponent is 2); or 1 less
        the cosine of the angle between two rows. A row of zeros has cosine distance 1 from all.
    n_jobs : int or None, default=None
        Threads over the rows asked about; -1 is all cores. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    effective_metric_ : str
        "euclidean" or "cosine".
    n_samples_fit_ : int
        Number of training rows, of which the model keeps a copy.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str, dtype object
        Their names, if X was a data frame whose column names are all strings.

    Notes
    -----
    Of rows at the same distance the one that came first in training is nearer; of classes with the
    same weight of votes the first in `classes_` wins. Distances are summed up in double from the
    differences of values, for dense and for sparse rows in the same order: equal rows have distance
    0, and storage changes no bit.

    Time goes with the number of training rows [1]_; sparse training rows cost only where they have
    a column in common with the row asked about. In a few dimensions trees are faster
    (`sklearn.neighbors`).

    References
    ----------
    .. [1] T. Cover, P. Hart, "Nearest neighbor pattern classification", IEEE Transactions on
       Information Theory 13, 1967.

    Examples
    --------
    >>> from fastlin import HashingVectorizer, KNeighborsClassifier, make_pipeline
    >>> text = ["cheap pills", "cheap watches", "lunch at noon", "see you at lunch"]
    >>> nearest = KNeighborsClassifier(3, weights="distance", metric="cosine")
    >>> model = make_pipeline(HashingVectorizer(), nearest)
    >>> model = model.fit(text, ["spam", "spam", "ham", "ham"])
    >>> model.predict(["pills pills pills", "you at noon"]).tolist()
    ['spam', 'ham']
    """

    _constraints: ClassVar = {
        "n_neighbors": Integer(1),
        "weights": Either(OneOf("uniform", "distance"), Callable()),
        "metric": OneOf("euclidean", "minkowski", "l2", "cosine"),
        "n_jobs": Either(Integer(), OneOf(None)),
    }
    _fitted_attribute = "n_samples_fit_"

    def __init__(self, n_neighbors=5, *, weights="uniform", metric="minkowski", n_jobs=None):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Keep the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Class labels of any type that can be sorted.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter, X or y is not valid; the message says which and where.
        """
        self._check_params()
        rows = rows_of(self, X, reset=True)
        self.classes_, self._codes = encode_labels(check_target(y, self, n_samples=len(rows)))
        # a copy, since the caller's arrays may change before anyone asks
        dense = rows.layout == "dense"
        self._fit_X = rows.values.reshape(rows.shape).copy() if dense else rows.to_csr(copy=True)
        self.effective_metric_ = "cosine" if self.metric == "cosine" else "euclidean"
        self._searcher: Searcher | None = None
        self._prepared()
        self.n_samples_fit_ = len(rows)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the most votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows to classify.

        Returns
        -------
        ndarray of shape (n_samples,), dtype of the labels

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has another number of columns or holds NaN or infinity, or if there are fewer
            training rows than `n_neighbors`.
        """
        self._check_fitted("predict")
        return self.classes_.take(self._votes(X).argmax(axis=1))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return each class's share of the votes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of `classes_`; rows sum to 1.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            As `predict`.
        """
        self._check_fitted("predict_proba")
        votes = self._votes(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None,
                   return_distance: bool = True) -> Any:
        """Find the nearest training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features), optional
            The rows asked about; by default the training rows, none of which is its own neighbour.
        n_neighbors : int, optional
            How many; by default as the constructor says.
        return_distance : bool, default=True
            Whether the distances are wanted.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            In increasing order; only with `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors), dtype int64
            Numbers of the training rows.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X or n_neighbors is not valid.
        """
        self._check_fitted("kneighbors")
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        Integer(1).check("n_neighbors", k)
        rows = None if X is None else rows_of(self, X, reset=False)
        most = self.n_samples_fit_ - (X is None)
        if k > most:
            raise ValueError(
                f"n_neighbors must be at most the number of training rows"
                f"{'' if X is not None else ' but the row itself'}, {most}, got {k}."
            )
        searcher = self._prepared()
        queries = searcher.rows if rows is None else rows
        distance, number = searcher.search(queries, int(k), rows is None, self.n_jobs)
        return (distance, number) if return_distance else number

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None,
                         mode: str = "connectivity") -> Any:
        """Return the nearest training rows as a sparse matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features), optional
            As `kneighbors`.
        n_neighbors : int, optional
            As `kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether the entries are ones or the distances.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit_)
            Entries of a row come nearest first.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X, n_neighbors or mode is not valid.
        """
        from scipy.sparse import csr_matrix

        _GRAPH.check("mode", mode)
        distance, number = self.kneighbors(X, n_neighbors)
        n, k = number.shape
        values = np.ones(n * k) if mode == "connectivity" else distance.reshape(-1)
        starts = np.arange(0, n * k + 1, k)
        return csr_matrix((values, number.reshape(-1), starts), shape=(n, self.n_samples_fit_))

    def _prepared(self) -> Searcher:
        """The training rows, prepared; those of a model that was loaded when first asked about."""
        searcher = getattr(self, "_searcher", None)
        if searcher is None:
            rows: Rows = as_rows(self._fit_X)
            searcher = self._searcher = Searcher(rows, self.effective_metric_ == "cosine")
        return searcher

    def _votes(self, X: Any) -> np.ndarray:
        """Weight of the votes for each class, of shape (n_queries, n_classes)."""
        distance, number = self.kneighbors(X)
        weight, codes, K = self._weights(distance), self._codes[number], len(self.classes_)
        n, k = number.shape
        votes = np.empty((n, K))
        step = max(1, _VOTES // (K + k))
        for start in range(0, n, step):
            part = slice(start, min(start + step, n))
            size = part.stop - start
            cell = codes[part] + K * np.arange(size)[:, None]
            votes[part] = np.bincount(cell.reshape(-1), weight[part].reshape(-1), size * K
                                      ).reshape(size, K)
        return votes

    def _weights(self, distance: np.ndarray) -> np.ndarray:
        """What the vote of each neighbour weighs."""
        if isinstance(self.weights, str):
            if self.weights == "uniform":
                return np.ones_like(distance)
            # reciprocals times the least distance: nothing overflows
            least = distance[:, :1]
            near = np.where(distance > 0, distance, 1.0)
            return np.where(least > 0, least / near, distance == 0)
        weight = np.asarray(self.weights(distance.copy()), np.float64)
        right = weight.shape == distance.shape and np.isfinite(weight).all() and (weight >= 0).all()
        if not (right and weight.any(axis=1).all()):
            raise ValueError(
                f"weights must return finite numbers >= 0 of shape {distance.shape}, not all 0 for "
                f"a row, got {weight.shape if weight.shape != distance.shape else weight}."
            )
        return weight

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_searcher": None}
