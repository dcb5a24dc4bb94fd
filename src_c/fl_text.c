/* See fl_text.h.
 *
 * A row is counted by sorting. Hashes are spread evenly, so that one pass into twice as many
 * buckets as there are n-grams, bucket = column * 2 n / n_features, all but sorts them: no branch
 * in it depends on the data, and what is left is put right by insertion. A hash table whose slots
 * keep the order of columns took 10.5 ns for an n-gram, this 4.3. Text made to fall into few
 * buckets, or one word over and over, goes by digits instead, so that no text takes more than
 * linear time. */
#include "fl_text.h"

#include "fl_fasthash.h"
#include "fl_murmur.h"

/* Insertion may move each n-gram of a batch about half this far on average. */
#define CROWDED 8

/* Words whose n-grams get the fast hash at a time, and the longest of these n-grams. */
#define FAST_BATCH 256
#define FAST_LONGEST 32

/* ---- from hashes to columns ---- */

uint64_t fl_text_hash(const fl_text *t, const uint8_t *bytes, int32_t length)
{
    return t->is_fast ? fl_fasthash(bytes, length) : fl_murmur(bytes, length);
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

/* The key of a fast hash h: floor(h / 2^32) is spread evenly over the columns, in order, and the
 * bit below it is the sign. */
FL_INLINE uint32_t fast_key(fl_text_mapping m, uint64_t h)
{
    return (uint32_t)((h >> 32) * m.n_features >> 32) << 1 | ((uint32_t)h >> 31 & m.sign_bit);
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

/* Four counters as one number, the first lowest, on any machine. */
FL_INLINE uint64_t four_counters(const uint16_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 32 | (uint64_t)p[3] << 48;
}

/* From counters to where their buckets begin; the product adds up four of them at once. */
static void counts_to_begins(uint16_t *buckets, int64_t n_buckets)
{
    uint64_t below = 0;
    for (int64_t b = 0; b < n_buckets; b += 4) {
        uint64_t here = four_counters(buckets + b), ends = here * 0x0001000100010001u;
        uint64_t begins = ends - here + below * 0x0001000100010001u;
        for (int32_t k = 0; k < 4; k++)
            buckets[b + k] = (uint16_t)(begins >> (16 * k));
        below += ends >> 48;
    }
}

/* Distribute the n keys over about 2 n buckets in order; returns whether these are small. */
static int distribute(fl_text *t)
{
    const uint32_t *keys = keys_of(t);
    uint32_t *out = second_of(t);
    uint16_t *buckets = t->buckets;
    int64_t n = t->n_keys, n_buckets = (2 * n + 3) / 4 * 4;
    uint64_t scale = ((uint64_t)n << 32) / t->mapping.n_features;
    int32_t squares = 0;
    if (n > FL_TEXT_BATCH)
        return 0;
    memset(buckets, 0, (size_t)n_buckets * sizeof *buckets);
    for (int64_t i = 0; i < n; i++)
        buckets[bucket_of(keys[i], scale)]++;
    for (int64_t b = 0; b < n_buckets; b++)
        squares += (int16_t)buckets[b] * (int16_t)buckets[b];
    if (squares > CROWDED * n)
        return 0;
    counts_to_begins(buckets, n_buckets);
    for (int64_t i = 0; i < n; i++)
        out[buckets[bucket_of(keys[i], scale)]++] = keys[i];
    return 1;
}

/* Sort keys that all but are. */
static void sort_by_insertion(uint32_t *keys, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint32_t key = keys[i];
        int64_t j = i;
        if (FL_LIKELY(keys[i - 1] <= key))
            continue;
        do {
            keys[j] = keys[j - 1];
            j--;
        } while (j > 0 && keys[j - 1] > key);
        keys[j] = key;
    }
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
        sort_by_insertion(sorted, t->n_keys);
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

/* Write the keys of the n-grams that begin at word `next` and those after it, before `stop`, as
 * long as they are no more than `capacity`; returns how many. First what must be done byte by byte,
 * then, in a loop that compilers turn into vector instructions, what is the same for all. */
static int64_t murmur_keys(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT hashes,
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
    hashes_to_keys(t->mapping, hashes, n_hashes);
    t->next = first;
    return n_hashes;
}

/* As murmur_keys, for words and the fast hash; no n-gram has more than FAST_LONGEST of them. Every
 * loop does one thing for many, so that none waits for another. */
static int64_t fast_keys_of_words(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT keys,
                                  int64_t capacity)
{
    uint64_t words[FAST_BATCH + FAST_LONGEST], ngrams[FAST_BATCH];
    const fl_words *w = &t->words;
    int64_t n_keys = 0, most = t->max_n - t->min_n + 1;
    while (t->next < stop) {
        int32_t first = t->next, left = w->n_words - first;
        int32_t n_starts = stop - first < FAST_BATCH ? stop - first : FAST_BATCH, n_read;
        if ((capacity - n_keys) / most < n_starts)
            n_starts = (int32_t)((capacity - n_keys) / most);
        if (n_starts == 0)
            break;
        n_read = n_starts + t->max_n - 1 < left ? n_starts + t->max_n - 1 : left;
        for (int32_t i = 0; i < n_read; i++) {
            int32_t begin = w->starts[first + i], end = w->starts[first + i + 1];
            words[i] = fl_fasthash_word(w->text + begin, end - 1 - begin);
        }
        for (int32_t i = 0; i < n_starts; i++)
            ngrams[i] = FL_FASTHASH_START;
        for (int32_t n = 1; n <= t->max_n; n++) {
            int32_t n_whole = n_starts < left - n + 1 ? n_starts : left - n + 1;
            for (int32_t i = 0; i < n_whole; i++)
                ngrams[i] = fl_fasthash_join(ngrams[i], words[i + n - 1]);
            if (n < t->min_n)
                continue;
            for (int32_t i = 0; i < n_whole; i++)
                keys[n_keys + i] = fast_key(t->mapping, ngrams[i]);
            n_keys += n_whole > 0 ? n_whole : 0;
        }
        t->next += n_starts;
    }
    return n_keys;
}

/* As murmur_keys, for the fast hash and any units. */
static int64_t fast_keys(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT keys,
                                       int64_t capacity)
{
    const uint8_t *text = t->words.text;
    int32_t first = t->next, gap = fl_units_gap(&t->words);
    int64_t n_keys = 0;
    for (; first < stop; first++) {
        const int32_t *starts = t->words.starts + first;
        fl_units_range range = ngrams_at(t, first);
        fl_fasthash_feature f;
        if (n_keys + range.longest - range.shortest + 1 > capacity)
            break;
        if (range.longest < range.shortest)
            continue;
        fl_fasthash_begin(&f, text + starts[0]);
        for (int32_t n = 1; n <= range.longest; n++) {
            if (gap ? n > 1 : text[starts[n - 1]] == ' ')
                fl_fasthash_part(&f, text + starts[n - 1] - gap);
            if (n >= range.shortest)
                keys[n_keys++] =
                    fast_key(t->mapping, fl_fasthash_until(&f, text + starts[n] - gap));
        }
    }
    t->next = first;
    return n_keys;
}

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
