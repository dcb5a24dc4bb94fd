"""Documents to the numbers of their n-grams, and these to rows of counts, without the GIL.

A `NgramTable` holds a vocabulary, a `NgramReader` the scratch memory of one pass over documents, a
`RowCounter` that of counting. Readers that do not learn may share a table between threads.
"""

from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from . import documents

from .documents cimport (
    BUDGET, FIRST_TEXT, LAST_TEXT, Block, CountedRows, Span, copy_feature, free_text, free_words,
    grow_entries, grow_words, resized, take_bits, take_kept
)
from .names cimport begin_of
from .text cimport *

ctypedef fused number:
    int32_t
    int64_t
    float
    double

cdef int32_t FIRST_BITS = 10


cdef class NgramTable:
    """The numbers of n-grams; `seed` is any integer of 64 bits, results don't hang on it."""

    def __cinit__(self, uint64_t seed):
        self.v.seed = seed
        self._rehash(FL_VOCABULARY_LACKS_WORDS, FIRST_BITS)
        self._rehash(FL_VOCABULARY_LACKS_GRAMS, FIRST_BITS)
        self._grow_arena(FIRST_TEXT)

    def __dealloc__(self):
        PyMem_Free(self.v.words)
        PyMem_Free(self.v.grams)
        PyMem_Free(self.v.arena)

    cdef int _rehash(self, int which, int32_t bits) except -1:
        """Let one of the tables have 2**bits slots."""
        cdef fl_vocabulary_slot *slots
        cdef fl_vocabulary_slot **held = &self.v.words
        cdef int32_t *held_bits = &self.v.word_bits
        if which == FL_VOCABULARY_LACKS_GRAMS:
            held, held_bits = &self.v.grams, &self.v.gram_bits
        slots = <fl_vocabulary_slot *>PyMem_Calloc(<size_t>1 << bits, sizeof(fl_vocabulary_slot))
        if slots == NULL:
            raise MemoryError()
        if held[0] != NULL:
            with nogil:
                fl_vocabulary_move(&self.v, held[0], held_bits[0], slots, bits)
        PyMem_Free(held[0])
        held[0], held_bits[0] = slots, bits
        return 0

    cdef int _grow_arena(self, int64_t capacity) except -1:
        """Enlarge the arena, behind which eight bytes may be read."""
        self.v.arena = <uint8_t *>resized(self.v.arena, capacity + 8)
        memset(self.v.arena + capacity, 0, 8)
        self.v.arena_capacity = capacity
        return 0

    cdef int grow(self, int lacks, int64_t bytes) except -1:
        """Make room where it lacks."""
        if lacks == FL_VOCABULARY_LACKS_ARENA:
            self._grow_arena(2 * (self.v.arena_used + bytes))
        elif lacks == FL_VOCABULARY_LACKS_WORDS:
            self._rehash(lacks, self.v.word_bits + 1)
        else:
            self._rehash(lacks, self.v.gram_bits + 1)
        return 0

    def reserve(self, int64_t words, int64_t grams):
        """Make room for so many in all, where there is less."""
        cdef int32_t bits
        for which, n, held in ((FL_VOCABULARY_LACKS_WORDS, words, self.v.word_bits),
                               (FL_VOCABULARY_LACKS_GRAMS, grams, self.v.gram_bits)):
            bits = (2 * n).bit_length()
            if bits > held:
                self._rehash(which, bits)

    @property
    def n_numbers(self):
        """How many numbers are in use."""
        return self.v.n_words + self.v.n_grams

    @property
    def arena_used(self):
        """Bytes of the arena in use."""
        return self.v.arena_used

    def copy(self, uint8_t[::1] is_word, uint32_t[::1] before, uint32_t[::1] last,
             uint8_t[::1] arena):
        """Write what each number stands for: the number of the n-gram without its last unit and
        that unit, or length and place in the arena of a word; and the arena."""
        cdef int64_t i, n = self.n_numbers
        cdef int32_t length
        cdef fl_vocabulary_slot slot
        if min(is_word.shape[0], before.shape[0], last.shape[0]) < n:
            raise ValueError
        if arena.shape[0] < self.v.arena_used:
            raise ValueError
        with nogil:
            for i in range(<int64_t>1 << self.v.word_bits):
                slot = self.v.words[i]
                if slot.number:
                    memcpy(&length, self.v.arena + slot.start, FL_VOCABULARY_HEAD)
                    is_word[slot.number - 1] = True
                    before[slot.number - 1] = length
                    last[slot.number - 1] = slot.start + FL_VOCABULARY_HEAD
            for i in range(<int64_t>1 << self.v.gram_bits):
                slot = self.v.grams[i]
                if slot.number:
                    is_word[slot.number - 1] = False
                    before[slot.number - 1] = slot.key >> 32
                    last[slot.number - 1] = <uint32_t>slot.key
            if self.v.arena_used:
                memcpy(&arena[0], self.v.arena, self.v.arena_used)


cdef class NgramReader:
    """Turns documents, or features, to the numbers of their n-grams.

    Parameters
    ----------
    table, stop_words : NgramTable
        What has the numbers; the words to leave out, or None.
    raw_class, done_class, kind, least, min_n, max_n
        As for `TextHasher`.
    learns : bool
        Whether n-grams without a number get one.
    """

    cdef fl_ngrams g
    cdef NgramTable table, stop_words
    cdef const uint8_t[::1] raw_class, done_class
    cdef fl_words_bytes raw, done
    cdef const uint64_t[::1] word_bits
    cdef Block block
    cdef readonly int64_t current
    cdef bint begun

    def __cinit__(
        self, NgramTable table not None, NgramTable stop_words, const uint8_t[::1] raw_class,
        const uint8_t[::1] done_class, int kind, int32_t least, int32_t min_n, int32_t max_n,
        bint learns,
    ):
        if not 0 <= kind <= 2 or not 1 <= least <= 2:
            raise ValueError
        if not 1 <= min_n <= max_n:
            raise ValueError
        self.raw_class, self.done_class = raw_class, done_class
        take_kept(&self.raw, raw_class)
        take_kept(&self.done, done_class)
        self.g.words.kind, self.g.words.least = <fl_words_kind>kind, least
        self.g.min_n, self.g.max_n, self.g.learns = min_n, max_n, learns
        self.table, self.stop_words = table, stop_words
        self.g.vocabulary = &table.v
        if stop_words is not None:
            self.g.stop_words = &stop_words.v
        self._grow_text(FIRST_TEXT)
        self._grow_out(FIRST_TEXT)
        fl_ngrams_begin(&self.g, &self.done, NULL, 0)

    def __dealloc__(self):
        free_words(&self.g.words)
        PyMem_Free(self.g.symbols)
        PyMem_Free(self.g.out)

    cdef int _grow_text(self, int64_t capacity) except -1:
        """Enlarge the text and the symbols."""
        grow_words(&self.g.words, capacity)
        self.g.symbols = <uint32_t *>resized(
            self.g.symbols,
            sizeof(uint32_t) * fl_words_starts_capacity(self.g.words.kind, capacity))
        return 0

    cdef int _grow_out(self, int64_t capacity) except -1:
        """Enlarge the list of numbers."""
        self.g.out = <uint32_t *>resized(self.g.out, capacity * sizeof(uint32_t))
        self.g.capacity = capacity
        return 0

    cdef int _cure(self, fl_ngrams_status status) except -1:
        """Give what a call asked for; -2 if it is to be called again, else what to answer."""
        if status == FL_NGRAMS_NEEDS_TEXT:
            if self.g.words.text_capacity >= LAST_TEXT:
                return documents.TOO_LONG
            self._grow_text(2 * <int64_t>self.g.words.text_capacity)
        elif status == FL_NGRAMS_NEEDS_OUT:
            self._grow_out(self.g.needed)
        elif status == FL_NGRAMS_NEEDS_TABLE:
            self.table.grow(self.g.lacks, self.g.needed)
        elif status == FL_NGRAMS_TOO_LARGE:
            return documents.TOO_LARGE
        else:
            return documents.DONE if status == FL_NGRAMS_DONE else documents.PAUSED
        return -2

    def set_word_bits(self, const uint64_t[::1] word_bits):
        """Say which code points are word characters, or white space where units are characters."""
        take_bits(&self.g.words, word_bits)
        self.word_bits = word_bits

    def load(self, Block block not None):
        """Take a block of documents, as `TextHasher.load`, and forget the numbers found so far."""
        needs_bits = block.has_others or self.g.words.kind != FL_WORDS_WORD
        if needs_bits and self.g.words.word_bits == NULL:
            raise ValueError
        self.block = block
        self.current = self.g.n_out = 0
        self.begun = False

    def advance(self, int64_t[::1] ends):
        """Go on with the block: DONE, PAUSED (call again), TOO_LARGE or TOO_LONG. The numbers of
        document i end at ends[i]."""
        cdef fl_ngrams_status status
        cdef int answer = -2
        if ends.shape[0] < self.block.n_documents:
            raise ValueError
        while answer == -2:
            with nogil:
                status = self._advance(ends)
            answer = self._cure(status)
        return answer

    cdef fl_ngrams_status _advance(self, int64_t[::1] ends) noexcept nogil:
        """Finish documents until the block, the budget or a buffer ends."""
        cdef int64_t budget = BUDGET
        cdef fl_ngrams_status status
        cdef Span *span
        while self.current < self.block.n_documents:
            if not self.begun:
                span = &self.block.spans[self.current]
                fl_ngrams_begin(&self.g, &self.done if span.is_lowered else &self.raw,
                                span.document, span.length)
                self.begun = True
            status = fl_ngrams_advance(&self.g, &budget)
            if status != FL_NGRAMS_DONE:
                return status
            ends[self.current] = self.g.n_out
            self.current += 1
            self.begun = False
            if budget <= 0:
                return FL_NGRAMS_PAUSED
        return FL_NGRAMS_DONE

    def add_features(self, list features):
        """Append the numbers of features (bytes), each taken as one word: DONE, TOO_LARGE or
        TOO_LONG."""
        cdef bytes feature
        cdef int answer
        for feature in features:
            if copy_feature(&self.g.words, feature) != 0:
                return documents.TOO_LONG
            answer = -2
            while answer == -2:
                answer = self._cure(fl_ngrams_feature(&self.g, <int32_t>len(feature)))
            if answer != documents.DONE:
                return answer
        return documents.DONE

    def forget(self):
        """Forget the numbers found so far."""
        self.g.n_out = 0

    def enter(self, bytes feature, bint is_whole):
        """Return the number of an n-gram, which gets one if it has none; -1 if it cannot.
        `is_whole` says that it is one word, spaces included."""
        cdef int answer = -2
        cdef uint32_t number = 0
        if copy_feature(&self.g.words, feature) != 0 or len(feature) == 0 and not is_whole:
            return -1
        if is_whole:
            self.g.n_out = 0
            answer = self.add_features([feature])
            return -1 if answer != documents.DONE else self.g.out[0]
        while answer == -2:
            answer = self._cure(fl_ngrams_enter(&self.g, <int32_t>len(feature), &number))
        return number if answer == documents.DONE else -1

    @property
    def n_found(self):
        """How many numbers were found."""
        return self.g.n_out

    def copy(self, uint32_t[::1] numbers):
        """Write the numbers found so far."""
        if numbers.shape[0] < self.g.n_out:
            raise ValueError
        if self.g.n_out:
            memcpy(&numbers[0], self.g.out, self.g.n_out * sizeof(uint32_t))

    def merge(
        self, const uint8_t[::1] arena, const uint8_t[::1] is_word, const uint32_t[::1] before,
        const uint32_t[::1] last, uint32_t[::1] numbers, int64_t done,
    ):
        """Enter what `NgramTable.copy` wrote of another table, from the number `done` on; returns
        how far it came, or -1 if the table becomes too large. The arena must have eight bytes more
        than are used."""
        cdef int answer = -2
        cdef int64_t n = is_word.shape[0]
        cdef fl_ngrams_status status
        if min(before.shape[0], last.shape[0], numbers.shape[0]) < n or arena.shape[0] < 8:
            raise ValueError
        if n == 0:
            return 0
        while answer == -2:
            with nogil:
                status = fl_ngrams_merge(
                    &self.g, &arena[0], &is_word[0], &before[0], &last[0], n, &numbers[0], &done)
            answer = self._cure(status)
        return -1 if answer == documents.TOO_LARGE else done


cdef struct Source:
    # Numbers by position, and the columns of the numbers, -1 for none.
    const uint32_t *numbers
    const int32_t *columns
    # Units of what a number stands for: in the last ones of a document none begins.
    int64_t n_units


cdef class RowCounter:
    """Counts columns, a row for each document."""

    cdef fl_text t
    cdef fl_words_bytes nothing
    cdef Source *sources
    cdef object held
    cdef const int64_t[::1] ends
    cdef int64_t n_sources, first, stop
    # The source that is next or under way in the current row, and how far it came there.
    cdef int64_t source, done
    cdef bint begun

    def __cinit__(self, int64_t n_columns):
        if not 1 <= n_columns <= 2**31 - 1:
            raise ValueError
        self.t.n_features = n_columns
        grow_words(&self.t.words, 256)
        grow_entries(&self.t, 2 * FL_TEXT_BATCH)
        fl_text_init(&self.t)

    def __dealloc__(self):
        PyMem_Free(self.sources)
        free_text(&self.t)

    def load(self, list sources, const int64_t[::1] ends, int64_t first, int64_t stop):
        """Take documents first to stop - 1, of which document i ends at ends[i] of each of the
        sources: numbers by position, the columns of numbers, -1 for none, and of how many units
        these are. Columns ascend in a row."""
        cdef const uint32_t[::1] numbers
        cdef const int32_t[::1] columns
        cdef int64_t k
        if not 0 <= first <= stop <= ends.shape[0]:
            raise IndexError
        self.sources = <Source *>resized(
            self.sources, max(<size_t>len(sources), 1) * sizeof(Source))
        self.n_sources = 0
        for k in range(len(sources)):
            numbers, columns, self.sources[k].n_units = sources[k]
            if stop and ends[stop - 1] > numbers.shape[0]:
                raise IndexError
            self.sources[k].numbers = &numbers[0] if numbers.shape[0] else NULL
            self.sources[k].columns = &columns[0] if columns.shape[0] else NULL
        self.held, self.ends, self.n_sources = sources, ends, len(sources)
        self.first, self.stop, self.begun = first, stop, False

    def count(self, CountedRows rows not None):
        """Go on with the documents and append their rows to `rows`: DONE, PAUSED (call again) or
        TOO_MANY (the next row has 2**31 or more)."""
        cdef fl_text_status status = FL_TEXT_NEEDS_ENTRIES
        if rows._ends.shape[0] <= self.stop - self.first:
            raise IndexError
        if rows.capacity == 0:
            rows.grow(4 * self.t.capacity)
        while status == FL_TEXT_NEEDS_ENTRIES:
            with nogil:
                status = self._count(rows)
            if status == FL_TEXT_NEEDS_ENTRIES and self.source < self.n_sources:
                grow_entries(&self.t, self.t.needed)
            elif status == FL_TEXT_NEEDS_ENTRIES:
                rows.grow(self.t.n_entries)
        if status == FL_TEXT_TOO_MANY:
            return documents.TOO_MANY
        return documents.DONE if status == FL_TEXT_DONE else documents.PAUSED

    cdef fl_text_status _count(self, CountedRows rows) noexcept nogil:
        """Finish rows until all are done, a buffer ends (that of `rows` if no source is left) or it
        is time to pause."""
        cdef int64_t begin, end, n, before, budget = BUDGET // 8, row = rows.n_rows
        cdef int64_t *ends = &rows._ends[0]
        cdef fl_text_status status = FL_TEXT_DONE
        cdef Source *source
        while self.first + row < self.stop and budget > 0 and status == FL_TEXT_DONE:
            begin, end = begin_of(self.ends, self.first + row), self.ends[self.first + row]
            if not self.begun:
                fl_text_begin(&self.t, &self.nothing, NULL, 0)
                self.begun, self.source, self.done = True, 0, 0
            while self.source < self.n_sources and status == FL_TEXT_DONE:
                source = &self.sources[self.source]
                n, before = max(end - begin - source.n_units + 1, 0), self.done
                status = fl_text_add_columns(
                    &self.t, source.numbers + begin, min(n, before + budget), source.columns,
                    &self.done)
                budget -= self.done - before
                if status == FL_TEXT_DONE and self.done < n:
                    status = FL_TEXT_PAUSED
                elif status == FL_TEXT_DONE:
                    self.source, self.done = self.source + 1, 0
                    if self.source == self.n_sources:
                        fl_text_finish(&self.t)
            if status == FL_TEXT_DONE and ends[row] + self.t.n_entries > rows.capacity:
                status = FL_TEXT_NEEDS_ENTRIES
            if status == FL_TEXT_DONE:
                memcpy(rows.entries + ends[row], self.t.entries,
                       self.t.n_entries * sizeof(fl_text_entry))
                ends[row + 1] = ends[row] + self.t.n_entries
                row += 1
                self.begun = False
                budget -= 16
        rows.n_rows = row
        if status != FL_TEXT_DONE or self.first + row == self.stop:
            return status
        return FL_TEXT_PAUSED

    def write(self, CountedRows rows not None, int32_t[::1] indices, number[::1] data):
        """Write counted rows to arrays of as many entries, here or in another counter."""
        cdef int64_t k, n = rows.nnz
        cdef const fl_text_entry *entries = rows.entries
        if min(indices.shape[0], data.shape[0]) < n:
            raise IndexError
        with nogil:
            for k in range(n):
                indices[k] = entries[k].column
                data[k] = <number>entries[k].count


def document_frequencies(
    const uint32_t[::1] numbers, const int64_t[::1] ends, int64_t first_row, int32_t[:, ::1] seen,
):
    """Add to seen[k, 1] in how many rows number k occurs; seen[k, 0] must be below first_row."""
    cdef int64_t i, row, begin = 0
    cdef int32_t stamp
    cdef uint32_t number
    with nogil:
        for row in range(ends.shape[0]):
            stamp = <int32_t>(first_row + row)
            for i in range(begin, ends[row]):
                number = numbers[i]
                seen[number, 1] += seen[number, 0] != stamp
                seen[number, 0] = stamp
            begin = ends[row]


def normalise_rows(const int64_t[::1] indptr, real[::1] data, int norm):
    """Divide each row by its norm, 1 or 2; a row of zeros stays."""
    cdef int64_t row
    with nogil:
        for row in range(indptr.shape[0] - 1):
            if indptr[row + 1] > indptr[row]:
                normalise(&data[indptr[row]], indptr[row + 1] - indptr[row], norm)
