from . import datasets as datasets
from . import model_selection as model_selection
from ._data import Rows as Rows
from ._data import as_rows as as_rows
from ._exceptions import ConvergenceWarning as ConvergenceWarning
from ._exceptions import DataConversionWarning as DataConversionWarning
from ._exceptions import InvalidParameterError as InvalidParameterError
from ._exceptions import NotFittedError as NotFittedError
from .categories import OneHotEncoder as OneHotEncoder
from .io import dump_svmlight_file as dump_svmlight_file
from .io import load_svmlight_file as load_svmlight_file
from .passive_aggressive import PassiveAggressiveClassifier as PassiveAggressiveClassifier
from .passive_aggressive import PassiveAggressiveRegressor as PassiveAggressiveRegressor
from .perceptron import Perceptron as Perceptron
from .persist import load as load
from .persist import save as save
from .pipeline import Pipeline as Pipeline
from .pipeline import make_pipeline as make_pipeline
from .sgd import SGDClassifier as SGDClassifier
from .sgd import SGDRegressor as SGDRegressor
from .text import HashingVectorizer as HashingVectorizer

__version__: str
