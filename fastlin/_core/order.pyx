"""Orders in which rows are visited, drawn from a generator whose state the caller owns."""

import numpy as np

from libc.stdint cimport uint8_t

from .c cimport fl_rng_below, fl_rng_shuffle, int64_t, uint64_t


def shuffle_all(int64_t[::1] order, uint64_t[::1] rng):
    """Shuffle `order` uniformly."""
    cdef Py_ssize_t n = order.shape[0]
    if n:
        with nogil:
            fl_rng_shuffle(&rng[0], &order[0], n)


def shuffle_blocks(const int64_t[::1] rows, int64_t[::1] order, Py_ssize_t block,
                   uint64_t[::1] rng, int64_t[::1] unshuffled):
    """Write `rows` to `order`: blocks of consecutive rows in a shuffled order, each shuffled
    inside. A block's rows lie side by side in memory, so an epoch reads memory nearly in order.
    `unshuffled` gets the same blocks with their rows as they come, if it is not empty."""
    cdef Py_ssize_t n = rows.shape[0], n_blocks = (n + block - 1) // block
    cdef Py_ssize_t b, k, first, size, position = 0
    cdef int64_t[::1] blocks = np.arange(n_blocks, dtype=np.int64)
    cdef int64_t *plain = NULL
    if n == 0:
        return
    if unshuffled.shape[0]:
        plain = &unshuffled[0]
    with nogil:
        fl_rng_shuffle(&rng[0], &blocks[0], n_blocks)
        for b in range(n_blocks):
            first = blocks[b] * block
            size = min(block, n - first)
            for k in range(size):
                order[position + k] = rows[first + k]
                if plain != NULL:
                    plain[position + k] = rows[first + k]
            fl_rng_shuffle(&rng[0], &order[position], size)
            position += size


def due(const int64_t[::1] order, const uint8_t[::1] pause, int64_t epoch, int64_t[::1] out):
    """Write to `out` those rows of `order` whose turn it is in an epoch, of a row that pauses for m
    epochs, m one less than a power of 2, every m + 1; returns how many."""
    cdef Py_ssize_t k, n = 0
    with nogil:
        for k in range(order.shape[0]):
            out[n] = order[k]
            n += (epoch + order[k]) & pause[order[k]] == 0
    return n


def likeness(const double[::1] y, const int64_t[::1] rows):
    """(sum of squares, sum of products of neighbours) of what y[rows] deviates from its mean."""
    cdef Py_ssize_t k, n = rows.shape[0]
    cdef double mean = 0, squares = 0, products = 0, last = 0, now
    with nogil:
        for k in range(n):
            mean += y[rows[k]]
        mean /= n
        for k in range(n):
            now = y[rows[k]] - mean
            squares += now * now
            products += now * last
            last = now
    return squares, products


def draw_with_replacement(const int64_t[::1] rows, int64_t[::1] order, uint64_t[::1] rng):
    """Fill `order` with independent uniform draws from `rows`."""
    cdef Py_ssize_t k, n = rows.shape[0]
    with nogil:
        for k in range(order.shape[0]):
            order[k] = rows[fl_rng_below(&rng[0], n)]
