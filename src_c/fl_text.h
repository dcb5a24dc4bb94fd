/* Text to hashed n-gram counts, a row for a document.
 *
 *   text --fl_units.h--> lowered words --fl_murmur.h--> hash -> column and sign --count--> row
 *
 * An n-gram is n words joined by single spaces, or n characters. Its column is |h| mod n_features,
 * where h is its signed MurmurHash3, and its sign that of h (Weinberger et al., Feature hashing for
 * large scale multitask learning, ICML 2009). With the fast hash h of fl_fasthash.h, the column is
 * floor(floor(h / 2^32) n_features / 2^32), and the sign is negative if bit 31 of h is set.
 *
 * Nothing is allocated here. A call that needs a larger buffer, or has worked for its budget, says
 * so and goes on where it stopped when called again. The buffers are the caller's; he may move them
 * between calls if he keeps their contents. */
#ifndef FL_TEXT_H
#define FL_TEXT_H

#include "fl_common.h"
#include "fl_units.h"

/* n-grams that are sorted at a time: few enough to stay in the second cache. */
#define FL_TEXT_BATCH 8192
/* Their buckets; a counter of 16 bits holds the whole batch. */
#define FL_TEXT_BUCKETS (2 * FL_TEXT_BATCH)

typedef enum {
    FL_TEXT_DONE = 0,          /* the row is complete: entries[0 .. n_entries) */
    FL_TEXT_PAUSED = 1,        /* budget spent */
    FL_TEXT_NEEDS_TEXT = 2,    /* words.text_capacity must grow, and words.starts with it */
    FL_TEXT_NEEDS_ENTRIES = 3, /* capacity must grow to `needed` */
    FL_TEXT_TOO_MANY = 4       /* more n-grams in one document than an int32 counts */
} fl_text_status;

typedef struct {
    int32_t column;
    int32_t count; /* sum of the signs of the n-grams that fell here */
} fl_text_entry;

/* How a hash becomes a column: see column_of in fl_text.c. */
typedef struct {
    uint64_t magic;
    int32_t shift;
    uint32_t n_features, sign_bit;
} fl_text_mapping;

typedef struct {
    /* Set by the caller before fl_text_init. */
    int64_t n_features;             /* 1 .. 2^31 - 1 */
    int32_t min_n, max_n;           /* 1 <= min_n <= max_n */
    int32_t alternate_sign;         /* 0: every n-gram counts +1 */
    int32_t is_fast;                /* whether the hash is that of fl_fasthash.h */
    fl_words words;                 /* kind, least, word_bits and the buffers */
    const fl_vocabulary *stop_words; /* NULL if there are none */
    fl_text_entry *entries, *spare; /* capacity each; they may change places */
    uint16_t *buckets;              /* FL_TEXT_BUCKETS */
    int64_t capacity;               /* at least 2 * FL_TEXT_BATCH */
    /* Derived, and the state between calls. */
    fl_text_mapping mapping;
    int32_t next;                   /* first word whose n-grams are not yet hashed */
    int32_t n_runs;                 /* sorted runs in entries; 2 if there is an unsorted one */
    int64_t n_keys, n_entries, needed, n_grams;
} fl_text;

/* The build compiles fl_text.c with FL_TEXT_TABLE for instruction sets that not every processor
 * has: only the table of that name is seen from elsewhere then. */
#ifdef FL_TEXT_TABLE
#  define FL_TEXT_LINKAGE static
#else
#  define FL_TEXT_LINKAGE
#endif

/* Set what is derived. */
FL_TEXT_LINKAGE void fl_text_init(fl_text *t);

/* Start the row of a document; of length 0 if the caller is to add features one by one. */
FL_TEXT_LINKAGE void fl_text_begin(fl_text *t, const fl_words_bytes *bytes,
                                   const uint8_t *document, int64_t length);

/* Tokenise, hash and count until the row is complete, the budget (about one unit per byte and
 * eight per n-gram; the rest is written back) is spent, or a buffer is full. */
FL_TEXT_LINKAGE fl_text_status fl_text_advance(fl_text *t, int64_t *budget);

/* Count one feature that the caller has put in words.text[0 .. length) as it is. The row is begun
 * with fl_text_begin and ended with fl_text_finish. Returns DONE, NEEDS_ENTRIES or TOO_MANY. */
FL_TEXT_LINKAGE fl_text_status fl_text_add(fl_text *t, int32_t length);

/* Count ids[0 .. n) as their columns; a column of -1 does not count. *done says how far it came: it
 * goes on from there. Returns DONE, NEEDS_ENTRIES or TOO_MANY. */
FL_TEXT_LINKAGE fl_text_status fl_text_add_columns(fl_text *t, const uint32_t *ids, int64_t n,
                                                   const int32_t *columns, int64_t *done);

/* Bring what was counted to entries[0 .. n_entries), each column once and in order. A column whose
 * signs cancel stays, with count 0. */
FL_TEXT_LINKAGE void fl_text_finish(fl_text *t);

/* The hash of bytes behind which FL_WORDS_PADDING more may be read. */
FL_TEXT_LINKAGE uint64_t fl_text_hash(const fl_text *t, const uint8_t *bytes, int32_t length);

/* What becomes of a hash: twice its column, plus one if it counts -1. */
FL_TEXT_LINKAGE uint32_t fl_text_key(const fl_text *t, uint64_t hash);

/* The sum of the squares of the counts of a row. */
FL_TEXT_LINKAGE int64_t fl_text_squares(const fl_text_entry *row, int64_t n);

/* Write the counts of a row that are not 0 divided by `total`, and their columns; returns how
 * many. */
FL_TEXT_LINKAGE int64_t fl_text_quotients_f32(const fl_text_entry *row, int64_t n, double total,
                                              int32_t *FL_RESTRICT indices,
                                              float *FL_RESTRICT data);
FL_TEXT_LINKAGE int64_t fl_text_quotients_f64(const fl_text_entry *row, int64_t n, double total,
                                              int32_t *FL_RESTRICT indices,
                                              double *FL_RESTRICT data);

/* Copy the entries of a row whose counts are not 0, to where there is room for all, which may be
 * where they are; returns how many. *squares becomes the sum of the squares of their counts. */
FL_TEXT_LINKAGE int64_t fl_text_counting(const fl_text_entry *row, int64_t n,
                                         fl_text_entry *kept, int64_t *squares);

/* What takes the time, for one instruction set. */
typedef struct {
    fl_text_status (*advance)(fl_text *t, int64_t *budget);
    int64_t (*squares)(const fl_text_entry *row, int64_t n);
    int64_t (*quotients_f32)(const fl_text_entry *row, int64_t n, double total,
                             int32_t *FL_RESTRICT indices, float *FL_RESTRICT data);
    int64_t (*quotients_f64)(const fl_text_entry *row, int64_t n, double total,
                             int32_t *FL_RESTRICT indices, double *FL_RESTRICT data);
    int64_t (*counting)(const fl_text_entry *row, int64_t n, fl_text_entry *kept,
                        int64_t *squares);
} fl_text_kernels;

/* Those of an instruction set (fl_dispatch.h), or of less where the processor lacks a part of it
 * that text needs. */
const fl_text_kernels *fl_text_kernels_of(int32_t isa);

#endif
