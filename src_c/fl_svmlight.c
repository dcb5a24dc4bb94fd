/* The svmlight parser: fl_svmlight.h is its contract. One function per part of a line, each of
 * which returns where it stopped; a row is committed only when it is complete. */
#include "fl_svmlight.h"

#include "fl_sort_entries.h"
#include "fl_svmlight_words.h"

#define MAX_INDEX INT64_C(2147483647)

/* Bit 1: blank; bit 2: ends a token (blank, newline, comment sign). */
static const uint8_t CLASS[256] = {
    ['\t'] = 3, ['\n'] = 2, ['\v'] = 3, ['\f'] = 3, ['\r'] = 3, [' '] = 3, ['#'] = 2,
};

FL_INLINE int is_blank(uint8_t c)
{
    return CLASS[c] & 1;
}

FL_INLINE int ends_token(uint8_t c)
{
    return CLASS[c] & 2;
}

FL_INLINE const uint8_t *skip_blanks(const uint8_t *p)
{
    while (is_blank(*p)) {
        p++;
    }
    return p;
}

static const uint8_t *token_end(const uint8_t *p)
{
    while (!ends_token(*p)) {
        p++;
    }
    return p;
}

/* Notes where the offending token stands; passes the status through. */
static fl_svm_status fail(fl_svm *s, const uint8_t *text, const uint8_t *token,
                          fl_svm_status status)
{
    s->token_begin = token - text;
    s->token_end = token_end(token) - text;
    return status;
}

static int add_hard(fl_svm *s, int is_label, int64_t position, int64_t begin, int64_t end)
{
    if (s->n_hard == s->hard_room) {
        return 0;
    }
    fl_svm_hard *hard = &s->hard[s->n_hard++];
    hard->is_label = is_label;
    hard->position = position;
    hard->begin = begin;
    hard->end = end;
    hard->line = s->n_lines + 1;
    return 1;
}

/* One number of the target at *at. */
static fl_svm_status take_label(fl_svm *s, const uint8_t *text, const uint8_t *token,
                                const uint8_t **at)
{
    fl_decimal_kind kind;
    double value = 0.0;
    const uint8_t *begin = *at;
    const uint8_t *p = fl_decimal(begin, &value, &kind);
    int ends = ends_token(*p) || (s->multilabel && *p == ',');
    if (kind == FL_DECIMAL_NONE || !ends) {
        return fail(s, text, token, FL_SVM_BAD_TARGET);
    }
    if (kind == FL_DECIMAL_NOT_FINITE) {
        return fail(s, text, token, FL_SVM_INFINITE_TARGET);
    }
    if (s->n_labels == s->label_room) {
        return FL_SVM_FULL;
    }
    if (kind == FL_DECIMAL_HARD && !add_hard(s, 1, s->n_labels, begin - text, p - text)) {
        return FL_SVM_FULL;
    }
    s->labels[s->n_labels++] = value;
    *at = p;
    return FL_SVM_DONE;
}

/* The target; with multilabel a first token with a colon is a feature of a row without labels. */
static fl_svm_status take_target(fl_svm *s, const uint8_t *text, const uint8_t **at)
{
    const uint8_t *token = *at;
    const uint8_t *p = token;
    while (!ends_token(*p) && *p != ':') {
        p++;
    }
    if (*p == ':') {
        return s->multilabel ? FL_SVM_DONE : fail(s, text, token, FL_SVM_NO_TARGET);
    }
    fl_svm_status status = take_label(s, text, token, at);
    while (status == FL_SVM_DONE && **at == ',') {
        (*at)++;
        status = take_label(s, text, token, at);
    }
    return status;
}

/* "qid:" and a 64-bit integer, when the next token is one; kept only if asked for. */
static fl_svm_status take_query_id(fl_svm *s, const uint8_t *text, const uint8_t **at)
{
    const uint8_t *token = *at;
    if (token[0] != 'q' || token[1] != 'i' || token[2] != 'd' || token[3] != ':') {
        return s->query_id ? fail(s, text, token, FL_SVM_NO_QUERY_ID) : FL_SVM_DONE;
    }
    if (!s->query_id) {
        *at = token_end(token);
        return FL_SVM_DONE;
    }
    const uint8_t *p = token + 4;
    int negative = *p == '-';
    uint64_t limit = (uint64_t)INT64_MAX + (uint64_t)negative, m = 0;
    int64_t digits = 0;
    int fits = 1;
    p = fl_take_integer(p + (negative || *p == '+'), &m, &digits, &fits);
    if (!digits || !fits || m > limit || !ends_token(*p)) {
        return fail(s, text, token, FL_SVM_BAD_QUERY_ID);
    }
    s->query_ids[s->n_rows] = (int64_t)(negative ? 0 - m : m);
    *at = p;
    return FL_SVM_DONE;
}

/* The index at `token`, of any form, or what is wrong with it. */
static fl_svm_status take_index(fl_svm *s, const uint8_t *text, const uint8_t *token,
                                    const uint8_t **at, int64_t *index)
{
    const uint8_t *p = token;
    uint64_t m = 0;
    int64_t digits = 0;
    int fits = 1, negative = *p == '-';
    while (!ends_token(*p) && *p != ':') {
        p++;
    }
    if (*p != ':') {
        return fail(s, text, token, FL_SVM_NO_COLON);
    }
    p = token + (negative || *token == '+');
    while (p[0] == '0' && p[1] == '0') {
        p++;
    }
    p = fl_take_integer(p, &m, &digits, &fits);
    if (!digits || *p != ':') {
        return fail(s, text, token, FL_SVM_BAD_INDEX);
    }
    if (negative && m > 0) {
        return fail(s, text, token, FL_SVM_NEGATIVE_INDEX);
    }
    if (!fits || m > (uint64_t)MAX_INDEX) {
        return fail(s, text, token, FL_SVM_LARGE_INDEX);
    }
    *index = (int64_t)m;
    *at = p;
    return FL_SVM_DONE;
}

/* How many bytes of text must stand before an entry that plain_entry reads. */
#define PLAIN_BEFORE 24

static int other_entry(const uint8_t *colon, int digits, const uint8_t *stop, uint32_t *index,
                       double *value)
{
    fl_decimal_kind kind;
    uint32_t none;
    return fl_two_numbers(colon, digits, stop, 0, index, &none)
        && fl_decimal(colon + 1, value, &kind) == stop && kind == FL_DECIMAL_DONE;
}

/* The index before `colon`, and to *m the digits of the 9 to 19 `places` before `stop`: 1, or 0
 * when not all are digits. */
FL_INLINE int long_fraction(const uint8_t *colon, int digits, const uint8_t *stop, int places,
                            uint32_t *index, uint64_t *m)
{
    uint32_t high, middle, low;
    if (FL_LIKELY(places >= 16)) {
        int fine = fl_two_numbers(colon, digits, stop - 16, places - 16, index, &high);
        fine &= fl_two_numbers(stop - 8, 8, stop, 8, &middle, &low);
        *m = (*m * FL_POW10[places - 16] + high) * (FL_POW10[8] * FL_POW10[8])
            + (middle * FL_POW10[8] + low);
        return fine;
    }
    int fine = fl_two_numbers(colon, digits, stop - 8, places - 8, index, &high);
    fine &= fl_two_numbers(stop, 8, stop, 0, &low, &middle);
    *m = (*m * FL_POW10[places - 8] + high) * FL_POW10[8] + low;
    return fine;
}

/* The entry of text[token .. stop) where it is digits:number and the number is not FL_DECIMAL_HARD:
 * 1, or 0 for anything else. Numbers of one digit before the point, or without one, are read from
 * their end in words of eight digits. */
FL_INLINE int plain_entry(const uint8_t *token, const uint8_t *colon, const uint8_t *stop,
                          uint32_t *index, double *value)
{
    const uint8_t *number = colon + 1 + (colon[1] == '-');
    int digits = (int)(colon - token), places = (int)(stop - number) - 2;
    if (FL_UNLIKELY((unsigned)(digits - 1) >= 8 || *colon != ':' || places < -1)) {
        return 0;
    }
    uint64_t m = (uint64_t)*number - '0';
    double magnitude = 0.0;
    uint32_t low;
    if (number[1] == '.' && m <= 9 && places <= 8) {
        if (FL_UNLIKELY(!fl_two_numbers(colon, digits, stop, places, index, &low))) {
            return other_entry(colon, digits, stop, index, value);
        }
        magnitude = fl_small_fraction(m * FL_POW10[places] + low, places);
    } else if (number[1] == '.' && m <= 9 && places <= 18 + (m == 0)) {
        if (FL_UNLIKELY(!long_fraction(colon, digits, stop, places, index, &m))) {
            return other_entry(colon, digits, stop, index, value);
        }
        magnitude = fl_fraction(m, places);
    } else if (places <= 6 && fl_two_numbers(colon, digits, stop, places + 2, index, &low)) {
        magnitude = (double)low;
    } else {
        return other_entry(colon, digits, stop, index, value);
    }
    *value = colon[1] == '-' ? -magnitude : magnitude;
    return 1;
}

FL_INLINE int is_one(const uint8_t *colon)
{
    return (fl_load8(colon) & 0xFFFFFF) == 0x20313A; /* ":1 " */
}

/* Entries digits:1 with one space after them from p on, up to one of another kind, two at a time
 * and at most so many of 64 bytes. The last ones of a line are left to the next function. */
#define MOST_ONES 6
static const uint8_t *take_ones(fl_svm *s, const uint8_t *p, int64_t *previous, int *sorted)
{
    int32_t *columns = s->columns;
    double *values = s->values;
    int64_t n = s->n_entries, before = *previous, lowest = s->lowest_index;
    int64_t last = s->entry_room - MOST_ONES;
    int increasing = *sorted, going = 1;
    while (going && n <= last) {
        const uint8_t *base = p;
        uint64_t bits = fl_separators(base);
        for (int k = 0; k < MOST_ONES; k += 2) {
            uint64_t rest = bits & (bits - 1);
            uint32_t index, next_index;
            rest &= rest - 1;
            if (FL_UNLIKELY(rest == 0)) {
                going = k > 0;
                break;
            }
            const uint8_t *colon = base + fl_lowest_bit(bits);
            const uint8_t *next = base + fl_lowest_bit(rest);
            int64_t digits = colon - p, next_digits = next - colon - 3;
            if (FL_UNLIKELY((uint64_t)(digits - 1) >= 8 || (uint64_t)(next_digits - 1) >= 8
                            || !is_one(colon) || !is_one(next)
                            || !fl_two_numbers(colon, (int)digits, next, (int)next_digits,
                                               &index, &next_index)
                            || index < lowest || next_index < lowest)) {
                going = 0;
                break;
            }
            increasing &= (index > before) & (next_index > index);
            before = next_index;
            columns[n] = (int32_t)index;
            columns[n + 1] = (int32_t)next_index;
            values[n] = values[n + 1] = 1.0;
            n += 2;
            p = next + 3;
            bits = rest & (rest - 1);
            bits &= bits - 1;
        }
    }
    s->n_entries = n;
    *previous = before;
    *sorted = increasing;
    return p;
}

/* The entries from p on that plain_entry reads and one space or the newline ends, up to the first
 * that does not fit or is wrong. Separators are looked up in 64 bytes at a time, so that an entry
 * need not wait for the one before to be read; of more than four, the rest are looked up again. */
static const uint8_t *take_plain_entries(fl_svm *s, const uint8_t *p, int64_t *previous,
                                         int *sorted)
{
    int32_t *columns = s->columns;
    double *values = s->values;
    int64_t n = s->n_entries, last = s->entry_room - 4, before = *previous;
    int64_t lowest = s->lowest_index;
    int increasing = *sorted, going = 1;
    while (going && n <= last) {
        const uint8_t *base = p;
        uint64_t bits = fl_separators(base);
        int k = 0;
        for (uint64_t later; k < 4 && (later = bits & (bits - 1)) != 0; k++) {
            const uint8_t *colon = base + fl_lowest_bit(bits);
            const uint8_t *stop = base + fl_lowest_bit(later);
            uint32_t index;
            if (FL_UNLIKELY(!plain_entry(p, colon, stop, &index, &values[n]) || index < lowest)) {
                going = 0;
                break;
            }
            increasing &= index > before;
            before = index;
            columns[n++] = (int32_t)index;
            p = stop;
            if (FL_UNLIKELY(*stop != ' ')) {
                going = 0;
                if (!ends_token(*stop)) { /* back: take_entry says what is wrong with it */
                    n--;
                    while (!is_blank(p[-1])) {
                        p--;
                    }
                }
                break;
            }
            p++;
            bits = later & (later - 1);
        }
        going &= k > 0;
    }
    s->n_entries = n;
    *previous = before;
    *sorted = increasing;
    return p;
}

/* One index:value at `token`, whatever is wrong with it. */
static fl_svm_status take_entry(fl_svm *s, const uint8_t *text, const uint8_t *token,
                                const uint8_t **at, int64_t *index)
{
    const uint8_t *p;
    fl_svm_status status = take_index(s, text, token, &p, index);
    if (status != FL_SVM_DONE) {
        return status;
    }
    if (*index < s->lowest_index) {
        return fail(s, text, token, FL_SVM_ZERO_INDEX);
    }
    int64_t n = s->n_entries;
    if (n == s->entry_room) {
        return FL_SVM_FULL;
    }
    fl_decimal_kind kind;
    double value = 0.0;
    const uint8_t *begin = p + 1;
    p = fl_decimal(begin, &value, &kind);
    if (kind == FL_DECIMAL_NONE || !ends_token(*p)) {
        return fail(s, text, token, FL_SVM_BAD_VALUE);
    }
    if (kind == FL_DECIMAL_NOT_FINITE) {
        return fail(s, text, token, FL_SVM_INFINITE_VALUE);
    }
    if (kind == FL_DECIMAL_HARD && !add_hard(s, 0, n, begin - text, p - text)) {
        return FL_SVM_FULL;
    }
    s->values[n] = value;
    s->columns[n] = (int32_t)*index;
    s->n_entries++;
    *at = p;
    return FL_SVM_DONE;
}

/* Every index:value up to the end of the line; *sorted tells whether the indices increase. */
static fl_svm_status take_entries(fl_svm *s, const uint8_t *text, const uint8_t **at, int *sorted)
{
    int64_t previous = -1, index;
    *sorted = 1;
    for (;;) {
        if (FL_LIKELY(*at - text >= PLAIN_BEFORE)) {
            *at = take_ones(s, skip_blanks(*at), &previous, sorted);
            *at = take_plain_entries(s, *at, &previous, sorted);
        }
        const uint8_t *token = skip_blanks(*at);
        if (ends_token(*token)) {
            *at = token;
            return FL_SVM_DONE;
        }
        fl_svm_status status = take_entry(s, text, token, at, &index);
        if (status != FL_SVM_DONE) {
            return status;
        }
        *sorted &= index > previous;
        previous = index;
    }
}

/* Notes the second token of the line that carries the index `column`. */
static fl_svm_status fail_repeated(fl_svm *s, const uint8_t *text, const uint8_t *entries,
                                   int32_t column)
{
    int seen = 0;
    const uint8_t *p = skip_blanks(entries);
    for (; !ends_token(*p); p = skip_blanks(token_end(p))) {
        uint64_t m = 0;
        int64_t digits = 0;
        int fits = 1;
        fl_take_integer(p + (*p == '+' || *p == '-'), &m, &digits, &fits);
        seen += m == (uint64_t)column;
        if (seen == 2) {
            break;
        }
    }
    return fail(s, text, p, FL_SVM_REPEATED_INDEX);
}

/* Sorts the entries from `first` on and moves the notes of hard numbers, from `first_hard` on,
 * along with them. Fails when a column stands there twice. */
static fl_svm_status sort_row(fl_svm *s, const uint8_t *text, const uint8_t *entries,
                              int64_t first, int64_t first_hard)
{
    int32_t *columns = s->columns;
    for (int64_t i = first_hard; i < s->n_hard; i++) {
        if (!s->hard[i].is_label) {
            s->hard[i].position = columns[s->hard[i].position];
        }
    }
    fl_sort_entries(columns + first, s->values + first, s->n_entries - first);
    for (int64_t i = first + 1; i < s->n_entries; i++) {
        if (columns[i] == columns[i - 1]) {
            return fail_repeated(s, text, entries, columns[i]);
        }
    }
    for (int64_t i = first_hard; i < s->n_hard; i++) {
        if (!s->hard[i].is_label) {
            s->hard[i].position =
                fl_find_column(columns, first, s->n_entries, (int32_t)s->hard[i].position);
        }
    }
    return FL_SVM_DONE;
}

/* The row whose first token is at *at; *at ends at the newline or comment sign. */
static fl_svm_status take_row(fl_svm *s, const uint8_t *text, const uint8_t **at)
{
    int64_t first = s->n_entries, first_hard = s->n_hard, row = s->n_rows;
    int sorted = 1;
    if (row == s->row_room) {
        return FL_SVM_FULL;
    }
    fl_svm_status status = take_target(s, text, at);
    if (status == FL_SVM_DONE) {
        *at = skip_blanks(*at);
        status = take_query_id(s, text, at);
    }
    const uint8_t *entries = *at;
    if (status == FL_SVM_DONE) {
        status = take_entries(s, text, at, &sorted);
    }
    if (status == FL_SVM_DONE && !sorted) {
        status = sort_row(s, text, entries, first, first_hard);
    }
    if (status != FL_SVM_DONE) {
        return status;
    }
    if (s->n_entries > first) {
        int64_t low = s->columns[first], high = s->columns[s->n_entries - 1];
        s->min_index = low < s->min_index ? low : s->min_index;
        s->max_index = high > s->max_index ? high : s->max_index;
    }
    s->row_ends[row] = s->n_entries;
    s->row_lines[row] = s->n_lines + 1;
    if (s->multilabel) {
        s->label_ends[row] = s->n_labels;
    }
    s->n_rows++;
    return FL_SVM_DONE;
}

fl_svm_status fl_svm_parse(fl_svm *s, const uint8_t *text, int64_t *position, int64_t end)
{
    FL_ASSERT(*position >= end || text[end - 1] == '\n');
    while (*position < end) {
        int64_t n_entries = s->n_entries, n_labels = s->n_labels, n_hard = s->n_hard;
        const uint8_t *p = skip_blanks(text + *position);
        if (!ends_token(*p)) {
            fl_svm_status status = take_row(s, text, &p);
            if (status != FL_SVM_DONE) {
                s->n_entries = n_entries;
                s->n_labels = n_labels;
                s->n_hard = n_hard;
                return status;
            }
        }
        if (*p == '#') {
            p = (const uint8_t *)memchr(p, '\n', (size_t)(text + end - p));
        }
        *position = p + 1 - text;
        s->n_lines++;
    }
    return FL_SVM_DONE;
}
