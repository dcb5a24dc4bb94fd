"""What the shell says of bad input, and that it then leaves nothing behind."""

import io
import sys
from argparse import Namespace

import pytest
from shell import TEXT_OPTIONS, refused, run, write_bytes, write_table

import fastlin
from fastlin import _cli_memory
from fastlin._cli_arguments import make_parser
from fastlin._cli_terminal import _OPTIONS, one_line
from fastlin._epochs import SHORTER_STEPS
from fastlin.cli import main

BAD = [
    (["train", "none.csv", "m", *TEXT_OPTIONS], "none.csv: No such file or directory"),
    (["cv", ".", *TEXT_OPTIONS, "--format", "csv"], "."),
    (["train", "spam.csv", "m"], "--label must name the column to predict; spam.csv has 'label',"),
    (["train", "spam.csv", "m", "--label", "label"], "say what to learn from: --text COL"),
    (["train", "spam.csv", "m", "--label", "kind", "--text", "text"],
     "spam.csv has no column 'kind'; its columns are 'label', 'text'"),
    (["train", "spam.csv", "m", "--label", "label", "--text", "body"],
     "spam.csv has no column 'body'; its columns are 'label', 'text'"),
    (["train", "spam.csv", "m", "--label", "label", "--numeric", "text"],
     "spam.csv, line 2: 'text' (column 2) must be a finite number, but it holds 'win a"),
    (["train", "spam.csv", "m", "--label", "text", "--text", "text"], "'text' is the label"),
    (["train", "spam.csv", "m", "--label", "label", "--text", "text", "--categorical", "text"],
     "'text' is named twice"),
    (["train", "spam.csv", "m", "--label", "label", "--numeric", "all", "--categorical", "all"],
     "cannot both be 'all'"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--loss", "huber"],
     "spam.csv, line 2: 'label' (column 1) must be a finite number, but it holds 'spam'"),
    (["train", "spam.csv", "-", *TEXT_OPTIONS], "MODEL must be a file, not standard output"),
    (["train", "spam.csv", "no/m", *TEXT_OPTIONS], "no/m: there is no folder"),
    (["train", "spam.csv", ".", *TEXT_OPTIONS], ". is a folder; MODEL must be a file"),
    (["train", "spam.csv", "spam.csv", *TEXT_OPTIONS], "must not be the file of the data"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--cv", "30"], "--cv must not be greater"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--cv", "1"], "--cv: must be an integer >= 2"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--alpha", "-1"], "--alpha: must be a number >= 0"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--alpha", "nan"], "--alpha: must be a number >= 0"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--epochs", "0"], "must be an integer >= 1"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--ngrams", "2,1"], "must have 1 <= MIN <= MAX"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--ngrams", "a"], "must be MIN,MAX"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--loss", "none"], "invalid choice: 'none'"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--n-features", "3000000000"],
     "--n-features must be an integer in [1, 2147483647], got 3000000000"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--n-jobs", "0", "--cv", "2"],
     "--n-jobs: must be a number of threads"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--l1-ratio", "0.5"], "needs --penalty elasticnet"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--penalty", "none", "--alpha", "1"],
     "--alpha is the strength of the penalty, but --penalty is none"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--epsilon", "1"], "--epsilon is for --loss huber"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--learner", "perceptron", "--loss", "hinge"],
     "--loss is for --learner sgd"),
    (["train", "spam.csv", "m", "--label", "label", "--categorical", "text", "--ngrams", "1,2"],
     "--ngrams needs --text"),
    (["train", "spam.csv", "m", "--label", "label", "--categorical", "a,,b"], "commas between"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--format", "svmlight"], "--label is for tables"),
    (["train", "spam.csv", "m", "--format", "svmlight"], "spam.csv, line 1"),
    (["train", "spam.csv", "m", *TEXT_OPTIONS, "--format", "jsonl"], "spam.csv, line 1"),
    (["train", "spam.csv"], "the following arguments are required: MODEL"),
    (["bake", "spam.csv"], "invalid choice: 'bake'"),
    ([], "required: COMMAND"),
    (["predict", "spam.csv", "spam.csv"], "spam.csv cannot be loaded: it is no model file"),
    (["predict", "spam.csv", "none"], "none: No such file or directory"),
    (["inspect", "none"], "none: No such file or directory"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=lambda value: " ".join(value)[:60]
                         if isinstance(value, list) else "")  # fmt: skip
def test_bad_input_is_one_line_and_leaves_nothing(folder, capsys, arguments, message):
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"label,text\nham,x\n,y\n", "a.csv, line 3: the label 'label' is missing"),
        ("a.csv", b"label,text\n", "a.csv has no rows after its header"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"label,text\nham,x\nham,y\n", "one class only, 'ham'"),
        ("a.csv", b"label,text\nham,x,y\n", "a.csv, line 2: 3 fields"),
        ("a.csv", b"label,text\nham,\xff\n", "a.csv, line 2: not UTF-8"),
        ("a.csv.gz", b"not compressed", "a.csv.gz can't be decompressed"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": null, "text": "z"}',
         "line 2: the label"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"text": "z"}', "line 2: the label"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": 1, "text": "z"}',
         "line 2: the label 'label' is a number, 1, where a string stood before"),
        ("a.jsonl", b'{"label": 0.5, "text": "y"}\n', "line 1: the label 'label' is no class: 0.5"),
        ("a.jsonl", b'{"label": [1], "text": "y"}\n', "the label 'label' is no class"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": "z", "text": 3}',
         "line 2: 'text' must be a text, but it holds 3"),
        ("a.jsonl", b'{"label": "x", "text": "y"}\n{"label": "z"}', "but it holds nothing"),
    ],
)  # fmt: skip
def test_bad_files_name_the_line(folder, capsys, name, content, message):
    with open(name, "wb") as stream:
        stream.write(content)
    assert message in refused(capsys, "train", name, "model", *TEXT_OPTIONS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 1:1\n0.5 2:1\n", "a.svm has the label 0.5, which is no class"),
        (b"1 1:1\n1 2:1\n", "a.svm has one class only, '1'"),
        (b"1 1:1\n2 2:nan\n", "a.svm, line 2"),
        (b"# nothing\n", "a.svm has no examples"),
    ],
)
def test_bad_svmlight(folder, capsys, content, message):
    write_bytes("a.svm", content)
    assert message in refused(capsys, "train", "a.svm", "model")


def test_bad_predictions(folder, capsys):
    run(capsys, "train", "spam.csv", "texts", *TEXT_OPTIONS, "--loss", "hinge")
    write_bytes("a.svm", b"1 1:1\n-1 5:1\n" * 5)
    run(capsys, "train", "a.svm", "numbers", "--loss", "squared_error")
    write_bytes("b.csv", b"words\nhello\n")
    fastlin.save(fastlin.HashingVectorizer(), "hashing")
    for arguments, message in [
        (["spam.csv", "texts", "--proba"], "texts has no probabilities; train it with --loss log"),
        (["a.svm", "numbers", "--proba"], "--proba is for models of classes; numbers predicts"),
        (["a.svm", "texts"], "trained on a table, but a.svm looks like svmlight"),
        (["spam.csv", "numbers"], "trained on numbered features, but spam.csv does not look like"),
        (["a.svm", "numbers", "--label", "y"], "DATA must be svmlight, without --text and --label"),
        (
            ["b.csv", "texts"],
            "b.csv has no column 'text'; its columns are 'words'. If each line is",
        ),
        (["spam.csv", "texts", "--label", "kind"], "spam.csv has no column 'kind'"),
        (["spam.csv", "texts", "--text", "text"], "--text is not needed"),
        (["spam.csv", "texts", "spam.csv"], "OUT must not be the file of the data"),
        (["spam.csv", "texts", "texts"], "OUT must not be the file of the data or of the model"),
        (["spam.csv", "texts", "no/out"], "No such file or directory"),
        (["spam.csv", "hashing"], "hashing holds a HashingVectorizer, which predicts nothing"),
        (["spam.csv", "texts", "--proba", "--decision"], "not allowed with argument"),
        (["spam.csv", "numbers", "--format", "text"], "DATA must be svmlight"),
    ]:
        assert message in refused(capsys, "predict", *arguments), arguments
    write_table("c.csv", ["x", "text", "label"], [("1", "a", "p"), ("2", "b", "q")] * 5)
    options = ["--label", "label", "--text", "text", "--numeric", "x"]
    run(capsys, "train", "c.csv", "both", *options)
    message = "both was not trained on texts alone"
    assert message in refused(capsys, "predict", "b.csv", "both", "--format", "text")
    write_bytes("bad.txt", b"fine\nnot \xff fine\n")
    assert "bad.txt, line 2: not UTF-8" in refused(
        capsys, "predict", "bad.txt", "texts", "--format", "text"
    )


TARGETS = [
    ("nan", "must be a finite number, but it holds 'nan'"),
    ("-inf", "must be a finite number, but it holds '-inf'"),
    ("foo", "must be a finite number, but it holds 'foo'"),
    ("1e300", "holds 1e+300, so large that sums of squares overflow: divide the targets"),
]


@pytest.mark.parametrize(("cell", "message"), TARGETS)
@pytest.mark.filterwarnings("error")
def test_bad_targets_are_the_same_errors_everywhere(folder, capsys, cell, message):
    options = ["--label", "y", "--numeric", "a", "--loss"]
    write_table("good.csv", ["y", "a"], [("1", "1"), ("2", "3"), ("", "5")])
    write_table("a.csv", ["y", "a"], [("1", "1"), ("2", "3")])
    write_table("bad.csv", ["y", "a"], [("", "1"), ("1", "1"), (cell, "3")])
    run(capsys, "train", "a.csv", "m", *options, "squared_error")
    err = run(capsys, "predict", "good.csv", "m").err
    assert "no score, since 'y' is empty in 1 of 3 rows" in err
    found = refused(capsys, "predict", "bad.csv", "m", "out")
    assert "bad.csv, line 4: 'y'" in found and message in found
    assert not (folder / "out").exists()
    write_table("bad.csv", ["y", "a"], [("1", "1"), (cell, "3")])
    for loss in ("squared_error", "huber", "quantile"):
        for more in (["--no-stream"], ["--stream"], ["--learner", "exact"]):
            if loss != "squared_error" and "exact" in more:
                continue
            found = refused(capsys, "train", "bad.csv", "n", *options, loss, *more)
            assert "bad.csv, line 3: 'y'" in found and message in found
    write_bytes("bad.svm", f"1 1:1\n{cell} 1:2\n".encode())
    write_bytes("a.svm", b"1 1:1\n2 1:2\n")
    run(capsys, "train", "a.svm", "s", "--loss", "squared_error")
    for command in (["predict", "bad.svm", "s"], ["train", "bad.svm", "n", "--loss", "huber"],
                    ["train", "bad.svm", "n", "--loss", "huber", "--stream"]):  # fmt: skip
        assert "bad.svm" in refused(capsys, *command)


def test_a_target_that_is_a_list_is_no_number(folder, capsys):
    write_bytes("a.jsonl", b'{"y": 1, "a": 1}\n{"y": 2, "a": 2}\n')
    run(capsys, "train", "a.jsonl", "m", "--label", "y", "--numeric", "a", "--loss", "huber")
    write_bytes("b.jsonl", b'{"y": 1, "a": 1}\n{"y": [1], "a": 2}\n')
    assert "b.jsonl, line 2: 'y' (column 1) must be a finite number, but it holds [1]" in refused(
        capsys, "predict", "b.jsonl", "m"
    )


@pytest.mark.parametrize("cell", ["", "x"])
def test_advice_on_cells_that_are_no_numbers(folder, capsys, cell):
    write_table("a.csv", ["y", "a"], [("p", "1"), ("q", "3")])
    write_table("b.csv", ["y", "a"], [("p", "1"), ("q", cell)])
    options = ["--label", "y", "--numeric", "a"]
    run(capsys, "train", "a.csv", "m", *options)
    for stream in ("--stream", "--no-stream"):
        err = refused(capsys, "train", "b.csv", "n", *options, stream)
        assert "; name it in --categorical if it holds categories." in err
    err = refused(capsys, "predict", "b.csv", "m")
    assert "b.csv, line 3: 'a' (column 2) must be a finite number, but it holds" in err
    assert "; the model learnt numbers there: fill one in, leave the row out, or train" in err


def test_unknown_categories_are_a_warning(folder, capsys):
    write_table("a.csv", ["y", "colour"], [("p", "red"), ("q", "blue")] * 5)
    run(capsys, "train", "a.csv", "model", "--label", "y", "--categorical", "colour")
    write_table("b.csv", ["colour"], [["green"], ["red"]])
    out, err = run(capsys, "predict", "b.csv", "model")
    assert out.split()[1] == "p"
    assert err.count("\n") == 1
    assert err.startswith("fastlin: warning: Found unknown categories ['green'] in column 0 ('colo")


def test_a_repeated_name_points_at_the_option(folder, capsys):
    write_bytes("twice.csv", b"a,a\n1,2\n")
    err = refused(capsys, "train", "twice.csv", "m", "--label", "a", "--text", "a")
    assert err.endswith("two columns have the name 'a'; if the first row is no header, say "
                        "--no-header.\n")  # fmt: skip


def test_names_of_the_users_are_not_taken_for_parameters():
    for text in ("a.csv has no column 'n_jobs'; its columns are 'alpha=1'", "x must be 'n_jobs=1'"):
        assert one_line(ValueError(text)) == text
    assert one_line(ValueError("alpha must be >= 0, got alpha=-1")) == (
        "--alpha must be >= 0, got --alpha -1"
    )
    for text in ("the columns B or C hold no numbers.", "classes must be C or alpha"):
        assert one_line(ValueError(text)) == text
    assert one_line(ValueError("raise max_iter, tol or the step; lower C or raise alpha.")) == (
        "raise --epochs, --tol or the step; lower --C or raise --alpha."
    )
    for name, option in _OPTIONS.items():
        assert option in _OPTION_STRINGS, name


_OPTION_STRINGS = {
    option
    for command in make_parser()._subparsers._group_actions[0].choices.values()
    for option in command._option_string_actions
}


@pytest.mark.parametrize("options", [[], ["--format", "csv"], TEXT_OPTIONS])
@pytest.mark.parametrize("command", ["train", "cv"])
def test_empty_standard_input_is_named(folder, capsys, monkeypatch, command, options):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))
    if "--format" in options:
        options = [*options, *TEXT_OPTIONS]
    model = ["model"] if command == "train" else []
    assert "standard input is empty" in refused(capsys, command, "-", *model, *options)


@pytest.mark.parametrize("options", [[], ["--format", "text"]])
@pytest.mark.parametrize("kind", ["texts", "numbers"])
def test_empty_data_to_predict_are_named(folder, capsys, monkeypatch, kind, options):
    run(capsys, "train", "spam.csv", "texts", *TEXT_OPTIONS)
    write_bytes("a.svm", b"1 1:1\n-1 5:1\n" * 5)
    run(capsys, "train", "a.svm", "numbers")
    write_bytes("empty", b"")
    options = options if kind == "texts" else []
    for data, name in (("empty", "empty"), ("-", "standard input")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b""))))
        assert f"{name} is empty" in refused(capsys, "predict", data, kind, *options)


@pytest.mark.parametrize("command", ["train", "cv"])
def test_a_model_that_memory_cannot_hold_is_refused(folder, capsys, monkeypatch, command):
    write_bytes("wide.svm", b"1 2147483646:1\n-1 1:1\n" * 3)
    model = ["model"] if command == "train" else []
    monkeypatch.setattr(_cli_memory, "available_memory", lambda: 40 * 10**9)
    err = refused(capsys, command, "wide.svm", *model, "--cv", "2")
    assert (
        "wide.svm has 2,147,483,647 columns: training needs 51.5 GB of memory, of which 40.0 GB "
        "are available; number the features without gaps, or say --no-average." in err
    )
    monkeypatch.setattr(_cli_memory, "available_memory", lambda: 10**6)
    err = refused(capsys, command, "wide.svm", *model, "--cv", "2")
    assert err.endswith("of which 1.0 MB are available; number the features without gaps.\n")
    err = refused(capsys, command, "spam.csv", *model, *TEXT_OPTIONS, "--cv", "2", "--n-jobs", "2")
    assert "has 262,144 columns: training needs 12.6 MB of memory" in err
    assert "set a smaller --n-features." in err


def test_available_memory_is_a_plausible_number():
    free = _cli_memory.available_memory()
    assert free is None or 10**6 < free < 10**15


def test_foreign_labels_are_named(folder, capsys):
    run(capsys, "train", "spam.csv", "model", *TEXT_OPTIONS)
    write_table("b.csv", ["label", "text"], [("1", "a prize"), ("0", "lunch"), ("2", "noon")])
    err = run(capsys, "predict", "b.csv", "model", "out").err
    assert err == (
        "fastlin: warning: no label of b.csv is one of the model's classes: it has '1', '0', ...; "
        "the model has 'ham', 'spam'\naccuracy 0.0000 (0 of 3 rows)\n"
    )
    write_table("c.csv", ["label", "text"], [("spam", "a prize"), ("0", "lunch")])
    assert run(capsys, "predict", "c.csv", "model", "out").err == "accuracy 0.5000 (1 of 2 rows)\n"


def test_a_table_without_a_header_is_noticed(folder, capsys):
    write_bytes("a.csv", b"M,0.4,15\nM,0.3,7\nF,0.5,9\n")
    err = refused(capsys, "train", "a.csv", "m", "--label", "15", "--numeric", "all")
    assert (
        "a.csv, line 2: 'M' (column 1) must be a finite number, but it holds 'M'; say --no-header "
        "if the first line holds data; name it in --categorical if it holds categories.\n" in err
    )
    options = ["--label", "2", "--numeric", "all", "--no-header"]
    err = refused(capsys, "train", "a.csv", "m", *options)
    assert "line 1: '0' (column 1) must be a finite number, but it holds 'M'; name it in" in err
    assert "--no-header" not in err


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"y;x\n1;2\n", "separated by ';': write the file with commas)"),
        (b"y;x\n1,5;2,5\n", "separated by ';': write the file with commas)"),
        (b"y\tx\n1\t2\n", "separated by tabs: --format 'tsv')"),
    ],
)
def test_other_delimiters_are_noticed(folder, capsys, content, hint):
    write_bytes("a.csv", content)
    for label in (["--label", "y"], []):
        assert hint in refused(capsys, "train", "a.csv", "m", *label, "--numeric", "x")
    write_bytes("b.tsv", content.replace(b";", b",").replace(b"\t", b","))
    err = refused(capsys, "train", "b.tsv", "m", "--label", "y", "--numeric", "x")
    assert "separated by commas: --format 'csv')" in err
    write_bytes("c.csv", b"y,a;b\n1,2\n")
    assert "separated" not in refused(capsys, "train", "c.csv", "m", "--label", "x")


def test_steps_that_are_too_long_are_told_once_in_options(folder, capsys):
    rows = [(i % 2, 1000 * (i % 7) + i, 5000 * (i % 3)) for i in range(60)]
    write_bytes("a.svm", "".join(f"{y} 1:{a} 2:{b}\n" for y, a, b in rows).encode())
    options = ["--loss", "squared_error", "--eta0", "1", "--learning-rate", "constant"]
    err = run(capsys, "cv", "a.svm", *options).err
    assert err.count("\n") == 1 and err.startswith("fastlin: warning: SGDRegressor ended at a mean")
    assert "lower --eta0 with --learning-rate invscaling, or a higher --alpha" in err
    assert err.endswith("(in 5 of 5 folds)\n")
    err = run(capsys, "cv", "a.svm", *options, "--alpha", "1e-5,1e-4", "--cv", "3").err
    assert err.count("\n") == 1 and err.endswith("(in 6 of 6 trainings)\n")


def test_options_of_the_steps_reach_the_learner(folder, capsys):
    options = ["--eta0", "0.25", "--learning-rate", "constant"]
    run(capsys, "train", "spam.csv", "m", *TEXT_OPTIONS, *options)
    learner = fastlin.load("m").steps[-1][1]
    assert (learner.eta0, learner.learning_rate) == (0.25, "constant")
    run(capsys, "train", "spam.csv", "m", *TEXT_OPTIONS, "--learner", "perceptron", *options[:2])
    assert fastlin.load("m").steps[-1][1].eta0 == 0.25
    write_bytes("a.svm", b"1 1:1\n-3 2:1\n" * 9)
    run(capsys, "train", "a.svm", "m", "--loss", "huber", "--eta0", "0.125")
    assert fastlin.load("m").eta0 == 0.125
    for arguments, message in [
        (["--eta0", "0"], "--eta0: must be a number > 0, got '0'"),
        (["--eta0", "nan"], "--eta0: must be a number > 0, got 'nan'"),
        (options[:2], "--eta0 has no effect with --learning-rate optimal, the default for classes"),
        ([*options[:2], "--learning-rate", "optimal"], "with --learning-rate optimal; say --learn"),
        (["--learner", "perceptron", *options[2:]], "--learning-rate is for --learner sgd"),
    ]:
        assert message in refused(capsys, "train", "spam.csv", "n", *TEXT_OPTIONS, *arguments)


def test_features_of_svmlight_are_counted_by_index(folder, capsys):
    write_bytes("a.svm", b"1 1:1 2:1\n-1 3:1\n" * 9)
    run(capsys, "train", "a.svm", "m")
    assert "indices up to 3, of which 3 have a weight\n" in run(capsys, "inspect", "m").out


def test_messages_name_some_of_many_columns(folder, capsys):
    header = ",".join(f"c{j}" for j in range(20_000))
    (folder / "wide.csv").write_text(f"{header}\n{header}\n")
    said = refused(capsys, "train", "wide.csv", "m")
    assert "'c0', 'c1'" in said and "... (20000 in all)" in said and len(said) < 1000


def test_to_scale_is_no_advice_where_it_was_done():
    error = ValueError(f"The loss grew. {SHORTER_STEPS}")
    unscaled = one_line(error, Namespace(text=None, categorical=None, numeric=None))
    assert unscaled == one_line(error)
    assert unscaled.startswith("The loss grew. Scale the features, as --numeric does")
    for given in ({"numeric": "all"}, {"text": "t"}, {"categorical": ["c"]}):
        args = Namespace(**{"text": None, "categorical": None, "numeric": None, **given})
        assert one_line(error, args).startswith("The loss grew. Take shorter steps: a lower --eta0")


def test_warnings_of_training_know_what_was_scaled(folder, capsys):
    rows = "".join(f"{'aab'[k % 3]},{k % 7}\n" for k in range(60))
    write_bytes("n.csv", b"y,x\n" + rows.encode())
    for command in (["train", "n.csv", "m"], ["cv", "n.csv"]):
        main([*command, "--label", "y", "--numeric", "x", "--loss", "hinge",
              "--eta0", "1e4", "--learning-rate", "constant"])  # fmt: skip
        err = capsys.readouterr().err
        assert "shorter steps: a lower --eta0" in err
        assert "--numeric" not in err
