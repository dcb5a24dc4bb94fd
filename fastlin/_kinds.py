"""What kind of thing an argument is, told by its methods. Columns of a pandas frame are attributes
too, so one named "tocsr" must not make a sparse matrix of it: what counts has to be callable."""

from __future__ import annotations

from typing import Any

__all__ = ["is_sparse", "names_of_columns"]


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of scipy, or of a package that follows it."""
    return callable(getattr(X, "tocsr", None))


def names_of_columns(X: Any) -> list | None:
    """The names of the columns of a data frame, of whatever types; None of anything else."""
    if hasattr(X, "iloc") or hasattr(X, "get_columns"):
        names = getattr(X, "columns", None)
    else:
        # pyarrow's `columns` are the data, its `column_names` the names
        names = getattr(X, "column_names", None)
    return None if names is None or callable(names) else list(names)
