"""Numbers for Python objects: a loop over a dict without the interpreter between two lookups."""

from cpython.dict cimport PyDict_SetItem
from cpython.object cimport PyObject
from libc.stdint cimport int32_t


def number_objects(list cells not None, dict numbers not None, int32_t[::1] codes not None):
    """Write the number of each cell to codes; what `numbers` lacks gets the next one.

    `numbers` maps objects to 0, 1, ...; it must not be touched by anything else meanwhile. Raises
    what hashing or comparing a cell raises.
    """
    cdef Py_ssize_t i, n = min(len(cells), codes.shape[0])
    cdef PyObject *number
    cdef long known = len(numbers)
    for i in range(n):
        cell = cells[i]
        number = PyDict_GetItemWithError(numbers, cell)
        if number == NULL:
            PyDict_SetItem(numbers, cell, known)
            codes[i] = <int32_t> known
            known += 1
        else:
            codes[i] = <int32_t> PyLong_AsLong(number)
