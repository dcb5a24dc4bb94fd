"""The svmlight parser against a slow one: numbers, structure, buffers of every size."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from svmlight_reference import SAMPLE, check_against_reference, parsed

from fastlin import _svmlight
from fastlin._core import multi, parse
from fastlin._isa import ISA
from fastlin.io import load_svmlight_file

# numbers


ODD_WORDS = [
    "0", "-0", "0.0", "-0.0e5", "00012", "1.", ".1", "+.5", "1e0", "1E+05", "1e-5",
    "9007199254740993", "9007199254740992", "9007199254740991", "18446744073709551615",
    "18446744073709551616", "9999999999999999999", "99999999999999999999", "1e22", "1e23",
    "5e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1e-400", "1e-27",
    "2.2250738585072014e-308", "2.225073858507201e-308", "1.7976931348623157e308",
    "0." + "0" * 400 + "1e400", "1" + "0" * 300, "0.000000000000000000000000001", "8.5",
    "4503599627370497.5", "4503599627370498.5", "1e99999999999999999999",
    "0e99999999999999999999", "1" * 19, "1" * 20, "0." + "1" * 19, "123." + "4" * 60,
]  # fmt: skip


def decimals():
    """Decimal strings of every kind: short, long, denormal, near halfway, with odd zeros."""
    rng = np.random.default_rng(0)
    words = [w for w in ODD_WORDS if not np.isinf(float(w))]
    bits = rng.integers(0, 2**63, 4000, dtype=np.uint64)
    floats = bits.view(np.float64)
    floats = floats[np.isfinite(floats)]
    words += [repr(v) for v in floats.tolist()]
    words += [f"{v:.{d}g}" for v, d in zip(rng.normal(size=3000), rng.integers(1, 21, 3000))]
    words += [f"{v:.{d}e}" for v, d in zip(rng.lognormal(0, 12, 3000), rng.integers(0, 20, 3000))]
    for digits, point, power in zip(
        rng.integers(1, 25, 6000), rng.integers(0, 25, 6000), rng.integers(-40, 40, 6000)
    ):
        text = "".join(map(str, rng.integers(0, 10, digits)))
        words.append(f"{text[:point]}.{text[point:]}e{power}")
        words.append(text + "0" * int(point))
    # Halfway between two doubles, and one digit to either side of it.
    for m in rng.integers(2**52, 2**53, 300).tolist():
        half = str((2 * m + 1) * 5**20)
        words += [
            f"{half}e-20",
            f"{half[:-1]}{int(half[-1]) - 1}e-20",
            f"{half}1e-21",
            str(2 * m + 1),
        ]
    return words


def test_numbers_are_those_of_python():
    words = decimals()
    text = "".join(f"{w} 0:{w} 1:-{w.lstrip('+-')}\n" for w in words).encode()
    contents = parsed(text)
    expected = np.array([float(w) for w in words])
    negative = np.array([-float(w.lstrip("+-")) for w in words])
    for found, right in (
        (contents.labels, expected),
        (contents.values[::2], expected),
        (contents.values[1::2], negative),
    ):
        wrong = np.flatnonzero(found.view(np.int64) != right.view(np.int64))
        assert len(wrong) == 0, words[wrong[0]]


def test_plain_numbers_round_as_those_of_python():
    rng = np.random.default_rng(1)
    words = [f"{v:.{d}f}" for v, d in zip(rng.random(6000) * 10, rng.integers(0, 21, 6000))]
    words += [f"{v:.{d}f}" for v, d in zip(rng.random(3000) / 50, rng.integers(14, 21, 3000))]
    # as near to the middle between two doubles as 18 decimals come, and one unit to either side
    for v in rng.random(2000).tolist():
        numerator, denominator = v.as_integer_ratio()
        middle = (2 * numerator * 2**60 // denominator + 2**7) * 10**18 // 2**61
        words += [f"0.{middle + step:018d}" for step in (-1, 0, 1)]
    found = parsed("".join(f"0 12:{word} 345678:-{word}\n" for word in words).encode()).values
    right = np.array([float(word) for word in words])
    assert found[::2].tolist() == right.tolist()
    assert found[1::2].tolist() == (-right).tolist()


def odd_entries(rng):
    """An entry that is plain or all but plain, at a point anywhere."""
    digits = "".join(map(str, rng.integers(0, 10, rng.integers(1, 26))))
    point = int(rng.integers(0, len(digits) + 1))
    number = digits if rng.random() < 0.2 else f"{digits[:point]}.{digits[point:]}"
    if rng.random() < 0.1:
        number = f"1{number}" if rng.random() < 0.5 else f"0.000{digits}"
    if rng.random() < 0.05:
        number += "e-7"
    index = int(rng.integers(1, 10 ** int(rng.integers(1, 10))))
    return f"{index}:{'-' if rng.random() < 0.3 else ''}{number}"


def test_entries_of_every_length_with_the_point_anywhere():
    rng = np.random.default_rng(5)
    lines, expected = [], []
    for _ in range(700):
        entries = {e.partition(":")[0]: e for e in (odd_entries(rng) for _ in range(30))}
        end = ("\n", "\r\n", " \n", " # 1:2\n")[rng.integers(4)]
        lines.append(f"1 {(' ', '  ')[int(rng.random() < 0.1)].join(entries.values())}{end}")
        row = sorted((int(e.partition(":")[0]), float(e.partition(":")[2]))
                     for e in entries.values())
        expected += row
    contents = parsed("".join(lines).encode())
    assert contents.columns.tolist() == [column for column, _ in expected]
    right = np.array([value for _, value in expected])
    wrong = np.flatnonzero(contents.values.view(np.int64) != right.view(np.int64))
    assert len(wrong) == 0, (right[wrong[0]], contents.values[wrong[0]])


USUAL = ["0.123456", "9.5", "1", "-0.25", "17.125", "1234567", "0.12345678901234567",
         "-3.1415926535897931", "123456.78901234567"]  # fmt: skip
ODD = ["", ".", "-", "-.", "5.", ".5", "-7.", "--1", "1.2.3", "0..1", "1:2", "1-2", "-0.1234567",
       "0.1234567", "123456789012345", "1234567890.12345", "9" * 31, f"0.{'1' * 30}",
       "1e2"]  # fmt: skip


@pytest.mark.parametrize("usual", USUAL)
def test_one_entry_of_another_kind_anywhere_in_a_row(usual):
    """Rows of up to two batches: what they hold, or the message that one entry deserves."""
    for n in (1, 5, 7, 8, 9, 13, 16, 17):
        places = range(n) if n == 9 else (n - 1,)
        for place, odd in itertools.product(places, [*USUAL, *ODD]):
            words = [odd if k == place else usual for k in range(n)]
            first = 12345678 if odd == USUAL[0] else 1  # indices of eight digits
            row = " ".join(f"{first + k}:{word}" for k, word in enumerate(words))
            text = f"1 {row}\n-1 3:4\n".encode()
            try:
                right = [*map(float, words), 4.0]
            except ValueError:
                with pytest.raises(ValueError, match="line 1: .* is not a number") as caught:
                    parsed(text, 1 << 10, 32)
                assert f"'{first + place}:{odd}'" in str(caught.value)
                continue
            contents = parsed(text, 1 << 10, 32)
            assert contents.values.tolist() == right
            assert contents.columns.tolist() == [*range(first, first + n), 3]
            assert contents.row_ends.tolist() == [n, n + 1]


def test_many_blanks_between_entries():
    for n in (1, 33, 64, 200):
        text = f"# {'x' * 60}\n1 1:1 2:2.5{' ' * n}3:3.5 4:4.5 5:1 6:1\n"
        contents = parsed(text.encode())
        assert contents.columns.tolist() == [1, 2, 3, 4, 5, 6]
        assert contents.values.tolist() == [1, 2.5, 3.5, 4.5, 1, 1]


def test_the_best_instruction_set_reads_the_same(monkeypatch):
    """Numbers and messages, in single lines of which many are wrong and in a text of many rows."""
    rng = np.random.default_rng(6)
    texts = ["".join(f"{i} {i + 1}:1 {i + 9}:1 {i + 99}:1\n" for i in range(900))]
    for _ in range(400):
        entries = [odd_entries(rng) for _ in range(rng.integers(0, 9))]
        if entries and rng.random() < 0.3:
            old, new = (("1", "x"), (":", ":-"), ("2", "#"))[rng.integers(3)]
            entries[-1] = entries[-1].replace(old, new)
        texts.append(f"1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n2 {' '.join(entries)}\n")
    found = []
    for isa in (0, max(isa for _, isa, runs in multi.instruction_sets() if runs)):
        monkeypatch.setattr(_svmlight, "ISA", isa)
        parts = []
        for text in texts:
            try:
                part = parsed(text.encode())
            except ValueError as error:
                parts.append(str(error))
            else:
                parts.append((part.columns.tolist(), part.values.tolist(), part.row_ends.tolist()))
        found.append(parts)
    assert any(isinstance(part, str) for part in found[0])
    assert found[0] == found[1]


@given(st.integers(0, 2**70), st.integers(-45, 45), st.integers(0, 25))
@settings(max_examples=300, deadline=None)
def test_every_mantissa_and_exponent(m, power, point):
    text = str(m)
    word = f"{text[:point]}.{text[point:]}e{power}" if point <= len(text) else f"{text}e{power}"
    found = parsed(f"{word} 3:{word}".encode())
    assert found.values[0] == found.labels[0] == float(word)


@pytest.mark.parametrize(
    "word",
    [
        "1e",
        "1e+",
        "e5",
        ".",
        "-",
        "+",
        "--1",
        "1.2.3",
        "1_000",
        "0x1",
        "1,5",
        "1:2",
        "1\x012",
        "",
        "1e5.5",
        "a",
        "1f",
        "²",
        "1\0",
        "١",
    ],
)
def test_no_numbers(word):
    with pytest.raises(ValueError, match=r"text, line 2: the value of '7:.*' is not a number\."):
        parsed(f"1\n1 3:2 7:{word} 9:1\n".encode())
    # far from the beginning, where entries are read in another way
    with pytest.raises(ValueError, match=r"text, line 2: the value of '7:.*' is not a number\."):
        parsed(f"1 # {'x' * 30}\n1 3:2 7:{word} 9:1\n".encode())
    if word and ":" not in word:
        with pytest.raises(ValueError, match=r"text, line 1: target '.*' is not a number\."):
            parsed(f"{word} 3:2\n".encode())


@pytest.mark.parametrize("entry", ["%d:0.5", "%d:0.123456", "%d:0.12345678901234567", "%d:1"])
@pytest.mark.parametrize("following", ["\n.5 1:0.5\n", "\n", "", " .5:1 60:0.5\n", " 50:.5\n"])
def test_an_empty_value_is_no_number(entry, following):
    """Nor where what follows looks like one, or what a buffer holds behind the text."""
    for n in range(1, 41):
        before = "1 " + " ".join(entry % j for j in range(1, n + 1))
        for head in ("", f"{before} 45:0.5\n" * 5):
            line = 1 + head.count("\n")
            text = f"{head}{before} {n + 1}:{following}".encode()
            with pytest.raises(ValueError, match=f"line {line}: the value of '{n + 1}:'"):
                load_svmlight_file(text)


@pytest.mark.parametrize("word", ["inf", "-inf", "+Infinity", "NaN", "nan", "-INF"])
def test_infinite_and_nan_are_refused(word):
    with pytest.raises(
        ValueError, match=rf"line 1: the value of '0:{word}' is not finite".replace("+", r"\+")
    ):
        parsed(f"1 0:{word}\n".encode())
    with pytest.raises(ValueError, match="is not finite"):
        parsed(f"{word} 0:1".encode())


@pytest.mark.parametrize("word", ["1e309", "123456789" * 40, "-2e999"])
def test_too_large_for_a_double(word):
    with pytest.raises(ValueError, match=rf"line 2: '{word[:40]}.*' is beyond the range of double"):
        parsed(f"1 1:1\n1 0:{word}\n1 1:1\n".encode())
    with pytest.raises(ValueError, match=r"line 2: .* is beyond the range of doubles"):
        parsed(f"1\n{word}\n".encode())


# structure


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("query_id", [False, True])
def test_sample_in_blocks_of_every_size(multilabel, query_id):
    options = {"multilabel": multilabel, "query_id": query_id}
    for block_bytes in range(1, len(SAMPLE) + 2):
        check_against_reference(SAMPLE, block_bytes, room=block_bytes, **options)


def test_text_cut_at_every_byte():
    for end in range(len(SAMPLE) + 1):
        check_against_reference(SAMPLE[:end], query_id=True)
        check_against_reference(SAMPLE[:end], block_bytes=7, room=1)
        check_against_reference(SAMPLE[end:], multilabel=True)


words = st.one_of(
    st.sampled_from(
        [
            b"1",
            b"-1",
            b"1,2",
            b"3,",
            b"qid:2",
            b"qid:x",
            b"qid:",
            b"1:2",
            b"0:1",
            b"7:",
            b":",
            b"2:3:4",
            b"-4:1",
            b"+5:+1",
            b"05:1",
            b"99999999999:1",
            b"2147483647:1",
            b"2147483648:1",
            b"123456789:1",
            b"8:1e5",
            b"9:1e-330",
            b"10:nan",
            b"#",
            b"#1:2",
            b"3:12345678901234567890123",
            b"000000000000000000000000011:1",
            b"1e400",
            b"x",
            b"qid:9223372036854775807",
            b"qid:-9223372036854775808",
            b"qid:9223372036854775808",
            b"\0",
            b"6:1\0",
            b"\xff",
        ]
    ),
    st.builds(lambda i, v: b"%d:%r" % (i, v), st.integers(0, 40), st.integers(-9, 9)),
)
texts = st.lists(
    st.lists(
        st.tuples(words, st.sampled_from([b" ", b"  ", b"\t", b"\r", b" \v"])).map(b"".join),
        max_size=6,
    ).map(b"".join),
    max_size=5,
).map(b"\n".join)


@given(texts, st.integers(1, 40), st.integers(1, 9), st.booleans(), st.booleans())
@example(b"\xef\xbb\xbf1 2:3", 1, 1, False, False)
@example(b"1 5:1 3:1e-330 4:2 1:1e300", 9, 1, False, False)
@example(b"1,2 3:1 3:2\n", 9, 9, True, False)
@settings(max_examples=250, deadline=None)
def test_hostile_texts(text, block_bytes, room, multilabel, query_id):
    check_against_reference(text, block_bytes, room, multilabel=multilabel, query_id=query_id)


ONE = st.one_of(
    st.integers(0, 10**10).map("{}:1 ".format), st.integers(0, 99).map("{:06d}:1 ".format),
    st.sampled_from(["7:1", "8:1  ", "9:10 ", "5:1.0 ", "x:1 ", ":1 ", "1:: ", "4:1\t", "3:-1 ",
                     "2:1\n", "1:1#", "12:1:1 ", "6:1\r\n3 "]),
)  # fmt: skip


@given(
    st.lists(st.lists(st.integers(1, 10**8).map("{}:1 ".format), max_size=40), max_size=3),
    st.lists(ONE, max_size=2), st.integers(0, 40), st.integers(1, 30),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_rows_of_ones(rows, others, place, room):
    """Among them what is nearly one."""
    lines = ["1 " + "".join([*row[:place], *others, *row[place:]]) for row in rows]
    text = "1 9:1 10:1 11:1 12:1 13:1\n" + "\n".join(lines)
    check_against_reference(text.encode(), 512, room)


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes(text):
    check_against_reference(text)
    check_against_reference(b"1 2:3\n" + text + b"\n2 3:4")


def test_a_line_longer_than_every_buffer():
    entries = " ".join(f"{i}:{i}.5" for i in range(50_000))
    contents = parsed(f"1 {entries}\n2 3:1e-320 1:1".encode(), block_bytes=100, room=10)
    assert contents.columns[:50_000].tolist() == list(range(50_000))
    assert contents.values[-2:].tolist() == [1, 1e-320]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_longer_than_the_arrays_among_others(dtype):
    rng = np.random.default_rng(0)
    sizes = [5] * 3000 + [70_000] + [7] * 20_000 + [40_000] + [0, 3] * 2000
    columns = np.concatenate([np.arange(size) + 2 for size in sizes])
    values = rng.integers(1, 1000, len(columns)) / 8
    tokens = iter(map("%d:%r".__mod__, zip(columns.tolist(), values.tolist())))
    text = "".join(" ".join(["1", *itertools.islice(tokens, size)]) + "\n" for size in sizes)
    X, y = load_svmlight_file(text.encode(), dtype=dtype, zero_based=True)
    assert np.array_equal(np.diff(X.indptr), sizes)
    assert np.array_equal(X.indices, columns)
    assert np.array_equal(X.data, values)
    assert len(y) == len(sizes)


def test_reversed_row_is_sorted_with_its_hard_numbers():
    columns = np.random.default_rng(0).permutation(3000)
    values = [f"{c}.{'0' * 30}" if c % 3 == 0 else str(c) for c in columns]
    text = " ".join(["7", *[f"{c}:{v}" for c, v in zip(columns, values)]])
    contents = parsed(text.encode())
    assert contents.columns.tolist() == list(range(3000))
    assert contents.values.tolist() == list(range(3000))


def parse_directly(text, padding, room):
    """What the compiled parser makes of a text that is followed by `padding`."""
    parser = parse.SvmlightParser(False, True, 0, ISA)
    arrays = [np.zeros(room), np.zeros(room, np.int32), np.zeros(room)]
    arrays += [np.zeros(room, np.int64) for _ in range(4)] + [np.zeros((room, 5), np.int64)]
    parser.use(*arrays)
    buffer = np.frombuffer(text + padding * parse.PADDING, np.uint8)
    status, position = parser.parse(buffer, 0, len(text))
    entries, rows = parser.n_entries, parser.n_rows
    token = parser.token if status > parse.FULL else None
    kept = [arrays[0][:entries], arrays[1][:entries], arrays[2][:rows], arrays[6][:rows]]
    return status, position, token, [array.tolist() for array in kept]


@pytest.mark.parametrize("room", [2, 100])
def test_nothing_depends_on_what_follows_the_text(room):
    for line in (*SAMPLE.split(b"\n"), b"1 qid:2 3:inf", b"1 qid:2 3:infinit", b"1 qid:2 1:1e-"):
        for end in range(len(line) + 1):
            text = line[:end] + b"\n"
            results = [parse_directly(text, padding, room) for padding in (b"9", b"\n", b"e", b" ")]
            assert all(repr(result) == repr(results[0]) for result in results), text
