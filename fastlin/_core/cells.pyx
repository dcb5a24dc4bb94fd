"""Delimited text to cells, and columns of them to numbers and categories; src_c/fl_delimited.h
holds the format and the contract.

A column is (text, row_begins, cells): `cells` has the shape (rows, 2), and is a view of the cells
of all columns, so that its rows may be far apart. `text` goes on for PADDING bytes after the last
cell.
"""

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc, PyMem_RawRealloc
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t

from .strings cimport (fl_numbered, fl_string, free_numbered, grow_numbered,
                      numbered_strings)

PADDING = FL_CELLS_PADDING
DONE = FL_CELLS_DONE
FULL = FL_CELLS_FULL
AFTER_QUOTE = FL_CELLS_AFTER_QUOTE
AFTER_RETURN = FL_CELLS_AFTER_RETURN
WIDTH = FL_CELLS_WIDTH
LONG = FL_CELLS_LONG

# Bytes of distinct cells that are taken at a time
cdef enum:
    ARENA = 1 << 16


cdef class Parser:
    """Where the rows of a text are taken to, and how far it is read.

    Attributes
    ----------
    width : int
        Cells of a row; 0 before the first.
    n_rows : int
        Rows in the arrays; set to 0 for new ones.
    n_lines : int
        Lines before the place that was reached.
    n_found : int
        Cells of the row that was looked at last.
    """

    cdef fl_cells state

    def __cinit__(self, uint8_t delimiter):
        self.state.delimiter = delimiter

    def parse(self, uint8_t[::1] text not None, int64_t position, int64_t end,
              int64_t[::1] row_begins not None, int64_t[::1] row_lines not None,
              int32_t[:, ::1] cells not None):
        """(status, the position reached); `text` must go on for PADDING bytes after `end`."""
        cdef fl_cells_status status
        self.state.row_begins, self.state.row_lines = &row_begins[0], &row_lines[0]
        self.state.cells = <fl_cell *> &cells[0, 0]
        self.state.row_room = min(row_begins.shape[0], row_lines.shape[0])
        self.state.cell_room = cells.shape[0]
        with nogil:
            status = fl_cells_parse(&self.state, &text[0], &position, end)
        return <int> status, position

    @property
    def width(self):
        return self.state.width

    @property
    def n_rows(self):
        return self.state.n_rows

    @n_rows.setter
    def n_rows(self, value):
        self.state.n_rows = value

    @property
    def n_lines(self):
        return self.state.n_lines

    @property
    def n_found(self):
        return self.state.n_found


cdef fl_column column_of(const uint8_t[::1] text, const int64_t[::1] row_begins,
                         const int32_t[:, :] cells) noexcept:
    """The column that arrays are."""
    cdef fl_column column
    column.text, column.row_begins = &text[0], &row_begins[0]
    column.cells = <const fl_cell *> &cells[0, 0]
    column.stride = cells.strides[0] // <Py_ssize_t> sizeof(fl_cell)
    return column


def strings_of(const uint8_t[::1] text not None, const int64_t[::1] row_begins not None,
               const int32_t[:, :] cells not None):
    """The cells of a column as a list of str."""
    cdef Py_ssize_t i, n = row_begins.shape[0]
    cdef fl_column column
    cdef fl_string cell
    cdef list found = [None] * n
    if n:
        column = column_of(text, row_begins, cells)
    for i in range(n):
        cell = fl_cell_at(&column, i)
        found[i] = PyUnicode_DecodeUTF8(<const char *> cell.bytes, cell.size, "strict")
    return found


def numbers_of(const uint8_t[::1] text not None, const int64_t[::1] row_begins not None,
               const int32_t[:, :] cells not None, int64_t start, double[::1] out not None):
    """out[i] = the number in cell i, from `start` up to the first cell that is not finished here;
    returns which."""
    cdef int64_t n = row_begins.shape[0]
    cdef fl_column column
    if start < n:
        column = column_of(text, row_begins, cells)
        with nogil:
            start = fl_cell_numbers(&column, start, n, &out[start])
    return start


cdef class Numbered:
    """Distinct cells by number, in the order in which they come up."""

    cdef fl_numbered known
    cdef fl_arena arena
    cdef void **chunks
    cdef Py_ssize_t n_chunks

    def __cinit__(self):
        grow_numbered(&self.known)

    def __dealloc__(self):
        cdef Py_ssize_t k
        for k in range(self.n_chunks):
            PyMem_RawFree(self.chunks[k])
        PyMem_RawFree(self.chunks)
        free_numbered(&self.known)

    def __len__(self):
        return self.known.n

    cdef int grow_arena(self, int64_t size) except -1:
        """Make room for a cell of this size, and more."""
        cdef void *more = PyMem_RawRealloc(self.chunks, (self.n_chunks + 1) * sizeof(void *))
        if more == NULL:
            raise MemoryError()
        self.chunks = <void **> more
        size = max(size, ARENA)
        more = PyMem_RawMalloc(size)
        if more == NULL:
            raise MemoryError()
        self.chunks[self.n_chunks] = more
        self.n_chunks += 1
        self.arena.next, self.arena.end = <uint8_t *> more, <uint8_t *> more + size
        return 0

    def number(self, const uint8_t[::1] text not None, const int64_t[::1] row_begins not None,
               const int32_t[:, :] cells not None, int32_t[::1] codes not None):
        """codes[i] = the number of cell i, the next one if it is new."""
        cdef int64_t done = 0, n = row_begins.shape[0]
        cdef fl_column column
        if n:
            column = column_of(text, row_begins, cells)
        while done < n:
            with nogil:
                done = fl_number_cells(&column, &self.known, &self.arena, done, n,
                                       &codes[0] + done)
            if done < n:
                if self.known.n == self.known.capacity:
                    grow_numbered(&self.known)
                if self.arena.end - self.arena.next < cells[done, 1]:
                    self.grow_arena(cells[done, 1])

    def find(self, const uint8_t[::1] text not None, const int64_t[::1] row_begins not None,
             const int32_t[:, :] cells not None, int32_t[::1] codes not None):
        """codes[i] = the number of cell i, -1 if it has none."""
        cdef fl_column column
        if row_begins.shape[0]:
            column = column_of(text, row_begins, cells)
            with nogil:
                fl_find_cells(&column, &self.known, 0, row_begins.shape[0], &codes[0])

    def values(self):
        """The distinct cells as str."""
        return numbered_strings(&self.known)
