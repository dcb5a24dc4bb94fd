"""Documents to rows of hashed n-gram counts, a block of documents at a time without the GIL.

A `TextHasher` owns the scratch memory of one pass over documents; two threads take two of them.
It is used so: `load` a `Block`, then call `advance` until it says DONE, with larger
output arrays when it says FULL. Features that Python made are loaded by `load_features`, one row
at a time, and fetched by `advance` too. Where it is not known yet where rows go, call `count`
until it says DONE, and `write` once it is.
"""

from libc.stdint cimport intptr_t
from libc.string cimport memcpy

from . import documents

from .documents cimport (
    BUDGET, FIRST_TEXT, LAST_TEXT, Block, CountedRows, Span, copy_feature, free_text, grow_entries,
    grow_words, take_bits, take_kept
)
from .ngrams cimport NgramTable


cdef enum:
    HUGE_PAGE = 1 << 21


cdef int64_t write_row(
    const fl_text_kernels *kernels, const fl_text_entry *row, int64_t n, int64_t squares,
    bint binary, int norm, int32_t *indices, real *data
) noexcept nogil:
    """Write a row to the output, given the sum of the squares of its counts where that is asked for
    by the norm and the row is not binary, and return its length.

    Binary: 1 for every column that an n-gram fell into. Else the counts, and none for a column
    where signs cancelled.
    """
    cdef int64_t k, kept = 0
    if binary:
        for k in range(n):
            indices[k] = row[k].column
            data[k] = <real>1
        normalise(data, n, norm)
        return n
    # Small counts have exact squares in either type, whose sum does not depend on the order: it is
    # what `normalise` finds one after the other.
    if norm == 2 and 0 < squares < 1 << 24:
        if real is float:
            return kernels.quotients_f32(row, n, sqrt(<double>squares), indices, data)
        else:
            return kernels.quotients_f64(row, n, sqrt(<double>squares), indices, data)
    for k in range(n):
        indices[kept] = row[k].column
        data[kept] = <real>row[k].count
        kept += row[k].count != 0
    normalise(data, kept, norm)
    return kept


def begin_pages(uint8_t[::1] memory not None):
    """Write a zero to the beginning of each huge page in memory that nobody has written to: of
    threads that are the first in one at the same time, each clears all of it."""
    cdef int64_t k = (-<int64_t><intptr_t>&memory[0]) & (HUGE_PAGE - 1) if memory.shape[0] else 0
    # To have the GIL again takes longer than to find nothing.
    if k >= memory.shape[0]:
        return
    with nogil:
        while k < memory.shape[0]:
            memory[k] = 0
            k += HUGE_PAGE


cdef class TextHasher:
    """Hashes documents, or features, to the rows of a CSR matrix.

    Parameters
    ----------
    raw_class, done_class : const uint8 array of shape (256,)
        For each byte 0 (separates words), 1 (part of a longer code point) or the byte to hash;
        the first for documents given as str, the second for those given as bytes. For characters
        the byte to hash.
    kind, least : int
        What units are (fl_words.h), and the characters of the shortest word.
    stop_words : NgramTable or None
    n_features : int, in [1, 2**31 - 1]
    min_n, max_n : int, 1 <= min_n <= max_n
    alternate_sign, binary : bool
    norm : int
        0 (none), 1 or 2.
    is_fast : bool
        Whether hashes are those of fl_fasthash.h, else MurmurHash3.
    isa : int
        The number of an instruction set that this processor has (`multi.instruction_sets`).
    """

    cdef fl_text t
    cdef const fl_text_kernels *kernels
    cdef bint binary
    cdef int norm
    cdef const uint8_t[::1] raw_class, done_class
    cdef fl_words_bytes raw, done
    cdef const uint64_t[::1] word_bits
    cdef Block block
    cdef NgramTable stop_words
    cdef int64_t n_spans
    # The document that is next or under way, and the state it is in.
    cdef int64_t current
    cdef bint begun, pending
    cdef readonly int64_t n_rows, nnz

    def __cinit__(
        self, const uint8_t[::1] raw_class, const uint8_t[::1] done_class, int kind, int32_t least,
        NgramTable stop_words, int64_t n_features, int32_t min_n, int32_t max_n,
        bint alternate_sign, bint binary, int norm, bint is_fast,
        int isa,
    ):
        if not 0 <= kind <= 2 or not 1 <= least <= 2:
            raise ValueError
        if not 1 <= n_features <= 2**31 - 1 or not 1 <= min_n <= max_n:
            raise ValueError
        self.raw_class, self.done_class = raw_class, done_class
        take_kept(&self.raw, raw_class)
        take_kept(&self.done, done_class)
        self.binary, self.norm = binary, norm
        self.t.words.kind, self.t.words.least = <fl_words_kind>kind, least
        self.stop_words = stop_words
        if stop_words is not None:
            self.t.stop_words = &stop_words.v
        self.t.n_features = n_features
        self.t.min_n, self.t.max_n = min_n, max_n
        self.t.alternate_sign = alternate_sign
        self.t.is_fast = is_fast
        grow_words(&self.t.words, FIRST_TEXT)
        grow_entries(&self.t, 2 * FL_TEXT_BATCH)
        fl_text_init(&self.t)
        self.kernels = fl_text_kernels_of(isa)

    def __dealloc__(self):
        free_text(&self.t)

    @property
    def pending_entries(self):
        """Length of the row that waits for room, at most."""
        return self.t.n_entries if self.pending else 0

    def set_word_bits(self, const uint64_t[::1] word_bits):
        """Say which code points are word characters: bit c % 64 of word c // 64."""
        take_bits(&self.t.words, word_bits)
        self.word_bits = word_bits

    def load(self, Block block not None):
        """Take a block of documents; `set_word_bits` before one that has others than ASCII, and for
        characters."""
        needs_bits = block.has_others or self.t.words.kind != FL_WORDS_WORD
        if needs_bits and self.t.words.word_bits == NULL:
            raise ValueError
        self.block = block
        self.current = 0
        self.begun = False
        self.n_spans = block.n_documents

    def load_features(self, list features):
        """Hash the features (bytes) of one row as they are; DONE, TOO_MANY or TOO_LONG."""
        cdef bytes feature
        cdef fl_text_status status
        self.n_spans = self.current = 0
        fl_text_begin(&self.t, &self.done, NULL, 0)
        for feature in features:
            if copy_feature(&self.t.words, feature) != 0:
                return documents.TOO_LONG
            status = FL_TEXT_NEEDS_ENTRIES
            while status == FL_TEXT_NEEDS_ENTRIES:
                status = fl_text_add(&self.t, <int32_t>len(feature))
                if status == FL_TEXT_NEEDS_ENTRIES:
                    grow_entries(&self.t, self.t.needed)
            if status == FL_TEXT_TOO_MANY:
                return documents.TOO_MANY
        fl_text_finish(&self.t)
        self.pending = True
        return documents.DONE

    def hash(self, bytes feature):
        """Return the hash of one feature, without sign; the loaded block is lost."""
        self.n_spans = 0
        if copy_feature(&self.t.words, feature) != 0:
            raise OverflowError
        return fl_text_hash(&self.t, self.t.words.text, <int32_t>len(feature))

    def place(self, uint64_t hash):
        """Return the column of a hash, and whether it counts -1."""
        cdef uint32_t key = fl_text_key(&self.t, hash)
        return key >> 1, bool(key & 1)

    def advance(self, int64_t[::1] indptr, int32_t[::1] indices, real[::1] data):
        """Go on with the block and write its rows behind the `n_rows` and `nnz` written so far.

        Returns
        -------
        int
            DONE: the block is finished. PAUSED: call again. FULL: call again with output arrays
            that hold `pending_entries` more, or one more row. TOO_MANY, TOO_LONG: document
            `n_rows` cannot be hashed.
        """
        cdef fl_text_status status
        while True:
            with nogil:
                status = self._advance(indptr, indices, data)
            if self.pending and status == FL_TEXT_NEEDS_ENTRIES:
                return documents.FULL
            if not self._goes_on(status):
                return self._answer(status)

    def count(self, CountedRows rows not None):
        """Go on with the block and append its rows to `rows`; DONE, PAUSED, TOO_MANY or TOO_LONG
        as from `advance`."""
        cdef fl_text_status status
        if rows.capacity == 0:
            rows.grow(4 * self.t.capacity)
        rows.square()
        while True:
            with nogil:
                status = self._count(rows)
            if self.pending and status == FL_TEXT_NEEDS_ENTRIES:
                if rows.n_rows + 1 >= rows._ends.shape[0]:
                    raise IndexError
                rows.grow(self.t.n_entries)
            elif not self._goes_on(status):
                return self._answer(status)

    def write(self, CountedRows rows not None, int32_t[::1] indices, real[::1] data):
        """Write counted rows to arrays of as many entries, here or in another hasher."""
        cdef int64_t row, first
        if min(indices.shape[0], data.shape[0]) < rows.nnz:
            raise IndexError
        if rows.squares is None or rows.squares.shape[0] < rows.n_rows:
            raise ValueError
        with nogil:
            for row in range(rows.n_rows):
                first = rows._ends[row]
                if rows._ends[row + 1] > first:
                    write_row(self.kernels, rows.entries + first, rows._ends[row + 1] - first,
                              rows.squares[row], self.binary, self.norm, &indices[first],
                              &data[first])

    cdef bint _goes_on(self, fl_text_status status) except -1:
        """Grow the buffer that a status asks for; whether there was one to grow."""
        if status == FL_TEXT_NEEDS_ENTRIES:
            grow_entries(&self.t, self.t.needed)
            return True
        if status == FL_TEXT_NEEDS_TEXT and self.t.words.text_capacity < LAST_TEXT:
            grow_words(&self.t.words, 2 * <int64_t>self.t.words.text_capacity)
            return True
        return False

    cdef object _answer(self, fl_text_status status):
        """Return what `advance` says of a status that nothing grows for."""
        if status == FL_TEXT_NEEDS_TEXT:
            return documents.TOO_LONG
        if status == FL_TEXT_TOO_MANY:
            return documents.TOO_MANY
        return documents.DONE if status == FL_TEXT_DONE else documents.PAUSED

    cdef fl_text_status _advance(
        self, int64_t[::1] indptr, int32_t[::1] indices, real[::1] data
    ) noexcept nogil:
        """Finish rows until the block, the budget or a buffer ends.

        The output is full if the answer is NEEDS_ENTRIES while a row is pending.
        """
        cdef int64_t budget = BUDGET
        cdef int64_t n, squares = 0, room = min(indices.shape[0], data.shape[0])
        cdef fl_text_status status
        while True:
            if self.pending:
                n = self.t.n_entries
                if self.nnz + n > room or self.n_rows + 1 >= indptr.shape[0]:
                    return FL_TEXT_NEEDS_ENTRIES
                if n > 0:
                    if self.norm == 2 and not self.binary:
                        squares = self.kernels.squares(self.t.entries, n)
                    self.nnz += write_row(self.kernels, self.t.entries, n, squares, self.binary,
                                          self.norm, &indices[self.nnz], &data[self.nnz])
                self.n_rows += 1
                indptr[self.n_rows] = self.nnz
                self.pending = False
            status = self._next_row(&budget)
            if not self.pending:
                return status

    cdef fl_text_status _count(self, CountedRows rows) noexcept nogil:
        """Do as `_advance` does; rows that are counted where they are to be need not be copied."""
        cdef int64_t budget = BUDGET
        # Objects of several threads may share a line of the cache: what each row changes is here.
        cdef int64_t n, n_rows = rows.n_rows, stop = rows._ends.shape[0], capacity = rows.capacity
        cdef int64_t *ends = &rows._ends[0]
        cdef int64_t *squares = &rows.squares[0]
        cdef int64_t first = ends[n_rows]
        cdef fl_text_entry *entries = rows.entries
        cdef fl_text_entry *row = self.t.entries
        cdef fl_text_entry *own
        cdef fl_text_status status
        while True:
            if self.pending:
                n = self.t.n_entries
                if first + n > capacity or n_rows + 1 >= stop:
                    status = FL_TEXT_NEEDS_ENTRIES
                    break
                if n > 0 and not self.binary:
                    n = self.kernels.counting(row, n, entries + first, squares + n_rows)
                elif n > 0 and row != entries + first:
                    memcpy(entries + first, row, n * sizeof(fl_text_entry))
                first += n
                n_rows += 1
                ends[n_rows] = first
                self.pending = False
            own = self.t.entries
            if not self.begun and first + self.t.capacity <= capacity:
                self.t.entries = entries + first
            status = self._next_row(&budget)
            row = self.t.entries
            if own != self.t.entries and own != self.t.spare:
                self._take_back(entries + first, own)
            if not self.pending:
                break
        rows.n_rows = n_rows
        return status

    cdef void _take_back(self, fl_text_entry *lent, fl_text_entry *own) noexcept nogil:
        """Have the own buffer again in the place of the lent one, with what a row under way has
        there; the two that a row needs may have changed places."""
        if self.begun:
            memcpy(own, lent, self.t.capacity * sizeof(fl_text_entry))
        if self.t.entries == lent:
            self.t.entries = own
        else:
            self.t.spare = own

    cdef fl_text_status _next_row(self, int64_t *budget) noexcept nogil:
        """Bring the next row of the block to the entries; it is pending then."""
        cdef fl_text_status status
        cdef Span *span
        if self.current >= self.n_spans:
            return FL_TEXT_DONE
        if budget[0] <= 0:
            return FL_TEXT_PAUSED
        if not self.begun:
            span = &self.block.spans[self.current]
            fl_text_begin(&self.t, &self.done if span.is_lowered else &self.raw,
                          span.document, span.length)
            self.begun = True
        status = self.kernels.advance(&self.t, budget)
        if status == FL_TEXT_DONE:
            self.current += 1
            self.begun = False
            self.pending = True
        return status
