"""Numbers for Python objects: a loop over a dict without the interpreter between two lookups.

Equal cells of a column are often one object. So a small table keeps the numbers of objects by their
addresses: a cell that is found there costs a few nanoseconds, and its object is not touched.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDED_RO, PyBuffer_Release, PyObject_GetBuffer
from cpython.dict cimport PyDict_SetItem
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t, uintptr_t

cdef enum:
    SLOTS = 1024
    SLOT_BITS = 10


cdef int32_t number_of(dict numbers, object cell) except -1:
    """The number of a cell; the next one if it is new."""
    cdef PyObject *number = PyDict_GetItemWithError(numbers, cell)
    cdef Py_ssize_t known
    if number != NULL:
        return <int32_t> PyLong_AsLong(number)
    known = len(numbers)
    PyDict_SetItem(numbers, cell, known)
    return <int32_t> known


def number_objects(cells not None, dict numbers not None, int32_t[::1] codes not None):
    """Write the number of each cell to codes; what `numbers` lacks gets the next one.

    `cells` is a one-dimensional numpy array of objects. `numbers` maps objects to 0, 1, ...; it
    must not be touched by anything else meanwhile. Raises what hashing or comparing a cell raises.
    """
    cdef PyObject *known[SLOTS]
    cdef int32_t code[SLOTS]
    cdef Py_buffer view
    cdef Py_ssize_t i, slot, n = codes.shape[0]
    cdef const char *place
    cdef PyObject *cell
    for slot in range(SLOTS):
        known[slot] = NULL
    PyObject_GetBuffer(cells, &view, PyBUF_STRIDED_RO | PyBUF_FORMAT)
    try:
        place = <const char *> view.buf
        n = min(n, view.shape[0]) if view.format == b"O" and view.ndim == 1 else 0
        for i in range(n):
            cell = (<PyObject **> (place + i * view.strides[0]))[0]
            # The top bits of a product are those that all bits of the address decide.
            slot = (<uint64_t> <uintptr_t> cell * 0x9E3779B97F4A7C15ULL) >> (64 - SLOT_BITS)
            if known[slot] != cell or cell == NULL:
                code[slot] = number_of(numbers, None if cell == NULL else <object> cell)
                known[slot] = cell
            codes[i] = code[slot]
    finally:
        PyBuffer_Release(&view)
