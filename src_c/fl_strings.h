/* Strings of a column as whoever made it has laid them out, and numbers for the distinct ones.
 *
 * Layouts, all of them Arrow's: OFFSETS32 and OFFSETS64 (string i is data[offsets[i]] ...
 * data[offsets[i + 1] - 1]); VIEWS (16 bytes each: the length, and then up to 12 bytes of text, or
 * its first four, the number of a buffer and the place in it). A bit of `validity` says whether
 * there is a string; NULL: everywhere.
 *
 * Arrow's columns are trusted, as everyone who takes them does: their makers have checked them.
 */
#ifndef FL_STRINGS_H
#define FL_STRINGS_H

#include <string.h>

#include "fl_common.h"

enum fl_strings_layout { FL_OFFSETS32, FL_OFFSETS64, FL_VIEWS };

struct fl_strings {
    int layout;
    int64_t offset; /* of the first string, in validity, offsets and views */
    const uint8_t *validity;
    const void *places; /* offsets or views */
    const uint8_t *data; /* never NULL, even where all strings are empty */
    const uint8_t *const *buffers; /* of views */
};

struct fl_string {
    const uint8_t *bytes; /* NULL: none */
    int64_t size;
};

FL_INLINE int64_t fl_int32_at(const uint8_t *p) {
    int32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* String i. */
FL_INLINE struct fl_string fl_string_at(const struct fl_strings *s, int64_t i) {
    struct fl_string found = {NULL, 0};
    i += s->offset;
    if (s->validity && !(s->validity[i >> 3] >> (i & 7) & 1)) return found;
    if (s->layout == FL_OFFSETS32) {
        const int32_t *ends = (const int32_t *)s->places;
        found.bytes = s->data + ends[i];
        found.size = ends[i + 1] - ends[i];
    } else if (s->layout == FL_OFFSETS64) {
        const int64_t *ends = (const int64_t *)s->places;
        found.bytes = s->data + ends[i];
        found.size = ends[i + 1] - ends[i];
    } else {
        const uint8_t *view = (const uint8_t *)s->places + 16 * i;
        found.size = fl_int32_at(view);
        found.bytes = found.size <= 12
                          ? view + 4
                          : s->buffers[fl_int32_at(view + 8)] + fl_int32_at(view + 12);
    }
    return found;
}

/* At most eight bytes as a number, other ones for other bytes. */
FL_INLINE uint64_t fl_short_bytes(const uint8_t *p, int64_t size) {
    uint32_t low, high;
    if (size < 4) {
        return size ? p[0] | (uint32_t)p[size / 2] << 8 | (uint32_t)p[size - 1] << 16 : 0;
    }
    memcpy(&low, p, 4);
    memcpy(&high, p + size - 4, 4);
    return (uint64_t)high << 32 | low;
}

/* One of the steps of a hash, each one to one in h for a given word and the other way round. The
 * last bytes of a word are its highest bits, which a product alone would leave there. */
FL_INLINE uint64_t fl_string_mix(uint64_t h, uint64_t word) {
    h ^= word;
    h = (h ^ h >> 29) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

/* A hash for the table only: eight bytes at a time, the last eight as a whole. Strings of the same
 * size with at most eight bytes never have the same. */
FL_INLINE uint64_t fl_string_hash(struct fl_string s) {
    uint64_t h = (uint64_t)s.size * 0x9e3779b97f4a7c15u, word;
    if (s.size <= 8) {
        h = fl_string_mix(h, fl_short_bytes(s.bytes, s.size));
        return h ^ h >> 29;
    }
    for (int64_t k = 0; k < s.size - 8; k += 8) {
        memcpy(&word, s.bytes + k, 8);
        h = fl_string_mix(h, word);
    }
    memcpy(&word, s.bytes + s.size - 8, 8);
    h = fl_string_mix(h, word);
    return h ^ h >> 29;
}

/* Whether two strings of one size and hash are the same. */
FL_INLINE int fl_same_bytes(const uint8_t *a, const uint8_t *b, int64_t size) {
    uint64_t x[2], y[2];
    if (size <= 8) return 1;
    if (size > 16) return memcmp(a, b, (size_t)size) == 0;
    memcpy(x, a, 8);
    memcpy(x + 1, a + size - 8, 8);
    memcpy(y, b, 8);
    memcpy(y + 1, b + size - 8, 8);
    return x[0] == y[0] && x[1] == y[1];
}

/* What has been numbered: the string of each number, its hash, and a table from hashes to numbers
 * plus one, of a power of two of slots. */
struct fl_numbered {
    int64_t n;
    int64_t capacity;
    struct fl_string *strings;
    uint64_t *hashes;
    int32_t *slots;
    uint64_t mask;
};

/* Put the numbers into an empty table. */
FL_INLINE void fl_rebuild(struct fl_numbered *known) {
    for (int64_t number = 0; number < known->n; number++) {
        uint64_t slot = known->hashes[number] & known->mask;
        while (known->slots[slot]) slot = (slot + 1) & known->mask;
        known->slots[slot] = (int32_t)(number + 1);
    }
}

/* The slot of a string, which is empty where it is not known. */
FL_INLINE uint64_t fl_slot_of(const struct fl_numbered *known, struct fl_string s, uint64_t hash) {
    uint64_t slot = hash & known->mask;
    for (; known->slots[slot]; slot = (slot + 1) & known->mask) {
        const int64_t number = known->slots[slot] - 1;
        const struct fl_string *other = &known->strings[number];
        if (known->hashes[number] == hash && other->size == s.size &&
            fl_same_bytes(other->bytes, s.bytes, s.size)) {
            break;
        }
    }
    return slot;
}

/* Number of a string; -1 if it is not known. */
FL_INLINE int64_t fl_known_number(const struct fl_numbered *known, struct fl_string s) {
    return (int64_t)known->slots[fl_slot_of(known, s, fl_string_hash(s))] - 1;
}

/* Number of a string; -1 if it is new and there is no room. */
FL_INLINE int64_t fl_number(struct fl_numbered *known, struct fl_string s) {
    const uint64_t hash = fl_string_hash(s), slot = fl_slot_of(known, s, hash);
    if (known->slots[slot]) return known->slots[slot] - 1;
    if (known->n == known->capacity) return -1;
    known->strings[known->n] = s;
    known->hashes[known->n] = hash;
    known->slots[slot] = (int32_t)(known->n + 1);
    return known->n++;
}

/* Numbers of strings start ... stop - 1, -1 where there is none. Ends early where a new one finds
 * no room; returns where. */
FL_INLINE int64_t fl_number_strings(const struct fl_strings *s, struct fl_numbered *known,
                                    int64_t start, int64_t stop, int32_t *codes) {
    for (int64_t i = start; i < stop; i++) {
        const struct fl_string string = fl_string_at(s, i);
        int64_t number = -1;
        if (string.bytes) {
            number = fl_number(known, string);
            if (number < 0) return i;
        }
        codes[i - start] = (int32_t)number;
    }
    return stop;
}

#endif
