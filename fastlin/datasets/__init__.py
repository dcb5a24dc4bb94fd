"""Two small real data sets, so that examples need neither a download nor scikit-learn.

sms_spam.jsonl
    SMS Spam Collection v.1, UCI Machine Learning Repository, doi:10.24432/C5CC84; unchanged but for
    its form, JSON lines instead of tabs. CC BY 4.0 (UCI); free to use with a reference to the paper
    of its authors (their readme): T. A. Almeida, J. M. Gomez Hidalgo, A. Yamakami, "Contributions
    to the Study of SMS Spam Filtering: New Collection and Results", Proceedings of the 2011 ACM
    Symposium on Document Engineering (DocEng'11), 2011.
mushrooms.csv
    Mushroom, UCI Machine Learning Repository, doi:10.24432/C5959T; the letters of the original are
    spelt out by its own table of attributes. CC BY 4.0. Drawn from G. H. Lincoff (editor), "The
    Audubon Society Field Guide to North American Mushrooms", Knopf, 1981, by J. C. Schlimmer,
    "Concept Acquisition Through Representational Adjustment", PhD thesis, University of California,
    Irvine, 1987.
"""

from __future__ import annotations

import importlib
import importlib.resources
from typing import Any, NamedTuple

import numpy as np

from ..io import Table, read_table

__all__ = ["Dataset", "load_mushrooms", "load_sms_spam"]


class Dataset(NamedTuple):
    """A data set in memory.

    Attributes
    ----------
    data : list of str, ndarray or DataFrame
        The examples.
    target : ndarray or Series
        Their labels, as strings.
    feature_names : list of str or None
        Names of the columns of `data`; None for texts.
    target_names : list of str
        The labels that occur, sorted.
    DESCR : str
        What the data are, where they come from, and under which licence.
    """

    data: Any
    target: Any
    feature_names: list[str] | None
    target_names: list[str]
    DESCR: str

    def __repr__(self) -> str:
        return f"<Dataset of {len(self.target)} examples, labels {', '.join(self.target_names)}>"


def _read(file: str, format: str) -> Table:
    """Read one of the files of this package."""
    resource = importlib.resources.files(__package__).joinpath(file)
    with importlib.resources.as_file(resource) as path:
        return read_table(path, format)


def load_sms_spam(*, return_X_y: bool = False) -> Any:
    """Load the SMS Spam Collection: 5,574 text messages in English, 747 of them spam.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.

    Returns
    -------
    Dataset
        `data` is a list of str, `target` an array of the strings "ham" and "spam".

    References
    ----------
    T. A. Almeida, J. M. Gomez Hidalgo, A. Yamakami, "Contributions to the Study of SMS Spam
    Filtering: New Collection and Results", DocEng'11, 2011. Data: doi:10.24432/C5CC84, CC BY 4.0.

    Examples
    --------
    >>> from fastlin.datasets import load_sms_spam
    >>> sms = load_sms_spam()
    >>> sms
    <Dataset of 5574 examples, labels ham, spam>
    >>> sms.data[1], str(sms.target[1])
    ('Ok lar... Joking wif u oni...', 'ham')
    """
    table = _read("sms_spam.jsonl.xz", "jsonl")
    data, target = table.column("text"), np.array(table.column("label"))
    if return_X_y:
        return data, target
    description = (
        "SMS Spam Collection v.1: 5,574 text messages in English, 4,827 ham and 747 spam, "
        "collected by T. A. Almeida, J. M. Gomez Hidalgo and A. Yamakami (DocEng'11, 2011).\n"
        "UCI Machine Learning Repository, doi:10.24432/C5CC84. Licence: CC BY 4.0."
    )
    return Dataset(data, target, None, ["ham", "spam"], description)


def load_mushrooms(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load the mushrooms of the Audubon Society's field guide: 8,124 of them, 22 features each.

    All features are categorical. Hypothetical samples of 23 species of gilled mushrooms; one rule
    on odour alone gets 98.5 % right, and the classes are separable by a plane in one-hot
    coordinates.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` only.
    as_frame : bool, default=False
        Whether `data` is a pandas DataFrame and `target` a Series; needs pandas.

    Returns
    -------
    Dataset
        `data` is an array of strings of shape (8124, 22), dtype object, `target` an array of the
        strings "edible" and "poisonous". Where the root of the stalk was not recorded, it is
        "missing".

    References
    ----------
    J. C. Schlimmer, "Concept Acquisition Through Representational Adjustment", PhD thesis,
    University of California, Irvine, 1987. Data: doi:10.24432/C5959T, CC BY 4.0.

    Examples
    --------
    >>> from fastlin.datasets import load_mushrooms
    >>> mushrooms = load_mushrooms()
    >>> mushrooms
    <Dataset of 8124 examples, labels edible, poisonous>
    >>> mushrooms.feature_names[4], mushrooms.data[0, 4], str(mushrooms.target[0])
    ('odor', 'pungent', 'poisonous')
    """
    table = _read("mushrooms.csv.xz", "csv")
    names = [name for name in table.columns if name != "class"]
    target: Any = np.array(table.column("class"))
    data: Any = np.array([table.columns[name] for name in names], dtype=object).T.copy()
    if as_frame:
        pandas = importlib.import_module("pandas")
        data, target = pandas.DataFrame(data, columns=names), pandas.Series(target, name="class")
    if return_X_y:
        return data, target
    description = (
        "Mushroom: 8,124 samples of 23 species in the families Agaricus and Lepiota, 4,208 edible "
        "and 3,916 poisonous (or not recommended), 22 categorical features, drawn by J. C. "
        "Schlimmer (1987) from The Audubon Society Field Guide to North American Mushrooms "
        "(1981).\n"
        "UCI Machine Learning Repository, doi:10.24432/C5959T; letters spelt out. Licence: CC BY "
        "4.0."
    )
    return Dataset(data, target, names, ["edible", "poisonous"], description)
