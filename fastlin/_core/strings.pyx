"""Strings of Arrow columns, read where they lie: numbers for the distinct ones, without a Python
object per cell and without the GIL."""

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawRealloc
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.unicode cimport PyUnicode_DecodeUTF8

# Distinct strings that there is room for at first; a power of two, with twice as many slots.
cdef enum:
    FIRST_ROOM = 512


cdef int grow_numbered(fl_numbered *known) except -1:
    """Make room for twice as many distinct strings."""
    cdef int64_t room = 2 * known.capacity if known.capacity else FIRST_ROOM
    cdef void *strings = PyMem_RawRealloc(known.strings, room * sizeof(fl_string))
    if strings == NULL:
        raise MemoryError()
    known.strings = <fl_string *> strings
    cdef void *hashes = PyMem_RawRealloc(known.hashes, room * sizeof(uint64_t))
    if hashes == NULL:
        raise MemoryError()
    known.hashes = <uint64_t *> hashes
    cdef void *slots = PyMem_RawCalloc(2 * room, sizeof(int32_t))
    if slots == NULL:
        raise MemoryError()
    PyMem_RawFree(known.slots)
    known.slots = <int32_t *> slots
    known.capacity, known.mask = room, 2 * room - 1
    with nogil:
        fl_rebuild(known)
    return 0


cdef void free_numbered(fl_numbered *known) noexcept:
    """Give the memory back."""
    PyMem_RawFree(known.strings)
    PyMem_RawFree(known.hashes)
    PyMem_RawFree(known.slots)


cdef list numbered_strings(const fl_numbered *known):
    """The strings by their numbers."""
    cdef Py_ssize_t k
    return [
        PyUnicode_DecodeUTF8(<const char *> known.strings[k].bytes, known.strings[k].size,
                             "surrogatepass")
        for k in range(known.n)
    ]


cdef class ArrowStrings:
    """The strings of a column that a library hands over as an Arrow stream.

    Attributes
    ----------
    length : int
        Number of rows; -1 if the column holds no strings, or could not be read.
    """

    cdef object capsule
    cdef ArrowArray *chunks
    cdef Py_ssize_t n_chunks
    cdef int layout
    cdef fl_numbered known
    cdef readonly Py_ssize_t length

    def __cinit__(self, capsule not None):
        """`capsule` is what `__arrow_c_stream__` returned; it must not be used elsewhere."""
        cdef ArrowArrayStream *stream
        stream = <ArrowArrayStream *> PyCapsule_GetPointer(capsule, "arrow_array_stream")
        self.capsule, self.length = capsule, -1
        if self.read_layout(stream):
            self.read_chunks(stream)

    def __dealloc__(self):
        cdef Py_ssize_t c
        for c in range(self.n_chunks):
            if self.chunks[c].release != NULL:
                self.chunks[c].release(&self.chunks[c])
        PyMem_RawFree(self.chunks)
        free_numbered(&self.known)

    cdef bint read_layout(self, ArrowArrayStream *stream) except -1:
        """Whether the stream is one of strings."""
        cdef ArrowSchema schema
        if stream.get_schema(stream, &schema) != 0:
            return False
        name = None if schema.dictionary != NULL else bytes(schema.format)
        if schema.release != NULL:
            schema.release(&schema)
        layouts = {b"u": FL_OFFSETS32, b"U": FL_OFFSETS64, b"vu": FL_VIEWS}
        self.layout = layouts.get(name, -1)
        return self.layout >= 0

    cdef int read_chunks(self, ArrowArrayStream *stream) except -1:
        """Take over the arrays of the stream."""
        cdef Py_ssize_t room = 0, length = 0
        cdef ArrowArray *more
        while True:
            if self.n_chunks == room:
                room = 2 * room + 4
                more = <ArrowArray *> PyMem_RawRealloc(self.chunks, room * sizeof(ArrowArray))
                if more == NULL:
                    raise MemoryError
                self.chunks = more
            if stream.get_next(stream, &self.chunks[self.n_chunks]) != 0:
                return 0
            if self.chunks[self.n_chunks].release == NULL:
                self.length = length
                return 0
            length += self.chunks[self.n_chunks].length
            self.n_chunks += 1

    cdef fl_strings part(self, Py_ssize_t c) noexcept:
        """The strings of one chunk."""
        cdef const ArrowArray *chunk = &self.chunks[c]
        cdef fl_strings found
        found.layout, found.offset = self.layout, chunk.offset
        found.validity = <const uint8_t *> chunk.buffers[0]
        found.places = chunk.buffers[1]
        found.data, found.buffers = b"", NULL
        if self.layout == FL_VIEWS:
            found.buffers = <const uint8_t *const *> (chunk.buffers + 2)
        elif chunk.buffers[2] != NULL:
            found.data = <const uint8_t *> chunk.buffers[2]
        return found

    def number(self, int32_t[::1] codes not None, Py_ssize_t start, Py_ssize_t stop):
        """codes[i] = the number of string i, -1 where there is none, for start <= i < stop."""
        cdef Py_ssize_t c, first = 0
        cdef int64_t done, last
        cdef fl_strings part
        if self.known.capacity == 0:
            grow_numbered(&self.known)
        for c in range(self.n_chunks):
            last = min(stop - first, self.chunks[c].length)
            done = max(start - first, 0)
            if done < last:
                part = self.part(c)
            while done < last:
                with nogil:
                    done = fl_number_strings(&part, &self.known, done, last,
                                             &codes[0] + first + done)
                if done < last:
                    grow_numbered(&self.known)
            first += self.chunks[c].length

    def values(self):
        """The distinct strings by their numbers."""
        return numbered_strings(&self.known)
