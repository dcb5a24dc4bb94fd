"""Blocks of documents, as pointers to the bytes that Python or Arrow holds.

A document is a str of ASCII only, taken as it is, or UTF-8 bytes, which have been lowered already.
Documents of an Arrow column are never made objects, but for those that are not ASCII: Python lowers
these and puts them back.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.unicode cimport (
    PyUnicode_AsUTF8AndSize, PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND
)
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from numpy import empty, int64, zeros

from .text cimport (
    FL_PREFETCH, FL_TEXT_BUCKETS, FL_WORDS_CHAR_WB, FL_WORDS_PADDING, fl_text_entry,
    fl_words_shortcut, fl_words_starts_capacity
)

# What calls of those who read blocks answer.
DONE, PAUSED, FULL, TOO_LARGE, TOO_LONG, TOO_MANY = range(6)

cdef int64_t CODE_POINTS = 0x110000

ctypedef fused offset:
    int32_t
    int64_t


cdef void *resized(void *memory, size_t size) except NULL:
    """PyMem_Realloc that raises."""
    memory = PyMem_Realloc(memory, size)
    if memory == NULL:
        raise MemoryError()
    return memory


cdef int grow_words(fl_words *w, int64_t capacity) except -1:
    """Enlarge the text of a scratch, its padding zeroed, and starts and limits with it."""
    cdef size_t size = sizeof(int32_t) * fl_words_starts_capacity(w.kind, capacity)
    w.text = <uint8_t *>resized(w.text, capacity + FL_WORDS_PADDING)
    memset(w.text + capacity, 0, FL_WORDS_PADDING)
    w.starts = <int32_t *>resized(w.starts, size)
    if w.kind == FL_WORDS_CHAR_WB:
        w.limits = <int32_t *>resized(w.limits, size)
    w.text_capacity = <int32_t>capacity
    return 0


cdef int copy_feature(fl_words *w, bytes feature) except -1:
    """Put a feature into the text of a scratch; 1 if it is too long for it."""
    cdef int64_t n = len(feature)
    if n > LAST_TEXT:
        return 1
    if n > w.text_capacity:
        grow_words(w, min(2 * n, LAST_TEXT))
    memcpy(w.text, PyBytes_AS_STRING(feature), n)
    return 0


cdef void free_words(fl_words *w) noexcept:
    """Free what `grow_words` took."""
    PyMem_Free(w.text)
    PyMem_Free(w.starts)
    PyMem_Free(w.limits)


cdef int take_kept(fl_words_bytes *b, const uint8_t[::1] kept) except -1:
    """Say how bytes are stored; the caller keeps the array alive."""
    if kept.shape[0] != 256:
        raise ValueError
    b.kept = &kept[0]
    b.shortcut = fl_words_shortcut(b.kept)
    return 0


cdef int take_bits(fl_words *w, const uint64_t[::1] word_bits) except -1:
    """Say which code points units need; the caller keeps the array alive."""
    if word_bits.shape[0] * 64 < CODE_POINTS:
        raise ValueError
    w.word_bits = &word_bits[0]
    return 0


cdef int grow_entries(fl_text *t, int64_t capacity) except -1:
    """Enlarge entries and spare; buckets come with the first call."""
    cdef size_t size = capacity * sizeof(fl_text_entry)
    t.entries = <fl_text_entry *>resized(t.entries, size)
    t.spare = <fl_text_entry *>resized(t.spare, size)
    if t.buckets == NULL:
        t.buckets = <uint16_t *>resized(NULL, FL_TEXT_BUCKETS * sizeof(uint16_t))
    t.capacity = capacity
    return 0


cdef void free_text(fl_text *t) noexcept:
    """Free what `grow_words` and `grow_entries` took."""
    free_words(&t.words)
    PyMem_Free(t.entries)
    PyMem_Free(t.spare)
    PyMem_Free(t.buckets)


cdef bint is_ascii(const uint8_t *p, int64_t n) noexcept nogil:
    """Say whether no byte has its highest bit set."""
    cdef uint64_t word, every = 0
    cdef int64_t i = 0
    while i + 8 <= n:
        memcpy(&word, p + i, 8)
        every |= word
        i += 8
    while i < n:
        every |= p[i]
        i += 1
    return every & <uint64_t>0x8080808080808080 == 0


cdef class Block:
    """Documents, kept alive as long as the block is."""

    def __cinit__(self, list documents):
        """Take str of ASCII only and lowered UTF-8; the list must not change."""
        cdef Py_ssize_t k
        self.documents = documents
        self.room(len(documents))
        for k in range(self.n_documents):
            self.put(k, documents[k])

    def __dealloc__(self):
        PyMem_Free(self.spans)

    cdef int room(self, Py_ssize_t n) except -1:
        """Make room for n documents."""
        self.spans = <Span *>resized(self.spans, max(n, 1) * sizeof(Span))
        self.n_documents = n
        return 0

    cdef int put(self, Py_ssize_t k, document) except -1:
        """Let document k be an object that someone else keeps alive."""
        cdef Py_ssize_t size
        if isinstance(document, bytes):
            self.spans[k].is_lowered = self.has_others = True
            self.spans[k].document = <const uint8_t *>PyBytes_AS_STRING(document)
            size = PyBytes_GET_SIZE(document)
        else:
            self.spans[k].is_lowered = False
            self.spans[k].document = <const uint8_t *>PyUnicode_AsUTF8AndSize(document, &size)
            if size != len(<str?>document):
                raise ValueError
        self.spans[k].length = size
        return 0

    def replace(self, Py_ssize_t k, document):
        """Put an object in the place of document k."""
        if not 0 <= k < self.n_documents:
            raise IndexError
        self.documents.append(document)
        self.put(k, document)


cdef class CountedRows:
    """Rows of a block, each the entries that a matrix will have, in as little memory as they take:
    they shall still lie in a cache when they are written."""

    def __cinit__(self):
        self.begin(0)

    def __dealloc__(self):
        PyMem_Free(self.entries)

    @property
    def nnz(self):
        """Number of all entries."""
        return self._ends[self.n_rows]

    def begin(self, int64_t n_rows):
        """Forget the rows, and make room for the ends of so many."""
        self.n_rows = 0
        self._ends = self.ends = zeros(n_rows + 1, int64)

    cdef int square(self) except -1:
        """Have room for the squares of all rows; what was there is lost where there is less."""
        if self.squares is None or self.squares.shape[0] < self._ends.shape[0]:
            self.squares = empty(self._ends.shape[0], int64)
        return 0

    cdef int grow(self, int64_t n_more) except -1:
        """Make room for more entries."""
        cdef int64_t needed = self.nnz + n_more, capacity
        if needed > self.capacity:
            capacity = max(needed, 2 * self.capacity)
            self.entries = <fl_text_entry *>resized(
                self.entries, capacity * sizeof(fl_text_entry)
            )
            self.capacity = capacity
        return 0


def ascii_run(list documents, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n_characters):
    """Return where the str of ASCII only from `first` on end, at `last` or once they have so many
    characters, and the number of these."""
    cdef Py_ssize_t k = first, size = 0
    last = min(last, len(documents))
    while k < last and size < n_characters:
        # Texts lie anywhere.
        FL_PREFETCH(list_item(documents, min(k + 16, last - 1)))
        document = documents[k]
        if type(document) is not str or not PyUnicode_IS_ASCII(document):
            break
        size += PyUnicode_GET_LENGTH(document)
        k += 1
    return k, size


def lowered_utf8(str text not None, const uint32_t[::1] table not None):
    """Return a str in UTF-8, each character as the table has it: up to three bytes, the first of
    them lowest, and their number in the highest byte. None if it has 0 for one of them, or ends
    before it."""
    cdef Py_ssize_t i, n = PyUnicode_GET_LENGTH(text)
    cdef int kind = PyUnicode_KIND(text)
    cdef void *data = PyUnicode_DATA(text)
    # Three bytes are written for each, whatever counts of them.
    cdef bytes encoded = PyBytes_FromStringAndSize(NULL, 3 * n)
    cdef uint8_t *first = <uint8_t *>PyBytes_AS_STRING(encoded)
    cdef uint8_t *out = first
    cdef uint32_t code, entry = 1
    with nogil:
        for i in range(n):
            code = PyUnicode_READ(kind, data, i)
            entry = table[code] if code < table.shape[0] else 0
            if entry == 0:
                break
            out[0], out[1], out[2] = entry & 255, (entry >> 8) & 255, (entry >> 16) & 255
            out += entry >> 24
    return None if entry == 0 else encoded[: out - first]


def block_of_buffers(
    const offset[::1] offsets, const uint8_t[::1] data, Py_ssize_t first, Py_ssize_t last
):
    """Return documents first to last of an Arrow column, and the places in the block of those that
    are not ASCII: `replace` them before the block is used.

    Raises IndexError if the offsets lead out of the data.
    """
    cdef Block block = Block([])
    cdef Py_ssize_t k, n = last - first
    cdef int64_t begin, end
    if not 0 <= first <= last < offsets.shape[0]:
        raise IndexError
    block.room(n)
    block.buffers = (offsets, data)
    others = []
    for k in range(n):
        begin, end = offsets[first + k], offsets[first + k + 1]
        if not 0 <= begin <= end <= data.shape[0]:
            raise IndexError
        block.spans[k].is_lowered = False
        block.spans[k].length = end - begin
        block.spans[k].document = &data[begin] if end > begin else NULL
        if not is_ascii(block.spans[k].document, end - begin):
            others.append(k)
    return block, others
