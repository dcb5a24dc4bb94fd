"""What `encode.pyx` takes from Python's C interface: look-ups that return borrowed references."""

from cpython.object cimport PyObject


cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL
    long PyLong_AsLong(PyObject *number)
