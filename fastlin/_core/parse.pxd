"""The contract with the parsers of files in src_c."""

from libc.stdint cimport int32_t, int64_t, uint8_t


cdef extern from "fl_svmlight.h" nogil:
    enum: FL_SVM_PADDING

    ctypedef enum fl_svm_status:
        FL_SVM_DONE
        FL_SVM_FULL
        FL_SVM_NO_TARGET
        FL_SVM_BAD_TARGET
        FL_SVM_INFINITE_TARGET
        FL_SVM_NO_QUERY_ID
        FL_SVM_BAD_QUERY_ID
        FL_SVM_NO_COLON
        FL_SVM_BAD_INDEX
        FL_SVM_NEGATIVE_INDEX
        FL_SVM_ZERO_INDEX
        FL_SVM_LARGE_INDEX
        FL_SVM_BAD_VALUE
        FL_SVM_INFINITE_VALUE
        FL_SVM_REPEATED_INDEX

    ctypedef struct fl_svm_hard:
        int64_t is_label, position, begin, end, line

    ctypedef struct fl_svm:
        double *values
        int32_t *columns
        double *labels
        int64_t *row_ends
        int64_t *row_lines
        int64_t *label_ends
        int64_t *query_ids
        fl_svm_hard *hard
        int64_t entry_room, label_room, row_room, hard_room
        int multilabel, query_id
        int64_t lowest_index
        int64_t n_entries, n_labels, n_rows, n_hard
        int64_t n_lines, min_index, max_index
        int64_t token_begin, token_end

    ctypedef fl_svm_status fl_svm_parser(fl_svm *s, const uint8_t *text, int64_t *position,
                                         int64_t end)
    fl_svm_parser *fl_svm_parser_of(int32_t isa)
