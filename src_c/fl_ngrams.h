/* Text to the numbers that a vocabulary has, or gives, to its n-grams.
 *
 *   text --fl_units.h--> units --fl_vocabulary.h--> numbers, in no particular order
 *
 * As in fl_text.h nothing is allocated: a call that lacks room or has worked for its budget says so
 * and goes on where it stopped when called again. */
#ifndef FL_NGRAMS_H
#define FL_NGRAMS_H

#include "fl_units.h"

/* Units whose n-grams are looked up together, so that their slots can be fetched ahead. */
#define FL_NGRAMS_BATCH 64

typedef enum {
    FL_NGRAMS_DONE = 0,
    FL_NGRAMS_PAUSED = 1,      /* budget spent */
    FL_NGRAMS_NEEDS_TEXT = 2,  /* words.text_capacity must grow, and symbols with it */
    FL_NGRAMS_NEEDS_OUT = 3,   /* capacity must grow to `needed` */
    FL_NGRAMS_NEEDS_TABLE = 4, /* the vocabulary lacks room: see `lacks` and `needed` */
    FL_NGRAMS_TOO_LARGE = 5    /* the vocabulary cannot grow any more */
} fl_ngrams_status;

typedef struct {
    /* Set by the caller. */
    int32_t min_n, max_n;
    int32_t learns; /* whether n-grams that have no number get one; else they are left out */
    fl_words words;
    const fl_vocabulary *stop_words;
    fl_vocabulary *vocabulary; /* not changed unless `learns`: readers may share it */
    uint32_t *symbols;         /* fl_words_starts_capacity: the last unit of n-grams, as the
                                * vocabulary knows it; UINT32_MAX for a word it does not know */
    uint32_t *out;
    int64_t capacity, n_out;   /* the caller may set n_out back to 0 between calls */
    /* What is wanted, and the state between calls. */
    int64_t needed;
    fl_vocabulary_status lacks;
    int32_t n_symbols, next;
} fl_ngrams;

void fl_ngrams_begin(fl_ngrams *g, const fl_words_bytes *bytes, const uint8_t *document,
                     int64_t length);

/* Append the numbers of the n-grams of the document to out. The budget is as in fl_text.h. */
fl_ngrams_status fl_ngrams_advance(fl_ngrams *g, int64_t *budget);

/* Append the number of one feature that the caller has put in words.text[0 .. length). */
fl_ngrams_status fl_ngrams_feature(fl_ngrams *g, int32_t length);

/* Give numbers to what words.text[0 .. length) consists of, words parted by single spaces or
 * characters, as one n-gram; *number becomes its number. */
fl_ngrams_status fl_ngrams_enter(fl_ngrams *g, int32_t length, uint32_t *number);

/* Give numbers to n-grams of another vocabulary: node i is (before[i], last[i]), and a word of
 * length before[i] that begins at last[i] of `arena` where is_word[i]. numbers[i] becomes its
 * number; *done says how far it came. */
fl_ngrams_status fl_ngrams_merge(fl_ngrams *g, const uint8_t *arena, const uint8_t *is_word,
                                 const uint32_t *before, const uint32_t *last, int64_t n,
                                 uint32_t *numbers, int64_t *done);

#endif
