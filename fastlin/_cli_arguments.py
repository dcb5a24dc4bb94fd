"""The commands of the shell and their options."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from . import __version__
from ._decimal import number_of, whole_of
from ._delimited import first_repeated
from ._reductions import JOINT
from ._sgd import MARGIN_LOSSES, TARGET_LOSSES

__all__ = ["DEFAULTS", "EXACT_LOSSES", "make_parser", "option_of", "value_of"]

EXACT_LOSSES = (
    "log_loss", "hinge", "squared_hinge", "sparsemax", "squared_error", "epsilon_insensitive",
    "squared_epsilon_insensitive",
)  # fmt: skip

# The defaults of options that are None unless given, so that one that has no effect is refused.
# Alpha, averaging and the n-grams suit sparse data: on nine sets of texts and categories no other
# alpha from 1e-6 to 1e-4 had both better accuracies and better probabilities.
DEFAULTS: dict[str, Any] = {
    "loss": "log_loss",
    "penalty": "l2",
    "alpha": 3e-6,
    "l1_ratio": 0.15,
    "epsilon": 0.1,
    "quantile": 0.5,
    "epochs": 20,
    "average": True,
    "ngrams": (1, 2),
    "n_features": 2**18,
}

_EXAMPLES = """\
examples:
  fastlin demo
  fastlin cv messages.csv --label label --text text
  fastlin cv messages.csv --label label --text text --alpha 1e-6,1e-5,1e-4 --plot alpha.png
  fastlin train messages.csv spam.fastlin --label label --text text --cv 5
  fastlin predict new.csv spam.fastlin answers.txt --proba
  echo "win a prize" | fastlin predict - spam.fastlin --format text
  fastlin inspect spam.fastlin --top 20
  fastlin train data.svm.xz model.fastlin --loss hinge --alpha 1e-5
  fastlin cv data.svm --learner exact --loss squared_hinge --C 0.01,0.1,1
  fastlin convert data.csv data.svm.gz --label label --text text --classes ham,spam
  fastlin train houses.csv price.fastlin --label price --numeric all --loss huber

DATA is svmlight, CSV, TSV, JSON lines or Parquet (.svm, .csv, .tsv, .jsonl, .parquet), but for the
last also compressed (.gz, .bz2, .xz); "-" is standard input. train reads a file that is large for
this machine in blocks (--stream) and learns in bounded memory. "fastlin COMMAND --help" lists the
options of a command."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, where help is, and end."""
        print(f"{self.prog}: error: {message} (see {self.prog} --help)", file=sys.stderr)
        sys.exit(2)


def option_of(name: str) -> str:
    """Return an option as it is typed."""
    return "--" + name.replace("_", "-")


def value_of(args: argparse.Namespace, name: str) -> Any:
    """Return an option, or its default if it was not given."""
    given = getattr(args, name)
    return DEFAULTS[name] if given is None else given


def _names(text: str) -> list[str] | str:
    """Parse a list of column names; quotes protect commas."""
    names = _split(text)
    if not names or "" in names:
        raise argparse.ArgumentTypeError("must be names with commas between them, or 'all'")
    return "all" if names == ["all"] else names


def _classes(text: str) -> list[str]:
    """Parse a list of labels; quotes protect commas."""
    labels = _split(text)
    if not labels or "" in labels:
        raise argparse.ArgumentTypeError("must be labels with commas between them")
    repeated = first_repeated(labels)
    if repeated is not None:
        raise argparse.ArgumentTypeError(f"must have each label once, got {repeated!r} twice")
    return labels


def _split(text: str) -> list[str]:
    """Take a line of CSV apart."""
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        raise argparse.ArgumentTypeError(f"{error}, got {text!r}") from None


def _ngrams(text: str) -> tuple[int, int]:
    """Parse a range of lengths."""
    parts = text.split(",")
    if len(parts) > 2 or not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"must be MIN,MAX, such as 1,2, got {text!r}")
    shortest, longest = int(parts[0]), int(parts[-1])
    if not 1 <= shortest <= longest:
        raise argparse.ArgumentTypeError(f"must have 1 <= MIN <= MAX, got {text!r}")
    return shortest, longest


def _at_least(lowest: int) -> Any:
    """Return a parser of integers that are not below a bound."""

    def parse(text: str) -> int:
        """Parse one."""
        try:
            value = whole_of(text)
        except ValueError:
            value = lowest - 1
        if value < lowest:
            raise argparse.ArgumentTypeError(f"must be an integer >= {lowest}, got {text!r}")
        return value

    return parse


def _n_jobs(text: str) -> int:
    """Parse a number of threads."""
    try:
        value = whole_of(text)
    except ValueError:
        value = 0
    if value == 0:
        raise argparse.ArgumentTypeError(
            "must be a number of threads, or a negative number that counts back from the number "
            f"of cores (-1: all of them), got {text!r}"
        )
    return value


def _not_negative(text: str) -> float:
    """Parse a finite number >= 0."""
    try:
        value = number_of(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number >= 0, got {text!r}")
    return value


def _several(parse: Callable[[str], float]) -> Callable[[str], list[float]]:
    """Return a parser of one or more different numbers."""

    def parse_all(text: str) -> list[float]:
        """Parse them."""
        values = [parse(part) for part in text.split(",")]
        if len(set(values)) < len(values):
            raise argparse.ArgumentTypeError(f"must be different numbers, got {text!r}")
        return values

    return parse_all


def _positive(text: str) -> float:
    """Parse a finite number > 0."""
    try:
        value = _not_negative(text)
    except argparse.ArgumentTypeError:
        value = 0.0
    if not value:
        raise argparse.ArgumentTypeError(f"must be a number > 0, got {text!r}")
    return value


def _share(text: str) -> float:
    """Parse a number in [0, 1]."""
    value = _not_negative(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"must be a number in [0, 1], got {text!r}")
    return value


def _add_file_options(parser: argparse.ArgumentParser, formats: tuple[str, ...], more: str) -> None:
    """Add what says how DATA is read."""
    group = parser.add_argument_group("the file")
    group.add_argument(
        "--format",
        choices=formats,
        help=f"format of the file that is read (default: by its name, else by its content){more}",
    )
    group.add_argument(
        "--no-header",
        action="store_true",
        help='the first line of CSV or TSV holds data; columns are "0", "1", ...',
    )


def _add_column_options(parser: argparse.ArgumentParser, numbers: str = "standardised") -> None:
    """Add what says which column is what."""
    group = parser.add_argument_group(
        "columns of a table", "CSV, TSV and JSON lines; svmlight needs none of these."
    )
    group.add_argument("--label", metavar="COL", help="the column to predict")
    group.add_argument("--text", metavar="COL", help="a column of texts, hashed as word n-grams")
    group.add_argument(
        "--categorical",
        metavar="COL,...",
        type=_names,
        help='columns of categories, or "all" for all that are not used otherwise',
    )
    group.add_argument(
        "--numeric",
        metavar="COL,...",
        type=_names,
        help=f'columns of numbers, which are {numbers}, or "all"',
    )
    group.add_argument(
        "--ngrams",
        metavar="MIN,MAX",
        type=_ngrams,
        help="lengths of the word n-grams (default: 1,2)",
    )
    group.add_argument(
        "--n-features",
        metavar="N",
        type=_at_least(1),
        help=f"columns that n-grams are hashed to (default: {DEFAULTS['n_features']})",
    )


def _add_strengths(group: Any, several: bool) -> None:
    """Add how strong the penalty is."""
    or_more = ", or several, with commas between them, to choose from" if several else ""
    group.add_argument(
        "--alpha",
        metavar="A,..." if several else "A",
        type=_several(_not_negative) if several else _not_negative,
        help=f"strength of the penalty{or_more} (default: {DEFAULTS['alpha']:g}; for numbers with "
        "a loss that is linear far out, that times its slope over the spread of the target; 1 for "
        "the exact learner of squared_error)",
    )
    group.add_argument(
        "--C",
        metavar="C,..." if several else "C",
        type=_several(_positive) if several else _positive,
        help="weight of the sum of the losses against the penalty, for the other exact learners"
        f"{or_more} (default: 1)",
    )


def _add_learner_options(parser: argparse.ArgumentParser, several: bool) -> None:
    """Add what says how is learnt."""
    group = parser.add_argument_group("learning")
    group.add_argument(
        "--learner",
        choices=("sgd", "perceptron", "exact"),
        default="sgd",
        help="stochastic gradient descent, the perceptron, or exact: to the optimum, with its "
        "duality gap (default: sgd)",
    )
    group.add_argument(
        "--loss",
        metavar="L",
        choices=(*MARGIN_LOSSES, *TARGET_LOSSES),
        help=f"for classes: {', '.join(MARGIN_LOSSES)}; for numbers (regression): "
        f"{', '.join(TARGET_LOSSES)} (default: {DEFAULTS['loss']}); exact learners have "
        f"{', '.join(EXACT_LOSSES)}",
    )
    group.add_argument(
        "--penalty",
        metavar="P",
        choices=("l2", "l1", "elasticnet", "none"),
        help="l2, l1, elasticnet or none (default: l2; none for the perceptron)",
    )
    _add_strengths(group, several)
    group.add_argument(
        "--l1-ratio",
        metavar="R",
        type=_share,
        help=f"share of l1 in elasticnet (default: {DEFAULTS['l1_ratio']})",
    )
    group.add_argument(
        "--epsilon",
        metavar="E",
        type=_not_negative,
        help="width of huber and the epsilon_insensitive losses, in units of the target "
        f"(default: {DEFAULTS['epsilon']})",
    )
    group.add_argument(
        "--multi-class",
        metavar="M",
        choices=("ovr", *JOINT, "ovo", "ecoc"),
        help="how several classes are learnt: each against the rest (ovr), each pair (ovo), by an "
        "error-correcting code (ecoc), or together (joint; multinomial and crammer_singer are the "
        "same) (default: ovr; joint for the perceptron and exact log_loss)",
    )
    group.add_argument(
        "--quantile",
        metavar="Q",
        type=_share,
        help=f"the quantile that the loss quantile estimates (default: {DEFAULTS['quantile']})",
    )


def _add_step_options(group: Any) -> None:
    """Add what says how long the steps are."""
    group.add_argument(
        "--eta0",
        metavar="E",
        type=_positive,
        help="length of the first steps (default: fits the spread of the target for numbers; 1 for "
        "the perceptron; not for the learning rate optimal)",
    )
    group.add_argument(
        "--learning-rate",
        metavar="R",
        choices=("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2"),
        help="how steps shrink: constant, optimal, invscaling, adaptive, pa1 or pa2 (default: "
        "optimal for classes, invscaling for numbers)",
    )


def _add_training_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how long and in which order is trained."""
    group = parser.add_argument_group("training")
    group.add_argument(
        "--epochs",
        "--max-iter",
        metavar="N",
        type=_at_least(1),
        help=f"passes over the data (default: {DEFAULTS['epochs']}); for exact learners the most "
        "iterations",
    )
    group.add_argument(
        "--tol",
        metavar="T",
        type=_positive,
        help="relative duality gap at which an exact learner has arrived (default: 1e-4; 1e-6 "
        "for squared_error without a penalty)",
    )
    _add_step_options(group)
    group.add_argument(
        "--average",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="keep the mean of the weights after each step (default: yes)",
    )
    group.add_argument(
        "--seed",
        metavar="N",
        type=_at_least(0),
        default=0,
        help="seed of the order of rows and of the folds (default: 0)",
    )
    group.add_argument(
        "--n-jobs",
        metavar="N",
        type=_n_jobs,
        help="threads over folds and classes; -1 is all cores (default: 1)",
    )


_ALL_FORMATS = ("svmlight", "csv", "tsv", "jsonl", "parquet")
_DATA_TO_LEARN = 'the file to learn from; "-" is standard input'


def _add_training(commands: Any) -> None:
    """Add the commands that learn."""
    train = commands.add_parser("train", help="learn a model from data and store it")
    train.add_argument("data", metavar="DATA", help=_DATA_TO_LEARN)
    train.add_argument("model", metavar="MODEL", help="the file to write")
    help_cv = "also print the score of K-fold cross-validation"
    train.add_argument("--cv", metavar="K", type=_at_least(2), help=help_cv)
    train.add_argument(
        "--stream",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="learn from blocks of rows that wait on disk between epochs, in bounded memory "
        "(default: if DATA is a file that is large for the memory of this machine)",
    )
    train.add_argument(
        "--cache-dir",
        metavar="DIR",
        help="where the rows of --stream wait, in a file that nothing outlasts (default: the "
        "system's folder for temporary files)",
    )

    cv = commands.add_parser("cv", help="cross-validate: how well would a model predict?")
    cv.add_argument("data", metavar="DATA", help=_DATA_TO_LEARN)
    help_cv = "number of folds (default: 5)"
    cv.add_argument("--cv", metavar="K", type=_at_least(2), default=5, help=help_cv)
    cv.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the scores over --alpha, or over the number of rows to train on where that has "
        "one value, to a file (.png, .svg, .pdf ...); needs matplotlib",
    )
    for command in (train, cv):
        _add_column_options(command)
        _add_learner_options(command, several=command is cv)
        _add_training_options(command)
        _add_file_options(command, _ALL_FORMATS, "")


def _add_predict(commands: Any) -> None:
    """Add the command that predicts."""
    predict = commands.add_parser("predict", help="predict with a stored model")
    predict.add_argument("data", metavar="DATA", help='the file to predict; "-" is standard input')
    predict.add_argument("model", metavar="MODEL", help="a file that train has written")
    help_out = "the file to write (default: standard output)"
    predict.add_argument("out", metavar="OUT", nargs="?", default="-", help=help_out)
    kind = predict.add_mutually_exclusive_group()
    kind.add_argument("--proba", action="store_true", help="add the probability of each class")
    kind.add_argument("--decision", action="store_true", help="add the decision values")
    predict.add_argument(
        "--label",
        metavar="COL",
        help="the column with the right answers, if there is one: the score is printed on standard "
        "error (default: the label of the training)",
    )
    help_text = "the column of texts, for a model that was not trained by this shell"
    predict.add_argument("--text", metavar="COL", help=help_text)
    help_more = "; text: each line is one text, for models of texts"
    _add_file_options(predict, (*_ALL_FORMATS, "text"), help_more)


def _add_convert(commands: Any) -> None:
    """Add the command that writes data in another format."""
    convert = commands.add_parser(
        "convert",
        help="write data in another format",
        description="A table becomes another as it is: its cells stay text, but for columns that "
        "--numeric names. It becomes svmlight by the columns that are named, with indices from 1: "
        "a column per category of IN (so convert training and test data as one file), numbers as "
        "they are, hashed n-grams of texts. svmlight becomes a table of the columns label, 0, 1, "
        "... (no query ids, no comments). OUT appears complete or not at all.",
    )
    convert.add_argument("data", metavar="IN", help='the file to read; "-" is standard input')
    convert.add_argument("out", metavar="OUT", help='the file to write; "-" is standard output')
    convert.add_argument(
        "--to",
        choices=_ALL_FORMATS[:-1],
        help="format of OUT (default: by its name); .gz, .bz2 and .xz are compressed",
    )
    _add_column_options(convert, "kept as they are")
    convert.add_argument(
        "--classes",
        metavar="A,...",
        type=_classes,
        help="the labels of a table in the order of their numbers in svmlight, from 0",
    )
    _add_file_options(convert, _ALL_FORMATS, "")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = _Parser(
        prog="fastlin",
        description="Fast linear learners for large sparse data.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"fastlin {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_training(commands)
    _add_predict(commands)
    _add_convert(commands)
    inspect = commands.add_parser("inspect", help="say what a model is and what it has learnt")
    inspect.add_argument("model", metavar="MODEL", help="a file that train has written")
    help_top = "how many of the strongest features to list (default: 10)"
    inspect.add_argument("--top", metavar="N", type=_at_least(0), default=10, help=help_top)
    commands.add_parser("demo", help="learn from two small data sets that come with fastlin")
    return parser
