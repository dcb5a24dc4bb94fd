/* The svmlight parser: fl_svmlight.h is its contract. One function per part of a line, each of
 * which returns where it stopped; a row is committed only when it is complete. */
#include "fl_sort_entries.h"
#ifdef FL_WIDE_TEXT
#  include "fl_svmlight_wide.h"
#else
#  include "fl_svmlight_plain.h"
#endif

#define MAX_INDEX INT64_C(2147483647)

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
static fl_svm_status take_entries(fl_svm *s, const uint8_t *text, fl_svm_places *places,
                                  const uint8_t **at, int *sorted)
{
    int64_t previous = -1, index;
    *sorted = 1;
    for (;;) {
        if (FL_LIKELY(*at - text >= PLAIN_BEFORE)) {
            *at = take_regular(s, places, skip_blanks(*at), &previous, sorted);
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
static fl_svm_status take_row(fl_svm *s, const uint8_t *text, fl_svm_places *places,
                              const uint8_t **at)
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
        status = take_entries(s, text, places, at, &sorted);
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

/* The build names those of the instruction sets. */
#ifndef FL_SVM_PARSE
#  define FL_SVM_PARSE fl_svm_parse
#endif

fl_svm_status FL_SVM_PARSE(fl_svm *s, const uint8_t *text, int64_t *position, int64_t end)
{
    fl_svm_places places;
    no_places(&places, text + end);
    FL_ASSERT(*position >= end || text[end - 1] == '\n');
    while (*position < end) {
        int64_t n_entries = s->n_entries, n_labels = s->n_labels, n_hard = s->n_hard;
        const uint8_t *p = skip_blanks(text + *position);
        if (!ends_token(*p)) {
            fl_svm_status status = take_row(s, text, &places, &p);
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
