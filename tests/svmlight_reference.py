"""A slow, obvious parser of the svmlight format, and a way to feed the fast one small buffers."""

import io
import struct

import numpy as np

from fastlin._svmlight import Contents, SvmlightReader


def parsed(text, block_bytes=1 << 20, room=1 << 15, lowest_index=0, **options):
    """Contents of a text, read through buffers of the sizes given."""
    reader = SvmlightReader(
        io.BytesIO(text),
        "text",
        lowest_index=lowest_index,
        block_bytes=block_bytes,
        room=room,
        **options,
    )
    return Contents(reader, np.dtype(np.float64))


def reference_number(token):
    """A number of the format, by Python; ValueError for anything else that float() takes."""
    if not token or token.strip(b"0123456789+-.eE"):
        raise ValueError(token)
    value = float(token)
    if value in (np.inf, -np.inf):
        raise ValueError(token)
    return value


def reference_integer(token):
    """A decimal integer with an optional sign."""
    digits = token[1:] if token[:1] in (b"+", b"-") else token
    if not digits or digits.strip(b"0123456789"):
        raise ValueError(token)
    return int(token)


def reference(text, multilabel=False, query_id=False):
    """The rows of a text, slowly: a list of (labels, query id, {index: value})."""
    rows = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        tokens = line.split(b"#")[0].replace(b"\x1c", b"?").split(None)
        if not tokens:
            continue
        target, *tokens = tokens
        if multilabel and b":" in target:
            labels, tokens = (), [target, *tokens]
        else:
            words = target.split(b",") if multilabel else [target]
            labels = tuple(sorted(map(reference_number, words)))
        qid = None
        if tokens and tokens[0].startswith(b"qid:"):
            qid = tokens.pop(0)[4:]
        if query_id:
            qid = reference_integer(qid or b"")
            struct.pack("q", qid)
        entries = {}
        for token in tokens:
            index, colon, value = token.partition(b":")
            index = reference_integer(index)
            if not colon or not 0 <= index < 2**31 or index in entries:
                raise ValueError(token)
            entries[index] = reference_number(value)
        rows.append((labels, qid, entries))
    return rows


def outcome(text, **options):
    """The reference's rows, or None if it refuses the text."""
    try:
        return reference(text, **options)
    except (ValueError, struct.error):
        return None


def as_rows(contents, multilabel=False, query_id=False):
    """Contents in the reference's form."""
    starts = [0, *contents.row_ends.tolist()]
    labels = contents.label_sets() if multilabel else [(v,) for v in contents.labels.tolist()]
    ids = contents.query_ids.tolist() if query_id else [None] * len(labels)
    rows = []
    for i, label in enumerate(labels):
        entries = slice(starts[i], starts[i + 1])
        columns = contents.columns[entries].tolist()
        assert columns == sorted(set(columns))
        rows.append((label, ids[i], dict(zip(columns, contents.values[entries].tolist()))))
    return rows


def check_against_reference(text, block_bytes=1 << 20, room=1 << 15, **options):
    """The parser accepts what the reference accepts, with equal bits, and refuses the rest."""
    expected = outcome(text, **options)
    try:
        found = as_rows(parsed(text, block_bytes, room, **options), **options)
    except ValueError as error:
        assert expected is None, (text, error)
        assert "line" in str(error)
        return
    assert expected is not None, (text, found)
    if not options.get("query_id"):
        expected = [(labels, None, entries) for labels, _, entries in expected]
    assert repr(found) == repr(
        [
            (tuple(map(float, labels)), qid, dict(sorted(entries.items())))
            for labels, qid, entries in expected
        ]
    )


SAMPLE = (
    b"# head\n1 qid:3 1:0.5 7:-2e3 # note 9:9\r\n\n  -1 qid:4 2:1 12:3.25\t13:1\n"
    b"+1.5e0 qid:-5 5:123456789012345678901234567890 3:1e-310\n0 qid:0\n2.5 qid:9 4:.5 10:7."
)
