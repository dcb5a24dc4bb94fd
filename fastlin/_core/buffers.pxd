"""Arrays of the caller by the buffer protocol, without an exception where one does not fit. A typed
memoryview of an argument costs three times as much, which shows where a call scores one row."""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release
from cpython.object cimport PyObject


cdef extern from "Python.h":
    int get_buffer "PyObject_GetBuffer" (PyObject *, Py_buffer *, int) noexcept
    void PyErr_Clear() noexcept


cdef inline bint open_buffer(object array, Py_buffer *view) noexcept:
    """Whether the array is C-contiguous and aligned, with elements of the machine's own kind."""
    if get_buffer(<PyObject *>array, view, PyBUF_FORMAT | PyBUF_ND) < 0:
        PyErr_Clear()
        return False
    if (view.format != NULL and view.format[0] != 0 and view.format[1] == 0
            and view.itemsize > 0 and <size_t>view.buf % <size_t>view.itemsize == 0):
        return True
    PyBuffer_Release(view)
    return False


cdef inline bint is_double(const Py_buffer *view) noexcept:
    return view.format[0] == b'd' and view.itemsize == sizeof(double)


cdef inline bint is_float(const Py_buffer *view) noexcept:
    return view.format[0] == b'f' and view.itemsize == sizeof(float)


cdef inline bint is_integer(const Py_buffer *view, Py_ssize_t size) noexcept:
    """Whether the elements are signed integers of that many bytes."""
    return view.format[0] in (b'i', b'l', b'q') and view.itemsize == size
