"""The contract with fl_text.h, fl_ngrams.h and what they include; what the fields and functions
mean stands there. Also what the modules that use them share."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused real:
    float
    double

cdef extern from "fl_common.h" nogil:
    void FL_PREFETCH(const void *p)

cdef extern from "fl_vocabulary.h" nogil:
    const int32_t FL_VOCABULARY_HEAD
    const uint32_t FL_VOCABULARY_ROOT

    ctypedef struct fl_vocabulary_slot:
        uint64_t key
        uint32_t number
        uint32_t start

    ctypedef struct fl_vocabulary:
        fl_vocabulary_slot *words
        fl_vocabulary_slot *grams
        int32_t word_bits
        int32_t gram_bits
        uint8_t *arena
        int64_t arena_capacity
        int64_t arena_used
        int64_t n_words
        int64_t n_grams
        uint64_t seed

    ctypedef enum fl_vocabulary_status:
        FL_VOCABULARY_LACKS_WORDS
        FL_VOCABULARY_LACKS_ARENA
        FL_VOCABULARY_LACKS_GRAMS

    void fl_vocabulary_move(
        const fl_vocabulary *v, const fl_vocabulary_slot *origin, int32_t from_bits,
        fl_vocabulary_slot *to, int32_t to_bits)

cdef extern from "fl_text.h" nogil:
    const int32_t FL_TEXT_BATCH
    const int32_t FL_TEXT_BUCKETS
    const int32_t FL_WORDS_PADDING

    ctypedef struct fl_words_bytes:
        const uint8_t *kept
        int32_t shortcut

    ctypedef enum fl_words_kind:
        FL_WORDS_WORD
        FL_WORDS_CHAR
        FL_WORDS_CHAR_WB

    ctypedef struct fl_words:
        const uint64_t *word_bits
        fl_words_kind kind
        int32_t least
        uint8_t *text
        int32_t *starts
        int32_t *limits
        int32_t text_capacity

    ctypedef enum fl_text_status:
        FL_TEXT_DONE
        FL_TEXT_PAUSED
        FL_TEXT_NEEDS_TEXT
        FL_TEXT_NEEDS_ENTRIES
        FL_TEXT_TOO_MANY

    ctypedef struct fl_text_entry:
        int32_t column
        int32_t count

    ctypedef struct fl_text:
        int64_t n_features
        int32_t min_n
        int32_t max_n
        int32_t alternate_sign
        int32_t is_fast
        fl_words words
        const fl_vocabulary *stop_words
        fl_text_entry *entries
        fl_text_entry *spare
        uint16_t *buckets
        int64_t capacity
        int64_t n_entries
        int64_t needed

    int32_t fl_words_shortcut(const uint8_t *kept)
    int64_t fl_words_starts_capacity(fl_words_kind kind, int64_t text_capacity)
    void fl_text_init(fl_text *t)
    void fl_text_begin(
        fl_text *t, const fl_words_bytes *bytes, const uint8_t *document, int64_t length)
    fl_text_status fl_text_add(fl_text *t, int32_t length)
    fl_text_status fl_text_add_columns(
        fl_text *t, const uint32_t *ids, int64_t n, const int32_t *columns, int64_t *done)
    void fl_text_finish(fl_text *t)
    uint64_t fl_text_hash(const fl_text *t, const uint8_t *bytes, int32_t length)
    uint32_t fl_text_key(const fl_text *t, uint64_t hash)

cdef extern from "fl_text.h" nogil:
    ctypedef struct fl_text_kernels:
        fl_text_status (*advance)(fl_text *t, int64_t *budget) noexcept nogil
        int64_t (*squares)(const fl_text_entry *row, int64_t n) noexcept nogil
        int64_t (*quotients_f32)(
            const fl_text_entry *row, int64_t n, double total, int32_t *indices,
            float *data) noexcept nogil
        int64_t (*quotients_f64)(
            const fl_text_entry *row, int64_t n, double total, int32_t *indices,
            double *data) noexcept nogil
        int64_t (*counting)(
            const fl_text_entry *row, int64_t n, fl_text_entry *kept,
            int64_t *squares) noexcept nogil

    const fl_text_kernels *fl_text_kernels_of(int32_t isa)

cdef extern from "fl_ngrams.h" nogil:
    ctypedef enum fl_ngrams_status:
        FL_NGRAMS_DONE
        FL_NGRAMS_PAUSED
        FL_NGRAMS_NEEDS_TEXT
        FL_NGRAMS_NEEDS_OUT
        FL_NGRAMS_NEEDS_TABLE
        FL_NGRAMS_TOO_LARGE

    ctypedef struct fl_ngrams:
        int32_t min_n
        int32_t max_n
        int32_t learns
        fl_words words
        const fl_vocabulary *stop_words
        fl_vocabulary *vocabulary
        uint32_t *symbols
        uint32_t *out
        int64_t capacity
        int64_t n_out
        int64_t needed
        fl_vocabulary_status lacks

    void fl_ngrams_begin(
        fl_ngrams *g, const fl_words_bytes *bytes, const uint8_t *document, int64_t length)
    fl_ngrams_status fl_ngrams_advance(fl_ngrams *g, int64_t *budget)
    fl_ngrams_status fl_ngrams_feature(fl_ngrams *g, int32_t length)
    fl_ngrams_status fl_ngrams_enter(fl_ngrams *g, int32_t length, uint32_t *number)
    fl_ngrams_status fl_ngrams_merge(
        fl_ngrams *g, const uint8_t *arena, const uint8_t *is_word, const uint32_t *before,
        const uint32_t *last, int64_t n, uint32_t *numbers, int64_t *done)


cdef inline void divide(real *data, int64_t n, double norm) noexcept nogil:
    """Divide values by a number."""
    cdef int64_t k
    for k in range(n):
        data[k] = <real>(data[k] / norm)


cdef inline void normalise(real *data, int64_t n, int norm) noexcept nogil:
    """Divide a row by its norm: 0 (none), 1 or 2. Values and their sum are rounded as
    scikit-learn's `normalize` rounds them, so that results are equal to the last bit."""
    cdef int64_t k
    cdef double total = 0
    if norm == 0:
        return
    for k in range(n):
        total += fabs(data[k]) if norm == 1 else <real>(data[k] * data[k])
    if norm == 2:
        total = sqrt(total)
    if total != 0:
        divide(data, n, total)
