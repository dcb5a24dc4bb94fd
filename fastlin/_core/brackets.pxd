"""The contract with src_c/fl_brackets.h; what fields and functions mean stands there."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from .strings cimport fl_numbered


cdef extern from "fl_brackets.h" nogil:
    enum:
        FL_TREE_PARSED, FL_TREE_MORE, FL_TREE_FULL
        FL_TREE_EMPTY, FL_TREE_OUTSIDE, FL_TREE_UNCLOSED, FL_TREE_BARE

    struct fl_open:
        int64_t sequence
        int64_t children

    struct fl_brackets:
        const uint8_t *text
        int64_t at
        int64_t n_nodes
        int64_t first_node
        fl_numbered words
        fl_numbered productions
        fl_open *open
        int32_t *sequence
        int32_t *waiting
        int32_t *kept
        int32_t *production
        int64_t *starts
        int32_t *children

    int fl_is_full(const fl_numbered *known) noexcept
    int fl_read_tree(fl_brackets *b, int64_t end, int64_t stop) noexcept
