/* Units (words or characters) and the n-grams that begin at each, whatever the kind.
 *
 * An n-gram is a slice of `text`: from the start of its first unit to that of the unit behind its
 * last, less the gap (the space between words). */
#ifndef FL_UNITS_H
#define FL_UNITS_H

#include "fl_chars.h"
#include "fl_vocabulary.h"

/* The lengths in units of the n-grams that begin somewhere; none if longest < shortest. */
typedef struct {
    int32_t shortest, longest;
} fl_units_range;

FL_INLINE int32_t fl_units_gap(const fl_words *w) { return w->kind == FL_WORDS_WORD; }

/* A segment that is shorter than the shortest n-gram is one n-gram as a whole. */
FL_INLINE fl_units_range fl_units_ngrams_at(const fl_words *w, int32_t first, int32_t min_n,
                                            int32_t max_n)
{
    int32_t limit = w->kind == FL_WORDS_CHAR_WB ? w->limits[first] : w->n_words;
    int32_t left = limit - first;
    fl_units_range range = {min_n, left < max_n ? left : max_n};
    if (left < min_n && w->kind == FL_WORDS_CHAR_WB
        && (first == 0 || w->limits[first - 1] == first))
        range.shortest = left;
    return range;
}

/* Take out the stop words among those that have not been looked at. */
FL_INLINE void fl_units_drop(fl_words *w, const fl_vocabulary *stop_words)
{
    int32_t kept = w->n_checked, begin = w->starts[kept], used = begin;
    for (int32_t i = w->n_checked; i < w->n_words; i++) {
        int32_t end = w->starts[i + 1], n = end - begin;
        if (fl_vocabulary_find_word(stop_words, w->text + begin, n - 1) < 0) {
            memmove(w->text + used, w->text + begin, (size_t)n);
            used += n;
            w->starts[++kept] = used;
        }
        begin = end;
    }
    memmove(w->text + used, w->text + begin, (size_t)(w->used - begin));
    w->used -= begin - used;
    w->n_words = w->n_checked = kept;
}

/* Collect units; returns whether the document has ended. */
FL_INLINE int fl_units_fill(fl_words *w, const fl_vocabulary *stop_words)
{
    int is_end = w->kind == FL_WORDS_WORD ? fl_words_fill(w) : fl_chars_fill(w);
    if (stop_words != NULL)
        fl_units_drop(w, stop_words);
    return is_end;
}

/* The units before this one have all of what their n-grams consist of. */
FL_INLINE int32_t fl_units_ready(const fl_words *w, int is_end, int32_t max_n)
{
    if (w->kind == FL_WORDS_CHAR_WB)
        return w->segment >= 0 ? w->segment : w->n_words;
    return is_end ? w->n_words : w->n_words - max_n + 1;
}

FL_INLINE void fl_units_forget(fl_words *w, int32_t first)
{
    fl_words_forget(w, first);
    if (w->kind == FL_WORDS_CHAR_WB)
        fl_chars_forget(w, first);
}

#endif
