/* See fl_text.h.
 *
 * Three choices make this fast. (1) All n-grams that begin at one word are prefixes of the longest
 * of them, so the hash runs over that one once, and each n-gram costs only its tail. (2) The table
 * that counts a row keeps columns in order: the slot is column * slots / n_features, so reading it
 * from one end gives an almost sorted row, and no sort by digits is needed. (3) The table is as
 * large as the document asks for, so that for a short one it stays in the nearest cache.
 * The order in the table can be attacked with words whose columns lie close together; a probe is
 * therefore bounded, and what finds no place is kept in a list that is sorted at the end. */
#include "fl_text.h"

#include "fl_murmur.h"

#define EMPTY (-1)
/* N-grams that are hashed before they are counted. */
#define BATCH 1024

static const fl_text_entry NOTHING = {EMPTY, 0};

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

/* Count keys; entries has room for all of them. */
static void count_keys(fl_text *t, const uint32_t *keys, int64_t n)
{
    fl_text_entry *table = t->table, *out = t->entries + t->n_entries;
    uint64_t scale = t->slot_scale;
    for (int64_t i = 0; i < n; i++) {
        int32_t column = (int32_t)(keys[i] >> 1), sign = 1 - 2 * (int32_t)(keys[i] & 1);
        fl_text_entry *slot = table + (((uint64_t)column * scale) >> 32);
        fl_text_entry *end = slot + FL_TEXT_PROBES;
        /* One branch, not two: whether a column has been seen before cannot be predicted. */
        while (!((slot->column == column) | (slot->column == EMPTY))) {
            if (FL_UNLIKELY(++slot == end)) {
                slot = out++;
                *slot = NOTHING;
            }
        }
        slot->column = column;
        slot->count += sign;
    }
    FL_ASSERT(out - t->entries <= t->entries_capacity);
    t->spilled |= out != t->entries + t->n_entries;
    t->n_entries = out - t->entries;
}

/* Move the table to the end of entries, which has room for it and one more; empties it. */
static void drain(fl_text *t)
{
    fl_text_entry *out = t->entries + t->n_entries;
    int32_t n = t->slots + FL_TEXT_PROBES;
    for (int32_t i = 0; i < n; i++) {
        *out = t->table[i];
        out += t->table[i].column != EMPTY;
        t->table[i] = NOTHING;
    }
    t->n_entries = out - t->entries;
}

/* For entries that stand within FL_TEXT_PROBES places of where they belong. */
static void sort_nearly_sorted(fl_text_entry *a, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        fl_text_entry x = a[i];
        int64_t j = i;
        for (; j > 0 && a[j - 1].column > x.column; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
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
        memset(first, 0, sizeof first);
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
}

/* Make room for `extra` more entries. If half of the buffer is in use even when compacted it
 * should grow, else the next compaction would come too soon. */
static fl_text_status make_room(fl_text *t, int64_t extra)
{
    if (t->n_entries + extra <= t->entries_capacity)
        return FL_TEXT_DONE;
    compact(t);
    if (t->n_entries <= t->entries_capacity / 2 && t->n_entries + extra <= t->entries_capacity)
        return FL_TEXT_DONE;
    t->needed = 2 * (t->n_entries + extra);
    return FL_TEXT_NEEDS_ENTRIES;
}

fl_text_status fl_text_finish(fl_text *t)
{
    fl_text_status status = make_room(t, (int64_t)t->slots + FL_TEXT_PROBES + 1);
    if (status != FL_TEXT_DONE)
        return status;
    drain(t);
    if (t->spilled)
        compact(t);
    else
        sort_nearly_sorted(t->entries, t->n_entries);
    return FL_TEXT_DONE;
}

/* ---- from words to n-grams ---- */

/* Words of the longest n-gram that begins at a word. */
FL_INLINE int32_t longest_at(const fl_text *t, int32_t first)
{
    int32_t left = t->words.n_words - first;
    return left < t->max_n ? left : t->max_n;
}

/* How many n-grams begin at a word; may be below 0, which is none. */
FL_INLINE int64_t ngrams_at(const fl_text *t, int32_t first)
{
    return (int64_t)longest_at(t, first) - t->min_n + 1;
}

/* Hash the n-grams that begin at word `next` and those after it, before `stop`, as long as they are
 * no more than `capacity`; returns how many. First what must be done byte by byte, then, in a loop
 * that compilers turn into vector instructions, what is the same for all. */
static int64_t hash_words(fl_text *t, int32_t stop, uint32_t *FL_RESTRICT hashes,
                          uint32_t *FL_RESTRICT tails, int64_t capacity)
{
    const uint8_t *text = t->words.text;
    int32_t first = t->next, min_n = t->min_n;
    int64_t n_hashes = 0;
    for (; first < stop && n_hashes + ngrams_at(t, first) <= capacity; first++) {
        const int32_t *starts = t->words.starts + first;
        int32_t longest = longest_at(t, first), block = starts[0];
        uint32_t h = 0;
        if (longest < min_n)
            continue;
        for (int32_t n = 1; n <= longest; n++) {
            int32_t length = starts[n] - 1 - starts[0];
            for (; block - starts[0] + 4 <= length; block += 4)
                h = fl_murmur_block(h, text + block);
            hashes[n_hashes] = h ^ (uint32_t)length;
            tails[n_hashes] = fl_murmur_tail(text + block, length);
            n_hashes += n >= min_n;
        }
    }
    for (int64_t i = 0; i < n_hashes; i++)
        hashes[i] = fl_murmur_end(hashes[i], tails[i]);
    t->next = first;
    return n_hashes;
}

/* Count the n-grams that begin before word `stop`. Hashing and counting take turns in batches:
 * one loop for both would stall more than both together. */
static fl_text_status count_until(fl_text *t, int32_t stop, int64_t *budget)
{
    while (t->next < stop) {
        int64_t n = ngrams_at(t, t->next), from = t->words.starts[t->next];
        int64_t batch = n > BATCH ? n : BATCH;
        fl_text_status status = make_room(t, batch);
        if (status != FL_TEXT_DONE)
            return status;
        /* An entry of spare, which is only used for sorting, holds a hash and a tail. */
        uint32_t *keys = (uint32_t *)t->spare;
        n = hash_words(t, stop, keys, keys + batch, batch);
        t->n_grams += n;
        if (t->n_grams > INT32_MAX)
            return FL_TEXT_TOO_MANY;
        hashes_to_keys(t->mapping, keys, n);
        count_keys(t, keys, n);
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
        int is_end = fl_words_fill(&t->words);
        int32_t stop = is_end ? t->words.n_words : t->words.n_words - t->max_n + 1;
        fl_text_status status = count_until(t, stop, budget);
        *budget -= t->words.position - before;
        if (status != FL_TEXT_DONE)
            return status;
        if (is_end)
            return fl_text_finish(t);
        fl_words_forget(&t->words, t->next);
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
    if (status != FL_TEXT_DONE)
        return status;
    if (++t->n_grams > INT32_MAX)
        return FL_TEXT_TOO_MANY;
    uint32_t key = (uint32_t)fl_text_hash(t->words.text, length);
    hashes_to_keys(t->mapping, &key, 1);
    count_keys(t, &key, 1);
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
    for (int32_t i = 0; i < t->table_capacity + FL_TEXT_PROBES; i++)
        t->table[i] = NOTHING;
    t->slots = 0;
}

void fl_text_begin(fl_text *t, const fl_words_bytes *bytes, const uint8_t *document, int64_t length)
{
    /* About three slots for a distinct n-gram of ordinary text: few clash, few stand empty. */
    int64_t slots = 64 + length / 4 * ((int64_t)t->max_n - t->min_n + 1);
    slots = slots < t->table_capacity ? slots : t->table_capacity;
    slots = slots < t->n_features ? slots : t->n_features;
    t->slots = (int32_t)slots;
    t->slot_scale = ((uint64_t)slots << 32) / (uint64_t)t->n_features;
    t->next = t->spilled = 0;
    t->n_entries = t->needed = t->n_grams = 0;
    fl_words_begin(&t->words, bytes, document, length);
}

int32_t fl_text_shortcut(const uint8_t *kept) { return fl_words_shortcut(kept); }
