"""Names of n-grams, a name behind the other: written from the numbers of a table, and lists of them
that are in order made one, each name once.

Names are compared as bytes. Lists are read from front to back, so that nothing is waited for.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from .text cimport FL_PREFETCH, FL_VOCABULARY_ROOT

# Bytes that are copied in any case where there is room: few words are longer.
cdef enum:
    SHORT = 16
    # Digits of a key of 64 bits.
    DIGIT_BITS = 11
    DIGITS = 6
    DIGIT_MASK = (1 << 11) - 1


# Numbers to names


def write_word_keys(
    const uint8_t[::1] arena, const int64_t[::1] starts, const int64_t[::1] lengths,
    uint64_t[::1] first, uint64_t[::1] second,
):
    """Write bytes 0 to 7 and 8 to 15 of words as numbers that are in their order; none counts as
    0."""
    cdef int64_t i, k, size
    cdef uint64_t key
    if min(lengths.shape[0], first.shape[0], second.shape[0]) < starts.shape[0]:
        raise IndexError
    with nogil:
        for i in range(starts.shape[0]):
            key, size = 0, min(lengths[i], 8)
            for k in range(size):
                key |= <uint64_t>arena[starts[i] + k] << (56 - 8 * k)
            first[i] = key
            key, size = 0, min(lengths[i], 16) - 8
            for k in range(size):
                key |= <uint64_t>arena[starts[i] + 8 + k] << (56 - 8 * k)
            second[i] = key


cdef struct Keyed:
    uint64_t key
    int64_t place


def order_of_keys(
    const uint64_t[::1] keys, uint64_t[:, ::1] room, int64_t[::1] order
):
    """Write what sorts keys, stably, digit by digit from the last one on (Knuth, "The Art of
    Computer Programming" 3, section 5.2.5); `room` is two numbers for each key, twice."""
    cdef int64_t i, n = keys.shape[0], below, count
    cdef int64_t begins[DIGITS][1 << DIGIT_BITS]
    cdef int digit, shift
    cdef Keyed *given
    cdef Keyed *sorted
    if room.shape[0] < 2 * n or room.shape[1] != 2 or order.shape[0] < n:
        raise IndexError
    if n == 0:
        return
    given, sorted = <Keyed *>&room[0, 0], <Keyed *>&room[n, 0]
    with nogil:
        memset(begins, 0, sizeof(begins))
        for i in range(n):
            given[i].key, given[i].place = keys[i], i
            for digit in range(DIGITS):
                begins[digit][(keys[i] >> (DIGIT_BITS * digit)) & DIGIT_MASK] += 1
        for digit in range(DIGITS):
            shift = DIGIT_BITS * digit
            # Bytes that no word has, or that all have, tell nothing apart.
            if begins[digit][(keys[0] >> shift) & DIGIT_MASK] == n:
                continue
            below = 0
            for i in range(1 << DIGIT_BITS):
                count = begins[digit][i]
                begins[digit][i] = below
                below += count
            for i in range(n):
                count = (given[i].key >> shift) & DIGIT_MASK
                sorted[begins[digit][count]] = given[i]
                begins[digit][count] += 1
            given, sorted = sorted, given
        for i in range(n):
            order[i] = given[i].place


def write_characters(
    const uint32_t[::1] before, const uint32_t[::1] last, const int64_t[::1] features,
    const int64_t[::1] ends, uint32_t[::1] out,
):
    """Write the code points of n-grams of characters: that of the number features[i] ends at
    ends[i]."""
    cdef int64_t i, end
    cdef uint32_t number
    with nogil:
        for i in range(features.shape[0]):
            number = <uint32_t>features[i]
            end = ends[i]
            while number != FL_VOCABULARY_ROOT:
                end -= 1
                out[end] = last[number]
                number = before[number]


def write_name_ends(
    const uint8_t[::1] is_word, const uint32_t[::1] before, const uint32_t[::1] last,
    const int64_t[::1] features, int64_t[::1] ends,
):
    """Write where the name of each number features[i] ends, words parted by single spaces."""
    cdef int64_t i, end = 0, n = features.shape[0]
    cdef uint32_t number, word
    if ends.shape[0] < n:
        raise IndexError
    with nogil:
        for i in range(n):
            # As in `write_names`.
            number = <uint32_t>features[min(i + 16, n - 1)]
            FL_PREFETCH(&is_word[number])
            FL_PREFETCH(&before[number])
            FL_PREFETCH(&last[number])
            number = <uint32_t>features[min(i + 8, n - 1)]
            word = number if is_word[number] else last[number]
            FL_PREFETCH(&before[word])
            number = <uint32_t>features[i]
            while not is_word[number]:
                end += 1 + before[last[number]]
                number = before[number]
            end += before[number]
            ends[i] = end


cdef inline int64_t copied(
    const uint8_t[::1] arena, int64_t start, int64_t length, uint8_t[::1] out, int64_t begin,
    int64_t stop
) noexcept nogil:
    """Copy a word to `begin`, where what comes behind it up to `stop` is not written yet; returns
    its end."""
    if length <= SHORT and start + SHORT <= arena.shape[0] and begin + SHORT <= stop:
        memcpy(&out[begin], &arena[start], SHORT)
    elif length:
        memcpy(&out[begin], &arena[start], length)
    return begin + length


def write_names(
    const uint8_t[::1] is_word, const uint32_t[::1] before, const uint32_t[::1] last,
    const uint8_t[::1] arena, const int64_t[::1] features, const int64_t[::1] ends,
    int64_t begin, uint8_t[::1] out,
):
    """Write the bytes of n-grams of words, one behind the other: that of the number features[i]
    ends at ends[i], the first of them begins at `begin`."""
    cdef int64_t i, end, length, n = features.shape[0], stop = ends[n - 1] if n else 0
    cdef uint32_t number, word
    if stop > out.shape[0]:
        raise IndexError
    with nogil:
        for i in range(n):
            # Numbers come in no order: what one needs is not in a cache, nor what that leads to.
            number = <uint32_t>features[min(i + 24, n - 1)]
            FL_PREFETCH(&is_word[number])
            FL_PREFETCH(&before[number])
            FL_PREFETCH(&last[number])
            number = <uint32_t>features[min(i + 12, n - 1)]
            word = number if is_word[number] else last[number]
            FL_PREFETCH(&before[word])
            FL_PREFETCH(&last[word])
            number = <uint32_t>features[min(i + 6, n - 1)]
            word = number if is_word[number] else last[number]
            FL_PREFETCH(&arena[last[word]])
            number = <uint32_t>features[i]
            end = ends[i]
            if is_word[number]:
                copied(arena, last[number], before[number], out, begin, stop)
            elif is_word[before[number]]:
                word = before[number]
                begin = copied(arena, last[word], before[word], out, begin, stop)
                out[begin] = 32
                word = last[number]
                copied(arena, last[word], before[word], out, begin + 1, stop)
            else:
                write_back(is_word, before, last, arena, number, end, out)
            begin = end


cdef void write_back(
    const uint8_t[::1] is_word, const uint32_t[::1] before, const uint32_t[::1] last,
    const uint8_t[::1] arena, uint32_t number, int64_t end, uint8_t[::1] out
) noexcept nogil:
    """Write the words of an n-gram, from its end to its front."""
    cdef int64_t length
    cdef uint32_t word
    while True:
        word = number if is_word[number] else last[number]
        length = before[word]
        end -= length
        if length:
            memcpy(&out[end], &arena[last[word]], length)
        if is_word[number]:
            break
        end -= 1
        out[end] = 32
        number = before[number]


# Lists to one


cdef inline int compared(
    const uint8_t *a, int64_t a_size, const uint8_t *b, int64_t b_size
) noexcept nogil:
    """Return a number that is below 0, 0 or above it as a stands before b, is b, or behind it."""
    cdef int64_t size = min(a_size, b_size)
    cdef int found = memcmp(a, b, size) if size else 0
    return found if found else (a_size > b_size) - (a_size < b_size)


cdef int checked(
    const uint8_t[::1] names, const int64_t[::1] ends, int64_t first, int64_t last
) except -1:
    """Refuse what would be read beyond its end."""
    if not 0 <= first <= last <= ends.shape[0]:
        raise IndexError
    if ends.shape[0] and ends[ends.shape[0] - 1] > names.shape[0]:
        raise IndexError
    return 0


def first_not_before(
    const uint8_t[::1] names, const int64_t[::1] ends, const uint8_t[::1] name
):
    """Return the place of the first name that does not stand before another."""
    cdef int64_t low = 0, high = ends.shape[0], middle, begin
    checked(names, ends, 0, high)
    while low < high:
        middle = (low + high) // 2
        begin = begin_of(ends, middle)
        if compared(&names[0] + begin, ends[middle] - begin, &name[0], name.shape[0]) < 0:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline int64_t put(
    const uint8_t[::1] names, int64_t begin, int64_t end, uint8_t *out, int64_t used
) noexcept nogil:
    """Append a name to `out`; returns how much of that is used then."""
    if end > begin:
        memcpy(out + used, &names[begin], end - begin)
    return used + end - begin


def merge(
    const uint8_t[::1] a_names, const int64_t[::1] a_ends, int64_t i, int64_t a_stop,
    const uint8_t[::1] b_names, const int64_t[::1] b_ends, int64_t j, int64_t b_stop,
    const int64_t[::1] a_count not None, const int64_t[::1] b_count not None,
    int64_t[::1] a_place, int64_t[::1] b_place, uint8_t[::1] names, int64_t[::1] ends,
    int64_t[::1] counts not None,
):
    """Write the names i .. a_stop - 1 of a and j .. b_stop - 1 of b as one list, which has room for
    all, the sum of their counts, and which place each has in it; returns how many it has."""
    cdef int64_t n = 0, used = 0, a_begin, b_begin
    cdef int order
    cdef uint8_t *out = &names[0]
    checked(a_names, a_ends, i, a_stop)
    checked(b_names, b_ends, j, b_stop)
    if a_place.shape[0] < a_stop or b_place.shape[0] < b_stop:
        raise IndexError
    if a_count.shape[0] < a_stop or b_count.shape[0] < b_stop:
        raise IndexError
    a_begin, b_begin = begin_of(a_ends, i), begin_of(b_ends, j)
    if begin_of(a_ends, a_stop) - a_begin + begin_of(b_ends, b_stop) - b_begin > names.shape[0]:
        raise IndexError
    if a_stop - i + b_stop - j > min(ends.shape[0], counts.shape[0]):
        raise IndexError
    with nogil:
        while i < a_stop or j < b_stop:
            if i == a_stop:
                order = 1
            elif j == b_stop:
                order = -1
            else:
                order = compared(&a_names[0] + a_begin, a_ends[i] - a_begin,
                                 &b_names[0] + b_begin, b_ends[j] - b_begin)
            counts[n] = (a_count[i] if order <= 0 else 0) + (b_count[j] if order >= 0 else 0)
            if order <= 0:
                used = put(a_names, a_begin, a_ends[i], out, used)
                a_place[i] = n
                a_begin = a_ends[i]
                i += 1
            else:
                used = put(b_names, b_begin, b_ends[j], out, used)
            if order >= 0:
                b_place[j] = n
                b_begin = b_ends[j]
                j += 1
            ends[n] = used
            n += 1
    return n


def merge_words(
    const uint8_t[::1] arena, const uint64_t[::1] a_keys, const uint32_t[::1] a_starts,
    const uint32_t[::1] a_lengths, int64_t i, int64_t a_stop, const uint64_t[::1] b_keys,
    const uint32_t[::1] b_starts, const uint32_t[::1] b_lengths, int64_t j, int64_t b_stop,
    uint32_t[::1] a_place, uint32_t[::1] b_place, uint64_t[::1] whole_keys,
    uint32_t[::1] whole_starts, uint32_t[::1] whole_lengths,
):
    """Write the words i .. a_stop - 1 of a and j .. b_stop - 1 of b as one list, from place i + j
    on, and which place each has in it; returns where the list ends. Keys are as `write_word_keys`
    has them first, starts are in the arena."""
    cdef int64_t n = i + j
    cdef int order
    if min(a_keys.shape[0], a_starts.shape[0], a_lengths.shape[0], a_place.shape[0]) < a_stop:
        raise IndexError
    if min(b_keys.shape[0], b_starts.shape[0], b_lengths.shape[0], b_place.shape[0]) < b_stop:
        raise IndexError
    if not (0 <= i <= a_stop and 0 <= j <= b_stop):
        raise IndexError
    if min(whole_keys.shape[0], whole_starts.shape[0], whole_lengths.shape[0]) < a_stop + b_stop:
        raise IndexError
    with nogil:
        while i < a_stop or j < b_stop:
            if i == a_stop:
                order = 1
            elif j == b_stop:
                order = -1
            elif a_keys[i] != b_keys[j]:
                order = -1 if a_keys[i] < b_keys[j] else 1
            elif a_lengths[i] <= 8 and b_lengths[j] <= 8:
                order = (a_lengths[i] > b_lengths[j]) - (a_lengths[i] < b_lengths[j])
            else:
                order = compared(&arena[0] + a_starts[i], a_lengths[i], &arena[0] + b_starts[j],
                                 b_lengths[j])
            if order <= 0:
                whole_keys[n] = a_keys[i]
                whole_starts[n], whole_lengths[n] = a_starts[i], a_lengths[i]
                a_place[i] = <uint32_t>n
                i += 1
            else:
                whole_keys[n] = b_keys[j]
                whole_starts[n], whole_lengths[n] = b_starts[j], b_lengths[j]
            if order >= 0:
                b_place[j] = <uint32_t>n
                j += 1
            n += 1
    return n


def keep(
    const uint8_t[::1] names, const int64_t[::1] ends, int64_t first, int64_t last,
    const uint8_t[::1] kept, const int64_t[::1] whole_ends, uint8_t[::1] whole,
):
    """Write those of the names first .. last - 1 that are kept; name i is to end at
    whole_ends[i]."""
    cdef int64_t i, begin
    checked(names, ends, first, last)
    if kept.shape[0] < last or whole_ends.shape[0] < last:
        raise IndexError
    if last > first and whole_ends[last - 1] > whole.shape[0]:
        raise IndexError
    with nogil:
        begin = begin_of(ends, first)
        for i in range(first, last):
            if kept[i] and ends[i] > begin:
                memcpy(&whole[whole_ends[i] - (ends[i] - begin)], &names[begin], ends[i] - begin)
            begin = ends[i]
