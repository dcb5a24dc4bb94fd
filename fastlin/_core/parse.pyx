"""svmlight text into arrays; src_c/fl_svmlight.h holds the format and the contract."""

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t

PADDING = FL_SVM_PADDING
DONE = FL_SVM_DONE
FULL = FL_SVM_FULL
NO_TARGET = FL_SVM_NO_TARGET
BAD_TARGET = FL_SVM_BAD_TARGET
INFINITE_TARGET = FL_SVM_INFINITE_TARGET
NO_QUERY_ID = FL_SVM_NO_QUERY_ID
BAD_QUERY_ID = FL_SVM_BAD_QUERY_ID
NO_COLON = FL_SVM_NO_COLON
BAD_INDEX = FL_SVM_BAD_INDEX
NEGATIVE_INDEX = FL_SVM_NEGATIVE_INDEX
ZERO_INDEX = FL_SVM_ZERO_INDEX
LARGE_INDEX = FL_SVM_LARGE_INDEX
BAD_VALUE = FL_SVM_BAD_VALUE
INFINITE_VALUE = FL_SVM_INFINITE_VALUE
REPEATED_INDEX = FL_SVM_REPEATED_INDEX


cdef class SvmlightParser:
    """The counters of one text's parse, and the arrays that it fills.

    The arrays stay the caller's: `use` takes them (columns of `hard`: is_label, position, begin,
    end, line), `parse` fills them from their start, `reset` says that their contents were taken.
    """

    cdef fl_svm state
    cdef fl_svm_parser *parser
    cdef double[::1] values, labels
    cdef int32_t[::1] columns
    cdef int64_t[::1] row_ends, row_lines, label_ends, query_ids
    cdef int64_t[:, ::1] hard

    def __cinit__(self, bint multilabel, bint query_id, int64_t lowest_index, int isa):
        self.parser = fl_svm_parser_of(isa)
        self.state.multilabel = multilabel
        self.state.query_id = query_id
        self.state.lowest_index = lowest_index
        self.state.min_index = INT64_MAX
        self.state.max_index = -1

    def use(self, double[::1] values not None, int32_t[::1] columns not None,
            double[::1] labels not None, int64_t[::1] row_ends not None,
            int64_t[::1] row_lines not None, int64_t[::1] label_ends not None,
            int64_t[::1] query_ids not None, int64_t[:, ::1] hard not None):
        self.values, self.columns, self.labels = values, columns, labels
        self.row_ends, self.row_lines = row_ends, row_lines
        self.label_ends, self.query_ids, self.hard = label_ends, query_ids, hard
        self.state.values = &values[0]
        self.state.columns = &columns[0]
        self.state.labels = &labels[0]
        self.state.row_ends = &row_ends[0]
        self.state.row_lines = &row_lines[0]
        self.state.label_ends = &label_ends[0]
        self.state.query_ids = &query_ids[0]
        self.state.hard = <fl_svm_hard *> &hard[0, 0]
        self.state.entry_room = min(values.shape[0], columns.shape[0])
        self.state.label_room = labels.shape[0]
        self.state.row_room = min(row_ends.shape[0], row_lines.shape[0], label_ends.shape[0],
                                  query_ids.shape[0])
        self.state.hard_room = hard.shape[0]

    def parse(self, const uint8_t[::1] text not None, int64_t position, int64_t end):
        """(status, the position reached); `text` must go on for PADDING bytes after `end`."""
        cdef fl_svm_status status
        with nogil:
            status = self.parser(&self.state, &text[0], &position, end)
        return <int> status, position

    def reset(self):
        self.state.n_entries = self.state.n_labels = self.state.n_rows = self.state.n_hard = 0

    @property
    def n_entries(self):
        return self.state.n_entries

    @property
    def n_labels(self):
        return self.state.n_labels

    @property
    def n_rows(self):
        return self.state.n_rows

    @property
    def n_hard(self):
        return self.state.n_hard

    @property
    def n_lines(self):
        return self.state.n_lines

    @property
    def min_index(self):
        return self.state.min_index

    @property
    def max_index(self):
        return self.state.max_index

    @property
    def token(self):
        return self.state.token_begin, self.state.token_end
