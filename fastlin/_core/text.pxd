"""The contract with src_c/fl_text.h; what the fields and functions mean stands there."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

ctypedef fused real:
    float
    double

cdef extern from "fl_text.h" nogil:
    const int32_t FL_TEXT_BATCH
    const int32_t FL_WORDS_PADDING

    ctypedef struct fl_words_bytes:
        const uint8_t *kept
        int32_t shortcut

    ctypedef struct fl_words:
        const uint64_t *word_bits
        uint8_t *text
        int32_t *starts
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
        fl_words words
        fl_text_entry *entries
        fl_text_entry *spare
        uint32_t *buckets
        int64_t capacity
        int64_t n_entries
        int64_t needed

    int64_t fl_words_starts_capacity(int64_t text_capacity)
    void fl_text_init(fl_text *t)
    void fl_text_begin(
        fl_text *t, const fl_words_bytes *bytes, const uint8_t *document, int64_t length)
    fl_text_status fl_text_advance(fl_text *t, int64_t *budget)
    fl_text_status fl_text_add(fl_text *t, int32_t length)
    void fl_text_finish(fl_text *t)
    int32_t fl_text_hash(const uint8_t *bytes, int32_t length)
    int32_t fl_text_column(const fl_text *t, int32_t hash)
    int32_t fl_text_shortcut(const uint8_t *kept)
