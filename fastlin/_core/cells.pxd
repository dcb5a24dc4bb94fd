"""The contract with src_c/fl_delimited.h; what fields and functions mean stands there."""

from libc.stdint cimport int32_t, int64_t, uint8_t

from .strings cimport fl_numbered, fl_string


cdef extern from "fl_delimited.h" nogil:
    enum: FL_CELLS_PADDING

    ctypedef enum fl_cells_status:
        FL_CELLS_DONE
        FL_CELLS_FULL
        FL_CELLS_AFTER_QUOTE
        FL_CELLS_AFTER_RETURN
        FL_CELLS_WIDTH
        FL_CELLS_LONG

    ctypedef struct fl_cell:
        int32_t begin, size

    ctypedef struct fl_cells:
        int64_t *row_begins
        int64_t *row_lines
        fl_cell *cells
        int64_t row_room, cell_room
        int64_t width
        uint8_t delimiter
        int64_t n_rows, n_lines
        int64_t n_found

    fl_cells_status fl_cells_parse(fl_cells *s, uint8_t *text, int64_t *position,
                                   int64_t end) noexcept

    ctypedef struct fl_column:
        const uint8_t *text
        const int64_t *row_begins
        const fl_cell *cells
        int64_t stride

    ctypedef struct fl_arena:
        uint8_t *next
        uint8_t *end

    fl_string fl_cell_at(const fl_column *column, int64_t i) noexcept
    int64_t fl_cell_numbers(const fl_column *column, int64_t start, int64_t stop,
                            double *out) noexcept
    int64_t fl_number_cells(const fl_column *column, fl_numbered *known, fl_arena *arena,
                            int64_t start, int64_t stop, int32_t *codes) noexcept
    void fl_find_cells(const fl_column *column, const fl_numbered *known, int64_t start,
                       int64_t stop, int32_t *codes) noexcept
