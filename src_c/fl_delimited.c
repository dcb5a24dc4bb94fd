/* Rows and cells of delimited text: fl_delimited.h is the contract. The characters that end cells
 * are looked up in 64 bytes at a time. */
#include "fl_delimited.h"

#include <string.h>

/* A walk over the characters that end cells without quotes: `bits` are those from `base` on that
 * are still to come. */
typedef struct {
    const uint8_t *base, *end;
    uint64_t bits;
    uint8_t delimiter;
} walk;

#ifdef FL_SSE2

FL_INLINE uint64_t ends16(const uint8_t *p, uint8_t delimiter)
{
    __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i line = _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('\n')),
                                _mm_cmpeq_epi8(text, _mm_set1_epi8('\r')));
    __m128i cell = _mm_cmpeq_epi8(text, _mm_set1_epi8((char)delimiter));
    return (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_or_si128(line, cell));
}

/* One bit for each of the 64 bytes from p on, the lowest for the first. */
FL_INLINE uint64_t ends_of_cells(const uint8_t *p, uint8_t delimiter)
{
    return ends16(p, delimiter) | ends16(p + 16, delimiter) << 16
         | ends16(p + 32, delimiter) << 32 | ends16(p + 48, delimiter) << 48;
}

#else

FL_INLINE uint64_t ends_of_cells(const uint8_t *p, uint8_t delimiter)
{
    uint64_t bits = 0;
    for (int i = 0; i < 64; i++) {
        uint64_t found = (uint64_t)((p[i] == delimiter) | (p[i] == '\n') | (p[i] == '\r'));
        bits |= found << i;
    }
    return bits;
}

#endif

FL_INLINE void start_walk(walk *w, const uint8_t *p)
{
    w->base = p;
    w->bits = p < w->end ? ends_of_cells(p, w->delimiter) : 0;
}

/* The next character that ends a cell; NULL if there is none. */
FL_INLINE const uint8_t *next_end(walk *w)
{
    while (w->bits == 0) {
        if (w->end - w->base <= 64) {
            return NULL;
        }
        w->base += 64;
        w->bits = ends_of_cells(w->base, w->delimiter);
    }
    const uint8_t *found = w->base + fl_lowest_bit(w->bits);
    w->bits &= w->bits - 1;
    return found < w->end ? found : NULL;
}

/* The quote that closes the cell whose first character is at p; NULL if there is none that the text
 * shows to be no half of two. */
static const uint8_t *closing_quote(const uint8_t *p, const uint8_t *end, int *doubled)
{
    for (;; p += 2, *doubled = 1) {
        p = p < end ? (const uint8_t *)memchr(p, '"', (size_t)(end - p)) : NULL;
        if (p == NULL || p + 1 == end) {
            return NULL;
        }
        if (p[1] != '"') {
            return p;
        }
    }
}

/* One quote for two in text[0 .. size); returns how long it is then. */
static int32_t close_up(uint8_t *text, int32_t size)
{
    int32_t k = 0;
    for (int32_t i = 0; i < size; i++) {
        text[k++] = text[i];
        i += text[i] == '"';
    }
    return k;
}

/* After the return at *at there must be nothing but others and the newline, to which *at goes. */
static fl_cells_status take_returns(const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    while (p < end && *p == '\r') {
        p++;
    }
    *at = p;
    if (p == end) {
        return FL_CELLS_DONE;
    }
    return *p == '\n' ? FL_CELLS_FULL : FL_CELLS_AFTER_RETURN;
}

/* What a row showed besides its cells. */
typedef struct {
    int64_t n; /* cells */
    int64_t newlines;
    int quoted, doubled;
} row_facts;

/* The cell at *at, to *cell; *at goes to what ends it. FL_CELLS_FULL if there is one, FL_CELLS_DONE
 * if the text ends before. A size below 0 is that of a cell with doubled quotes, inverted. */
FL_INLINE fl_cells_status take_cell(walk *w, const uint8_t *row, const uint8_t **at, fl_cell *cell,
                                    row_facts *facts)
{
    const uint8_t *p = *at, *stop;
    if (FL_UNLIKELY(p == w->end)) {
        return FL_CELLS_DONE;
    }
    if (FL_LIKELY(*p != '"')) {
        stop = next_end(w);
        if (stop == NULL) {
            return FL_CELLS_DONE;
        }
        cell->begin = (int32_t)(p - row);
        cell->size = (int32_t)(stop - p);
        *at = stop;
        return FL_CELLS_FULL;
    }
    int doubled = 0;
    const uint8_t *close = closing_quote(++p, w->end, &doubled);
    if (close == NULL) {
        return FL_CELLS_DONE;
    }
    for (const uint8_t *q = p; (q = (const uint8_t *)memchr(q, '\n', (size_t)(close - q))); q++) {
        facts->newlines++;
    }
    facts->quoted = 1;
    facts->doubled |= doubled;
    cell->begin = (int32_t)(p - row);
    cell->size = (int32_t)(close - p);
    cell->size = doubled ? ~cell->size : cell->size;
    *at = stop = close + 1;
    if (*stop != w->delimiter && *stop != '\n' && *stop != '\r') {
        return FL_CELLS_AFTER_QUOTE;
    }
    start_walk(w, stop);
    next_end(w);
    return FL_CELLS_FULL;
}

/* The row at *at, whose cells go to `cells`, of which there are `room`; *at goes to the next one.
 * FL_CELLS_FULL if it is complete, FL_CELLS_DONE if it is not. */
FL_INLINE fl_cells_status take_row(walk *w, const uint8_t **at, fl_cell *cells, int64_t room,
                                   row_facts *facts)
{
    const uint8_t *row = *at, *p = row;
    fl_cell cell = {0, 0};
    facts->n = facts->newlines = 0;
    facts->quoted = facts->doubled = 0;
    for (;; p++) {
        fl_cells_status status = take_cell(w, row, &p, &cell, facts);
        facts->n += status != FL_CELLS_DONE;
        if (FL_UNLIKELY(status != FL_CELLS_FULL)) {
            return status;
        }
        if (FL_LIKELY(facts->n <= room)) {
            cells[facts->n - 1] = cell;
        }
        if (*p != w->delimiter) {
            break;
        }
    }
    if (*p == '\r') {
        fl_cells_status status = take_returns(&p, w->end);
        if (status != FL_CELLS_FULL) {
            return status;
        }
        start_walk(w, p + 1);
    }
    *at = p + 1;
    return FL_CELLS_FULL;
}

fl_cells_status fl_cells_parse(fl_cells *s, uint8_t *text, int64_t *position, int64_t end)
{
    walk w = {NULL, text + end, 0, s->delimiter};
    row_facts facts;
    start_walk(&w, text + *position);
    for (;;) {
        const uint8_t *row = text + *position, *next = row;
        int64_t used = s->n_rows * s->width;
        int64_t room = s->width ? s->width : s->cell_room;
        if (s->n_rows == s->row_room || s->cell_room - used < s->width) {
            return FL_CELLS_FULL;
        }
        fl_cells_status status = take_row(&w, &next, s->cells + used, room, &facts);
        s->n_found = facts.n;
        if (status != FL_CELLS_FULL) {
            return status;
        }
        if (facts.n > 1 || facts.quoted || s->cells[used].size) {
            if (next - row > INT32_MAX) {
                return FL_CELLS_LONG;
            }
            if (s->width == 0 && facts.n > room) {
                return FL_CELLS_FULL;
            }
            if (s->width && facts.n != s->width) {
                return FL_CELLS_WIDTH;
            }
            s->width = facts.n;
            for (int64_t k = 0; facts.doubled && k < facts.n; k++) {
                fl_cell *cell = &s->cells[used + k];
                if (cell->size < 0) {
                    cell->size = close_up(text + *position + cell->begin, ~cell->size);
                }
            }
            s->row_begins[s->n_rows] = *position;
            s->row_lines[s->n_rows++] = s->n_lines + 1;
        }
        *position = next - text;
        s->n_lines += 1 + facts.newlines;
    }
}
