"""Categories to hashes, and rows of hashes to rows of columns, without the GIL where no Python
object is looked at. Hashes are int64, `NO_CATEGORY` where there is none."""

from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_AsUTF8AndSize
from libc.string cimport memcpy

NO_CATEGORY = FL_NO_CATEGORY
# fl_murmur takes lengths of 31 bits.
cdef Py_ssize_t LONGEST = 1 << 30


def hash_texts(list texts not None, bytes prefix not None, int64_t[::1] out not None):
    """out[i] = the hash of prefix + texts[i], str (in UTF-8, lone surrogates too) or bytes.

    Raises OverflowError for a text of 2**30 bytes or more.
    """
    cdef Py_ssize_t i, size, n = min(len(texts), out.shape[0]), start = len(prefix)
    cdef Py_ssize_t room = start + 256
    cdef bytearray scratch = bytearray(prefix + bytes(room - start))
    cdef const char *text
    cdef uint8_t *buffer
    for i in range(n):
        item = texts[i]
        if isinstance(item, str):
            try:
                text = PyUnicode_AsUTF8AndSize(item, &size)
            except UnicodeEncodeError:
                item = item.encode("utf-8", "surrogatepass")
        if not isinstance(item, str):
            text, size = PyBytes_AS_STRING(<bytes?> item), PyBytes_GET_SIZE(item)
        if size >= LONGEST - start:
            raise OverflowError
        if start + size + 4 > room:
            room = 2 * (start + size) + 4
            scratch = bytearray(prefix + bytes(room - start))
        buffer = <uint8_t *> PyByteArray_AS_STRING(scratch)
        memcpy(buffer + start, text, size)
        out[i] = fl_murmur(buffer, <int32_t> (start + size))


def hash_integers(const int64_t[::1] numbers not None, bytes prefix not None,
                  int64_t[::1] out not None, Py_ssize_t first, Py_ssize_t stop):
    """out[i] = the hash of prefix + numbers[i] in decimal, for first <= i < stop."""
    cdef Py_ssize_t i, start = len(prefix)
    cdef bytearray scratch = bytearray(prefix + bytes(FL_DIGITS_ROOM))
    cdef uint8_t *buffer = <uint8_t *> PyByteArray_AS_STRING(scratch)
    with nogil:
        for i in range(first, stop):
            out[i] = fl_murmur(
                buffer, <int32_t> start + fl_write_integer(numbers[i], buffer + start))


def hashed_rows(const int64_t[:, ::1] hashes not None, const int32_t[::1] members not None,
                const int32_t[::1] ends not None, Py_ssize_t n_features, bint alternate_sign,
                bint binary, uint32_t[::1] keys not None, int64_t[::1] row_ends not None,
                int32_t[::1] indices not None, int32_t[::1] values not None):
    """(entries, whether a value is other than 1 and -1) of the rows whose cells have these hashes.

    row_ends[i] becomes the number of entries up to and with row i. `keys` has room for two numbers
    per term, `indices` and `values` for one per row and term.
    """
    cdef Py_ssize_t i, n = hashes.shape[0]
    cdef int64_t size = 0
    cdef int multiple = 0
    cdef fl_terms terms
    if n == 0 or ends.shape[0] == 0:
        row_ends[:n] = 0
        return 0, False
    terms.n, terms.members, terms.ends = ends.shape[0], &members[0], &ends[0]
    terms.n_features, terms.sign_bit, terms.binary = n_features, alternate_sign, binary
    with nogil:
        for i in range(n):
            size += fl_hashed_row(&terms, &hashes[i, 0], &keys[0], &indices[0] + size,
                                  &values[0] + size, &multiple)
            row_ends[i] = size
    return size, bool(multiple)
