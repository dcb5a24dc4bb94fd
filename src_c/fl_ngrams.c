/* See fl_ngrams.h.
 *
 * The table of n-grams is larger than any cache, so what counts is the number of times that memory
 * is waited for. The n-grams of one length that begin in a batch of units are looked up together:
 * first the places of all are computed and fetched, then they are read. */
#include "fl_ngrams.h"

/* n-grams in the making: those of one length that begin at the units of a batch. */
typedef struct {
    int32_t n;                                /* units of the batch */
    int32_t longest;                          /* of all ranges */
    fl_units_range ranges[FL_NGRAMS_BATCH];
    uint32_t numbers[FL_NGRAMS_BATCH];        /* UINT32_MAX: has none */
    uint64_t keys[FL_NGRAMS_BATCH];
    int64_t places[FL_NGRAMS_BATCH];
} batch;

/* Say what lacks, if anything, for so much to be added. */
static fl_ngrams_status check_room(fl_ngrams *g, int64_t words, int64_t bytes, int64_t grams)
{
    if (!g->learns)
        return FL_NGRAMS_DONE;
    g->lacks = fl_vocabulary_lacks(g->vocabulary, words, bytes, grams);
    g->needed = bytes + words * FL_VOCABULARY_HEAD;
    if (g->lacks == FL_VOCABULARY_TOO_LARGE)
        return FL_NGRAMS_TOO_LARGE;
    return g->lacks == FL_VOCABULARY_READY ? FL_NGRAMS_DONE : FL_NGRAMS_NEEDS_TABLE;
}

static uint32_t word_number(fl_ngrams *g, uint64_t key, const uint8_t *word, int32_t length)
{
    if (g->learns)
        return (uint32_t)fl_vocabulary_add_key(g->vocabulary, key, word, length);
    return (uint32_t)fl_vocabulary_find_key(g->vocabulary, key, word, length);
}

static uint32_t number_of(fl_ngrams *g, const uint8_t *word, int32_t length)
{
    return word_number(g, fl_vocabulary_word_key(g->vocabulary, word, length), word, length);
}

/* Find the symbols of the next n words, which there must be room for. */
static void find_words(fl_ngrams *g, int32_t n)
{
    const fl_words *w = &g->words;
    const fl_vocabulary *v = g->vocabulary;
    const int32_t *starts = w->starts + g->n_symbols;
    uint64_t keys[FL_NGRAMS_BATCH];
    for (int32_t k = 0; k < n; k++) {
        keys[k] = fl_vocabulary_word_key(v, w->text + starts[k], starts[k + 1] - 1 - starts[k]);
        FL_PREFETCH(v->words + fl_vocabulary_place(v, keys[k], v->word_bits));
    }
    for (int32_t k = 0; k < n; k++)
        g->symbols[g->n_symbols + k] =
            word_number(g, keys[k], w->text + starts[k], starts[k + 1] - 1 - starts[k]);
    g->n_symbols += n;
}

/* Find the symbols of units that have none yet. */
static fl_ngrams_status find_symbols(fl_ngrams *g)
{
    fl_words *w = &g->words;
    while (g->n_symbols < w->n_words) {
        int32_t left = w->n_words - g->n_symbols, begin = w->starts[g->n_symbols];
        fl_ngrams_status status;
        if (w->kind != FL_WORDS_WORD) {
            int32_t size, end = w->starts[g->n_symbols + 1];
            const uint8_t *p = w->text + begin;
            uint32_t code = *p < 128 ? *p : fl_words_code_point(p, end - begin, &size);
            g->symbols[g->n_symbols++] = code;
            continue;
        }
        left = left < FL_NGRAMS_BATCH ? left : FL_NGRAMS_BATCH;
        status = check_room(g, left, w->starts[g->n_symbols + left] - begin, 0);
        if (status != FL_NGRAMS_DONE)
            return status;
        find_words(g, left);
    }
    return FL_NGRAMS_DONE;
}

/* Append the numbers of those n-grams that are so long and have one. */
static void append(fl_ngrams *g, const batch *b, int32_t n)
{
    for (int32_t k = 0; k < b->n; k++) {
        g->out[g->n_out] = b->numbers[k];
        g->n_out += b->numbers[k] != UINT32_MAX && b->ranges[k].shortest <= n
                    && n <= b->ranges[k].longest;
    }
}

/* From n-grams of n - 1 units to those of n. */
static void lengthen(fl_ngrams *g, batch *b, int32_t first, int32_t n)
{
    fl_vocabulary *v = g->vocabulary;
    for (int32_t k = 0; k < b->n; k++) {
        int32_t unit = first + k + n - 1;
        int exists = n <= b->ranges[k].longest && (n == 1 || b->numbers[k] != UINT32_MAX);
        uint32_t symbol = exists ? g->symbols[unit] : UINT32_MAX;
        exists &= symbol != UINT32_MAX;
        b->keys[k] = fl_vocabulary_gram_key(n == 1 ? FL_VOCABULARY_ROOT : b->numbers[k], symbol);
        b->places[k] = exists ? fl_vocabulary_place(v, b->keys[k], v->gram_bits) : -1;
        if (exists)
            FL_PREFETCH(v->grams + b->places[k]);
    }
    for (int32_t k = 0; k < b->n; k++)
        b->numbers[k] = b->places[k] < 0
            ? UINT32_MAX
            : (uint32_t)fl_vocabulary_gram(v, b->keys[k], b->places[k], g->learns);
}

/* Choose the batch that begins at `next`: what it may add is *grams. */
static void choose(const fl_ngrams *g, batch *b, int32_t stop, int64_t *grams)
{
    b->n = b->longest = 0;
    *grams = 0;
    while (b->n < FL_NGRAMS_BATCH && g->next + b->n < stop) {
        fl_units_range range = fl_units_ngrams_at(&g->words, g->next + b->n, g->min_n, g->max_n);
        /* One that is shorter than the shortest has no n-gram: its parts need no numbers. */
        if (range.longest < range.shortest)
            range.longest = 0;
        if (b->n > 0 && *grams + range.longest > 8 * FL_NGRAMS_BATCH)
            return;
        *grams += range.longest;
        b->longest = range.longest > b->longest ? range.longest : b->longest;
        b->ranges[b->n++] = range;
    }
}

/* Number the n-grams that begin before unit `stop`. */
static fl_ngrams_status number_until(fl_ngrams *g, int32_t stop, int64_t *budget)
{
    batch b;
    int is_word = g->words.kind == FL_WORDS_WORD;
    while (g->next < stop) {
        int64_t grams;
        fl_ngrams_status status;
        choose(g, &b, stop, &grams);
        status = check_room(g, 0, 0, grams);
        if (status != FL_NGRAMS_DONE)
            return status;
        if (g->n_out + grams + FL_NGRAMS_BATCH > g->capacity) {
            g->needed = 2 * (g->n_out + grams + FL_NGRAMS_BATCH);
            return FL_NGRAMS_NEEDS_OUT;
        }
        if (is_word)
            memcpy(b.numbers, g->symbols + g->next, (size_t)b.n * sizeof *b.numbers);
        if (is_word && g->min_n == 1)
            append(g, &b, 1);
        for (int32_t n = is_word ? 2 : 1; n <= b.longest; n++) {
            lengthen(g, &b, g->next, n);
            append(g, &b, n);
        }
        g->next += b.n;
        *budget -= 8 * (grams + b.n);
        if (*budget <= 0)
            return FL_NGRAMS_PAUSED;
    }
    return FL_NGRAMS_DONE;
}

fl_ngrams_status fl_ngrams_advance(fl_ngrams *g, int64_t *budget)
{
    for (;;) {
        int64_t before = g->words.position;
        int is_end = fl_units_fill(&g->words, g->stop_words);
        fl_ngrams_status status = find_symbols(g);
        *budget -= g->words.position - before;
        if (status == FL_NGRAMS_DONE)
            status = number_until(g, fl_units_ready(&g->words, is_end, g->max_n), budget);
        if (status != FL_NGRAMS_DONE || is_end)
            return status;
        fl_units_forget(&g->words, g->next);
        g->n_symbols -= g->next;
        memmove(g->symbols, g->symbols + g->next, (size_t)g->n_symbols * sizeof *g->symbols);
        g->next = 0;
        if (g->words.used > g->words.text_capacity / 2)
            return FL_NGRAMS_NEEDS_TEXT;
        if (*budget <= 0)
            return FL_NGRAMS_PAUSED;
    }
}

void fl_ngrams_begin(fl_ngrams *g, const fl_words_bytes *bytes, const uint8_t *document,
                     int64_t length)
{
    g->next = g->n_symbols = 0;
    fl_words_begin(&g->words, bytes, document, length);
}

fl_ngrams_status fl_ngrams_feature(fl_ngrams *g, int32_t length)
{
    fl_ngrams_status status = check_room(g, 1, length, 0);
    if (status != FL_NGRAMS_DONE)
        return status;
    if (g->n_out + 1 > g->capacity) {
        g->needed = 2 * (g->n_out + 1);
        return FL_NGRAMS_NEEDS_OUT;
    }
    g->out[g->n_out] = number_of(g, g->words.text, length);
    g->n_out += g->out[g->n_out] != UINT32_MAX;
    return FL_NGRAMS_DONE;
}

/* The number of the n-gram that is one unit longer. */
static uint32_t entered(fl_ngrams *g, uint32_t before, uint32_t symbol)
{
    fl_vocabulary *v = g->vocabulary;
    uint64_t key = fl_vocabulary_gram_key(before, symbol);
    return (uint32_t)fl_vocabulary_gram(v, key, fl_vocabulary_place(v, key, v->gram_bits), 1);
}

fl_ngrams_status fl_ngrams_enter(fl_ngrams *g, int32_t length, uint32_t *number)
{
    int is_word = g->words.kind == FL_WORDS_WORD;
    const uint8_t *text = g->words.text;
    uint32_t before = FL_VOCABULARY_ROOT;
    int32_t n_spaces = 0;
    fl_ngrams_status status;
    for (int32_t i = 0; i < length; i++)
        n_spaces += text[i] == ' ';
    status = is_word ? check_room(g, n_spaces + 1, length, n_spaces) : check_room(g, 0, 0, length);
    if (status != FL_NGRAMS_DONE)
        return status;
    for (int32_t i = 0; i < length + is_word;) {
        int32_t end = i, size = 1;
        uint32_t symbol;
        if (is_word) {
            while (end < length && text[end] != ' ')
                end++;
            symbol = number_of(g, text + i, end - i);
            before = before == FL_VOCABULARY_ROOT ? symbol : entered(g, before, symbol);
            i = end + 1;
        } else {
            symbol = text[i] < 128 ? text[i] : fl_words_code_point(text + i, length - i, &size);
            before = entered(g, before, symbol);
            i += size;
        }
    }
    *number = before;
    return FL_NGRAMS_DONE;
}

fl_ngrams_status fl_ngrams_merge(fl_ngrams *g, const uint8_t *arena, const uint8_t *is_word,
                                 const uint32_t *before, const uint32_t *last, int64_t n,
                                 uint32_t *numbers, int64_t *done)
{
    fl_vocabulary *v = g->vocabulary;
    int has_words = g->words.kind == FL_WORDS_WORD;
    int64_t stop = n - *done < (1 << 16) ? n : *done + (1 << 16);
    while (*done < stop) {
        int64_t first = *done;
        int64_t end = stop - first < FL_NGRAMS_BATCH ? stop : first + FL_NGRAMS_BATCH, bytes = 0;
        fl_ngrams_status status;
        for (int64_t i = first; i < end; i++) {
            bytes += is_word[i] ? before[i] : 0;
            /* Those that are known already: all but a few. */
            if (!is_word[i] && (before[i] == FL_VOCABULARY_ROOT || before[i] < first)
                && (!has_words || last[i] < first)) {
                uint64_t key = fl_vocabulary_gram_key(
                    before[i] == FL_VOCABULARY_ROOT ? before[i] : numbers[before[i]],
                    has_words ? numbers[last[i]] : last[i]);
                FL_PREFETCH(v->grams + fl_vocabulary_place(v, key, v->gram_bits));
            }
        }
        status = check_room(g, end - first, bytes, end - first);
        if (status != FL_NGRAMS_DONE)
            return status;
        for (int64_t i = first; i < end; i++) {
            if (is_word[i])
                numbers[i] = number_of(g, arena + last[i], (int32_t)before[i]);
            else
                numbers[i] = entered(
                    g, before[i] == FL_VOCABULARY_ROOT ? before[i] : numbers[before[i]],
                    has_words ? numbers[last[i]] : last[i]);
        }
        *done = end;
    }
    return *done < n ? FL_NGRAMS_PAUSED : FL_NGRAMS_DONE;
}
