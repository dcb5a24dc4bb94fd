"""n-grams by length: those of n units from those of n - 1, by sorting, without the GIL.

Documents are tokens, one document behind the other, document i up to ends[i]; a token is the number
of a word in the order of words. An n-gram of a level n > 1 is the n-gram before its last unit, by
its number in the order of the level below, and that unit. It stands at the position of its first
token. Where fewer than n tokens are left in the document, there is none.

The n-grams of a level are dealt to pieces by the upper bits of `before`, sorted in each by digits
from the last on (Knuth, "The Art of Computer Programming" 3, section 5.2.5), which keeps positions
ascending, and numbered. So all memory is read and written in streams or lies in a cache.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memset

from .names cimport begin_of
from .text cimport FL_VOCABULARY_ROOT

cdef enum:
    MOST_BITS = 10

# Bits of the largest digit.
DIGIT_BITS = MOST_BITS

cdef struct Occurrence:
    uint32_t before
    uint32_t last
    uint32_t position
    uint32_t document


cdef int checked(const int64_t[::1] ends, int64_t first, int64_t last, int64_t n) except -1:
    """Refuse documents first to last if these or their tokens are not there."""
    if not 0 <= first <= last <= ends.shape[0]:
        raise IndexError
    if last and ends[last - 1] > n:
        raise IndexError
    return 0


def write_tokens(const uint32_t[::1] numbers, const uint32_t[::1] place, uint32_t[::1] tokens):
    """tokens[i] = place[numbers[i]]"""
    cdef int64_t i
    if tokens.shape[0] < numbers.shape[0]:
        raise IndexError
    with nogil:
        for i in range(numbers.shape[0]):
            tokens[i] = place[numbers[i]]


def count_words(
    const uint32_t[::1] tokens, const int64_t[::1] ends, int64_t first, int64_t last,
    uint32_t[:, ::1] seen,
):
    """Add up in how many of the documents first to last - 1 each word is, in seen[k, 1], and how
    often in all, in seen[k, 2]; seen[k, 0] is for one more than the last document of it."""
    cdef int64_t i, document, begin
    cdef uint32_t word
    checked(ends, first, last, tokens.shape[0])
    with nogil:
        begin = begin_of(ends, first)
        for document in range(first, last):
            for i in range(begin, ends[document]):
                word = tokens[i]
                seen[word, 1] += seen[word, 0] != <uint32_t>(document + 1)
                seen[word, 0] = <uint32_t>(document + 1)
                seen[word, 2] += 1
            begin = ends[document]


def count_pieces(
    const uint32_t[::1] before, const int64_t[::1] ends, int64_t first, int64_t last, int64_t n,
    int shift, int64_t[::1] counts,
):
    """Add to counts[k] how many n-grams of n units of the documents first to last - 1 go to piece
    k; `before` is by position."""
    cdef int64_t i, document, begin
    checked(ends, first, last, before.shape[0])
    with nogil:
        begin = begin_of(ends, first)
        for document in range(first, last):
            for i in range(begin, ends[document] - n + 1):
                counts[before[i] >> shift] += 1
            begin = ends[document]


def deal(
    const uint32_t[::1] before, const uint32_t[::1] tokens, const int64_t[::1] ends, int64_t first,
    int64_t last, int64_t n, int shift, int64_t[::1] free, uint32_t[:, ::1] grams,
):
    """Put what `count_pieces` counts to the places of its piece, of which free[k] is the next."""
    cdef int64_t i, document, begin
    cdef Occurrence *out = <Occurrence *>&grams[0, 0]
    cdef Occurrence gram
    checked(ends, first, last, min(before.shape[0], tokens.shape[0]))
    if grams.shape[1] != 4:
        raise ValueError
    with nogil:
        begin = begin_of(ends, first)
        for document in range(first, last):
            gram.document = <uint32_t>document
            for i in range(begin, ends[document] - n + 1):
                gram.before, gram.last = before[i], tokens[i + n - 1]
                gram.position = <uint32_t>i
                out[free[gram.before >> shift]] = gram
                free[gram.before >> shift] += 1
            begin = ends[document]


def sort_digit(
    const uint32_t[:, ::1] grams, uint32_t[:, ::1] out, bint of_last, int low, int bits
):
    """Write occurrences to `out` in the order of `bits` bits from bit `low` on of the last unit, or
    else of what is before it; those equal in these stay as they are."""
    cdef const Occurrence *given = <const Occurrence *>&grams[0, 0]
    cdef Occurrence *sorted = <Occurrence *>&out[0, 0]
    cdef int64_t i, n = grams.shape[0], sum = 0, count
    cdef int64_t start[1 << MOST_BITS]
    cdef uint32_t digit, mask = (<uint32_t>1 << bits) - 1
    if not (1 <= bits <= MOST_BITS and grams.shape[1] == out.shape[1] == 4 and out.shape[0] >= n):
        raise ValueError
    with nogil:
        memset(start, 0, sizeof(start))
        for i in range(n):
            start[((given[i].last if of_last else given[i].before) >> low) & mask] += 1
        for i in range(mask + 1):
            count = start[i]
            start[i] = sum
            sum += count
        for i in range(n):
            digit = ((given[i].last if of_last else given[i].before) >> low) & mask
            sorted[start[digit]] = given[i]
            start[digit] += 1


def number(uint32_t[:, ::1] grams, uint32_t[::1] ids):
    """Number sorted occurrences, from 0 on: ids[position] becomes the number. The first rows of
    `grams` become the n-grams: `before`, the last unit, in how many documents each is, and how
    often it occurs. Returns how many these are."""
    cdef const Occurrence *given = <const Occurrence *>&grams[0, 0]
    cdef Occurrence here, kept
    cdef int64_t i, count = 0, n = grams.shape[0]
    cdef uint32_t documents = 0, total = 0
    if grams.shape[1] != 4:
        raise ValueError
    with nogil:
        kept = given[0]
        kept.document += 1
        for i in range(n):
            here = given[i]
            if here.before != kept.before or here.last != kept.last:
                grams[count, 0], grams[count, 1] = kept.before, kept.last
                grams[count, 2], grams[count, 3] = documents, total
                count += 1
                documents = total = 0
                kept.document = here.document + 1
            documents += here.document != kept.document
            total += 1
            kept = here
            ids[here.position] = <uint32_t>count
        grams[count, 0], grams[count, 1] = kept.before, kept.last
        grams[count, 2], grams[count, 3] = documents, total
    return count + 1


def split(
    const uint32_t[:, ::1] grams, uint32_t[::1] before, uint32_t[::1] last,
    uint32_t[::1] documents, uint32_t[::1] total,
):
    """Write the four numbers of n-grams to an array each."""
    cdef int64_t i, n = grams.shape[0]
    if min(before.shape[0], last.shape[0], documents.shape[0], total.shape[0]) < n:
        raise IndexError
    if grams.shape[1] != 4:
        raise ValueError
    with nogil:
        for i in range(n):
            before[i], last[i] = grams[i, 0], grams[i, 1]
            documents[i], total[i] = grams[i, 2], grams[i, 3]


def raise_ids(
    uint32_t[::1] ids, const uint32_t[::1] before, const int64_t[::1] ends, int64_t first,
    int64_t last, int64_t n, int shift, const uint32_t[::1] offsets,
):
    """Add to the number of each n-gram of n units what the piece of it begins with."""
    cdef int64_t i, document, begin
    checked(ends, first, last, min(before.shape[0], ids.shape[0]))
    with nogil:
        begin = begin_of(ends, first)
        for document in range(first, last):
            for i in range(begin, ends[document] - n + 1):
                ids[i] += offsets[before[i] >> shift]
            begin = ends[document]


def add_wanted(
    const uint32_t[::1] before, const uint8_t[::1] wanted, int64_t first, int64_t stop,
    int64_t n_below, int64_t[::1] size,
):
    """Add to the size of each n-gram how many are wanted of those n-grams first to stop - 1 that it
    begins: the sizes of these, or where `size` ends before them, themselves. `before` is of all
    numbers, and below n_below."""
    cdef int64_t i
    cdef bint has_size = size.shape[0] >= stop
    if min(before.shape[0], wanted.shape[0]) < stop or size.shape[0] < n_below or first < n_below:
        raise IndexError
    with nogil:
        for i in range(first, stop):
            size[before[i]] += size[i] if has_size else wanted[i]


def place(
    const uint32_t[::1] before, const uint8_t[::1] wanted, int64_t first, int64_t stop,
    const int64_t[::1] size, int64_t[::1] free, int64_t[::1] features, int32_t[::1] columns,
    const uint32_t[::1] values, uint32_t[::1] placed,
):
    """Give n-grams first to stop - 1, a level in order, their places: columns[i] becomes that of a
    wanted one, where features has it and `placed` values[i - first], or -1. free[k] is where the
    next n-gram stands that k begins; `size` and `free` are of those that may begin others. Words
    are level 0."""
    cdef int64_t i, here, below = 0
    cdef int64_t n_sizes = size.shape[0]
    if min(before.shape[0], wanted.shape[0], columns.shape[0]) < stop or free.shape[0] < n_sizes:
        raise IndexError
    if values.shape[0] < stop - first or placed.shape[0] < features.shape[0]:
        raise IndexError
    with nogil:
        for i in range(first, stop):
            here = free[before[i]] if first else below
            if i < n_sizes:
                below += size[i]
                if first:
                    free[before[i]] += size[i]
                free[i] = here + wanted[i]
            else:
                below += wanted[i]
                if first:
                    free[before[i]] += wanted[i]
            columns[i] = <int32_t>here if wanted[i] else -1
            if wanted[i]:
                features[here] = i
                placed[here] = values[i - first]


# n-grams of characters


def write_depths(const uint8_t[::1] is_word, const uint32_t[::1] before, int32_t[::1] depth):
    """Write of how many units each number's n-gram is."""
    cdef int64_t i
    with nogil:
        for i in range(is_word.shape[0]):
            # The one without its last unit has a lower number.
            depth[i] = 1 if is_word[i] or before[i] == FL_VOCABULARY_ROOT else depth[before[i]] + 1


def stable_order(
    const uint32_t[::1] keys, const int64_t[::1] before, int64_t[::1] begins, int64_t[::1] order
):
    """Order the places `before` by their keys, below len(begins) - 1, stably; `begins` is zeros."""
    cdef int64_t i, place, n = keys.shape[0]
    if not n == before.shape[0] == order.shape[0]:
        raise ValueError
    with nogil:
        for i in range(n):
            begins[keys[i] + 1] += 1
        for i in range(1, begins.shape[0]):
            begins[i] += begins[i - 1]
        for i in range(n):
            place = before[i]
            order[begins[keys[place]]] = place
            begins[keys[place]] += 1


def add_sizes(const int64_t[::1] level, const uint32_t[::1] before, int64_t[::1] size):
    """Add the size of each n-gram to that of the one without its last unit."""
    cdef int64_t i
    with nogil:
        for i in range(level.shape[0]):
            size[before[level[i]]] += size[level[i]]


def place_level(
    const int64_t[::1] level, const uint32_t[::1] before, bint is_first, const uint8_t[::1] wanted,
    const int64_t[::1] size, int64_t[::1] free, int64_t[::1] features,
):
    """Put the wanted n-grams of a level, which is in order, where they stand among all of them:
    `free` is where the next one that an n-gram begins stands."""
    cdef int64_t i, number, place, below = 0
    with nogil:
        for i in range(level.shape[0]):
            number = level[i]
            place = below if is_first else free[before[number]]
            below += size[number]
            if not is_first:
                free[before[number]] += size[number]
            free[number] = place + wanted[number]
            if wanted[number]:
                features[place] = number
