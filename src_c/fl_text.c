/* See fl_text.h.
 *
 * A row is counted by sorting. Hashes are spread evenly, so that one pass into as many buckets as
 * there are n-grams, bucket = column * n / n_features, all but sorts them: no branch in it depends
 * on the data, and what is left is put right by insertion. A hash table whose slots keep the order
 * of columns took 10.5 ns for an n-gram, this 7.9. Text made to fall into few buckets, or one word
 * over and over, goes by digits instead, so that no text takes more than linear time. */
#include "fl_text.h"

#include "fl_murmur.h"

/* Insertion may move each n-gram of a batch about half this far on average. */
#define CROWDED 8

/* ---- from hashes to columns ---- */

int32_t fl_text_hash(const uint8_t *bytes, int32_t length)
{
    uint32_t h = fl_murmur(bytes, length);
    /* Two's complement by arithmetic: a cast of a large unsigned value is the compiler's choice. */
    return h <= (uint32_t)INT32_MAX ? (int32_t)h : -(int32_t)~h - 1;
}

/* From a hash to its column |hash| mod n_features; |-2^31| needs 32 bits without sign. The
 * quotient is a product with magic = floor(2^shift / n) + 1, shift = 32 + ceil(log2 n): exact for
 * all 32-bit numerators, and within 64 bits for those up to 2^31 (Granlund and Montgomery, Division
 * by invariant integers using multiplication, PLDI 1994, theorem 4.2). */
FL_INLINE uint32_t column_of(fl_text_mapping m, uint32_t hash)
{
    uint32_t size = hash >> 31 ? 0u - hash : hash;
    return size - (uint32_t)((size * m.magic) >> m.shift) * m.n_features;
}

int32_t fl_text_column(const fl_text *t, int32_t hash)
{
    return (int32_t)column_of(t->mapping, (uint32_t)hash);
}

/* From hashes, in place, to keys: the column, and in the lowest bit whether it counts -1. */
static void hashes_to_keys(fl_text_mapping m, uint32_t *hashes, int64_t n)
{
    uint32_t low = m.n_features - 1;
    if ((m.n_features & low) == 0) {
        for (int64_t i = 0; i < n; i++) {
            uint32_t h = hashes[i], negative = h >> 31;
            hashes[i] = (((h ^ (0u - negative)) + negative) & low) << 1 | (negative & m.sign_bit);
        }
    } else {
        for (int64_t i = 0; i < n; i++)
            hashes[i] = column_of(m, hashes[i]) << 1 | (hashes[i] >> 31 & m.sign_bit);
    }
}

/* ---- counting one row ---- */

/* Keys and as many further numbers lie in spare, which is otherwise only used by compact. */
FL_INLINE uint32_t *keys_of(const fl_text *t) { return (uint32_t *)t->spare; }
FL_INLINE uint32_t *second_of(const fl_text *t) { return (uint32_t *)t->spare + t->capacity; }

/* The bucket of a key, for a scale of 2^32 * buckets / (2 * n_features). */
FL_INLINE uint32_t bucket_of(uint32_t key, uint64_t scale) { return (uint32_t)(key * scale >> 32); }

/* Distribute the n keys over n buckets in order; returns whether these are small. */
static int distribute(fl_text *t, uint64_t scale)
{
    const uint32_t *keys = keys_of(t);
    uint32_t *out = second_of(t), *buckets = t->buckets, below = 0;
    int64_t n = t->n_keys;
    uint64_t squares = 0;
    memset(buckets, 0, (size_t)n * sizeof *buckets);
    for (int64_t i = 0; i < n; i++)
        buckets[bucket_of(keys[i], scale)]++;
    for (int64_t b = 0; b < n; b++) {
        uint32_t here = buckets[b];
        buckets[b] = below;
        below += here;
        squares += (uint64_t)here * here;
    }
    if (squares > CROWDED * (uint64_t)n)
        return 0;
    for (int64_t i = 0; i < n; i++)
        out[buckets[bucket_of(keys[i], scale)]++] = keys[i];
    return 1;
}

/* Append keys to entries, those of one column that follow each other as one entry. */
static void append(fl_text *t, const uint32_t *keys)
{
    fl_text_entry *entries = t->entries;
    int64_t last = t->n_entries - 1;
    int32_t column = -1;
    for (int64_t i = 0; i < t->n_keys; i++) {
        int32_t before = column, sign = 1 - 2 * (int32_t)(keys[i] & 1);
        column = (int32_t)(keys[i] >> 1);
        last += column != before;
        entries[last].count = column != before ? sign : entries[last].count + sign;
        entries[last].column = column;
    }
    t->n_entries = last + 1;
}

/* Move the keys to entries, which has room for them. */
static void flush(fl_text *t)
{
    uint32_t *sorted = second_of(t);
    if (t->n_keys == 0)
        return;
    if (!distribute(t, ((uint64_t)t->n_keys << 31) / t->mapping.n_features)) {
        append(t, keys_of(t));
        t->n_runs = 2;
    } else {
        for (int64_t i = 1; i < t->n_keys; i++) {
            uint32_t key = sorted[i];
            int64_t j = i;
            for (; j > 0 && sorted[j - 1] > key; j--)
                sorted[j] = sorted[j - 1];
            sorted[j] = key;
        }
        append(t, sorted);
        t->n_runs++;
    }
    t->n_keys = 0;
}

/* Sort entries by digits of the column, least first; entries and spare change places. */
static void sort_by_digits(fl_text *t)
{
    int32_t first[2048];
    int32_t bits = t->n_entries < 1024 ? 8 : 11;
    uint32_t mask = (1u << bits) - 1u;
    for (int32_t shift = 0; shift < 31 && ((t->n_features - 1) >> shift) != 0; shift += bits) {
        fl_text_entry *from = t->entries, *to = t->spare;
        int64_t n = t->n_entries;
        int32_t below = 0;
        memset(first, 0, (mask + 1) * sizeof *first);
        for (int64_t i = 0; i < n; i++)
            first[((uint32_t)from[i].column >> shift) & mask]++;
        for (uint32_t digit = 0; digit <= mask; digit++) {
            int32_t here = first[digit];
            first[digit] = below;
            below += here;
        }
        for (int64_t i = 0; i < n; i++)
            to[first[((uint32_t)from[i].column >> shift) & mask]++] = from[i];
        t->entries = to;
        t->spare = from;
    }
}

/* Sort entries and add up those of one column. */
static void compact(fl_text *t)
{
    int64_t kept = 0;
    sort_by_digits(t);
    for (int64_t i = 0; i < t->n_entries; i++) {
        fl_text_entry x = t->entries[i];
        if (kept > 0 && t->entries[kept - 1].column == x.column)
            t->entries[kept - 1].count += x.count;
        else
            t->entries[kept++] = x;
    }
    t->n_entries = kept;
    t->n_runs = 1;
}

/* Make room for n more keys, and for as many entries. When they are full, entries are compacted;
 * if half is in use even so they should grow, else the next time would come too soon. */
static fl_text_status make_room(fl_text *t, int64_t n)
{
    if (t->n_keys > 0 && t->n_keys + n <= FL_TEXT_BATCH)
        return FL_TEXT_DONE;
    flush(t);
    n = n > FL_TEXT_BATCH ? n : FL_TEXT_BATCH;
    if (t->n_entries + n <= t->capacity)
        return FL_TEXT_DONE;
    compact(t);
    if (t->n_entries <= t->capacity / 2 && t->n_entries + n <= t->capacity)
        return FL_TEXT_DONE;
    t->needed = 2 * (t->n_entries + n);
    return FL_TEXT_NEEDS_ENTRIES;
}

void fl_text_finish(fl_text *t)
{
    flush(t);
    if (t->n_runs > 1)
        compact(t);
}

/* ---- from words to n-grams ---- */

FL_INLINE fl_units_range ngrams_at(const fl_text *t, int32_t first)
{
    return fl_units_ngrams_at(&t->words, first, t->min_n, t->max_n);
}

/* Hash the n-grams that begin at word `next` and those after it, before `stop`, as long as they are
 * no more than `capacity`; returns how many. First what must be done byte by byte, then, in a loop
 * that compilers turn into vector instructions, what is the same for all. */
static int64_t hash_words(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT hashes,
                          uint32_t *FL_RESTRICT tails, int64_t capacity)
{
    const uint8_t *text = t->words.text;
    int32_t first = t->next, gap = fl_units_gap(&t->words);
    int64_t n_hashes = 0;
    for (; first < stop; first++) {
        const int32_t *starts = t->words.starts + first;
        fl_units_range range = ngrams_at(t, first);
        int32_t block = starts[0];
        uint32_t h = 0;
        if (n_hashes + range.longest - range.shortest + 1 > capacity)
            break;
        if (range.longest < range.shortest)
            continue;
        for (int32_t n = 1; n <= range.longest; n++) {
            int32_t length = starts[n] - gap - starts[0];
            for (; block - starts[0] + 4 <= length; block += 4)
                h = fl_murmur_block(h, text + block);
            hashes[n_hashes] = h ^ (uint32_t)length;
            tails[n_hashes] = fl_murmur_tail(text + block, length);
            n_hashes += n >= range.shortest;
        }
    }
    for (int64_t i = 0; i < n_hashes; i++)
        hashes[i] = fl_murmur_end(hashes[i], tails[i]);
    t->next = first;
    return n_hashes;
}

/* Count the n-grams that begin before word `stop`. */
static fl_text_status count_until(fl_text *t, int32_t stop, int64_t *budget)
{
    while (t->next < stop) {
        fl_units_range range = ngrams_at(t, t->next);
        int64_t n = (int64_t)range.longest - range.shortest + 1, from = t->words.starts[t->next];
        fl_text_status status = make_room(t, n);
        uint32_t *keys = keys_of(t) + t->n_keys;
        if (status != FL_TEXT_DONE)
            return status;
        n = n > FL_TEXT_BATCH ? n : FL_TEXT_BATCH - t->n_keys;
        n = hash_words(t, stop, keys, second_of(t), n);
        hashes_to_keys(t->mapping, keys, n);
        t->n_keys += n;
        t->n_grams += n;
        if (t->n_grams > INT32_MAX)
            return FL_TEXT_TOO_MANY;
        *budget -= 8 * n + t->words.starts[t->next] - from;
        if (*budget <= 0)
            return FL_TEXT_PAUSED;
    }
    return FL_TEXT_DONE;
}

fl_text_status fl_text_advance(fl_text *t, int64_t *budget)
{
    for (;;) {
        int64_t before = t->words.position;
        int is_end = fl_units_fill(&t->words, t->stop_words);
        int32_t stop = fl_units_ready(&t->words, is_end, t->max_n);
        fl_text_status status = count_until(t, stop, budget);
        *budget -= t->words.position - before;
        if (status != FL_TEXT_DONE)
            return status;
        if (is_end) {
            fl_text_finish(t);
            return FL_TEXT_DONE;
        }
        fl_units_forget(&t->words, t->next);
        t->next = 0;
        /* Half full of what must stay: moving it would cost more than it gains. */
        if (t->words.used > t->words.text_capacity / 2)
            return FL_TEXT_NEEDS_TEXT;
        if (*budget <= 0)
            return FL_TEXT_PAUSED;
    }
}

fl_text_status fl_text_add(fl_text *t, int32_t length)
{
    fl_text_status status = make_room(t, 1);
    uint32_t *key = keys_of(t) + t->n_keys;
    if (status != FL_TEXT_DONE)
        return status;
    if (++t->n_grams > INT32_MAX)
        return FL_TEXT_TOO_MANY;
    *key = fl_murmur(t->words.text, length);
    hashes_to_keys(t->mapping, key, 1);
    t->n_keys++;
    return FL_TEXT_DONE;
}

fl_text_status fl_text_add_columns(fl_text *t, const uint32_t *ids, int64_t n,
                                   const int32_t *columns, int64_t *done)
{
    while (*done < n) {
        fl_text_status status = make_room(t, 1);
        uint32_t *keys = keys_of(t);
        int64_t k = t->n_keys, i = *done, stop = i + FL_TEXT_BATCH - k;
        if (status != FL_TEXT_DONE)
            return status;
        for (stop = stop < n ? stop : n; i < stop; i++) {
            int32_t column = columns[ids[i]];
            keys[k] = (uint32_t)column << 1;
            k += column >= 0;
        }
        t->n_grams += k - t->n_keys;
        t->n_keys = k;
        *done = i;
        if (t->n_grams > INT32_MAX)
            return FL_TEXT_TOO_MANY;
    }
    return FL_TEXT_DONE;
}

/* ---- setting up ---- */

void fl_text_init(fl_text *t)
{
    int32_t log2 = 0;
    while (((int64_t)1 << log2) < t->n_features)
        log2++;
    t->mapping.shift = 32 + log2;
    t->mapping.magic = ((uint64_t)1 << t->mapping.shift) / (uint64_t)t->n_features + 1;
    t->mapping.n_features = (uint32_t)t->n_features;
    t->mapping.sign_bit = t->alternate_sign != 0;
}

void fl_text_begin(fl_text *t, const fl_words_bytes *bytes, const uint8_t *document,
                   int64_t length)
{
    t->next = t->n_runs = 0;
    t->n_keys = t->n_entries = t->needed = t->n_grams = 0;
    fl_words_begin(&t->words, bytes, document, length);
}
