"""Categories, and crosses of them, hashed to columns: `HashingEncoder`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from ._base import Estimator, TransformerMixin
from ._category_hashes import Terms, hash_table, hashed_parts
from ._columns import coded_columns, table_shape, table_width
from ._indicators import signed_result
from ._parallel import run
from ._params import Boolean, Constraint, Either, FloatType, Instance, Integer, OneOf, shown
from ._table_columns import places_by_name
from ._validation import check_feature_names, check_feature_names_in, check_n_features

__all__ = ["HashingEncoder"]


class HashingEncoder(TransformerMixin, Estimator):
    """Encode categorical columns, and crosses of them, by hashing.

    There are no categories to learn: the column of a category is a hash of its text and of the
    name of its feature, so vocabularies without bound take no memory, and any rows can be encoded
    at any time. Different categories may share a column.

    Parameters
    ----------
    n_features : int, default=2**20
        Number of output columns, from 1 to 2**31 - 1.
    interactions : sequence of tuples of str or int, default=()
        Crosses of two or more columns, each a tuple of their names or numbers, such as
        ``[("site", "ad"), (0, 2)]``: one more entry per row, of a column of its own for each
        combination of categories. They are hashed row by row and never written out.
    main_effects : bool, default=True
        Whether the columns themselves are encoded beside the crosses.
    alternate_sign : bool, default=True
        Count a category as +1 or -1 by a bit of its hash, so that categories that share a column
        cancel on average and inner products are kept (Weinberger et al. 2009). Not used when
        `binary` is True.
    binary : bool, default=False
        Give every column that occurs the value 1; otherwise categories of a row that share a
        column are added up.
    handle_missing : {"category", "ignore", "error"}, default="category"
        What None, NaN and NA are: a category of their column (one for all three), nothing, so that
        the crosses of the column are left out too, or a ValueError.
    dtype : {float64, float32}, default=float64
        Type of the values.
    output : {"csr", "rows"}, default="csr"
        What `transform` returns: a scipy matrix, or `fastlin.Rows`, which store no values where
        all are 1, or 1 and -1 (4 bytes per entry instead of 12). With `binary` that is always so,
        otherwise unless equal signs meet in one column of a row.
    n_jobs : int or None, default=None
        Threads; -1 takes one per core. The result does not depend on it.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X; only after `fit`, which is not needed.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if X is a data frame whose column names are all strings.

    See Also
    --------
    OneHotEncoder : A column per category, and names for the columns.

    Notes
    -----
    What is hashed (MurmurHash3, 32 bits) is the text "name=category" in UTF-8, where columns
    without names are x0, x1, ...; so are columns and values those of scikit-learn's
    ``FeatureHasher`` for rows given as dicts of strings. Numbers count by their decimal text: 3,
    3.0, "3" and Decimal("3.00") are one category. A missing value hashes as the bare name. A cross
    hashes the hashes of its members, 4 bytes each in little-endian order.

    References
    ----------
    K. Weinberger, A. Dasgupta, J. Langford, A. Smola, J. Attenberg. Feature hashing for large
    scale multitask learning. ICML 2009.

    Examples
    --------
    >>> from fastlin import HashingEncoder
    >>> encoder = HashingEncoder(n_features=256, interactions=[(0, 1)], output="rows")
    >>> encoder.transform([["red", 1], ["green", 3], ["red", 2]])
    <Rows 3 x 256, signed, float64, 9 entries>
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_features": Integer(1, 2**31 - 1),
        "interactions": Either(Instance(list, tuple), OneOf(None)),
        "main_effects": Boolean(),
        "alternate_sign": Boolean(),
        "binary": Boolean(),
        "handle_missing": OneOf("category", "ignore", "error"),
        "dtype": FloatType(),
        "output": OneOf("csr", "rows"),
        "n_jobs": Either(Integer(), OneOf(None)),
    }
    _tags: ClassVar[dict[str, Any]] = {
        "sparse": False,
        "categorical": True,
        "string": True,
        "allow_nan": True,
        "requires_fit": False,
        "preserves_dtype": (),
    }
    _fitted_attribute = None

    def __init__(
        self,
        n_features=2**20,
        *,
        interactions=(),
        main_effects=True,
        alternate_sign=True,
        binary=False,
        handle_missing="category",
        dtype=np.float64,
        output="csr",
        n_jobs=None,
    ):
        self.n_features = n_features
        self.interactions = interactions
        self.main_effects = main_effects
        self.alternate_sign = alternate_sign
        self.binary = binary
        self.handle_missing = handle_missing
        self.dtype = dtype
        self.output = output
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> HashingEncoder:
        """Check the parameters and remember names and number of the columns.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Its cells are not looked at.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is not allowed, or `interactions` names a column that is not there.
        """
        self._check_params()
        check_feature_names(self, X, reset=True)
        check_n_features(self, table_width(X), reset=True)
        self._terms(check_feature_names_in(self))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return what `transform` returns after `fit`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            As for `transform`.
        y : None
            Ignored.

        Returns
        -------
        csr_matrix or Rows of shape (n_samples, n_features)
        """
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        """Encode X.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Strings, numbers or other objects that have a text; after `fit`, with the columns that
            it saw.

        Returns
        -------
        csr_matrix or Rows of shape (n_samples, n_features)
            Columns ascending within rows.

        Raises
        ------
        ValueError
            If X is empty, not two-dimensional or has infinities; if it has other columns than
            `fit` has seen, or lacks one of `interactions`; for a missing value if
            `handle_missing` is "error".
        TypeError
            If X is sparse.
        """
        self._check_params()
        # What a step that shall be fitted no more was fitted with counts, else what X says.
        state = self if hasattr(self, "n_features_in_") else SimpleNamespace()
        check_feature_names(state, X, reset=state is not self)
        if state is self and hasattr(X, "shape"):
            check_n_features(self, table_shape(X)[1], reset=False)
        columns = coded_columns(X, self.n_jobs)
        check_n_features(state, len(columns), reset=state is not self)
        names = check_feature_names_in(state).tolist()
        terms = self._terms(names)
        tables = run(
            [
                lambda c=column, name=name, j=j: hash_table(c, name, self.handle_missing, j)
                for j, (column, name) in enumerate(zip(columns, names, strict=True))
            ],
            self.n_jobs,
        )
        signed = bool(self.alternate_sign) and not self.binary
        parts = hashed_parts(
            columns, tables, terms, int(self.n_features), (signed, bool(self.binary)), self.n_jobs
        )
        return signed_result(*parts, int(self.n_features), signed, self.dtype, self.output)

    def _terms(self, names: Any) -> Terms:
        """Return the columns and crosses that make the entries of a row."""
        names = list(names)
        terms = [[j] for j in range(len(names))] if self.main_effects else []
        known = set()
        places = places_by_name(names)
        for cross in self.interactions or ():
            members = self._members(cross, places, len(names))
            if frozenset(members) in known:
                raise ValueError(f"interactions has the columns {cross!r} twice.")
            known.add(frozenset(members))
            terms.append(members)
        if not terms:
            raise ValueError("main_effects=False needs interactions, got none.")
        ends = np.cumsum([len(term) for term in terms], dtype=np.int32)
        return Terms(np.concatenate(terms).astype(np.int32), ends)

    def _members(self, cross: Any, places: dict[str, list[int]], n_columns: int) -> list[int]:
        """Return the numbers of the columns of a cross."""
        if not isinstance(cross, (tuple, list)) or len(cross) < 2:
            raise ValueError(
                f"interactions must be tuples of two or more columns, got {shown(cross)}."
            )
        members = []
        for column in cross:
            if isinstance(column, str):
                if column not in places:
                    raise ValueError(
                        f"interactions names the column {column!r}, but X has "
                        f"{shown(list(places), 300)}."
                    )
                members.append(places[column][0])
            else:
                Integer(0, n_columns - 1).check("a column of interactions", column)
                members.append(int(column))
        if len(set(members)) < len(members):
            raise ValueError(f"interactions crosses a column with itself: {cross!r}.")
        return members

    def _feature_names_out(self, names: np.ndarray) -> np.ndarray:
        """Return names made of the class and the number of the column."""
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{j}" for j in range(int(self.n_features))], dtype=object)
