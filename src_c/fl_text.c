/* See fl_text.h.
 *
 * A row is counted by sorting. Hashes are spread evenly, so that one pass into twice as many
 * buckets as there are n-grams, bucket = column * 2 n / n_features, all but sorts them: no branch
 * in it depends on the data, and what is left is put right by insertion. A hash table whose slots
 * keep the order of columns took 10.5 ns for an n-gram, this 4.3. Text made to fall into few
 * buckets, or one word over and over, goes by digits instead, so that no text takes more than
 * linear time. */
#include "fl_text_keys.h"
#include "fl_text_row.h"

/* Insertion may move each n-gram of a batch about half this far on average. */
#define CROWDED 8

/* ---- hashes of single features ---- */

uint64_t fl_text_hash(const fl_text *t, const uint8_t *bytes, int32_t length)
{
    return t->is_fast ? fl_fasthash(bytes, length) : fl_murmur(bytes, length);
}

uint32_t fl_text_key(const fl_text *t, uint64_t hash)
{
    uint32_t key = (uint32_t)hash;
    if (t->is_fast)
        return fast_key(t->mapping, hash);
    hashes_to_keys(t->mapping, &key, 1);
    return key;
}

/* ---- counting one row ---- */

/* Keys and as many further numbers lie in spare, which is otherwise only used by compact. */
FL_INLINE uint32_t *keys_of(const fl_text *t) { return (uint32_t *)t->spare; }
FL_INLINE uint32_t *second_of(const fl_text *t) { return (uint32_t *)t->spare + t->capacity; }

/* The bucket of a key, for a scale of 2^32 * buckets / (2 * n_features). */
FL_INLINE uint32_t bucket_of(uint32_t key, uint64_t scale) { return (uint32_t)(key * scale >> 32); }

#ifdef FL_WIDE_TEXT
FL_INLINE int64_t counts_to_begins(uint16_t *buckets, int64_t n_buckets)
{
    return wide_counts_to_begins(buckets, n_buckets);
}
#else
/* Four counters as one number, the first lowest, on any machine. */
FL_INLINE uint64_t four_counters(const uint16_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 32 | (uint64_t)p[3] << 48;
}

/* From counters to where their buckets begin; returns the sum of the squares of the counters. The
 * product adds up four of them at once. */
static int64_t counts_to_begins(uint16_t *buckets, int64_t n_buckets)
{
    uint64_t below = 0;
    int32_t squares = 0;
    for (int64_t b = 0; b < n_buckets; b++)
        squares += (int16_t)buckets[b] * (int16_t)buckets[b];
    for (int64_t b = 0; b < n_buckets; b += 4) {
        uint64_t here = four_counters(buckets + b), ends = here * 0x0001000100010001u;
        uint64_t begins = ends - here + below * 0x0001000100010001u;
        for (int32_t k = 0; k < 4; k++)
            buckets[b + k] = (uint16_t)(begins >> (16 * k));
        below += ends >> 48;
    }
    return squares;
}
#endif

/* Distribute the n keys over about 2 n buckets in order; returns whether these are small. */
static int distribute(fl_text *t)
{
    const uint32_t *keys = keys_of(t);
    uint32_t *out = second_of(t);
    uint16_t *buckets = t->buckets;
    int64_t n = t->n_keys, n_buckets = (2 * n + 31) / 32 * 32;
    uint64_t scale = ((uint64_t)n << 32) / t->mapping.n_features;
    if (n > FL_TEXT_BATCH)
        return 0;
    memset(buckets, 0, (size_t)n_buckets * sizeof *buckets);
    for (int64_t i = 0; i < n; i++)
        buckets[bucket_of(keys[i], scale)]++;
    if (counts_to_begins(buckets, n_buckets) > CROWDED * n)
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
    int32_t column = -1, count = 0;
    for (int64_t i = 0; i < t->n_keys; i++) {
        int32_t here = (int32_t)(keys[i] >> 1);
        last += here != column;
        count = (here != column ? 0 : count) + 1 - 2 * (int32_t)(keys[i] & 1);
        column = here;
        entries[last].column = column;
        entries[last].count = count;
    }
    t->n_entries = last + 1;
}

/* Put a key in its place among entries[first .. n), before the last of them; returns n, one more
 * if its column is new. */
static int64_t insert(fl_text_entry *entries, int64_t first, int64_t n, uint32_t key)
{
    fl_text_entry here = {(int32_t)(key >> 1), 1 - 2 * (int32_t)(key & 1)};
    int64_t i = n - 1;
    while (i > first && entries[i - 1].column >= here.column)
        i--;
    if (entries[i].column == here.column) {
        entries[i].count += here.count;
        return n;
    }
    memmove(entries + i + 1, entries + i, (size_t)(n - i) * sizeof *entries);
    entries[i] = here;
    return n + 1;
}

#ifdef FL_WIDE_TEXT
static void append_sorted(fl_text *t, uint32_t *keys)
{
    for (int32_t k = 0; k < 32; k++)
        keys[t->n_keys + k] = UINT32_MAX;
    wide_sort(keys, t->n_keys);
    t->n_entries += wide_count(keys, t->n_keys, t->entries + t->n_entries);
}
#else
/* Append keys that all but are sorted. The largest so far waits, so that the next may go before it
 * without a branch: few are further from their place than that. */
static void append_sorted(fl_text *t, uint32_t *keys)
{
    fl_text_entry *entries = t->entries;
    int64_t first = t->n_entries, last = first - 1;
    int32_t column = -1, count = 0;
    uint32_t waiting = keys[0];
    for (int64_t i = 1; i <= t->n_keys; i++) {
        uint32_t next = i < t->n_keys ? keys[i] : UINT32_MAX;
        uint32_t key = next < waiting ? next : waiting;
        int32_t here = (int32_t)(key >> 1);
        waiting = next < waiting ? waiting : next;
        if (FL_UNLIKELY(here < column)) {
            last = insert(entries, first, last + 1, key) - 1;
            continue;
        }
        last += here != column;
        count = (here != column ? 0 : count) + 1 - 2 * (int32_t)(key & 1);
        column = here;
        entries[last].column = column;
        entries[last].count = count;
    }
    t->n_entries = last + 1;
}

#endif

/* Move the keys to entries, which has room for them. */
static void flush(fl_text *t)
{
    uint32_t *sorted = second_of(t);
    if (t->n_keys == 0)
        return;
    if (!distribute(t)) {
        append(t, keys_of(t));
        t->n_runs = 2;
    } else {
        append_sorted(t, sorted);
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

/* ---- the n-grams of a document ---- */

/* Count the n-grams that begin before word `stop`. */
static fl_text_status count_until(fl_text *t, int32_t stop, int64_t *budget)
{
    while (t->next < stop) {
        fl_units_range range = ngrams_at(t, t->next);
        int is_batched = t->is_fast && t->words.kind == FL_WORDS_WORD && t->max_n <= FAST_LONGEST;
        int64_t n = is_batched ? (int64_t)t->max_n - t->min_n + 1
                               : (int64_t)range.longest - range.shortest + 1;
        int64_t from = t->words.starts[t->next];
        fl_text_status status = make_room(t, n);
        uint32_t *keys = keys_of(t) + t->n_keys;
        if (status != FL_TEXT_DONE)
            return status;
        n = n > FL_TEXT_BATCH ? n : FL_TEXT_BATCH - t->n_keys;
        if (!t->is_fast)
            n = murmur_keys(t, stop, keys, second_of(t), n);
        else if (is_batched)
            n = fast_keys_of_words(t, stop, keys, n);
        else
            n = fast_keys(t, stop, keys, n);
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
    *key = fl_text_key(t, fl_text_hash(t, t->words.text, length));
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

#ifdef FL_TEXT_TABLE
extern const fl_text_kernels FL_TEXT_TABLE;
const fl_text_kernels FL_TEXT_TABLE = {
    fl_text_advance, fl_text_squares, fl_text_quotients_f32, fl_text_quotients_f64,
    fl_text_counting,
};
#endif
