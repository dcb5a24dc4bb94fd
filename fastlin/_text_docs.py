"""What the docstrings of the text vectorizers share."""

__all__ = ["ANALYSIS_NOTES", "ANALYSIS_PARAMETERS", "DF_PARAMETERS", "N_JOBS"]

ANALYSIS_PARAMETERS = r"""input : {"content", "filename", "file"}, default="content"
        Whether documents are given as str or bytes, as paths, or as objects with `read`.
    encoding : str, default="utf-8"
        Encoding of documents that are bytes or come from files.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        What to do with bytes that are not in `encoding`; as in `bytes.decode`.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Drop accents after lowering: "unicode" drops combining marks, "ascii" all that is not
        ASCII once characters are decomposed (NFKD).
    lowercase : bool, default=True
        Lower documents before they are split.
    preprocessor : callable or None, default=None
        Called in place of lowering and stripping accents.
    tokenizer : callable or None, default=None
        Called in place of finding `token_pattern`.
    stop_words : "english", list of str or None, default=None
        Words to leave out before n-grams are made; "english" is scikit-learn's list and needs
        scikit-learn.
    token_pattern : str or None, default=r"(?u)\b\w\w+\b"
        Regular expression of a word; with a group, the group is the word.
    ngram_range : tuple (min_n, max_n), default=(1, 1)
        Lengths of the n-grams, both ends included.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        Whether n-grams are of words, of characters, or of characters inside words; a callable
        maps a decoded document to its features, str or bytes."""

DF_PARAMETERS = """max_df : int or float, default=1.0
        Leave out n-grams that occur in more documents than this, or than this share of them if it
        is a float. Not used with a `vocabulary`.
    min_df : int or float, default=1
        Leave out n-grams that occur in fewer documents than this, or than this share of them.
    max_features : int or None, default=None
        Keep so many n-grams at most, those that occur most often.
    vocabulary : mapping or iterable of str, or None, default=None
        The n-grams to count, in the order of their columns or with these; nothing is learned."""

N_JOBS = """n_jobs : int or None, default=None
        Threads over blocks of documents; -1 is all cores. The result does not depend on it."""

ANALYSIS_NOTES = r"""The analysis runs in C without the interpreter lock, unless `tokenizer` or
    `analyzer` is a callable or `token_pattern` is other than ``\b\w\w+\b`` and ``\b\w+\b``: these
    take a slower way in Python, in one thread, to the same result. A column of strings of pyarrow,
    or of pandas or polars in Arrow's layout, is read where it lies, without an object for each
    document."""
